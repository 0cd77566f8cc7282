//! How many threads large calls use, and whose: those of the engine's pool, or PyTorch's OpenMP threads
//! while these are awake.

use crate::openmp::{self, OpenMp};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use retrograde::cpu::{self, max_threads, with_threads, with_workers};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Smaller calls finish before another thread could acquire the GIL.
pub(crate) const DETACH_FROM: usize = 64 << 10;
/// Calls that write less run on the caller's thread, as in the engine.
const SHARE_FROM: usize = 192 << 10;

/// Calls that begin so soon after another follow it. GNU's OpenMP threads spin for 7 to 10 milliseconds.
const OFTEN: Duration = Duration::from_millis(4);
/// So soon after a call, even small ones are shared.
const AT_ONCE: Duration = Duration::from_micros(200);

/// The number that `set_num_threads` was given; 0 for none.
static ASKED: AtomicUsize = AtomicUsize::new(0);
/// Whether this process is a forked child.
static IS_FORKED: AtomicBool = AtomicBool::new(false);
/// When the last large call ended, in nanoseconds.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Runs work of this many bytes (elements, if they are smaller than a byte), on several threads if that
/// is worthwhile.
pub(crate) fn run<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < SHARE_FROM {
        return work();
    }
    let threads = number();
    let work = || with_threads(threads, work);
    let done = match lent(threads) {
        Some(workers) => with_workers(&workers, work),
        None => work(),
    };
    ENDED.store(now().as_nanos() as u64, Ordering::Relaxed);
    done
}

/// How many threads a large call of this thread may use.
fn number() -> usize {
    match ASKED.load(Ordering::Relaxed) {
        0 => cpu::threads_from_environment().unwrap_or_else(from_host),
        asked => asked,
    }
}

/// What the process around us says. A forked child is a worker, of a data loader for example, beside as
/// many others as there are processors.
fn from_host() -> usize {
    if IS_FORKED.load(Ordering::Relaxed) {
        return 1;
    }
    openmp::threads_of_pytorch().unwrap_or_else(cpu::num_threads)
}

/// The threads of another library, if it has as many. Only for calls that follow each other: those threads
/// are awake then, and spin on all processors, so that another pool would get none. Otherwise the call
/// could not end before the last of them woke up, while with our own pool it never waits for one.
fn lent(threads: usize) -> Option<OpenMp> {
    if threads == 1 {
        return None;
    }
    let ended = Duration::from_nanos(ENDED.load(Ordering::Relaxed));
    let pause = now().saturating_sub(ended);
    if pause < OFTEN { openmp::current(threads, pause < AT_ONCE) } else { None }
}

/// The time of day. No `Instant`: counting from the first call would need a lock, which a forked child could
/// inherit. If the clock is set, a call or two take the other threads.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Sets how many threads large calls use, at most: from 1 to 256, or to four per processor if that is
/// more.
///
/// Another number is a ``ValueError``. ``None`` restores the default, which is the first of these that says
/// a number: the environment variable ``RETROGRADE_NUM_THREADS``; one in a forked child;
/// ``torch.get_num_threads()`` once PyTorch is loaded (on Linux); the least of ``OMP_NUM_THREADS``,
/// ``RAYON_NUM_THREADS`` and the processors that this process may use.
#[pyfunction]
#[pyo3(signature = (threads, /))]
pub(crate) fn set_num_threads(threads: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let asked = threads.map(checked).transpose()?;
    ASKED.store(asked.unwrap_or(0), Ordering::Relaxed);
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

/// The number of threads that large calls use, at most. Asking starts none.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    number()
}

/// Python calls this in a forked child before anything else.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    IS_FORKED.store(true, Ordering::Relaxed);
    openmp::after_fork_in_child();
    // The blocks that the parent keeps are released here: the parent writes to them, and each page that is
    // still shared would be copied.
    cpu::kept_memory();
}
