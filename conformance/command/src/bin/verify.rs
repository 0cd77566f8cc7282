//! `retrograde-verify`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(retrograde_conformance_command::verify(std::env::args_os()))
}
