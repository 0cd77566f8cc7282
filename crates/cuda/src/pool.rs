//! Which reports of a device are in use, by their addresses on it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reports for streams, by their addresses. Allocated in advance: nothing may be allocated while a
/// graph is being captured.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub(crate) blocks: Vec<u64>,
    pub(crate) spare: Vec<u64>,
    /// One per foreign stream, by its handle.
    pub(crate) of_stream: HashMap<usize, u64>,
    /// Those of threads that have ended: their streams may still be running.
    pub(crate) retired: Vec<u64>,
}

/// The pool, which remains valid if a thread panics.
pub(crate) fn lock(pool: &Mutex<Pool>) -> MutexGuard<'_, Pool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}
