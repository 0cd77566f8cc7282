//! Runs the fuzz target that `FUZZ_TARGET` names under libFuzzer; the bodies are in `src/`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retrograde_fuzz_zarr::{Counting, named};

#[global_allocator]
static COUNTED: Counting = Counting;

fuzz_target!(
    init: {
        // Fail at startup if the target does not exist.
        let _ = chosen();
    },
    |data: &[u8]| chosen()(data)
);

fn chosen() -> fn(&[u8]) {
    static BODY: std::sync::OnceLock<fn(&[u8])> = std::sync::OnceLock::new();
    *BODY.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").expect("set FUZZ_TARGET to the name of a target");
        named(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name}: no such target"))
    })
}
