//! What is to be done: an operator with its arguments, checked against the input.

use crate::args::{Axes, LengthsArgument, Mask, Operation, ReverseArguments};
use crate::load;
use anyhow::{Result, anyhow};
use retrograde::{
    Error, Layout, LengthsOperator, Operator, Reversal, Reverse, ReverseSequence,
    ReverseSubsequences, TensorMut, TensorRef,
};
use retrograde_io::npy::NpyArray;

/// An operator and all it needs but the tensor. Lengths have the shape it asks for.
#[derive(Debug)]
pub(crate) enum Task {
    Reverse { operator: Reverse, axes: Vec<usize> },
    Sequence { operator: ReverseSequence, time: usize, batch: usize, lengths: NpyArray },
    Subsequences { operator: ReverseSubsequences, axis: usize, lengths: NpyArray },
}

impl Task {
    /// Loads the lengths, if there are any, and checks everything against the input.
    pub(crate) fn prepare(operation: &Operation, input: &Layout) -> Result<Task> {
        let rank = input.rank();
        match operation {
            Operation::Reverse(arguments) => {
                let (operator, axes) = reverse_along(arguments, rank);
                operator.plan(input, input)?;
                Ok(Task::Reverse { operator, axes })
            }
            Operation::ReverseSequence(arguments) => {
                let operator = ReverseSequence::new()
                    .time_axis(arguments.time_axis)
                    .batch_axis(arguments.batch_axis)
                    .policy(arguments.policy.into());
                let lengths = lengths_for(&operator, &arguments.lengths, input)?;
                let (time, batch) = (arguments.time_axis, arguments.batch_axis);
                let (time, batch) = (from_start(time, rank), from_start(batch, rank));
                Ok(Task::Sequence { operator, time, batch, lengths })
            }
            Operation::ReverseSubsequences(arguments) => {
                let operator =
                    ReverseSubsequences::along(arguments.axis).policy(arguments.policy.into());
                let lengths = lengths_for(&operator, &arguments.lengths, input)?;
                let axis = from_start(arguments.axis, rank);
                Ok(Task::Subsequences { operator, axis, lengths })
            }
        }
    }

    /// Which operator it is.
    pub(crate) fn operator(&self) -> Operator {
        match self {
            Task::Reverse { .. } => Operator::Reverse,
            Task::Sequence { .. } => Operator::ReverseSequence,
            Task::Subsequences { .. } => Operator::ReverseSubsequences,
        }
    }

    /// A tensor like the input, in the same memory order, with its elements reversed.
    pub(crate) fn reverse(&self, input: &NpyArray) -> Result<NpyArray> {
        let mut output = input.zeros_like();
        self.run(&input.view()?, &mut output.view_mut()?).map_err(explain)?;
        Ok(output)
    }

    /// Runs the operator on any tensor of the input's shape.
    pub(crate) fn run(&self, src: &TensorRef<'_>, dst: &mut TensorMut<'_>) -> Result<(), Error> {
        match self {
            Task::Reverse { operator, .. } => operator.run(src, dst),
            Task::Sequence { operator, lengths, .. } => {
                operator.lengths(lengths.view()?).run(src, dst)
            }
            Task::Subsequences { operator, lengths, .. } => {
                operator.lengths(lengths.view()?).run(src, dst)
            }
        }
    }

    /// The lengths, as each element of the input meets them.
    pub(crate) fn lanes(&self) -> Option<Lanes<'_>> {
        match self {
            Task::Reverse { .. } => None,
            Task::Sequence { time, batch, lengths, .. } => {
                Some(Lanes { axis: *time, batch: Some(*batch), lengths })
            }
            Task::Subsequences { axis, lengths, .. } => {
                Some(Lanes { axis: *axis, batch: None, lengths })
            }
        }
    }
}

/// Which length is whose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<'a> {
    /// The axis that is reversed.
    axis: usize,
    /// The only axis that lengths vary over, or else all but the reversed one.
    batch: Option<usize>,
    lengths: &'a NpyArray,
}

impl Lanes<'_> {
    /// Whether the length may differ between two elements that differ along this axis only.
    pub(crate) fn vary_over(&self, axis: usize) -> bool {
        match self.batch {
            Some(batch) => axis == batch,
            None => axis != self.axis,
        }
    }

    /// The length of the lane that this element of the input lies in.
    pub(crate) fn length(&self, index: &[usize]) -> i128 {
        let at = match self.batch {
            Some(batch) => vec![index[batch]],
            None => {
                let mut at = index.to_vec();
                at[self.axis] = 0;
                at
            }
        };
        // The operator has accepted the lengths, so there is one.
        self.lengths.integer(&at).unwrap_or(0)
    }

    /// Whether this element lies beyond the length of its lane, where nothing moves.
    pub(crate) fn is_padding(&self, index: &[usize]) -> bool {
        index[self.axis] as i128 >= self.length(index)
    }
}

/// The operator, and its axes in order.
fn reverse_along(arguments: &ReverseArguments, rank: usize) -> (Reverse, Vec<usize>) {
    match (&arguments.axes, &arguments.mask) {
        (Some(Axes(axes)), _) => {
            let mut resolved: Vec<_> = axes.iter().map(|&axis| from_start(axis, rank)).collect();
            resolved.sort_unstable();
            resolved.dedup();
            (Reverse::axes(axes.iter().copied()), resolved)
        }
        (None, Some(Mask(mask))) => {
            let chosen = (0..mask.len()).filter(|&axis| mask[axis]).collect();
            (Reverse::mask(mask.iter().copied()), chosen)
        }
        (None, None) => (Reverse::all(), (0..rank).collect()),
    }
}

/// Loads lengths and gives flat ones the shape that the operator asks for.
fn lengths_for<O: LengthsOperator>(
    operator: &O,
    argument: &LengthsArgument,
    input: &Layout,
) -> Result<NpyArray> {
    let expected = operator.lengths_shape(input.shape())?;
    let lengths = load::lengths(argument)?;
    if lengths.shape().len() != 1 {
        operator.plan(input, lengths.layout(), input)?;
        return Ok(lengths);
    }
    let got = lengths.shape()[0];
    // A product that overflows is more than any file has; with an empty axis it is nothing.
    let product = expected.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let needed = if expected.contains(&0) { 0 } else { product.unwrap_or(usize::MAX) };
    if got != needed {
        let (operator, lanes) = (O::OPERATOR, expected.to_vec());
        return Err(Error::LengthsCount { operator, got, expected: needed, lanes }.into());
    }
    Ok(NpyArray::new(lengths.descr().as_str(), &expected, false, lengths.data().to_vec())?)
}

/// An axis counted from the start; the operator has found it to be inside the rank, or will.
fn from_start(axis: i64, rank: usize) -> usize {
    let axis = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
    usize::try_from(axis).unwrap_or(0)
}

/// Adds what to do about it, where there is an option for that.
fn explain(error: Error) -> anyhow::Error {
    match &error {
        Error::LengthOutOfRange { value, limit, .. } if *value > *limit as i128 => {
            anyhow!("{error} (--policy clamp takes it as {limit})")
        }
        _ => error.into(),
    }
}
