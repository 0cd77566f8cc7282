//! AVX-512 (F, BW, VL): 64-byte registers, masks, permutations across all of it. With VBMI, they permute
//! single bytes, which makes units of any width alike; without it, words of two or four bytes.

use super::avx2::Avx;
use super::lanes::by_units;
use super::orders;
use super::ssse3::Sse;
use super::vector::permuted_bytes;
use super::{LaneMap, PartialVector, Simd, Vector};
use std::arch::x86_64::*;

/// Sixty-four bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Avx512<const VBMI: bool>(__m512i);

/// A mask of the lowest `count` bits.
#[inline(always)]
fn low(count: usize) -> u64 {
    if count >= 64 { !0 } else { (1 << count) - 1 }
}

/// Interleaves 16-bit units of two registers, from unit `from` on.
const fn interleaved16(from: u16) -> [u16; 32] {
    let mut order = [0; 32];
    let mut unit = 0;
    while unit < 32 {
        order[unit] = from + unit as u16 / 2 + if unit % 2 == 1 { 32 } else { 0 };
        unit += 1;
    }
    order
}

/// How units of one width are reversed.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Avx512Order {
    unit: usize,
    /// Of bytes with VBMI. Without it, of words of four bytes; for narrower units, of the bytes in each
    /// quarter of a register.
    order: __m512i,
}

static REVERSED: [[u8; 64]; 17] = orders::reversed();

/// The reverse order of units of so many words: the last whole ones come first.
const fn reversed_words(unit: usize) -> [u32; 16] {
    let mut order = [0; 16];
    let mut word = 0;
    while word < 16 / unit * unit {
        order[word] = (16 - unit - word / unit * unit + word % unit) as u32;
        word += 1;
    }
    order
}

impl<const VBMI: bool> Vector for Avx512<VBMI> {
    const BYTES: usize = 64;
    type Order = Avx512Order;
    const SHUFFLES: bool = true;
    const HAS_PERMUTE: bool = VBMI;

    one_instruction! {
        load(src: *const u8) -> Self = Avx512(_mm512_loadu_si512(src.cast()));
        store(self, dst: *mut u8) = _mm512_storeu_si512(dst.cast(), self.0);
        store_nontemporal(self, dst: *mut u8) = _mm512_stream_si512(dst.cast(), self.0);
        splat(byte: u8) -> Self = Avx512(_mm512_set1_epi8(byte as i8));
        broadcast(sixteen: *const u8) -> Self =
            Avx512(_mm512_broadcast_i32x4(_mm_loadu_si128(sixteen.cast())));
        and(self, other: Self) -> Self = Avx512(_mm512_and_si512(self.0, other.0));
        or(self, other: Self) -> Self = Avx512(_mm512_or_si512(self.0, other.0));
        xor(self, other: Self) -> Self = Avx512(_mm512_xor_si512(self.0, other.0));
        select(mask: Self, set: Self, clear: Self) -> Self =
            Avx512(_mm512_ternarylogic_epi64::<0xCA>(mask.0, set.0, clear.0));
        shl(self, bits: usize) -> Self =
            Avx512(_mm512_sll_epi16(self.0, _mm_cvtsi32_si128(bits as i32)));
        shr(self, bits: usize) -> Self =
            Avx512(_mm512_srl_epi16(self.0, _mm_cvtsi32_si128(bits as i32)));
        shuffle(self, order: Self) -> Self = Avx512(_mm512_shuffle_epi8(self.0, order.0));
    }

