//! The `retrograde` command. The code is in the library, which the Python package uses too.

use retrograde_program::programs::{Programs, own};
use std::process::ExitCode;

fn main() -> ExitCode {
    let programs = Programs::new(&[], own());
    ExitCode::from(retrograde_cli::main(std::env::args_os().collect(), None, &programs))
}
