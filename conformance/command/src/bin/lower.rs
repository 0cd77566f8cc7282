//! `retrograde-lower`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(retrograde_conformance_command::lower(std::env::args_os()))
}
