//! How many threads share a call, and how. The kernels know nothing of it.

use super::pool::{self, Shared};
use super::tuning;
use super::workers::{self, Workers};
use rayon::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A thread gets its work in several parts, so that a slow one does not keep the rest waiting.
const PARTS_PER_THREAD: usize = 8;
/// Threads that are awake begin at the same time, so that they need few parts, and each part costs a
/// tenth of a microsecond: the smallest is this many times as large for them.
const LARGER_IF_AWAKE: usize = 4;
/// Up to so many bytes for each, they get one part: what one of them reads and writes is then in its
/// own L2 cache in the next call, also in that of another library which cuts in the same way.
const ONE_IF_AWAKE: usize = 2 << 20;
/// Pools of this size are allowed on any machine.
const ALWAYS_ALLOWED: usize = 256;
/// Beyond that, so many threads per processor.
const THREADS_PER_PROCESSOR: usize = 4;

/// The most threads that a caller should ask a pool for: 256, or four per processor this process
/// may use if that is more.
///
/// A reversal is bound by memory, so more threads than processors gain nothing, and each costs a
/// stack. A program that takes a number of threads from its user should check it against this before
/// it builds a pool.
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

/// The number of threads that a large call of this thread uses: those that were
/// [lent](super::super::with_workers) to it, or of the pool that it has
/// [installed](super::super::ThreadPool::install), or of the rayon pool it belongs to, or one per
/// processor that this process may use. `RETROGRADE_NUM_THREADS` is an upper limit.
///
/// ```
/// use retrograde::cpu::{ThreadPool, num_threads};
///
/// assert_eq!(ThreadPool::new(3)?.install(num_threads), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn num_threads() -> usize {
    if limit() == 1 {
        return 1;
    }
    Pool::current().threads().min(limit())
}

/// The threads of this thread's calls.
enum Pool<'a> {
    Own(Arc<Shared>),
    Rayon,
    Lent(&'a dyn Workers),
}

impl fmt::Debug for Pool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Pool::Own(_) => "Own",
            Pool::Rayon => "Rayon",
            Pool::Lent(_) => "Lent",
        };
        f.write_str(name)
    }
}

impl Pool<'_> {
    fn current() -> Self {
        if let Some(workers) = workers::lent() {
            return Pool::Lent(workers);
        }
        if let Some(pool) = pool::installed() {
            return Pool::Own(pool);
        }
        if rayon::current_thread_index().is_some() {
            return Pool::Rayon;
        }
        // Asked once: on Linux it reads files, which takes as long as a copy of a megabyte.
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Pool::Own(pool::global(|| processors().min(limit())))
    }

    fn threads(&self) -> usize {
        match self {
            Pool::Own(pool) => pool.threads(),
            Pool::Rayon => rayon::current_num_threads(),
            Pool::Lent(workers) => workers.threads().max(1),
        }
    }
}

/// The threads that share one call.
#[derive(Debug)]
pub(in crate::cpu) struct Team<'a> {
    /// `None` if the caller works alone.
    pool: Option<Pool<'a>>,
    threads: usize,
    /// Whether the others are awake, or about to be.
    awake: bool,
}

