//! Slice: a range of each listed axis, with any step.

use super::super::known::Known;
use super::super::operand::OperandError;
use super::super::view::{Span, View};
use super::axes;

/// The lists that define a slice, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Lists {
    pub(in super::super) starts: Vec<i128>,
    pub(in super::super) ends: Vec<i128>,
    /// All axes from the first on, if they are not given.
    pub(in super::super) axes: Option<Vec<i128>>,
    /// All 1, if they are not given.
    pub(in super::super) steps: Option<Vec<i128>>,
}

/// A range of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    axis: usize,
    start: i128,
    end: i128,
    step: i128,
}

impl Lists {
    /// Everything that can be checked without sizes.
    fn ranges(&self, rank: usize) -> Result<Vec<Range>, OperandError> {
        let expected = self.starts.len();
        let counts = [
            ("ends", Some(self.ends.len())),
            ("axes", self.axes.as_ref().map(Vec::len)),
            ("steps", self.steps.as_ref().map(Vec::len)),
        ];
        for (argument, count) in counts {
            check_count(argument, count, ("starts", Some(expected)))?;
        }
        let axes = match &self.axes {
            Some(axes) => axes::distinct("axes", axes, rank)?,
            None if expected > rank => {
                let (argument, other) = ("starts", "the shape of the input");
                let (count, expected) = (expected, rank);
                return Err(OperandError::Count { argument, count, other, expected });
            }
            None => (0..expected).collect(),
        };
        check_steps("steps", self.steps.as_deref().unwrap_or(&[]))?;
        let step = |at: usize| self.steps.as_ref().map_or(1, |steps| steps[at]);
        let range =
            |(at, axis)| Range { axis, start: self.starts[at], end: self.ends[at], step: step(at) };
        Ok(axes.into_iter().enumerate().map(range).collect())
    }
}

