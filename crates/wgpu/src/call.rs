//! Calls: a plan with its buffers, checked and ready to encode.

use crate::choose::Where;
use crate::device::Gpu;
use crate::dispatches::{Dispatches, check_counts};
use crate::error::Error;
use crate::filled::filled;
use crate::params::{Grid, Read};
use crate::view::{GpuLengths, View};
use retrograde::{ExecuteError, LengthsPlan, Memory, Plan, Prepared, Table, cpu};
use std::ops::Range;

/// A plan bound to buffers: what a command encoder records, as often as wanted.
///
/// It keeps the buffers, and temporary ones, alive.
#[derive(Debug, Clone)]
pub struct Bound {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Copy { from: wgpu::Buffer, start: u64, to: wgpu::Buffer, len: u64 },
    Dispatch { pipeline: wgpu::ComputePipeline, group: wgpu::BindGroup, grid: Grid },
}

impl Bound {
    /// Records the call. Nothing runs before the caller submits.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.peek() {
            if let Step::Copy { from, start, to, len } = step {
                encoder.copy_buffer_to_buffer(from, *start, to, 0, *len);
                steps.next();
                continue;
            }
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            while let Some(Step::Dispatch { pipeline, group, grid }) =
                steps.next_if(|step| matches!(step, Step::Dispatch { .. }))
            {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(grid.x, grid.y, 1);
            }
        }
    }

    /// Number of dispatches and copies that it records.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it records nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Gpu {
    /// Runs a plan from `src` to `dst`; if both are the same view, in place.
    ///
    /// Errors that the host can detect (buffers, overlap, host lengths) are returned, and nothing
    /// is submitted. Lengths on the device are checked there: if one is invalid, this call does not
    /// write to the output, and [`check`](Self::check) reports it, now or later. They are also
    /// clamped where they are read, so that no value leads out of bounds.
    ///
    /// ```
    /// use retrograde::{DType, Layout, Reverse};
    /// use retrograde_wgpu::{Gpu, View};
    ///
    /// # pollster::block_on(async {
    /// # let Ok(gpu) = Gpu::new().await else { return Ok(()) };
    /// let rows = Layout::dense(DType::U8, &[2, 3])?;
    /// let plan = Reverse::axes([1]).plan(&rows, &rows)?;
    /// let input = gpu.upload(b"abcdef")?;
    /// let output = gpu.allocate(6)?;
    /// gpu.execute(&plan, View::new(&input, 0, 6), None, View::new(&output, 0, 6))?;
    /// assert_eq!(gpu.download(&output, 0..6).await?, b"cbafed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn execute(
        &self,
        plan: &Plan,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<(), Error> {
        self.submit(&self.bind(plan, src, lengths, dst)?);
        Ok(())
    }

    /// Runs a plan whose input and output have the same layout in one buffer.
    pub fn execute_in_place(
        &self,
        plan: &Plan,
        lengths: Option<GpuLengths<'_>>,
        memory: View<'_>,
    ) -> Result<(), Error> {
        self.submit(&self.bind_in_place(plan, lengths, memory)?);
        Ok(())
    }

    /// Runs a prepared call: if `src` and `dst` are the same view, in place. What it reverses is looked
    /// up in its table, if it has one. Its errors name the operator and the index of a wrong length.
    ///
    /// `lengths` are those of the call, where the device can read them; `None` takes the call's
    /// own, which are then in host memory. Those of a call with a mask have it in them: a length is 0
    /// where a sequence stays, and offsets are
    /// [marked](retrograde::ReverseSegments::marked).
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout, Table};
    /// use retrograde_wgpu::{Gpu, View};
    ///
    /// # pollster::block_on(async {
    /// # let Ok(gpu) = Gpu::new().await else { return Ok(()) };
    /// let letters = Layout::dense(DType::U8, &[11])?;
    /// let reads = ReverseSegments::along(0).offsets(&[0, 4, 7, 11]).where_(&[true, false, true]);
    /// let complement = reads.table(&Table::dna()).prepare(&letters, &letters)?;
    /// let memory = gpu.upload(b"AACGTTTGCCA")?;
    /// gpu.run(&complement, View::whole(&memory), None, View::whole(&memory))?;
    /// assert_eq!(gpu.download(&memory, 0..11).await?, b"CGTTTTTTGGC");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn run(
        &self,
        prepared: &Prepared<'_>,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<(), Error> {
        self.submit(&self.bind_prepared(prepared, src, lengths, dst)?);
        Ok(())
    }

    /// What [`run`](Self::run) would submit, for an encoder of the caller's.
    pub fn bind_prepared(
        &self,
        prepared: &Prepared<'_>,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Bound, Error> {
        let lengths = lengths.or_else(|| prepared.lengths_memory().map(GpuLengths::Host));
        let bound = self.bind_moved(Moved::of(prepared), src, lengths, dst);
        bound.map_err(|error| error.explained(prepared))
    }

    /// Submits a call on its own.
    pub fn submit(&self, bound: &Bound) {
        if bound.is_empty() {
            return;
        }
        let mut encoder = self.device().create_command_encoder(&Default::default());
        bound.encode(&mut encoder);
        self.queue().submit([encoder.finish()]);
    }

    /// What [`execute`](Self::execute) would submit, for an encoder of the caller's.
    pub fn bind(
        &self,
        plan: &Plan,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Bound, Error> {
        self.bind_moved(Moved { plan, table: None }, src, lengths, dst)
    }

    /// What [`execute_in_place`](Self::execute_in_place) would submit.
    pub fn bind_in_place(
        &self,
        plan: &Plan,
        lengths: Option<GpuLengths<'_>>,
        memory: View<'_>,
    ) -> Result<Bound, Error> {
        self.bind_moved_in_place(Moved { plan, table: None }, lengths, memory)
    }

    pub(crate) fn bind_moved(
        &self,
        moved: Moved<'_>,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Bound, Error> {
        let plan = moved.plan;
        src.check("input")?;
        dst.check("output")?;
        plan.check_sizes(src.size(), dst.size())?;
        let shared = src.buffer == dst.buffer;
        let (from, to) = (src.address(), dst.address());
        if shared && plan.is_same_view(from, to) {
            return self.bind_moved_in_place(moved, lengths, dst);
        }
        self.check_lengths(plan, lengths, dst)?;
        if shared && !plan.is_empty() && plan.overlaps(from, to) {
            return Err(ExecuteError::Overlap.into());
        }
        let mut binder = Binder::new(self, moved, lengths, dst)?;
        if !binder.list.apart(plan, self.choosing(src, dst)) {
            binder.copied(plan, src, dst)?;
        }
        binder.finish(src, dst)
    }

    fn bind_moved_in_place(
        &self,
        moved: Moved<'_>,
        lengths: Option<GpuLengths<'_>>,
        memory: View<'_>,
    ) -> Result<Bound, Error> {
        let plan = moved.plan;
        memory.check("output")?;
        plan.check_sizes(memory.size(), memory.size())?;
        self.check_lengths(plan, lengths, memory)?;
        if !plan.fits_in_place() {
            return Err(ExecuteError::NotInPlace.into());
        }
        let mut binder = Binder::new(self, moved, lengths, memory)?;
        if !binder.list.in_place(plan, self.choosing(memory, memory)) {
            binder.copied(plan, memory, memory)?;
        }
        binder.finish(memory, memory)
    }

    /// What the choice of a kernel for these buffers depends on.
    fn choosing(&self, src: View<'_>, dst: View<'_>) -> Where {
        let shared = src.buffer == dst.buffer;
        let in_place = shared && src.offset == dst.offset;
        Where { from: src.offset, at: dst.offset, small: self.tests_small(), in_place, shared }
    }

    /// Checks that the host can do on lengths, and on what the kernels count.
    fn check_lengths(
        &self,
        plan: &Plan,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<(), Error> {
        check_counts(plan)?;
        plan.check_lengths(lengths.as_ref().map(GpuLengths::size))?;
        match lengths {
            Some(GpuLengths::Device(_, view)) => {
                view.check("lengths")?;
                let shared = view.buffer == dst.buffer;
                if shared && plan.lengths_overlap(view.address(), dst.address()) {
                    return Err(ExecuteError::LengthsOverlap.into());
                }
            }
            Some(GpuLengths::Host(lengths)) => {
                cpu::Checked::new(plan, Some(lengths))?;
            }
            None => {}
        }
        Ok(())
    }
}

/// What a call does: moves elements, and looks up what it reverses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) table: Option<&'a Table>,
}

