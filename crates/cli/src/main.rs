//! The `retrograde` command. The code is in the library, which the Python package uses too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(retrograde_cli::main(std::env::args_os(), Vec::new()))
}
