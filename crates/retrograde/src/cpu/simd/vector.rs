//! The primitives of a vector register: loads, stores, interleaving, reversal.

use std::mem::MaybeUninit;

/// No register is wider than this many bytes.
pub(in crate::cpu) const WIDEST: usize = 64;

/// A register of `BYTES` bytes.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait Vector: Copy {
    /// Width; a power of two from 16 to [`WIDEST`].
    const BYTES: usize;

    /// Loads from any address.
    unsafe fn load(src: *const u8) -> Self;

    /// Stores to any address.
    unsafe fn store(self, dst: *mut u8);

    /// Non-temporal store to an address that is a multiple of `BYTES`; an ordinary one where
    /// the instruction set has none.
    unsafe fn store_nontemporal(self, dst: *mut u8);

    /// Stores only bytes `from..to` of the register to `dst + from..dst + to`; `dst` itself
    /// need not be valid.
    #[inline(always)]
    unsafe fn store_part(self, dst: *mut u8, from: usize, to: usize) {
        let mut bytes = MaybeUninit::<[u8; WIDEST]>::uninit();
        let bytes = bytes.as_mut_ptr().cast::<u8>();
        // SAFETY: contract 1 and 2 (the caller names valid bytes); no register is wider than
        // the array, and `from <= to <= BYTES` by contract 3.
        unsafe {
            self.store(bytes);
            bytes.add(from).copy_to_nonoverlapping(dst.wrapping_add(from), to - from);
        }
    }

    /// Interleaves units of `W` bytes of two registers: the result's lower half and its upper
    /// half.
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self);

    /// Reverses the order of units of `W` bytes; `W` is 1, 2, 4, 8 or 16.
    unsafe fn reversed<const W: usize>(self) -> Self;

    /// Software prefetch of a cache line; the address need not be valid.
    fn prefetch(_address: *const u8) {}
}

/// What belongs at each position of a row: a vector of output bytes, `offset` bytes into it.
pub(in crate::cpu) trait Source<V: Vector>: Copy {
    /// # Safety
    /// `offset + V::BYTES` is at most the row's bytes, `offset` is a multiple of the unit, and
    /// the processor has `V`'s instructions.
    unsafe fn at(&self, offset: usize) -> V;
}

/// Copies one unit of a width known at compile time.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `W` bytes.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_unit<const W: usize>(src: *const u8, dst: *mut u8) {
    // SAFETY: both pointers are valid for `W` bytes, as required. `MaybeUninit` carries padding
    // bytes along without reading them.
    unsafe {
        let unit = src.cast::<MaybeUninit<[u8; W]>>().read_unaligned();
        dst.cast::<MaybeUninit<[u8; W]>>().write_unaligned(unit);
    }
}
