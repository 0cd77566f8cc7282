//! AVX-512 with VBMI: permutations of single bytes, which make units of any width alike.

use super::avx512::{Avx512, low, own, prefix_orders};
use super::ssse3::Sse;
use super::{
    BitVector, BytePermute, LaneMap, OddVector, PackedLanes, PartialVector, Simd, SquareVector,
    Vector,
};
use std::arch::x86_64::*;

/// Sixty-four bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Vbmi(__m512i);

/// Which byte comes where when the last whole units of `W` bytes reverse their order.
const fn order<const W: usize>() -> [u8; 64] {
    let mut order = [0; 64];
    let mut byte = 0;
    while byte < 64 / W * W {
        let (unit, within) = (byte / W, byte % W);
        order[byte] = (64 - (unit + 1) * W + within) as u8;
        byte += 1;
    }
    order
}

impl Vector for Vbmi {
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: contract 1 and 2.
        Vbmi(unsafe { _mm512_loadu_si512(src.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2.
        unsafe { _mm512_storeu_si512(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2.
        unsafe { _mm512_stream_si512(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, dst: *mut u8, from: usize, to: usize) {
        // SAFETY: contract 1 and 2; masked-off bytes are not written.
        unsafe { _mm512_mask_storeu_epi8(dst.cast(), low(to) & !low(from), self.0) }
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        let (low, high) = unsafe { Avx512::interleave::<W>(Avx512(a.0), Avx512(b.0)) };
        (Vbmi(low.0), Vbmi(high.0))
    }

    #[inline(always)]
    unsafe fn reversed<const W: usize>(self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            match W {
                1 | 2 => self.reversed_odd::<W>(),
                _ => Vbmi(Avx512(self.0).reversed::<W>().0),
            }
        }
    }

    #[inline(always)]
    fn prefetch(address: *const u8) {
        // SAFETY: a prefetch has no effect that a program can see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
}

impl PartialVector for Vbmi {
    const MIXES: bool = true;

    #[inline(always)]
    unsafe fn reverse_short<const W: usize>(end: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: contract 1 and 2.
        unsafe { Avx512::reverse_short::<W>(end, dst, bytes) }
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(src: *const u8, dst: *mut u8, head: usize, units: usize) {
        // SAFETY: contract 1 and 2; masked-off bytes are neither read nor written.
        unsafe {
            if W > 1 {
                return Avx512::lane_short::<W>(src, dst, head, units);
            }
            let whole = low(units);
            let row = _mm512_maskz_loadu_epi8(whole, src.cast());
            let own = _mm512_loadu_si512(const { own::<1>() }.as_ptr().cast());
            let mirrored = _mm512_sub_epi8(_mm512_set1_epi8((head as i8).wrapping_sub(1)), own);
            let order = _mm512_mask_mov_epi8(own, low(head), mirrored);
            let row = _mm512_permutexvar_epi8(order, row);
            _mm512_mask_storeu_epi8(dst.cast(), whole, row);
        }
    }

    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        mirrored: usize,
    ) -> Self {
        // SAFETY: contract 1 and 2; there is an order for every number of mirrored units.
        unsafe {
            if W > 1 {
                return Vbmi(Avx512::partly_reversed::<W>(reversed, straight, mirrored).0);
            }
            let order = const { &prefix_orders::<1>() }.get_unchecked(mirrored);
            let order = _mm512_loadu_si512(order.as_ptr().cast());
            let (a, b) = (Self::load(reversed), Self::load(straight));
            Vbmi(_mm512_permutex2var_epi8(a.0, order, b.0))
        }
    }

    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        // SAFETY: contract 1 and 2.
        unsafe { Self::partly_reversed::<W>(src, src, if reversed { 64 / W } else { 0 }) }
    }
}

impl PackedLanes for Vbmi {
    #[inline(always)]
    fn packs(unit: usize) -> bool {
        unit == 1 || Avx512::packs(unit)
    }

    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        heads: *const u8,
        map: &LaneMap,
    ) -> Self {
        // SAFETY: contract 1 and 2.
        unsafe {
            if W > 1 {
                return Vbmi(Avx512::packed_lanes::<W>(src, heads, map).0);
            }
            let row = _mm512_loadu_si512(src.cast());
            let lane = _mm512_load_si512(map.lane.as_ptr().cast());
            let within = _mm512_load_si512(map.within.as_ptr().cast());
            let base = _mm512_load_si512(map.base.as_ptr().cast());
            let own = _mm512_loadu_si512(const { own::<1>() }.as_ptr().cast());
            let head = _mm512_permutexvar_epi8(lane, _mm512_loadu_si512(heads.cast()));
            let inside = _mm512_cmplt_epu8_mask(within, head);
            let order = _mm512_mask_add_epi8(own, inside, base, head);
            Vbmi(_mm512_permutexvar_epi8(order, row))
        }
    }
}

impl BitVector for Vbmi {
    #[inline(always)]
    unsafe fn reversed_in_bytes<const BITS: usize>(self) -> Self {
        // SAFETY: contract 1.
        Vbmi(unsafe { Avx512(self.0).reversed_in_bytes::<BITS>() }.0)
    }

    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        // SAFETY: contract 1.
        Vbmi(unsafe { Avx512(self.0).funnel(Avx512(next.0), shift, high_first) }.0)
    }
}

impl SquareVector for Vbmi {
    type Part = Sse;

    #[inline(always)]
    unsafe fn interleave_parts<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        let (low, high) = unsafe { Avx512::interleave_parts::<W>(Avx512(a.0), Avx512(b.0)) };
        (Vbmi(low.0), Vbmi(high.0))
    }

    #[inline(always)]
    unsafe fn load_parts<const W: usize>(
        base: *const u8,
        from: *const u32,
        turned: *const u8,
    ) -> Self {
        // SAFETY: passed on.
        Vbmi(unsafe { Avx512::load_parts::<W>(base, from, turned) }.0)
    }

    #[inline(always)]
    unsafe fn store_parts(self, dst: *mut u8, pitch: usize) {
        // SAFETY: passed on.
        unsafe { Avx512(self.0).store_parts(dst, pitch) }
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: u8) -> Self {
        // SAFETY: passed on.
        Vbmi(unsafe { Avx512(self.0).select(Avx512(other.0), mask) }.0)
    }
}

impl Simd for Vbmi {
    type Odd = Self;
    type Lanes = Self;
}

impl BytePermute for Vbmi {
    const HAS_PERMUTE: bool = true;

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: *const u8) -> Self {
        // SAFETY: contract 1 and 2: there are 64 numbers at `order`.
        unsafe {
            let order = _mm512_loadu_si512(order.cast());
            Vbmi(_mm512_permutex2var_epi8(first.0, order, second.0))
        }
    }
}

impl OddVector for Vbmi {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        let order = const { order::<W>() };
        // SAFETY: contract 1.
        unsafe {
            let order = _mm512_loadu_si512(order.as_ptr().cast());
            Vbmi(_mm512_permutexvar_epi8(order, self.0))
        }
    }
}
