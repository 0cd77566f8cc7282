//! The threads of an OpenMP runtime in this process, as PyTorch loads one, and how many of them PyTorch
//! uses.
//!
//! They spin for milliseconds after each of its parallel regions, on all processors. A thread of ours
//! that is woken meanwhile waits for one; parts of a call that run on the spinning threads start at
//! once.

use retrograde::cpu::Workers;

/// An OpenMP runtime.
#[derive(Clone, Copy)]
pub(crate) struct OpenMp {
    functions: imp::Functions,
    threads: usize,
    are_awake: bool,
}

/// The runtime, if there is one with so many threads for this thread's calls: on the main thread only,
/// because OpenMP has a team of threads for each thread that calls it. The caller knows whether its
/// threads have just been used.
pub(crate) fn current(threads: usize, are_awake: bool) -> Option<OpenMp> {
    let functions = imp::current()?;
    // Inside a region, another one would start threads beside those that are busy.
    if functions.in_parallel() {
        return Some(OpenMp { functions, threads: 1, are_awake });
    }
    // A team of one does not spin.
    let has_enough = threads > 1 && functions.max_threads() >= threads;
    has_enough.then_some(OpenMp { functions, threads, are_awake })
}

/// How many threads PyTorch uses for a call of this thread (`torch.get_num_threads`), once it is loaded.
pub(crate) fn threads_of_pytorch() -> Option<usize> {
    imp::threads_of_pytorch()
}

/// A forked child inherits the runtime without its threads, and would wait for them.
pub(crate) fn after_fork_in_child() {
    imp::disable();
}

// SAFETY: a region ends when all of its threads have returned; the caller's thread is one of them and
// takes parts until none is left.
unsafe impl Workers for OpenMp {
    fn threads(&self) -> usize {
        self.threads
    }

    /// Later they still spin, but take longer to notice than a small call takes.
    fn are_awake(&self) -> bool {
        self.are_awake
    }

