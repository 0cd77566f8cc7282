//! The threads of an OpenMP runtime in this process, as PyTorch loads one.
//!
//! They spin for milliseconds after each of its parallel regions, on all processors. A thread of ours
//! that is woken meanwhile waits for one; parts of a call that run on the spinning threads start at
//! once.

use retrograde::cpu::Workers;

/// An OpenMP runtime.
#[derive(Clone, Copy)]
pub(crate) struct OpenMp(imp::Functions);

/// The runtime, if its threads should run this thread's calls: on the main thread only, because
/// OpenMP has a team of threads for each thread that calls it.
pub(crate) fn current() -> Option<OpenMp> {
    imp::current().map(OpenMp)
}

/// A forked child inherits the runtime without its threads, and would wait for them.
pub(crate) fn after_fork_in_child() {
    imp::disable();
}

impl OpenMp {
    /// The threads of a team: what `torch.set_num_threads` sets.
    pub(crate) fn max_threads(&self) -> usize {
        self.0.max_threads()
    }
}

// SAFETY: a region ends when all of its threads have returned; the caller's thread is one of them and
// takes parts until none is left.
unsafe impl Workers for OpenMp {
    fn threads(&self) -> usize {
        self.0.max_threads()
    }

    fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
        self.0.run(parts, part);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod imp {
    use std::any::Any;
    use std::ffi::{CStr, c_int, c_uint, c_void};
    use std::mem::transmute;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    type Body = unsafe extern "C" fn(*mut c_void);
    type Parallel = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint);
    type Ask = unsafe extern "C" fn() -> c_int;

    /// What a compiler calls for `#pragma omp parallel`, and two functions of OpenMP itself. GNU's
    /// runtime exports these, and so do those of LLVM and Intel.
    #[derive(Clone, Copy)]
    pub(super) struct Functions {
        parallel: Parallel,
        max_threads: Ask,
        in_parallel: Ask,
    }

    static DISABLED: AtomicBool = AtomicBool::new(false);
    /// The addresses of the three functions; the first is 0 if they were not found.
    static FOUND: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    /// How many libraries had been loaded when they were last looked for.
    static LOOKED_AT: AtomicU64 = AtomicU64::new(u64::MAX);

    pub(super) fn disable() {
        DISABLED.store(true, Ordering::Relaxed);
    }

    pub(super) fn current() -> Option<Functions> {
        if DISABLED.load(Ordering::Relaxed) || !is_main_thread() {
            return None;
        }
        if FOUND[0].load(Ordering::Acquire) == 0 {
            // Looking takes microseconds, so only after another library has been loaded.
            let loaded = libraries_loaded();
            if LOOKED_AT.swap(loaded, Ordering::Relaxed) == loaded || !look() {
                return None;
            }
        }
        let [parallel, max_threads, in_parallel] =
            [0, 1, 2].map(|index: usize| FOUND[index].load(Ordering::Acquire) as *const c_void);
        // SAFETY: the addresses of these functions, found by their names; a library that is loaded
        // for the whole process, as `look` finds it, is not unloaded by PyTorch.
        unsafe {
            Some(Functions {
                parallel: transmute::<*const c_void, Parallel>(parallel),
                max_threads: transmute::<*const c_void, Ask>(max_threads),
                in_parallel: transmute::<*const c_void, Ask>(in_parallel),
            })
        }
    }

    fn is_main_thread() -> bool {
        // SAFETY: two system calls without arguments.
        unsafe { libc::getpid() == libc::gettid() }
    }

    /// The number of libraries that the process has loaded so far.
    fn libraries_loaded() -> u64 {
        unsafe extern "C" fn first(
            info: *mut libc::dl_phdr_info,
            _: libc::size_t,
            loaded: *mut c_void,
        ) -> c_int {
            // SAFETY: glibc passes an entry, and the pointer is the one given below.
            unsafe { *loaded.cast::<u64>() = (*info).dlpi_adds };
            1
        }
        let mut loaded = 0;
        // SAFETY: the callback writes to `loaded`, and stops at the first entry.
        unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loaded).cast()) };
        loaded
    }

    /// Looks for the functions among the symbols that are visible to the whole process, where PyTorch
    /// loads its runtime.
    fn look() -> bool {
        // SAFETY: names end with NUL.
        let find = |name: &CStr| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr();
        let found = [c"GOMP_parallel", c"omp_get_max_threads", c"omp_in_parallel"].map(find);
        if found.contains(&0) {
            return false;
        }
        for index in [2, 1, 0] {
            FOUND[index].store(found[index], Ordering::Release);
        }
        true
    }

    /// A call in progress.
    struct Job<'a> {
        part: &'a (dyn Fn(usize) + Sync),
        parts: usize,
        next: AtomicUsize,
        panic: Mutex<Option<Box<dyn Any + Send>>>,
    }

    /// Takes parts until none is left.
    unsafe extern "C" fn work(job: *mut c_void) {
        // SAFETY: the pointer that `run` passed, which lives until the region ends.
        let job = unsafe { &*job.cast::<Job<'_>>() };
        let all = || {
            loop {
                let index = job.next.fetch_add(1, Ordering::Relaxed);
                if index >= job.parts {
                    break;
                }
                (job.part)(index);
            }
        };
        // A panic must not unwind into C.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(all)) {
            *job.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }

    impl Functions {
        pub(super) fn max_threads(&self) -> usize {
            // SAFETY: functions of OpenMP without arguments. Inside a region, another one would start
            // threads beside those that are busy.
            let threads =
                unsafe { if (self.in_parallel)() != 0 { 1 } else { (self.max_threads)() } };
            usize::try_from(threads).unwrap_or(1).max(1)
        }

        pub(super) fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
            let (next, panic) = (AtomicUsize::new(0), Mutex::new(None));
            let mut job = Job { part, parts, next, panic };
            // Always the whole team, as PyTorch does: GNU's runtime ends the threads of a larger one.
            // SAFETY: `work` gets the job, which is shared by references only and outlives the region.
            unsafe { (self.parallel)(work, (&raw mut job).cast(), 0, 0) };
            let panic = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let Some(panic) = panic {
                resume_unwind(panic);
            }
        }
    }
}

/// Elsewhere there is no name to find a runtime by.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod imp {
    #[derive(Clone, Copy)]
    pub(super) enum Functions {}

    pub(super) fn disable() {}

    pub(super) fn current() -> Option<Functions> {
        None
    }

    impl Functions {
        pub(super) fn max_threads(&self) -> usize {
            match *self {}
        }

        pub(super) fn run(&self, _parts: usize, _part: &(dyn Fn(usize) + Sync)) {
            match *self {}
        }
    }
}