    #[inline(always)]
    unsafe fn store_range(self, dst: *mut u8, from: usize, to: usize) {
        // SAFETY: contract 1 and 2; masked-off bytes are not written.
        unsafe { _mm512_mask_storeu_epi8(dst.cast(), low(to) & !low(from), self.0) }
    }

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: Self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            if !VBMI {
                return permuted_bytes(first, second, order);
            }
            Avx512(_mm512_permutex2var_epi8(first.0, order.0, second.0))
        }
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        unsafe {
            let (low, high) = match W {
                1 => {
                    // Within 128-bit lanes, then permute the lanes: a permutation of the bytes of two
                    // registers takes longer, if there is one.
                    let low = _mm512_unpacklo_epi8(a.0, b.0);
                    let high = _mm512_unpackhi_epi8(a.0, b.0);
                    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
                    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
                    (
                        _mm512_permutex2var_epi64(low, first, high),
                        _mm512_permutex2var_epi64(low, second, high),
                    )
                }
                2 => {
                    let first = _mm512_loadu_si512(const { interleaved16(0) }.as_ptr().cast());
                    let second = _mm512_loadu_si512(const { interleaved16(16) }.as_ptr().cast());
                    (
                        _mm512_permutex2var_epi16(a.0, first, b.0),
                        _mm512_permutex2var_epi16(a.0, second, b.0),
                    )
                }
                4 => {
                    let first =
                        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
                    let second = _mm512_setr_epi32(
                        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31,
                    );
                    (
                        _mm512_permutex2var_epi32(a.0, first, b.0),
                        _mm512_permutex2var_epi32(a.0, second, b.0),
                    )
                }
                8 => {
                    let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
                    let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
                    (
                        _mm512_permutex2var_epi64(a.0, first, b.0),
                        _mm512_permutex2var_epi64(a.0, second, b.0),
                    )
                }
                _ => {
                    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
                    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
                    (
                        _mm512_permutex2var_epi64(a.0, first, b.0),
                        _mm512_permutex2var_epi64(a.0, second, b.0),
                    )
                }
            };
            (Avx512(low), Avx512(high))
        }
    }

    #[inline(always)]
    fn orders(unit: usize) -> bool {
        VBMI && (1..=16).contains(&unit) || matches!(unit, 1 | 2 | 4 | 8 | 12 | 16)
    }

    #[inline(always)]
    unsafe fn order(unit: usize) -> Avx512Order {
        // SAFETY: contract 1; the arrays are as wide as a register.
        let order = unsafe {
            match unit {
                _ if VBMI => _mm512_loadu_si512(REVERSED[unit].as_ptr().cast()),
                16 => _mm512_loadu_si512(const { reversed_words(4) }.as_ptr().cast()),
                12 => _mm512_loadu_si512(const { reversed_words(3) }.as_ptr().cast()),
                8 => _mm512_loadu_si512(const { reversed_words(2) }.as_ptr().cast()),
                4 => _mm512_loadu_si512(const { reversed_words(1) }.as_ptr().cast()),
                _ => _mm512_broadcast_i32x4(Sse::order(unit).bytes.0),
            }
        };
        Avx512Order { unit, order }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: Avx512Order) -> Self {
        // SAFETY: contract 1.
        unsafe {
            Avx512(match order.unit < 4 {
                _ if VBMI => _mm512_permutexvar_epi8(order.order, self.0),
                false => _mm512_permutexvar_epi32(order.order, self.0),
                true => {
                    let quarters = _mm512_shuffle_i64x2::<0b00_01_10_11>(self.0, self.0);
                    _mm512_shuffle_epi8(quarters, order.order)
                }
            })
        }
    }
}

impl<const VBMI: bool> PartialVector for Avx512<VBMI> {
    const MIXES: bool = true;

    #[inline(always)]
    fn unit(order: Avx512Order) -> usize {
        order.unit
    }

