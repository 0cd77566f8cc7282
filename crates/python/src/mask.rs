//! A boolean mask of kept steps in place of lengths: each row keeps the first steps of its sequence, or
//! the last ones if sequences are aligned at the end.

use crate::view::Shape;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::Align;

/// How the masks of an operator are read.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    /// The axis of the mask whose entries are the steps of a sequence.
    pub(crate) axis: i64,
    pub(crate) align: Align,
}

/// The lengths in a mask of this shape, a byte for each step in row-major order: their shape, and they.
pub(crate) fn count(
    operator: &str,
    shape: &[usize],
    kept: &[u8],
    steps: Steps,
) -> PyResult<(Shape, Vec<i64>)> {
    let rank = shape.len() as i64;
    let axis = if steps.axis < 0 { steps.axis + rank } else { steps.axis };
    if !(0..rank).contains(&axis) {
        return Err(PyValueError::new_err(format!(
            "{operator}: lengths is a mask of shape {shape:?} without steps, expected them along axis {}",
            steps.axis
        )));
    }
    let axis = axis as usize;
    let (size, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let lanes = shape[..axis].iter().product::<usize>() * inner;
    let mut counts = Vec::with_capacity(lanes);
    for lane in 0..lanes {
        // The place of a step, counted from the end at which the sequence is.
        let place = |step| match steps.align {
            Align::End => size - 1 - step,
            _ => step,
        };
        let first = lane / inner * size * inner + lane % inner;
        let keeps = |step: &usize| kept[first + place(*step) * inner] != 0;
        let length = (0..size).take_while(keeps).count();
        if let Some(stray) = (length..size).find(keeps) {
            let row = row(shape, axis, lane);
            let expected = match steps.align {
                Align::End => "its last steps only (the first ones without align=\"end\")",
                _ => "its first steps only (with align=\"end\", the last ones)",
            };
            return Err(PyValueError::new_err(format!(
                "{operator}: lengths[{row}] keeps step {} and not step {}, expected a row of the mask \
                 to keep {expected}",
                place(stray),
                place(length)
            )));
        }
        counts.push(length as i64);
    }
    let mut left = Shape::from_slice(shape);
    left.remove(axis);
    Ok((left, counts))
}

/// The index of a row, with `:` for its steps.
fn row(shape: &[usize], axis: usize, mut lane: usize) -> String {
    let mut index = vec![String::new(); shape.len()];
    for at in (0..shape.len()).rev() {
        if at == axis {
            index[at] = ":".to_string();
        } else {
            index[at] = (lane % shape[at]).to_string();
            lane /= shape[at];
        }
    }
    index.join(", ")
}

/// The error for a mask that does not fit the tensor, whose steps and sequences are along these axes.
pub(crate) fn wrong_shape(operator: &str, mask: &[usize], expected: &[usize], axes: &str) -> PyErr {
    let transposed = mask.len() == 2 && mask[0] == expected[1] && mask[1] == expected[0];
    let hint = if transposed { ": did you mean the mask's transpose?" } else { "" };
    PyValueError::new_err(format!(
        "{operator}: lengths is a mask of shape {mask:?}, expected {expected:?} ({axes}){hint}"
    ))
}
