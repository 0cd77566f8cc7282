//! A plan as the kernels see it: every output stride is positive, flips are negative input strides,
//! and the innermost dimension is a row if it is contiguous on both sides.

use retrograde::{BitOrder, Dim, Flow, Grain, Meaning, Plan};
use std::ops::Range;

/// A dimension outside rows. Strides count grains, those of lengths bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) len: u64,
    pub(crate) src: i64,
    pub(crate) dst: u64,
    pub(crate) lengths: i64,
}

/// How a row is read. Values are those of `ROW` in `words.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    Forward = 0,
    Backward = 1,
    Prefix = 2,
    Suffix = 3,
    Segments = 4,
}

/// A dimension outside rows whose steps follow lengths or offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Its index among the axes; `None` if it has one step.
    pub(crate) axis: Option<usize>,
    pub(crate) meaning: Meaning,
    /// How many steps the plan has.
    pub(crate) len: u64,
    /// The step that comes first in the output's memory, and whether steps descend from there.
    pub(crate) first: u64,
    pub(crate) descending: bool,
    /// From one step of the input to the next, in grains.
    pub(crate) src: i64,
    /// Steps of the input that are read: others are left to other pieces.
    pub(crate) source: Range<u64>,
}

/// Rows that are contiguous in the input only: in the output their units are apart, and those of
/// the last dimension, the lanes, are contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    /// From a unit of a row to the next, in grains of the output.
    pub(crate) pitch: u64,
    /// The first unit of a row that is written, and how many are.
    pub(crate) first: u64,
    pub(crate) steps: u64,
}

/// A plan, or a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grain: Grain,
    /// Grains in a unit.
    pub(crate) unit: u64,
    pub(crate) row: Row,
    /// Grains in a row: one unit, if it is `Forward` and there is no tile.
    pub(crate) row_len: u64,
    /// `Some` if rows are not contiguous in the output.
    pub(crate) tile: Option<Tile>,
    /// `Some` if rows are dense in the output: log2 of the bytes that their kernels count in.
    pub(crate) dense: Option<u32>,
    /// The other dimensions, from the largest output stride to the smallest.
    pub(crate) axes: Vec<Axis>,
    pub(crate) steps: Option<Steps>,
    pub(crate) zero: bool,
    /// Whether what is reversed is looked up in a table.
    pub(crate) looks_up: bool,
    /// First grain of the input; with a negative stride, not the lowest.
    pub(crate) src: i64,
    /// First and lowest grain of the output.
    pub(crate) dst: u64,
    /// One past the output's last grain if the rest of that byte becomes zero.
    pub(crate) seals: Option<u64>,
    /// Bytes from the plan's first length to this piece's.
    pub(crate) lengths_offset: i64,
}

impl Shape {
    pub(crate) fn of(plan: &Plan) -> Self {
        let unit = plan.unit().count as u64;
        let mut shape = Shape {
            grain: plan.unit().grain,
            unit,
            row: Row::Forward,
            row_len: unit,
            tile: None,
            dense: None,
            axes: Vec::with_capacity(plan.dims().len()),
            steps: None,
            zero: plan.zeroes_tail(),
            looks_up: false,
            src: plan.src().origin as i64,
            dst: plan.dst().origin as u64,
            seals: plan.seals_last_byte().then_some(plan.dst().end as u64),
            lengths_offset: 0,
        };
        let last = plan.dims().iter().rposition(|dim| dim.len != 1);
        for (at, dim) in plan.dims().iter().enumerate() {
            if Some(at) == last && shape.take_row(dim) {
                continue;
            }
            shape.take_axis(dim);
        }
        shape
    }

    /// Takes the innermost dimension as a row, if it is one.
    fn take_row(&mut self, dim: &Dim) -> bool {
        let (unit, len) = (self.unit as i64, dim.len as i64);
        let (src, dst) = (dim.src as i64, dim.dst as i64);
        let row = match dim.flow {
            Flow::Flip => Row::Backward,
            Flow::FlipPrefix if dst < 0 => Row::Suffix,
            Flow::FlipPrefix => Row::Prefix,
            Flow::FlipSegments if dst > 0 => Row::Segments,
            _ => return false,
        };
        if dst.abs() != unit || src != dst || dim.lengths != 0 {
            return false;
        }
        if dst < 0 {
            self.src += src * (len - 1);
            self.dst = self.dst.wrapping_add_signed(dst * (len - 1));
        }
        (self.row, self.row_len) = (row, self.unit * dim.len as u64);
        true
    }

