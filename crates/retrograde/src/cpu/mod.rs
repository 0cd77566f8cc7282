//! The CPU backend: runs any plan on the caller's memory.
//!
//! ```text
//! execute, each, checked
//!                    check sizes, lengths and overlap
//! program            how a plan moves here: kernel, loops, staging; the one place that chooses
//! run                hands the parts of a program to threads, and calls its kernel
//! nest, lengths      a plan's dimensions as loops; its lengths in memory
//! dispatch           kernels x instruction sets
//! kernels            every way to move elements, generic over registers
//! simd               registers, one file per instruction set
//! ```
//!
//! `memory` has blocks for large outputs. Each imports only what is below it; `schedule` (threads, parts,
//! caches, tuning) stands beside them.

mod checked;
mod dispatch;
mod each;
mod execute;
mod kernels;
mod lengths;
mod memory;
mod nest;
mod program;
mod run;
mod schedule;
mod simd;

pub use checked::{Checked, Piece};
pub use dispatch::Isa;
pub(crate) use each::execute_each;
pub use execute::{execute, execute_in_place};
pub use memory::{Block, kept_memory, set_kept_memory};
pub use program::{Kernel, Program};
pub use schedule::Hint;
/// For the Python package, which divides parts among the threads of OpenMP as the pool does.
#[doc(hidden)]
pub use schedule::shares::Shares;
pub use schedule::threads::{
    max_threads, num_threads, run_parts, threads_from_environment, with_threads,
};
#[cfg(any(feature = "testing", test))]
pub use schedule::tuning::Tuning;
pub use schedule::workers::{Workers, with_workers};
