//! The little that a kernel needs to know about a vector register.
//!
//! Algorithms (`rows`, `lanes`, `swaps`) are written once over this trait; a file in `isa/`
//! implements it for one instruction set and adds the entry points, nothing else.

use super::rows::Rows;
use super::short::LaneMap;
use super::stream::Stream;
use super::words;
use std::mem::MaybeUninit;

/// A register of `BYTES` bytes.
///
/// # Safety
/// Every method may use instructions that only some processors have: call them only from the
/// entry points of the matching file in `isa/`, which [`Isa`](super::isa::Isa) hands out where
/// they were detected. Pointers must be valid for the bytes that are loaded or stored.
pub(super) trait Vector: Copy {
    /// Width; a power of two, at least 16.
    const BYTES: usize;

    /// The register to use for units of 3, 6 or 12 bytes.
    type Odd: OddVector;

    /// A register of half the width, or the narrowest there is.
    type Half: Vector;

    /// A register of a quarter of the width, or the narrowest there is.
    type Quarter: Vector;

    /// Loads from any address.
    unsafe fn load(src: *const u8) -> Self;

    /// Stores to any address.
    unsafe fn store(self, dst: *mut u8);

    /// Stores past the caches to an address that is a multiple of `BYTES`.
    unsafe fn stream(self, dst: *mut u8);

