//! What a caller says about the output: whether it is read soon.

/// When the output of a call is read: decides between stores that leave it in the caches and
/// non-temporal stores, which bypass them. Results do not depend on it.
///
/// A setting of a prepared call: [`Prepared::hint`](crate::Prepared::hint).
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

impl Hint {
    /// Whether a call that writes this many bytes uses non-temporal stores.
    pub(super) fn streams(self, bytes: usize) -> bool {
        match self {
            Hint::ReadSoon => false,
            Hint::ReadLater => bytes >= LATER_FROM,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_decide_at_their_sizes() {
        assert!(!Hint::ReadSoon.streams(1 << 30));
        assert!(!Hint::ReadLater.streams(LATER_FROM - 1));
        assert!(Hint::ReadLater.streams(LATER_FROM));
    }
}
