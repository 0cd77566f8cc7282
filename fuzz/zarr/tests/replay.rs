//! Replays the seeds.

use retrograde_fuzz_bodies::{Counting, replay};
use retrograde_fuzz_zarr::TARGETS;

#[global_allocator]
static COUNTED: Counting = Counting;

#[test]
fn every_input_of_every_target() {
    replay(&TARGETS);
}
