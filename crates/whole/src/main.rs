//! `retrograde` with all of its programs. The code is in the library, which the Python package uses too.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let own = std::env::current_exe().map(OsString::from).into_iter().collect();
    ExitCode::from(retrograde_whole::main(std::env::args_os().collect(), own))
}
