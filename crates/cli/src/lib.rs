//! The `retrograde` command: reverses tensors in files and shows what moved.
//!
//! This module is the outline; each step has its own module. It is a library so that the Python
//! package can provide the same command.

mod args;
mod bench;
mod conformance;
mod cuda;
mod device;
mod elements;
mod explain;
mod gpu;
mod info;
mod interrupt;
mod load;
mod lower;
mod model;
mod operate;
mod pages;
mod picture;
mod program;
mod progress;
mod report;
mod rot90;
mod run;
mod show;
mod signals;
mod stores;
mod task;
mod verify;
mod work;

pub use gpu::{AnyGpu, OpenGpu};

use anyhow::Result;
use args::{Arguments, Command, Device};
use clap::Parser;
use std::ffi::OsString;

/// Exit codes. In addition, clap returns 2 for invalid usage, and an interruption 128 and the number
/// of its signal.
const DONE: u8 = 0;
const FAILED: u8 = 1;
/// The code that shells report for a process ended by SIGPIPE.
const PIPE_CLOSED: u8 = 141;

/// Runs the command with these arguments, the first of which is its own name, and returns its exit
/// code.
///
/// It installs signal handlers for the process: from then on, Ctrl-C ends it.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    run_with(arguments, None)
}

/// The same with `--device gpu` on what `open` opens. Without it, such a command line is passed to
/// the program `retrograde-wgpu`.
pub fn main_with_gpu(arguments: impl IntoIterator<Item = OsString>, open: OpenGpu) -> u8 {
    run_with(arguments, Some(open))
}

fn run_with(arguments: impl IntoIterator<Item = OsString>, gpu: Option<OpenGpu>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match stores::dispatch(&arguments) {
        Ok(None) => {}
        Ok(Some(code)) => return code,
        Err(error) => {
            report::error(&error);
            return FAILED;
        }
    }
    let done = match Arguments::try_parse_from(&arguments) {
        Ok(parsed) if gpu.is_none() && asks_for_gpu(&parsed) => match gpu::pass_on(&arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Ok(parsed) => command(&parsed, gpu),
        Err(answer) if answer.use_stderr() => {
            // If stderr is closed, there is nowhere to report it.
            let _ = answer.print();
            return u8::try_from(answer.exit_code()).unwrap_or(FAILED);
        }
        Err(help) => report::print_styled(&help.render()).map_err(anyhow::Error::from),
    };
    match done {
        Ok(()) => DONE,
        // The reader closed the pipe early. That is not an error to report, but not success either.
        Err(error) if report::is_closed_pipe(&error) => PIPE_CLOSED,
        Err(error) => {
            report::error(&load::with_hint(error));
            FAILED
        }
    }
}

/// Whether the operator runs on a GPU other than CUDA's.
fn asks_for_gpu(arguments: &Arguments) -> bool {
    match &arguments.command {
        Command::Operate(operation) => matches!(operation.files().device, Device::Gpu(_)),
        _ => false,
    }
}

fn command(arguments: &Arguments, gpu: Option<OpenGpu>) -> Result<()> {
    if arguments.quiet {
        report::be_quiet();
    }
    interrupt::handle()?;
    match &arguments.command {
        Command::Operate(operation) => operate::run(operation, gpu),
        Command::Rot90(arguments) => rot90::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Model(arguments) => run::run(arguments),
        Command::Lower(arguments) => lower::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Conformance(arguments) => conformance::run(arguments),
        Command::Completions { shell } => pages::completions(*shell),
        Command::Man { dir } => pages::manual(dir.as_deref()),
    }
}
