//! The task: an operator with its arguments, checked against the input.

use crate::args::{Operation, Plane};
use crate::load;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use retrograde::{
    Error, ExecuteError, Layout, LengthsOperator, Operator, Orient, Orientation, Reversal, Reverse,
    ReverseSegments, ReverseSequence, ReverseSubsequences, cpu::Checked,
};
use retrograde_io::{FilesRead, Format, Tensor};
use retrograde_picture::{Movement, Padding};
use retrograde_program::lists::{LengthsArgument, Mask};
use retrograde_program::operators::{Alignment, AxesArguments, Duplicates, PaddingArguments, Rest};

/// An operator with everything that it needs except the tensor. Lengths have the shape that it
/// expects.
#[derive(Debug)]
pub enum Task {
    /// Whole axes.
    Reverse {
        /// The operator.
        operator: Reverse,
        /// Its axes, from the start and in order.
        axes: Vec<usize>,
    },
    /// A padded batch of sequences.
    Sequence {
        /// The operator.
        operator: ReverseSequence,
        /// The axis that is reversed.
        time: usize,
        /// The axis with one length per entry.
        batch: usize,
        /// Where the padding is.
        padding: Padding,
        /// One length per entry.
        lengths: Tensor,
    },
    /// Each lane by its own length.
    Subsequences {
        /// The operator.
        operator: ReverseSubsequences,
        /// The axis that is reversed.
        axis: usize,
        /// Where the padding is.
        padding: Padding,
        /// One length per lane.
        lengths: Tensor,
    },
    /// Segments of an axis.
    Segments {
        /// The operator.
        operator: ReverseSegments,
        /// The axis that is cut.
        axis: usize,
        /// Where segments start, and the end of the last one.
        offsets: Tensor,
    },
    /// An orientation of images.
    Orient {
        /// The operator.
        operator: Orient,
        /// The axes of rows and columns, from the start.
        axes: [usize; 2],
    },
}

impl Task {
    /// Loads the lengths, if there are any, and checks everything against the input. Other files
    /// that are read for the lengths are added to `read`.
    pub fn prepare<F: Args>(
        operation: &Operation<F>,
        input: &Layout,
        read: &FilesRead,
    ) -> Result<Task> {
        let task = Task::of(operation, input, read)?;
        // Lengths are checked once, before anything is written.
        task.prepared(input, &task.output(input)?, |_| Ok(()))?;
        Ok(task)
    }

    fn of<F: Args>(operation: &Operation<F>, input: &Layout, read: &FilesRead) -> Result<Task> {
        let rank = input.rank();
        match operation {
            Operation::Reverse(arguments) => {
                let (operator, axes) = reverse_along(&arguments.along, rank)?;
                operator.plan(input, input)?;
                Ok(Task::Reverse { operator, axes })
            }
            Operation::ReverseSequence(arguments) => {
                let sequence = arguments.sequence;
                let (time, batch) = (sequence.time_axis, sequence.batch_axis);
                let operator = ReverseSequence::new()
                    .time_axis(time)
                    .batch_axis(batch)
                    .policy(sequence.policy.into())
                    .align(sequence.padding.align.into())
                    .tail(sequence.padding.tail.into());
                let padding = padding_of(sequence.padding);
                let lengths = lengths_for(&operator, &arguments.lengths, None, input, read)?;
                let (time, batch) = (from_start(time, rank), from_start(batch, rank));
                Ok(Task::Sequence { operator, time, batch, padding, lengths })
            }
            Operation::ReverseSubsequences(arguments) => {
                let operator = ReverseSubsequences::along(arguments.axis)
                    .policy(arguments.policy.into())
                    .align(arguments.padding.align.into())
                    .tail(arguments.padding.tail.into());
                let padding = padding_of(arguments.padding);
                let axis = from_start(arguments.axis, rank);
                let lengths = lengths_for(&operator, &arguments.lengths, Some(axis), input, read)?;
                Ok(Task::Subsequences { operator, axis, padding, lengths })
            }
            Operation::ReverseSegments(arguments) => {
                let operator = ReverseSegments::along(arguments.axis);
                let offsets = load::lengths("--offsets", &arguments.offsets, read)?;
                operator.plan(input, offsets.layout(), input)?;
                let axis = from_start(arguments.axis, rank);
                Ok(Task::Segments { operator, axis, offsets })
            }
            Operation::Orient(arguments) => {
                Ok(Task::orient(arguments.orientation, arguments.axes, rank))
            }
            Operation::Rot90(arguments) => {
                Ok(Task::orient(Orientation::from_turns(arguments.k), arguments.axes, rank))
            }
        }
    }

