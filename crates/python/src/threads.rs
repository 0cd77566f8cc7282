//! The threads that large calls are shared among.
//!
//! A pool of our own rather than rayon's global one: its size can change, and a forked child,
//! which inherits a pool without its threads, can make another.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls that write less run on the caller's thread, as the engine decides too.
const SHARE_FROM: usize = 512 << 10;

pub(crate) struct Pool {
    /// As asked for; `None` for one per processor.
    size: Option<usize>,
    pool: Option<Arc<ThreadPool>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { size: None, pool: None });

/// Runs work that writes so many bytes where it may be shared.
pub(crate) fn run<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if bytes < SHARE_FROM {
        return Ok(work());
    }
    Ok(pool()?.install(work))
}

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut held = lock();
    if let Some(pool) = &held.pool {
        return Ok(Arc::clone(pool));
    }
    let size = held.size.or_else(from_environment).unwrap_or(0);
    let built = ThreadPoolBuilder::new()
        .num_threads(size)
        .thread_name(|number| format!("retrograde-{number}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("threads could not start: {error}")))?;
    let built = Arc::new(built);
    held.pool = Some(Arc::clone(&built));
    Ok(built)
}

fn from_environment() -> Option<usize> {
    std::env::var("RETROGRADE_NUM_THREADS").ok()?.parse().ok().filter(|&size| size > 0)
}

/// A panic while the lock was held leaves nothing half done.
pub(crate) fn lock() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
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
    let mut held = lock();
    // Calls under way keep the old pool alive until they are done.
    *held = Pool { size, pool: None };
    Ok(())
}

/// How many threads large calls use.
#[pyfunction]
pub(crate) fn get_num_threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// In a forked child: the pool's threads did not come along.
pub(crate) fn forget(held: &mut Pool) {
    // Dropping it would wait for threads that are not there.
    std::mem::forget(held.pool.take());
}
