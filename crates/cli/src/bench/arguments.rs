//! What can be measured, and how it is spelled.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use retrograde::{
    DType, Layout, LengthsOperator, Operator, Reversal, Reverse, ReverseSequence,
    ReverseSubsequences,
};
use std::num::NonZeroUsize;

use crate::args::{Axes, Sizes};

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Sizes of the tensor
    #[arg(long, value_name = "SIZES", default_value = "8192,8192")]
    pub(super) shape: Sizes,
    /// Its element type, such as u8, f16, f32, c128, u4 or bytes12
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    pub(super) dtype: DType,
    /// The operator
    #[arg(long, value_enum, default_value_t = Op::Reverse)]
    pub(super) op: Op,
    /// For reverse: the axes (the last one, if not given)
    #[arg(long, value_name = "AXES", allow_hyphen_values = true)]
    pub(super) axes: Option<Axes>,
    /// For reverse-subsequences: the axis (the last one, if not given)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(super) axis: Option<i64>,
    /// For reverse-sequence: the axis that is reversed (0, if not given)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(super) time_axis: Option<i64>,
    /// For reverse-sequence: the axis that the lengths run along (1, if not given)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(super) batch_axis: Option<i64>,
    /// How many threads (all cores, if not given)
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
    /// About how long to measure
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub(super) seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Op {
    /// Whole axes
    Reverse,
    /// A padded batch of sequences, with random lengths
    ReverseSequence,
    /// Every lane by its own random length
    ReverseSubsequences,
}

/// An operator, with lengths where it needs them.
#[derive(Debug)]
pub(super) enum Subject {
    Reverse(Reverse, Vec<i64>),
    Sequence { operator: ReverseSequence, time: i64, batch: i64, lengths: Vec<i64> },
    Subsequences { operator: ReverseSubsequences, axis: i64, lengths: Vec<i64> },
}

impl Subject {
    /// Checks the arguments and draws the lengths.
    pub(super) fn of(arguments: &BenchArguments, input: &Layout) -> Result<Subject> {
        arguments.refuse_strangers()?;
        let shape = input.shape();
        Ok(match arguments.op {
            Op::Reverse => {
                let axes = arguments.axes.clone().map_or(vec![-1], |Axes(axes)| axes);
                Subject::Reverse(Reverse::axes(axes.iter().copied()), axes)
            }
            Op::ReverseSequence => {
                let time = arguments.time_axis.unwrap_or(0);
                let batch = arguments.batch_axis.unwrap_or(1);
                let operator = ReverseSequence::new().time_axis(time).batch_axis(batch);
                let count = operator.lengths_shape(shape)?.iter().product();
                // Checked just now: both axes exist.
                let lengths = draw(count, shape[time as usize]);
                Subject::Sequence { operator, time, batch, lengths }
            }
            Op::ReverseSubsequences => {
                let axis = arguments.axis.unwrap_or(-1);
                let operator = ReverseSubsequences::along(axis);
                let lanes = operator.lengths_shape(shape)?;
                let from_end = if axis < 0 { shape.len() } else { 0 };
                // Checked just now: the axis exists.
                let size = shape[(axis + from_end as i64) as usize];
                let lengths = draw(lanes.iter().product(), size);
                Subject::Subsequences { operator, axis, lengths }
            }
        })
    }

    /// Gives `body` the operator with its lengths bound.
    pub(super) fn with<R>(&self, body: impl FnOnce(&dyn Reversal) -> Result<R>) -> Result<R> {
        match self {
            Subject::Reverse(operator, _) => body(operator),
            Subject::Sequence { operator, lengths, .. } => body(&operator.lengths(lengths)),
            Subject::Subsequences { operator, lengths, .. } => body(&operator.lengths(lengths)),
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
        }
    }
}

impl BenchArguments {
    /// An argument that the operator does not have would be measured as if it were not there.
    fn refuse_strangers(&self) -> Result<()> {
        let (sequence, given) = (Op::ReverseSequence, |axis: Option<i64>| axis.is_some());
        let owners = [
            ("--axes", self.axes.is_some(), Op::Reverse),
            ("--axis", given(self.axis), Op::ReverseSubsequences),
            ("--time-axis", given(self.time_axis), sequence),
            ("--batch-axis", given(self.batch_axis), sequence),
        ];
        let name = |op: Op| op.to_possible_value().map(|value| value.get_name().to_owned());
        for (option, given, owner) in owners {
            if given && owner != self.op {
                let (op, owner) = (name(self.op), name(owner));
                let (op, owner) = (op.unwrap_or_default(), owner.unwrap_or_default());
                bail!("{option} belongs to --op {owner}, not to {op}");
            }
        }
        Ok(())
    }
}

/// Lengths from 1 to the size of the axis, the same in every run.
fn draw(count: usize, size: usize) -> Vec<i64> {
    let mut state = 20u64;
    let mut next = || {
        // Knuth's generator: evenly spread in the upper bits, which are the ones used.
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
