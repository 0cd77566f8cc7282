//! WebAssembly's simd128: 16-byte registers with a byte shuffle.
//!
//! A module that contains these instructions is refused as a whole by an engine that lacks them, so
//! they are chosen when the crate is compiled (`-C target-feature=+simd128`), never detected.

use super::orders;
use super::words::own_bits;
use super::{BitVector, BytePermute, PackedLanes, PartialVector, Simd, SquareVector, Vector};
use std::arch::wasm32::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Simd128(v128);

/// How units of one width are reversed.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Simd128Order {
    unit: usize,
    reversed: v128,
}

static REVERSED: [[u8; 16]; 17] = orders::reversed();

impl Vector for Simd128 {
    const BYTES: usize = 16;
    type Order = Simd128Order;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: contract 2. The instruction takes any address.
        Simd128(unsafe { v128_load(src.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: contract 2. The instruction takes any address.
        unsafe { v128_store(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 2. There is no instruction for a non-temporal store.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        let (low, high) = match W {
            1 => (
                i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
                i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
            ),
            2 => (
                i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b),
                i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b),
            ),
            4 => (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b)),
            8 => (i64x2_shuffle::<0, 2>(a, b), i64x2_shuffle::<1, 3>(a, b)),
            _ => (a, b),
        };
        (Simd128(low), Simd128(high))
    }

    #[inline(always)]
    unsafe fn order(unit: usize) -> Simd128Order {
        // SAFETY: contract 2: the array is as wide as a register.
        let reversed = unsafe { v128_load(REVERSED[unit].as_ptr().cast()) };
        Simd128Order { unit, reversed }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: Simd128Order) -> Self {
        Simd128(u8x16_swizzle(self.0, order.reversed))
    }
}

impl PartialVector for Simd128 {
    #[inline(always)]
    fn unit(order: Simd128Order) -> usize {
        order.unit
    }
}

impl PackedLanes for Simd128 {}

impl BitVector for Simd128 {
    #[inline(always)]
    unsafe fn reversed_in_bytes<const BITS: usize>(self) -> Self {
        // Halves of each byte change places, then pairs of bits, then bits.
        let nibbles = v128_or(u8x16_shl(self.0, 4), u8x16_shr(self.0, 4));
        if BITS == 4 {
            return Simd128(nibbles);
        }
        let low = u8x16_splat(0x33);
        let pairs =
            v128_or(u8x16_shl(v128_and(nibbles, low), 2), v128_and(u8x16_shr(nibbles, 2), low));
        if BITS == 2 {
            return Simd128(pairs);
        }
        let low = u8x16_splat(0x55);
        Simd128(v128_or(u8x16_shl(v128_and(pairs, low), 1), v128_and(u8x16_shr(pairs, 1), low)))
    }

    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        let own = u8x16_splat(own_bits(shift, high_first));
        let (here, there) = (shift as u32, 8 - shift as u32);
        let (here, there) = if high_first {
            (u8x16_shl(self.0, here), u8x16_shr(next.0, there))
        } else {
            (u8x16_shr(self.0, here), u8x16_shl(next.0, there))
        };
        Simd128(v128_bitselect(here, there, own))
    }
}

impl SquareVector for Simd128 {
    type Part = Self;

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: u8) -> Self {
        Simd128(v128_bitselect(other.0, self.0, u8x16_splat(mask)))
    }
}

impl BytePermute for Simd128 {
    const HAS_PERMUTE: bool = true;

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: *const u8) -> Self {
        // SAFETY: contract 2: there are 16 numbers at `order`.
        let order = unsafe { v128_load(order.cast()) };
        // A number that is not below 16 gives 0, on either side.
        let low = u8x16_swizzle(first.0, order);
        Simd128(v128_or(low, u8x16_swizzle(second.0, u8x16_sub(order, u8x16_splat(16)))))
    }
}

impl Simd for Simd128 {
    type Odd = Self;
    type Lanes = Self;
}
