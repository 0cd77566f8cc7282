//! AVX2: 32-byte registers whose shuffles work in two halves.

use super::narrow::NarrowOrder;
use super::orders;
use super::ssse3::Sse;
use super::{PartialVector, Simd, Vector, divides_registers};
use std::arch::x86_64::*;

/// Thirty-two bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Avx(__m256i);

impl Vector for Avx {
    const BYTES: usize = 32;
    type Order = NarrowOrder<Sse>;
    const SHUFFLES: bool = true;

    one_instruction! {
        load(src: *const u8) -> Self = Avx(_mm256_loadu_si256(src.cast()));
        store(self, dst: *mut u8) = _mm256_storeu_si256(dst.cast(), self.0);
        store_nontemporal(self, dst: *mut u8) = _mm256_stream_si256(dst.cast(), self.0);
        splat(byte: u8) -> Self = Avx(_mm256_set1_epi8(byte as i8));
        broadcast(sixteen: *const u8) -> Self =
            Avx(_mm256_broadcastsi128_si256(_mm_loadu_si128(sixteen.cast())));
        and(self, other: Self) -> Self = Avx(_mm256_and_si256(self.0, other.0));
        or(self, other: Self) -> Self = Avx(_mm256_or_si256(self.0, other.0));
        xor(self, other: Self) -> Self = Avx(_mm256_xor_si256(self.0, other.0));
        select(mask: Self, set: Self, clear: Self) -> Self =
            Avx(_mm256_or_si256(_mm256_and_si256(mask.0, set.0), _mm256_andnot_si256(mask.0, clear.0)));
        shl(self, bits: usize) -> Self =
            Avx(_mm256_sll_epi16(self.0, _mm_cvtsi32_si128(bits as i32)));
        shr(self, bits: usize) -> Self =
            Avx(_mm256_srl_epi16(self.0, _mm_cvtsi32_si128(bits as i32)));
        shuffle(self, order: Self) -> Self = Avx(_mm256_shuffle_epi8(self.0, order.0));
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        unsafe {
            // Within 128-bit lanes, then permute the lanes.
            let (low, high) = match W {
                1 => (_mm256_unpacklo_epi8(a.0, b.0), _mm256_unpackhi_epi8(a.0, b.0)),
                2 => (_mm256_unpacklo_epi16(a.0, b.0), _mm256_unpackhi_epi16(a.0, b.0)),
                4 => (_mm256_unpacklo_epi32(a.0, b.0), _mm256_unpackhi_epi32(a.0, b.0)),
                8 => (_mm256_unpacklo_epi64(a.0, b.0), _mm256_unpackhi_epi64(a.0, b.0)),
                _ => (a.0, b.0),
            };
            (
                Avx(_mm256_permute2x128_si256::<0x20>(low, high)),
                Avx(_mm256_permute2x128_si256::<0x31>(low, high)),
            )
        }
    }

    #[inline(always)]
    fn orders(unit: usize) -> bool {
        divides_registers(unit)
    }

    #[inline(always)]
    unsafe fn order(unit: usize) -> NarrowOrder<Sse> {
        // SAFETY: contract 1.
        unsafe { Sse::order(unit) }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: NarrowOrder<Sse>) -> Self {
        // SAFETY: contract 1.
        unsafe {
            // Swap the halves, then reverse within each.
            let swapped = _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0);
            let order = _mm256_broadcastsi128_si256(order.bytes.0);
            Avx(_mm256_shuffle_epi8(swapped, order))
        }
    }

    #[inline(always)]
    unsafe fn load_reversed(src: *const u8, order: NarrowOrder<Sse>) -> Self {
        // SAFETY: contract 1 and 2. Loaded by halves, which takes no shuffle to swap them.
        unsafe {
            let swapped = _mm256_loadu2_m128i(src.cast(), src.add(16).cast());
            let order = _mm256_broadcastsi128_si256(order.bytes.0);
            Avx(_mm256_shuffle_epi8(swapped, order))
        }
    }
}

