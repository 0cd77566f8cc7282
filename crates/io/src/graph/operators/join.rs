//! Operators whose result is assembled from parts: Gather and Concat.

use super::super::known::Known;
use super::super::movement::{Part, Workspace, assembled, check_size};
use super::super::numbers;
use super::super::operand::OperandError;
use super::super::view::{self, Span, View, dense_strides};
use super::axes;
use super::slice::all;
use crate::strings::Strings;
use crate::value::Elements;
use bytes::Bytes;
use std::collections::HashMap;

/// Entries of one axis. `shape` is that of the indices, which replaces the axis.
pub(super) fn gather(
    data: &View,
    indices: &[i128],
    shape: &[usize],
    axis: i128,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let axis = axes::axis("axis", 0, axis, data.shape().len())?;
    let runs = runs(indices, data.shape()[axis])?;
    let mut sizes = data.shape().to_vec();
    let spans = |span: Span| {
        let mut spans: Vec<Span> = sizes.iter().map(|&size| all(size)).collect();
        spans[axis] = span;
        data.spans(&spans)
    };
    match (&runs[..], shape) {
        // Entries at equal distances are a view.
        ([(_, span)], [_]) => return Ok(spans(*span)),
        ([(_, span)], []) => {
            let view = spans(*span);
            let left = (0..sizes.len()).filter(|&own| own != axis).map(Some);
            return Ok(view.axes(&left.collect::<Vec<_>>()));
        }
        _ => {}
    }
    let parts: Vec<(usize, View)> = runs.iter().map(|(at, span)| (*at, spans(*span))).collect();
    sizes[axis] = indices.len();
    let strides = dense_strides(&sizes);
    let part = |(at, elements)| Part { elements, offset: at * strides[axis] as usize };
    let parts: Vec<Part> = parts.into_iter().map(part).collect();
    let replaced = [&sizes[..axis], shape, &sizes[axis + 1..]].concat();
    if sizes.contains(&0) {
        return Ok(View::of(view::with_bytes(data.value(), &replaced, Bytes::new())?));
    }
    let joined = assembled(&sizes, &strides, &parts, workspace)?;
    // The same elements in the same order.
    let bytes = View::of(joined.clone()).bytes().clone();
    Ok(View::of(view::with_bytes(&joined, &replaced, bytes)?))
}

/// Indices as runs at equal distances: where each begins in the list, and what it picks.
pub(super) fn runs(indices: &[i128], size: usize) -> Result<Vec<(usize, Span)>, OperandError> {
    let mut runs: Vec<(usize, Span)> = Vec::new();
    for (position, &value) in indices.iter().enumerate() {
        let index = axes::entry("indices", position, value, size)?;
        match runs.last_mut() {
            Some((_, run)) if run.len == 1 => {
                run.step = index as isize - run.start as isize;
                run.len = 2;
            }
            Some((_, run))
                if run.start as isize + run.step * run.len as isize == index as isize =>
            {
                run.len += 1;
            }
            _ => runs.push((position, Span { start: index, len: 1, step: 1 })),
        }
    }
    Ok(runs)
}

pub(super) fn known_gather(
    data: &Known,
    indices: &Known,
    axis: &Known,
) -> Result<Known, OperandError> {
    numbers::check_integers("indices", indices.dtype)?;
    let axis = axis.list("axis")?.map(|list| only(&list)).transpose()?;
    let (Some(dims), Some(axis)) = (&data.dims, axis) else {
        return Ok(Known::new(data.dtype, None));
    };
    let axis = axes::axis("axis", 0, axis, dims.len())?;
    if let (Some(size), Some(value)) = (dims[axis], &indices.value) {
        runs(&numbers::indices("indices", value)?, size)?;
    }
    let Some(shape) = &indices.dims else { return Ok(Known::new(data.dtype, None)) };
    Ok(Known::new(data.dtype, Some([&dims[..axis], shape, &dims[axis + 1..]].concat())))
}

/// The only entry of a list.
pub(super) fn only(list: &[i128]) -> Result<i128, OperandError> {
    match list {
        [axis] => Ok(*axis),
        list => {
            let (argument, shape, expected) = ("axis", vec![list.len()], "one number");
            Err(OperandError::Shape { argument, shape, expected })
        }
    }
}

/// All tensors, one after the other along an axis.
pub(super) fn concat(
    tensors: &[View],
    axis: i64,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let known = |view: &View| Known::of_shape(view.dtype(), view.shape());
    let known: Vec<Known> = tensors.iter().map(known).collect();
    let joined = known_concat(&known.iter().collect::<Vec<_>>(), axis)?;
    let [first, others @ ..] = tensors else { return Err(OperandError::NoRoom { len: 0 }) };
    if others.is_empty() {
        return Ok(first.clone());
    }
    let tensors = &in_one_text(tensors, workspace)?;
    let axis = axes::axis("axis", 0, axis.into(), first.shape().len())?;
    let Some(shape) = joined.shape() else { return Err(OperandError::NoRoom { len: 0 }) };
    if shape.contains(&0) {
        return Ok(View::of(view::with_bytes(first.value(), &shape, Bytes::new())?));
    }
    let strides = dense_strides(&shape);
    let mut at = 0;
    let parts: Vec<Part> = tensors
        .iter()
        .map(|view| {
            let offset = at * strides[axis] as usize;
            at += view.shape()[axis];
            Part { elements: view.clone(), offset }
        })
        .collect();
    Ok(View::of(assembled(&shape, &strides, &parts, workspace)?))
}