    /// Takes units of `W` bytes from two registers in turns: the result's lower half, and its
    /// upper half.
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self);

    /// Stores only bytes `from..to` of the register to the same bytes behind `dst`, which itself
    /// need not be an address of the memory.
    #[inline(always)]
    unsafe fn store_part(self, dst: *mut u8, from: usize, to: usize) {
        let mut bytes = MaybeUninit::<[u8; 64]>::uninit();
        let bytes = bytes.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's promise; no register is wider than the array.
        unsafe {
            self.store(bytes);
            bytes.add(from).copy_to_nonoverlapping(dst.wrapping_add(from), to - from);
        }
    }

    /// Reverses the order of units of `W` bytes; `W` is 1, 2, 4, 8 or 16.
    unsafe fn reversed<const W: usize>(self) -> Self;

    /// Asks for a line to be fetched; the address need not be valid.
    fn fetch(_address: *const u8) {}

    /// Reverses `bytes < BYTES` bytes of units of `W` bytes, from the bytes that end at `end`.
    #[inline(always)]
    unsafe fn reverse_short<const W: usize>(end: *const u8, dst: *mut u8, bytes: usize) {
        let mut done = 0;
        while done < bytes {
            // SAFETY: the caller's promise: `bytes` is a multiple of `W`.
            unsafe { copy_unit::<W>(end.sub(done + W), dst.add(done)) };
            done += W;
        }
    }

    /// One lane of `units * W <= BYTES` bytes: the first `head` units reversed, the rest kept.
    #[inline(always)]
    unsafe fn lane_short<const W: usize>(src: *const u8, dst: *mut u8, head: usize, units: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            Self::reverse_short::<W>(src.add(head * W), dst, head * W);
            let mut at = head;
            while at < units {
                copy_unit::<W>(src.add(at * W), dst.add(at * W));
                at += 1;
            }
        }
    }

    /// Loads from any address, in reverse order if `reversed`.
    #[inline(always)]
    unsafe fn either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let vector = Self::load(src);
            if reversed { vector.reversed::<W>() } else { vector }
        }
    }

    /// A register whose first `turned` units are those at `reversed`, in reverse order, and
    /// whose other units are those at the same places of `straight`.
    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        turned: usize,
    ) -> Self {
        // SAFETY: the caller's promise; no register is wider than the array.
        unsafe {
            if turned == 0 {
                return Self::load(straight);
            }
            if turned * W == Self::BYTES {
                return Self::load(reversed).reversed::<W>();
            }
            let mut mixed = MaybeUninit::<[u8; 64]>::uninit();
            let mixed = mixed.as_mut_ptr().cast::<u8>();
            Self::load(straight).store(mixed);
            let mut unit = 0;
            while unit < turned {
                copy_unit::<W>(reversed.add((turned - 1 - unit) * W), mixed.add(unit * W));
                unit += 1;
            }
            Self::load(mixed)
        }
    }

    /// Whether [`packed_lanes`](Self::packed_lanes) works for units of this width.
    #[inline(always)]
    fn packs(_unit: usize) -> bool {
        false
    }

    /// A register full of short lanes that follow each other, as `map` tells: of each, the
    /// first units as told by `heads` reversed. As many heads are loaded as the register has
    /// units.
    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        _heads: *const u8,
        _map: &LaneMap,
    ) -> Self {
        // SAFETY: the caller's promise; never called where `packs` says no.
        unsafe { Self::load(src) }
    }

    /// Backward rows of a unit that no other path is made for; false if there is no way.
    #[inline(always)]
    unsafe fn backward_any(_rows: &Rows, _stream: &mut Stream) -> bool {
        false
    }

    /// Reverses the order of elements of `BITS` bits, 1, 2 or 4, within each byte.
    #[inline(always)]
    unsafe fn turned<const BITS: usize>(self) -> Self {
        let mut held = MaybeUninit::<[u64; 8]>::uninit();
        let held = held.as_mut_ptr().cast::<u64>();
        // SAFETY: the caller's promise; no register is wider than the array.
        unsafe {
            self.store(held.cast());
            for word in 0..Self::BYTES / 8 {
                held.add(word).write(words::turn::<BITS>(held.add(word).read()));
            }
            Self::load(held.cast())
        }
    }

    /// For each byte, the eight bits that start `shift` (1 to 7) bits into it: some of its own,
    /// the others from the same byte of `next`. What comes first is high or low in a byte.
    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        let mut held = MaybeUninit::<[[u64; 8]; 2]>::uninit();
        let here = held.as_mut_ptr().cast::<u64>();
        // SAFETY: the caller's promise; no register is wider than an array.
        unsafe {
            let there = here.add(8);
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

/// A register that can reverse units whose width does not divide it.
///
/// # Safety
/// As for [`Vector`].
pub(super) trait OddVector: Vector {
    /// Reverses the order of the last units of `W` bytes that fit, into the front. What is
    /// behind them is anything.
    unsafe fn reversed_odd<const W: usize>(self) -> Self;
}

/// What belongs at each place of a row: a vector of output bytes, `offset` bytes into it.
pub(super) trait Source<V: Vector>: Copy {
    /// # Safety
    /// `offset + V::BYTES` is at most the row's bytes, and `offset` is a multiple of the unit.
    unsafe fn at(&self, offset: usize) -> V;
}

/// Copies one unit of a width the compiler knows.
///
/// # Safety
/// `src` and `dst` are valid for `W` bytes.
#[inline(always)]
pub(super) unsafe fn copy_unit<const W: usize>(src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's promise. `MaybeUninit` carries padding bytes along unread.
    unsafe {
        let unit = src.cast::<MaybeUninit<[u8; W]>>().read_unaligned();
        dst.cast::<MaybeUninit<[u8; W]>>().write_unaligned(unit);
    }
}

/// Tables for [`Vector::turned`] of 1 and 2 bits: what the low half of a byte becomes, and
/// what its high half becomes.
#[cfg(target_arch = "x86_64")]
pub(super) const fn turned_halves<const BITS: usize>() -> [[u8; 16]; 2] {
    let mut tables = [[0; 16]; 2];
    let mut half = 0;
    while half < 16 {
        let turned = if BITS == 1 {
            (half as u8).reverse_bits() >> 4
        } else {
            (half as u8 & 3) << 2 | half as u8 >> 2
        };
        tables[0][half] = turned << 4;
        tables[1][half] = turned;
        half += 1;
    }
    tables
}