/// Half a register, twice.
///
/// # Safety
/// Contract 1, and 2 for 16 bytes.
#[inline(always)]
unsafe fn twice(half: *const u8) -> __m256i {
    // SAFETY: contract 1 and 2.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(half.cast())) }
}

impl PartialVector for Avx {
    const MIXES: bool = true;

    #[inline(always)]
    fn unit(order: NarrowOrder<Sse>) -> usize {
        order.unit
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(
        src: *const u8,
        dst: *mut u8,
        prefix_len: usize,
        units: usize,
    ) {
        let bytes = units * W;
        // SAFETY: contract 1; contract 2 for `bytes` bytes on both sides: two halves that overlap
        // cover 17 to 32 bytes, and so they do in an order; contract 3: there is an order for
        // `prefix_len <= units <= 32 / W`.
        unsafe {
            if bytes <= 16 {
                return Sse::lane_short::<W>(src, dst, prefix_len, units);
            }
            let order =
                const { &orders::prefixes::<W, 32, 33>() }.get_unchecked(prefix_len).as_ptr();
            let apart = bytes - 16;
            let both = _mm256_loadu2_m128i(src.add(apart).cast(), src.cast());
            let order = _mm256_loadu2_m128i(order.add(apart).cast(), order.cast());
            // From the first half: the highest bit, which stands for no byte, is set from 16 on. From
            // the second: it is set below `apart`. A byte that both have is the same in both.
            let first = _mm256_adds_epu8(order, _mm256_set1_epi8(0x70));
            let second = _mm256_sub_epi8(order, _mm256_set1_epi8(apart as i8));
            let first = _mm256_shuffle_epi8(twice(src), first);
            let second = _mm256_shuffle_epi8(twice(src.add(apart)), second);
            let none = _mm256_cmpgt_epi8(_mm256_setzero_si256(), order);
            let moved = _mm256_andnot_si256(none, _mm256_or_si256(first, second));
            let row = _mm256_or_si256(moved, _mm256_and_si256(both, none));
            _mm_storeu_si128(dst.cast(), _mm256_castsi256_si128(row));
            _mm_storeu_si128(dst.add(apart).cast(), _mm256_extracti128_si256::<1>(row));
        }
    }

    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        mirrored: usize,
    ) -> Self {
        // SAFETY: contract 1, contract 2 for a register at both addresses, contract 3: there is an
        // order for `mirrored <= 32 / W`.
        unsafe {
            let order = const { &orders::prefixes::<W, 32, 33>() }.get_unchecked(mirrored);
            let order = _mm256_loadu_si256(order.as_ptr().cast());
            let kept = _mm256_loadu_si256(straight.cast());
            if W >= 4 {
                // Words of four bytes move across halves: the number of a word is that of its first
                // byte, in fours. The highest bit of each byte says whether it is kept.
                let words = _mm256_and_si256(_mm256_srli_epi32::<2>(order), _mm256_set1_epi32(7));
                let moved = _mm256_loadu_si256(reversed.cast());
                let moved = _mm256_permutevar8x32_epi32(moved, words);
                return Avx(_mm256_blendv_epi8(moved, kept, order));
            }
            // As in `lane_short`, for two halves that do not overlap.
            let first = _mm256_adds_epu8(order, _mm256_set1_epi8(0x70));
            let second = _mm256_sub_epi8(order, _mm256_set1_epi8(16));
            let first = _mm256_shuffle_epi8(twice(reversed), first);
            let second = _mm256_shuffle_epi8(twice(reversed.add(16)), second);
            let none = _mm256_cmpgt_epi8(_mm256_setzero_si256(), order);
            let moved = _mm256_or_si256(first, second);
            Avx(_mm256_or_si256(moved, _mm256_and_si256(kept, none)))
        }
    }

