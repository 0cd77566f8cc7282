//! The command line: what can be asked for, and how it is spelled.

use crate::bench::BenchArguments;
use crate::run::RunArguments;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use retrograde::{DType, LengthPolicy};
use retrograde_io::{FilesRead, Format, Location, Opening};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What the end of `--help` says.
const AFTER_HELP: &str = "\
FILES
  The tensor is FILE (.npy, .npz, .safetensors, ONNX's .pb, or raw bytes with --dtype and
  --shape), FILE:NAME for one of several in an .npz or .safetensors, or - for stdin. The output's format
  is its extension, so that reversing no axis converts: retrograde reverse a.npz:w --axes '' -o
  w.safetensors. Files of any size are reversed in little memory. An output is complete or not
  there: an error, a full disk or Ctrl-C leaves nothing behind and the input as it was.

EXIT CODES
  0    done
  1    the arguments do not go with the tensor, or a file could not be read or written
  2    wrong usage
  130  interrupted (Ctrl-C, or asked to end)
  141  whoever reads the output closed the pipe before all of it was written

ENVIRONMENT
  NO_COLOR                no colours; CLICOLOR_FORCE=1: colours even into a pipe
  COLUMNS                 how wide a picture may be
  RETROGRADE_NUM_THREADS  how many threads to use at most";

/// Reverses tensors: whole axes, padded batches of sequences, every lane by its own length.
#[derive(Debug, Parser)]
#[command(name = "retrograde", version, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Say nothing but errors: no line about what was written, no progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an operator on files
    #[command(flatten)]
    Operate(Operation<Files>),
    /// Say what a file or a model holds: types, shapes, order; inputs, nodes, outputs
    Info(InfoArguments),
    /// Say how an operator would run: the plan, the kernel, the bytes, the least time
    Explain(ExplainArguments),
    /// Show an operator's picture of before and after, and write nothing else
    Show(ShowArguments),
    /// Measure how fast a tensor is reversed here, beside a plain copy of it
    Bench(BenchArguments),
    /// Run a model of reversals on files: ONNX or OpenVINO IR
    #[command(name = "run")]
    Model(RunArguments),
    /// Print the completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the manual page, or write one for every command
    Man {
        /// Write the pages of all commands to this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// An operator and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Operation<F: Args> {
    /// Reverse whole axes (OpenVINO Reverse-1)
    #[command(after_help = "With neither --axes nor --mask, all axes are reversed.")]
    Reverse(ReverseArguments<F>),
    /// Reverse the first steps of every sequence in a padded batch (ONNX ReverseSequence)
    ReverseSequence(ReverseSequenceArguments<F>),
    /// Reverse the first elements of every lane by its own length (DirectML ReverseSubsequences)
    ReverseSubsequences(ReverseSubsequencesArguments<F>),
}

impl<F: Args> Operation<F> {
    /// The files, whatever the operator.
    pub(crate) fn files(&self) -> &F {
        match self {
            Operation::Reverse(arguments) => &arguments.files,
            Operation::ReverseSequence(arguments) => &arguments.files,
            Operation::ReverseSubsequences(arguments) => &arguments.files,
        }
    }

    /// The file of the lengths, if they are in one: no output may replace it.
    pub(crate) fn lengths_read(&self) -> FilesRead {
        let read = FilesRead::default();
        let lengths = match self {
            Operation::Reverse(_) => None,
            Operation::ReverseSequence(arguments) => Some(&arguments.lengths),
            Operation::ReverseSubsequences(arguments) => Some(&arguments.lengths),
        };
        if let Some(LengthsArgument::File(location)) = lengths {
            read.add(&location.path);
        }
        read
    }
}

/// The tensor, and what it does not say itself.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// The tensor: FILE, FILE:NAME, or - for stdin
    #[arg(value_name = "IN", value_parser = location())]
    pub(crate) input: Location,
    /// The element type of raw bytes (such as f32, u8, bf16, i4), or of opaque elements
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<DType>,
    /// The sizes of raw bytes, such as 480,640,3 (one axis, if not given)
    #[arg(long, value_name = "SIZES")]
    pub(crate) shape: Option<Sizes>,
    /// The input's format, if neither its name nor its content says it
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<Format>,
}

impl Input {
    /// What is known about the file besides what it says itself.
    pub(crate) fn opening(&self, output: Option<&Location>, read: &FilesRead) -> Opening {
        let output = output.filter(|output| !output.is_stream());
        Opening {
            format: self.from,
            dtype: self.dtype,
            shape: self.shape.clone().map(|Sizes(shape)| shape),
            output: output.map(|output| output.path.clone()),
            read: read.clone(),
        }
    }
}