    fn run(&self, parts: usize, part: &(dyn Fn(usize) + Sync)) {
        self.functions.run(self.threads, parts, part);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod imp {
    use retrograde::cpu::Shares;
    use std::any::Any;
    use std::ffi::{CStr, c_int, c_uint, c_void};
    use std::mem::transmute;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    type Body = unsafe extern "C" fn(*mut c_void);
    type Parallel = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint);
    type Ask = unsafe extern "C" fn() -> c_int;

    /// What a compiler calls for `#pragma omp parallel`, and functions of OpenMP itself. GNU's runtime
    /// exports these, and so do those of LLVM and Intel.
    #[derive(Clone, Copy)]
    pub(super) struct Functions {
        parallel: Parallel,
        max_threads: Ask,
        in_parallel: Ask,
        thread_num: Ask,
        num_threads: Ask,
    }

    const NAMES: [&CStr; 5] = [
        c"GOMP_parallel",
        c"omp_get_max_threads",
        c"omp_in_parallel",
        c"omp_get_thread_num",
        c"omp_get_num_threads",
    ];

    /// `at::get_num_threads`.
    const PYTORCH: [&CStr; 2] = [c"libtorch_cpu.so", c"_ZN2at15get_num_threadsEv"];

    static DISABLED: AtomicBool = AtomicBool::new(false);
    static OPENMP: Found<5> = Found::nothing();
    static TORCH: Found<1> = Found::nothing();

    /// Functions of libraries that may be loaded at any time.
    struct Found<const N: usize> {
        /// Their addresses; the first is 0 if they were not found.
        addresses: [AtomicUsize; N],
        /// How many libraries had been loaded when they were last looked for.
        looked_at: AtomicU64,
    }

    impl<const N: usize> Found<N> {
        const fn nothing() -> Self {
            let addresses = [const { AtomicUsize::new(0) }; N];
            Found { addresses, looked_at: AtomicU64::new(u64::MAX) }
        }

        /// All of the functions, or none. They are in a library that stays loaded.
        fn get(&self, look: impl Fn() -> [usize; N]) -> Option<[*const c_void; N]> {
            if self.addresses[0].load(Ordering::Acquire) == 0 {
                // Looking takes microseconds, so only after another library has been loaded.
                let loaded = libraries_loaded();
                if self.looked_at.swap(loaded, Ordering::Relaxed) == loaded {
                    return None;
                }
                let found = look();
                if found.contains(&0) {
                    return None;
                }
                // The first one last, which says that all are there.
                for (place, address) in self.addresses.iter().zip(found).rev() {
                    place.store(address, Ordering::Release);
                }
            }
            Some(self.addresses.each_ref().map(|at| at.load(Ordering::Acquire) as *const c_void))
        }
    }

    pub(super) fn disable() {
        DISABLED.store(true, Ordering::Relaxed);
    }

    pub(super) fn current() -> Option<Functions> {
        if DISABLED.load(Ordering::Relaxed) || !is_main_thread() {
            return None;
        }
        // Among the symbols that are visible to the whole process, where PyTorch loads its runtime.
        // SAFETY: names end with NUL.
        let find = |name: &CStr| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr();
        let [parallel, max_threads, in_parallel, thread_num, num_threads] =
            OPENMP.get(|| NAMES.map(find))?;
        // SAFETY: the addresses of these functions, found by their names; a library that is loaded
        // for the whole process is not unloaded by PyTorch.
        unsafe {
            Some(Functions {
                parallel: transmute::<*const c_void, Parallel>(parallel),
                max_threads: transmute::<*const c_void, Ask>(max_threads),
                in_parallel: transmute::<*const c_void, Ask>(in_parallel),
                thread_num: transmute::<*const c_void, Ask>(thread_num),
                num_threads: transmute::<*const c_void, Ask>(num_threads),
            })
        }
    }

    pub(super) fn threads_of_pytorch() -> Option<usize> {
        let [threads] = TORCH.get(|| [crate::torch_state::find(PYTORCH).addr()])?;
        // SAFETY: a function without arguments that returns an `int`, by its name in C++.
        let threads = unsafe { transmute::<*const c_void, Ask>(threads)() };
        usize::try_from(threads).ok().filter(|&threads| threads > 0)
    }

    fn is_main_thread() -> bool {
        thread_local! {
            // Asked once: a system call takes as long as a copy of a kilobyte or more.
            // SAFETY: two system calls without arguments.
            static IS_MAIN: bool = unsafe { libc::getpid() == libc::gettid() };
        }
        IS_MAIN.with(|&is_main| is_main)
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

    /// A call in progress.
    struct Job<'a> {
        part: &'a (dyn Fn(usize) + Sync),
        parts: usize,
        /// None if no thread has more than one part: the region ends only when its last thread has
        /// started, which may as well run its part.
        shares: Option<Shares>,
        functions: Functions,
        panic: Mutex<Option<Box<dyn Any + Send>>>,
    }

    impl Job<'_> {
        /// Runs parts of this thread: as PyTorch cuts its own calls, so that its caches may still have
        /// them. A thread without any leaves the others to their owners, which are about to start.
        fn work(&self) {
            let own = ask(self.functions.thread_num);
            match &self.shares {
                Some(shares) if shares.of(own).is_empty() => {}
                Some(shares) => shares.run(own, self.part),
                None => {
                    // The team may be smaller than it was expected to be.
                    let team = ask(self.functions.num_threads).max(1);
                    (own..self.parts).step_by(team).for_each(self.part);
                }
            }
        }
    }

    /// What each thread of the region runs.
    unsafe extern "C" fn work(job: *mut c_void) {
        // SAFETY: the pointer that `run` passed, which lives until the region ends.
        let job = unsafe { &*job.cast::<Job<'_>>() };
        // A panic must not unwind into C.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.work())) {
            *job.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }

    fn ask(of: Ask) -> usize {
        // SAFETY: a function of OpenMP without arguments.
        usize::try_from(unsafe { of() }).unwrap_or(0)
    }

    impl Functions {
        pub(super) fn in_parallel(&self) -> bool {
            ask(self.in_parallel) != 0
        }

        pub(super) fn max_threads(&self) -> usize {
            ask(self.max_threads).max(1)
        }

        pub(super) fn run(&self, threads: usize, parts: usize, part: &(dyn Fn(usize) + Sync)) {
            let shares = (parts > threads).then(|| Shares::new(parts, threads));
            let mut job = Job { part, parts, shares, functions: *self, panic: Mutex::new(None) };
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

    pub(super) fn threads_of_pytorch() -> Option<usize> {
        None
    }

    impl Functions {
        pub(super) fn in_parallel(&self) -> bool {
            match *self {}
        }

        pub(super) fn max_threads(&self) -> usize {
            match *self {}
        }

        pub(super) fn run(&self, _: usize, _parts: usize, _part: &(dyn Fn(usize) + Sync)) {
            match *self {}
        }
    }
}
