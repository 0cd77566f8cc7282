//! `Slice` of ONNX, opset 10 and later, as a view of its input: where it starts, and its strides.

use crate::runtime::Failure;
use crate::tensor::{Integers, Sizes};
use retrograde::{DType, Layout, LayoutError};
use smallvec::SmallVec;

/// The operands beside the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) starts: Integers,
    pub(crate) ends: Integers,
    pub(crate) axes: Option<Integers>,
    pub(crate) steps: Option<Integers>,
}

impl Operands {
    /// Reads all of them by their positions among the inputs; the last two may be absent.
    pub(crate) fn read<E>(
        mut read: impl FnMut(usize, &str) -> Result<Option<Integers>, E>,
        missing: impl Fn(&str) -> E,
    ) -> Result<Self, E> {
        Ok(Operands {
            starts: read(1, "starts")?.ok_or_else(|| missing("starts"))?,
            ends: read(2, "ends")?.ok_or_else(|| missing("ends"))?,
            axes: read(3, "axes")?,
            steps: read(4, "steps")?,
        })
    }

    /// What they select of an input of this shape.
    pub(crate) fn view(&self, shape: &[usize]) -> Result<View, Failure> {
        let (axes, steps) = (self.axes.as_deref(), self.steps.as_deref());
        View::new(shape, &self.starts, &self.ends, axes, steps)
    }
}

/// The result of a slice as a view of its dense input, in elements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) shape: Sizes,
    strides: SmallVec<[isize; 8]>,
    offset: usize,
}

impl View {
    /// Resolves the operands by the rules of ONNX: they are clamped to the axis, negative indices
    /// count from the end, and the largest integer as an end is the end in the slice's direction.
    fn new(
        shape: &[usize],
        starts: &[i64],
        ends: &[i64],
        axes: Option<&[i64]>,
        steps: Option<&[i64]>,
    ) -> Result<Self, Failure> {
        let rank = shape.len();
        if rank == 0 {
            return Err(Failure::argument(
                "Slice: the input is a scalar, expected at least one axis",
            ));
        }
        for (name, list) in [("ends", Some(ends)), ("axes", axes), ("steps", steps)] {
            if let Some(list) = list.filter(|list| list.len() != starts.len()) {
                let (starts, other) = (starts.len(), list.len());
                return Err(Failure::argument(format!(
                    "Slice: {name} has {other} entries, expected {starts}, as many as starts"
                )));
            }
        }
        let empty = shape.contains(&0);
        let mut view = View {
            shape: shape.into(),
            // The sizes of an empty tensor need not fit, and nothing is read from it.
            strides: if empty { SmallVec::from_elem(0, rank) } else { dense(shape) },
            offset: 0,
        };
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
        for (entry, (&start, &end)) in starts.iter().zip(ends).enumerate() {
            let asked = axes.map_or(entry as i64, |axes| axes[entry]);
            let axis = if asked < 0 { asked + rank as i64 } else { asked };
            let outside = || {
                let (low, high) = (-(rank as i64), rank as i64 - 1);
                Failure::argument(format!(
                    "Slice: axes[{entry}] is {asked}, outside [{low}, {high}]"
                ))
            };
            let axis =
                usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or_else(outside)?;
            if std::mem::replace(&mut seen[axis], true) {
                return Err(Failure::argument(format!(
                    "Slice: axes[{entry}] is {asked}, which an earlier entry names too"
                )));
            }
            let step = steps.map_or(1, |steps| steps[entry]);
            if step == 0 {
                return Err(Failure::argument(format!("Slice: steps[{entry}] is 0")));
            }
            let (first, count, step) = along(shape[axis], start, end, step);
            view.shape[axis] = count;
            if !empty {
                view.offset = view.offset.wrapping_add_signed(view.strides[axis] * first as isize);
                view.strides[axis] *= step as isize;
            }
        }
        if view.shape.contains(&0) {
            view.offset = 0;
        }
        Ok(view)
    }

    /// The layout of the view over the input's memory.
    pub(crate) fn layout(&self, dtype: DType) -> Result<Layout, LayoutError> {
        Layout::strided(dtype, &self.shape, &self.strides, self.offset)
    }
}