    fn orient(orientation: Orientation, Plane([rows, columns]): Plane, rank: usize) -> Task {
        let axes = [rows, columns].map(|axis| from_start(axis, rank));
        Task::Orient { operator: Orient::new(orientation).axes(rows, columns), axes }
    }

    /// The axes that are swapped, if any.
    pub(crate) fn swapped(&self) -> Option<(usize, usize)> {
        match self {
            Task::Orient { operator, axes: [rows, columns] } => {
                operator.orientation().transposes().then_some((*rows, *columns))
            }
            _ => None,
        }
    }

    /// A layout for the result, with the strides of the input.
    pub fn output(&self, input: &Layout) -> Result<Layout> {
        let Task::Orient { operator, .. } = self else { return Ok(input.clone()) };
        // Checks the axes too.
        let shape = operator.output_shape(input.shape())?;
        Ok(if self.swapped().is_some() {
            Layout::dense(input.dtype(), &shape)?
        } else {
            input.clone()
        })
    }

    /// Which operator it is.
    pub fn operator(&self) -> Operator {
        match self {
            Task::Reverse { .. } => Operator::Reverse,
            Task::Sequence { .. } => Operator::ReverseSequence,
            Task::Subsequences { .. } => Operator::ReverseSubsequences,
            Task::Segments { .. } => Operator::ReverseSegments,
            Task::Orient { .. } => Operator::Orient,
        }
    }

    /// Prepares the call between these layouts, checks all lengths, and gives it to `body`.
    pub fn prepared<R>(
        &self,
        src: &Layout,
        dst: &Layout,
        body: impl FnOnce(Checked<'_>) -> Result<R, ExecuteError>,
    ) -> Result<R> {
        let bound = |reversal: &dyn Reversal<'_>| {
            let prepared = reversal.prepare(src, dst)?;
            let checked = prepared.check().map_err(explain)?;
            body(checked).map_err(|source| explain(prepared.explain(source)))
        };
        match self {
            Task::Reverse { operator, .. } => bound(operator),
            Task::Sequence { operator, lengths, .. } => bound(&operator.lengths(lengths.view()?)),
            Task::Subsequences { operator, lengths, .. } => {
                bound(&operator.lengths(lengths.view()?))
            }
            Task::Segments { operator, offsets, .. } => bound(&operator.offsets(offsets.view()?)),
            Task::Orient { operator, .. } => bound(operator),
        }
    }

    /// What moves, for headlines and pictures.
    pub fn movement(&self) -> Movement {
        match self {
            Task::Reverse { axes, .. } => Movement::Axes(axes.clone()),
            &Task::Sequence { time, batch, padding, .. } => {
                Movement::Sequence { time, batch, padding }
            }
            &Task::Subsequences { axis, padding, .. } => Movement::Lanes { axis, padding },
            Task::Segments { axis, offsets, .. } => {
                // The operator has accepted the offsets, so each is a number of steps.
                let offset = |at| offsets.integer(&[at]).and_then(|value| value.try_into().ok());
                let offsets = (0..offsets.shape()[0]).filter_map(offset).collect();
                Movement::Segments { axis: *axis, offsets }
            }
            Task::Orient { operator, axes } => {
                let orientation = operator.orientation();
                let (transposes, flips) = (orientation.transposes(), orientation.flips());
                let name = format!("orientation {orientation}");
                Movement::Orient { name, axes: *axes, transposes, flips }
            }
        }
    }

    /// One of the lengths, by its index among them.
    pub fn length(&self, at: &[usize]) -> i128 {
        match self {
            Task::Reverse { .. } | Task::Segments { .. } | Task::Orient { .. } => 0,
            // The operator has accepted the lengths, so there is one.
            Task::Sequence { lengths, .. } | Task::Subsequences { lengths, .. } => {
                lengths.integer(at).unwrap_or(0)
            }
        }
    }
}

/// What pictures and headlines say about padding.
fn padding_of(arguments: PaddingArguments) -> Padding {
    Padding { in_front: arguments.align == Alignment::End, zero: arguments.tail == Rest::Zero }
}

