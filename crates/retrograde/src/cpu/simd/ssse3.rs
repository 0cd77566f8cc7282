//! SSSE3: 16-byte registers with a byte shuffle.

use super::Vector;
use super::narrow::{Narrow, NarrowOrder};
use std::arch::x86_64::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Sse(pub(in crate::cpu) __m128i);

impl Vector for Sse {
    const BYTES: usize = 16;
    type Order = NarrowOrder<Sse>;
    const SHUFFLES: bool = true;
    const HAS_PERMUTE: bool = true;

    one_instruction! {
        load(src: *const u8) -> Self = Sse(_mm_loadu_si128(src.cast()));
        store(self, dst: *mut u8) = _mm_storeu_si128(dst.cast(), self.0);
        store_nontemporal(self, dst: *mut u8) = _mm_stream_si128(dst.cast(), self.0);
        splat(byte: u8) -> Self = Sse(_mm_set1_epi8(byte as i8));
        broadcast(sixteen: *const u8) -> Self = Sse(_mm_loadu_si128(sixteen.cast()));
        and(self, other: Self) -> Self = Sse(_mm_and_si128(self.0, other.0));
        or(self, other: Self) -> Self = Sse(_mm_or_si128(self.0, other.0));
        xor(self, other: Self) -> Self = Sse(_mm_xor_si128(self.0, other.0));
        select(mask: Self, set: Self, clear: Self) -> Self =
            Sse(_mm_or_si128(_mm_and_si128(mask.0, set.0), _mm_andnot_si128(mask.0, clear.0)));
        shl(self, bits: usize) -> Self = Sse(_mm_sll_epi16(self.0, _mm_cvtsi32_si128(bits as i32)));
        shr(self, bits: usize) -> Self = Sse(_mm_srl_epi16(self.0, _mm_cvtsi32_si128(bits as i32)));
        shuffle(self, order: Self) -> Self = Sse(_mm_shuffle_epi8(self.0, order.0));
    }

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: Self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            // From the first: the highest bit, which stands for zero, is set from 16 on. From the second:
            // it is set below 16.
            let low = _mm_adds_epu8(order.0, _mm_set1_epi8(0x70));
            let high = _mm_sub_epi8(order.0, _mm_set1_epi8(16));
            first.shuffle(Sse(low)).or(second.shuffle(Sse(high)))
        }
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        unsafe {
            let (low, high) = match W {
                1 => (_mm_unpacklo_epi8(a.0, b.0), _mm_unpackhi_epi8(a.0, b.0)),
                2 => (_mm_unpacklo_epi16(a.0, b.0), _mm_unpackhi_epi16(a.0, b.0)),
                4 => (_mm_unpacklo_epi32(a.0, b.0), _mm_unpackhi_epi32(a.0, b.0)),
                8 => (_mm_unpacklo_epi64(a.0, b.0), _mm_unpackhi_epi64(a.0, b.0)),
                _ => (a.0, b.0),
            };
            (Sse(low), Sse(high))
        }
    }

    #[inline(always)]
    unsafe fn order(unit: usize) -> NarrowOrder<Sse> {
        // SAFETY: contract 1.
        unsafe { NarrowOrder::new(unit) }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: NarrowOrder<Sse>) -> Self {
        // SAFETY: contract 1.
        unsafe { self.shuffle(order.bytes) }
    }
}

impl Narrow for Sse {
    one_instruction! {
        load_half(src: *const u8) -> Self = Sse(_mm_loadl_epi64(src.cast()));
        store_half(self, dst: *mut u8) = _mm_storel_epi64(dst.cast(), self.0);
        store_upper_half(self, dst: *mut u8) =
            _mm_storel_epi64(dst.cast(), _mm_unpackhi_epi64(self.0, self.0));
        from_word(word: u64) -> Self = Sse(_mm_cvtsi64_si128(word as i64));
        word(self) -> u64 = _mm_cvtsi128_si64(self.0) as u64;
        add(self, other: Self) -> Self = Sse(_mm_add_epi8(self.0, other.0));
        greater(self, other: Self) -> Self = Sse(_mm_cmpgt_epi8(self.0, other.0));
    }
}
