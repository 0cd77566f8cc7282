//! The engine's thread pool, in which the caller works too. It takes parts of its own call until none
//! is left, and the workers that are awake by then help: a call never waits for a thread to wake up.
//! There is one pool in a process. It starts workers when a call wants more than there are.
//!
//! A thread that calls into a rayon pool from outside hands in all of its work and sleeps: two
//! wake-ups before the first byte moves, each as long as a copy of a megabyte. One that waits inside
//! a rayon pool runs other tasks meanwhile, which may wait for a lock that the caller holds.

use super::shares::Shares;
use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
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

/// What callers and workers share.
#[derive(Debug)]
pub(super) struct Pool {
    /// The process in which the workers run: a forked child inherits the pool without them.
    process: u32,
    /// Workers and a caller.
    threads: AtomicUsize,
    /// Held by a caller that starts workers. The value: whether the system has refused to.
    start: Mutex<bool>,
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
    /// Whether one of the sleeping workers wakes up by itself, for the idle task.
    tended: AtomicBool,
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
    /// The closure that runs a part. Its lifetime has been erased: [`Pool::run`] returns only
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

impl Pool {
    /// A pool without workers.
    fn new() -> Self {
        Pool {
            process: std::process::id(),
            threads: AtomicUsize::new(1),
            start: Mutex::new(false),
            made: Instant::now(),
            asked: AtomicU64::new(0),
            slots: Default::default(),
            posted: AtomicUsize::new(0),
            spinning: AtomicUsize::new(0),
            sleeping: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            tended: AtomicBool::new(false),
            sleep: Mutex::new(()),
            work: Condvar::new(),
            done: Condvar::new(),
        }
    }

    /// Starts workers until there are so many threads with the caller, and tells how many there are:
    /// fewer if the system refuses, or another caller is at it.
    fn grow(&'static self, threads: usize) -> usize {
        let are = self.threads.load(Ordering::Relaxed);
        if are >= threads {
            return threads;
        }
        let Ok(mut refused) = self.start.try_lock() else { return are };
        for number in self.threads.load(Ordering::Relaxed)..threads {
            if *refused {
                break;
            }
            let worker = thread::Builder::new().name(format!("retrograde-{number}"));
            *refused = worker.spawn(move || self.serve(number)).is_err();
            if !*refused {
                self.threads.store(number + 1, Ordering::Relaxed);
            }
        }
        self.threads.load(Ordering::Relaxed).min(threads)
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
    pub(super) fn run(&'static self, threads: usize, parts: usize, part: impl Fn(usize) + Sync) {
        let helpers = self.grow(threads.min(parts).max(1)) - 1;
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
            let seen = self.posted.load(Ordering::SeqCst);
            let posted = || self.posted.load(Ordering::SeqCst) != seen;
            if self.help(worker) {
                continue;
            }
            self.spinning.fetch_add(1, Ordering::SeqCst);
            let found = spin(SPIN, true, posted);
            self.spinning.fetch_sub(1, Ordering::SeqCst);
            if !found {
                self.sleep_until(posted);
            }
        }
    }

