//! The `retrograde` command, for the script that the wheel installs and `python -m retrograde`.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs the command with these arguments, the first of which is its name, and returns its exit
/// code. Other programs of the project are looked for in these folders too. From then on, Ctrl-C ends
/// the process.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>, programs: Vec<PathBuf>) -> u8 {
    py.detach(|| retrograde_cli::main(arguments, programs))
}
