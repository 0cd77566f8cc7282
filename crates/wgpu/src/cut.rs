//! Cuts a shape into pieces that fit the device: what a piece reads and what it writes is each
//! inside one binding. A default limit is 128 MiB, so larger tensors take several dispatches.

use crate::shape::{Axis, Row, Shape, Steps};
use retrograde::Meaning;
use std::ops::Range;

/// What the device can bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// The most bytes.
    pub(crate) most: u64,
    /// What the first byte of a binding must be a multiple of.
    pub(crate) aligned: u64,
}

/// Positions are counted in 32 bits, and those of a workgroup may be beyond the last one.
const MOST_GRAINS: u64 = u32::MAX as u64 - 8192;
/// Parts of a dimension have a multiple of so many steps, so that all begin alike.
const EVEN: u64 = 64;

impl Window {
    /// Of a device that binds so many bytes, from multiples of `aligned` on.
    pub(crate) fn of(most: u64, aligned: u64) -> Self {
        // Positions have 32 bits, and words begin at multiples of 4 of what is bound.
        Window { most: most.min(u64::from(u32::MAX)) / 4 * 4, aligned: aligned.max(4) }
    }

    /// The bytes that must be bound for these grains of a buffer from `offset` on.
    pub(crate) fn bytes(self, reach: &Range<u64>, per_byte: u64, offset: u64) -> Range<u64> {
        let start = (offset + reach.start / per_byte) / self.aligned * self.aligned;
        start..(offset + reach.end.div_ceil(per_byte)).next_multiple_of(4)
    }

    fn holds(self, reach: &Range<u64>, per_byte: u64, offset: u64) -> bool {
        let bytes = self.bytes(reach, per_byte, offset);
        let len = bytes.end - bytes.start;
        len <= self.most && len.saturating_mul(per_byte) <= MOST_GRAINS
    }
}

impl Shape {
    /// Whether both sides fit, in buffers from these bytes on.
    pub(crate) fn fits(&self, window: Window, src: u64, dst: u64) -> bool {
        let per_byte = self.grain.per_byte() as u64;
        window.holds(&self.src_reach(), per_byte, src)
            && window.holds(&self.dst_reach(), per_byte, dst)
    }

    /// The pieces, which must run in order: two of them may write to the same word.
    pub(crate) fn pieces(self, window: Window, src: u64, dst: u64) -> Vec<Shape> {
        let (mut waiting, mut done) = (vec![self], Vec::new());
        while let Some(shape) = waiting.pop() {
            if shape.fits(window, src, dst) {
                done.push(shape);
                continue;
            }
            match shape.clone().halves() {
                Some([first, second]) => waiting.extend([second, first]),
                // One grain: it fits any binding.
                None => done.push(shape),
            }
        }
        done
    }

    /// Two halves along what reaches furthest.
    fn halves(mut self) -> Option<[Shape; 2]> {
        let widest = |shape: &Shape| (0..shape.axes.len()).max_by_key(|&at| shape.reach_of(at));
        let beyond_row = |shape: &Shape, at: &usize| shape.reach_of(*at) >= shape.row_len;
        let by_row = matches!(self.row, Row::Prefix | Row::Suffix | Row::Segments);
        if by_row && widest(&self).filter(|at| beyond_row(&self, at)).is_none() {
            self.loosen_row();
        }
        let source = self.source_reach();
        match widest(&self).filter(|at| beyond_row(&self, at)) {
            Some(at) if self.reach_of(at) >= source => Some(self.halve_axis(at)),
            _ if source >= self.row_len => Some(self.halve_source()),
            _ => self.halve_row(),
        }
    }

    /// How far a dimension reaches, in grains of either side.
    fn reach_of(&self, at: usize) -> u64 {
        let axis = &self.axes[at];
        (axis.len - 1) * axis.dst.max(axis.src.unsigned_abs())
    }

    /// How far the steps reach that lengths choose, in grains of the input.
    fn source_reach(&self) -> u64 {
        self.steps.as_ref().map_or(0, |steps| {
            (steps.source.end - steps.source.start - 1) * steps.src.unsigned_abs()
        })
    }

    fn halve_axis(self, at: usize) -> [Shape; 2] {
        let axis = self.axes[at];
        let low = half(axis.len);
        let mut halves = [self.clone(), self];
        halves[0].set_len(at, low);
        let second = &mut halves[1];
        second.src += axis.src * low as i64;
        second.dst += axis.dst * low;
        if let Some(steps) = &mut second.steps
            && steps.axis == Some(at)
        {
            steps.first = match steps.descending {
                true => steps.first - low,
                false => steps.first + low,
            };
        }
        second.lengths_offset += axis.lengths * low as i64;
        second.set_len(at, axis.len - low);
        halves
    }

