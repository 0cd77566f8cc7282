//! The kernels: every way to move elements, written once over [`simd`](super::simd) registers.
//!
//! A kernel gets a job (a plain struct of pointers, counts and steps) and checks nothing. It
//! knows neither plans nor threads nor instruction sets; [`dispatch`](super::dispatch) compiles
//! each of them once per instruction set.
//!
//! # Contract
//! Kernels are unsafe for up to four reasons. SAFETY comments cite them by number:
//! 1. every unit that the job names is inside memory valid for reads (input) and for writes
//!    (output);
//! 2. input and output do not overlap, unless the job says that they are the same;
//! 3. the processor has the instructions of the vector type;
//! 4. no `prefix_lens` entry is larger than the length of its lane.

pub(super) mod any_width;
pub(super) mod bit_lines;
pub(super) mod blocks;
pub(super) mod columns;
mod l1_buffer;
pub(super) mod lanes;
pub(super) mod lengths;
pub(super) mod look_up;
pub(super) mod packed_rows;
pub(super) mod packed_swaps;
pub(super) mod rows;
pub(super) mod runs;
pub(super) mod segments;
pub(super) mod short_lanes;
mod short_rows;
pub(super) mod stream;
pub(super) mod swaps;
pub(super) mod tiles;
pub(super) mod transpose;
pub(super) mod units;
