//! GatherElements: along one axis, each element is picked by its own index. GatherND: elements of
//! the first axes are picked by lists of indices.

use super::super::known::Known;
use super::super::movement::{Part, Workspace, assembled, dense};
use super::super::numbers;
use super::super::operand::OperandError;
use super::super::view::{self, Span, View, dense_strides};
use super::axes;
use super::join::runs;
use super::slice::all;
use crate::value::Value;
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
    numbers::check_entries("indices", distinct.shape())?;
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
    numbers::check_integers("indices", indices.dtype)?;
    // With a size that is not known, an error waits until it is.
    if let (Some(_), Some(_), Some(data), Some(indices)) =
        (data.shape(), indices.shape(), &data.dims, &indices.dims)
    {
        check(data, indices, axis)?;
    }
    Ok(Known::new(data.dtype, indices.dims.clone()))
}

/// How many indices each entry of a GatherND has: the size of the last axis.
fn depth(shape: &[usize], rank: usize) -> Result<usize, OperandError> {
    match shape.last() {
        Some(&depth) if (1..=rank).contains(&depth) => Ok(depth),
        _ => {
            let (argument, shape) = ("indices", shape.to_vec());
            let expected = "a last axis with one index for each of the first axes of the input";
            Err(OperandError::Shape { argument, shape, expected })
        }
    }
}

pub(super) fn gather_nd(
    data: &View,
    indices: &Value,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let depth = depth(indices.shape(), data.shape().len())?;
    let outer = &indices.shape()[..indices.shape().len() - 1];
    let shape = [outer, &data.shape()[depth..]].concat();
    let list = numbers::indices("indices", indices)?;
    // Distances from the first element, as runs at equal distances.
    let mut runs: Vec<(usize, isize, isize, usize)> = Vec::new();
    for (entry, indices) in list.chunks_exact(depth).enumerate() {
        let mut place = 0;
        for (axis, &index) in indices.iter().enumerate() {
            let position = entry * depth + axis;
            let index = axes::entry("indices", position, index, data.shape()[axis])?;
            // The place exists, so that nothing overflows.
            place += index as isize * data.strides()[axis];
        }
        match runs.last_mut() {
            Some((_, start, step, count)) if *count == 1 => (*step, *count) = (place - *start, 2),
            Some((_, start, step, count)) if *start + *step * *count as isize == place => {
                *count += 1;
            }
            _ => runs.push((entry, place, 0, 1)),
        }
    }
    let inner = &data.shape()[depth..];
    let rows = [&[list.len() / depth], inner].concat();
    if rows.contains(&0) {
        return Ok(View::of(view::with_bytes(data.value(), &shape, Bytes::new())?));
    }
    let strides = dense_strides(&rows);
    let part = |&(entry, start, step, count): &(usize, isize, isize, usize)| Part {
        elements: data.places(depth, start, step, count),
        offset: entry * strides[0] as usize,
    };
    let parts: Vec<Part> = runs.iter().map(part).collect();
    let joined = assembled(&rows, &strides, &parts, workspace)?;
    let bytes = View::of(joined.clone()).bytes().clone();
    Ok(View::of(view::with_bytes(&joined, &shape, bytes)?))
}

pub(super) fn known_gather_nd(data: &Known, indices: &Known) -> Result<Known, OperandError> {
    numbers::check_integers("indices", indices.dtype)?;
    let (Some(dims), Some(given)) = (&data.dims, &indices.dims) else {
        return Ok(Known::new(data.dtype, None));
    };
    let sizes: Vec<usize> = given.iter().map(|size| size.unwrap_or(1)).collect();
    let depth = depth(&sizes, dims.len())?;
    let dims = match given.last() {
        Some(Some(_)) => Some([&given[..given.len() - 1], &dims[depth..]].concat()),
        _ => None,
    };
    Ok(Known::new(data.dtype, dims))
}
