//! WebAssembly's simd128: 16-byte registers with a byte shuffle.
//!
//! A module that contains these instructions is refused as a whole by an engine that lacks them, so
//! they are chosen when the crate is compiled (`-C target-feature=+simd128`), never detected.

use super::Vector;
use super::narrow::{Narrow, NarrowOrder};
use std::arch::wasm32::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Simd128(v128);

impl Vector for Simd128 {
    const BYTES: usize = 16;
    type Order = NarrowOrder<Simd128>;
    const SHUFFLES: bool = true;
    const HAS_PERMUTE: bool = true;

    one_instruction! {
        load(src: *const u8) -> Self = Simd128(v128_load(src.cast()));
        store(self, dst: *mut u8) = v128_store(dst.cast(), self.0);
        splat(byte: u8) -> Self = Simd128(u8x16_splat(byte));
        broadcast(sixteen: *const u8) -> Self = Simd128(v128_load(sixteen.cast()));
        and(self, other: Self) -> Self = Simd128(v128_and(self.0, other.0));
        or(self, other: Self) -> Self = Simd128(v128_or(self.0, other.0));
        xor(self, other: Self) -> Self = Simd128(v128_xor(self.0, other.0));
        select(mask: Self, set: Self, clear: Self) -> Self =
            Simd128(v128_bitselect(set.0, clear.0, mask.0));
        shl(self, bits: usize) -> Self = Simd128(u8x16_shl(self.0, bits as u32));
        shr(self, bits: usize) -> Self = Simd128(u8x16_shr(self.0, bits as u32));
        shuffle(self, order: Self) -> Self = Simd128(u8x16_swizzle(self.0, order.0));
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 2. There is no instruction for a non-temporal store.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: Self) -> Self {
        // A number that is not below 16 gives 0, on either side.
        let low = u8x16_swizzle(first.0, order.0);
        Simd128(v128_or(low, u8x16_swizzle(second.0, u8x16_sub(order.0, u8x16_splat(16)))))
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
    unsafe fn order(unit: usize) -> NarrowOrder<Simd128> {
        // SAFETY: contract 1.
        unsafe { NarrowOrder::new(unit) }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: NarrowOrder<Simd128>) -> Self {
        // SAFETY: contract 1.
        unsafe { self.shuffle(order.bytes) }
    }
}

impl Narrow for Simd128 {
    one_instruction! {
        load_half(src: *const u8) -> Self = Simd128(v128_load64_zero(src.cast()));
        store_half(self, dst: *mut u8) = v128_store64_lane::<0>(self.0, dst.cast());
        store_upper_half(self, dst: *mut u8) = v128_store64_lane::<1>(self.0, dst.cast());
        from_word(word: u64) -> Self = Simd128(u64x2(word, 0));
        word(self) -> u64 = u64x2_extract_lane::<0>(self.0);
        add(self, other: Self) -> Self = Simd128(u8x16_add(self.0, other.0));
        greater(self, other: Self) -> Self = Simd128(i8x16_gt(self.0, other.0));
    }
}
