//! The `retrograde` command, for the script that the wheel installs and `python -m retrograde`.

use pyo3::prelude::*;
use std::ffi::OsString;

#[cfg(feature = "programs")]
use retrograde_whole::main;

/// Without the other programs, which are then those in `PATH`.
#[cfg(not(feature = "programs"))]
fn main(arguments: Vec<OsString>, again: Vec<OsString>) -> u8 {
    let programs = retrograde_program::programs::Programs::new(&[], again);
    retrograde_cli::main(arguments, None, &programs)
}

/// Runs the command with these arguments, the first of which is its name, and returns its exit
/// code. `again` are the words that start it again. From then on, Ctrl-C ends the process.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>, again: Vec<OsString>) -> u8 {
    py.detach(|| main(arguments, again))
}
