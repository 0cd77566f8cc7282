//! Packed elements of 1, 2 or 4 bits.
//!
//! Eight bits anywhere in the input make one byte of the output, so vectors of bytes do most of
//! the work. The ends of a run, which share bytes with other elements, are moved in 64-bit words.

mod by_kernel;
mod call;
mod columns;
mod eights;
mod rows;
mod runs;
mod short;
mod sink;
mod spread;
mod swap;
mod tiles;

pub(super) use swap::{PackedCall, seal, swap_loops, zero_loops};

use crate::cpu::lengths::LengthReader;
use crate::cpu::program::{Packed, Way};
use crate::plan::Dim;

/// Moves packed elements along these dimensions, of which the last is the row, out of place.
///
/// # Safety
/// `src` is valid for reads over the input's reach, `dst` for writes over the output's (and initialised
/// unless the program seals), the two do not overlap, and `lengths` is there if a dimension reads any.
pub(super) unsafe fn run(
    packed: &Packed,
    dims: &[Dim],
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    for way in &packed.ways {
        // SAFETY: passed on. A way for which there is no memory has written nothing.
        let done = unsafe {
            match way {
                Way::Kernel(kernel) => by_kernel::run(packed, dims, *kernel, src, dst, lengths),
                Way::Buffered(kernel, buffered) => {
                    let halves = (dims, &**buffered);
                    by_kernel::run_buffered(packed, *kernel, halves, src, dst, lengths)
                }
                Way::Spread(spread) => spread::run(packed.bits, spread, dims, src, dst, lengths),
                Way::Rows => rows::run(packed, dims, false, src, dst, lengths),
                Way::ShortRows => rows::run(packed, dims, true, src, dst, lengths),
            }
        };
        if done {
            return;
        }
    }
}
