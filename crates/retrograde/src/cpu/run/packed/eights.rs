//! What belongs in whole bytes of the output: eight bits of the input each, at any bit offset.

use crate::cpu::kernels::packed_rows::{PackedRow, start};
use crate::cpu::kernels::stream::Stream;
use crate::cpu::simd::words;

/// Packed elements, eight bits at a time, in their own order or (`BACK`) reversed.
#[derive(Clone, Copy)]
pub(super) struct Eights<const BITS: usize, const BACK: bool> {
    /// The byte with the first element; the byte that ends behind it, if `BACK`.
    base: *const u8,
    /// How many bits the elements start, or end, further on: less than 8. If there are any, a
    /// byte behind the whole ones exists.
    shift: usize,
}

impl<const BITS: usize, const BACK: bool> Eights<BITS, BACK> {
    /// From element `at` on; or from the one in front of `at` backward.
    #[inline(always)]
    pub(super) fn new(src: *const u8, at: usize) -> Self {
        let (byte, shift) = words::place::<BITS>(at);
        Eights { base: src.wrapping_add(byte), shift }
    }

    /// `bytes` bytes of output, 1 to 8, the first one lowest.
    ///
    /// # Safety
    /// The elements of these bytes are in memory valid for reads.
    #[inline(always)]
    pub(super) unsafe fn few(&self, offset: usize, bytes: usize) -> u64 {
        let start = start::<BACK>(self.base, offset, bytes);
        // SAFETY: the elements are in valid memory, as required; each byte loaded holds one.
        unsafe {
            let mut word = words::load_few(start, bytes);
            if self.shift > 0 {
                let next = words::load_few(start.add(1), bytes);
                word = words::funnel(word, next, self.shift, words::high_first::<BITS>());
            }
            if BACK {
                word = words::reverse_in_bytes::<BITS>(word.swap_bytes() >> (64 - 8 * bytes));
            }
            word
        }
    }

    /// The job to write `bytes` bytes of output: `stream` is for non-temporal
    /// stores, and `next` is what to prefetch meanwhile; both may be null.
    #[inline(always)]
    pub(super) fn fill(
        &self,
        dst: *mut u8,
        bytes: usize,
        stream: *mut Stream,
        next: *const u8,
    ) -> PackedRow {
        let Eights { base, shift } = *self;
        PackedRow { base, shift, bits: BITS, backward: BACK, dst, bytes, stream, next }
    }
}
