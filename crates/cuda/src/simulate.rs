//! The kernels compiled as C++ for the CPU (`kernels/host.cpp`) with the machine's compiler: their
//! results can be tested without a device.

use crate::choose;
use crate::constants::{KEPT_APART, RAN_EARLY, READ_OUTSIDE, TOUCHED_SHARED};
use crate::error::Error;
use crate::jobs::{self, AnyParams, Call, Job, ScratchLayout};
use crate::kernel::{Entry, Kernel};
use crate::limits::Limits;
use crate::params::{self, Report};
use crate::report;
use crate::shape::{Addresses, Shape};
use libloading::{Library, Symbol};
use retrograde::{Grain, LengthsMemory, Plan, Table};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs plans on host memory with the code of the kernels, thread by thread: slow, for tests only.
#[derive(Debug)]
pub struct Simulator {
    library: Arc<Library>,
    limits: Limits,
    /// Whether lengths and offsets are checked, and whether an invalid one stops its call.
    checks: bool,
    stops: bool,
    table: Option<Table>,
    ran: Arc<Mutex<BTreeSet<String>>>,
}

/// `launch` in host.cpp: returns `KEPT_APART`, or what was wrong.
type Launch = unsafe extern "C" fn(
    *const c_void,
    *const c_void,
    *const params::Table,
    u64,
    u32,
    u32,
    u32,
) -> u32;

impl Simulator {
    /// Why the kernels cannot be compiled here, if so: another system, or no compiler.
    pub fn unavailable() -> Option<String> {
        if !cfg!(target_os = "linux") {
            return Some("the simulation is written for Linux".to_owned());
        }
        let found = Command::new(compiler()).arg("--version").output();
        found.err().map(|error| format!("no C++ compiler ({}): {error}", compiler()))
    }

