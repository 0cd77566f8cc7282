//! Threads that the caller's runtime lends to a call.

use crate::call::{Call, run_inside};
use crate::pointer::reference;
use crate::status::{RETROGRADE_BAD_ARGUMENT, RETROGRADE_OK, Status};
use crate::{guard::guarded, status::Failure};
use retrograde::cpu;
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// Runs one part of a call.
pub type Part = Option<unsafe extern "C" fn(job: *mut c_void, index: usize)>;

/// Threads of the caller's runtime, for calls that must not start others.
///
/// Later versions may append fields, in which zero keeps today's meaning.
#[repr(C)]
#[derive(Debug)]
pub struct Workers {
    /// `sizeof(retrograde_workers)`.
    pub struct_bytes: usize,
    /// About how many parts can run at the same time, the caller's thread included.
    pub threads: usize,
    /// Passed to `run`.
    pub context: *mut c_void,
    /// Calls `part(job, index)` with each index below `parts` exactly once, on any threads, and
    /// returns when all of these calls have returned. It must not throw.
    pub run: Option<
        unsafe extern "C" fn(context: *mut c_void, parts: usize, part: Part, job: *mut c_void),
    >,
}

/// As `retrograde_run`, on these threads and the caller's only. Small calls do not ask for them.
///
/// # Safety
/// As for `retrograde_run`; `workers` is null or points to a struct of `struct_bytes` bytes, whose
/// function does what it says. Null runs the call on the caller's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_run_with(
    call: *const Call,
    workers: *const Workers,
    input: *const c_void,
    input_bytes: usize,
    lengths: *const c_void,
    lengths_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
) -> Status {
    let mut lent = Lent { threads: 1, workers: None };
    if !workers.is_null() {
        let status = guarded(|| {
            // SAFETY: as the caller promises.
            let workers = unsafe { reference(workers, "workers")? };
            if workers.struct_bytes < size_of::<Workers>() || workers.run.is_none() {
                let text = "workers: struct_bytes is too small, or run is null";
                return Err(Failure::new(RETROGRADE_BAD_ARGUMENT, text));
            }
            lent = Lent { threads: workers.threads.max(1), workers: Some(workers) };
            Ok(())
        });
        if status != RETROGRADE_OK {
            return status;
        }
    }
    // SAFETY: passed on.
    unsafe {
        run_inside(call, input, input_bytes, lengths, lengths_bytes, output, output_bytes, |go| {
            cpu::with_workers(&lent, || go(None))
        })
    }
}

/// Threads during one call.
struct Lent<'a> {
    threads: usize,
    workers: Option<&'a Workers>,
}

/// What parts of a call share.
struct Job<'a> {
    part: &'a (dyn Fn(usize) + Sync),
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// One part, on a thread of the caller's runtime.
unsafe extern "C" fn one(job: *mut c_void, index: usize) {
    // SAFETY: the pointer that `run` passed, which lives until all parts have returned.
    let job = unsafe { &*job.cast::<Job<'_>>() };
    // A panic must not unwind into C.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (job.part)(index))) {
        *job.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
    }
}

// SAFETY: the caller promises that its function runs every part once and returns after all of them.
unsafe impl cpu::Workers for Lent<'_> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
        let Some((workers, run)) = self.workers.and_then(|one| Some((one, one.run?))) else {
            return (0..parts).for_each(part);
        };
        let mut job = Job { part, panic: Mutex::new(None) };
        // SAFETY: as the caller promises; the job is shared by references only.
        unsafe { run(workers.context, parts, Some(one), (&raw mut job).cast()) };
        let panic = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}