impl<'a> Moved<'a> {
    pub(crate) fn of(prepared: &'a Prepared<'_>) -> Self {
        Moved { plan: prepared.plan(), table: prepared.table() }
    }
}

/// Collects the steps of a call whose arguments were checked.
struct Binder<'a> {
    gpu: &'a Gpu,
    list: Dispatches<'a>,
    /// What is bound as lengths, if there are any.
    lengths: Option<(wgpu::Buffer, Range<u64>)>,
    /// A copy of the input, if the call reads one.
    copy: Option<wgpu::Buffer>,
    steps: Vec<Step>,
}

impl<'a> Binder<'a> {
    fn new(
        gpu: &'a Gpu,
        Moved { plan, table }: Moved<'a>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Self, Error> {
        let mut list = Dispatches::new(gpu.window(), gpu.words_each(), gpu.most_groups());
        if let Some(table) = table {
            list.look_up(plan, table);
        }
        let mut binder = Binder { gpu, list, lengths: None, copy: None, steps: Vec::new() };
        if let (Some(lengths), Some(plan)) = (lengths, plan.lengths())
            && plan.count() > 0
        {
            binder.bind_lengths(plan, lengths, dst)?;
        }
        Ok(binder)
    }

    fn bind_lengths(
        &mut self,
        plan: &'a LengthsPlan,
        lengths: GpuLengths<'_>,
        dst: View<'_>,
    ) -> Result<(), Error> {
        let window = self.gpu.window();
        let reach = plan.reach.start as u64..plan.reach.end as u64;
        let (buffer, start, on_device) = match lengths {
            GpuLengths::Host(lengths) => {
                let bytes = bytes_of(lengths.memory(), &reach);
                let usage = wgpu::BufferUsages::STORAGE;
                (filled(self.gpu.device(), "retrograde: lengths", bytes, usage), reach.start, false)
            }
            GpuLengths::Device(_, view) if view.buffer == dst.buffer => {
                view.check_copy("lengths")?;
                let (buffer, start) = self.copy(view, &reach)?;
                (buffer, start, true)
            }
            GpuLengths::Device(_, view) => {
                let bytes = window.bytes(&reach, 1, view.offset);
                let read = Read { base: view.offset as i64 - bytes.start as i64, ..self.read() };
                return self.bind_checked(plan, view.buffer.clone(), bytes, read, true);
            }
        };
        // The buffer begins with byte `start` of the view.
        let read = Read { base: -(start as i64), ..self.read() };
        let size = buffer.size();
        self.bind_checked(plan, buffer, 0..size, read, on_device)
    }

