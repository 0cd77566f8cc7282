//! Squares of narrow units side by side: a register as parts of 16 bytes, each with a square of its
//! own.
//!
//! Sixteen rows of single bytes fill sixteen registers of any width, and interleaving within 16 bytes
//! is one instruction everywhere. So the wider the register, the more squares each of them transposes.

use super::vector::WIDEST;
use super::{BitVector, PartialVector};
use std::mem::MaybeUninit;

/// Bytes in a part.
pub(in crate::cpu) const PART: usize = 16;

/// A register of one or more parts. The defaults are for registers of one.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait SquareVector: PartialVector + BitVector {
    /// A register of one part.
    type Part: SquareVector;

    /// Interleaves units of `W` bytes of two registers within each part: the lower halves of all
    /// parts, and their upper halves.
    #[inline(always)]
    unsafe fn interleave_parts<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        const { assert!(Self::BYTES == PART) };
        // SAFETY: passed on.
        unsafe { Self::interleave::<W>(a, b) }
    }

    /// Loads part `i` from `base + from[i]`, with its units of `W` bytes in reverse order if
    /// `turned[i]` is `16 - W`, in their own if it is 0.
    #[inline(always)]
    unsafe fn load_parts<const W: usize>(
        base: *const u8,
        from: *const u32,
        turned: *const u8,
    ) -> Self {
        const { assert!(Self::BYTES == PART) };
        // SAFETY: passed on: one part, one offset and one number.
        unsafe { Self::load_either::<W>(base.add(from.read() as usize), turned.read() != 0) }
    }

    /// Stores part `i` to `dst + i * pitch`.
    #[inline(always)]
    unsafe fn store_parts(self, dst: *mut u8, _pitch: usize) {
        const { assert!(Self::BYTES == PART) };
        // SAFETY: passed on.
        unsafe { self.store(dst) }
    }

    /// The bits of each byte that `mask` has from `other`, the rest from this register.
    #[inline(always)]
    unsafe fn select(self, other: Self, mask: u8) -> Self {
        let mut held = MaybeUninit::<[[u64; WIDEST / 8]; 2]>::uninit();
        let own = held.as_mut_ptr().cast::<u64>();
        let mask = 0x0101_0101_0101_0101 * u64::from(mask);
        // SAFETY: contract 1; no register is wider than one of the arrays.
        unsafe {
            let others = own.add(WIDEST / 8);
            self.store(own.cast());
            other.store(others.cast());
            for word in 0..Self::BYTES / 8 {
                let (a, b) = (own.add(word).read(), others.add(word).read());
                own.add(word).write(a & !mask | b & mask);
            }
            Self::load(own.cast())
        }
    }
}
