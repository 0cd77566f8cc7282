//! Finds the tiles of a shape: a dimension that is contiguous in the input, and another one that is
//! in the output. Gathered word by word, every element would cost a read of its own.

use crate::shape::{Axis, Row, Shape, Tile};
use retrograde::{Grain, Meaning};

/// Tiles with fewer steps, or fewer bytes across lanes, are mostly empty.
const FEW_STEPS: u64 = 16;
const FEW_BYTES: u64 = 32;

impl Shape {
    /// The same as tiles that a workgroup transposes, if it has any and they are worthwhile, in a
    /// buffer of output from byte `at` on; `small` allows tiles that are mostly empty.
    pub(crate) fn tiled(&self, at: u64, small: bool) -> Option<Shape> {
        let whole = |number: u64| number.is_multiple_of(self.per_word());
        let lanes = self.axes.last()?;
        let is_wide = self.unit.is_power_of_two() && self.unit <= 16;
        let is_transposed = self.grain == Grain::Byte
            && self.row == Row::Forward
            && self.row_len == self.unit
            && lanes.dst == self.unit;
        if !is_wide || !is_transposed || !whole(at + self.dst) || lanes.src == self.unit as i64 {
            return None;
        }
        let (y, axis) = self.contiguous()?;
        let shape = self.with_rows(y, axis)?;
        let others = &shape.axes[..shape.axes.len() - 1];
        let tile = shape.tile.as_ref()?;
        let is_aligned = whole(tile.pitch) && others.iter().all(|axis| whole(axis.dst));
        let is_large = tile.steps >= FEW_STEPS && lanes.len * self.unit >= FEW_BYTES;
        (is_aligned && (small || is_large)).then_some(shape)
    }

    /// The dimension that is contiguous in the input; not the last, along which the output is.
    fn contiguous(&self) -> Option<(usize, &Axis)> {
        let unit = self.unit;
        let steps = self.steps.as_ref().and_then(|steps| Some((steps.axis?, steps.src)));
        let mut axes = self.axes.iter().enumerate().take(self.axes.len() - 1);
        axes.find(|&(at, axis)| match steps {
            Some((with_lengths, src)) if with_lengths == at => src.unsigned_abs() == unit,
            _ => axis.src.unsigned_abs() == unit && axis.lengths == 0,
        })
    }

    /// Makes a dimension that is contiguous in the input the rows.
    fn with_rows(&self, y: usize, axis: &Axis) -> Option<Shape> {
        let mut shape = self.clone();
        shape.axes.remove(y);
        let mut tile = Tile { pitch: axis.dst, first: 0, steps: axis.len };
        let unit = self.unit as i64;
        let mut len = axis.len;
        shape.row = match &self.steps {
            None if axis.src > 0 => Row::Forward,
            None => {
                shape.src -= unit * (axis.len as i64 - 1);
                Row::Backward
            }
            // Another dimension has the lengths, or only some steps of the input are read.
            Some(steps) if steps.axis != Some(y) || steps.source != (0..steps.len) => return None,
            Some(steps) => {
                len = steps.len;
                match (steps.descending, steps.src > 0, steps.meaning) {
                    (false, true, Meaning::Lengths) => {
                        tile.first = steps.first;
                        Row::Prefix
                    }
                    (false, true, Meaning::Offsets) => {
                        tile.first = steps.first;
                        Row::Segments
                    }
                    (true, false, Meaning::Lengths) => {
                        tile.first = len - 1 - steps.first;
                        shape.src -= unit * (len as i64 - 1);
                        Row::Suffix
                    }
                    _ => return None,
                }
            }
        };
        (shape.row_len, shape.tile, shape.steps) = (len * self.unit, Some(tile), None);
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{Align, DType, Layout, LengthsOperator, Reverse, ReverseSequence};

    fn transposed(dtype: DType, rows: usize, columns: usize) -> (Layout, Layout) {
        let input = Layout::dense(dtype, &[columns, rows]).unwrap().permuted(&[1, 0]).unwrap();
        (input, Layout::dense(dtype, &[rows, columns]).unwrap())
    }

    fn flipped(dtype: DType, rows: usize, columns: usize, axis: i64) -> Option<Shape> {
        let (input, output) = transposed(dtype, rows, columns);
        Shape::of(&Reverse::axes([axis]).plan(&input, &output).unwrap()).tiled(0, false)
    }

    #[test]
    fn a_transposed_input_has_rows_along_the_axis_that_is_contiguous_there() {
        let shape = flipped(DType::U8, 64, 128, 1).unwrap();
        assert_eq!((shape.row, shape.row_len), (Row::Forward, 64));
        assert_eq!(shape.tile, Some(Tile { pitch: 128, first: 0, steps: 64 }));
        assert_eq!(shape.axes, [Axis { len: 128, src: -64, dst: 1, lengths: 0 }]);
        let shape = flipped(DType::F16, 64, 128, 0).unwrap();
        assert_eq!((shape.row, shape.row_len, shape.src), (Row::Backward, 128, 0));
        assert_eq!((shape.src_reach(), shape.dst_reach()), (0..16384, 0..16384));
    }

    #[test]
    fn tiles_begin_with_words_and_are_not_nearly_empty() {
        assert!(flipped(DType::U8, 64, 126, 1).is_none(), "rows begin inside a word");
        assert!(flipped(DType::F32, 64, 125, 1).is_some());
        assert!(flipped(DType::F32, 3, 128, 1).is_none(), "three steps");
        assert!(flipped(DType::Bytes(3), 64, 128, 1).is_none(), "an odd width");
        let (input, output) = transposed(DType::F32, 64, 64);
        let shape = Shape::of(&Reverse::axes([1]).plan(&input, &output).unwrap());
        assert!(shape.tiled(4, false).is_some());
        assert!(shape.tiled(2, false).is_none());
    }

    #[test]
    fn lengths_along_these_rows_reverse_a_prefix_or_a_suffix() {
        let (input, output) = transposed(DType::F32, 64, 32);
        let lanes = Layout::dense(DType::I64, &[32]).unwrap();
        let row = |align| {
            let operator = ReverseSequence::new().align(align);
            let shape = Shape::of(&operator.plan(&input, &lanes, &output).unwrap());
            shape.tiled(0, false).map(|shape| (shape.row, shape.src))
        };
        assert_eq!(row(Align::Start), Some((Row::Prefix, 0)));
        assert_eq!(row(Align::End), Some((Row::Suffix, 0)));
    }
}
