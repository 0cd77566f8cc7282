//! Operators that only rename axes: Transpose, Squeeze, Unsqueeze. And axes themselves, which may
//! count from the end.

use super::super::known::Known;
use super::super::operand::OperandError;
use super::super::view::View;

/// The most axes of a result.
pub(super) const MOST: usize = 64;

/// The axis that an entry of a list names.
pub(in super::super) fn axis(
    argument: &'static str,
    position: usize,
    value: i128,
    rank: usize,
) -> Result<usize, OperandError> {
    place(argument, position, value, (rank, "the tensor has no axes"))
}

/// The place among `size` that an entry of a list names; it may count from the end. `none` says that
/// there is no place.
pub(super) fn place(
    argument: &'static str,
    position: usize,
    value: i128,
    (size, none): (usize, &'static str),
) -> Result<usize, OperandError> {
    let len = size as i128;
    if size == 0 {
        return Err(OperandError::Nothing { argument, position, value, what: none });
    }
    if !(-len..len).contains(&value) {
        let (low, high) = (-len, len - 1);
        return Err(OperandError::Outside { argument, position, value, low, high });
    }
    Ok(value.rem_euclid(len) as usize)
}

/// The same for the entries of an axis.
pub(super) fn entry(
    argument: &'static str,
    position: usize,
    value: i128,
    size: usize,
) -> Result<usize, OperandError> {
    place(argument, position, value, (size, "the axis is empty"))
}

/// The axes that a list names, each at most once.
pub(super) fn distinct(
    argument: &'static str,
    values: &[i128],
    rank: usize,
) -> Result<Vec<usize>, OperandError> {
    // The index of the entry that named an axis first.
    let mut named = vec![None; rank];
    let mut axes = Vec::new();
    for (position, &value) in values.iter().enumerate() {
        let axis = axis(argument, position, value, rank)?;
        if let Some(first) = named[axis].replace(position) {
            return Err(OperandError::Twice { argument, position, value, first });
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// Sizes of a result that an operand names.
pub(super) fn sizes(shape: &[i128]) -> Result<Vec<usize>, OperandError> {
    let argument = "shape";
    let mut sizes = Vec::with_capacity(shape.len());
    for (position, &value) in shape.iter().enumerate() {
        let size = usize::try_from(value).ok().filter(|&size| size <= isize::MAX as usize);
        let (low, high) = (0, isize::MAX as i128);
        let outside = OperandError::Outside { argument, position, value, low, high };
        sizes.push(size.ok_or(outside)?);
    }
    Ok(sizes)
}

/// The order of the axes of a Transpose; reversed if there is none.
pub(super) fn order(
    argument: &'static str,
    order: Option<&[i128]>,
    rank: usize,
) -> Result<Vec<usize>, OperandError> {
    let Some(order) = order else { return Ok((0..rank).rev().collect()) };
    if order.len() != rank {
        let (count, other) = (order.len(), "the shape of the input");
        return Err(OperandError::Count { argument, count, other, expected: rank });
    }
    distinct(argument, order, rank)
}

/// The axes that a Squeeze leaves: all but those of size 1, or all but those that are listed, whose
/// size must be 1 unless it `skips` others. A size that is not known counts as 1.
pub(super) fn squeezed(
    listed: Option<&[i128]>,
    skips: bool,
    dims: &[Option<usize>],
) -> Result<Vec<usize>, OperandError> {
    let one = |axis: usize| dims[axis].is_none_or(|size| size == 1);
    let all = 0..dims.len();
    let Some(listed) = listed else { return Ok(all.filter(|&axis| !one(axis)).collect()) };
    let mut gone = vec![false; dims.len()];
    for (position, &value) in listed.iter().enumerate() {
        let axis = axis("axes", position, value, dims.len())?;
        match dims[axis] {
            Some(size) if size != 1 && !skips => {
                return Err(OperandError::NotOne { argument: "axes", position, axis, size });
            }
            _ => gone[axis] = one(axis),
        }
    }
    Ok(all.filter(|&axis| !gone[axis]).collect())
}

/// The axes of an Unsqueeze: those of the input in order, and `None` where one is inserted.
pub(super) fn unsqueezed(listed: &[i128], rank: usize) -> Result<Vec<Option<usize>>, OperandError> {
    let mut order = vec![Some(0); rank + listed.len()];
    for axis in distinct("axes", listed, order.len())? {
        order[axis] = None;
    }
    order.iter_mut().flatten().enumerate().for_each(|(axis, place)| *place = axis);
    Ok(order)
}

pub(super) fn transpose(
    data: &View,
    argument: &'static str,
    listed: Option<&[i128]>,
) -> Result<View, OperandError> {
    let order = order(argument, listed, data.shape().len())?;
    Ok(data.axes(&order.into_iter().map(Some).collect::<Vec<_>>()))
}

pub(super) fn squeeze(
    data: &View,
    listed: Option<&[i128]>,
    skips: bool,
) -> Result<View, OperandError> {
    let dims: Vec<_> = data.shape().iter().map(|&size| Some(size)).collect();
    let left = squeezed(listed, skips, &dims)?;
    Ok(data.axes(&left.into_iter().map(Some).collect::<Vec<_>>()))
}

pub(super) fn unsqueeze(data: &View, listed: &[i128]) -> Result<View, OperandError> {
    Ok(data.axes(&unsqueezed(listed, data.shape().len())?))
}

pub(super) fn known_transpose(
    data: &Known,
    argument: &'static str,
    order_of: Option<&Known>,
) -> Result<Known, OperandError> {
    let listed = order_of.map(|known| known.list(argument)).transpose()?;
    let unknown = matches!(listed, Some(None));
    let listed = listed.flatten().filter(|list| !list.is_empty() || data.rank() == Some(0));
    let Some(dims) = &data.dims else { return Ok(Known::new(data.dtype, None)) };
    if unknown {
        return Ok(Known::new(data.dtype, Some(vec![None; dims.len()])));
    }
    let order = order(argument, listed.as_deref(), dims.len())?;
    Ok(Known::new(data.dtype, Some(order.into_iter().map(|axis| dims[axis]).collect())))
}

pub(super) fn known_squeeze(
    data: &Known,
    axes: Option<&Known>,
    skips: bool,
) -> Result<Known, OperandError> {
    let listed = axes.map(|axes| axes.list("axes")).transpose()?;
    let Some(dims) = &data.dims else { return Ok(Known::new(data.dtype, None)) };
    // Which axes have size 1 may not be known.
    let open = dims.contains(&None) && (skips || listed.is_none());
    let left = match &listed {
        Some(None) => None,
        Some(Some(list)) => Some(squeezed(Some(list), skips, dims)?),
        None => Some(squeezed(None, skips, dims)?),
    };
    let left = left.filter(|_| !open);
    Ok(Known::new(data.dtype, left.map(|left| left.into_iter().map(|axis| dims[axis]).collect())))
}

pub(super) fn known_unsqueeze(data: &Known, axes: &Known) -> Result<Known, OperandError> {
    let listed = axes.list("axes")?;
    let (Some(dims), Some(listed)) = (&data.dims, listed) else {
        return Ok(Known::new(data.dtype, None));
    };
    let order = unsqueezed(&listed, dims.len())?;
    let dims = order.into_iter().map(|axis| axis.map_or(Some(1), |axis| dims[axis])).collect();
    Ok(Known::new(data.dtype, Some(dims)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_count_from_both_ends_and_occur_once() {
        assert_eq!(distinct("axes", &[0, -1], 3).unwrap(), [0, 2]);
        let wrong = |values: &[i128], rank| distinct("axes", values, rank).unwrap_err().to_string();
        assert_eq!(wrong(&[0, 3], 3), "axes[1] is 3, outside [-3, 2]");
        assert_eq!(wrong(&[-4], 3), "axes[0] is -4, outside [-3, 2]");
        assert_eq!(wrong(&[1, 0, -2], 3), "axes[2] is -2, the same axis as axes[0]");
        assert_eq!(wrong(&[0], 0), "axes[0] is 0, but the tensor has no axes");
        assert_eq!(wrong(&[i128::MIN], 2), format!("axes[0] is {}, outside [-2, 1]", i128::MIN));
    }

    #[test]
    fn orders_are_permutations() {
        assert_eq!(order("perm", None, 3).unwrap(), [2, 1, 0]);
        assert_eq!(order("perm", Some(&[1, 0, -1]), 3).unwrap(), [1, 0, 2]);
        assert!(order("perm", Some(&[]), 0).unwrap().is_empty());
        assert_eq!(
            order("perm", Some(&[0]), 2).unwrap_err().to_string(),
            "perm has 1 entries but the shape of the input has 2"
        );
    }

    #[test]
    fn axes_of_size_one_come_and_go() {
        let dims = [Some(1), Some(3), None, Some(1)];
        assert_eq!(squeezed(None, false, &dims).unwrap(), [1]);
        assert_eq!(squeezed(Some(&[0, -2]), false, &dims).unwrap(), [1, 3]);
        assert_eq!(squeezed(Some(&[0, 0]), false, &dims).unwrap(), [1, 2, 3]);
        assert_eq!(squeezed(Some(&[0, 1]), true, &dims).unwrap(), [1, 2, 3]);
        assert_eq!(
            squeezed(Some(&[0, 1]), false, &dims).unwrap_err().to_string(),
            "axes[1] is axis 1, which has size 3, expected 1"
        );
        assert_eq!(unsqueezed(&[0, -1], 2).unwrap(), [None, Some(0), Some(1), None]);
        assert_eq!(unsqueezed(&[], 1).unwrap(), [Some(0)]);
        assert_eq!(unsqueezed(&[3], 2).unwrap_err().to_string(), "axes[0] is 3, outside [-3, 2]");
    }
}
