//! How many threads share a call, and how. The kernels know nothing of it.

use super::pool::{self, Pool};
use super::tuning;
use super::workers::{self, Workers};
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A thread gets its work in several parts, so that a slow one does not keep the rest waiting.
const PARTS_PER_THREAD: usize = 8;
/// Threads that are awake begin at the same time, so that they need few parts, and each part costs a
/// tenth of a microsecond: the smallest is this many times as large for them.
const LARGER_IF_AWAKE: usize = 4;
/// Up to so many bytes for each, they get one part: what one of them reads and writes is then in its
/// own L2 cache in the next call, also in that of another library which cuts in the same way.
const ONE_IF_AWAKE: usize = 2 << 20;
/// So many threads are allowed on any machine.
const ALWAYS_ALLOWED: usize = 256;
/// Beyond that, so many threads per processor.
const THREADS_PER_PROCESSOR: usize = 4;

/// The most threads that a call uses: 256, or four per processor this process
/// may use if that is more.
///
/// A reversal is bound by memory, so more threads than processors gain nothing, and each costs a
/// stack. A program that takes a number of threads from its user should check it against this:
/// [`with_threads`] takes more for this many.
///
/// ```
/// assert!(retrograde::cpu::max_threads() >= 256);
/// ```
pub fn max_threads() -> usize {
    most_for(processors())
}

/// Those that this process may use.
fn processors() -> usize {
    // Asked once: on Linux the quota is read from files, which takes as long as a copy of a megabyte.
    // No lock, which a forked child could inherit.
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    if FOUND.load(Ordering::Relaxed) == 0 {
        let found = std::thread::available_parallelism().map_or(1, usize::from);
        FOUND.store(found, Ordering::Relaxed);
    }
    FOUND.load(Ordering::Relaxed)
}

fn most_for(processors: usize) -> usize {
    processors.saturating_mul(THREADS_PER_PROCESSOR).max(ALWAYS_ALLOWED)
}

/// The number of threads that a large call of this thread uses, at most. Asking starts none.
///
/// The first of these that says a number:
/// 1. [`with_threads`];
/// 2. the environment variable `RETROGRADE_NUM_THREADS`;
/// 3. the least of: `OMP_NUM_THREADS`, `RAYON_NUM_THREADS`, the size of the rayon pool that the calling
///    thread belongs to (feature `rayon`), and the processors that this process may use (affinity and the
///    quota of its control group included).
///
/// Threads that are [lent](super::super::with_workers) are used instead of the engine's, up to the first
/// two numbers.
///
/// ```
/// use retrograde::cpu::{num_threads, with_threads};
///
/// assert_eq!(with_threads(3, num_threads), 3);
/// ```
pub fn num_threads() -> usize {
    match workers::lent() {
        Some(workers) => workers.threads().max(1).min(told().unwrap_or(usize::MAX)),
        None => own_threads(),
    }
}

/// The number of threads that `RETROGRADE_NUM_THREADS` asks for, at most [`max_threads`]. `None` if it
/// is not set, or to something else than a positive number.
pub fn threads_from_environment() -> Option<usize> {
    // No lock, as above. 1 stands for no number, and others are one more.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    if ASKED.load(Ordering::Relaxed) == 0 {
        let number =
            positive("RETROGRADE_NUM_THREADS").map_or(0, |number| number.min(max_threads()));
        ASKED.store(1 + number, Ordering::Relaxed);
    }
    Some(ASKED.load(Ordering::Relaxed) - 1).filter(|&number| number > 0)
}

/// Calls that `work` makes on this thread use at most so many threads: a limit of the engine's pool, and
/// of threads that are [lent](super::super::with_workers). It takes precedence over the environment.
///
/// ```
/// use retrograde::prelude::*;
/// use retrograde::cpu;
///
/// let out = cpu::with_threads(2, || Reverse::axes([0]).to_vec(&[1, 2, 3], &[3]))?;
/// assert_eq!(out, [3, 2, 1]);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn with_threads<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    /// Restores the previous number, also if `work` panics.
    struct Restore(usize);

    impl Drop for Restore {
        fn drop(&mut self) {
            ASKED.set(self.0);
        }
    }

    let _restore = Restore(ASKED.replace(threads.clamp(1, max_threads())));
    work()
}

/// Calls `part` with every number below `parts`, each once, on the calling thread and on others that a
/// large call of it would use.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let sum = AtomicUsize::new(0);
/// retrograde::cpu::run_parts(10, |part| {
///     sum.fetch_add(part, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 45);
/// ```
pub fn run_parts(parts: usize, part: impl Fn(usize) + Sync + Send) {
    Team::of(num_threads().min(parts.max(1))).run(parts, part);
}

