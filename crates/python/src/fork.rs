//! What `os.fork` must not break: locks are taken before it and given back on both sides, so
//! that a child never inherits one from a thread it does not have.

use crate::memory::{self, Kept};
use crate::threads::{self, Pool};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::MutexGuard;

/// Both locks, always in this order.
struct Locks {
    pool: MutexGuard<'static, Pool>,
    _kept: MutexGuard<'static, Kept>,
}

thread_local! {
    static HELD: RefCell<Option<Locks>> = const { RefCell::new(None) };
}

/// Called by Python before a fork.
#[pyfunction]
pub(crate) fn before_fork() {
    let locks = Locks { pool: threads::lock(), _kept: memory::lock() };
    HELD.set(Some(locks));
}

/// Called by Python after a fork, in the process that forked.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    HELD.take();
}

/// Called by Python after a fork, in the new process.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    if let Some(mut locks) = HELD.take() {
        threads::forget(&mut locks.pool);
    }
}
