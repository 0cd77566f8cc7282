//! Threads that another runtime lends to calls of the engine.

use std::cell::Cell;

/// Threads of another runtime, for a call that must not start threads of its own.
///
/// # Safety
/// [`run`](Self::run) calls the function with each number below `parts` exactly once, and returns
/// only when all of these calls have returned. (Each call writes its own part of the output, and
/// the output is complete only with all of them.)
pub unsafe trait Workers {
    /// About how many parts can run at the same time, the caller's thread included.
    fn threads(&self) -> usize;

    /// Whether the threads are awake, so that smaller calls are shared too, from 256 KiB on instead of
    /// 512, and in fewer parts.
    fn are_awake(&self) -> bool {
        false
    }

    /// Runs every part, on any of the threads.
    fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync));
}

type Lent = *const (dyn Workers + 'static);

thread_local! {
    /// The workers that calls of this thread use.
    static WORKERS: Cell<Option<Lent>> = const { Cell::new(None) };
}

/// Calls that `work` makes on this thread share their parts among these workers, and never start
/// or use another thread.
///
/// ```
/// use retrograde::prelude::*;
/// use retrograde::cpu;
///
/// /// Everything on the caller's thread.
/// struct Alone;
///
/// // SAFETY: the loop runs every part once.
/// unsafe impl cpu::Workers for Alone {
///     fn threads(&self) -> usize {
///         1
///     }
///
///     fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
///         (0..parts).for_each(part);
///     }
/// }
///
/// let x = [1, 2, 3];
/// let y = cpu::with_workers(&Alone, || Reverse::all().to_vec(&x, &[3]))?;
/// assert_eq!(y, [3, 2, 1]);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn with_workers<T>(workers: &dyn Workers, work: impl FnOnce() -> T) -> T {
    /// Restores the previous workers, also if `work` panics.
    struct Restore(Option<Lent>);

    impl Drop for Restore {
        fn drop(&mut self) {
            WORKERS.set(self.0);
        }
    }

    // SAFETY: only the lifetime changes. The pointer is dereferenced by calls inside `work`, and
    // `Restore` removes it before the borrow of `workers` ends.
    let lent = unsafe {
        std::mem::transmute::<*const (dyn Workers + '_), Lent>(std::ptr::from_ref(workers))
    };
    let _restore = Restore(WORKERS.replace(Some(lent)));
    work()
}

/// The workers of this thread, if any were lent: for use during a call.
pub(super) fn lent<'a>() -> Option<&'a dyn Workers> {
    // SAFETY: `with_workers` holds a borrow of them while the cell has their address, and a `Team`
    // uses them only during a call inside it.
    WORKERS.get().map(|lent| unsafe { &*lent })
}
