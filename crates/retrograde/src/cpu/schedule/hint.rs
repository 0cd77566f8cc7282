//! What a caller says about the output: whether it is read soon.

use std::cell::Cell;

/// When the output of a call is read: decides between stores that leave it in the caches and
/// non-temporal stores, which bypass them. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Soon, and while it fits into the caches: ordinary stores, whatever the size.
    ReadSoon,
    /// Not soon: non-temporal stores from 64 KiB on. What was in the caches stays there.
    ReadLater,
}

/// Below this, a call's stores are not worth bypassing the caches.
const LATER_FROM: usize = 64 << 10;

thread_local! {
    static HINT: Cell<Option<Hint>> = const { Cell::new(None) };
}

/// Calls that `work` makes on this thread follow this hint. Without one, the size of the output
/// decides.
///
/// ```
/// use retrograde::prelude::*;
/// use retrograde::cpu;
///
/// let x = [1, 2, 3];
/// let y = cpu::with_hint(cpu::Hint::ReadSoon, || Reverse::all().to_vec(&x, &[3]))?;
/// assert_eq!(y, [3, 2, 1]);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn with_hint<T>(hint: Hint, work: impl FnOnce() -> T) -> T {
    /// Restores the previous hint, also if `work` panics.
    struct Restore(Option<Hint>);

    impl Drop for Restore {
        fn drop(&mut self) {
            HINT.set(self.0);
        }
    }

    let _restore = Restore(HINT.replace(Some(hint)));
    work()
}

/// Whether a call that writes this many bytes uses non-temporal stores, if the caller said so.
pub(super) fn streams(bytes: usize) -> Option<bool> {
    Some(match HINT.get()? {
        Hint::ReadSoon => false,
        Hint::ReadLater => bytes >= LATER_FROM,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_hold_for_the_call_and_can_be_nested() {
        assert_eq!(streams(1 << 30), None);
        with_hint(Hint::ReadSoon, || {
            assert_eq!(streams(1 << 30), Some(false));
            with_hint(Hint::ReadLater, || {
                assert_eq!(streams(LATER_FROM - 1), Some(false));
                assert_eq!(streams(LATER_FROM), Some(true));
            });
            assert_eq!(streams(1 << 30), Some(false));
        });
        let panicked = std::panic::catch_unwind(|| with_hint(Hint::ReadLater, || panic!("stop")));
        assert!(panicked.is_err());
        assert_eq!(streams(1 << 30), None);
    }
}
