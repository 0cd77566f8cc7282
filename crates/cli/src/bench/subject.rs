//! The operation that is measured: an operator with its lengths.

use crate::args::{BenchArguments, Op};
use crate::task::from_start;
use anyhow::Result;
use retrograde::{
    Layout, LengthsOperator, Operator, Reversal, Reverse, ReverseSegments, ReverseSequence,
    ReverseSubsequences,
};
use retrograde_program::lists::Axes;
use std::num::NonZeroUsize;

/// An operator, with lengths if it takes them.
#[derive(Debug)]
pub(super) enum Subject {
    Reverse(Reverse, Vec<i64>),
    Sequence { operator: ReverseSequence, time: i64, batch: i64, lengths: Vec<i64> },
    Subsequences { operator: ReverseSubsequences, axis: i64, lengths: Vec<i64> },
    Segments { operator: ReverseSegments, axis: i64, step: usize, offsets: Vec<i64> },
}

impl Subject {
    /// Checks the arguments and generates the lengths.
    pub(super) fn of(arguments: &BenchArguments, input: &Layout) -> Result<Subject> {
        arguments.refuse_strangers()?;
        let shape = input.shape();
        Ok(match arguments.op {
            Op::Reverse => {
                let axes = arguments.axes.as_ref().map_or(Ok(vec![-1]), Axes::numbers)?;
                Subject::Reverse(Reverse::axes(axes.iter().copied()), axes)
            }
            Op::ReverseSequence => {
                let time = arguments.time_axis.unwrap_or(0);
                let batch = arguments.batch_axis.unwrap_or(1);
                let operator = ReverseSequence::new().time_axis(time).batch_axis(batch);
                let count = operator.lengths_shape(shape)?.iter().product();
                // Just checked: both axes exist.
                let lengths = draw(count, shape[from_start(time, shape.len())]);
                Subject::Sequence { operator, time, batch, lengths }
            }
            Op::ReverseSubsequences => {
                let axis = arguments.axis.unwrap_or(-1);
                let operator = ReverseSubsequences::along(axis);
                let lanes = operator.lengths_shape(shape)?;
                // Just checked: the axis exists.
                let lengths = draw(lanes.iter().product(), shape[from_start(axis, shape.len())]);
                Subject::Subsequences { operator, axis, lengths }
            }
            Op::ReverseSegments => {
                let axis = arguments.axis.unwrap_or(-1);
                let operator = ReverseSegments::along(axis);
                operator.lengths_shape(shape)?;
                // Just checked: the axis exists.
                let size = shape[from_start(axis, shape.len())];
                let step = arguments.segment.map_or(256, NonZeroUsize::get);
                let offsets = (0..size).step_by(step).chain([size]).map(|at| at as i64).collect();
                Subject::Segments { operator, axis, step, offsets }
            }
        })
    }

    /// Calls `body` with the operator and its lengths.
    pub(super) fn with<R>(&self, body: impl FnOnce(&dyn Reversal<'_>) -> Result<R>) -> Result<R> {
        match self {
            Subject::Reverse(operator, _) => body(operator),
            Subject::Sequence { operator, lengths, .. } => body(&operator.lengths(lengths)),
            Subject::Subsequences { operator, lengths, .. } => body(&operator.lengths(lengths)),
            Subject::Segments { operator, offsets, .. } => body(&operator.offsets(offsets)),
        }
    }

    /// The operator and its axes, for a headline.
    pub(super) fn headline(&self) -> (Operator, String) {
        match self {
            Subject::Reverse(_, axes) => (Operator::Reverse, format!("axes {axes:?}")),
            Subject::Sequence { time, batch, .. } => {
                (Operator::ReverseSequence, format!("time axis {time}, batch axis {batch}"))
            }
            Subject::Subsequences { axis, .. } => {
                (Operator::ReverseSubsequences, format!("axis {axis}"))
            }
            Subject::Segments { axis, step, .. } => {
                (Operator::ReverseSegments, format!("axis {axis}, segments of {step}"))
            }
        }
    }
}

/// Random lengths from 1 to the size of the axis, the same in every run.
fn draw(count: usize, size: usize) -> Vec<i64> {
    let mut state = 20u64;
    let mut next = || {
        // Knuth's linear congruential generator. Its upper bits are well distributed, and only
        // these are used.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let below = ((state >> 32) * size as u64) >> 32;
        (below as usize + 1).min(size) as i64
    };
    (0..count).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_cover_the_axis_and_nothing_else() {
        let lengths = draw(1000, 7);
        assert!(lengths.iter().all(|length| (1..=7).contains(length)));
        assert!((1..=7).all(|length| lengths.contains(&length)));
        assert_eq!(draw(3, 0), [0, 0, 0]);
        assert_eq!(draw(2, 1), [1, 1]);
    }
}
