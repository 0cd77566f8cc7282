//! The `retrograde` command; all of it is in the library, which Python's command runs too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(retrograde_cli::main(std::env::args_os()))
}