/// The operator, and its axes in order.
fn reverse_along(arguments: &AxesArguments, rank: usize) -> Result<(Reverse, Vec<usize>)> {
    Ok(match (&arguments.axes, &arguments.mask) {
        (Some(axes), _) => {
            let axes = axes.numbers()?;
            let mut resolved: Vec<_> = axes.iter().map(|&axis| from_start(axis, rank)).collect();
            resolved.sort_unstable();
            resolved.dedup();
            let operator = Reverse::axes(axes.iter().copied());
            let distinct = arguments.duplicates == Duplicates::Error;
            (if distinct { operator.distinct() } else { operator }, resolved)
        }
        (None, Some(Mask(mask))) => {
            let chosen = (0..mask.len()).filter(|&axis| mask[axis]).collect();
            (Reverse::mask(mask.iter().copied()), chosen)
        }
        (None, None) => (Reverse::all(), (0..rank).collect()),
    })
}

/// Loads lengths, in the shape that the operator expects. `omitted` is an axis of size 1 that the
/// shape of a tensor may omit.
fn lengths_for<O: LengthsOperator>(
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
fn count(shape: &[usize]) -> usize {
    // A product that overflows is more than any file holds; with an empty axis it is zero.
    let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    if shape.contains(&0) { 0 } else { product.unwrap_or(usize::MAX) }
}

/// The same lengths in another shape of as many elements.
fn with_shape(lengths: Tensor, shape: &[usize]) -> Result<Tensor> {
    if let Some(reshaped) = lengths.reshaped(shape) {
        return Ok(reshaped);
    }
    // Column-major: read them one by one. A length beyond 63 bits is beyond every axis.
    let sizes = lengths.shape();
    let value = |mut place: usize| {
        let mut index = vec![0; sizes.len()];
        for (at, size) in index.iter_mut().zip(sizes).rev() {
            (*at, place) = (place % size, place / size);
        }
        i64::try_from(lengths.integer(&index).unwrap_or(0)).unwrap_or(i64::MAX)
    };
    let values: Vec<i64> = (0..lengths.layout().len()).map(value).collect();
    let rows = Tensor::from_integers(&values)?.to_native_integers()?;
    Ok(rows.reshaped(shape).unwrap_or(rows))
}

/// An axis counted from the start; the operator checks that it is within the rank.
pub(crate) fn from_start(axis: i64, rank: usize) -> usize {
    let axis = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
    usize::try_from(axis).unwrap_or(0)
}

/// Adds the option that solves the problem, if there is one.
fn explain(error: Error) -> anyhow::Error {
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
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;
    use retrograde::DType;

    /// Runs the task of this command line on a tensor of indices; the result must match `origin`.
    fn agrees(command: &str, shape: &[usize]) {
        let words = ["retrograde"].into_iter().chain(command.split(' '));
        let Command::Operate(operation) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("{command} is not an operator");
        };
        let layout = Layout::dense(DType::U32, shape).unwrap();
        let task = Task::prepare(&operation, &layout, &FilesRead::default()).unwrap();
        let positions: Vec<u32> = (0..layout.len() as u32).collect();
        let mut moved = vec![0u32; layout.len()];
        let output = task.output(&layout).unwrap();
        task.prepared(&layout, &output, |checked| {
            let mut pieces = checked.pieces(usize::MAX);
            pieces.try_for_each(|piece| piece.execute(&positions, &mut moved))
        })
        .unwrap();
        for (position, &came_from) in moved.iter().enumerate() {
            let mut index = vec![0; shape.len()];
            let mut rest = position;
            for (at, size) in index.iter_mut().zip(output.shape()).rev() {
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
        agrees("reverse-sequence x --lengths 2,0 --time-axis=-1 --batch-axis=0", &[2, 4, 3]);
        agrees("reverse-sequence x --lengths 2,0,1,3 --time-axis 2 --batch-axis 1", &[2, 4, 3]);
        agrees("reverse-subsequences x --axis 1 --lengths 0,1,2,3,9,2", &[2, 3, 3]);
        agrees("reverse-subsequences x --axis=-3 --lengths 0,1,2,3", &[3, 2, 2]);
        agrees("reverse-sequence x --lengths 0,3,1,2 --align end", &[3, 4, 2]);
        agrees("reverse-subsequences x --axis=-3 --lengths 0,1,2,3 --align end", &[3, 2, 2]);
        agrees("reverse-segments x --offsets 0,2,2,5", &[6, 2]);
        agrees("reverse-segments x --offsets 0,2,5 --axis=-1", &[2, 5]);
        for exif in 1..=8 {
            agrees(&format!("orient x --exif {exif}"), &[3, 4]);
            agrees(&format!("orient x --orientation {exif} --axes=-1,0"), &[3, 2, 4]);
        }
        agrees("orient x --orientation mirror", &[3, 4, 2]);
        agrees("rot90 x -k -3 --axes 1,2", &[3, 4, 2]);
    }
}