    fn read(&self) -> Read {
        Read { base: 0, report: self.gpu.report, checked: false }
    }

    /// Binds lengths, and dispatches their check if they were not checked on the host.
    fn bind_checked(
        &mut self,
        plan: &'a LengthsPlan,
        buffer: wgpu::Buffer,
        bytes: Range<u64>,
        read: Read,
        on_device: bool,
    ) -> Result<(), Error> {
        let (len, most) = (bytes.end - bytes.start, self.gpu.most_bound());
        if len > most {
            return Err(Error::TooLarge { what: "the lengths take", bytes: len, most });
        }
        let read = Read { checked: on_device && plan.needs_check(), ..read };
        self.lengths = Some((buffer, bytes));
        self.list.read_lengths(plan, read, 0);
        Ok(())
    }

    /// Copies what is between the ends of a reach to a temporary buffer; returns it and the byte of
    /// the view that it begins with.
    fn copy(&mut self, view: View<'_>, reach: &Range<u64>) -> Result<(wgpu::Buffer, u64), Error> {
        let bytes = view.bytes(reach.clone());
        // Copies are of whole words, so this may begin before the view.
        let lead = bytes.start % 4;
        let start = bytes.start - lead;
        let len = bytes.end.next_multiple_of(4) - start;
        let to = self.gpu.allocate(len)?;
        self.steps.push(Step::Copy { from: view.buffer.clone(), start, to: to.clone(), len });
        Ok((to, reach.start.wrapping_sub(lead)))
    }