/// Where a slice of one axis starts, how many elements it has, and its step.
fn along(size: usize, start: i64, end: i64, step: i64) -> (usize, usize, i64) {
    if size == 0 {
        return (0, 0, step);
    }
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    // A larger step leaves the axis at once, too, and cannot overflow.
    let step = step.clamp(-size, size);
    let from_end = |index: i64| if index < 0 { index + size } else { index };
    let to_the_end = end == i64::from(i32::MAX) || end == i64::MAX;
    let (first, past, span) = if step < 0 {
        let first = from_end(start).clamp(0, size - 1);
        let past = if to_the_end { -1 } else { from_end(end).clamp(-1, size) };
        (first, past, first - past)
    } else {
        let first = from_end(start).clamp(0, size);
        let past = if to_the_end { size } else { from_end(end).clamp(0, size) };
        (first, past, past - first)
    };
    debug_assert!((-1..=size).contains(&past));
    let stride = step.abs();
    let count = if span <= 0 { 0 } else { (span - 1) / stride + 1 };
    // An empty slice may start behind the last element.
    (if count == 0 { 0 } else { first as usize }, count as usize, step)
}

/// Row-major strides in elements.
fn dense(shape: &[usize]) -> SmallVec<[isize; 8]> {
    let mut strides: SmallVec<[isize; 8]> = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        // The tensor exists, so its elements can be counted.
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a list that a slice takes, by the definition of ONNX.
    fn naive(size: i64, start: i64, end: i64, step: i64) -> Vec<i64> {
        let wrap = |i: i64| if i < 0 { i + size } else { i };
        let last = end == i64::MAX;
        if step > 0 {
            let end = if last { size } else { wrap(end).clamp(0, size) };
            (wrap(start).clamp(0, size)..end).step_by(step as usize).collect()
        } else {
            let end = if last { -1 } else { wrap(end).clamp(-1, size) };
            let mut at = wrap(start).clamp(0, size - 1);
            let mut taken = Vec::new();
            while at > end {
                taken.push(at);
                at += step;
            }
            taken
        }
    }

    #[test]
    fn one_axis_takes_the_elements_of_the_definition() {
        for size in 1..6i64 {
            for start in (-8..8).chain([i64::MIN, i64::MAX]) {
                for end in (-8..8).chain([i64::MIN, i64::MAX]) {
                    for step in [-9, -3, -2, -1, 1, 2, 3, 9] {
                        let (first, count, step_taken) = along(size as usize, start, end, step);
                        let taken: Vec<i64> =
                            (0..count as i64).map(|i| first as i64 + i * step_taken).collect();
                        let wanted = naive(size, start, end, step);
                        assert_eq!(taken, wanted, "{size} [{start}:{end}:{step}]");
                    }
                }
            }
        }
    }

    #[test]
    fn a_reversal_is_a_view_from_its_last_element() {
        let view = View::new(&[2, 3, 4], &[-1, 2], &[i64::MIN, -9], Some(&[1, 2]), Some(&[-1, -2]));
        let view = view.unwrap();
        assert_eq!(view.shape[..], [2, 3, 2]);
        assert_eq!((&view.strides[..], view.offset), (&[12, -4, -2][..], 8 + 2));
        assert!(view.layout(DType::F32).is_ok());
        let empty = View::new(&[0, 3], &[-1], &[i64::MIN], Some(&[1]), Some(&[-1])).unwrap();
        assert_eq!((&empty.shape[..], empty.offset), (&[0, 3][..], 0));
        assert!(empty.layout(DType::F32).is_ok());
    }

    #[test]
    fn wrong_operands_are_named() {
        let text = |result: Result<View, Failure>| match result {
            Err(Failure::Ours(_, text)) => text,
            other => panic!("{other:?}"),
        };
        // The shape, then starts, ends, axes and steps.
        type Case<'a> = (&'a [usize], [&'a [i64]; 4], &'a str);
        let cases: [Case<'_>; 6] = [
            (&[], [&[0], &[1], &[0], &[-1]], "the input is a scalar, expected at least one axis"),
            (
                &[3],
                [&[0], &[1, 2], &[0], &[-1]],
                "ends has 2 entries, expected 1, as many as starts",
            ),
            (
                &[3],
                [&[0], &[1], &[0], &[-1, 1]],
                "steps has 2 entries, expected 1, as many as starts",
            ),
            (&[3], [&[0], &[1], &[1], &[-1]], "axes[0] is 1, outside [-1, 0]"),
            (
                &[3, 2],
                [&[0, 0], &[1, 1], &[1, -1], &[-1, 1]],
                "axes[1] is -1, which an earlier entry names too",
            ),
            (&[3], [&[0], &[1], &[0], &[0]], "steps[0] is 0"),
        ];
        for (shape, [starts, ends, axes, steps], wanted) in cases {
            let error = text(View::new(shape, starts, ends, Some(axes), Some(steps)));
            assert_eq!(error, format!("Slice: {wanted}"));
        }
        let many = View::new(&[3], &[0, 0], &[1, 1], None, None);
        assert_eq!(text(many), "Slice: axes[1] is 1, outside [-1, 0]");
    }
}