    /// Changes a length; a dimension of one step is none.
    fn set_len(&mut self, at: usize, len: u64) {
        self.axes[at].len = len;
        if len > 1 {
            return;
        }
        self.axes.remove(at);
        if let Some(steps) = &mut self.steps {
            steps.axis = match steps.axis {
                Some(axis) if axis == at => None,
                Some(axis) if axis > at => Some(axis - 1),
                axis => axis,
            };
        }
    }

    fn halve_source(self) -> [Shape; 2] {
        let mut halves = [self.clone(), self];
        let [first, second] = &mut halves;
        if let (Some(low), Some(high)) = (&mut first.steps, &mut second.steps) {
            let Range { start, end } = low.source;
            let middle = start + half(end - start);
            (low.source, high.source) = (start..middle, middle..end);
            second.src += high.src * (middle - start) as i64;
        }
        halves
    }

    fn halve_row(self) -> Option<[Shape; 2]> {
        let units = self.row_len / self.unit;
        let low = match self.row {
            Row::Forward if self.row_len > 1 => half(self.row_len),
            Row::Backward if units > 1 => half(units) * self.unit,
            Row::Backward => return Shape { row: Row::Forward, ..self }.halve_row(),
            _ => return None,
        };
        let mut halves = [self.clone(), self];
        let [first, second] = &mut halves;
        let high = second.row_len - low;
        (first.row_len, second.row_len) = (low, high);
        second.dst += low;
        match first.row {
            Row::Backward => first.src += high as i64,
            _ => {
                second.src += low as i64;
                (first.unit, second.unit) = (low, high);
            }
        }
        Some(halves)
    }

    /// Makes a row with lengths a dimension like others, which can be cut.
    fn loosen_row(&mut self) {
        let (len, unit) = (self.row_len / self.unit, self.unit);
        let descending = self.row == Row::Suffix;
        let meaning = match self.row {
            Row::Segments => Meaning::Offsets,
            _ => Meaning::Lengths,
        };
        let (first, src) = match descending {
            true => (len - 1, -(unit as i64)),
            false => (0, unit as i64),
        };
        if descending {
            self.src += unit as i64 * (len as i64 - 1);
        }
        let axis = Some(self.axes.len());
        self.steps = Some(Steps { axis, meaning, len, first, descending, src, source: 0..len });
        self.axes.push(Axis { len, src: 0, dst: unit, lengths: 0 });
        (self.row, self.row_len) = (Row::Forward, unit);
        if len == 1 {
            self.set_len(self.axes.len() - 1, 1);
        }
    }
}

/// About a half, at least 1 and less than `len`.
fn half(len: u64) -> u64 {
    let half = len / 2;
    if half > EVEN { half / EVEN * EVEN } else { half.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSequence};

    const SMALL: Window = Window { most: 1024, aligned: 256 };

    fn pieces_of(shape: &Shape) -> Vec<Shape> {
        let pieces = shape.clone().pieces(SMALL, 0, 0);
        assert!(pieces.iter().all(|piece| piece.fits(SMALL, 0, 0)));
        pieces
    }

    #[test]
    fn what_fits_stays_whole() {
        let layout = Layout::dense(DType::F32, &[8, 8]).unwrap();
        let shape = Shape::of(&Reverse::axes([0]).plan(&layout, &layout).unwrap());
        assert_eq!(pieces_of(&shape), [shape]);
    }

    #[test]
    fn a_flip_is_cut_into_rows_that_are_read_from_the_other_end() {
        let layout = Layout::dense(DType::U8, &[2000]).unwrap();
        let shape = Shape::of(&Reverse::axes([0]).plan(&layout, &layout).unwrap());
        let ends: Vec<_> = pieces_of(&shape).iter().map(|p| (p.src, p.dst, p.row_len)).collect();
        assert_eq!(ends, [(1040, 0, 960), (528, 960, 512), (0, 1472, 528)]);
    }

    #[test]
    fn sequences_along_the_outermost_axis_are_cut_on_both_sides() {
        let lanes = Layout::dense(DType::I64, &[2]).unwrap();
        let layout = Layout::dense(DType::U8, &[1000, 2, 1]).unwrap();
        let plan = ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap();
        let pieces = pieces_of(&Shape::of(&plan));
        let steps = |shape: &Shape| shape.steps.clone().map(|steps| (steps.first, steps.source));
        let cut: Vec<_> = pieces.iter().filter_map(steps).collect();
        assert_eq!(cut.len(), pieces.len());
        assert!(cut.contains(&(0, 0..448)), "{cut:?}");
        assert!(cut.len() > 3, "{cut:?}");
    }
}
