//! The command line.

use crate::{Axes, Axis};
use clap::{Args, Parser, Subcommand};
use retrograde_program::lists::{self, Mask};
use retrograde_program::operators::{self, AxesArguments, Duplicates, ThreadsArgument};
use retrograde_program::place::Place;
use retrograde_program::stores::StoreArguments;

/// The text after the options in `--help`.
const AFTER_HELP: &str = "\
FILES
  IN is a Zarr store (an array or a group), one of its arrays or groups (in.zarr:path/to/array), an
  HDF5 or NetCDF4 file, or one of its datasets (file.nc:temperature). OUT is a Zarr store, a path in one
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
  129, 130, 131, 143  interrupted by a signal (SIGHUP, Ctrl-C, SIGQUIT, SIGTERM)";

/// Reverses the arrays of Zarr stores, HDF5 and NetCDF4 files, chunk by chunk.
#[derive(Debug, Parser)]
#[command(name = "retrograde-zarr", bin_name = "retrograde zarr", version, after_help = AFTER_HELP)]
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
    pub(crate) input: Place,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArguments {
    /// The arrays: STORE, STORE:PATH, FILE or FILE:DATASET
    #[arg(value_name = "IN")]
    pub(crate) input: Place,
    /// Where to write the result
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<Place>,
    #[command(flatten)]
    pub(crate) along: AxesArguments,
    #[command(flatten)]
    pub(crate) how: HowArguments,
}

/// How to work, for any operator.
#[derive(Debug, Args)]
pub(crate) struct HowArguments {
    /// Replace an output that exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgument,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SequenceArguments {
    /// The array: STORE, STORE:PATH or FILE:DATASET
    #[arg(value_name = "IN")]
    pub(crate) input: Place,
    /// Where to write the result
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<Place>,
    /// One length per batch entry: 4,3,2,1, or where integers are: STORE:PATH, FILE:DATASET, or a
    /// file (.npy, .npz, .csv, .txt and others)
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: String,
    #[command(flatten)]
    pub(crate) sequence: operators::SequenceArguments,
    #[command(flatten)]
    pub(crate) how: HowArguments,
}

impl ReverseArguments {
    /// The axes that the options name.
    pub(crate) fn axes(&self) -> Axes {
        let axis = |axis: &lists::Axis| match axis {
            lists::Axis::Number(number) => Axis::Number(*number),
            lists::Axis::Name(name) => Axis::Name(name.clone()),
        };
        match (&self.along.axes, &self.along.mask) {
            (Some(list), _) => {
                let distinct = self.along.duplicates == Duplicates::Error;
                Axes::List { axes: list.0.iter().map(axis).collect(), distinct }
            }
            (None, Some(Mask(mask))) => Axes::Mask(mask.clone()),
            (None, None) => Axes::All,
        }
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
}
