//! The command line: commands and global options.

mod bench;
mod commands;
mod conformance;
mod files;
mod lists;
mod lower;
mod operators;
mod rot90;
mod run;

pub(crate) use bench::{BenchArguments, Op};
pub(crate) use commands::{ExplainArguments, InfoArguments, ShowArguments, VerifyArguments};
pub(crate) use conformance::{
    Conformance, ConformanceArguments, ExportArguments, RunKitArguments, ServeOn, Set,
};
pub(crate) use files::{Device, Files, InPlace};
pub(crate) use lists::{Axes, LengthsArgument, Mask};
pub(crate) use lower::{LowerArguments, LowerTo};
pub(crate) use operators::{
    Alignment, Duplicates, Operation, PaddingArguments, Rest, ReverseArguments,
};
pub(crate) use rot90::Rot90Arguments;
pub(crate) use run::{NamedFile, RunArguments};

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// The text after the options in `--help`.
const AFTER_HELP: &str = "\
FILES
  The tensor is FILE (.npy, .npz, .safetensors, ONNX .pb, or raw bytes with --dtype and
  --shape), FILE:NAME for one of several in an .npz or .safetensors, or - for stdin. The output's format
  is its extension, so reversing no axis only converts: retrograde reverse a.npz:w --axes '' -o
  w.safetensors. Files may be larger than memory. An output is either complete or
  absent: after an error, a full disk or Ctrl-C, the old files are unchanged.

EXIT CODES
  0    success
  1    the arguments do not fit the tensor, or a file could not be read or written
  2    invalid usage
  130  interrupted by Ctrl-C; by another signal, 128 and its number: 143 for SIGTERM
  141  the reader of the output closed the pipe early

ENVIRONMENT
  NO_COLOR                disable colours; CLICOLOR_FORCE=1: colours even into a pipe
  COLUMNS                 the width of pictures
  RETROGRADE_NUM_THREADS  the most threads to use";

/// Reverses tensors: whole axes, padded batches of sequences, and each lane by its own length.
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
    /// Run an operator on files
    #[command(flatten)]
    Operate(Operation<Files>),
    /// Rotate by quarter turns in the plane of two axes (numpy.rot90)
    Rot90(Rot90Arguments),
    /// List what a file or a model holds: types, shapes, memory order; inputs, nodes, outputs
    Info(InfoArguments),
    /// Explain how an operator would run: the plan, the kernel, the bytes, the least time
    Explain(ExplainArguments),
    /// Draw the tensor before and after, and write nothing else
    Show(ShowArguments),
    /// Measure the throughput of a reversal on this machine, compared with memcpy
    Bench(BenchArguments),
    /// Run an ONNX or OpenVINO IR model that consists of reversals
    #[command(name = "run")]
    Model(RunArguments),
    /// Write a model of reversals in another language: ONNX, OpenVINO, StableHLO, DirectML
    Lower(LowerArguments),
    /// Compare the result of another program with ours, bit by bit
    Verify(VerifyArguments),
    /// Test runtimes against the rules of the reversal operators
    Conformance(ConformanceArguments),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write one for every command
    Man {
        /// Write the pages of all commands to this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
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