/// The tensor, and where the result goes.
#[derive(Debug, Args)]
pub(crate) struct Files {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Where to write the result; may be the input itself, or - for stdout
    #[arg(short, long, value_name = "OUT", value_parser = location())]
    pub(crate) output: Option<Location>,
    /// The output's format, if its extension does not say it (- is npy)
    #[arg(long, value_name = "FORMAT", requires = "output")]
    pub(crate) to: Option<Format>,
    /// Replace the input, an .npy or raw file, by the result
    ///
    /// `copy` (if nothing else is said) writes a new file beside it, which takes its name when
    /// complete: an interruption leaves the old file as it was. `direct` needs no room on the
    /// disk: it changes the file itself. It then holds Ctrl-C back until it is done, but a
    /// crash or a kill -9 leaves a file that is half old and half new.
    #[arg(
        long, value_name = "HOW", value_enum, num_args = 0..=1, require_equals = true,
        default_missing_value = "copy", conflicts_with = "output"
    )]
    pub(crate) in_place: Option<InPlace>,
    /// Write to a file that is read-only, too
    #[arg(long)]
    pub(crate) force: bool,
    /// Print a picture of before and after (always, if nothing is written)
    #[arg(long)]
    pub(crate) show: bool,
    /// What moves the tensor: cpu, cuda or cuda:N
    ///
    /// The CPU, unless this says otherwise: a tensor from a file crosses the bus to a GPU twice,
    /// which mostly takes longer than to reverse it where it is.
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub(crate) device: Device,
}

/// What moves a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Cpu,
    /// By its number.
    Cuda(usize),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse());
        match (text, text.strip_prefix("cuda:").and_then(number)) {
            ("cpu", _) => Ok(Device::Cpu),
            ("cuda", _) => Ok(Device::Cuda(0)),
            (_, Some(Ok(number))) => Ok(Device::Cuda(number)),
            _ => Err("expected cpu, cuda or cuda:N".to_owned()),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// How a file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InPlace {
    /// By a new file, when that is complete
    Copy,
    /// By changing it where it is
    Direct,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The operator
    #[command(subcommand)]
    pub(crate) operation: Operation<Input>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What would move the tensor: cpu, cuda or cuda:N
    #[arg(long, global = true, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub(crate) device: Device,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The operator
    #[command(subcommand)]
    pub(crate) operation: Operation<Input>,
    /// Write the picture to this file (.svg, or - for stdout) instead, as SVG
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace an image that is read-only, too
    #[arg(long, global = true, requires = "svg")]
    pub(crate) force: bool,
}

/// Reads a location; every text is one.
fn location() -> impl TypedValueParser<Value = Location> {
    OsStringValueParser::new().map(|text| Location::from(text.as_os_str()))
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// The axes to reverse, such as 0,-1; negative ones count from the end
    #[arg(long, value_name = "AXES", allow_hyphen_values = true, conflicts_with = "mask")]
    pub(crate) axes: Option<Axes>,
    /// One true or false (1 or 0) for every axis
    #[arg(long, value_name = "MASK")]
    pub(crate) mask: Option<Mask>,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseSequenceArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// One length per entry of the batch axis: 4,3,2,1 or a file of integers (.csv and .txt too)
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
pub(crate) struct ReverseSubsequencesArguments<F: Args> {
    #[command(flatten)]
    pub(crate) files: F,
    /// One length per lane, in row-major order: 4,3,2,1 or a file of integers (.csv and .txt too)
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

/// A shape as a list.
#[derive(Debug, Clone)]
pub(crate) struct Sizes(pub(crate) Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes: Option<_> = entries(text).map(|size| size.parse().ok()).collect();
        sizes.map(Sizes).ok_or("expected sizes such as 64,128".to_owned())
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
    File(Location),
}

impl FromStr for LengthsArgument {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match integers(text) {
            Some(list) => LengthsArgument::List(list),
            None => LengthsArgument::File(Location::from(OsStr::new(text))),
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
    fn devices_have_names_and_numbers() {
        for (text, device) in
            [("cpu", Device::Cpu), ("cuda", Device::Cuda(0)), ("cuda:12", Device::Cuda(12))]
        {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        for text in ["", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda 1", "cpu:0"]
        {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
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
