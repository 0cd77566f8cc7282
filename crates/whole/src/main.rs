//! `retrograde` with all of its programs. The code is in the library, which the Python package uses too.

use std::process::ExitCode;

fn main() -> ExitCode {
    let own = retrograde_program::programs::own();
    ExitCode::from(retrograde_whole::main(std::env::args_os().collect(), own))
}