    #[inline(always)]
    unsafe fn reverse_short(end: *const u8, dst: *mut u8, bytes: usize, order: Avx512Order) {
        // SAFETY: contract 1 and 2; masked-off bytes are neither read nor written, so only the caller's are.
        unsafe {
            let last = low(bytes).rotate_right(bytes as u32);
            let row = _mm512_maskz_loadu_epi8(last, end.wrapping_sub(64).cast());
            let row = Avx512::<VBMI>(row).reversed(order);
            _mm512_mask_storeu_epi8(dst.cast(), low(bytes), row.0);
        }
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(
        src: *const u8,
        dst: *mut u8,
        prefix_len: usize,
        units: usize,
    ) {
        // SAFETY: contract 1 and 2; masked-off bytes are neither read nor written.
        unsafe {
            if VBMI && W == 1 {
                let whole = low(units);
                let row = _mm512_maskz_loadu_epi8(whole, src.cast());
                let own = _mm512_loadu_si512(const { own::<1>() }.as_ptr().cast());
                let last = _mm512_set1_epi8((prefix_len as i8).wrapping_sub(1));
                let order = _mm512_mask_sub_epi8(own, low(prefix_len), last, own);
                let row = _mm512_permutexvar_epi8(order, row);
                _mm512_mask_storeu_epi8(dst.cast(), whole, row);
                return;
            }
            if W < 2 && units <= 32 {
                return Avx::lane_short::<W>(src, dst, prefix_len, units);
            }
            if W < 2 {
                // No permutation of single bytes: two masked rows.
                Self::reverse_short(src.add(prefix_len * W), dst, prefix_len * W, Self::order(W));
                let rest = low(units * W) & !low(prefix_len * W);
                let row = _mm512_maskz_loadu_epi8(rest, src.cast());
                _mm512_mask_storeu_epi8(dst.cast(), rest, row);
                return;
            }
            let whole = low(units * W);
            let row = _mm512_maskz_loadu_epi8(whole, src.cast());
            let mirrored = lane_order::<W>(row, prefix_len);
            _mm512_mask_storeu_epi8(dst.cast(), whole, mirrored);
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
            let b = _mm512_loadu_si512(straight.cast());
            if !VBMI && W == 1 {
                // No permutation of single bytes. The bytes to reverse end where
                // the bytes that must not be read begin, so the register is loaded from its end.
                let front = low(mirrored);
                let before = reversed.wrapping_sub(64 - mirrored);
                let a = _mm512_maskz_loadu_epi8(front.reverse_bits(), before.cast());
                let whole = Avx512::<VBMI>(a).reversed(Self::order(1)).0;
                return Avx512(_mm512_mask_mov_epi8(b, front, whole));
            }
            let a = _mm512_loadu_si512(reversed.cast());
            let order = const { &prefix_orders::<W>() }.get_unchecked(mirrored);
            let order = _mm512_loadu_si512(order.as_ptr().cast());
            Avx512(match W {
                1 => _mm512_permutex2var_epi8(a, order, b),
                2 => _mm512_permutex2var_epi16(a, order, b),
                4 => _mm512_permutex2var_epi32(a, order, b),
                _ => _mm512_permutex2var_epi64(a, order, b),
            })
        }
    }

    #[inline(always)]
    fn packs(unit: usize) -> bool {
        VBMI && unit == 1 || matches!(unit, 2 | 4 | 8)
    }

    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        prefix_lens: *const u8,
        map: &LaneMap,
    ) -> Self {
        // SAFETY: contract 1 and 2.
        unsafe {
            if !VBMI && W == 1 {
                // No byte permutation, and `packs` says so.
                return by_units::<Self, W>(src, prefix_lens, map);
            }
            let row = _mm512_loadu_si512(src.cast());
            let lane = _mm512_load_si512(map.lane.as_ptr().cast());
            let within = _mm512_load_si512(map.within.as_ptr().cast());
            let base = _mm512_load_si512(map.base.as_ptr().cast());
            // Each unit's own place, or the mirrored one where it is inside its lane's prefix.
            let own = _mm512_loadu_si512(const { own::<W>() }.as_ptr().cast());
            Avx512(match W {
                1 => {
                    let prefix_len =
                        _mm512_permutexvar_epi8(lane, _mm512_loadu_si512(prefix_lens.cast()));
                    let inside = _mm512_cmplt_epu8_mask(within, prefix_len);
                    let order = _mm512_mask_add_epi8(own, inside, base, prefix_len);
                    _mm512_permutexvar_epi8(order, row)
                }
                2 => {
                    let prefix_lens = _mm512_cvtepu8_epi16(_mm256_loadu_si256(prefix_lens.cast()));
                    let prefix_len = _mm512_permutexvar_epi16(lane, prefix_lens);
                    let inside = _mm512_cmplt_epu16_mask(within, prefix_len);
                    let order = _mm512_mask_add_epi16(own, inside, base, prefix_len);
                    _mm512_permutexvar_epi16(order, row)
                }
                4 => {
                    let prefix_lens = _mm512_cvtepu8_epi32(_mm_loadu_si128(prefix_lens.cast()));
                    let prefix_len = _mm512_permutexvar_epi32(lane, prefix_lens);
                    let inside = _mm512_cmplt_epu32_mask(within, prefix_len);
                    let order = _mm512_mask_add_epi32(own, inside, base, prefix_len);
                    _mm512_permutexvar_epi32(order, row)
                }
                _ => {
                    let prefix_lens = _mm512_cvtepu8_epi64(_mm_loadl_epi64(prefix_lens.cast()));
                    let prefix_len = _mm512_permutexvar_epi64(lane, prefix_lens);
                    let inside = _mm512_cmplt_epu64_mask(within, prefix_len);
                    let order = _mm512_mask_add_epi64(own, inside, base, prefix_len);
                    _mm512_permutexvar_epi64(order, row)
                }
            })
        }
    }

    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        // SAFETY: contract 1 and 2.
        unsafe { Self::partly_reversed::<W>(src, src, if reversed { 64 / W } else { 0 }) }
    }
}

