//! `retrograde-conformance`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(retrograde_conformance_command::conformance(std::env::args_os()))
}
