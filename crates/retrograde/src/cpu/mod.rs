//! The CPU backend: runs any plan on the caller's memory.
//!
//! ```text
//! execute, checked   check sizes, lengths and overlap
//! scattered          sub-byte elements whose rows are no runs of the input
//! copy, in_place     share the plan among threads, run what was chosen
//! choose             which kernel
//! packed, nest       sub-byte elements; a plan's dimensions as loops
//! lengths, stage     the plan's lengths in memory; the staging buffer of a thread
//! dispatch           kernels x instruction sets
//! kernels            every way to move elements, generic over registers
//! simd               registers, one file per instruction set
//! ```
//!
//! `memory` has blocks for large outputs. Each imports only what is below it; `schedule` (threads, parts, caches, tuning) stands beside them.

mod checked;
mod choose;
mod copy;
mod dispatch;
mod execute;
mod in_place;
mod kernels;
mod lengths;
mod memory;
mod nest;
mod packed;
mod scattered;
mod schedule;
mod simd;
mod stage;

pub use checked::{Checked, Piece};
pub use choose::{Kernel, kernel};
pub use dispatch::Isa;
pub use execute::{execute, execute_in_place};
pub use memory::{Block, kept_memory, set_kept_memory};
pub use schedule::hint::{Hint, with_hint};
pub use schedule::shares::Shares;
pub use schedule::threads::{
    max_threads, num_threads, run_parts, threads_from_environment, with_threads,
};
#[cfg(any(feature = "testing", test))]
pub use schedule::tuning::Tuning;
pub use schedule::workers::{Workers, with_workers};