/// Checks that a list has as many entries as another one, as far as they are known.
pub(super) fn check_count(
    argument: &'static str,
    count: Option<usize>,
    (other, expected): (&'static str, Option<usize>),
) -> Result<(), OperandError> {
    match (count, expected) {
        (Some(count), Some(expected)) if count != expected => {
            Err(OperandError::Count { argument, count, other, expected })
        }
        _ => Ok(()),
    }
}

/// Lists that an operator has under these names, as long as the first: `None` for one that is
/// omitted, `Some(None)` for one that is not known.
pub(super) fn known_lists<const N: usize>(
    names: [&'static str; N],
    lists: [Option<&Known>; N],
) -> Result<[Option<Option<Vec<i128>>>; N], OperandError> {
    let expected = (names[0], lists[0].and_then(Known::count));
    let mut values = [const { None }; N];
    for ((value, known), argument) in values.iter_mut().zip(lists).zip(names) {
        check_count(argument, known.and_then(Known::count), expected)?;
        *value = known.map(|known| known.list(argument)).transpose()?;
    }
    Ok(values)
}

pub(super) fn check_steps(argument: &'static str, steps: &[i128]) -> Result<(), OperandError> {
    match steps.iter().position(|&step| step == 0) {
        Some(position) => Err(OperandError::ZeroStep { argument, position }),
        None => Ok(()),
    }
}

/// The elements of an axis from `start` to before `end`. Both may count from the end. Positions
/// outside the axis become the nearest one inside; going backwards, an end before the first element
/// includes it.
fn span(start: i128, end: i128, step: i128, size: usize) -> Span {
    let len = size as i128;
    if size == 0 {
        return Span { start: 0, len: 0, step: 1 };
    }
    let from_start = |at: i128| if at < 0 { at.saturating_add(len) } else { at };
    let (start, end) = (from_start(start), from_start(end));
    let (start, end) = match step > 0 {
        true => (start.clamp(0, len), end.clamp(0, len)),
        false => (start.clamp(0, len - 1), end.clamp(-1, len - 1)),
    };
    between(start, end, step)
}

/// From `start` to before `end`; both are positions of the axis, or just outside it.
pub(super) fn between(start: i128, end: i128, step: i128) -> Span {
    let distance = if step > 0 { end - start } else { start - end };
    let stride = step.unsigned_abs() as i128;
    // A step of more than an axis can have elements.
    let stride = if stride <= 0 { i128::MAX } else { stride };
    let count = if distance <= 0 { 0 } else { (distance - 1) / stride + 1 };
    // With two elements or more, the step is less than the size of the axis.
    let step = if count < 2 { 1 } else { step as isize };
    Span { start: if count == 0 { 0 } else { start as usize }, len: count as usize, step }
}

/// All elements of an axis.
pub(super) fn all(size: usize) -> Span {
    Span { start: 0, len: size, step: 1 }
}

pub(super) fn slice(data: &View, lists: &Lists) -> Result<View, OperandError> {
    let mut spans: Vec<Span> = data.shape().iter().map(|&size| all(size)).collect();
    for range in lists.ranges(spans.len())? {
        let size = data.shape()[range.axis];
        spans[range.axis] = span(range.start, range.end, range.step, size);
    }
    Ok(data.spans(&spans))
}

/// `lists` are starts, ends, axes and steps.
pub(super) fn known_slice(data: &Known, lists: [Option<&Known>; 4]) -> Result<Known, OperandError> {
    let values = known_lists(["starts", "ends", "axes", "steps"], lists)?;
    let unknown = |value: &Option<Option<Vec<i128>>>| matches!(value, Some(None));
    let open = values.iter().any(unknown);
    let [starts, ends, axes, steps] = values.map(Option::flatten);
    check_steps("steps", steps.as_deref().unwrap_or(&[]))?;
    let Some(dims) = &data.dims else { return Ok(Known::new(data.dtype, None)) };
    if open {
        if let Some(axes) = &axes {
            axes::distinct("axes", axes, dims.len())?;
        }
        return Ok(Known::new(data.dtype, Some(vec![None; dims.len()])));
    }
    let (starts, ends) = (starts.unwrap_or_default(), ends.unwrap_or_default());
    let mut sizes = dims.clone();
    for range in (Lists { starts, ends, axes, steps }).ranges(dims.len())? {
        let size = dims[range.axis];
        sizes[range.axis] = size.map(|size| span(range.start, range.end, range.step, size).len);
    }
    Ok(Known::new(data.dtype, Some(sizes)))
}

/// No axis is this long.
const LONGEST: i128 = 1 << 62;

/// Whether a range keeps all of an axis, whose size may be unknown.
fn keeps_all(range: &Range, size: Option<usize>) -> bool {
    let Range { start, end, step, .. } = *range;
    match (size, step) {
        (Some(size), _) => {
            let found = span(start, end, step, size);
            found.len == size && (size < 2 || found.step.unsigned_abs() == 1)
        }
        (None, 1) => (start == 0 || start <= -LONGEST) && end >= LONGEST,
        (None, -1) => (start == -1 || start >= LONGEST) && end <= -LONGEST,
        (None, _) => false,
    }
}

/// The axes that a slice reverses, in ascending order; or the first axis of which it keeps a part,
/// or may do so.
pub(in super::super) fn whole(
    lists: &Lists,
    sizes: &[Option<usize>],
) -> Result<Result<Vec<usize>, usize>, OperandError> {
    let ranges = lists.ranges(sizes.len())?;
    if let Some(range) = ranges.iter().find(|range| !keeps_all(range, sizes[range.axis])) {
        return Ok(Err(range.axis));
    }
    let reversed = ranges.iter().filter(|range| range.step < 0);
    let mut axes: Vec<_> = reversed.map(|range| range.axis).collect();
    axes.sort_unstable();
    Ok(Ok(axes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One by one, as the specification describes it.
    fn naive(start: i64, end: i64, step: i64, size: i64) -> Vec<i64> {
        let inside = |at: i64, low: i64, high: i64| {
            let at = if at < 0 { at + size } else { at };
            at.max(low).min(high)
        };
        if size == 0 {
            return vec![];
        }
        let (mut at, end) = match step > 0 {
            true => (inside(start, 0, size), inside(end, 0, size)),
            false => (inside(start, 0, size - 1), inside(end, -1, size - 1)),
        };
        let mut found = vec![];
        while if step > 0 { at < end } else { at > end } {
            found.push(at);
            at += step;
        }
        found
    }

    #[test]
    fn ranges_pick_what_the_specification_says() {
        for size in 0..5 {
            for start in -7..8 {
                for end in -7..8 {
                    for step in [-6, -3, -2, -1, 1, 2, 3, 6] {
                        let found = span(start.into(), end.into(), step.into(), size as usize);
                        let picked = (0..found.len as i64)
                            .map(|at| found.start as i64 + at * found.step as i64);
                        let what = format!("{start}:{end}:{step} of {size}");
                        assert_eq!(
                            picked.collect::<Vec<_>>(),
                            naive(start, end, step, size),
                            "{what}"
                        );
                    }
                }
            }
        }
        let (low, high) = (i64::MIN.into(), i64::MAX.into());
        assert_eq!(span(-1, low, -1, 3), Span { start: 2, len: 3, step: -1 });
        assert_eq!(span(high, low, -1, 3), Span { start: 2, len: 3, step: -1 });
        assert_eq!(span(low, high, high, 3), Span { start: 0, len: 1, step: 1 });
        assert_eq!(span(high, low, low, 3), Span { start: 2, len: 1, step: 1 });
        assert_eq!(span(low, high, i128::MAX, 3).len, 1);
        assert_eq!(span(high, i128::MIN, i128::MIN, 3).len, 1);
    }

    #[test]
    fn slices_that_keep_an_axis_are_told_from_parts() {
        let of = |start: i128, end: i128, step: i128, size: Option<usize>| {
            let (starts, ends, axes, steps) =
                (vec![start], vec![end], Some(vec![-1]), Some(vec![step]));
            whole(&Lists { starts, ends, axes, steps }, &[Some(9), size]).unwrap()
        };
        let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
        for size in [None, Some(0), Some(1), Some(5)] {
            assert_eq!(of(-1, least, -1, size), Ok(vec![1]), "{size:?}");
            assert_eq!(of(-1, -most, -1, size), Ok(vec![1]), "{size:?}");
            assert_eq!(of(most, least, -1, size), Ok(vec![1]), "{size:?}");
            assert_eq!(of(0, most, 1, size), Ok(vec![]), "{size:?}");
        }
        assert_eq!(of(4, -6, -1, Some(5)), Ok(vec![1]));
        assert_eq!(of(4, -6, -1, None), Err(1));
        assert_eq!(of(-1, -6, -1, Some(5)), Ok(vec![1]));
        for (start, end, step) in [(-1, 0, -1), (3, least, -1), (-1, least, -2), (1, most, 1)] {
            assert_eq!(of(start, end, step, Some(5)), Err(1), "{start}:{end}:{step}");
            assert_eq!(of(start, end, step, None), Err(1), "{start}:{end}:{step}");
        }
    }

    #[test]
    fn lists_are_checked_against_each_other_and_the_rank() {
        let lists = |starts: &[i128], ends: &[i128], axes: Option<&[i128]>, steps: &[i128]| Lists {
            starts: starts.to_vec(),
            ends: ends.to_vec(),
            axes: axes.map(<[i128]>::to_vec),
            steps: Some(steps.to_vec()),
        };
        let wrong = |lists: Lists| lists.ranges(2).unwrap_err().to_string();
        assert_eq!(wrong(lists(&[0], &[1, 1], None, &[1])), "ends has 2 entries but starts has 1");
        assert_eq!(wrong(lists(&[0], &[1], None, &[])), "steps has 0 entries but starts has 1");
        assert_eq!(wrong(lists(&[0], &[1], Some(&[2]), &[1])), "axes[0] is 2, outside [-2, 1]");
        assert_eq!(
            wrong(lists(&[0, 0], &[1, 1], Some(&[0, -2]), &[1, 1])),
            "axes[1] is -2, the same axis as axes[0]"
        );
        assert_eq!(
            wrong(lists(&[0, 0], &[1, 1], None, &[1, 0])),
            "steps[1] is 0, expected a positive or a negative step"
        );
        assert_eq!(
            wrong(lists(&[0; 3], &[1; 3], None, &[1; 3])),
            "starts has 3 entries but the shape of the input has 2"
        );
    }
}
