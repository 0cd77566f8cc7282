//! Columns with a length each: neighbours in the output come from steps far apart, so gathering them
//! reads a word for every element. Instead, some columns at a time become the rows of a temporary
//! buffer, and are columns again when they are written: two transposes, and all reads are
//! contiguous. It works in place too.

use crate::choose::Where;
use crate::shape::{Axis, Row, Shape, Steps};
use retrograde::{Grain, Meaning};

/// Below these, the second dispatch costs more than it saves.
const FEW_STEPS: u64 = 32;
const FEW_BYTES: u64 = 64;
const SMALL_TENSOR: u64 = 4 << 20;
/// Whole words are gathered from a plane that stays in the cache, but not swapped in one.
const CACHED: u64 = 32 << 20;
/// The largest temporary buffer.
const MOST_BYTES: u64 = 128 << 20;
/// Columns are taken in multiples of these.
const TOGETHER: u64 = 128;

/// How a shape is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Columns {
    /// The dimension with lengths.
    time: usize,
    /// Columns at a time.
    lanes: u64,
    /// From a row of the temporary buffer to the next, in bytes.
    pitch: u64,
    /// The size of that buffer.
    pub(crate) bytes: u64,
}

impl Shape {
    /// The columns of a shape, if it has any and this is worthwhile there; in tests of small tensors,
    /// it is for any size, and takes a few columns at a time.
    pub(crate) fn columns(&self, place: Where) -> Option<Columns> {
        let Where { at, small, in_place, .. } = place;
        let steps = self.steps.as_ref().filter(|steps| steps.meaning == Meaning::Lengths)?;
        let (time, lanes) = (steps.axis?, self.axes.last()?);
        let whole = |number: u64| number.is_multiple_of(self.per_word());
        let (others, unit) = (&self.axes[..self.axes.len() - 1], self.unit);
        let is_columns = self.grain == Grain::Byte
            && self.row == Row::Forward
            && (unit.is_power_of_two() && unit <= 4)
            && (lanes.dst == unit && lanes.src == unit as i64 && lanes.lengths != 0);
        let is_aligned = whole(at + self.dst) && others.iter().all(|axis| whole(axis.dst));
        let outside: u64 = others.iter().map(|axis| axis.len).product::<u64>() / steps.len;
        let pitch = (steps.len * unit).next_multiple_of(16);
        let plane = steps.len * steps.src.unsigned_abs();
        let read = if in_place { lanes.len * pitch * outside } else { plane };
        let is_large = steps.len >= FEW_STEPS
            && lanes.len * unit >= FEW_BYTES
            && lanes.len * pitch * outside >= SMALL_TENSOR
            && (unit < 4 || read >= CACHED);
        if !is_columns || !is_aligned || !(small || is_large) {
            return None;
        }
        let lanes_each =
            if small { 4 } else { MOST_BYTES / (pitch * outside) / TOGETHER * TOGETHER };
        let lanes = lanes_each.min(lanes.len);
        (lanes > 0).then(|| Columns { time, lanes, pitch, bytes: lanes * pitch * outside })
    }

    /// What runs in order: pairs of shapes, from the input to the temporary buffer, and from there
    /// to the output.
    pub(crate) fn through(&self, columns: Columns) -> impl Iterator<Item = [Shape; 2]> {
        let lanes = self.axes.last().map_or(0, |axis| axis.len);
        let firsts = (0..lanes).step_by(columns.lanes as usize);
        firsts.filter_map(move |first| {
            let count = columns.lanes.min(lanes - first);
            let steps = self.steps.as_ref()?;
            Some([self.turned(columns, steps, first, count), self.back(columns, first, count)])
        })
    }

    /// Columns from the input to the temporary buffer, in which steps are in the order of the
    /// output's memory.
    fn turned(&self, columns: Columns, steps: &Steps, first: u64, count: u64) -> Shape {
        let unit = self.unit as i64;
        let last = (steps.len as i64 - 1) * steps.src;
        let (begin, by) = if steps.descending { (last, -steps.src) } else { (0, steps.src) };
        let mut axes = self.axes.clone();
        self.stack(&mut axes, columns, count, |axis, stride| axis.dst = stride);
        axes.remove(columns.time);
        axes.push(Axis { len: steps.len, src: by, dst: self.unit, lengths: 0 });
        axes.iter_mut().for_each(|axis| axis.lengths = 0);
        Shape {
            axes,
            steps: None,
            zero: false,
            looks_up: false,
            src: self.src + begin + first as i64 * unit,
            dst: 0,
            lengths_offset: 0,
            ..self.clone()
        }
    }