    /// Through a temporary copy of the input.
    fn copied(&mut self, plan: &Plan, src: View<'_>, dst: View<'_>) -> Result<(), Error> {
        src.check_copy("input")?;
        let mut shape = self.list.shape(plan);
        let per_byte = plan.unit().grain.per_byte() as u64;
        let reach = shape.src_reach();
        let reach = reach.start / per_byte..reach.end.div_ceil(per_byte);
        let (copy, start) = self.copy(src, &reach)?;
        shape.src = shape.src.wrapping_sub((start as i64).wrapping_mul(per_byte as i64));
        self.copy = Some(copy);
        self.list.gather(shape, self.gpu.choosing(src, dst), true, false);
        Ok(())
    }

    /// Binds the dispatches to their buffers.
    fn finish(self, src: View<'_>, dst: View<'_>) -> Result<Bound, Error> {
        let Binder { gpu, list, lengths, copy, mut steps } = self;
        let device = gpu.device();
        let temporary = match (copy, list.temporary) {
            (Some(copy), _) => copy,
            (None, 0) => gpu.nothing_to_read().clone(),
            (None, bytes) => gpu.allocate(bytes)?,
        };
        let part = |is_temporary: bool, view: View<'_>, bytes: Option<Range<u64>>| {
            let buffer = if is_temporary { &temporary } else { view.buffer };
            bytes.map(|bytes| (buffer.clone(), bytes))
        };
        let whole = |buffer: &wgpu::Buffer| (buffer.clone(), 0..buffer.size());
        for step in list.steps {
            let usage = wgpu::BufferUsages::UNIFORM;
            let params = filled(device, "retrograde: parameters", step.params(), usage);
            let input = part(step.from_temporary, src, step.src);
            let output = part(step.to_temporary, dst, step.dst);
            let buffers = [
                input.unwrap_or_else(|| whole(gpu.nothing_to_read())),
                output.unwrap_or_else(|| whole(gpu.nothing_to_write())),
                lengths.clone().unwrap_or_else(|| whole(gpu.nothing_to_read())),
                whole(&gpu.reports.buffer),
                whole(&params),
            ];
            let entries: Vec<_> = buffers
                .iter()
                .enumerate()
                .map(|(at, (buffer, bytes))| wgpu::BindGroupEntry {
                    binding: at as u32,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset: bytes.start,
                        size: wgpu::BufferSize::new(bytes.end - bytes.start),
                    }),
                })
                .collect();
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &gpu.kernels().bindings,
                entries: &entries,
            });
            let pipeline = gpu.kernels().get(device, step.key);
            steps.push(Step::Dispatch { pipeline, group, grid: step.grid });
        }
        Ok(Bound { steps })
    }
}

/// The bytes of a reach of host memory.
fn bytes_of<'m>(memory: Memory<'m>, reach: &Range<u64>) -> &'m [u8] {
    let len = (reach.end - reach.start) as usize;
    // SAFETY: `check_lengths` found that the memory holds the plan's reach (`Plan::check_lengths`),
    // and `Memory` promises that its bytes are initialised and nobody writes to them.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().wrapping_add(reach.start as usize), len) }
}
