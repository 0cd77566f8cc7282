//! Calls: a plan with its buffers, checked and ready to encode.

use crate::binder::{Binder, Moved};
use crate::bound::Bound;
use crate::choose::Where;
use crate::device::Gpu;
use crate::dispatches::check_counts;
use crate::error::Error;
use crate::view::{GpuLengths, View};
use retrograde::{ExecuteError, Plan, Prepared, cpu};

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
        let place = self.choosing(src, dst);
        if !binder.list.apart(plan, place) {
            binder.copied(plan, src, place)?;
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
        let place = self.choosing(memory, memory);
        if !binder.list.in_place(plan, place) {
            binder.copied(plan, memory, place)?;
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
