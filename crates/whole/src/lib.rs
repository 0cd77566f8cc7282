//! The `retrograde` command with all of its programs in one file, as archives and wheels have it: what
//! they share, the engine first of all, is there once.

#![forbid(unsafe_code)]

use retrograde_conformance_command::{CONFORMANCE, LOWER, VERIFY};
use retrograde_program::programs::{Held, Programs};
use std::ffi::OsString;

const PROGRAMS: [Held; 5] = [
    CONFORMANCE,
    LOWER,
    VERIFY,
    retrograde_wgpu_command::PROGRAM,
    retrograde_zarr::command::PROGRAM,
];

/// Runs the command with these arguments, the first of which is its own name, and returns its exit
/// code. `again` are the words that start it.
///
/// It installs signal handlers for the process: from then on, Ctrl-C ends it.
pub fn main(arguments: Vec<OsString>, again: Vec<OsString>) -> u8 {
    retrograde_cli::main(arguments, None, &Programs::new(&PROGRAMS, again))
}
