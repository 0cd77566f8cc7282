//! `retrograde-zarr`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrograde_zarr::command::PROGRAM.main()
}
