//! The program behind `retrograde reverse in.zarr`: the same words, for stores.
//!
//! `retrograde` runs it when an input or output is a Zarr store, an HDF5 file or a URL. This module
//! is the outline.

#![forbid(unsafe_code)]

mod args;
mod interrupt;
mod location;
mod progress;
mod report;
mod reverse;
mod sequence;

use args::{Arguments, Command};
use clap::Parser;
use retrograde_zarr::Error;
use std::process::ExitCode;

/// Exit codes, as those of `retrograde`. In addition, clap returns 2 for invalid usage, and a signal
/// gives 128 and its number.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Reverse(reverse) => reverse::run(reverse, arguments.quiet),
        Command::ReverseSequence(sequence) => sequence::run(sequence, arguments.quiet),
        Command::Info(info) => report::info(info),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    match error.downcast_ref() {
        Some(interrupted @ Error::Interrupted { .. }) => {
            report::say(&interrupted.to_string());
            ExitCode::from(interrupt::code())
        }
        _ => {
            report::error(&error);
            ExitCode::from(FAILED)
        }
    }
}
