//! GatherElements: along one axis, each element is picked by its own index.

use super::super::known::Known;
use super::super::movement::{Part, Workspace, assembled, dense};
use super::super::numbers;
use super::super::operand::OperandError;
use super::super::view::{self, Span, View, dense_strides};
use super::axes;
use super::join::runs;
use super::slice::all;
use bytes::Bytes;

/// Checks axis and shapes; sizes that are not known are `None`.
fn check(
    data: &[Option<usize>],
    indices: &[Option<usize>],
    axis: i64,
) -> Result<usize, OperandError> {
    let at = axes::axis("axis", 0, axis.into(), data.len())?;
    let fits = |(own, (one, other)): (usize, (&Option<usize>, &Option<usize>))| {
        own == at || one.is_none() || other.is_none() || other <= one
    };
    if data.len() != indices.len() || !data.iter().zip(indices).enumerate().all(fits) {
        let shape = indices.iter().map(|size| size.unwrap_or(1)).collect();
        let (argument, expected) = ("indices", "the shape of the input, except on the axis");
        return Err(OperandError::Shape { argument, shape, expected });
    }
    Ok(at)
}

pub(super) fn gather(
    data: &View,
    indices: &View,
    axis: i64,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let some = |shape: &[usize]| shape.iter().map(|&size| Some(size)).collect::<Vec<_>>();
    let axis = check(&some(data.shape()), &some(indices.shape()), axis)?;
    let shape = indices.shape().to_vec();
    if shape.contains(&0) {
        return Ok(View::of(view::with_bytes(data.value(), &shape, Bytes::new())?));
    }
    // Indices that are repeated along an axis pick all of it at once.
    let once = |at: usize| at != axis && indices.repeats(at);
    let spans = |at: usize| if once(at) { all(1) } else { all(shape[at]) };
    let distinct = indices.spans(&(0..shape.len()).map(spans).collect::<Vec<_>>());
    // The axis last, so that the indices along it follow each other.
    let outer: Vec<usize> = (0..shape.len()).filter(|&at| at != axis).collect();
    let order: Vec<Option<usize>> = outer.iter().chain([&axis]).map(|&at| Some(at)).collect();
    let list = numbers::indices("indices", &dense(&distinct.axes(&order), workspace)?)?;
    let strides = dense_strides(&shape);
    let mut parts = Vec::new();
    for (lane, indices) in list.chunks_exact(shape[axis]).enumerate() {
        let mut spans: Vec<Span> = shape.iter().map(|&size| all(size)).collect();
        let (mut rest, mut offset) = (lane, 0);
        for &at in outer.iter().rev().filter(|&&at| !once(at)) {
            let start = rest % shape[at];
            rest /= shape[at];
            spans[at] = Span { start, len: 1, step: 1 };
            offset += start * strides[at] as usize;
        }
        for (first, run) in runs(indices, data.shape()[axis])? {
            spans[axis] = run;
            let offset = offset + first * strides[axis] as usize;
            parts.push(Part { elements: data.spans(&spans), offset });
        }
    }
    Ok(View::of(assembled(&shape, &strides, &parts, workspace)?))
}

pub(super) fn known_gather(
    data: &Known,
    indices: &Known,
    axis: i64,
) -> Result<Known, OperandError> {
    if let Some(dtype) = indices.dtype.filter(|&dtype| !numbers::is_integer(dtype)) {
        let (argument, allowed) = ("indices", "an integer type");
        return Err(OperandError::Type { argument, dtype, allowed });
    }
    // With a size that is not known, an error waits until it is.
    if let (Some(_), Some(_), Some(data), Some(indices)) =
        (data.shape(), indices.shape(), &data.dims, &indices.dims)
    {
        check(data, indices, axis)?;
    }
    Ok(Known::new(data.dtype, indices.dims.clone()))
}
