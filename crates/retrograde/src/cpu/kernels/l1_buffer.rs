//! A buffer on the stack that stays in the L1 cache: runs too short for a stream of their own are
//! put together there, and written to memory at once.

use crate::cpu::simd::WIDEST;
use std::mem::MaybeUninit;

/// How much it holds: four pages, as many as are written at once.
pub(super) const BYTES: usize = 16 << 10;

/// The buffer, with room to align it.
pub(super) struct L1Buffer(MaybeUninit<[u8; BYTES + WIDEST]>);

impl L1Buffer {
    pub(super) fn new() -> Self {
        L1Buffer(MaybeUninit::uninit())
    }

    /// Its first byte, aligned to a register, with room for [`BYTES`].
    #[inline(always)]
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.addr().wrapping_neg() % WIDEST)
    }
}
