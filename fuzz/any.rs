//! libFuzzer around the body that `FUZZ_TARGET` names; see `bodies/`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retrograde_fuzz_bodies::{Counting, Target};

#[global_allocator]
static COUNTED: Counting = Counting;

fuzz_target!(
    init: {
        // Fails now if there is no such target.
        let _ = chosen();
    },
    |data: &[u8]| chosen().run(data)
);

fn chosen() -> Target {
    static NAME: std::sync::OnceLock<Target> = std::sync::OnceLock::new();
    *NAME.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
        Target::named(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name}: no such target"))
    })
}
