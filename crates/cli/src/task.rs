//! What is to be done: an operator with its arguments, checked against the input.

use crate::args::{Axes, LengthsArgument, Mask, Operation, ReverseArguments};
use crate::load;
use anyhow::{Result, anyhow};
use clap::Args;
use retrograde::{
    Error, ExecuteError, Layout, LengthsOperator, Memory, Operator, Plan, Reversal, Reverse,
    ReverseSequence, ReverseSubsequences, TensorRef, cpu,
};
use retrograde_io::{FilesRead, Tensor};
use retrograde_picture::Movement;

/// An operator and all it needs but the tensor. Lengths have the shape it asks for.
#[derive(Debug)]
pub(crate) enum Task {
    Reverse { operator: Reverse, axes: Vec<usize> },
    Sequence { operator: ReverseSequence, time: usize, batch: usize, lengths: Tensor },
    Subsequences { operator: ReverseSubsequences, axis: usize, lengths: Tensor },
}

impl Task {
    /// Loads the lengths, if there are any, and checks everything against the input.
    /// Files beside that of the lengths that are read too are noted.
    pub(crate) fn prepare<F: Args>(
        operation: &Operation<F>,
        input: &Layout,
        read: &FilesRead,
    ) -> Result<Task> {
        let task = Task::of(operation, input, read)?;
        // Lengths are looked at once, before anything is written.
        task.with_plan(input, input, cpu::check_lengths)?;
        Ok(task)
    }

    fn of<F: Args>(operation: &Operation<F>, input: &Layout, read: &FilesRead) -> Result<Task> {
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
                let lengths = lengths_for(&operator, &arguments.lengths, input, read)?;
                let (time, batch) = (arguments.time_axis, arguments.batch_axis);
                let (time, batch) = (from_start(time, rank), from_start(batch, rank));
                Ok(Task::Sequence { operator, time, batch, lengths })
            }
            Operation::ReverseSubsequences(arguments) => {
                let operator =
                    ReverseSubsequences::along(arguments.axis).policy(arguments.policy.into());
                let lengths = lengths_for(&operator, &arguments.lengths, input, read)?;
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

    /// Lowers the task to a plan between these layouts, and gives it to `body` with the lengths.
    pub(crate) fn with_plan<R>(
        &self,
        src: &Layout,
        dst: &Layout,
        body: impl FnOnce(&Plan, Option<Memory<'_>>) -> Result<R, ExecuteError>,
    ) -> Result<R> {
        let bound = |reversal: &dyn Reversal| {
            let (plan, lengths) = reversal.bind(src, dst)?;
            body(&plan, lengths.as_ref().map(TensorRef::memory))
                .map_err(|source| explain(reversal.explain(source, &lengths)))
        };
        match self {
            Task::Reverse { operator, .. } => bound(operator),
            Task::Sequence { operator, lengths, .. } => bound(&operator.lengths(lengths.view()?)),
            Task::Subsequences { operator, lengths, .. } => {
                bound(&operator.lengths(lengths.view()?))
            }
        }
    }

    /// What moves, for headlines and pictures.
    pub(crate) fn movement(&self) -> Movement {
        match self {
            Task::Reverse { axes, .. } => Movement::Axes(axes.clone()),
            Task::Sequence { time, batch, .. } => Movement::Sequence { time: *time, batch: *batch },
            Task::Subsequences { axis, .. } => Movement::Lanes(*axis),
        }
    }

    /// One of the lengths, by its index among them.
    pub(crate) fn length(&self, at: &[usize]) -> i128 {
        match self {
            Task::Reverse { .. } => 0,
            // The operator has accepted the lengths, so there is one.
            Task::Sequence { lengths, .. } | Task::Subsequences { lengths, .. } => {
                lengths.integer(at).unwrap_or(0)
            }
        }
    }
}

/// The operator, and its axes in order.
fn reverse_along<F: Args>(arguments: &ReverseArguments<F>, rank: usize) -> (Reverse, Vec<usize>) {
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
    read: &FilesRead,
) -> Result<Tensor> {
    let expected = operator.lengths_shape(input.shape())?;
    let lengths = load::lengths(argument, read)?;
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
    // As many elements, in one axis: any shape will do.
    Ok(lengths.reshaped(&expected).unwrap_or(lengths))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;
    use retrograde::{DType, MemoryMut};

    /// Runs the task of this command line on positions; the origins must be those.
    fn agrees(command: &str, shape: &[usize]) {
        let words = ["retrograde"].into_iter().chain(command.split(' '));
        let Command::Operate(operation) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("{command} is no operator");
        };
        let layout = Layout::dense(DType::U32, shape).unwrap();
        let task = Task::prepare(&operation, &layout, &FilesRead::default()).unwrap();
        let positions: Vec<u32> = (0..layout.len() as u32).collect();
        let mut moved = vec![0u32; layout.len()];
        task.with_plan(&layout, &layout, |plan, lengths| {
            cpu::execute(plan, positions[..].into(), lengths, MemoryMut::from(&mut moved[..]))
        })
        .unwrap();
        for (position, &came_from) in moved.iter().enumerate() {
            let mut index = vec![0; shape.len()];
            let mut rest = position;
            for (at, size) in index.iter_mut().zip(shape).rev() {
                (*at, rest) = (rest % size, rest / size);
            }
            let length = task.movement().length_at(&index).map(|at| task.length(&at));
            let origin = task.movement().origin(&index, shape, length);
            let number = origin.iter().zip(shape).fold(0, |sum, (at, size)| sum * size + at);
            assert_eq!(number as u32, came_from, "{command} at {index:?}");
        }
    }

    #[test]
    fn origins_are_where_the_engine_takes_elements_from() {
        agrees("reverse x", &[2, 3, 4]);
        agrees("reverse x --axes -1,0,0", &[2, 3, 4]);
        agrees("reverse x --mask 0,1,0", &[2, 3, 4]);
        agrees("reverse-sequence x --lengths 0,3,1,2", &[3, 4, 2]);
        agrees(
            "reverse-sequence x --lengths 9,1,4 --time-axis=1 --batch-axis=0 --policy=clamp",
            &[3, 4, 2],
        );
        agrees("reverse-subsequences x --axis 1 --lengths 0,1,2,3,9,2", &[2, 3, 3]);
        agrees("reverse-subsequences x --axis=-3 --lengths 0,1,2,3", &[3, 2, 2]);
    }
}
