//! The program behind `retrograde reverse in.zarr`: the same words, for stores.
//!
//! `retrograde` runs it when an input or output is a Zarr store, an HDF5 file or a URL. This module
//! is the outline.

mod args;
mod open;
mod report;
mod reverse;
mod sequence;

use crate::Error;
use anyhow::Result;
use args::{Arguments, Command};
use retrograde_program::interrupt;
use retrograde_program::programs::Held;
use std::io::Write;

/// The program.
pub const PROGRAM: Held = Held::new::<Arguments>("zarr", |arguments, _| {
    retrograde_program::run(arguments, |arguments: &Arguments| arguments.quiet, run)
});

fn run(arguments: &Arguments) -> Result<()> {
    let done = match &arguments.command {
        Command::Reverse(reverse) => reverse::run(reverse),
        Command::ReverseSequence(sequence) => sequence::run(sequence),
        Command::Info(info) => report::info(info),
    };
    if let Err(error) = &done
        && let Some(interrupted @ Error::Interrupted { .. }) = error.downcast_ref()
    {
        // If stderr is closed, there is nowhere to report it.
        let _ = writeln!(std::io::stderr(), "{interrupted}");
        std::process::exit(interrupt::code().into());
    }
    done
}