    #[inline(always)]
    unsafe fn reverse_short(end: *const u8, dst: *mut u8, bytes: usize, order: NarrowOrder<Sse>) {
        // SAFETY: contract 1 and 2; two overlapping halves cover 16 to 31 bytes.
        unsafe {
            if bytes < 16 {
                Sse::reverse_short(end, dst, bytes, order);
            } else {
                Sse::load_reversed(end.sub(16), order).store(dst);
                Sse::load_reversed(end.sub(bytes), order).store(dst.add(bytes - 16));
            }
        }
    }

    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        let order = &const { orders::either::<W>() }[usize::from(reversed)];
        // SAFETY: contract 1 and 2; the halves are loaded in the order wanted.
        unsafe {
            let upper = if reversed { 0 } else { 16 };
            let halves = _mm256_loadu2_m128i(src.add(upper).cast(), src.add(16 - upper).cast());
            let order = _mm256_broadcastsi128_si256(_mm_loadu_si128(order.as_ptr().cast()));
            Avx(_mm256_shuffle_epi8(halves, order))
        }
    }
}

impl Simd for Avx {
    type Sixteen = Sse;
    type Half = Self;
    type Lanes = Sse;

    #[inline(always)]
    unsafe fn interleave_sixteens<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        unsafe {
            let (low, high) = match W {
                1 => (_mm256_unpacklo_epi8(a.0, b.0), _mm256_unpackhi_epi8(a.0, b.0)),
                2 => (_mm256_unpacklo_epi16(a.0, b.0), _mm256_unpackhi_epi16(a.0, b.0)),
                4 => (_mm256_unpacklo_epi32(a.0, b.0), _mm256_unpackhi_epi32(a.0, b.0)),
                8 => (_mm256_unpacklo_epi64(a.0, b.0), _mm256_unpackhi_epi64(a.0, b.0)),
                _ => (a.0, b.0),
            };
            (Avx(low), Avx(high))
        }
    }

    #[inline(always)]
    unsafe fn load_sixteens<const W: usize>(
        base: *const u8,
        from: *const u32,
        flips: *const u8,
    ) -> Self {
        // SAFETY: contract 1 and 2: two offsets, two numbers and 16 bytes at each offset.
        unsafe {
            let from = from.cast::<[u32; 2]>().read_unaligned();
            let parts = _mm256_loadu2_m128i(
                base.add(from[1] as usize).cast(),
                base.add(from[0] as usize).cast(),
            );
            // The reverse order of units is the order with some bits of each index inverted.
            let own = _mm256_broadcastsi128_si256(_mm_loadu_si128(orders::OWN.as_ptr().cast()));
            let flips = _mm256_set1_epi16(flips.cast::<i16>().read_unaligned());
            let each = _mm256_loadu_si256(const { &orders::sixteens::<32>() }.as_ptr().cast());
            let order = _mm256_xor_si256(own, _mm256_shuffle_epi8(flips, each));
            Avx(_mm256_shuffle_epi8(parts, order))
        }
    }

    #[inline(always)]
    unsafe fn gather_sixteens(src: *const u8, pitch: isize) -> Self {
        // SAFETY: contract 1 and 2 for both sixteens.
        unsafe { Avx(_mm256_loadu2_m128i(src.offset(pitch).cast(), src.cast())) }
    }

    #[inline(always)]
    unsafe fn dense_twelves(self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            let order = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
            Avx(_mm256_permutevar8x32_epi32(self.0, order))
        }
    }

    #[inline(always)]
    unsafe fn store_sixteens(self, dst: *mut u8, pitch: usize) {
        // SAFETY: contract 1 and 2.
        unsafe {
            _mm_storeu_si128(dst.cast(), _mm256_castsi256_si128(self.0));
            _mm_storeu_si128(dst.add(pitch).cast(), _mm256_extracti128_si256::<1>(self.0));
        }
    }
}