impl<const VBMI: bool> Simd for Avx512<VBMI> {
    type Sixteen = Sse;
    type Half = Avx;
    type Lanes = Self;

    #[inline(always)]
    unsafe fn interleave_sixteens<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        unsafe {
            let (low, high) = match W {
                1 => (_mm512_unpacklo_epi8(a.0, b.0), _mm512_unpackhi_epi8(a.0, b.0)),
                2 => (_mm512_unpacklo_epi16(a.0, b.0), _mm512_unpackhi_epi16(a.0, b.0)),
                4 => (_mm512_unpacklo_epi32(a.0, b.0), _mm512_unpackhi_epi32(a.0, b.0)),
                8 => (_mm512_unpacklo_epi64(a.0, b.0), _mm512_unpackhi_epi64(a.0, b.0)),
                _ => (a.0, b.0),
            };
            (Avx512(low), Avx512(high))
        }
    }

    #[inline(always)]
    unsafe fn load_sixteens<const W: usize>(
        base: *const u8,
        from: *const u32,
        flips: *const u8,
    ) -> Self {
        // SAFETY: contract 1 and 2: four offsets, four numbers and 16 bytes at each offset.
        unsafe {
            let from = from.cast::<[u32; 4]>().read_unaligned();
            let parts = _mm512_castsi128_si512(_mm_loadu_si128(base.add(from[0] as usize).cast()));
            let part = _mm_loadu_si128(base.add(from[1] as usize).cast());
            let parts = _mm512_inserti32x4::<1>(parts, part);
            let part = _mm_loadu_si128(base.add(from[2] as usize).cast());
            let parts = _mm512_inserti32x4::<2>(parts, part);
            let part = _mm_loadu_si128(base.add(from[3] as usize).cast());
            let parts = _mm512_inserti32x4::<3>(parts, part);
            // The reverse order of units is the order with some bits of each index inverted.
            let own = _mm512_broadcast_i32x4(_mm_loadu_si128(orders::OWN.as_ptr().cast()));
            let flips = _mm512_set1_epi32(flips.cast::<i32>().read_unaligned());
            let each = _mm512_loadu_si512(const { &orders::sixteens::<64>() }.as_ptr().cast());
            let order = _mm512_xor_si512(own, _mm512_shuffle_epi8(flips, each));
            Avx512(_mm512_shuffle_epi8(parts, order))
        }
    }

    #[inline(always)]
    unsafe fn gather_sixteens(src: *const u8, pitch: isize) -> Self {
        // SAFETY: contract 1 and 2 for all four sixteens.
        unsafe {
            let part = |index: isize| _mm_loadu_si128(src.offset(pitch * index).cast());
            let parts = _mm512_castsi128_si512(part(0));
            let parts = _mm512_inserti32x4::<1>(parts, part(1));
            let parts = _mm512_inserti32x4::<2>(parts, part(2));
            Avx512(_mm512_inserti32x4::<3>(parts, part(3)))
        }
    }

    #[inline(always)]
    unsafe fn dense_twelves(self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            let order = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
            Avx512(_mm512_permutexvar_epi32(order, self.0))
        }
    }

    #[inline(always)]
    unsafe fn store_sixteens(self, dst: *mut u8, pitch: usize) {
        // SAFETY: contract 1 and 2.
        unsafe {
            _mm_storeu_si128(dst.cast(), _mm512_castsi512_si128(self.0));
            _mm_storeu_si128(dst.add(pitch).cast(), _mm512_extracti32x4_epi32::<1>(self.0));
            _mm_storeu_si128(dst.add(2 * pitch).cast(), _mm512_extracti32x4_epi32::<2>(self.0));
            _mm_storeu_si128(dst.add(3 * pitch).cast(), _mm512_extracti32x4_epi32::<3>(self.0));
        }
    }
}

