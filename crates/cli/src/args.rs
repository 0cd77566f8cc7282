//! The command line: what can be asked for, and how it is spelled.

use crate::bench::BenchArguments;
use crate::run::RunArguments;
use clap::{Args, Parser, Subcommand, ValueEnum};
use retrograde::LengthPolicy;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

/// Reverses tensors: whole axes, padded batches of sequences, every lane by its own length.
#[derive(Debug, Parser)]
#[command(name = "retrograde", version)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an operator on files
    #[command(flatten)]
    Run(Operation),
    /// Measure how fast a tensor is reversed here, beside a plain copy of it
    Bench(BenchArguments),
    /// Run a model of reversals on files: ONNX or OpenVINO IR
    #[command(name = "run")]
    Model(RunArguments),
}

/// An operator and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Operation {
    /// Reverse whole axes (OpenVINO Reverse-1)
    #[command(after_help = "With neither --axes nor --mask, all axes are reversed.")]
    Reverse(ReverseArguments),
    /// Reverse the first steps of every sequence in a padded batch (ONNX ReverseSequence)
    ReverseSequence(ReverseSequenceArguments),
    /// Reverse the first elements of every lane by its own length (DirectML ReverseSubsequences)
    ReverseSubsequences(ReverseSubsequencesArguments),
}

impl Operation {
    /// The files, whatever the operator.
    pub(crate) fn files(&self) -> &Files {
        match self {
            Operation::Reverse(arguments) => &arguments.files,
            Operation::ReverseSequence(arguments) => &arguments.files,
            Operation::ReverseSubsequences(arguments) => &arguments.files,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Files {
    /// The tensor to reverse, a .npy file
    #[arg(value_name = "IN.npy")]
    pub(crate) input: PathBuf,
    /// Where to write the result; may be the input itself
    #[arg(short, long, value_name = "OUT.npy")]
    pub(crate) output: Option<PathBuf>,
    /// Print a picture of before and after (always, if there is no --output)
    #[arg(long)]
    pub(crate) show: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArguments {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The axes to reverse, such as 0,-1; negative ones count from the end
    #[arg(long, value_name = "AXES", allow_hyphen_values = true, conflicts_with = "mask")]
    pub(crate) axes: Option<Axes>,
    /// One true or false (1 or 0) for every axis
    #[arg(long, value_name = "MASK")]
    pub(crate) mask: Option<Mask>,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseSequenceArguments {
    #[command(flatten)]
    pub(crate) files: Files,
    /// One length per entry of the batch axis: 4,3,2,1 or a .npy file of integers
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: LengthsArgument,
    /// The axis that is reversed, 0 or 1
    #[arg(long, value_name = "AXIS", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) time_axis: i64,
    /// The axis that the lengths run along, 0 or 1
    #[arg(long, value_name = "AXIS", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) batch_axis: i64,
    /// What to do with a length beyond the axis
    #[arg(long, value_enum, default_value_t = Policy::Strict)]
    pub(crate) policy: Policy,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseSubsequencesArguments {
    #[command(flatten)]
    pub(crate) files: Files,
    /// One length per lane, in row-major order: 4,3,2,1 or a .npy file of integers
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) lengths: LengthsArgument,
    /// The axis that is reversed; a negative one counts from the end
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub(crate) axis: i64,
    /// What to do with a length beyond the axis
    #[arg(long, value_enum, default_value_t = Policy::Clamp)]
    pub(crate) policy: Policy,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Policy {
    /// It is an error
    Strict,
    /// It means the whole axis
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

/// Axes as a list. (A plain `Vec` would mean to clap that the option repeats.)
#[derive(Debug, Clone)]
pub(crate) struct Axes(pub(crate) Vec<i64>);

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        integers(text).map(Axes).ok_or("expected axes such as 0,-1".to_owned())
    }
}

/// A mask as a list.
#[derive(Debug, Clone)]
pub(crate) struct Mask(pub(crate) Vec<bool>);

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

/// Lengths in place, or where they are.
#[derive(Debug, Clone)]
pub(crate) enum LengthsArgument {
    List(Vec<i64>),
    File(PathBuf),
}

impl FromStr for LengthsArgument {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match integers(text) {
            Some(list) => LengthsArgument::List(list),
            None => LengthsArgument::File(text.into()),
        })
    }
}

fn integers(text: &str) -> Option<Vec<i64>> {
    entries(text).map(|entry| entry.parse().ok()).collect()
}

/// What stands between the commas; nothing at all is an empty list.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let nothing = text.trim().is_empty();
    text.split(',').map(str::trim).filter(move |_| !nothing)
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
    fn lists_are_read_and_everything_else_is_not() {
        assert_eq!(integers("4, -3,0"), Some(vec![4, -3, 0]));
        assert_eq!(integers(""), Some(vec![]));
        for text in [",", "4,", "4,,3", "x", "4 3", "1.5", "99999999999999999999"] {
            assert_eq!(integers(text), None, "{text}");
        }
        assert_eq!("1,false,TRUE".parse::<Mask>().map(|mask| mask.0), Ok(vec![true, false, true]));
        assert!("2".parse::<Mask>().is_err());
    }
}