    /// Columns from the temporary buffer to the output.
    fn back(&self, columns: Columns, first: u64, count: u64) -> Shape {
        let mut shape = self.clone();
        let lengths = self.axes.last().map_or(0, |axis| axis.lengths);
        self.stack(&mut shape.axes, columns, count, |axis, stride| axis.src = stride as i64);
        shape.src = 0;
        if let Some(steps) = &mut shape.steps {
            steps.src = self.unit as i64;
            if steps.descending {
                shape.src = steps.src * (steps.len as i64 - 1);
                steps.src = -steps.src;
            }
        }
        shape.dst += first * self.unit;
        shape.lengths_offset += first as i64 * lengths;
        shape
    }

    /// Sets the strides of the temporary buffer, from the columns outwards.
    fn stack(&self, axes: &mut [Axis], columns: Columns, count: u64, set: impl Fn(&mut Axis, u64)) {
        if let Some(lanes) = axes.last_mut() {
            lanes.len = count;
        }
        let mut stride = columns.pitch;
        for (at, axis) in axes.iter_mut().enumerate().rev() {
            if at != columns.time {
                set(axis, stride);
                stride *= axis.len;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{Align, DType, Layout, LengthsOperator, ReverseSequence, ReverseSubsequences};

    const SMALL: Where = Where { from: 0, at: 0, small: true, in_place: false, shared: false };

    fn sequences(dtype: DType, time: usize, batch: usize, align: Align) -> Shape {
        let layout = Layout::dense(dtype, &[time, batch]).unwrap();
        let lanes = Layout::dense(DType::I64, &[batch]).unwrap();
        Shape::of(&ReverseSequence::new().align(align).plan(&layout, &lanes, &layout).unwrap())
    }

    #[test]
    fn large_tensors_with_a_length_per_column_are_divided_into_columns() {
        let shape = sequences(DType::U8, 4096, 65536, Align::Start);
        let found = shape.columns(Where::default()).unwrap();
        assert_eq!((found.lanes, found.pitch, found.bytes), (32768, 4096, 128 << 20));
        assert_eq!(shape.through(found).count(), 2);
        let small = sequences(DType::U8, 64, 64, Align::Start);
        assert_eq!(small.columns(Where::default()), None);
        let unaligned = sequences(DType::U8, 4096, 65535, Align::Start);
        assert_eq!(unaligned.columns(Where::default()), None);
        assert_eq!(shape.columns(Where { at: 1, ..Where::default() }), None);
    }

    #[test]
    fn planes_of_words_that_stay_in_the_cache_are_divided_in_place_only() {
        let layout = Layout::dense(DType::F32, &[8, 1024, 2048]).unwrap();
        let lanes = Layout::dense(DType::U32, &[8, 1, 2048]).unwrap();
        let plan = ReverseSubsequences::along(1).plan(&layout, &lanes, &layout).unwrap();
        assert_eq!(Shape::of(&plan).columns(Where::default()), None);
        assert!(Shape::of(&plan).columns(Where::IN_PLACE).is_some());
    }

    #[test]
    fn both_ways_are_transposes_with_the_lengths_on_the_way_back() {
        for (align, row) in [(Align::Start, Row::Prefix), (Align::End, Row::Suffix)] {
            let shape = sequences(DType::F16, 100, 10, align);
            let columns = shape.columns(SMALL).unwrap();
            let pairs: Vec<_> = shape.through(columns).collect();
            assert_eq!(pairs.len(), 3);
            let [to, from] = &pairs[1];
            let (to, from) = (to.tiled(0, true).unwrap(), from.tiled(8, true).unwrap());
            assert_eq!((to.row, to.row_len, to.dst_reach()), (Row::Forward, 8, 0..824));
            assert_eq!((from.row, from.row_len, from.src), (row, 200, 0));
            assert_eq!((from.lengths_offset, from.dst_reach().start), (32, 8));
        }
    }

    #[test]
    fn dimensions_outside_are_stacked_in_the_temporary_buffer() {
        let layout = Layout::dense(DType::U8, &[3, 8, 4]).unwrap();
        let lanes = Layout::dense(DType::U32, &[3, 1, 4]).unwrap();
        let plan = ReverseSubsequences::along(1).plan(&layout, &lanes, &layout).unwrap();
        let shape = Shape::of(&plan);
        let columns = shape.columns(SMALL).unwrap();
        assert_eq!((columns.lanes, columns.pitch, columns.bytes), (4, 16, 192));
        let [to, from] = shape.through(columns).next().unwrap();
        let strides: Vec<_> = to.axes.iter().map(|axis| (axis.len, axis.src, axis.dst)).collect();
        assert_eq!(strides, [(3, 32, 64), (4, 1, 16), (8, 4, 1)]);
        let strides: Vec<_> = from.axes.iter().map(|axis| (axis.len, axis.src, axis.dst)).collect();
        assert_eq!(strides, [(3, 64, 32), (8, 0, 4), (4, 16, 1)]);
    }
}
