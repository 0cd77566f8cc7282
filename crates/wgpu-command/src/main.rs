//! `retrograde-wgpu`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrograde_wgpu_command::PROGRAM.main()
}