thread_local! {
    /// What [`with_threads`] says; 0 for nothing.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// What the caller or the user says.
fn told() -> Option<usize> {
    // A module of WebAssembly cannot start threads, and in browsers has no clock that the pool could
    // read.
    if cfg!(target_family = "wasm") {
        return Some(1);
    }
    Some(ASKED.get()).filter(|&asked| asked > 0).or_else(threads_from_environment)
}

/// How many threads of the engine's pool a call may use.
fn own_threads() -> usize {
    told().unwrap_or_else(|| {
        let host = host_threads();
        #[cfg(feature = "rayon")]
        if rayon_core::current_thread_index().is_some() {
            return host.min(rayon_core::current_num_threads());
        }
        host
    })
}

/// What the system and the variables of other libraries allow.
fn host_threads() -> usize {
    static HOST: AtomicUsize = AtomicUsize::new(0);
    if HOST.load(Ordering::Relaxed) == 0 {
        let variables = ["OMP_NUM_THREADS", "RAYON_NUM_THREADS"].map(positive);
        let host = variables.into_iter().flatten().fold(processors(), usize::min);
        HOST.store(host, Ordering::Relaxed);
    }
    HOST.load(Ordering::Relaxed)
}

/// A positive number in the environment. OpenMP's variable may be a list, of which the first is for the
/// outermost level.
fn positive(variable: &str) -> Option<usize> {
    let value = std::env::var(variable).ok()?;
    value.split(',').next()?.trim().parse().ok().filter(|&number| number > 0)
}

/// The threads of a call.
enum Threads<'a> {
    Own(&'static Pool),
    Lent(&'a dyn Workers),
}

impl fmt::Debug for Threads<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Threads::Own(_) => "Own",
            Threads::Lent(_) => "Lent",
        })
    }
}

/// The threads that share one call. Decided once for a movement, and carried to its parts.
#[derive(Debug)]
pub(in crate::cpu) struct Team<'a> {
    /// `None` if the caller works alone.
    others: Option<Threads<'a>>,
    threads: usize,
    /// Whether the others are awake, or about to be.
    awake: bool,
}

impl Team<'_> {
    const ALONE: Self = Team { others: None, threads: 1, awake: false };

    /// Those for a call that writes this many bytes.
    pub(in crate::cpu) fn new(bytes: usize) -> Self {
        if bytes < tuning::share_from() {
            return Self::ALONE;
        }
        let most = num_threads();
        if most == 1 {
            return Self::ALONE;
        }
        let mut team = Self::of(most);
        team.awake = match &team.others {
            Some(Threads::Own(pool)) => pool.welcomes_small_calls(),
            Some(Threads::Lent(workers)) => workers.are_awake(),
            None => false,
        };
        // Whether lent threads are awake is not known if they do not say so.
        let [least, parts] = match &team.others {
            Some(Threads::Own(_)) => [tuning::wake_from(), bytes.div_ceil(tuning::least_part())],
            // As PyTorch cuts its calls on f32: what runs next on these threads, each a piece, finds it
            // in their caches.
            _ => [tuning::wake_from() / 2, bytes / (2 * tuning::least_part())],
        };
        if !team.awake && bytes < least {
            return Self::ALONE;
        }
        // A packed tensor may be smaller than a byte.
        team.threads = most.min(parts.max(1));
        if team.threads == 1 { Self::ALONE } else { team }
    }

    /// So many, whatever they do.
    fn of(threads: usize) -> Self {
        if threads == 1 {
            return Self::ALONE;
        }
        let others = match workers::lent() {
            Some(workers) => Threads::Lent(workers),
            None => Threads::Own(pool::current()),
        };
        Team { others: Some(others), threads, awake: false }
    }

    /// How many they are.
    pub(in crate::cpu) fn threads(&self) -> usize {
        self.threads
    }

    /// How many parts to cut such a call into.
    pub(in crate::cpu) fn parts(&self, bytes: usize) -> usize {
        let each = match &self.others {
            None => return 1,
            // They run as many parts at once as there are.
            Some(Threads::Lent(workers)) if self.threads < workers.threads() => 1,
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

    /// Whether its threads are lent.
    pub(in crate::cpu) fn is_lent(&self) -> bool {
        matches!(self.others, Some(Threads::Lent(_)))
    }

    /// Runs every part, each once.
    pub(in crate::cpu) fn run(&self, parts: usize, part: impl Fn(usize) + Sync + Send) {
        match &self.others {
            Some(Threads::Own(pool)) => pool.run(self.threads, parts, part),
            Some(Threads::Lent(workers)) if parts > 1 => workers.run(parts, &part),
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
        let threads = || with_threads(8, || Team::new(small).threads());
        assert_eq!(with_workers(&Counting(Mutex::default()), threads), 1);
        assert_eq!(with_workers(&Awake, threads), 2);
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
        let run = || {
            let team = Team::new(large);
            assert_eq!(team.threads(), 3);
            let parts = team.parts(large);
            team.run(parts, |part| {
                sum.fetch_add(part, Ordering::Relaxed);
            });
            assert_eq!(team.first(5, |part| (part > 2).then_some(part)), Some(3));
            assert_eq!(Team::new(1000).threads(), 1);
            assert_eq!(with_threads(2, || Team::new(large).threads()), 2);
            parts
        };
        // The environment may limit the tests to one thread.
        let parts = with_workers(&counting, || with_threads(8, run));
        assert_eq!(*counting.0.lock().unwrap(), [parts, 5]);
        assert_eq!(sum.into_inner(), parts * (parts - 1) / 2);
        assert!(workers::lent().is_none());
        let _ = std::panic::catch_unwind(|| with_workers(&Counting(Mutex::default()), || panic!()));
        assert!(workers::lent().is_none());
    }

    #[test]
    fn a_number_holds_for_the_call_and_can_be_nested() {
        let numbers = || [num_threads(), with_threads(2, num_threads), num_threads()];
        assert_eq!(with_threads(5, numbers), [5, 2, 5]);
        assert_eq!(with_threads(usize::MAX, num_threads), max_threads());
        assert_eq!(with_threads(0, num_threads), 1);
        let _ = std::panic::catch_unwind(|| with_threads(5, || panic!()));
        assert_eq!(ASKED.get(), 0);
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
