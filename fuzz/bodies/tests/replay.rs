//! Runs every seed and every input that a fuzzer found, without a fuzzer, on any toolchain.

use retrograde_fuzz_bodies::{Counting, TARGETS};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[global_allocator]
static COUNTED: Counting = Counting;

#[test]
fn every_input_of_every_target() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    let mut failed = Vec::new();
    for target in TARGETS {
        let folder = fs::read_dir(seeds.join(target.name)).expect(target.name);
        let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "no seeds for {}", target.name);
        for file in files {
            let data = fs::read(&file).unwrap();
            if catch_unwind(|| target.run(&data)).is_err() {
                failed.push(file);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Targets whose bodies are in `fuzz/zarr/`, which replays their seeds.
const ELSEWHERE: [&str; 2] = ["hdf5", "zarr"];

#[test]
fn folders_are_targets() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    for entry in fs::read_dir(seeds).unwrap() {
        let name = entry.unwrap().file_name();
        let here = TARGETS.iter().any(|target| *name == *target.name);
        assert!(here || ELSEWHERE.iter().any(|known| *name == **known), "no target {name:?}");
    }
}
