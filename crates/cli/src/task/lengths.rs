//! Lengths in the shape that an operator expects, axes from the start, and hints for errors about them.

use crate::load;
use anyhow::{Result, anyhow, bail};
use retrograde::{Error, Layout, LengthsOperator};
use retrograde_io::{FilesRead, Format, Tensor};
use retrograde_program::lists::LengthsArgument;

/// Loads lengths, in the shape that the operator expects. `omitted` is an axis of size 1 that the
/// shape of a tensor may omit.
pub(super) fn lengths_for<O: LengthsOperator>(
    operator: &O,
    argument: &LengthsArgument,
    omitted: Option<usize>,
    input: &Layout,
    read: &FilesRead,
) -> Result<Tensor> {
    let expected = operator.lengths_shape(input.shape())?;
    let lengths = load::lengths("--lengths", argument, read)?;
    // Lists and text: a file without a header would need a type, which lengths cannot be given.
    if lengths.format() == Format::Raw {
        let (got, needed) = (lengths.layout().len(), count(&expected));
        if got != needed && omitted.is_none() {
            // One axis: the error about the shape names it, and the other one.
            operator.plan(input, lengths.layout(), input).map_err(explain)?;
        }
        return listed(operator, lengths, &expected);
    }
    let Some(axis) = omitted else {
        operator.plan(input, lengths.layout(), input).map_err(explain)?;
        return Ok(lengths);
    };
    let mut without = expected.clone();
    without.remove(axis);
    if lengths.shape() == &without[..] {
        return with_shape(lengths, &expected);
    }
    if lengths.shape() != &expected[..] {
        let (name, got) = (O::OPERATOR, lengths.shape());
        bail!("{name}: lengths have shape {got:?}, expected {expected:?} or {without:?}");
    }
    operator.plan(input, lengths.layout(), input)?;
    Ok(lengths)
}

/// A list of lengths, one per lane in row-major order.
fn listed<O: LengthsOperator>(_: &O, lengths: Tensor, expected: &[usize]) -> Result<Tensor> {
    let (got, needed) = (lengths.layout().len(), count(expected));
    if got != needed {
        let (operator, lanes) = (O::OPERATOR, expected.to_vec());
        return Err(Error::LengthsCount { operator, got, expected: needed, lanes }.into());
    }
    with_shape(lengths, expected)
}

/// How many elements a shape has.
pub(super) fn count(shape: &[usize]) -> usize {
    // A product that overflows is more than any file holds; with an empty axis it is zero.
    let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    if shape.contains(&0) { 0 } else { product.unwrap_or(usize::MAX) }
}

/// The index of an element by its place in row-major order.
pub(super) fn index_of(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, size) in index.iter_mut().zip(shape).rev() {
        (*at, place) = (place % size, place / size);
    }
    index
}

/// The same lengths in another shape of as many elements.
fn with_shape(lengths: Tensor, shape: &[usize]) -> Result<Tensor> {
    if let Some(reshaped) = lengths.reshaped(shape) {
        return Ok(reshaped);
    }
    // Column-major: read them one by one. A length beyond 63 bits is beyond every axis.
    let sizes = lengths.shape();
    let value = |place: usize| {
        let index = index_of(place, sizes);
        i64::try_from(lengths.integer(&index).unwrap_or(0)).unwrap_or(i64::MAX)
    };
    let values: Vec<i64> = (0..lengths.layout().len()).map(value).collect();
    let rows = Tensor::from_integers(&values)?.to_native_integers()?;
    Ok(rows.reshaped(shape).unwrap_or(rows))
}

/// This length for each lane.
pub(super) fn whole(lanes: &[usize], length: usize) -> Result<Tensor> {
    let lengths = vec![length as i64; count(lanes)];
    let rows = Tensor::from_integers(&lengths)?.to_native_integers()?;
    Ok(rows.reshaped(lanes).unwrap_or(rows))
}

/// An axis counted from the start; the operator checks that it is within the rank.
pub(crate) fn from_start(axis: i64, rank: usize) -> usize {
    let axis = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
    usize::try_from(axis).unwrap_or(0)
}

/// Adds the option that solves the problem, if there is one.
pub(super) fn explain(error: Error) -> anyhow::Error {
    match &error {
        Error::LengthOutOfRange { value, limit, .. } if *value > *limit as i128 => {
            anyhow!("{error} (--policy clamp would make it {limit})")
        }
        Error::SequenceLengthsShape { got, time_axis, time_size, batch_axis, .. }
            if got[..] == [*time_size] =>
        {
            anyhow!(
                "{error}: did you mean --time-axis {batch_axis} --batch-axis {time_axis}, for a \
                 file in which axis {time_axis} is the batch?"
            )
        }
        Error::TableType { entries: 256, .. } => anyhow!("{error} (raw bytes: --dtype u8)"),
        _ => error.into(),
    }
}
