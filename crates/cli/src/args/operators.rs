//! The operators and their arguments.

use clap::{Args, Subcommand};
use retrograde_io::FilesRead;
use retrograde_program::lists::LengthsArgument;
use retrograde_program::operators::{AxesArguments, PaddingArguments, Policy, SequenceArguments};

/// The text after the options of `reverse`.
pub(crate) const ALL_AXES: &str = "With neither --axes nor --mask, all axes are reversed.";

/// An operator and its arguments.
#[derive(Debug, Subcommand)]
pub enum Operation<F: Args> {
    /// Reverse whole axes (OpenVINO Reverse-1)
    #[command(after_help = ALL_AXES)]
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
    pub fn files(&self) -> &F {
        match self {
            Operation::Reverse(arguments) => &arguments.files,
            Operation::ReverseSequence(arguments) => &arguments.files,
            Operation::ReverseSubsequences(arguments) => &arguments.files,
            Operation::ReverseSegments(arguments) => &arguments.files,
        }
    }

    /// The name of the operator's command.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Operation::Reverse(_) => "reverse",
            Operation::ReverseSequence(_) => "reverse-sequence",
            Operation::ReverseSubsequences(_) => "reverse-subsequences",
            Operation::ReverseSegments(_) => "reverse-segments",
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
pub struct ReverseArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    #[command(flatten)]
    pub(crate) along: AxesArguments,
}

#[derive(Debug, Args)]
pub struct ReverseSequenceArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// One length per batch entry: 4,3,2,1 or a file of integers of any type (also .csv and .txt)
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: LengthsArgument,
    #[command(flatten)]
    pub(crate) sequence: SequenceArguments,
}

#[derive(Debug, Args)]
pub struct ReverseSubsequencesArguments<F: Args> {
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
pub struct ReverseSegmentsArguments<F: Args> {
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
