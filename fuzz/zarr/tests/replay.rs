//! Runs every seed and every input that a fuzzer found, without a fuzzer, on any toolchain.

use retrograde_fuzz_zarr::{Counting, TARGETS};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[global_allocator]
static COUNTED: Counting = Counting;

#[test]
fn every_input_of_every_target() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    let mut failed = Vec::new();
    for (name, body) in TARGETS {
        let folder = fs::read_dir(seeds.join(name)).expect(name);
        let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "no seeds for {name}");
        for file in files {
            let data = fs::read(&file).unwrap();
            if catch_unwind(|| body(&data)).is_err() {
                failed.push(file);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
