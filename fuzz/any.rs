//! Runs the fuzz target that `FUZZ_TARGET` names, or that the program is named after, under libFuzzer; see `bodies/` and
//! `zarr/`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retrograde_fuzz_bodies::{Counting, TARGETS, Target};

#[global_allocator]
static COUNTED: Counting = Counting;

fuzz_target!(
    init: {
        // Fail at startup if the target does not exist.
        let _ = chosen();
    },
    |data: &[u8]| chosen().run(data)
);

fn chosen() -> Target {
    static NAME: std::sync::OnceLock<Target> = std::sync::OnceLock::new();
    *NAME.get_or_init(|| {
        let program = || std::env::current_exe().ok()?.file_name()?.to_str().map(String::from);
        let name = std::env::var("FUZZ_TARGET")
            .ok()
            .or_else(program)
            .expect("set FUZZ_TARGET to the name of a target");
        let mut all = TARGETS.into_iter().chain(retrograde_fuzz_zarr::TARGETS);
        all.find(|target| target.name == name)
            .unwrap_or_else(|| panic!("FUZZ_TARGET={name}: no such target"))
    })
}
