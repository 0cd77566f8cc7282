//! The runtime's own threads, for the engine. A second pool would compete with them, and its threads
//! would outlive this library when the runtime unloads it.

use crate::ffi::OrtKernelContext;
use crate::runtime::Runtime;
use retrograde::cpu::Workers;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The threads of the session that a kernel runs in.
pub(crate) struct Pool {
    runtime: Runtime,
    context: *const OrtKernelContext,
}

impl Pool {
    /// # Safety
    /// The context is the one that a kernel was called with, and that call outlives the pool.
    pub(crate) unsafe fn new(runtime: Runtime, context: *const OrtKernelContext) -> Self {
        Pool { runtime, context }
    }
}

struct Job<'a> {
    part: &'a (dyn Fn(usize) + Sync),
    panicked: AtomicBool,
}

/// What the runtime calls for every part.
///
/// # Safety
/// `job` is the address of a `Job` that is alive.
unsafe extern "C" fn run_part(job: *mut c_void, number: usize) {
    // SAFETY: as required.
    let job = unsafe { &*job.cast::<Job<'_>>() };
    // Unwinding into the runtime would be undefined behaviour.
    if catch_unwind(AssertUnwindSafe(|| (job.part)(number))).is_err() {
        job.panicked.store(true, Ordering::Relaxed);
    }
}

// SAFETY: `KernelContext_ParallelFor` calls its function once for every number below `parts` and
// waits for all of these calls. If it cannot, it has called it for none of them.
unsafe impl Workers for Pool {
    fn threads(&self) -> usize {
        processors()
    }

    fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
        let job = Job { part, panicked: AtomicBool::new(false) };
        let data = (&raw const job).cast_mut().cast();
        // SAFETY: the context is alive (`Pool::new`), and so is the job until this returns.
        let status =
            unsafe { self.runtime.api.parallel_for(self.context, run_part, parts, 0, data) };
        if !self.runtime.succeeded(status) {
            (0..parts).for_each(part);
        }
        assert!(!job.panicked.load(Ordering::Relaxed), "a part of a call panicked");
    }
}

/// The processors of this process. The runtime does not say how many threads a session has; by
/// default it has one per core.
fn processors() -> usize {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    match COUNT.load(Ordering::Relaxed) {
        0 => {
            let count = std::thread::available_parallelism().map_or(1, usize::from);
            COUNT.store(count, Ordering::Relaxed);
            count
        }
        count => count,
    }
}