    /// Sleeps until there may be work. While there is an idle task to do, one of those who sleep wakes
    /// up now and then and does it.
    fn sleep_until(&self, posted: impl Fn() -> bool) {
        let mut sleep = self.lock();
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        while !posted() {
            // SAFETY: null, or a reference without end.
            let task = unsafe { IDLE.load(Ordering::SeqCst).as_ref() };
            let task = task.filter(|task| (task.is_due)());
            let Some(task) = task.filter(|_| !self.tended.swap(true, Ordering::SeqCst)) else {
                sleep = self.work.wait(sleep).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let woken = self.work.wait_timeout(sleep, task.every);
            sleep = woken.unwrap_or_else(PoisonError::into_inner).0;
            self.tended.store(false, Ordering::SeqCst);
            if !posted() {
                drop(sleep);
                (task.work)();
                sleep = self.lock();
            }
        }
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
    }

    /// Lets a worker that sleeps look after the idle task, if none does. False if there is no worker.
    fn tend(&self) -> bool {
        if !self.tended.load(Ordering::SeqCst) {
            self.wake_one();
        }
        self.threads.load(Ordering::Relaxed) > 1
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

// Not a `OnceLock`: a forked child inherits the pool, but neither its threads nor, if another thread
// holds it, a lock that is ever released.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// The pool of this process, if there is one.
fn existing() -> Option<&'static Pool> {
    // SAFETY: null, or a box that is never freed.
    let found = unsafe { POOL.load(Ordering::Acquire).as_ref() };
    found.filter(|pool| pool.process == std::process::id())
}

/// The pool of this process. The first call creates it, without workers.
pub(super) fn current() -> &'static Pool {
    loop {
        let found = POOL.load(Ordering::Acquire);
        if let Some(pool) = existing() {
            return pool;
        }
        let made = Box::into_raw(Box::new(Pool::new()));
        let swapped = POOL.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire);
        if swapped.is_err() {
            // Another thread was faster.
            // SAFETY: made above, and not shared.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

/// What an idle worker does now and then.
#[derive(Debug)]
pub(in crate::cpu) struct IdleTask {
    /// Whether there will be something to do.
    pub(in crate::cpu) is_due: fn() -> bool,
    pub(in crate::cpu) every: Duration,
    pub(in crate::cpu) work: fn(),
}

static IDLE: AtomicPtr<IdleTask> = AtomicPtr::new(ptr::null_mut());

/// Lets an idle worker do this task, of which there is one in the process: it has just become due. False
/// if there is no worker that could.
pub(in crate::cpu) fn when_idle(task: &'static IdleTask) -> bool {
    IDLE.store(ptr::from_ref(task).cast_mut(), Ordering::SeqCst);
    existing().is_some_and(Pool::tend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU8;

    /// A pool of its own, whose workers sleep for ever in the end. It is kept where a detector of leaks
    /// finds it.
    fn pool() -> &'static Pool {
        static KEPT: Mutex<Vec<&Pool>> = Mutex::new(Vec::new());
        let pool = Box::leak(Box::new(Pool::new()));
        KEPT.lock().unwrap().push(pool);
        pool
    }

    #[test]
    fn every_part_runs_once() {
        let rounds = if cfg!(miri) { 3 } else { 2000 };
        for threads in [1, 2, 3, 8] {
            let pool = pool();
            for round in 0..rounds {
                let parts = round % 40;
                let ran: Vec<AtomicU8> = (0..parts).map(|_| AtomicU8::new(0)).collect();
                pool.run(threads, parts, |part| {
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
        let pool = pool();
        let rounds = if cfg!(miri) { 2 } else { 500 };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let sum = AtomicUsize::new(0);
                        pool.run(3, 20, |part| {
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
        let pool = pool();
        // Each of two parts waits for the other: one thread alone would never finish.
        let met = std::sync::Barrier::new(2);
        for _ in 0..3 {
            pool.run(2, 2, |_| {
                met.wait();
            });
            thread::sleep(2 * SPIN);
        }
    }

    #[test]
    fn calls_inside_parts_are_allowed() {
        let pool = pool();
        let sum = AtomicUsize::new(0);
        pool.run(2, 4, |_| {
            pool.run(2, 4, |part| {
                sum.fetch_add(part, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), 24);
    }

    #[test]
    fn panics_reach_the_caller_and_the_pool_survives() {
        let pool = pool();
        for bad in 0..3 {
            let run = || pool.run(2, 3, |part| assert_ne!(part, bad, "on purpose"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        }
        pool.run(2, 3, |_| {});
    }

    #[test]
    fn workers_start_when_a_call_wants_them() {
        let pool = pool();
        let threads = || pool.threads.load(Ordering::Relaxed);
        pool.run(1, 8, |_| {});
        pool.run(8, 1, |_| {});
        assert_eq!(threads(), 1);
        pool.run(3, 8, |_| {});
        pool.run(2, 8, |_| {});
        assert_eq!(threads(), 3);
    }
}
