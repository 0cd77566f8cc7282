//! The thread pool that large calls use.
//!
//! A separate pool instead of the engine's: its size can change, and a forked child, which inherits
//! a pool without its threads, can create another. Beside PyTorch, its OpenMP threads instead.

use crate::openmp::{self, OpenMp};
use crate::{hint, memory};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use retrograde::cpu::{ThreadPool, max_threads, with_workers};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Smaller calls finish before another thread could acquire the GIL.
pub(crate) const DETACH_FROM: usize = 64 << 10;
/// Calls that write less run on the caller's thread, as in the engine.
const SHARE_FROM: usize = 192 << 10;

/// Calls that begin so many nanoseconds after another follow it. GNU's OpenMP threads spin for 7 to
/// 10 milliseconds.
const OFTEN: u64 = 4_000_000;
/// So soon after a call, even small ones are shared.
const AT_ONCE: u64 = 200_000;

type Pool = Mutex<Option<Arc<ThreadPool>>>;

/// The requested size; 0 for one thread per processor.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// When the last large call ended.
static ENDED: AtomicU64 = AtomicU64::new(0);
/// The pool, created by the first call that is large enough.
static POOL: Pool = Mutex::new(None);
/// In a forked child: replaces [`POOL`], whose lock may never be released there.
static INSTEAD: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// Runs work that writes this many bytes, on the pool if that is worthwhile.
pub(crate) fn run<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if bytes < SHARE_FROM {
        return Ok(hint::apply(work));
    }
    let done = match lent() {
        Some(workers) => hint::apply(|| with_workers(&workers, work)),
        None => {
            let pool = pool()?;
            hint::apply(|| pool.install(work))
        }
    };
    ENDED.store(nanoseconds(), Ordering::Relaxed);
    Ok(done)
}

/// The threads of another library, unless the user has asked for a number of ours. Only for calls
/// that follow each other: those threads are awake then. Otherwise the call could not end before the
/// last of them woke up, while with our own pool it never waits for one.
fn lent() -> Option<OpenMp> {
    let pause = nanoseconds().saturating_sub(ENDED.load(Ordering::Relaxed));
    let asked = || SIZE.load(Ordering::Relaxed) != 0 || from_environment().is_some();
    if pause < OFTEN && !asked() { openmp::current(pause < AT_ONCE) } else { None }
}

/// The time since the first large call.
fn nanoseconds() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut held = held();
    if let Some(pool) = &*held {
        return Ok(Arc::clone(pool));
    }
    let asked = SIZE.load(Ordering::Relaxed);
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let size = if asked == 0 { from_environment().unwrap_or_else(processors) } else { asked };
    let built = ThreadPool::new(size)
        .map_err(|error| PyRuntimeError::new_err(format!("threads could not start: {error}")))?;
    let built = Arc::new(built);
    *held = Some(Arc::clone(&built));
    Ok(built)
}

fn held() -> MutexGuard<'static, Option<Arc<ThreadPool>>> {
    let instead = INSTEAD.load(Ordering::Acquire);
    // SAFETY: it is null or a leaked box.
    let pool = unsafe { instead.as_ref() }.unwrap_or(&POOL);
    // A panic while the lock was held leaves a consistent state.
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The variable is an upper limit, so a lower number is valid.
fn from_environment() -> Option<usize> {
    // Asked once: the number of processors is read from files, which takes as long as a copy of 256
    // KiB. Not a `OnceLock`, whose lock a forked child could inherit. 1 stands for no number, and
    // others are one more.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    if ASKED.load(Ordering::Relaxed) == 0 {
        let value = std::env::var("RETROGRADE_NUM_THREADS").ok();
        let size = value.and_then(|value| value.parse().ok()).unwrap_or(0);
        ASKED.store(1 + if size == 0 { 0 } else { size.min(max_threads()) }, Ordering::Relaxed);
    }
    Some(ASKED.load(Ordering::Relaxed) - 1).filter(|&size: &usize| size > 0)
}

/// Sets how many threads large calls use: from 1 to 256, or to four per processor if that is more.
///
/// Another number is a ``ValueError``. ``None`` restores the default: the environment variable
/// ``RETROGRADE_NUM_THREADS``, limited to that range, or one thread per processor. By default, and if
/// PyTorch is loaded, calls of the main thread that follow each other within four milliseconds run on
/// its OpenMP threads (``torch.set_num_threads``), which are busy on all processors then.
#[pyfunction]
#[pyo3(signature = (threads, /))]
pub(crate) fn set_num_threads(threads: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let size = threads.map(checked).transpose()?;
    SIZE.store(size.unwrap_or(0), Ordering::Relaxed);
    // Calls in progress keep the old pool alive until they finish.
    held().take();
    Ok(())
}

fn checked(threads: &Bound<'_, PyAny>) -> PyResult<usize> {
    // Any type with `__index__`. A number that does not fit in 64 bits is out of range as well.
    let number = threads.call_method0("__index__").map_err(|_| {
        let kind = threads.get_type();
        let kind = kind.name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("threads is of type {kind}, expected an integer or None"))
    })?;
    let (size, most) = (number.extract::<usize>().unwrap_or(0), max_threads());
    if (1..=most).contains(&size) {
        return Ok(size);
    }
    Err(PyValueError::new_err(format!("threads is {number}, outside [1, {most}]")))
}

/// The number of threads that large calls use.
#[pyfunction]
pub(crate) fn get_num_threads() -> PyResult<usize> {
    Ok(pool()?.threads())
}

/// Python calls this in a forked child before anything else: the pool's threads do not exist there,
/// and one of them may hold its lock.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    // The old pool is leaked, not dropped: dropping it would wait for threads that do not exist.
    INSTEAD.store(Box::leak(Box::default()), Ordering::Release);
    memory::after_fork_in_child();
    openmp::after_fork_in_child();
}
