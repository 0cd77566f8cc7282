//! Arguments of `bench`.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use retrograde::DType;
use retrograde_program::lists::{Axes, Sizes};
use retrograde_program::operators::ThreadsArgument;
use std::num::NonZeroUsize;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Shape of the tensor
    #[arg(long, value_name = "SIZES", default_value = "8192,8192")]
    pub(crate) shape: Sizes,
    /// Its element type, such as u8, f16, f32, c128, u4 or bytes12
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    pub(crate) dtype: DType,
    /// The operator
    #[arg(long, value_enum, default_value_t = Op::Reverse)]
    pub(crate) op: Op,
    /// For reverse: the axes (default: the last one)
    #[arg(long, value_name = "AXES", allow_hyphen_values = true)]
    pub(crate) axes: Option<Axes>,
    /// For reverse-subsequences and reverse-segments: the axis (default: the last one)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) axis: Option<i64>,
    /// For reverse-segments: the steps of a segment (default: 256)
    #[arg(long, value_name = "N")]
    pub(crate) segment: Option<NonZeroUsize>,
    /// For reverse-sequence: the axis that is reversed (default: 0)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) time_axis: Option<i64>,
    /// For reverse-sequence: the axis with one length per entry (default: 1)
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) batch_axis: Option<i64>,
    /// Measure tensors of 4 KiB to 64 MiB, with as many entries of the first axis as that takes
    #[arg(long)]
    pub(crate) sweep: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgument,
    /// Approximate duration of the measurement, of each size in a sweep
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub(crate) seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Op {
    /// Whole axes
    Reverse,
    /// A padded batch of sequences, with random lengths
    ReverseSequence,
    /// Each lane by its own random length
    ReverseSubsequences,
    /// Segments of one axis, all of the same length
    ReverseSegments,
}

impl BenchArguments {
    /// Refuses options of other operators, which would otherwise be ignored silently.
    pub(crate) fn refuse_strangers(&self) -> Result<()> {
        let (sequence, given) = (Op::ReverseSequence, |axis: Option<i64>| axis.is_some());
        let segments = self.op == Op::ReverseSegments;
        let owners = [
            ("--axes", self.axes.is_some(), Op::Reverse),
            // Segments have an axis too.
            ("--axis", given(self.axis) && !segments, Op::ReverseSubsequences),
            ("--segment", self.segment.is_some(), Op::ReverseSegments),
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
