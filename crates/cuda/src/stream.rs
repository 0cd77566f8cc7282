//! Runs plans on a stream.

use crate::choose::{self, Choice, MOST_DIMS};
use crate::device::Cuda;
use crate::error::{Error, WithOperation};
use crate::jobs::{self, AnyParams, Call, Job, ScratchLayout};
use crate::kernel::Kernel;
use crate::limits::Limits;
use crate::memory::{CudaLengths, DeviceMut, DeviceRef};
use crate::params::{Params, Report};
use crate::report::{self, Reports};
use crate::shape::{Addresses, Shape};
use cudarc::driver::{result, sys};
use retrograde::{ExecuteError, Grain, Memory, Plan, Prepared, Table, cpu};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// The most blocks of a launch.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// A stream of a device, with its report of invalid lengths.
///
/// Calls are asynchronous and run in order. Nothing waits for the device. Memory is allocated, in the
/// order of the stream, for host lengths, for packed elements in place and for long columns with a
/// length each. While a CUDA graph is being captured, such columns use a kernel that needs none.
#[derive(Debug)]
pub struct Stream {
    cuda: Cuda,
    raw: sys::CUstream,
    owned: bool,
    /// Address of its report; 0 if it has none.
    report: u64,
    /// Whether an invalid length on the device stops its call.
    stops: bool,
    /// Address of the word that is set when the report gets an error; 0 if there is none.
    alarm: u64,
    /// Keeps the reports alive that it belongs to, unless they are the device's.
    _reports: Option<Arc<Reports>>,
    /// What calls look elements up in that they reverse.
    table: Option<Table>,
}

// SAFETY: a stream's handle may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver locks it.
unsafe impl Sync for Stream {}

impl Cuda {
    /// Creates a stream.
    pub fn stream(&self) -> Result<Stream, Error> {
        let _current = self.current()?;
        let kind = result::stream::StreamKind::NonBlocking;
        let raw = result::stream::create(kind).with_operation("create a stream")?;
        let report = self.take_report()?;
        Ok(Stream::new(self.clone(), raw, true, report))
    }

    /// Borrows a foreign stream by its handle (`CUstream`, `cudaStream_t`); 0 is the default
    /// stream. It is not destroyed when the returned value is dropped. Handle 2
    /// (`CU_STREAM_PER_THREAD`) is another stream on each thread: borrow it on the thread that uses
    /// it, since two streams that share a report would mix up what is reported.
    ///
    /// # Safety
    /// The handle is a stream of this device's primary context whenever the returned value is used.
    pub unsafe fn borrow_stream(&self, handle: usize) -> Result<Stream, Error> {
        let report = self.report_of(handle)?;
        Ok(Stream::new(self.clone(), handle as sys::CUstream, false, report))
    }

    /// Borrows a foreign stream for outputs that are uninitialised: an invalid length on the device
    /// does not stop its call, but is clamped. It is reported only if the stream is
    /// [`reporting_to`](Stream::reporting_to) something.
    ///
    /// # Safety
    /// As for [`borrow_stream`](Self::borrow_stream).
    pub unsafe fn borrow_stream_clamping(&self, handle: usize) -> Stream {
        Stream::new(self.clone(), handle as sys::CUstream, false, 0)
    }
}

impl Stream {
    fn new(cuda: Cuda, raw: sys::CUstream, owned: bool, report: u64) -> Self {
        let alarm = if report == 0 { 0 } else { cuda.alarm().address() };
        let (stops, _reports, table) = (report != 0, None, None);
        Stream { cuda, raw, owned, report, stops, alarm, _reports, table }
    }

    /// The same stream and report, for outputs that are uninitialised: an invalid length on the
    /// device does not stop its call, but is clamped to 0 or to the size of the axis. Invalid
    /// offsets give an output that is made of bytes of the input, in no useful order.
    pub fn clamping(&self) -> Stream {
        let mut stream = self.looking_up(self.table.as_ref());
        stream.stops = false;
        stream
    }

