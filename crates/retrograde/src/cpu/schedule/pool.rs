//! A thread pool in which the caller works too. It takes parts of its own call until none is left,
//! and the workers that are awake by then help: a call never waits for a thread to wake up.
//!
//! A thread that calls into a rayon pool from outside hands in all of its work and sleeps: two
//! wake-ups before the first byte moves, each as long as a copy of a megabyte.

use super::shares::Shares;
use std::any::Any;
use std::cell::RefCell;
use std::hint::spin_loop;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a worker looks for more work before it sleeps: longer than it takes a program to call
/// again right away, too short to be noticed by anyone else.
const SPIN: Duration = Duration::from_micros(50);
/// Calls that follow each other faster than this are worth waking a worker for, which then stays
/// awake between them.
const OFTEN: Duration = Duration::from_micros(150);
/// How long a caller looks at parts that others still run before it sleeps: longer than a part takes.
/// Where a worker has lost its processor, giving up this one lets it go on, but another program may
/// get it then, for milliseconds.
const LINGER: Duration = Duration::from_micros(150);
/// Calls that can be shared at the same time.
const SLOTS: usize = 8;
/// Looks before others get the processor.
const LOOKS: usize = 32;

/// Threads for large calls, instead of those that the engine starts itself.
///
/// Inside [`install`](Self::install), calls of this thread use the pool, unless another runtime
/// [lends](super::super::with_workers) its threads. Otherwise a call made on a thread of a rayon
/// pool uses that pool, and any other call uses a pool of the engine, which has one thread per
/// processor, but no more than the environment variable `RETROGRADE_NUM_THREADS`. That pool is
/// created by the first large call.
///
/// The calling thread is one of the threads, so a pool of one starts none. Workers sleep when they
/// have had nothing to do for 50 microseconds. Dropping the pool ends them.
///
/// ```
/// use retrograde::{Reverse, cpu::ThreadPool};
///
/// let pool = ThreadPool::new(2)?;
/// let out = pool.install(|| Reverse::axes([0]).to_vec(&[1, 2, 3], &[3]))?;
/// assert_eq!(out, [3, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ThreadPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// What callers and workers share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Workers and a caller.
    threads: AtomicUsize,
    /// When the pool was made, and when it was last asked for, in nanoseconds after that.
    made: Instant,
    asked: AtomicU64,
    /// Calls in progress. A caller that finds none of these free works alone.
    slots: [Slot; SLOTS],
    /// The number of jobs so far: workers that are awake watch it.
    posted: AtomicUsize,
    /// Workers that are awake and have nothing to do.
    spinning: AtomicUsize,
    /// Workers that sleep, or are about to.
    sleeping: AtomicUsize,
    /// Callers that sleep until their last parts are done, or are about to.
    waiting: AtomicUsize,
    /// Whether workers end.
    stop: AtomicBool,
    /// Held by those who go to sleep and those who wake them. Everything else is atomic, because a
    /// lock that two threads want at once puts one of them to sleep.
    sleep: Mutex<()>,
    /// Workers sleep here.
    work: Condvar,
    /// Callers sleep here.
    done: Condvar,
}

/// A place for a call in progress.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot {
    taken: AtomicBool,
    /// Workers that may still join, and [`HELPER`] for each that has joined and not left.
    gate: AtomicU64,
    /// Valid while its caller lets workers join, and until all of them have left.
    job: AtomicPtr<Job>,
}

/// One helper in the gate of a slot.
const HELPER: u64 = 1 << 32;

/// Workers that may still join, of a gate.
fn seats(gate: u64) -> u64 {
    gate % HELPER
}