/// The same tensors. If they are strings, all are in one text, in which their handles can be mixed.
pub(super) fn in_one_text(
    tensors: &[View],
    workspace: &Workspace<'_>,
) -> Result<Vec<View>, OperandError> {
    let strings = |view: &View| match view.value().elements() {
        Elements::Strings(strings) => Some(strings.clone()),
        Elements::Bytes(_) => None,
    };
    let Some(all) = tensors.iter().map(strings).collect::<Option<Vec<Strings>>>() else {
        return Ok(tensors.to_vec());
    };
    // Each text once, and where it begins.
    let mut starts: HashMap<(*const u8, usize), usize> = HashMap::new();
    let (mut text, mut len) = (Vec::new(), 0usize);
    for own in all.iter().map(Strings::text) {
        starts.entry((own.as_ptr(), own.len())).or_insert_with(|| {
            text.push(own.clone());
            let start = len;
            len = len.saturating_add(own.len());
            start
        });
    }
    if text.len() < 2 {
        return Ok(tensors.to_vec());
    }
    let handles = all.iter().fold(0usize, |sum, own| sum.saturating_add(own.handles().len()));
    check_size(len.saturating_add(handles), workspace)?;
    let text = Bytes::from(text.concat());
    let moved = tensors.iter().zip(&all).map(|(view, own)| {
        let start = starts[&(own.text().as_ptr(), own.text().len())];
        Ok(view.of_strings(own.moved_to(text.clone(), start))?)
    });
    moved.collect()
}

pub(super) fn known_concat(tensors: &[&Known], axis: i64) -> Result<Known, OperandError> {
    let dtype = tensors.iter().find_map(|known| known.dtype);
    for (position, known) in tensors.iter().enumerate() {
        if let (Some(dtype), Some(expected)) = (known.dtype, dtype)
            && dtype != expected
        {
            return Err(OperandError::OtherType { position, dtype, other: 0, expected });
        }
    }
    let Some(rank) = tensors.iter().find_map(|known| known.rank()) else {
        return Ok(Known::new(dtype, None));
    };
    let axis = axes::axis("axis", 0, axis.into(), rank)?;
    // Sizes that are not known are those of the other tensors.
    let mut dims: Vec<Option<usize>> = vec![None; rank];
    let mut total = Some(0usize);
    for (position, known) in tensors.iter().enumerate() {
        let Some(own) = &known.dims else {
            total = None;
            continue;
        };
        let fits = |(at, (own, all)): (usize, (&Option<usize>, &Option<usize>))| {
            at == axis || own.is_none() || all.is_none() || own == all
        };
        if own.len() != rank || !own.iter().zip(&dims).enumerate().all(fits) {
            // With a size that is not known, the error waits until it is.
            let (Some(shape), Some(first)) = (known.shape(), tensors[0].shape()) else {
                return Ok(Known::new(dtype, None));
            };
            return Err(OperandError::Join { position, shape, first, axis });
        }
        dims.iter_mut().zip(own).for_each(|(all, own)| *all = all.or(*own));
        let len = u64::MAX;
        total = match (total, own[axis]) {
            (Some(total), Some(size)) => {
                Some(total.checked_add(size).ok_or(OperandError::TooLarge { len, limit: len })?)
            }
            _ => None,
        };
    }
    dims[axis] = total;
    Ok(Known::new(dtype, Some(dims)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::DType;

    #[test]
    fn indices_are_runs_of_equal_distance() {
        let span = |start, len, step| Span { start, len, step };
        assert_eq!(runs(&[4, 3, 2, 1, 0], 5).unwrap(), [(0, span(4, 5, -1))]);
        assert_eq!(runs(&[-1], 5).unwrap(), [(0, span(4, 1, 1))]);
        assert_eq!(runs(&[2, 2, 2, 0], 5).unwrap(), [(0, span(2, 3, 0)), (3, span(0, 1, 1))]);
        assert_eq!(runs(&[0, 2, 4, 1, 0], 5).unwrap(), [(0, span(0, 3, 2)), (3, span(1, 2, -1))]);
        assert_eq!(runs(&[], 0).unwrap(), []);
        assert_eq!(runs(&[0, 5], 5).unwrap_err().to_string(), "indices[1] is 5, outside [-5, 4]");
        assert_eq!(
            runs(&[0], 0).unwrap_err().to_string(),
            "indices[0] is 0, but the axis is empty"
        );
    }

    #[test]
    fn tensors_are_joined_if_they_fit() {
        let known = |dtype, dims: &[Option<usize>]| Known::new(Some(dtype), Some(dims.to_vec()));
        let joined = |tensors: &[Known], axis| {
            known_concat(&tensors.iter().collect::<Vec<_>>(), axis).map(|known| known.dims.unwrap())
        };
        let u8s = |dims: &[Option<usize>]| known(DType::U8, dims);
        let (two, three) = (Some(2), Some(3));
        assert_eq!(
            joined(&[u8s(&[two, three]), u8s(&[three, None])], 0).unwrap(),
            [Some(5), three]
        );
        assert_eq!(joined(&[u8s(&[two, None]), u8s(&[two, three])], -1).unwrap(), [two, None]);
        let wrong = |tensors: &[Known], axis| joined(tensors, axis).unwrap_err().to_string();
        assert_eq!(
            wrong(&[u8s(&[two, three]), u8s(&[two, two])], 0),
            "input 1 has shape [2, 2], expected [2, 3] as input 0, except on axis 0"
        );
        assert_eq!(
            wrong(&[u8s(&[two]), known(DType::I8, &[two])], 0),
            "input 1 has type i8, expected u8 as input 0"
        );
        assert_eq!(wrong(&[u8s(&[two])], 1), "axis is 1, outside [-1, 0]");
        assert_eq!(wrong(&[u8s(&[])], 0), "axis is 0, but the tensor has no axes");
    }
}