    /// The same stream and report, for calls whose elements are looked up in a table as they are
    /// reversed, or in none.
    pub fn looking_up(&self, table: Option<&Table>) -> Stream {
        let (cuda, table, _reports) = (self.cuda.clone(), table.cloned(), self._reports.clone());
        let Stream { raw, report, stops, alarm, .. } = *self;
        Stream { cuda, raw, owned: false, report, stops, alarm, _reports, table }
    }

    /// Its device.
    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Its handle (`CUstream`).
    pub fn handle(&self) -> usize {
        self.raw as usize
    }

    /// The same stream with another report, which [`earlier`](Self::earlier) does not look at.
    ///
    /// # Panics
    /// If there is no such report.
    pub fn reporting_to(&self, reports: &Arc<Reports>, at: usize) -> Stream {
        assert!(at < reports.len(), "report {at} of {}", reports.len());
        let mut stream = self.looking_up(self.table.as_ref());
        (stream.report, stream.alarm) = (reports.address(at), 0);
        stream._reports = Some(reports.clone());
        stream
    }

    /// Runs a plan from `src` to `dst`; if both are the same view, in place.
    ///
    /// Errors that the host can detect (buffers, overlap, host lengths) are returned, and nothing
    /// is launched. Lengths on the device are checked there: if one is invalid, this call does not
    /// write to the output, and [`check`](Self::check) or [`earlier`](Self::earlier) reports it.
    /// They are also clamped where they are read, so that no value leads out of bounds.
    ///
    /// ```no_run
    /// use retrograde::{DType, Layout, Reverse};
    /// use retrograde_cuda::{Cuda, DeviceBuffer};
    ///
    /// let cuda = Cuda::device(0)?;
    /// let stream = cuda.stream()?;
    /// let rows = Layout::dense(DType::U8, &[2, 3])?;
    /// let plan = Reverse::axes([1]).plan(&rows, &rows)?;
    /// let input = DeviceBuffer::from_host(&cuda, b"abcdef")?;
    /// let mut output = DeviceBuffer::allocate(&cuda, 6)?;
    /// stream.execute(&plan, input.view(), None, output.view_mut())?;
    /// stream.synchronize()?;
    /// assert_eq!(output.to_vec()?, b"cbafed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn execute(
        &self,
        plan: &Plan,
        src: DeviceRef<'_>,
        lengths: Option<CudaLengths<'_>>,
        dst: DeviceMut<'_>,
    ) -> Result<(), Error> {
        plan.check_sizes(src.len, dst.len)?;
        self.check_lengths(plan, lengths, dst.address)?;
        let (from, to) = (src.address as usize, dst.address as usize);
        let in_place = plan.is_same_view(from, to);
        if !in_place && !plan.is_empty() && plan.overlaps(from, to) {
            return Err(ExecuteError::Overlap.into());
        }
        self.start(plan, Addresses { src: src.address, dst: dst.address }, lengths, in_place, true)
    }

    /// Runs a prepared call, with its table if it has one. Its errors name the operator and the index of
    /// a wrong length.
    ///
    /// `lengths` are those of the call, where the device can read them; `None` takes the call's
    /// own, which are then in host memory.
    pub fn run(
        &self,
        prepared: &Prepared<'_>,
        src: DeviceRef<'_>,
        lengths: Option<CudaLengths<'_>>,
        dst: DeviceMut<'_>,
    ) -> Result<(), Error> {
        let lengths = lengths.or_else(|| prepared.lengths_memory().map(CudaLengths::Host));
        let looking_up = prepared.table().map(|table| self.looking_up(Some(table)));
        let stream = looking_up.as_ref().unwrap_or(self);
        stream.execute(prepared.plan(), src, lengths, dst).map_err(|error| match error {
            Error::Execute(source) => Error::Call(prepared.explain(source)),
            error => error,
        })
    }

    /// Runs a piece of a plan whose lengths have been checked on the host.
    pub(crate) fn execute_checked(
        &self,
        plan: &Plan,
        src: DeviceRef<'_>,
        lengths: Option<CudaLengths<'_>>,
        dst: DeviceMut<'_>,
    ) -> Result<(), Error> {
        plan.check_sizes(src.len, dst.len)?;
        self.start(plan, Addresses { src: src.address, dst: dst.address }, lengths, false, false)
    }

    /// Runs a plan whose input and output have the same layout in one buffer.
    pub fn execute_in_place(
        &self,
        plan: &Plan,
        lengths: Option<CudaLengths<'_>>,
        memory: DeviceMut<'_>,
    ) -> Result<(), Error> {
        plan.check_sizes(memory.len, memory.len)?;
        self.check_lengths(plan, lengths, memory.address)?;
        if !plan.fits_in_place() {
            return Err(ExecuteError::NotInPlace.into());
        }
        let at = memory.address;
        self.start(plan, Addresses { src: at, dst: at }, lengths, true, true)
    }

    /// Waits for everything on the stream, and returns the error of the first invalid length since
    /// the last check, if there was one.
    pub fn check(&self) -> Result<(), Error> {
        if self.report == 0 {
            return self.synchronize();
        }
        let _current = self.cuda.current()?;
        // SAFETY: one report, which is this stream's.
        match unsafe { report::read(self.report, 1, self.raw) }?.pop().flatten() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Waits for everything on the stream, and returns the error of each of these reports.
    pub fn read(&self, reports: &Reports) -> Result<Vec<Option<ExecuteError>>, Error> {
        let _current = self.cuda.current()?;
        // SAFETY: as many as there are. If another stream used them at the same time, their
        // contents would be mixed up, but nothing else.
        unsafe { report::read(reports.address(0), reports.len(), self.raw) }
    }

    /// The error of an invalid length or offset that an earlier call has reported, on any stream of
    /// the device: each error once, and not those that [`check`](Self::check) has returned.
    ///
    /// It waits for no call, so it finds what has been reported so far. While nothing was, it reads
    /// one word of host memory. While a CUDA graph is being captured from the stream, it finds
    /// nothing.
    pub fn earlier(&self) -> Result<Option<ExecuteError>, Error> {
        match self.cuda.alarm().is_set() && !self.is_capturing()? {
            true => self.cuda.find_error(),
            false => Ok(None),
        }
    }

    /// Lets later work on this stream wait for everything that is now on another one.
    ///
    /// # Safety
    /// The handle is a stream of the same context.
    pub unsafe fn follow(&self, other: usize) -> Result<(), Error> {
        let _current = self.cuda.current()?;
        // SAFETY: both are alive, as promised.
        unsafe { order(other as sys::CUstream, self.raw) }
    }

    /// Lets later work on another stream wait for everything that is now on this one.
    ///
    /// # Safety
    /// As for [`follow`](Self::follow).
    pub unsafe fn precede(&self, other: usize) -> Result<(), Error> {
        let _current = self.cuda.current()?;
        // SAFETY: both are alive, as promised.
        unsafe { order(self.raw, other as sys::CUstream) }
    }

    /// Waits for everything on the stream.
    pub fn synchronize(&self) -> Result<(), Error> {
        let _current = self.cuda.current()?;
        // SAFETY: ours, or borrowed under the promise that it is alive.
        unsafe { result::stream::synchronize(self.raw) }.with_operation("finish its work")
    }

    /// Checks that the host can do on lengths.
    fn check_lengths(
        &self,
        plan: &Plan,
        lengths: Option<CudaLengths<'_>>,
        dst: u64,
    ) -> Result<(), Error> {
        plan.check_lengths(lengths.as_ref().map(CudaLengths::size))?;
        match lengths {
            Some(CudaLengths::Device(_, view))
                if plan.lengths_overlap(view.address as usize, dst as usize) =>
            {
                Err(ExecuteError::LengthsOverlap.into())
            }
            Some(CudaLengths::Host(lengths)) => {
                cpu::Checked::new(plan, Some(lengths))?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Launches everything that a checked call needs.
    fn start(
        &self,
        plan: &Plan,
        at: Addresses,
        lengths: Option<CudaLengths<'_>>,
        in_place: bool,
        check: bool,
    ) -> Result<(), Error> {
        let rank = plan.dims().len().max(plan.lengths().map_or(0, |lengths| lengths.dims().len()));
        if rank > MOST_DIMS {
            return Err(Error::TooManyDims { rank, most: MOST_DIMS });
        }
        let _current = self.cuda.current()?;
        let mut uploaded = None;
        let (address, stop) = match lengths {
            Some(CudaLengths::Device(_, view)) if check => {
                (view.address, self.check_on_device(plan, view)?)
            }
            Some(CudaLengths::Device(_, view)) => (view.address, 0),
            Some(CudaLengths::Host(lengths)) if !plan.is_empty() => {
                let copy = self.upload(plan, lengths.memory())?;
                (uploaded.insert(copy).base, 0)
            }
            _ => (0, 0),
        };
        // In a graph, use only launches that every driver, and the owner of the graph, supports.
        let early = stop != 0 && self.cuda.kernels_wait() && !self.is_capturing()?;
        let lengths = jobs::lengths_of(plan, address, stop);
        let table = self.table.as_ref();
        let (shape, limits) = (Shape::looking_up(plan, table.is_some()), self.cuda.limits());
        let policy = limits.policy(shape.grains());
        let mut call = Call { plan, shape: &shape, at, lengths, policy, scratch: 0, table };
        let choose = |limits: &Limits| choose::choose(plan, &shape, at, limits, in_place);
        let choice = choose(&limits);
        if stop != 0 && !self.stops && choice.kernel.stages_segments() {
            call.lengths = call.lengths.copying_when_stopped(self.report);
        }
        let is_packed = matches!(plan.unit().grain, Grain::Packed { .. });
        let looks_up = shape.looks_up && !choice.kernel.looks_up_in_place();
        if in_place && (is_packed || looks_up) && choice.kernel != Kernel::None {
            return self.through_a_copy(&call, choice);
        }
        let Some(room) = ScratchLayout::of(&shape, at, choice, &limits) else {
            return self.launch(&jobs::job(&call, choice, &limits), early);
        };
        match self.cleared(&room)? {
            Some(memory) => {
                call.scratch = memory.address;
                // It follows the counters, not the check.
                self.launch(&jobs::job(&call, choice, &limits), false)
            }
            None => {
                let limits = Limits { scratch: false, ..limits };
                self.launch(&jobs::job(&call, choose(&limits), &limits), early)
            }
        }
    }

    /// Scratch memory with its counters at zero; `None` if a graph is being captured, or there is no
    /// memory.
    fn cleared(&self, room: &ScratchLayout) -> Result<Option<Scratch<'_>>, Error> {
        if self.is_capturing()? {
            return Ok(None);
        }
        let Some(pool) = self.cuda.scratch() else { return Ok(None) };
        // SAFETY: the stream is ours, or borrowed under the promise that it is alive.
        let allocated = unsafe { pool.allocate(room.bytes() as usize, self.raw) };
        let Ok(address) = allocated else { return Ok(None) };
        let memory = Scratch { stream: self, address, base: address };
        // SAFETY: the first bytes of the memory.
        unsafe { result::memset_d8_async(memory.address, 0, room.counters as usize, self.raw) }
            .with_operation("clear memory on the stream")?;
        Ok(Some(memory))
    }

    /// Launches the check of device lengths; returns the address of its result, or 0 if there is
    /// nothing to wait for.
    fn check_on_device(&self, plan: &Plan, view: DeviceRef<'_>) -> Result<u64, Error> {
        let Some(lengths) = plan.lengths() else { return Ok(0) };
        if self.report == 0 || !lengths.needs_check() || lengths.count() == 0 {
            return Ok(0);
        }
        let check = jobs::check(lengths, view.address, self.report, self.alarm);
        self.launch(&Some(check), false)?;
        Ok(Report::word(self.report, self.stops))
    }

    /// Copies host lengths to memory allocated on the stream.
    fn upload(&self, plan: &Plan, memory: Memory<'_>) -> Result<Scratch<'_>, Error> {
        if self.is_capturing()? {
            return Err(Error::HostLengthsInGraph);
        }
        let reach = plan.lengths().map_or(0..0, |lengths| {
            // From a multiple of 8, to preserve alignment.
            lengths.reach.start / 8 * 8..lengths.reach.end
        });
        let scratch = self.scratch(reach.len(), reach.start as u64)?;
        // SAFETY: the memory was checked to contain the plan's reach; the driver has read pageable
        // memory when the call returns.
        let bytes = unsafe {
            std::slice::from_raw_parts(memory.as_ptr().wrapping_add(reach.start), reach.len())
        };
        // SAFETY: as many bytes as were allocated.
        unsafe { result::memcpy_htod_async(scratch.address, bytes, self.raw) }
            .with_operation("copy lengths to the device")?;
        Ok(scratch)
    }

    /// In place, but read from a copy: elements that share bytes cannot be swapped in parallel, and
    /// the kernels that look elements up swap none.
    fn through_a_copy(&self, call: &Call<'_>, choice: Choice) -> Result<(), Error> {
        let (plan, at) = (call.plan, call.at.dst);
        let per_byte = plan.unit().grain.per_byte();
        let (start, end) = (plan.dst().start / per_byte, plan.dst().end.div_ceil(per_byte));
        // The same alignment modulo 16 as the original, so that words are aligned with words.
        let lead = (at + start as u64) % 16;
        let copy = self.scratch(end - start + lead as usize, 0)?;
        let (from, to) = (at + start as u64, copy.address + lead);
        // SAFETY: the plan's reach, which the caller's memory contains, into as many bytes.
        unsafe { result::memcpy_dtod_async(to, from, end - start, self.raw) }
            .with_operation("copy on the device")?;
        let site = Addresses { src: to.wrapping_sub(start as u64), dst: at };
        let call = Call { at: site, ..*call };
        // It follows the copy, not the check.
        self.launch(&jobs::job(&call, choice, &self.cuda.limits()), false)
    }

    /// Memory that is freed once the stream has finished everything launched before that.
    fn scratch(&self, len: usize, offset: u64) -> Result<Scratch<'_>, Error> {
        // SAFETY: what follows writes it before it is read.
        let address = unsafe { result::malloc_async(self.raw, len.max(1)) }
            .with_operation("allocate memory on the stream")?;
        Ok(Scratch { stream: self, address, base: address.wrapping_sub(offset) })
    }

    /// Whether a CUDA graph is being captured from it.
    pub fn is_capturing(&self) -> Result<bool, Error> {
        use sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let _current = self.cuda.current()?;
        // SAFETY: ours, or borrowed under the promise that it is alive.
        let status =
            unsafe { result::stream::is_capturing(self.raw) }.with_operation("query a stream")?;
        Ok(status != CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// By reference, because some kernels have kilobytes of arguments. `early`: the kernel may
    /// start while the length check right before it is still running, and waits for its end before
    /// it writes.
    fn launch(&self, job: &Option<Job>, early: bool) -> Result<(), Error> {
        let Some(job) = job else { return Ok(()) };
        match &job.params {
            AnyParams::Rows(params) => self.launch_with(job, params, early),
            AnyParams::Segments(params) => self.launch_with(job, params, early),
            AnyParams::Strided(params) => self.launch_with(job, params, early),
            AnyParams::Gather(params) => self.launch_with(job, params, early),
            AnyParams::Tiles(params) => self.launch_with(job, params, early),
            AnyParams::Columns(params) => self.launch_with(job, params, early),
            AnyParams::Strips(params) => self.launch_with(job, params, early),
            AnyParams::Packed(params) => self.launch_with(job, params, early),
            AnyParams::Check(params) => self.launch_with(job, params, early),
        }
    }

    fn launch_with<P: Params>(&self, job: &Job, params: &P, early: bool) -> Result<(), Error> {
        if job.blocks > MOST_BLOCKS {
            return Err(Error::TooManyBlocks { blocks: job.blocks, most: MOST_BLOCKS });
        }
        let function = self.cuda.function(job.entry);
        let mut arguments = SmallVec::<[_; 2]>::new();
        arguments.push(std::ptr::from_ref(params).cast_mut().cast::<c_void>());
        arguments
            .extend(job.table.as_ref().map(|table| std::ptr::from_ref(table).cast_mut().cast()));
        // Separate, because drivers for older chips do not support launch attributes.
        if !early && job.cluster == 1 {
            let (grid, block) = ((job.blocks as u32, 1, 1), (job.threads, 1, 1));
            // SAFETY: the kernel takes this struct (`Params`), and a table if it looks elements up
            // (`Kernel::looks_up`), which the driver copies. The
            // addresses in it were checked against the plan, or promised by the creator of the
            // views.
            return unsafe {
                result::launch_kernel(function, grid, block, job.shared, self.raw, &mut arguments)
            }
            .with_operation("launch a kernel");
        }
        let attribute = |id, value| sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let mut attributes = SmallVec::<[_; 2]>::new();
        if early {
            attributes.push(attribute(
                sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
            ));
        }
        if job.cluster > 1 {
            let size =
                sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x: job.cluster, y: 1, z: 1 };
            attributes.push(attribute(
                sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                sys::CUlaunchAttributeValue { clusterDim: size },
            ));
        }
        let config = sys::CUlaunchConfig {
            gridDimX: job.blocks as u32,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: job.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: job.shared,
            hStream: self.raw,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: as above; every kernel calls `stopped` before it writes, which waits for the
        // check (`kernels_wait`), and only devices with clusters (`Limits::clusters`) are asked for
        // them. The driver keeps none of the pointers.
        unsafe {
            sys::cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), std::ptr::null_mut())
        }
        .result()
        .with_operation("launch a kernel")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        // The next user of the report must find it clear; if that fails, it is not reused. Errors
        // cannot be returned from here.
        if matches!(self.check(), Ok(()) | Err(Error::Execute(_))) {
            self.cuda.give_report_back(self.report);
        }
        if let Ok(_current) = self.cuda.current() {
            // SAFETY: created in `Cuda::stream`, destroyed once.
            let _ = unsafe { result::stream::destroy(self.raw) };
        }
    }
}

/// Lets later work on stream `to` wait for what is now on stream `from`.
///
/// # Safety
/// Both are streams of the current context.
unsafe fn order(from: sys::CUstream, to: sys::CUstream) -> Result<(), Error> {
    let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
        .with_operation("create an event")?;
    // SAFETY: both streams are alive, as required. An event may be destroyed before it has
    // happened: the driver keeps it until then.
    unsafe {
        let recorded = result::event::record(event, from).and_then(|()| {
            let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            result::stream::wait_event(to, event, flags)
        });
        let destroyed = result::event::destroy(event);
        recorded.and(destroyed).with_operation("order two streams")
    }
}

/// Temporary memory of one call.
struct Scratch<'a> {
    stream: &'a Stream,
    address: u64,
    /// The address at which the buffer that it is a part of would begin.
    base: u64,
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated on this stream in `scratch`, freed once, after everything that was
        // launched.
        let _ = unsafe { result::free_async(self.address, self.stream.raw) };
    }
}