/// A call in progress, on the stack of its caller.
#[derive(Debug)]
struct Job {
    /// The closure that runs a part. Its lifetime has been erased: [`Shared::run`] returns only
    /// after the last use.
    part: NonNull<dyn Fn(usize) + Sync>,
    shares: Shares,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job {
    /// Runs parts until none is left, those of this thread first. The caller is number 0.
    fn work(&self, thread: usize) {
        let parts = || {
            // SAFETY: the closure outlives the job.
            self.shares.run(thread, unsafe { self.part.as_ref() });
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(parts)) {
            // No more parts; the caller continues the panic.
            self.shares.stop();
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }
}

impl Slot {
    /// Makes the calling worker a helper, if there is a seat.
    fn join(&self) -> bool {
        let take = |gate: u64| (seats(gate) > 0).then(|| gate - 1 + HELPER);
        self.gate.fetch_update(Ordering::Acquire, Ordering::Relaxed, take).is_ok()
    }

    fn helpers(&self) -> u64 {
        self.gate.load(Ordering::SeqCst) / HELPER
    }
}

impl ThreadPool {
    /// A pool of so many threads, including the caller: it starts one less.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn new(threads: usize) -> io::Result<Self> {
        match Self::start(threads) {
            (pool, None) => Ok(pool),
            (_, Some(error)) => Err(error),
        }
    }

    /// A pool of as many of these threads as the system can start, and its error if that is fewer.
    fn start(threads: usize) -> (Self, Option<io::Error>) {
        let shared = Shared {
            threads: AtomicUsize::new(1),
            made: Instant::now(),
            asked: AtomicU64::new(0),
            slots: Default::default(),
            posted: AtomicUsize::new(0),
            spinning: AtomicUsize::new(0),
            sleeping: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            sleep: Mutex::new(()),
            work: Condvar::new(),
            done: Condvar::new(),
        };
        let mut pool = ThreadPool { shared: Arc::new(shared), workers: vec![] };
        for number in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let builder = thread::Builder::new().name(format!("retrograde-{number}"));
            match builder.spawn(move || shared.serve(number)) {
                Ok(worker) => pool.workers.push(worker),
                Err(error) => return (pool, Some(error)),
            }
            pool.shared.threads.store(number + 1, Ordering::Relaxed);
        }
        (pool, None)
    }

    /// The number of threads, including the caller.
    pub fn threads(&self) -> usize {
        self.shared.threads()
    }

