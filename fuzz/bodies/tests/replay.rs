//! Replays the seeds.

use retrograde_fuzz_bodies::{Counting, TARGETS, replay, seeds};
use std::fs;

#[global_allocator]
static COUNTED: Counting = Counting;

#[test]
fn every_input_of_every_target() {
    replay(&TARGETS);
}

/// Targets whose bodies are in `fuzz/zarr/`, which replays their seeds.
const ELSEWHERE: [&str; 2] = ["hdf5", "zarr"];

#[test]
fn folders_are_targets() {
    for entry in fs::read_dir(seeds()).unwrap() {
        let name = entry.unwrap().file_name();
        let here = TARGETS.iter().any(|target| *name == *target.name);
        assert!(here || ELSEWHERE.iter().any(|known| *name == **known), "no target {name:?}");
    }
}
