//! A plan as kernels see it: every flip is folded into a negative stride.

use retrograde::{Dim, Flow, Plan};
use smallvec::SmallVec;

/// The dimensions of a plan, outermost first, none of them `Flip`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Grains that move as one unit.
    pub(crate) unit: u64,
    pub(crate) dims: SmallVec<[Dim; 8]>,
    /// The dimension with lengths.
    pub(crate) prefix: Option<usize>,
    /// Whether what is beyond a length becomes zero.
    pub(crate) zero: bool,
    /// The dimension that offsets cut into segments.
    pub(crate) segments: Option<usize>,
    /// What is reversed is looked up in a table.
    pub(crate) looks_up: bool,
    /// The offset of the first step of all dimensions in the input buffer, in grains.
    pub(crate) src: i64,
    /// The same in the output buffer.
    pub(crate) dst: i64,
}

impl Shape {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut src = plan.src().origin as i64;
        let mut dims: SmallVec<[Dim; 8]> = SmallVec::from_slice(plan.dims());
        for dim in &mut dims {
            if dim.flow == Flow::Flip {
                src += dim.src as i64 * (dim.len as i64 - 1);
                (dim.src, dim.flow) = (-dim.src, Flow::Keep);
            }
        }
        // A prefix of one step, which may become zero, is not part of any row: its strides have no
        // meaning.
        dims.sort_by_key(|dim| dim.len != 1);
        let find = |flow| dims.iter().position(|dim| dim.flow == flow);
        let (prefix, segments) = (find(Flow::FlipPrefix), find(Flow::FlipSegments));
        let (unit, dst) = (plan.unit().count as u64, plan.dst().origin as i64);
        let (zero, looks_up) = (plan.zeroes_tail(), false);
        Shape { unit, prefix, zero, segments, looks_up, src, dst, dims }
    }

    /// The same of a plan with a table, if it has one: lengths that no dimension reads reverse nothing.
    pub(crate) fn looking_up(plan: &Plan, table: bool) -> Self {
        let reads = plan.dims().iter().any(|dim| dim.flow.reads_lengths());
        Shape { looks_up: table && (plan.lengths().is_none() || reads), ..Self::of(plan) }
    }

    /// Whether `width` divides the unit, every step and both addresses of the first step.
    pub(crate) fn is_aligned(&self, at: Addresses, width: u64) -> bool {
        let whole = |number: i64| number % width as i64 == 0;
        self.unit.is_multiple_of(width)
            && whole(at.src as i64 + self.src)
            && whole(at.dst as i64 + self.dst)
            && self
                .dims
                .iter()
                .all(|dim| dim.len == 1 || (whole(dim.src as i64) && whole(dim.dst as i64)))
    }

    /// The widest piece that divides everything: 1, 2, 4, 8 or 16 bytes.
    pub(crate) fn granule(&self, at: Addresses) -> u64 {
        [16, 8, 4, 2].into_iter().find(|&width| self.is_aligned(at, width)).unwrap_or(1)
    }

    /// The total number of grains.
    pub(crate) fn grains(&self) -> u64 {
        self.unit * self.dims.iter().map(|dim| dim.len as u64).product::<u64>()
    }

    /// Contiguous bytes of output around each unit.
    pub(crate) fn run(&self) -> u64 {
        let mut run = self.unit;
        for dim in self.dims.iter().rev() {
            if dim.dst as i64 != run as i64 {
                break;
            }
            run *= dim.len as u64;
        }
        run
    }
}

/// The addresses of both buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) src: u64,
    pub(crate) dst: u64,
}

/// An address in a buffer.
pub(crate) fn address(base: u64, offset: i64) -> u64 {
    base.wrapping_add_signed(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSequence, Tail};

    #[test]
    fn a_flip_is_a_stride_that_runs_backward() {
        let image = Layout::dense(DType::U8, &[4, 5, 3]).unwrap();
        let shape = Shape::of(&Reverse::axes([1]).plan(&image, &image).unwrap());
        assert_eq!((shape.unit, shape.src, shape.dst), (3, 12, 0));
        let steps: Vec<_> = shape.dims.iter().map(|d| (d.len, d.src, d.dst, d.flow)).collect();
        assert_eq!(steps, [(4, 15, 15, Flow::Keep), (5, -3, 3, Flow::Keep)]);
        assert_eq!(shape.run(), 60);
    }

    #[test]
    fn a_prefix_of_one_step_is_outermost_whatever_its_stride() {
        let lanes = Layout::dense(DType::U8, &[8]).unwrap();
        let layout = Layout::strided(DType::F32, &[8, 1], &[1, 3], 0).unwrap();
        let operator = ReverseSequence::new().time_axis(1).batch_axis(0).tail(Tail::Zero);
        let shape = Shape::of(&operator.plan(&layout, &lanes, &layout).unwrap());
        assert_eq!((shape.prefix, shape.zero, shape.dims[1].len), (Some(0), true, 8));
        // Its stride divides nothing.
        assert_eq!(shape.granule(Addresses { src: 0, dst: 0 }), 4);
    }

    #[test]
    fn the_granule_divides_addresses_steps_and_unit() {
        let rows = Layout::strided(DType::F32, &[4, 6], &[10, 1], 0).unwrap();
        let shape = Shape::of(&Reverse::axes([0]).plan(&rows, &rows).unwrap());
        let granule = |src, dst| shape.granule(Addresses { src, dst });
        assert_eq!((granule(256, 512), granule(260, 512), granule(256, 514)), (8, 4, 2));
        assert_eq!(granule(257, 512), 1);
    }
}
