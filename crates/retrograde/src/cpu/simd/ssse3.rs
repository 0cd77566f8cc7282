//! SSSE3: 16-byte registers with a byte shuffle.

use super::bits::nibble_tables;
use super::orders;
use super::words::own_bits;
use super::{BitVector, BytePermute, OddVector, PackedLanes, PartialVector, Simd, Vector};
use std::arch::x86_64::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Sse(pub(in crate::cpu) __m128i);

impl Vector for Sse {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: contract 1 and 2.
        Sse(unsafe { _mm_loadu_si128(src.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2.
        unsafe { _mm_storeu_si128(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2.
        unsafe { _mm_stream_si128(dst.cast(), self.0) }
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
    unsafe fn reversed<const W: usize>(self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            match W {
                16 => self,
                8 => Sse(_mm_shuffle_epi32::<0b01_00_11_10>(self.0)),
                4 => Sse(_mm_shuffle_epi32::<0b00_01_10_11>(self.0)),
                _ => self.reversed_odd::<W>(),
            }
        }
    }

    #[inline(always)]
    fn prefetch(address: *const u8) {
        // SAFETY: a prefetch has no effect that a program can see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
}

impl PartialVector for Sse {
    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        let order = &const { orders::either::<W>() }[usize::from(reversed)];
        // SAFETY: contract 1 and 2.
        unsafe {
            let order = _mm_loadu_si128(order.as_ptr().cast());
            Sse(_mm_shuffle_epi8(_mm_loadu_si128(src.cast()), order))
        }
    }
}

impl PackedLanes for Sse {}

impl BitVector for Sse {
    #[inline(always)]
    unsafe fn reversed_in_bytes<const BITS: usize>(self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            let half = _mm_set1_epi8(0x0F);
            let low = _mm_and_si128(self.0, half);
            let high = _mm_and_si128(_mm_srli_epi16::<4>(self.0), half);
            if BITS == 4 {
                return Sse(_mm_or_si128(_mm_slli_epi16::<4>(low), high));
            }
            let [lows, highs] = const { &nibble_tables::<BITS>() };
            let lows = _mm_loadu_si128(lows.as_ptr().cast());
            let highs = _mm_loadu_si128(highs.as_ptr().cast());
            let (low, high) = (_mm_shuffle_epi8(lows, low), _mm_shuffle_epi8(highs, high));
            Sse(_mm_or_si128(low, high))
        }
    }

    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        // SAFETY: contract 1.
        unsafe {
            // There are no shifts of bytes: shift words, and mask what crosses a byte.
            let own = _mm_set1_epi8(own_bits(shift, high_first) as i8);
            let (here, there) =
                (_mm_cvtsi32_si128(shift as i32), _mm_cvtsi32_si128(8 - shift as i32));
            let (here, there) = if high_first {
                (_mm_sll_epi16(self.0, here), _mm_srl_epi16(next.0, there))
            } else {
                (_mm_srl_epi16(self.0, here), _mm_sll_epi16(next.0, there))
            };
            Sse(_mm_or_si128(_mm_and_si128(own, here), _mm_andnot_si128(own, there)))
        }
    }
}

impl BytePermute for Sse {}

impl Simd for Sse {
    type Odd = Self;
    type Half = Self;
    type Quarter = Self;
}

impl OddVector for Sse {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        let order = const { orders::reversed::<W>() };
        // SAFETY: contract 1.
        unsafe { Sse(_mm_shuffle_epi8(self.0, _mm_loadu_si128(order.as_ptr().cast()))) }
    }
}