/// Bytes in the integers that permute units of `unit` bytes.
const fn index_bytes(unit: usize) -> usize {
    if unit > 8 { 8 } else { unit }
}

/// Every unit's own place, as integers as wide as a unit.
const fn own<const W: usize>() -> [u8; 64] {
    let mut own = [0; 64];
    let mut unit = 0;
    while unit < 64 / W {
        own[unit * W] = unit as u8;
        unit += 1;
    }
    own
}

/// For every number of units of `W` bytes to reverse: which of two registers' integers come where.
const fn prefix_orders<const W: usize>() -> [[u8; 64]; 65] {
    let mut orders = [[0; 64]; 65];
    let (wide, per_unit) = (index_bytes(W), W / index_bytes(W));
    let mut mirrored = 0;
    while mirrored <= 64 / W {
        let mut at = 0;
        while at < 64 / wide {
            let (unit, within) = (at / per_unit, at % per_unit);
            let from = if unit < mirrored {
                (mirrored - 1 - unit) * per_unit + within
            } else {
                64 / wide + at
            };
            orders[mirrored][at * wide] = from as u8;
            at += 1;
        }
        mirrored += 1;
    }
    orders
}

/// Reverses the first `prefix_len` units of a register, `W` of 2, 4, 8 or 16 bytes.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn lane_order<const W: usize>(row: __m512i, prefix_len: usize) -> __m512i {
    // SAFETY: contract 1.
    unsafe {
        match W {
            2 => {
                let own = _mm512_set_epi16(
                    31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                    11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                );
                let mirrored = _mm512_sub_epi16(_mm512_set1_epi16(prefix_len as i16 - 1), own);
                let order = _mm512_mask_mov_epi16(own, low(prefix_len) as u32, mirrored);
                _mm512_permutexvar_epi16(order, row)
            }
            4 => {
                let own = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let mirrored = _mm512_sub_epi32(_mm512_set1_epi32(prefix_len as i32 - 1), own);
                let order = _mm512_mask_mov_epi32(own, low(prefix_len) as u16, mirrored);
                _mm512_permutexvar_epi32(order, row)
            }
            _ => {
                // Units of 8 bytes, or pairs of them.
                let own = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
                let pairs = (W / 8) as i64;
                let within = _mm512_and_epi64(own, _mm512_set1_epi64(pairs - 1));
                let start = _mm512_set1_epi64((prefix_len as i64 - 1) * pairs);
                let mirrored = _mm512_sub_epi64(
                    _mm512_add_epi64(start, _mm512_add_epi64(within, within)),
                    own,
                );
                let order = _mm512_mask_mov_epi64(own, low(prefix_len * W / 8) as u8, mirrored);
                _mm512_permutexvar_epi64(order, row)
            }
        }
    }
}