impl Team<'_> {
    /// Those for a call that writes this many bytes.
    pub(in crate::cpu) fn new(bytes: usize) -> Self {
        let alone = Team { pool: None, threads: 1, awake: false };
        if bytes < tuning::share_from() || limit() == 1 {
            return alone;
        }
        let pool = Pool::current();
        let awake = match &pool {
            Pool::Own(pool) => pool.welcomes_small_calls(),
            Pool::Lent(workers) => workers.are_awake(),
            Pool::Rayon => false,
        };
        let least = match &pool {
            _ if awake => 0,
            Pool::Own(_) => tuning::wake_from(),
            // Whether these are awake is not known.
            Pool::Rayon | Pool::Lent(_) => tuning::wake_from() / 2,
        };
        if bytes < least {
            return alone;
        }
        let most = match &pool {
            // As PyTorch cuts its calls on f32: what runs next on these threads, each a piece, finds it
            // in their caches.
            Pool::Lent(_) => (bytes / (2 * tuning::least_part())).max(1),
            // A packed tensor may be smaller than a byte.
            _ => bytes.div_ceil(tuning::least_part()).max(1),
        };
        let threads = pool.threads().min(limit()).min(most);
        if threads == 1 { alone } else { Team { pool: Some(pool), threads, awake } }
    }

    /// How many they are.
    pub(in crate::cpu) fn threads(&self) -> usize {
        self.threads
    }

    /// How many parts to cut such a call into.
    pub(in crate::cpu) fn parts(&self, bytes: usize) -> usize {
        let each = match &self.pool {
            None => return 1,
            Some(Pool::Own(_)) => PARTS_PER_THREAD,
            // Others run as many parts at once as there are.
            Some(pool) if self.threads < pool.threads() => 1,
            Some(_) => PARTS_PER_THREAD,
        };
        let smallest = bytes / tuning::least_part();
        let wanted = match self.awake {
            true if bytes <= self.threads * ONE_IF_AWAKE => self.threads,
            true => smallest / LARGER_IF_AWAKE,
            false => smallest,
        };
        let most = wanted.max(smallest.min(self.threads)).clamp(1, self.threads * each);
        // As many for each thread: three parts take two threads as long as four.
        if most > self.threads { most / self.threads * self.threads } else { most }
    }

    /// Runs every part, each once.
    pub(in crate::cpu) fn run(&self, parts: usize, part: impl Fn(usize) + Sync + Send) {
        match &self.pool {
            Some(Pool::Own(pool)) => pool.run(self.threads, parts, part),
            Some(Pool::Rayon) if parts > 1 => {
                (0..parts).into_par_iter().with_max_len(1).for_each(part);
            }
            Some(Pool::Lent(workers)) if parts > 1 => workers.run(parts, &part),
            _ => (0..parts).for_each(part),
        }
    }

    /// The first part's answer, of those that have one.
    pub(in crate::cpu) fn first<T: Send>(
        &self,
        parts: usize,
        part: impl Fn(usize) -> Option<T> + Sync + Send,
    ) -> Option<T> {
        if parts <= 1 || self.threads == 1 {
            return (0..parts).find_map(part);
        }
        let found = Mutex::new(None);
        let lowest = AtomicUsize::new(usize::MAX);
        self.run(parts, |index| {
            if index >= lowest.load(Ordering::Relaxed) {
                return;
            }
            if let Some(answer) = part(index) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                if index < lowest.load(Ordering::Relaxed) {
                    lowest.store(index, Ordering::Relaxed);
                    *found = Some(answer);
                }
            }
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the environment allows.
fn limit() -> usize {
    // A module of WebAssembly cannot start threads, and in browsers has no clock that the pool could
    // read.
    if cfg!(target_family = "wasm") {
        return 1;
    }
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
    use super::super::workers::with_workers;
    use super::*;

    /// Counts the parts it was asked to run, and runs them in another order.
    struct Counting(Mutex<Vec<usize>>);

    /// Runs everything here, but says that others are awake.
    struct Awake;

    // SAFETY: the loop runs every part once.
    unsafe impl Workers for Awake {
        fn threads(&self) -> usize {
            2
        }

        fn are_awake(&self) -> bool {
            true
        }

        fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
            (0..parts).for_each(part);
        }
    }

    #[test]
    fn workers_that_are_awake_share_smaller_calls() {
        let small = 4 * tuning::least_part();
        assert!((tuning::share_from()..tuning::wake_from() / 2).contains(&small));
        let threads = || Team::new(small).threads();
        assert_eq!(with_workers(&Counting(Mutex::default()), threads), 1);
        assert_eq!(with_workers(&Awake, threads), 2.min(limit()));
    }

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
        let parts = with_workers(&counting, || {
            let team = Team::new(large);
            assert_eq!(team.threads(), 3.min(limit()));
            let parts = team.parts(large);
            team.run(parts, |part| {
                sum.fetch_add(part, Ordering::Relaxed);
            });
            assert_eq!(team.first(5, |part| (part > 2).then_some(part)), Some(3));
            assert_eq!(Team::new(1000).threads(), 1);
            parts
        });
        // The environment may limit the tests to one thread.
        let asked = counting.0.lock().unwrap().clone();
        assert_eq!(asked, if limit() == 1 { vec![] } else { vec![parts, 5] });
        assert_eq!(sum.into_inner(), parts * (parts - 1) / 2);
        assert!(workers::lent().is_none());
        let _ = std::panic::catch_unwind(|| with_workers(&Counting(Mutex::default()), || panic!()));
        assert!(workers::lent().is_none());
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
