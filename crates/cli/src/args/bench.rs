//! What can be measured, and how it is spelled.

use super::lists::{Axes, Sizes};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use retrograde::DType;
use std::num::NonZeroUsize;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Sizes of the tensor
    #[arg(long, value_name = "SIZES", default_value = "8192,8192")]
    pub(crate) shape: Sizes,
    /// Its element type, such as u8, f16, f32, c128, u4 or bytes12
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    pub(crate) dtype: DType,
    /// The operator
    #[arg(long, value_enum, default_value_t = Op::Reverse)]
    pub(crate) op: Op,
    /// For reverse: the axes (the last one, if not given)
    #[arg(long, value_name = "AXES", allow_hyphen_values = true)]
    pub(crate) axes: Option<Axes>,
    /// For reverse-subsequences: the axis (the last one, if not given)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) axis: Option<i64>,
    /// For reverse-sequence: the axis that is reversed (0, if not given)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) time_axis: Option<i64>,
    /// For reverse-sequence: the axis that the lengths run along (1, if not given)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) batch_axis: Option<i64>,
    /// How many threads (all cores, if not given)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// About how long to measure
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub(crate) seconds: f64,
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

impl BenchArguments {
    /// An argument that the operator does not have would be measured as if it were not there.
    pub(crate) fn refuse_strangers(&self) -> Result<()> {
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
