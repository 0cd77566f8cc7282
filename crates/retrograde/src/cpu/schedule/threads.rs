//! How many threads share a call, and how. The kernels know nothing of it.

use super::tuning;
use rayon::prelude::*;
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

/// How many threads a call that writes this many bytes may use: those of the caller's rayon
/// pool (or the global one, which has one per processor this process may use), and no more
/// than `RETROGRADE_NUM_THREADS`.
pub(in crate::cpu) fn threads_for(bytes: usize) -> usize {
    let limit = limit();
    if bytes < tuning::share_from() || limit == 1 {
        return 1;
    }
    rayon::current_num_threads().min(limit)
}

/// How many parts to cut such a call into.
pub(in crate::cpu) fn parts_for(bytes: usize, threads: usize) -> usize {
    if threads == 1 {
        return 1;
    }
    // Fewer threads than the pool has: it runs as many parts at once as there are.
    let each = if threads < rayon::current_num_threads() { 1 } else { PARTS_PER_THREAD };
    (bytes / tuning::least_part()).clamp(1, threads * each)
}

/// Runs every part, each once.
pub(in crate::cpu) fn run(parts: usize, part: impl Fn(usize) + Sync + Send) {
    if parts == 1 {
        part(0);
    } else {
        (0..parts).into_par_iter().with_max_len(1).for_each(part);
    }
}

/// The first part's answer, of those that have one.
pub(in crate::cpu) fn first<T: Send>(
    parts: usize,
    part: impl Fn(usize) -> Option<T> + Sync + Send,
) -> Option<T> {
    if parts <= 1 || limit() == 1 {
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
