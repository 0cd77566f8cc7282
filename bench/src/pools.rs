//! One thread pool per requested thread count, created once and kept.

use retrograde::cpu::ThreadPool;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The pool of this many threads.
///
/// # Panics
/// If the system cannot start the threads, since nothing can be measured then.
pub fn pool(threads: usize) -> Arc<ThreadPool> {
    static POOLS: OnceLock<Mutex<HashMap<usize, Arc<ThreadPool>>>> = OnceLock::new();
    let pools = POOLS.get_or_init(Mutex::default);
    let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = pools.entry(threads.max(1)).or_insert_with_key(|&threads| {
        Arc::new(ThreadPool::new(threads).expect("threads for the benchmark"))
    });
    Arc::clone(pool)
}
