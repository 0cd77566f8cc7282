//! The command line: what can be asked for, and how it is spelled.

mod bench;
mod commands;
mod files;
mod lists;
mod operators;
mod run;

pub(crate) use bench::{BenchArguments, Op};
pub(crate) use commands::{ExplainArguments, InfoArguments, ShowArguments};
pub(crate) use files::{Device, Files, InPlace};
pub(crate) use lists::{Axes, LengthsArgument, Mask};
pub(crate) use operators::{Operation, ReverseArguments};
pub(crate) use run::{NamedFile, RunArguments};

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