    /// Calls a function on this thread, and lets all large calls in it use the pool.
    pub fn install<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = INSTALLED.replace(Some(Arc::clone(&self.shared)));
        let _restored = Restore(before);
        work()
    }

    /// Calls `part` with every number below `parts`, each once, on the calling thread and on the
    /// workers that are free.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let sum = AtomicUsize::new(0);
    /// retrograde::cpu::ThreadPool::new(2)?.run(10, |part| {
    ///     sum.fetch_add(part, Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 45);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn run(&self, parts: usize, part: impl Fn(usize) + Sync) {
        self.shared.run(self.threads(), parts, part);
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.posted.fetch_add(1, Ordering::SeqCst);
        let sleep = self.shared.lock();
        self.shared.work.notify_all();
        drop(sleep);
        for worker in self.workers.drain(..) {
            // Workers catch the panics of parts and have none of their own.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// Workers and a caller.
    pub(super) fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// Notes that a call asks, and tells whether even a small one is worth sharing: a worker is awake
    /// and free, or calls follow each other so fast that it stays awake once it is woken.
    pub(super) fn welcomes_small_calls(&self) -> bool {
        let now = self.made.elapsed().as_nanos() as u64;
        let before = self.asked.swap(now, Ordering::Relaxed);
        let often = now.saturating_sub(before) < OFTEN.as_nanos() as u64;
        often || self.spinning.load(Ordering::Relaxed) > 0
    }

    /// Runs every part, each once, on at most so many threads.
    pub(super) fn run(&self, threads: usize, parts: usize, part: impl Fn(usize) + Sync) {
        let helpers = threads.min(self.threads()).min(parts).saturating_sub(1);
        let free = |slot: &&Slot| helpers > 0 && !slot.taken.swap(true, Ordering::Acquire);
        let Some(slot) = self.slots.iter().find(free) else {
            (0..parts).for_each(part);
            return;
        };
        let part: &(dyn Fn(usize) + Sync) = &part;
        // SAFETY: only the lifetime changes. The closure is used by `Job::work`, and `close` below
        // returns after the last helper has left that.
        let part = unsafe {
            std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(part)
        };
        let shares = Shares::new(parts, helpers + 1);
        let job = Job { part: NonNull::from(part), shares, panic: Mutex::new(None) };
        self.open(slot, &job, helpers);
        job.work(0);
        self.close(slot);
        if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    /// Lets workers join.
    fn open(&self, slot: &Slot, job: &Job, helpers: usize) {
        slot.job.store(ptr::from_ref(job).cast_mut(), Ordering::Relaxed);
        slot.gate.store(helpers as u64, Ordering::Release);
        self.posted.fetch_add(1, Ordering::SeqCst);
        // One at a time: each wakes the next, so that the caller can begin.
        if self.spinning.load(Ordering::SeqCst) < helpers {
            self.wake_one();
        }
    }

    /// Lets no more workers join, and waits for those that have.
    fn close(&self, slot: &Slot) {
        let before = slot.gate.fetch_and(!(HELPER - 1), Ordering::SeqCst);
        let left = || slot.helpers() == 0;
        if before >= HELPER && !spin(LINGER, false, left) {
            let mut sleep = self.lock();
            self.waiting.fetch_add(1, Ordering::SeqCst);
            while !left() {
                sleep = self.done.wait(sleep).unwrap_or_else(PoisonError::into_inner);
            }
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        slot.taken.store(false, Ordering::Release);
    }

    /// Helps with one job, if there is one to help with.
    fn help(&self, worker: usize) -> bool {
        let Some(slot) = self.slots.iter().find(|slot| slot.join()) else { return false };
        let more = seats(slot.gate.load(Ordering::Relaxed)) > 0;
        if more && self.spinning.load(Ordering::SeqCst) == 0 {
            self.wake_one();
        }
        // SAFETY: the caller keeps its job until all helpers have left.
        unsafe { &*slot.job.load(Ordering::Relaxed) }.work(worker);
        // The last use of the job. Release: what it wrote is there for the caller.
        slot.gate.fetch_sub(HELPER, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // With the lock: the caller sleeps already, or has yet to look.
            let _sleep = self.lock();
            self.done.notify_all();
        }
        true
    }

    /// Wakes a worker, if one sleeps.
    fn wake_one(&self) {
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            // With the lock: the worker sleeps already, or has yet to look.
            let _sleep = self.lock();
            self.work.notify_one();
        }
    }

    /// The life of a worker.
    fn serve(&self, worker: usize) {
        loop {
            // Loaded before `stop`: dropping the pool sets that first and posts then, so a worker
            // that has seen the post sees it too.
            let seen = self.posted.load(Ordering::SeqCst);
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            let posted = || self.posted.load(Ordering::SeqCst) != seen;
            if self.help(worker) {
                continue;
            }
            self.spinning.fetch_add(1, Ordering::SeqCst);
            let found = spin(SPIN, true, posted);
            self.spinning.fetch_sub(1, Ordering::SeqCst);
            if found {
                continue;
            }
            let mut sleep = self.lock();
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            while !posted() {
                sleep = self.work.wait(sleep).unwrap_or_else(PoisonError::into_inner);
            }
            self.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // Nothing panics while it is held.
        self.sleep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks again and again, for at most this long, and tells whether it saw it. With `yields`, others that
/// want this processor get it meanwhile.
fn spin(most: Duration, yields: bool, seen: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if seen() {
                return true;
            }
            spin_loop();
        }
        if start.elapsed() >= most {
            return false;
        }
        if yields {
            thread::yield_now();
        }
    }
}

thread_local! {
    /// The pool that this thread has installed.
    static INSTALLED: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// Restores the pool that was installed before, even if a call panics.
struct Restore(Option<Arc<Shared>>);

impl Drop for Restore {
    fn drop(&mut self) {
        INSTALLED.set(self.0.take());
    }
}

/// The pool that this thread has installed.
pub(super) fn installed() -> Option<Arc<Shared>> {
    INSTALLED.with_borrow(Clone::clone)
}

/// The pool of the engine, of so many threads, if the system can start them. The first call creates
/// it.
pub(super) fn global(threads: impl Fn() -> usize) -> Arc<Shared> {
    /// A pool, and the process in which its threads run.
    struct Global {
        pool: ThreadPool,
        process: u32,
    }
    // Not a `OnceLock`: a forked child inherits the pool, but neither its threads nor, if another
    // thread holds it, a lock that is ever released.
    static GLOBAL: AtomicPtr<Global> = AtomicPtr::new(ptr::null_mut());
    let process = std::process::id();
    loop {
        let found = GLOBAL.load(Ordering::Acquire);
        // SAFETY: null, or a box that is never freed.
        if let Some(global) = unsafe { found.as_ref() }.filter(|it| it.process == process) {
            return Arc::clone(&global.pool.shared);
        }
        let (pool, _) = ThreadPool::start(threads());
        let made = Box::into_raw(Box::new(Global { pool, process }));
        let swapped = GLOBAL.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire);
        if swapped.is_err() {
            // Another thread was faster.
            // SAFETY: made above, and not shared.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU8;

    #[test]
    fn every_part_runs_once() {
        let rounds = if cfg!(miri) { 3 } else { 2000 };
        for threads in [1, 2, 3, 8] {
            let pool = ThreadPool::new(threads).unwrap();
            assert_eq!(pool.threads(), threads);
            for round in 0..rounds {
                let parts = round % 40;
                let ran: Vec<AtomicU8> = (0..parts).map(|_| AtomicU8::new(0)).collect();
                pool.run(parts, |part| {
                    ran[part].fetch_add(1, Ordering::Relaxed);
                });
                assert!(ran.iter().all(|ran| ran.load(Ordering::Relaxed) == 1));
                if round % 100 == 0 {
                    thread::sleep(2 * SPIN); // workers fall asleep
                }
            }
        }
    }

    #[test]
    fn many_callers_share_one_pool() {
        let pool = ThreadPool::new(3).unwrap();
        let rounds = if cfg!(miri) { 2 } else { 500 };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let sum = AtomicUsize::new(0);
                        pool.run(20, |part| {
                            sum.fetch_add(part, Ordering::Relaxed);
                        });
                        assert_eq!(sum.into_inner(), 190);
                    }
                });
            }
        });
    }

    #[test]
    fn workers_help() {
        let pool = ThreadPool::new(2).unwrap();
        // Each of two parts waits for the other: one thread alone would never finish.
        let met = std::sync::Barrier::new(2);
        for _ in 0..3 {
            pool.run(2, |_| {
                met.wait();
            });
            thread::sleep(2 * SPIN);
        }
    }

    #[test]
    fn calls_inside_parts_are_allowed() {
        let pool = ThreadPool::new(2).unwrap();
        let sum = AtomicUsize::new(0);
        pool.run(4, |_| {
            pool.run(4, |part| {
                sum.fetch_add(part, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), 24);
    }

    /// A worker that looked for work while the pool was dropped slept for ever: on QEMU, and once in a
    /// test of many pools, but not in 380,000 pools in a row. So this may pass by luck.
    #[test]
    fn pools_end_whatever_their_workers_do() {
        for _ in 0..if cfg!(miri) { 5 } else { 2000 } {
            drop(ThreadPool::new(2).unwrap());
        }
    }

    #[test]
    fn panics_reach_the_caller_and_the_pool_survives() {
        let pool = ThreadPool::new(2).unwrap();
        for bad in 0..3 {
            let run = || pool.run(3, |part| assert_ne!(part, bad, "on purpose"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        }
        pool.run(3, |_| {});
    }

    #[test]
    fn a_pool_is_installed_for_one_call() {
        let (outer, inner) = (ThreadPool::new(1).unwrap(), ThreadPool::new(2).unwrap());
        let threads = || installed().map(|pool| pool.threads());
        let found = outer.install(|| [threads(), inner.install(threads), threads()]);
        assert_eq!((found, threads()), ([Some(1), Some(2), Some(1)], None));
    }
}
