//! The operators and their arguments.

use clap::{Args, Subcommand};
use retrograde::Orientation;
use retrograde_io::{FilesRead, Location};
use retrograde_program::lists::{LengthsArgument, MaskArgument, integers};
use retrograde_program::operators::{AxesArguments, PaddingArguments, Policy, SequenceArguments};
use std::convert::Infallible;
use std::ffi::OsStr;
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
    /// Reverse letters of nucleic acids and complement them, in one pass
    ReverseComplement(ReverseComplementArguments<F>),
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
            Operation::ReverseComplement(arguments) => &arguments.files,
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
            Operation::ReverseComplement(_) => "reverse-complement",
            Operation::Orient(_) => "orient",
            Operation::Rot90(_) => "rot90",
        }
    }

    /// The files that hold lengths, offsets, a mask or a table: no output may replace them.
    pub(crate) fn arguments_read(&self) -> FilesRead {
        let read = FilesRead::default();
        let lengths = match self {
            Operation::Reverse(_) | Operation::Orient(_) | Operation::Rot90(_) => None,
            Operation::ReverseSequence(arguments) => Some(&arguments.lengths),
            Operation::ReverseSubsequences(arguments) => Some(&arguments.lengths),
            Operation::ReverseSegments(arguments) => Some(&arguments.offsets),
            Operation::ReverseComplement(arguments) => {
                arguments.lengths.as_ref().or(arguments.offsets.as_ref())
            }
        };
        let files = [
            lengths.and_then(LengthsArgument::file),
            self.mask().and_then(MaskArgument::file),
            self.table().and_then(TableName::file),
        ];
        files.into_iter().flatten().for_each(|location| read.add(&location.path));
        read
    }

    /// The mask, if one is given.
    pub(crate) fn mask(&self) -> Option<&MaskArgument> {
        let only = match self {
            Operation::Reverse(arguments) => &arguments.only,
            Operation::ReverseSequence(arguments) => &arguments.only,
            Operation::ReverseSubsequences(arguments) => &arguments.only,
            Operation::ReverseSegments(arguments) => &arguments.only,
            Operation::ReverseComplement(arguments) => &arguments.only,
            Operation::Orient(_) | Operation::Rot90(_) => return None,
        };
        only.mask.as_ref()
    }

    /// The table, if there is one.
    pub(crate) fn table(&self) -> Option<&TableName> {
        let lookup = match self {
            Operation::Reverse(arguments) => &arguments.lookup,
            Operation::ReverseSequence(arguments) => &arguments.lookup,
            Operation::ReverseSubsequences(arguments) => &arguments.lookup,
            Operation::ReverseSegments(arguments) => &arguments.lookup,
            Operation::Orient(arguments) => &arguments.lookup,
            Operation::Rot90(arguments) => &arguments.lookup,
            Operation::ReverseComplement(arguments) => {
                return Some(if arguments.rna { &TableName::Rna } else { &TableName::Dna });
            }
        };
        lookup.table.as_ref()
    }
}

#[derive(Debug, Args)]
pub struct ReverseArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    #[command(flatten)]
    pub(crate) along: AxesArguments,
    #[command(flatten)]
    pub(crate) only: WhereArgument,
    /// The axis that --where has one boolean for each entry of
    #[arg(
        long,
        value_name = "AXIS",
        default_value_t = 0,
        allow_negative_numbers = true,
        requires = "where"
    )]
    pub(crate) batch_axis: i64,
    #[command(flatten)]
    pub(crate) lookup: TableArgument,
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
    #[command(flatten)]
    pub(crate) only: WhereArgument,
    #[command(flatten)]
    pub(crate) lookup: TableArgument,
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
    #[command(flatten)]
    pub(crate) only: WhereArgument,
    #[command(flatten)]
    pub(crate) lookup: TableArgument,
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
    #[command(flatten)]
    pub(crate) only: WhereArgument,
    #[command(flatten)]
    pub(crate) lookup: TableArgument,
}

#[derive(Debug, Args)]
pub struct ReverseComplementArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// The axis of the letters; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = -1, allow_negative_numbers = true)]
    pub(crate) axis: i64,
    /// How many letters each lane has, of a padded batch: 4,3,2,1 or a file of integers (also .csv and
    /// .txt). The padding stays
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true, conflicts_with = "offsets")]
    pub(crate) lengths: Option<LengthsArgument>,
    /// Where reads start that are packed one behind the other, and the end of the last one: 0,3,7 or a
    /// file of integers (also .csv and .txt)
    #[arg(long, value_name = "OFFSETS", allow_hyphen_values = true)]
    pub(crate) offsets: Option<LengthsArgument>,
    #[command(flatten)]
    pub(crate) only: WhereArgument,
    /// A becomes U instead of T
    #[arg(long)]
    pub(crate) rna: bool,
    /// Refuse other bytes than letters in what is complemented; without it, they keep their value
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What is reversed.
#[derive(Debug, Args)]
pub(crate) struct WhereArgument {
    /// Which sequences, lanes, segments or entries of the batch are reversed: 1,0,1 or a file of
    /// booleans (also .csv and .txt of 0 and 1). The others stay as they are
    #[arg(id = "where", long, value_name = "MASK")]
    pub(crate) mask: Option<MaskArgument>,
}

/// What becomes of it.
#[derive(Debug, Args)]
pub(crate) struct TableArgument {
    /// Look up what is reversed in a table: dna, rna, or a file (.npy or raw) of 256 bytes
    ///
    /// Entry b is what a byte b becomes. Of packed elements of 4 bits there are 16 entries, of 2 bits 4,
    /// one in each byte. dna and rna have the complements of letters.
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<TableName>,
}

/// A table by its name, or the file that holds it.
#[derive(Debug, Clone)]
pub(crate) enum TableName {
    Dna,
    Rna,
    File(Location),
}

impl TableName {
    fn file(&self) -> Option<&Location> {
        match self {
            TableName::Dna | TableName::Rna => None,
            TableName::File(location) => Some(location),
        }
    }
}

impl FromStr for TableName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "dna" => TableName::Dna,
            "rna" => TableName::Rna,
            _ => TableName::File(Location::from(OsStr::new(text))),
        })
    }
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
    #[command(flatten)]
    pub(crate) lookup: TableArgument,
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
    #[command(flatten)]
    pub(crate) lookup: TableArgument,
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
