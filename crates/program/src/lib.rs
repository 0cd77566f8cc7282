//! What the programs of the project share: argument types, reports, progress, interruption, and how
//! they find and run each other. It knows no operator and moves no elements.
//!
//! [`outcome`] is the end of every program: from a result to an exit code.

pub mod description;
pub mod interrupt;
pub mod lists;
pub mod operators;
pub mod place;
pub mod programs;
pub mod progress;
pub mod report;
mod signals;
pub mod stores;

use anyhow::Result;
use clap::{ArgMatches, Command, FromArgMatches, Parser};
use std::ffi::OsString;

/// Exit codes. In addition, clap returns 2 for invalid usage, and an interruption 128 and the number
/// of its signal.
pub const DONE: u8 = 0;
/// The arguments do not fit, or a file could not be read or written.
pub const FAILED: u8 = 1;
/// The code that shells report for a process ended by SIGPIPE.
const PIPE_CLOSED: u8 = 141;

/// Runs a program with these arguments, the first of which is its own name: parses them, installs
/// signal handlers, and returns the exit code of `body`.
pub fn run<A: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
    quiet: impl FnOnce(&A) -> bool,
    body: impl FnOnce(&A) -> Result<()>,
) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let [_, option] = &arguments[..]
        && option == description::OPTION
    {
        let described = format!("{}\n", description::of(&A::command()));
        return outcome(report::print(&described).map_err(anyhow::Error::from));
    }
    let parsed = match parse(A::command(), arguments) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    if quiet(&parsed) {
        report::be_quiet();
    }
    outcome(interrupt::handle().and_then(|()| body(&parsed)))
}

/// The arguments of a command; or, after help or invalid usage was printed, the exit code.
pub fn parse<A: FromArgMatches>(
    mut command: Command,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<A, u8> {
    let matches = command.try_get_matches_from_mut(arguments);
    let parsed = |mut matches: ArgMatches| A::from_arg_matches_mut(&mut matches);
    let answer = match matches.and_then(parsed) {
        Ok(parsed) => return Ok(parsed),
        Err(answer) => answer.format(&mut command),
    };
    if answer.use_stderr() {
        // If stderr is closed, there is nowhere to report it.
        let _ = answer.print();
        return Err(u8::try_from(answer.exit_code()).unwrap_or(FAILED));
    }
    Err(outcome(report::print_styled(&answer.render()).map_err(anyhow::Error::from)))
}

/// The exit code of a result; an error is printed.
pub fn outcome(done: Result<()>) -> u8 {
    match done {
        Ok(()) => DONE,
        // The reader closed the pipe early. That is not an error to report, but not success either.
        Err(error) if report::is_closed_pipe(&error) => PIPE_CLOSED,
        Err(error) => {
            report::error(&error);
            FAILED
        }
    }
}
