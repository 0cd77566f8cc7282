//! How many threads share a call, and how. The kernels know nothing of it.

use super::tuning;
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread gets its work in several parts, so that a slow one does not keep the rest waiting.
const PARTS_PER_THREAD: usize = 4;
/// Pools of this size are allowed on any machine.
const ALWAYS_ALLOWED: usize = 256;
/// Beyond that, so many threads per processor.
const THREADS_PER_PROCESSOR: usize = 4;

/// The most threads that a caller should ask a pool for: 256, or four per processor this process
/// may use if that is more.
///
/// A reversal is bound by memory, so more threads than processors gain nothing, and each costs a
/// stack. A program that takes a number of threads from its user should check it against this before
/// it builds a pool; the engine itself starts no threads.
///
/// ```
/// assert!(retrograde::cpu::max_threads() >= 256);
/// ```
pub fn max_threads() -> usize {
    most_for(std::thread::available_parallelism().map_or(1, usize::from))
}

fn most_for(processors: usize) -> usize {
    processors.saturating_mul(THREADS_PER_PROCESSOR).max(ALWAYS_ALLOWED)
}

/// Threads of another runtime, for a call that must not start threads of its own.
///
/// # Safety
/// [`run`](Self::run) calls the function with each number below `parts` exactly once, and returns
/// only when all of these calls have returned. (Each call writes its own part of the output, and
/// the output is complete only with all of them.)
pub unsafe trait Workers {
    /// About how many parts can run at the same time, the caller's thread included.
    fn threads(&self) -> usize;

    /// Runs every part, on any of the threads.
    fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync));
}

type Lent = *const (dyn Workers + 'static);

thread_local! {
    /// The workers that calls of this thread use instead of rayon's.
    static WORKERS: Cell<Option<Lent>> = const { Cell::new(None) };
}

/// Calls that `work` makes on this thread share their parts among these workers, and never start
/// or use a thread of rayon.
///
/// ```
/// use retrograde::{cpu, Reverse};
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

/// The workers of this thread, if any were lent.
fn workers<'a>() -> Option<&'a dyn Workers> {
    // SAFETY: `with_workers` holds a borrow of them while the cell has their address, and the
    // functions of this module use them only during a call inside it.
    WORKERS.get().map(|lent| unsafe { &*lent })
}

/// How many threads there are: those lent by [`with_workers`], or those of the caller's rayon pool
/// (or the global one, which has one per processor this process may use).
fn available() -> usize {
    match workers() {
        Some(workers) => workers.threads().max(1),
        None => rayon::current_num_threads(),
    }
}

/// How many threads a call that writes this many bytes may use: those that are available, and no
/// more than `RETROGRADE_NUM_THREADS`.
pub(in crate::cpu) fn threads_for(bytes: usize) -> usize {
    let limit = limit();
    if bytes < tuning::share_from() || limit == 1 {
        return 1;
    }
    available().min(limit)
}

/// How many parts to cut such a call into.
pub(in crate::cpu) fn parts_for(bytes: usize, threads: usize) -> usize {
    if threads == 1 {
        return 1;
    }
    // Fewer threads than the pool has: it runs as many parts at once as there are.
    let each = if threads < available() { 1 } else { PARTS_PER_THREAD };
    (bytes / tuning::least_part()).clamp(1, threads * each)
}

/// Runs every part, each once.
pub(in crate::cpu) fn run(parts: usize, part: impl Fn(usize) + Sync + Send) {
    if parts == 1 {
        part(0);
    } else if let Some(workers) = workers() {
        workers.run(parts, &part);
    } else {
        (0..parts).into_par_iter().with_max_len(1).for_each(part);
    }
}

/// The first part's answer, of those that have one.
pub(in crate::cpu) fn first<T: Send>(
    parts: usize,
    part: impl Fn(usize) -> Option<T> + Sync + Send,
) -> Option<T> {
    // Lent workers run parts to the end. The few calls with this many lengths can do without them.
    if parts <= 1 || limit() == 1 || workers().is_some() {
        (0..parts).find_map(part)
    } else {
        (0..parts).into_par_iter().with_max_len(1).find_map_first(part)
    }
}

/// What the environment allows.
fn limit() -> usize {
    // As with the caches' size: no lock that a forked child could inherit.
    static LIMIT: AtomicUsize = AtomicUsize::new(0);
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let value = std::env::var("RETROGRADE_NUM_THREADS").ok();
            let value = value.and_then(|value| value.parse().ok()).filter(|&n| n > 0);
            let limit = value.unwrap_or(usize::MAX);
            LIMIT.store(limit, Ordering::Relaxed);
            limit
        }
        limit => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Counts the parts it was asked to run, and runs them in another order.
    struct Counting(Mutex<Vec<usize>>);

    // SAFETY: the loop runs every part once.
    unsafe impl Workers for Counting {
        fn threads(&self) -> usize {
            3
        }

        fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
            self.0.lock().unwrap().push(parts);
            (0..parts).rev().for_each(part);
        }
    }

    #[test]
    fn lent_workers_run_the_parts_of_large_calls_until_they_are_returned() {
        let counting = Counting(Mutex::new(Vec::new()));
        let large = 4 << 20;
        let sum = AtomicUsize::new(0);
        with_workers(&counting, || {
            let threads = threads_for(large);
            assert_eq!((threads, threads_for(1000)), (3.min(limit()), 1));
            run(parts_for(large, threads), |part| {
                sum.fetch_add(part, Ordering::Relaxed);
            });
            assert_eq!(first(5, |part| (part > 2).then_some(part)), Some(3));
        });
        if limit() >= 3 {
            assert_eq!(*counting.0.lock().unwrap(), [12]);
            assert_eq!(sum.into_inner(), 66);
        }
        assert!(workers().is_none());
        let _ = std::panic::catch_unwind(|| with_workers(&Counting(Mutex::default()), || panic!()));
        assert!(workers().is_none());
    }

    #[test]
    fn the_most_threads_follow_the_processors_from_64_on() {
        let cases = [(1, 256), (64, 256), (65, 260), (1024, 4096), (usize::MAX, usize::MAX)];
        for (processors, most) in cases {
            assert_eq!(most_for(processors), most, "{processors} processors");
        }
        let here = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(max_threads(), most_for(here));
    }
}
