//! The threads that large calls are shared among.
//!
//! A pool of our own rather than rayon's global one: its size can change, and a forked child,
//! which inherits a pool without its threads, can make another.

use crate::memory;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls that write less run on the caller's thread, as the engine decides too.
const SHARE_FROM: usize = 512 << 10;

type Pool = Mutex<Option<Arc<ThreadPool>>>;

/// As asked for; 0 for one per processor.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// The pool, once a call was large enough to need it.
static POOL: Pool = Mutex::new(None);
/// In a forked child: what it has instead of [`POOL`], which may be locked for ever there.
static INSTEAD: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// Runs work that writes so many bytes where it may be shared.
pub(crate) fn run<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if bytes < SHARE_FROM {
        return Ok(work());
    }
    Ok(pool()?.install(work))
}

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut held = held();
    if let Some(pool) = &*held {
        return Ok(Arc::clone(pool));
    }
    let asked = SIZE.load(Ordering::Relaxed);
    let size = if asked == 0 { from_environment().unwrap_or(0) } else { asked };
    let built = ThreadPoolBuilder::new()
        .num_threads(size)
        .thread_name(|number| format!("retrograde-{number}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("threads could not start: {error}")))?;
    let built = Arc::new(built);
    *held = Some(Arc::clone(&built));
    Ok(built)
}

fn held() -> MutexGuard<'static, Option<Arc<ThreadPool>>> {
    let instead = INSTEAD.load(Ordering::Acquire);
    // SAFETY: it is null or a leaked box.
    let pool = unsafe { instead.as_ref() }.unwrap_or(&POOL);
    // A panic while the lock was held leaves nothing half done.
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

fn from_environment() -> Option<usize> {
    std::env::var("RETROGRADE_NUM_THREADS").ok()?.parse().ok().filter(|&size| size > 0)
}

/// How many threads large calls may use; None for one per processor.
#[pyfunction]
#[pyo3(signature = (threads, /))]
pub(crate) fn set_num_threads(threads: Option<i64>) -> PyResult<()> {
    let size = match threads {
        None => None,
        Some(threads) => match usize::try_from(threads) {
            Ok(size @ 1..=65_536) => Some(size),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "threads is {threads}, outside [1, 65536]"
                )));
            }
        },
    };
    SIZE.store(size.unwrap_or(0), Ordering::Relaxed);
    // Calls under way keep the old pool alive until they are done.
    held().take();
    Ok(())
}

/// How many threads large calls use.
#[pyfunction]
pub(crate) fn get_num_threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Called by Python in a forked child, before anything else there: the pool's threads did not
/// come along, and its lock may be held by one of them.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    // The old pool is forgotten, not dropped: that would wait for threads that are not there.
    INSTEAD.store(Box::leak(Box::default()), Ordering::Release);
    memory::after_fork_in_child();
}
