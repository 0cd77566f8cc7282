//! The command line.

use crate::location::Location;
use clap::{Args, Parser, Subcommand, ValueEnum};
use retrograde_zarr::{Axes, Axis};
use std::str::FromStr;

/// The text after the options in `--help`.
const AFTER_HELP: &str = "\
FILES
  IN is a Zarr store (an array or a group), one of its arrays or groups (in.zarr:path/to/array), or
  a dataset of an HDF5 or NetCDF4 file (file.nc:temperature). OUT is a Zarr store, a path in one
  (out.zarr:path/to/array), or an .npy file. Stores are folders or URLs: s3://BUCKET/PATH, and for
  inputs http:// and https:// too. An output gets its name when it is complete. After Ctrl-C, kill -9,
  a full disk or a lost connection, the same command goes on where it was.

ENVIRONMENT
  S3 takes AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
  AWS_ENDPOINT_URL, AWS_SKIP_SIGNATURE=true (public buckets) and others. AWS_MAX_ATTEMPTS is how
  often a request is sent before it is an error (default: 10).

EXIT CODES
  0    success
  1    the arguments do not fit the arrays, or a store could not be read or written
  2    invalid usage
  129, 130, 143  interrupted by a signal (SIGHUP, Ctrl-C, SIGTERM)";

/// Reverses the arrays of Zarr stores, HDF5 and NetCDF4 files, chunk by chunk.
#[derive(Debug, Parser)]
#[command(name = "retrograde", version, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Print errors only: no summary of what was written, no progress bar
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reverse whole axes
    #[command(
        after_help = "With neither --axes nor --mask, all axes are reversed. Without -o, the \
                            plan is printed."
    )]
    Reverse(ReverseArguments),
    /// Reverse the first steps of every sequence in a padded batch (ONNX ReverseSequence)
    #[command(after_help = "Without -o, the plan is printed.")]
    ReverseSequence(SequenceArguments),
    /// List what a store holds: types, shapes, chunks, names of axes
    Info(InfoArguments),
}

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// The store or file: STORE, STORE:PATH, FILE or FILE:DATASET
    #[arg(value_name = "IN")]
    pub(crate) input: Location,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArguments {
    /// The arrays: STORE, STORE:PATH or FILE:DATASET
    #[arg(value_name = "IN")]
    pub(crate) input: Location,
    /// Where to write the result
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<Location>,
    /// The axes to reverse by number or name, such as 0,-1 or lat,lon
    ///
    /// Numbers apply to every array of a group, names to the arrays that have them.
    #[arg(long, value_name = "AXES", allow_hyphen_values = true, conflicts_with = "mask")]
    pub(crate) axes: Option<AxisList>,
    /// One boolean (true, false, 1 or 0) per axis
    #[arg(long, value_name = "MASK")]
    pub(crate) mask: Option<Mask>,
    /// What to do with an axis that --axes names twice
    #[arg(long, value_enum, default_value_t = Duplicates::Set, requires = "axes")]
    pub(crate) duplicates: Duplicates,
    #[command(flatten)]
    pub(crate) how: HowArguments,
}

/// How to work, for any operator.
#[derive(Debug, Args)]
pub(crate) struct HowArguments {
    /// The most memory to use, such as 512M or 2G
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub(crate) memory: Size,
    /// The most threads to use (default: one per processor, and 16 if a server is involved)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Replace an output that exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not wait until a new output is on the disk
    #[arg(long)]
    pub(crate) no_sync: bool,
    /// Identify input chunks by a checksum of their content instead of by size, times and inode, or
    /// ETag
    ///
    /// Each run reads all inputs. What runs without this option have completed is done again.
    #[arg(long)]
    pub(crate) verify: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SequenceArguments {
    /// The array: STORE, STORE:PATH or FILE:DATASET
    #[arg(value_name = "IN")]
    pub(crate) input: Location,
    /// Where to write the result
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<Location>,
    /// One length per batch entry: 4,3,2,1, or where integers are: STORE:PATH, FILE:DATASET, or a
    /// file (.npy, .npz, .csv, .txt and others)
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: String,
    /// The axis that is reversed; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) time_axis: i64,
    /// The axis with one length per entry; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) batch_axis: i64,
    /// What to do with a length beyond the axis
    #[arg(long, value_enum, default_value_t = Policy::Strict)]
    pub(crate) policy: Policy,
    /// At which end of the axis sequences are
    #[arg(long, value_enum, default_value_t = Alignment::Start)]
    pub(crate) align: Alignment,
    /// What happens to the elements beyond a length
    #[arg(long, value_enum, default_value_t = Rest::Keep)]
    pub(crate) tail: Rest,
    #[command(flatten)]
    pub(crate) how: HowArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    /// It is an error
    Strict,
    /// It is clamped to the size of the axis
    Clamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Alignment {
    /// At its start: the first elements are reversed
    Start,
    /// At its end, as in left-padded batches: the last elements are reversed
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rest {
    /// They stay
    Keep,
    /// They become zero
    Zero,
}

impl ReverseArguments {
    /// The axes that the options name.
    pub(crate) fn axes(&self) -> Axes {
        match (&self.axes, &self.mask) {
            (Some(AxisList(axes)), _) => {
                let distinct = self.duplicates == Duplicates::Error;
                Axes::List { axes: axes.clone(), distinct }
            }
            (None, Some(Mask(mask))) => Axes::Mask(mask.clone()),
            (None, None) => Axes::All,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Duplicates {
    /// It is reversed once
    Set,
    /// It is an error
    Error,
}

/// The entries of a list; the empty text is the empty list.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(move |_| !text.trim().is_empty())
}

/// Axes as a list.
#[derive(Debug, Clone)]
pub(crate) struct AxisList(Vec<Axis>);

impl FromStr for AxisList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let axis = |entry: &str| (!entry.is_empty()).then(|| entry.parse().ok()).flatten();
        let axes: Option<_> = entries(text).map(axis).collect();
        axes.map(AxisList).ok_or("expected axes such as 0,-1 or lat,lon".to_owned())
    }
}

/// A mask as a list.
#[derive(Debug, Clone)]
pub(crate) struct Mask(Vec<bool>);

impl FromStr for Mask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let flag = |entry: &str| match entry.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let flags: Option<_> = entries(text).map(flag).collect();
        flags.map(Mask).ok_or("expected a mask such as true,false or 1,0".to_owned())
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match &lower[digits.len()..] {
            "" | "b" => Some(0),
            "k" | "kb" | "kib" => Some(10),
            "m" | "mb" | "mib" => Some(20),
            "g" | "gb" | "gib" => Some(30),
            "t" | "tb" | "tib" => Some(40),
            _ => None,
        };
        let number = digits.trim().parse::<u64>().ok().filter(|&number| number > 0);
        let bytes = number.zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
        bytes.map(Size).ok_or("expected a size such as 512M or 2G".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("512M", 512 << 20), ("2g", 2 << 30), ("100", 100), ("3 KiB", 3072)] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
        }
        for text in ["", "0", "M", "1.5G", "-1", "9999999999999999T", "4x"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn axes_are_numbers_or_names() {
        let parsed = |text: &str| text.parse::<AxisList>().map(|AxisList(axes)| axes);
        let (number, name) = (Axis::Number, |name: &str| Axis::Name(name.to_owned()));
        assert_eq!(parsed("0,-1"), Ok(vec![number(0), number(-1)]));
        assert_eq!(parsed(" lat , 2"), Ok(vec![name("lat"), number(2)]));
        assert_eq!(parsed(""), Ok(vec![]));
        assert!(parsed("0,,1").is_err());
    }
}
