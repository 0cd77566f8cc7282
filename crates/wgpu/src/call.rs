//! Calls: a plan or a prepared call with its buffers, checked and ready to encode.

use crate::binder::Binder;
use crate::bound::Bound;
use crate::choose::Where;
use crate::device::Gpu;
use crate::dispatches::check_counts;
use crate::error::Error;
use crate::movement::Movement;
use crate::view::{GpuLengths, View};
use retrograde::{ExecuteError, Plan, Prepared, cpu};

impl Gpu {
    /// Runs a plan or a prepared call from `src` to `dst`; if both are the same view, in place.
    ///
    /// Errors that the host can detect (buffers, overlap, host lengths) are returned, and nothing
    /// is submitted. Lengths on the device are checked there: if one is invalid, this call does not
    /// write to the output, and [`check`](Self::check) reports it, now or later. They are also
    /// clamped where they are read, so that no value leads out of bounds.
    ///
    /// `lengths` are those of the call, where the device can read them; for a prepared call, `None`
    /// takes its own, which are in host memory. Those of a call with a mask have it in them: a length
    /// is 0 where a sequence stays, and offsets are [marked](retrograde::ReverseSegments::marked).
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
    /// gpu.run(&plan, View::new(&input, 0, 6), None, View::new(&output, 0, 6))?;
    /// assert_eq!(gpu.download(&output, 0..6).await?, b"cbafed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// What it reverses is looked up in the table of a prepared call:
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
    pub fn run<'c>(
        &self,
        call: impl Into<Movement<'c>>,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<(), Error> {
        self.submit(&self.bind(call, src, lengths, dst)?);
        Ok(())
    }

    /// What [`run`](Self::run) would submit, for an encoder of the caller's.
    pub fn bind<'c>(
        &self,
        call: impl Into<Movement<'c>>,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Bound, Error> {
        let call = call.into();
        let own = || call.prepared.and_then(Prepared::lengths_memory).map(GpuLengths::Host);
        let bound = self.bind_movement(call, src, lengths.or_else(own), dst);
        bound.map_err(|error| call.explain(error))
    }

    pub(crate) fn bind_movement(
        &self,
        call: Movement<'_>,
        src: View<'_>,
        lengths: Option<GpuLengths<'_>>,
        dst: View<'_>,
    ) -> Result<Bound, Error> {
        let plan = call.plan;
        src.check("input")?;
        dst.check("output")?;
        plan.check_sizes(src.size(), dst.size())?;
        self.check_lengths(plan, lengths, dst)?;
        let shared = src.buffer == dst.buffer;
        let in_place = shared && plan.is_same_view(src.address(), dst.address());
        if shared && !in_place && !plan.is_empty() && plan.overlaps(src.address(), dst.address()) {
            return Err(ExecuteError::Overlap.into());
        }
        let mut binder = Binder::new(self, call, lengths, dst)?;
        let place = self.choosing(src, dst);
        let listed = match in_place {
            true => binder.list.in_place(plan, place),
            false => binder.list.apart(plan, place),
        };
        if !listed {
            binder.copied(plan, src, place)?;
        }
        binder.finish(src, dst)
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
