//! The `retrograde` command: reverses tensors in files and shows what moved.
//!
//! This module is the outline; each step has its own module. It is a library so that the Python
//! package can provide the same command, and programs that take the same operators can read them.

mod args;
mod bench;
mod cuda;
mod device;
mod elements;
mod explain;
mod gpu;
mod info;
mod load;
mod model;
mod operate;
mod pages;
mod picture;
mod report;
mod run;
mod show;
mod stores;
mod task;
mod work;

pub use args::{Arguments, Device, Input, Operation};
pub use gpu::{AnyGpu, OpenGpu};
pub use load::{tensor as open_tensor, with_hint};
pub use task::Task;

use anyhow::Result;
use args::Command;
use clap::CommandFactory;
use retrograde_program::programs::{KNOWN, Programs, WGPU, ZARR};
use retrograde_program::{FAILED, interrupt, outcome, parse};
use std::ffi::{OsStr, OsString};

/// Runs the command with these arguments, the first of which is its own name, and returns its exit
/// code. With `gpu`, `--device gpu` is what that opens; without it, such a command line is passed to
/// the program `wgpu`.
///
/// It installs signal handlers for the process: from then on, Ctrl-C ends it.
pub fn main(arguments: Vec<OsString>, gpu: Option<OpenGpu>, programs: &Programs) -> u8 {
    let helps = |word: &OsString| word == "-h" || word == "--help" || word == "help";
    let helps = arguments.len() < 2 || arguments.iter().any(helps);
    let definition = args::command(helps.then_some(programs));
    // `help NAME` of a program.
    if let [_, help, name] = &arguments[..]
        && help == "help"
        && definition.find_subcommand(name).is_none()
        && let Some(done) = programs.run(&name.to_string_lossy(), ["--help"])
    {
        return code(done);
    }
    let parsed: Arguments = match parse(definition, arguments.iter().cloned()) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    if let Command::Program(words) = &parsed.command {
        return program(words, parsed.quiet, arguments.iter().cloned(), programs);
    }
    let other = stores::among(&parsed).map(|store| match store {
        Some(store) => Some((ZARR, format!("{store}: Zarr stores, HDF5 files and URLs need"))),
        None if gpu.is_none() && asks_for_gpu(&parsed) => {
            Some((WGPU, "--device gpu needs".to_owned()))
        }
        None => None,
    });
    match other {
        Ok(Some((program, needed))) => {
            let done = programs.run(program.name, arguments.iter().skip(1));
            code(done.unwrap_or_else(|| Err(program.missing(&needed))))
        }
        Ok(None) => outcome(command(&parsed, gpu, programs).map_err(load::with_hint)),
        Err(error) => code(Err(error)),
    }
}

/// Runs another program. One that nobody knows is invalid usage.
fn program(
    words: &[OsString],
    quiet: bool,
    arguments: impl IntoIterator<Item = OsString>,
    programs: &Programs,
) -> u8 {
    let name = words.first().map(|name| name.to_string_lossy()).unwrap_or_default();
    let quiet = quiet.then_some(OsStr::new("--quiet"));
    let words = quiet.into_iter().chain(words.iter().skip(1).map(OsString::as_os_str));
    if let Some(done) = programs.run(&name, words) {
        return code(done);
    }
    match KNOWN.iter().find(|known| known.name == name) {
        Some(known) => code(Err(known.missing(&format!("{name} needs")))),
        None => {
            // The same without external commands says which name was meant.
            let own = Arguments::command();
            let strict = clap::Command::new("retrograde")
                .subcommand_required(true)
                .args(own.get_arguments().cloned())
                .subcommands(own.get_subcommands().cloned());
            parse::<Arguments>(strict, arguments).err().unwrap_or(FAILED)
        }
    }
}

/// The exit code of another program; an error is printed.
fn code(done: Result<u8>) -> u8 {
    done.unwrap_or_else(|error| outcome(Err(error)))
}

/// Whether the operator runs on a GPU other than CUDA's.
fn asks_for_gpu(arguments: &Arguments) -> bool {
    match &arguments.command {
        Command::Operate(operation) => matches!(operation.files().device, Device::Gpu(_)),
        _ => false,
    }
}

fn command(arguments: &Arguments, gpu: Option<OpenGpu>, programs: &Programs) -> Result<()> {
    if arguments.quiet {
        report::be_quiet();
    }
    interrupt::handle()?;
    arguments.command.threads().run(|| run_command(&arguments.command, gpu, programs))
}

fn run_command(command: &Command, gpu: Option<OpenGpu>, programs: &Programs) -> Result<()> {
    match command {
        Command::Operate(operation) => operate::run(operation, gpu),
        Command::Info(arguments) => info::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Model(arguments) => run::run(arguments),
        // Ran already.
        Command::Program(_) => Ok(()),
        Command::Completions { shell } => pages::completions(*shell, programs),
        Command::Man { dir } => pages::manual(dir.as_deref(), programs),
    }
}
