//! OpenVINO's StridedSlice: ranges for the first axes, with masks that ignore an end, insert an
//! axis, remove one, or stand for all that are left.

use super::super::known::Known;
use super::super::op::Masks;
use super::super::operand::OperandError;
use super::super::view::{Span, View};
use super::axes;
use super::slice::{all, between, check_count, check_steps, known_lists};

/// The elements of each axis of the input, and the axes of the result: `None` is a new one.
type Picked = (Vec<Span>, Vec<Option<usize>>);

/// The lists that define a slice.
pub(super) struct Lists {
    pub(super) begin: Vec<i128>,
    pub(super) end: Vec<i128>,
    /// All 1, if they are not given.
    pub(super) strides: Option<Vec<i128>>,
}

fn set(mask: &[bool], at: usize) -> bool {
    mask.get(at).copied().unwrap_or(false)
}

/// An entry of the lists picks elements of an axis, or does something else.
fn picks(masks: &Masks, at: usize) -> bool {
    !set(&masks.new_axis, at) && !set(&masks.ellipsis, at)
}

fn picked(masks: &Masks, lists: &Lists, shape: &[usize]) -> Result<Picked, OperandError> {
    let Lists { begin, end, strides } = lists;
    let expected = ("begin", Some(begin.len()));
    check_count("end", Some(end.len()), expected)?;
    check_count("strides", strides.as_ref().map(Vec::len), expected)?;
    check_steps("strides", strides.as_deref().unwrap_or(&[]))?;
    let (rank, argument) = (shape.len(), "begin");
    let count = (0..begin.len()).filter(|&at| picks(masks, at)).count();
    // Axes that the entries leave; they are where the ellipsis is, or at the end.
    let Some(mut left) = rank.checked_sub(count) else {
        let other = "the shape of the input";
        return Err(OperandError::Count { argument, count, other, expected: rank });
    };
    let mut spans: Vec<Span> = shape.iter().map(|&size| all(size)).collect();
    let (mut order, mut axis) = (Vec::new(), 0);
    for at in 0..begin.len() {
        if set(&masks.ellipsis, at) {
            order.extend((axis..axis + left).map(Some));
            axis += std::mem::take(&mut left);
        } else if set(&masks.new_axis, at) {
            order.push(None);
        } else if set(&masks.shrink_axis, at) {
            let start = axes::entry("begin", at, begin[at], shape[axis])?;
            spans[axis] = Span { start, len: 1, step: 1 };
            axis += 1;
        } else {
            let step = strides.as_ref().map_or(1, |strides| strides[at]);
            let from = (!set(&masks.begin, at)).then(|| begin[at]);
            let to = (!set(&masks.end, at)).then(|| end[at]);
            spans[axis] = range(from, to, step, shape[axis]);
            order.push(Some(axis));
            axis += 1;
        }
    }
    order.extend((axis..rank).map(Some));
    Ok((spans, order))
}

/// A range; `None` is the end of the axis at which it begins or ends.
fn range(start: Option<i128>, end: Option<i128>, step: i128, size: usize) -> Span {
    let len = size as i128;
    // Going backwards, the position before the first element is -1.
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let inside = |at: i128| if at < 0 { at.saturating_add(len) } else { at }.clamp(low, high);
    between(start.map_or(first, inside), end.map_or(last, inside), step)
}

pub(super) fn slice(data: &View, masks: &Masks, lists: &Lists) -> Result<View, OperandError> {
    let (spans, order) = picked(masks, lists, data.shape())?;
    Ok(data.spans(&spans).axes(&order))
}

/// `lists` are begin, end and strides.
pub(super) fn known_slice(
    data: &Known,
    masks: &Masks,
    lists: [Option<&Known>; 3],
) -> Result<Known, OperandError> {
    let [begin, end, strides] = known_lists(["begin", "end", "strides"], lists)?;
    if let Some(Some(strides)) = &strides {
        check_steps("strides", strides)?;
    }
    let (Some(Some(begin)), Some(Some(end)), false) = (begin, end, strides == Some(None)) else {
        return Ok(Known::new(data.dtype, None));
    };
    let Some(shape) = data.shape() else { return Ok(Known::new(data.dtype, None)) };
    let (spans, order) = picked(masks, &Lists { begin, end, strides: strides.flatten() }, &shape)?;
    let size = |axis: Option<usize>| Some(axis.map_or(1, |axis| spans[axis].len));
    Ok(Known::new(data.dtype, Some(order.into_iter().map(size).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_ignore_insert_and_remove() {
        let lists = |begin: &[i128], end: &[i128], strides: &[i128]| Lists {
            begin: begin.to_vec(),
            end: end.to_vec(),
            strides: Some(strides.to_vec()),
        };
        let shape = [2, 3, 4];
        let backwards = Masks { begin: vec![true], end: vec![true], ..Masks::default() };
        let (spans, order) = picked(&backwards, &lists(&[7], &[7], &[-1]), &shape).unwrap();
        assert_eq!(spans, [Span { start: 1, len: 2, step: -1 }, all(3), all(4)]);
        assert_eq!(order, [Some(0), Some(1), Some(2)]);
        // x[-1, newaxis, ..., 3:0:-2]
        let masks = Masks {
            shrink_axis: vec![true],
            new_axis: vec![false, true],
            ellipsis: vec![false, false, true],
            ..Masks::default()
        };
        let (spans, order) =
            picked(&masks, &lists(&[-1, 0, 0, 3], &[0, 0, 0, 0], &[1, 1, 1, -2]), &shape).unwrap();
        assert_eq!(
            spans,
            [Span { start: 1, len: 1, step: 1 }, all(3), Span { start: 3, len: 2, step: -2 }]
        );
        assert_eq!(order, [None, Some(1), Some(2)]);
        let wrong = |masks: &Masks, begin: &[i128], end: &[i128], strides: &[i128]| {
            picked(masks, &lists(begin, end, strides), &shape).unwrap_err().to_string()
        };
        let none = Masks::default();
        assert_eq!(wrong(&none, &[0], &[1, 1], &[1]), "end has 2 entries but begin has 1");
        assert_eq!(
            wrong(&none, &[0; 4], &[1; 4], &[1; 4]),
            "begin has 4 entries but the shape of the input has 3"
        );
        assert_eq!(wrong(&masks, &[2], &[0], &[1]), "begin[0] is 2, outside [-2, 1]");
        assert_eq!(
            wrong(&none, &[0], &[1], &[0]),
            "strides[0] is 0, expected a positive or a negative step"
        );
    }

    #[test]
    fn ranges_stop_at_the_ends() {
        assert_eq!(range(Some(-9), Some(9), 1, 3), all(3));
        assert_eq!(range(Some(-9), Some(9), -1, 3).len, 0);
        assert_eq!(range(Some(9), Some(-9), -1, 3), Span { start: 2, len: 3, step: -1 });
        assert_eq!(range(Some(-9), Some(-99), -1, 3).len, 0);
        assert_eq!(range(None, None, i128::MIN, 3).len, 1);
        assert_eq!(range(None, None, -1, 0).len, 0);
    }
}