    fn take_axis(&mut self, dim: &Dim) {
        let (len, mut src, dst) = (dim.len as u64, dim.src as i64, dim.dst as i64);
        let meaning = match dim.flow {
            Flow::FlipPrefix => Some(Meaning::Lengths),
            Flow::FlipSegments => Some(Meaning::Offsets),
            Flow::Flip => {
                self.src += src * (len as i64 - 1);
                src = -src;
                None
            }
            Flow::Keep => None,
        };
        let descending = dst < 0;
        if descending {
            // Only dimensions with lengths: all others have a positive output stride (rule 3).
            self.dst = self.dst.wrapping_add_signed(dst * (len as i64 - 1));
        }
        if let Some(meaning) = meaning {
            let axis = (len != 1).then_some(self.axes.len());
            let first = if descending { len - 1 } else { 0 };
            self.steps = Some(Steps { axis, meaning, len, first, descending, src, source: 0..len });
            src = 0;
        }
        if len != 1 {
            let lengths = if meaning.is_some() { 0 } else { dim.lengths as i64 };
            self.axes.push(Axis { len, src, dst: dst.unsigned_abs(), lengths });
        }
    }

    /// Grains in a word.
    pub(crate) fn per_word(&self) -> u64 {
        32 / self.grain.bits() as u64
    }

    pub(crate) fn is_high_first(&self) -> bool {
        matches!(self.grain, Grain::Packed { order: BitOrder::HighFirst, .. })
    }

    /// Grains of output from the first to the last, ignoring the `outer` outermost dimensions.
    pub(crate) fn span(&self, outer: usize) -> u64 {
        let row = match &self.tile {
            Some(tile) => (tile.steps - 1) * tile.pitch + self.unit,
            None => self.row_len,
        };
        self.axes[outer..].iter().map(|axis| (axis.len - 1) * axis.dst).sum::<u64>() + row
    }

    /// The grains of the output between its ends.
    pub(crate) fn dst_reach(&self) -> Range<u64> {
        self.dst..self.dst + self.span(0)
    }

    /// The grains of the input between its ends.
    pub(crate) fn src_reach(&self) -> Range<u64> {
        let (mut low, mut high) = (self.src, self.src + self.row_len as i64);
        let mut extend = |count: u64, stride: i64| {
            let by = stride * (count as i64 - 1);
            if by < 0 { low += by } else { high += by }
        };
        self.axes.iter().for_each(|axis| extend(axis.len, axis.src));
        if let Some(steps) = &self.steps {
            extend(steps.source.end - steps.source.start, steps.src);
        }
        low as u64..high as u64
    }

    /// Log2 of the bits of a unit if rows of it are reversed and it is a fraction of a word.
    pub(crate) fn small(&self) -> Option<u32> {
        let bits = self.unit.saturating_mul(self.grain.bits() as u64);
        let is_small = self.row != Row::Forward && bits < 32 && bits.is_power_of_two();
        is_small.then(|| bits.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{Align, DType, Layout, LengthsOperator, Reverse, ReverseSequence, Tail};

    #[test]
    fn a_contiguous_flip_is_a_row_and_another_a_negative_stride() {
        let image = Layout::dense(DType::U8, &[4, 5, 3]).unwrap();
        let shape = Shape::of(&Reverse::axes([1]).plan(&image, &image).unwrap());
        assert_eq!((shape.row, shape.row_len, shape.unit), (Row::Backward, 15, 3));
        assert_eq!(shape.axes, [Axis { len: 4, src: 15, dst: 15, lengths: 0 }]);
        let padded = Layout::strided(DType::U8, &[4, 5, 3], &[20, 3, 1], 0).unwrap();
        let shape = Shape::of(&Reverse::axes([0]).plan(&padded, &padded).unwrap());
        assert_eq!((shape.row, shape.row_len, shape.src), (Row::Forward, 15, 60));
        assert_eq!(shape.axes, [Axis { len: 4, src: -20, dst: 20, lengths: 0 }]);
        assert_eq!((shape.src_reach(), shape.dst_reach()), (0..75, 0..75));
    }

    #[test]
    fn sequences_at_the_end_of_their_rows_are_suffixes() {
        let lanes = Layout::dense(DType::I64, &[4]).unwrap();
        let rows = Layout::dense(DType::F32, &[4, 6]).unwrap();
        let operator = ReverseSequence::new().time_axis(1).batch_axis(0).align(Align::End);
        let shape = Shape::of(&operator.plan(&rows, &lanes, &rows).unwrap());
        assert_eq!((shape.row, shape.row_len, shape.src, shape.dst), (Row::Suffix, 24, 0, 0));
        assert_eq!(shape.axes, [Axis { len: 4, src: 24, dst: 24, lengths: 8 }]);
        assert_eq!(shape.steps, None);
    }

    #[test]
    fn a_prefix_of_one_step_is_no_axis() {
        let lanes = Layout::dense(DType::U8, &[8]).unwrap();
        let layout = Layout::strided(DType::F32, &[8, 1], &[1, 3], 0).unwrap();
        let operator = ReverseSequence::new().time_axis(1).batch_axis(0).tail(Tail::Zero);
        let shape = Shape::of(&operator.plan(&layout, &lanes, &layout).unwrap());
        assert_eq!(shape.steps.map(|steps| (steps.axis, steps.source)), Some((None, 0..1)));
        assert_eq!(shape.axes.len(), 1);
    }
}
