//! Sub-byte elements in a register: reversal within bytes, and shifts across them.

use super::vector::{Vector, WIDEST};
use super::words;
use std::mem::MaybeUninit;

/// A register of packed elements. The defaults work on 64-bit words (SWAR).
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait BitVector: Vector {
    /// Reverses the order of elements of `BITS` bits, 1, 2 or 4, within each byte.
    #[inline(always)]
    unsafe fn reversed_in_bytes<const BITS: usize>(self) -> Self {
        let mut held = MaybeUninit::<[u64; WIDEST / 8]>::uninit();
        let held = held.as_mut_ptr().cast::<u64>();
        // SAFETY: contract 1; no register is wider than the array.
        unsafe {
            self.store(held.cast());
            for word in 0..Self::BYTES / 8 {
                held.add(word).write(words::reverse_in_bytes::<BITS>(held.add(word).read()));
            }
            Self::load(held.cast())
        }
    }

    /// Funnel shift by bytes: for each byte, the eight bits that start `shift` (1 to 7) bits into
    /// it, of which the last come from the same byte of `next`. `high_first` says whether the
    /// first bits of a byte are its most significant ones.
    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        let mut held = MaybeUninit::<[[u64; WIDEST / 8]; 2]>::uninit();
        let here = held.as_mut_ptr().cast::<u64>();
        // SAFETY: contract 1; no register is wider than one of the arrays.
        unsafe {
            let there = here.add(WIDEST / 8);
            self.store(here.cast());
            next.store(there.cast());
            for word in 0..Self::BYTES / 8 {
                let (own, other) = (here.add(word).read(), there.add(word).read());
                here.add(word).write(words::funnel(own, other, shift, high_first));
            }
            Self::load(here.cast())
        }
    }
}

/// Shuffle tables for [`BitVector::reversed_in_bytes`] of 1 and 2 bits: what the low nibble of a
/// byte becomes, and what its high nibble becomes.
#[cfg(target_arch = "x86_64")]
pub(super) const fn nibble_tables<const BITS: usize>() -> [[u8; 16]; 2] {
    let mut tables = [[0; 16]; 2];
    let mut nibble = 0;
    while nibble < 16 {
        let reversed = if BITS == 1 {
            (nibble as u8).reverse_bits() >> 4
        } else {
            (nibble as u8 & 3) << 2 | nibble as u8 >> 2
        };
        tables[0][nibble] = reversed << 4;
        tables[1][nibble] = reversed;
        nibble += 1;
    }
    tables
}
