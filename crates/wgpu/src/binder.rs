//! Binds the dispatches of a call to buffers: lengths, a temporary copy, parameters.

use crate::bound::{Bound, Step};
use crate::choose::Where;
use crate::device::Gpu;
use crate::dispatches::Dispatches;
use crate::error::Error;
use crate::filled::filled;
use crate::movement::Movement;
use crate::params::Read;
use crate::view::{GpuLengths, View};
use retrograde::{LengthsPlan, Memory, Plan};
use std::ops::Range;

/// Collects the steps of a call whose arguments were checked.
pub(crate) struct Binder<'a> {
    gpu: &'a Gpu,
    pub(crate) list: Dispatches<'a>,
    /// What is bound as lengths, if there are any.
    lengths: Option<(wgpu::Buffer, Range<u64>)>,
    /// A copy of the input, if the call reads one.
    copy: Option<wgpu::Buffer>,
    steps: Vec<Step>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        gpu: &'a Gpu,
        call: Movement<'a>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Self, Error> {
        let mut list = Dispatches::new(gpu.window(), gpu.words_each(), gpu.most_groups());
        let plan = call.plan;
        if let Some(table) = call.table() {
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
    pub(crate) fn copied(&mut self, plan: &Plan, src: View<'_>, place: Where) -> Result<(), Error> {
        src.check_copy("input")?;
        let mut shape = self.list.shape(plan);
        let per_byte = plan.unit().grain.per_byte() as u64;
        let reach = shape.src_reach();
        let reach = reach.start / per_byte..reach.end.div_ceil(per_byte);
        let (copy, start) = self.copy(src, &reach)?;
        shape.src = shape.src.wrapping_sub((start as i64).wrapping_mul(per_byte as i64));
        self.copy = Some(copy);
        self.list.gather(shape, place, true, false);
        Ok(())
    }

    /// Binds the dispatches to their buffers.
    pub(crate) fn finish(self, src: View<'_>, dst: View<'_>) -> Result<Bound, Error> {
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
