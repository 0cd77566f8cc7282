//! The operators and their arguments.

use clap::{Args, Subcommand};
use retrograde::Orientation;
use retrograde_io::FilesRead;
use retrograde_program::lists::{LengthsArgument, integers};
use retrograde_program::operators::{AxesArguments, PaddingArguments, Policy, SequenceArguments};
use std::str::FromStr;

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
    /// Make an image upright: one of the eight orientations (EXIF), in one pass
    Orient(OrientArguments<F>),
    /// Rotate by quarter turns in the plane of two axes (numpy.rot90)
    Rot90(Rot90Arguments<F>),
}

impl<F: Args> Operation<F> {
    /// The files, for any operator.
    pub fn files(&self) -> &F {
        match self {
            Operation::Reverse(arguments) => &arguments.files,
            Operation::ReverseSequence(arguments) => &arguments.files,
            Operation::ReverseSubsequences(arguments) => &arguments.files,
            Operation::ReverseSegments(arguments) => &arguments.files,
            Operation::Orient(arguments) => &arguments.files,
            Operation::Rot90(arguments) => &arguments.files,
        }
    }

    /// The name of the operator's command.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Operation::Reverse(_) => "reverse",
            Operation::ReverseSequence(_) => "reverse-sequence",
            Operation::ReverseSubsequences(_) => "reverse-subsequences",
            Operation::ReverseSegments(_) => "reverse-segments",
            Operation::Orient(_) => "orient",
            Operation::Rot90(_) => "rot90",
        }
    }

    /// The file that holds the lengths or offsets, if there is one: no output may replace it.
    pub(crate) fn lengths_read(&self) -> FilesRead {
        let read = FilesRead::default();
        let lengths = match self {
            Operation::Reverse(_) | Operation::Orient(_) | Operation::Rot90(_) => None,
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

#[derive(Debug, Args)]
pub struct OrientArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// The orientation: its EXIF number, 1 to 8, or its name
    ///
    /// 1 identity, 2 fliplr (or mirror, hflip), 3 rot180, 4 flipud (or vflip), 5 transpose, 6 rot270
    /// (clockwise by 90 degrees), 7 transverse, 8 rot90.
    #[arg(long, visible_alias = "exif", value_name = "NUMBER|NAME")]
    pub(crate) orientation: Orientation,
    /// The axes of rows and columns; negative ones count from the end
    #[arg(long, value_name = "A,B", default_value = "0,1", allow_hyphen_values = true)]
    pub(crate) axes: Plane,
}

#[derive(Debug, Args)]
pub struct Rot90Arguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// The number of quarter turns; negative ones turn from the second axis to the first
    #[arg(short, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) k: i64,
    /// The plane: elements turn from the first of these axes towards the second
    #[arg(long, value_name = "A,B", default_value = "0,1", allow_hyphen_values = true)]
    pub(crate) axes: Plane,
}

/// Two axes, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plane(pub(crate) [i64; 2]);

impl FromStr for Plane {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let axes = integers(text).and_then(|axes| axes.try_into().ok());
        axes.map(Plane).ok_or("expected two axes such as 0,1 or -2,-1".to_owned())
    }
}
