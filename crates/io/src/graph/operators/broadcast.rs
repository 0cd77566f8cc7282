//! Operators that repeat elements or regroup axes: Expand (OpenVINO: Broadcast) and Reshape.

use super::super::known::Known;
use super::super::movement::{Workspace, dense};
use super::super::operand::OperandError;
use super::super::view::{self, View};
use super::axes::{self, sizes};

/// The shape to which tensors of both shapes can be repeated: axes are matched from the last one,
/// and one of size 1 has the size of the other.
pub(super) fn common(
    argument: &'static str,
    one: &[usize],
    other: &[usize],
) -> Result<Vec<usize>, OperandError> {
    let rank = one.len().max(other.len());
    let size = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis])
    };
    let joined = |axis| match (size(one, axis), size(other, axis)) {
        (one, other) if one == other || other == 1 => Some(one),
        (1, other) => Some(other),
        _ => None,
    };
    let shape: Option<Vec<usize>> = (0..rank).map(joined).collect();
    shape.ok_or_else(|| OperandError::Repeat {
        argument,
        shape: other.to_vec(),
        input: one.to_vec(),
    })
}

/// Repeats a tensor. If `both`, axes of size 1 of the shape are repeated too; otherwise the result
/// must have this shape.
fn target(input: &[usize], shape: &[i128], both: bool) -> Result<Vec<usize>, OperandError> {
    let wanted = sizes(shape)?;
    let joined = common("shape", input, &wanted)?;
    if !both && joined != wanted {
        let (argument, shape, input) = ("shape", wanted, input.to_vec());
        return Err(OperandError::Repeat { argument, shape, input });
    }
    Ok(joined)
}

pub(super) fn expand(data: &View, shape: &[i128], both: bool) -> Result<View, OperandError> {
    Ok(data.repeated(&target(data.shape(), shape, both)?))
}

pub(super) fn known_expand(data: &Known, shape: &Known, both: bool) -> Result<Known, OperandError> {
    let dims = match (data.shape(), shape.list("shape")?) {
        (Some(input), Some(shape)) => Some(target(&input, &shape, both)?),
        (None, Some(shape)) if !both => Some(sizes(&shape)?),
        _ => None,
    };
    Ok(Known::new(data.dtype, dims.map(|dims| dims.into_iter().map(Some).collect())))
}

/// Whether a size of 0 keeps that of the input, and whether it may occur together with -1.
type Zero = (bool, bool);

/// The shape of a Reshape: -1 is what the other sizes leave.
fn reshaped(
    input: &[usize],
    shape: &[i128],
    (zero_keeps, infers_zero): Zero,
) -> Result<Vec<usize>, OperandError> {
    let kept: Vec<i128> = shape
        .iter()
        .enumerate()
        .map(|(axis, &size)| match input.get(axis) {
            Some(&own) if size == 0 && zero_keeps => own as i128,
            _ => size,
        })
        .collect();
    let open = kept.iter().position(|&size| size == -1);
    let known: Vec<i128> = match open {
        Some(open) => [&kept[..open], &kept[open + 1..]].concat(),
        None => kept,
    };
    let mut found = sizes(&known)?;
    let count = |sizes: &[usize]| sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    let (total, part) = (count(input), count(&found));
    if let (Some(open), Some(total), Some(part)) = (open, total, part) {
        found.insert(open, total.checked_div(part).unwrap_or(0));
    }
    let unclear = !infers_zero && shape.contains(&0) && shape.contains(&-1);
    if count(&found) != total || total.is_none() || found.len() != shape.len() || unclear {
        let (input, shape) = (input.to_vec(), shape.to_vec());
        return Err(OperandError::Reshape { input, shape });
    }
    Ok(found)
}

pub(super) fn reshape(
    data: &View,
    shape: &[i128],
    zero: Zero,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let shape = reshaped(data.shape(), shape, zero)?;
    let value = dense(data, workspace)?;
    let bytes = View::of(value.clone()).bytes().clone();
    Ok(View::of(view::with_bytes(&value, &shape, bytes)?))
}

pub(super) fn known_reshape(
    data: &Known,
    shape: &Known,
    zero: Zero,
) -> Result<Known, OperandError> {
    let rank = shape.count();
    let dims = match (data.shape(), shape.list("shape")?) {
        (Some(input), Some(shape)) => {
            let sizes = reshaped(&input, &shape, zero)?;
            Some(sizes.into_iter().map(Some).collect())
        }
        _ => rank.filter(|&rank| rank <= axes::MOST).map(|rank| vec![None; rank]),
    };
    Ok(Known::new(data.dtype, dims))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_matched_from_the_end() {
        assert_eq!(target(&[3, 1], &[2, 1, 4], true).unwrap(), [2, 3, 4]);
        assert_eq!(target(&[3, 1], &[2, 3, 4], false).unwrap(), [2, 3, 4]);
        assert_eq!(target(&[], &[2], false).unwrap(), [2]);
        assert_eq!(target(&[1], &[0], true).unwrap(), [0]);
        let wrong = |input: &[usize], shape: &[i128], both| {
            target(input, shape, both).unwrap_err().to_string()
        };
        assert_eq!(
            wrong(&[3, 1], &[2, 1, 4], false),
            "shape is [2, 1, 4], to which shape [3, 1] cannot be repeated"
        );
        assert_eq!(wrong(&[3], &[2], true), "shape is [2], to which shape [3] cannot be repeated");
        assert!(wrong(&[3], &[-1], true).starts_with("shape[0] is -1, outside [0, "));
    }

    #[test]
    fn elements_are_regrouped_and_none_is_lost() {
        let (keeps, is) = ((true, true), (false, false));
        assert_eq!(reshaped(&[2, 3, 4], &[0, -1], keeps).unwrap(), [2, 12]);
        assert_eq!(reshaped(&[2, 3], &[-1], is).unwrap(), [6]);
        assert_eq!(reshaped(&[1], &[], is).unwrap(), [0usize; 0]);
        assert_eq!(reshaped(&[0, 3], &[3, 0], is).unwrap(), [3, 0]);
        assert_eq!(reshaped(&[0, 3], &[0, -1], (false, true)).unwrap(), [0, 0]);
        assert!(reshaped(&[0, 3], &[0, -1], is).is_err());
        for shape in [&[4][..], &[-1, 4], &[-1, -1], &[0, 6]] {
            assert!(reshaped(&[2, 3], shape, is).is_err(), "{shape:?}");
        }
        assert_eq!(
            reshaped(&[2, 3], &[4], is).unwrap_err().to_string(),
            "shape is [4], which does not fit shape [2, 3] of the input"
        );
    }
}
