//! Squares of narrow units side by side: a register as groups of 16 bytes (sixteens), each with a
//! square of its own.
//!
//! Sixteen rows of single bytes fill sixteen registers of any width, and interleaving within 16 bytes
//! is one instruction everywhere. So the wider the register, the more squares each of them transposes.

use super::PartialVector;

/// Bytes in such a group.
pub(in crate::cpu) const SIXTEEN: usize = 16;

/// All that the kernels ask of an instruction set: a register of one or more sixteens, with the
/// narrower registers beside the widest. The defaults are for registers of one sixteen.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait Simd: PartialVector {
    /// A register of one sixteen. It has an [order](super::Vector::orders) of all units of up to 16
    /// bytes.
    type Sixteen: PartialVector;

    /// One of at most two sixteens: most of what a wider one loads and stores crosses a cache line.
    type Half: PartialVector;

    /// The register for several short lanes at once.
    type Lanes: PartialVector;

    /// Interleaves units of `W` bytes of two registers within each sixteen: the lower halves of all
    /// sixteens, and their upper halves.
    #[inline(always)]
    unsafe fn interleave_sixteens<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        const { assert!(Self::BYTES == SIXTEEN) };
        // SAFETY: passed on.
        unsafe { Self::interleave::<W>(a, b) }
    }

    /// Loads sixteen `i` from `base + from[i]`, with its units of `W` bytes in reverse order if
    /// `flips[i]` is `16 - W`, in their own if it is 0.
    #[inline(always)]
    unsafe fn load_sixteens<const W: usize>(
        base: *const u8,
        from: *const u32,
        flips: *const u8,
    ) -> Self {
        const { assert!(Self::BYTES == SIXTEEN) };
        // SAFETY: passed on: one sixteen, one offset and one number.
        unsafe { Self::load_either::<W>(base.add(from.read() as usize), flips.read() != 0) }
    }

    /// Loads sixteen `i` from `src + i * pitch`.
    #[inline(always)]
    unsafe fn gather_sixteens(src: *const u8, _pitch: isize) -> Self {
        const { assert!(Self::BYTES == SIXTEEN) };
        // SAFETY: passed on.
        unsafe { Self::load(src) }
    }

    /// The first 12 bytes of all sixteens side by side; the bytes behind them are unspecified.
    #[inline(always)]
    unsafe fn dense_twelves(self) -> Self {
        const { assert!(Self::BYTES == SIXTEEN) };
        self
    }

    /// Stores sixteen `i` to `dst + i * pitch`.
    #[inline(always)]
    unsafe fn store_sixteens(self, dst: *mut u8, _pitch: usize) {
        const { assert!(Self::BYTES == SIXTEEN) };
        // SAFETY: passed on.
        unsafe { self.store(dst) }
    }
}
