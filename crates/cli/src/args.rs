//! The command line: commands and global options.

mod bench;
mod commands;
mod files;
mod operators;
mod run;

pub(crate) use bench::{BenchArguments, Op};
pub(crate) use commands::{ExplainArguments, InfoArguments, ShowArguments};
pub use files::{Device, Input};
pub(crate) use files::{Files, InPlace};
pub use operators::Operation;
pub(crate) use operators::{ALL_AXES, Plane, ReverseComplementArguments, TableName};
pub(crate) use run::{NamedFile, RunArguments};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use retrograde_program::operators::ThreadsArgument;
use retrograde_program::programs::{KNOWN, Program, Programs};
use retrograde_program::stores::StoreArguments;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

/// The text after the options in `--help`.
const AFTER_HELP: &str = "\
FILES
  The tensor is FILE (.npy, .npz, .safetensors, ONNX .pb, or raw bytes with --dtype and
  --shape), FILE:NAME for one of several in an .npz or .safetensors, or - for stdin. The output's format
  is its extension, so reversing no axis only converts: retrograde reverse a.npz:w --axes '' -o
  w.safetensors. Files may be larger than memory. An output is either complete or
  absent: after an error, a full disk or Ctrl-C, the old files are unchanged.

STORES
  reverse, reverse-sequence and info also take Zarr stores (in.zarr, in.zarr:PATH, s3://BUCKET/PATH),
  HDF5 and NetCDF4 files and their datasets (file.nc:NAME), with the program retrograde-zarr, and
  write Zarr stores: `retrograde reverse weather.nc --axes lat -o weather.zarr`. Axes may have names:
  --axes lat,lon. --memory limits the memory, --threads the threads, and --no-sync does not wait for
  the disk; `retrograde help reverse` has all options.

EXIT CODES
  0    success
  1    the arguments do not fit the tensor, or a file could not be read or written
  2    invalid usage
  130  interrupted by Ctrl-C; by another signal, 128 and its number: 143 for SIGTERM
  141  the reader of the output closed the pipe early

ENVIRONMENT
  NO_COLOR                disable colours; CLICOLOR_FORCE=1: colours even into a pipe
  COLUMNS                 the width of pictures
  RETROGRADE_NUM_THREADS  the most threads to use, if there is no --threads";

/// The text after the options of the operators that take stores.
const STORES_HELP: &str = "\
IN may also be a Zarr store (in.zarr, in.zarr:PATH, s3://BUCKET/PATH), an HDF5 or NetCDF4 file, or
one of its datasets (file.nc:NAME), and OUT a Zarr store, if the program retrograde-zarr is installed.";

/// Reverses tensors: whole axes, padded batches of sequences, and each lane by its own length.
#[derive(Debug, Parser)]
#[command(name = "retrograde", version, after_help = AFTER_HELP)]
pub struct Arguments {
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
    /// Another program: its name and arguments.
    #[command(external_subcommand)]
    Program(Vec<OsString>),
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

impl Command {
    /// How many threads may move data, for the commands that do; `bench` has them as its own argument.
    pub(crate) fn threads(&self) -> ThreadsArgument {
        match self {
            Command::Operate(operation) => operation.files().threads,
            Command::Model(arguments) => arguments.threads,
            _ => ThreadsArgument::default(),
        }
    }
}

/// The definition of the command line. With programs, the help says which of them are there.
pub(crate) fn command(with: Option<&Programs>) -> clap::Command {
    let programs = with.map(programs).unwrap_or_default();
    let hidden = |mut command: clap::Command| {
        for name in StoreArguments::NAMES {
            command = command.mut_arg(name, |argument| argument.hide(true));
        }
        command
    };
    Arguments::command()
        .after_help(format!("{AFTER_HELP}{programs}"))
        .mut_subcommand("reverse", |command| with_stores(command, &format!("{ALL_AXES}\n\n")))
        .mut_subcommand("reverse-sequence", |command| with_stores(command, ""))
        .mut_subcommand("reverse-subsequences", hidden)
        .mut_subcommand("reverse-segments", hidden)
        .mut_subcommand("reverse-complement", hidden)
        .mut_subcommand("orient", hidden)
        .mut_subcommand("rot90", hidden)
}

/// An operator that takes stores, whose help says so.
fn with_stores(command: clap::Command, before: &str) -> clap::Command {
    command.after_help(format!("{before}{STORES_HELP}"))
}

/// What the help says about other programs.
fn programs(programs: &Programs) -> String {
    let mut text =
        "\n\nPROGRAMS\n  retrograde NAME runs one of these, or the program retrograde-NAME \
                    beside this one or in PATH."
            .to_owned();
    for Program { name, about, install } in KNOWN {
        let missing = !programs.has(name);
        let note = if missing { format!(" (not installed: {install})") } else { String::new() };
        let _ = write!(text, "\n  {name:11}  {about}{note}");
    }
    let others: Vec<_> = programs.others().into_iter().collect();
    if !others.is_empty() {
        let _ = write!(text, "\n  Others that are installed: {}", others.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command(None).debug_assert();
    }
}
