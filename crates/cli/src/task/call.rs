//! An operator with its arguments.

use super::complement;
use super::lengths::{from_start, lengths_for, whole};
use super::mask::Entries;
use crate::args::{Operation, Plane, ReverseComplementArguments};
use crate::load;
use anyhow::Result;
use clap::Args;
use retrograde::{
    Layout, LengthPolicy, LengthsOperator, Operator, Orient, Orientation, Reverse, ReverseSegments,
    ReverseSequence, ReverseSubsequences,
};
use retrograde_io::{FilesRead, Tensor};
use retrograde_picture::Padding;
use retrograde_program::lists::{LengthsArgument, Mask, MaskArgument};
use retrograde_program::operators::{Alignment, AxesArguments, Duplicates, PaddingArguments, Rest};

/// An operator with its arguments. Lengths have the shape that it expects.
#[derive(Debug)]
pub(crate) enum Call {
    /// Whole axes, from the start and in order, and the axis that a mask is for, as it was given.
    Reverse { operator: Reverse, axes: Vec<usize>, batch: i64 },
    /// A padded batch of sequences, with one length per entry.
    Sequence {
        operator: ReverseSequence,
        time: usize,
        batch: usize,
        padding: Padding,
        lengths: Tensor,
    },
    /// Each lane by its own length.
    Subsequences { operator: ReverseSubsequences, axis: usize, padding: Padding, lengths: Tensor },
    /// Segments of an axis: where they start, and the end of the last one.
    Segments { operator: ReverseSegments, axis: usize, offsets: Tensor },
    /// An orientation of images, and the axes of rows and columns, from the start.
    Orient { operator: Orient, axes: [usize; 2] },
}

impl Call {
    pub(super) fn of<F: Args>(
        operation: &Operation<F>,
        input: &Layout,
        read: &FilesRead,
    ) -> Result<Call> {
        let rank = input.rank();
        match operation {
            Operation::Reverse(arguments) => {
                let (operator, axes) = reverse_along(&arguments.along, rank)?;
                operator.plan(input, input)?;
                Ok(Call::Reverse { operator, axes, batch: arguments.batch_axis })
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
                Ok(Call::Sequence { operator, time, batch, padding, lengths })
            }
            Operation::ReverseSubsequences(arguments) => {
                let operator = ReverseSubsequences::along(arguments.axis)
                    .policy(arguments.policy.into())
                    .align(arguments.padding.align.into())
                    .tail(arguments.padding.tail.into());
                let padding = padding_of(arguments.padding);
                let axis = from_start(arguments.axis, rank);
                let lengths = lengths_for(&operator, &arguments.lengths, Some(axis), input, read)?;
                Ok(Call::Subsequences { operator, axis, padding, lengths })
            }
            Operation::ReverseSegments(arguments) => {
                Call::segments(arguments.axis, &arguments.offsets, input, read)
            }
            Operation::ReverseComplement(arguments) => Call::complement(arguments, input, read),
            Operation::Orient(arguments) => {
                Ok(Call::orient(arguments.orientation, arguments.axes, rank))
            }
            Operation::Rot90(arguments) => {
                Ok(Call::orient(Orientation::from_turns(arguments.k), arguments.axes, rank))
            }
        }
    }

    fn segments(
        axis: i64,
        offsets: &LengthsArgument,
        input: &Layout,
        read: &FilesRead,
    ) -> Result<Call> {
        let operator = ReverseSegments::along(axis);
        let offsets = load::lengths("--offsets", offsets, read)?;
        operator.plan(input, offsets.layout(), input)?;
        Ok(Call::Segments { operator, axis: from_start(axis, input.rank()), offsets })
    }

    /// The reversal of `reverse-complement`.
    fn complement<F: Args>(
        arguments: &ReverseComplementArguments<F>,
        input: &Layout,
        read: &FilesRead,
    ) -> Result<Call> {
        let (axis, rank) = (arguments.axis, input.rank());
        complement::check(axis, input)?;
        if let Some(offsets) = &arguments.offsets {
            return Call::segments(axis, offsets, input, read);
        }
        let at = from_start(axis, rank);
        if arguments.lengths.is_none() && arguments.only.mask.is_none() {
            return Ok(Call::Reverse { operator: Reverse::axes([axis]), axes: vec![at], batch: 0 });
        }
        let operator = ReverseSubsequences::along(axis).policy(LengthPolicy::Strict);
        let lengths = match &arguments.lengths {
            Some(lengths) => lengths_for(&operator, lengths, Some(at), input, read)?,
            None => whole(&operator.lengths_shape(input.shape())?, input.shape()[at])?,
        };
        Ok(Call::Subsequences { operator, axis: at, padding: Padding::default(), lengths })
    }

    fn orient(orientation: Orientation, Plane([rows, columns]): Plane, rank: usize) -> Call {
        let axes = [rows, columns].map(|axis| from_start(axis, rank));
        Call::Orient { operator: Orient::new(orientation).axes(rows, columns), axes }
    }

    /// Loads a mask for a tensor of this shape.
    pub(super) fn entries(
        &self,
        mask: &MaskArgument,
        shape: &[usize],
        read: &FilesRead,
    ) -> Result<Entries> {
        let load =
            |operator, lanes: &[usize], axis| Entries::load(operator, mask, lanes, axis, read);
        match self {
            Call::Reverse { operator, batch, .. } => {
                let lanes = operator.clone().batch(*batch).lengths_shape(shape)?;
                load(Operator::Reverse, &lanes, None)
            }
            Call::Sequence { lengths, .. } => {
                load(Operator::ReverseSequence, lengths.shape(), None)
            }
            Call::Subsequences { axis, lengths, .. } => {
                load(Operator::ReverseSubsequences, lengths.shape(), Some(*axis))
            }
            Call::Segments { offsets, .. } => {
                load(Operator::ReverseSegments, &[offsets.shape()[0] - 1], None)
            }
            // No arguments for them have a mask.
            Call::Orient { .. } => load(Operator::Orient, &[], None),
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
