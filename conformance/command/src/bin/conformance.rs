//! `retrograde-conformance`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrograde_conformance_command::CONFORMANCE.main()
}
