//! Finds dense rows: they follow each other in the output without gaps, so a workgroup can find the
//! rows of its words once, and count in grains of two or four bytes where all of it is a multiple.

use crate::shape::{Row, Shape};
use retrograde::Grain;

/// Log2 of the bytes of a word, which a row has at least.
const WORD: u32 = 2;

impl Shape {
    /// The same as dense rows, if it is that, in buffers whose views begin at these bytes.
    pub(crate) fn dense(&self, src: u64, dst: u64) -> Option<Shape> {
        let is_rows = self.grain == Grain::Byte
            && self.steps.is_none()
            && self.tile.is_none()
            && self.row != Row::Segments
            && self.row_len >= 1 << WORD;
        let mut next = self.row_len;
        let follow_each_other = self.axes.iter().rev().all(|axis| {
            let is_next = axis.dst == next;
            next = next.saturating_mul(axis.len);
            is_next
        });
        if !is_rows || !follow_each_other {
            return None;
        }
        let counted = [self.unit, self.row_len, dst + self.dst, src.wrapping_add_signed(self.src)];
        let strides = self.axes.iter().map(|axis| axis.src.unsigned_abs());
        let bits = counted.into_iter().chain(strides).fold(1 << WORD, |all, number| all | number);
        Some(Shape { dense: Some(bits.trailing_zeros()), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSegments};

    fn flipped(layout: &Layout, axis: i64) -> Shape {
        Shape::of(&Reverse::axes([axis]).plan(layout, layout).unwrap())
    }

    #[test]
    fn grains_are_as_large_as_everything_that_is_counted_allows() {
        let grain = |dtype, shape: &[usize], src, dst| {
            let shape = flipped(&Layout::dense(dtype, shape).unwrap(), -1);
            shape.dense(src, dst).and_then(|shape| shape.dense)
        };
        assert_eq!(grain(DType::U8, &[5, 63], 0, 0), Some(0));
        assert_eq!(grain(DType::U16, &[5, 63], 0, 0), Some(1));
        assert_eq!(grain(DType::U16, &[5, 63], 1, 0), Some(0));
        assert_eq!(grain(DType::U16, &[5, 63], 0, 3), Some(0));
        assert_eq!(grain(DType::F32, &[5, 63], 8, 4), Some(2));
        assert_eq!(grain(DType::F32, &[5, 63], 2, 4), Some(1));
        assert_eq!(grain(DType::C128, &[5, 3], 0, 0), Some(2));
        assert_eq!(grain(DType::U8, &[5, 3], 0, 0), None, "rows are shorter than a word");
        assert_eq!(grain(DType::U4, &[5, 64], 0, 0), None, "grains are smaller than a byte");
    }

    #[test]
    fn rows_with_gaps_and_segments_are_not_dense() {
        let padded = Layout::strided(DType::U8, &[4, 63], &[64, 1], 0).unwrap();
        assert_eq!(flipped(&padded, 1).dense(0, 0), None);
        let rows = Layout::dense(DType::U8, &[2, 4, 63]).unwrap();
        assert!(flipped(&rows, 2).dense(0, 0).is_some());
        assert!(flipped(&rows, 1).dense(0, 0).is_some(), "flipped as a whole");
        let row = Layout::dense(DType::U8, &[64]).unwrap();
        let offsets = Layout::dense(DType::I32, &[3]).unwrap();
        let plan = ReverseSegments::along(0).plan(&row, &offsets, &row).unwrap();
        assert_eq!(Shape::of(&plan).dense(0, 0), None);
    }
}