    /// Compiles the kernels with `$CXX`, or `c++`, into a folder.
    pub fn compile(folder: &Path) -> Result<Self, String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/host.cpp");
        let to = folder.join("kernels.so");
        let compiler = compiler();
        // A fortified `longjmp` does not allow to switch between stacks.
        let made = Command::new(&compiler)
            .args(["-std=c++17", "-O2", "-U_FORTIFY_SOURCE", "-shared", "-fPIC", "-w", "-o"])
            .args([&to, &sources])
            .output()
            .map_err(|error| format!("{compiler}: {error}"))?;
        if !made.status.success() {
            return Err(format!("{compiler}: {}", String::from_utf8_lossy(&made.stderr)));
        }
        // SAFETY: the library has no initialisers that run when it is loaded.
        let library = unsafe { Library::new(&to) }.map_err(|error| error.to_string())?;
        // As for chips without clusters. With one multiprocessor, small tensors use the kernels of
        // large ones.
        let limits = Limits { multiprocessors: 1, ..Limits::default() };
        let limits = limits.at_most(usize::MAX, false);
        let library = Arc::new(library);
        let (checks, stops, table, ran) = (true, true, None, Arc::default());
        Ok(Simulator { library, limits, checks, stops, table, ran })
    }

    /// The same without checks of lengths and offsets: invalid ones are clamped, as on a
    /// [stream without a report](crate::Cuda::borrow_stream_clamping).
    pub fn unchecked(&self) -> Self {
        Simulator { checks: false, ..self.clamping() }
    }

    /// The same for new outputs: invalid lengths and offsets do not stop a call, as on a
    /// [clamping stream](crate::Stream::clamping), and are no errors here.
    pub fn clamping(&self) -> Self {
        Simulator { stops: false, ..self.looking_up(self.table.as_ref()) }
    }

    /// The same with a table, or without one.
    pub fn looking_up(&self, table: Option<&Table>) -> Self {
        let (library, ran) = (self.library.clone(), self.ran.clone());
        let Simulator { limits, checks, stops, .. } = *self;
        Simulator { library, limits, checks, stops, table: table.cloned(), ran }
    }

    /// The limits that the choice of kernels depends on.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Kernels that no call has run so far, to measure coverage. Those that form clusters are not
    /// included, nor is the one for rows of 1 GiB and more, nor those for long columns in buffers
    /// that are aligned to cache lines and for long rows and segments of bytes with a table
    /// (`tests/simulated.rs` runs these).
    pub fn unused(&self) -> Vec<String> {
        let ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        Entry::all()
            .filter(|&Entry(kernel, _)| !kernel.clusters())
            .filter(|Entry(kernel, _)| {
                use Kernel::*;
                !matches!(kernel, ScratchColumns | StagedRowTable | SegmentRowTable)
            })
            .filter(|&entry| entry != Entry(Kernel::StagedRows, 16))
            .map(Entry::name)
            .filter(|name| !ran.contains(name))
            .collect()
    }

    /// Runs a plan from one buffer to another.
    ///
    /// # Panics
    /// If a kernel is missing, accesses shared memory out of bounds, or reads vectors outside the
    /// input.
    pub fn execute(
        &self,
        plan: &Plan,
        src: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        dst: &mut [u8],
    ) -> Result<(), Error> {
        plan.check_sizes(src.len(), dst.len())?;
        let at = Addresses { src: src.as_ptr().addr() as u64, dst: dst.as_mut_ptr().addr() as u64 };
        // Both are passed to code that the compiler does not see.
        let _ = (src.as_ptr().expose_provenance(), dst.as_mut_ptr().expose_provenance());
        self.start(plan, at, lengths, false)
    }

    /// Runs a plan whose input and output have the same layout in one buffer.
    ///
    /// # Panics
    /// As [`execute`](Self::execute).
    pub fn execute_in_place(
        &self,
        plan: &Plan,
        lengths: Option<LengthsMemory<'_>>,
        memory: &mut [u8],
    ) -> Result<(), Error> {
        plan.check_sizes(memory.len(), memory.len())?;
        if !plan.fits_in_place() {
            return Err(retrograde::ExecuteError::NotInPlace.into());
        }
        let at = memory.as_mut_ptr().expose_provenance() as u64;
        self.start(plan, Addresses { src: at, dst: at }, lengths, true)
    }

    /// In the same way as [`Stream`](crate::Stream).
    fn start(
        &self,
        plan: &Plan,
        at: Addresses,
        lengths: Option<LengthsMemory<'_>>,
        in_place: bool,
    ) -> Result<(), Error> {
        plan.check_lengths(lengths.map(|given| (given.dtype(), given.memory().len())))?;
        let (mut told, mut alarm) = (Report::CLEAR, 0u32);
        let (report, mut stop) = ((&raw mut told).expose_provenance() as u64, 0);
        let address = lengths.map_or(0, |given| given.memory().as_ptr().expose_provenance() as u64);
        if let Some(lengths) = plan.lengths()
            && self.checks
            && lengths.needs_check()
            && lengths.count() > 0
        {
            let alarm = (&raw mut alarm).expose_provenance() as u64;
            self.launch(Some(jobs::check(lengths, address, report, alarm)));
            stop = Report::word(report, self.stops);
        }
        // SAFETY: the local variable, which code that the compiler does not see may have written.
        let alarmed = unsafe { (&raw const alarm).read_volatile() } != 0;
        // SAFETY: as above.
        let told = unsafe { (&raw const told).read_volatile() };
        let error = report::error(&told);
        assert_eq!(alarmed, error.is_some(), "the alarm is set with the report");
        let mut lengths = jobs::lengths_of(plan, address, stop);
        let table = self.table.as_ref();
        let shape = Shape::looking_up(plan, table.is_some());
        let choice = choose::choose(plan, &shape, at, &self.limits, in_place);
        if stop != 0 && !self.stops && choice.kernel.stages_segments() {
            lengths = lengths.copying_when_stopped(report);
        }
        let copy;
        let mut at = at;
        let is_packed = matches!(plan.unit().grain, Grain::Packed { .. });
        let looks_up = shape.looks_up && !choice.kernel.looks_up_in_place();
        if in_place && (is_packed || looks_up) {
            // These are read from a copy with the same alignment modulo 16.
            let per_byte = plan.unit().grain.per_byte();
            let (start, end) = (plan.dst().start / per_byte, plan.dst().end.div_ceil(per_byte));
            let from = at.dst as usize + start;
            // SAFETY: the plan's reach, which the memory was checked to contain.
            let bytes = unsafe {
                std::slice::from_raw_parts(
                    std::ptr::with_exposed_provenance::<u8>(from),
                    end - start,
                )
            };
            copy = Copied::of(bytes, from % 16);
            at.src = copy.first().wrapping_sub(start as u64);
        }
        let per_byte = plan.unit().grain.per_byte();
        let byte = |element: usize| at.src.wrapping_add(element as u64);
        let (begin, end) = (plan.src().start / per_byte, plan.src().end.div_ceil(per_byte));
        self.set_reach(byte(begin), byte(end));
        let policy = self.limits.policy(shape.grains());
        let room = ScratchLayout::of(&shape, at, choice, &self.limits);
        // Counters are zero, and so is the rest.
        let memory = vec![0u128; room.map_or(0, |room| room.bytes()).div_ceil(16) as usize];
        let scratch = memory.as_ptr().expose_provenance() as u64;
        let call = Call { plan, shape: &shape, at, lengths, policy, scratch, table };
        self.launch(jobs::job(&call, choice, &self.limits));
        match error {
            Some(error) if self.stops => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Sets the range of the input; a kernel that reads vectors outside it fails.
    fn set_reach(&self, begin: u64, end: u64) {
        // SAFETY: host.cpp defines this signature, and only compares addresses with these.
        unsafe {
            let set: Symbol<'_, unsafe extern "C" fn(u64, u64)> =
                self.library.get(b"set_reach").expect("the function");
            set(begin, end);
        }
    }

    fn launch(&self, job: Option<Job>) {
        let Some(Job { entry, blocks, threads, shared, params, table, .. }) = job else { return };
        let table = table.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (launcher, params): (&[u8], *const c_void) = match &params {
            AnyParams::Rows(params) => (b"launch_rows", (&raw const *params).cast()),
            AnyParams::Segments(params) => (b"launch_segments", (&raw const *params).cast()),
            AnyParams::Strided(params) => (b"launch_strided", (&raw const *params).cast()),
            AnyParams::Gather(params) => (b"launch_gather", (&raw const *params).cast()),
            AnyParams::Tiles(params) => (b"launch_tiles", (&raw const *params).cast()),
            AnyParams::Columns(params) => (b"launch_columns", (&raw const *params).cast()),
            AnyParams::Strips(params) => (b"launch_passes", (&raw const *params).cast()),
            AnyParams::Packed(params) => (b"launch_packed", (&raw const *params).cast()),
            AnyParams::Check(params) => (b"launch_check", (&raw const *params).cast()),
        };
        let Entry(kernel_of, _) = entry;
        let name = entry.name();
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        // SAFETY: host.cpp defines the launcher for this struct, and the kernel that takes it; the
        // addresses in it were checked against the plan.
        let outcome = unsafe {
            let launch: Symbol<'_, Launch> = self.library.get(launcher).expect("a launcher");
            let kernel: Symbol<'_, *const c_void> =
                self.library.get(name.as_bytes()).expect("a kernel");
            launch(*kernel, params, table, blocks, threads, shared, u32::from(kernel_of.waits()))
        };
        match outcome {
            KEPT_APART => {}
            TOUCHED_SHARED => panic!("{name} accesses shared memory out of bounds"),
            RAN_EARLY => panic!("{name} would wait for a block that comes later"),
            READ_OUTSIDE => panic!("{name} reads vectors outside the input"),
            other => panic!("{name}: {other}"),
        }
    }
}

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// A copy of bytes with the same alignment modulo 16.
struct Copied {
    memory: Vec<u128>,
    lead: usize,
}

impl Copied {
    fn of(bytes: &[u8], lead: usize) -> Self {
        let mut memory = vec![0u128; (lead + bytes.len()).div_ceil(16)];
        let to = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the allocation has room for all bytes after the lead.
        unsafe { to.add(lead).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Copied { memory, lead }
    }

    fn first(&self) -> u64 {
        (self.memory.as_ptr().expose_provenance() + self.lead) as u64
    }
}
