//! The operators and their arguments.

use super::lists::{Axes, LengthsArgument, Mask};
use clap::{Args, Subcommand, ValueEnum};
use retrograde::{Align, LengthPolicy, Tail};
use retrograde_io::FilesRead;

/// An operator and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Operation<F: Args> {
    /// Reverse whole axes (OpenVINO Reverse-1)
    #[command(after_help = "With neither --axes nor --mask, all axes are reversed.")]
    Reverse(ReverseArguments<F>),
    /// Reverse the first steps of every sequence in a padded batch (ONNX ReverseSequence)
    ReverseSequence(ReverseSequenceArguments<F>),
    /// Reverse the first elements of each lane by its own length (DirectML ReverseSubsequences)
    ReverseSubsequences(ReverseSubsequencesArguments<F>),
    /// Reverse every segment of an axis that is cut by offsets (cu_seqlens, ragged tensors)
    ReverseSegments(ReverseSegmentsArguments<F>),
}

impl<F: Args> Operation<F> {
    /// The files, for any operator.
    pub(crate) fn files(&self) -> &F {
        match self {
            Operation::Reverse(arguments) => &arguments.files,
            Operation::ReverseSequence(arguments) => &arguments.files,
            Operation::ReverseSubsequences(arguments) => &arguments.files,
            Operation::ReverseSegments(arguments) => &arguments.files,
        }
    }

    /// The file that holds the lengths or offsets, if there is one: no output may replace it.
    pub(crate) fn lengths_read(&self) -> FilesRead {
        let read = FilesRead::default();
        let lengths = match self {
            Operation::Reverse(_) => None,
            Operation::ReverseSequence(arguments) => Some(&arguments.lengths),
            Operation::ReverseSubsequences(arguments) => Some(&arguments.lengths),
            Operation::ReverseSegments(arguments) => Some(&arguments.offsets),
        };
        if let Some(LengthsArgument::File(location)) = lengths {
            read.add(&location.path);
        }
        read
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// The axes to reverse, such as 0,-1; negative ones count from the end
    #[arg(long, value_name = "AXES", allow_hyphen_values = true, conflicts_with = "mask")]
    pub(crate) axes: Option<Axes>,
    /// One boolean (true, false, 1 or 0) per axis
    #[arg(long, value_name = "MASK")]
    pub(crate) mask: Option<Mask>,
    /// What to do with an axis that --axes names twice
    #[arg(long, value_enum, default_value_t = Duplicates::Set, requires = "axes")]
    pub(crate) duplicates: Duplicates,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Duplicates {
    /// It is reversed once
    Set,
    /// It is an error
    Error,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseSequenceArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// One length per batch entry: 4,3,2,1 or a file of integers of any type (also .csv and .txt)
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: LengthsArgument,
    /// The axis that is reversed; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) time_axis: i64,
    /// The axis with one length per entry; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) batch_axis: i64,
    /// What to do with a length beyond the axis
    #[arg(long, value_enum, default_value_t = Policy::Strict)]
    pub(crate) policy: Policy,
    #[command(flatten)]
    pub(crate) padding: PaddingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseSubsequencesArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// One length per lane: 4,3,2,1 or a file of integers of any type (also .csv and .txt)
    ///
    /// A tensor has the shape of the input with 1 at the axis, or without it. Lists and text have
    /// no shape: they are in row-major order.
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: LengthsArgument,
    /// The axis that is reversed; negative values count from the end
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) axis: i64,
    /// What to do with a length beyond the axis
    #[arg(long, value_enum, default_value_t = Policy::Clamp)]
    pub(crate) policy: Policy,
    #[command(flatten)]
    pub(crate) padding: PaddingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseSegmentsArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// Where segments start, and the end of the last one: 0,3,7 or a file of integers (also .csv
    /// and .txt)
    #[arg(long, value_name = "OFFSETS", allow_hyphen_values = true)]
    pub(crate) offsets: LengthsArgument,
    /// The axis that is cut; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) axis: i64,
}

/// Where the padding of sequences is, and what becomes of it.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PaddingArguments {
    /// At which end of the axis sequences are
    #[arg(long, value_enum, default_value_t = Alignment::Start)]
    pub(crate) align: Alignment,
    /// What happens to the elements beyond a length
    #[arg(long, value_enum, default_value_t = Rest::Keep)]
    pub(crate) tail: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Alignment {
    /// At its start: the first elements are reversed
    Start,
    /// At its end, as in left-padded batches: the last elements are reversed
    End,
}

impl From<Alignment> for Align {
    fn from(align: Alignment) -> Self {
        match align {
            Alignment::Start => Align::Start,
            Alignment::End => Align::End,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rest {
    /// They stay
    Keep,
    /// They become zero
    Zero,
}

impl From<Rest> for Tail {
    fn from(tail: Rest) -> Self {
        match tail {
            Rest::Keep => Tail::Keep,
            Rest::Zero => Tail::Zero,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Policy {
    /// It is an error
    Strict,
    /// It is clamped to the size of the axis
    Clamp,
}

impl From<Policy> for LengthPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Strict => LengthPolicy::Strict,
            Policy::Clamp => LengthPolicy::Clamp,
        }
    }
}
