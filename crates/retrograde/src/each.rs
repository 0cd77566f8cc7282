//! The methods of [`OrientEach`], whose images each have a plan: where it meets the CPU.

use crate::cpu;
use crate::error::{Error, Operator};
use crate::fresh::vec_with_capacity;
use crate::layout::Layout;
use crate::op::OrientEach;
use crate::plan::Plan;
use crate::tensor::{Memory, MemoryMut, TensorMut, TensorRef};
use bytemuck::NoUninit;

impl OrientEach {
    /// From one view to another. If both are the same view, in place. Threads share the images.
    pub fn apply_view(&self, src: &TensorRef<'_>, dst: &mut TensorMut<'_>) -> Result<(), Error> {
        let plans = self.plans(src.layout(), dst.layout())?;
        let to_itself =
            src.layout() == dst.layout() && src.memory().as_ptr() == dst.memory().as_ptr();
        if to_itself && let Some(at) = plans.iter().position(|plan| !plan.fits_in_place()) {
            return Err(Error::OrientInPlace { orientation: self.orientations()[at] });
        }
        run(&plans, src.memory(), dst.memory())
    }

    /// From a dense slice to a new vector.
    pub fn to_vec<T: NoUninit>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error> {
        let view = TensorRef::from_slice(src, shape)?;
        let dst = Layout::dense(view.layout().dtype(), &self.output_shape(shape)?)?;
        let plans = self.plans(view.layout(), &dst)?;
        let mut out = vec_with_capacity(src.len());
        let room = MemoryMut::of_uninit(&mut out.spare_capacity_mut()[..src.len()]);
        run(&plans, view.memory(), room)?;
        // SAFETY: the call succeeded, so every image was written, and together they are the dense
        // layout, which has `src.len()` elements.
        unsafe { out.set_len(src.len()) };
        Ok(out)
    }
}

/// Runs the plans of [`OrientEach::plans`].
fn run(plans: &[Plan], src: Memory<'_>, dst: MemoryMut<'_>) -> Result<(), Error> {
    // SAFETY: `OrientEach::plans` refuses an output that may overlap itself, and each plan writes
    // another slice of it.
    let done = unsafe { cpu::execute_each(plans, src, dst) };
    done.map_err(|source| Error::Execute { operator: Operator::Orient, source })
}
