//! SSSE3: 16-byte registers with a byte shuffle.

use super::bits::nibble_tables;
use super::lanes::by_units;
use super::orders;
use super::words::{load_few, own_bits, store_few};
use super::{
    BitVector, BytePermute, LaneMap, PackedLanes, PartialVector, Simd, SquareVector, Vector,
};
use std::arch::x86_64::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Sse(pub(in crate::cpu) __m128i);

/// How units of one width are reversed.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct SseOrder {
    unit: usize,
    reversed: __m128i,
}

static REVERSED: [[u8; 16]; 17] = orders::reversed();

impl SseOrder {
    /// The order of the whole registers of wider instruction sets, in each 16 bytes.
    #[inline(always)]
    pub(super) fn reversed(self) -> __m128i {
        self.reversed
    }
}

impl Vector for Sse {
    const BYTES: usize = 16;
    type Order = SseOrder;

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
    unsafe fn order(unit: usize) -> SseOrder {
        // SAFETY: contract 1.
        let reversed = unsafe { _mm_loadu_si128(REVERSED[unit].as_ptr().cast()) };
        SseOrder { unit, reversed }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: SseOrder) -> Self {
        // SAFETY: contract 1.
        Sse(unsafe { _mm_shuffle_epi8(self.0, order.reversed) })
    }

    #[inline(always)]
    fn prefetch(address: *const u8) {
        // SAFETY: a prefetch has no effect that a program can see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
}

/// The bytes of `moved` that an order of [`orders::heads`] names, and where it names none, those of
/// `kept`.
///
/// # Safety
/// Contract 1.
#[inline(always)]
unsafe fn ordered(moved: __m128i, kept: __m128i, order: __m128i) -> __m128i {
    // SAFETY: contract 1. A number with the highest bit set gives zero.
    unsafe {
        let none = _mm_cmplt_epi8(order, _mm_setzero_si128());
        _mm_or_si128(_mm_shuffle_epi8(moved, order), _mm_and_si128(kept, none))
    }
}

/// Two halves of a register.
///
/// # Safety
/// Contract 1, and 2 for 8 bytes at both addresses.
#[inline(always)]
unsafe fn halves(low: *const u8, high: *const u8) -> __m128i {
    // SAFETY: contract 1 and 2.
    unsafe { _mm_unpacklo_epi64(_mm_loadl_epi64(low.cast()), _mm_loadl_epi64(high.cast())) }
}

impl PartialVector for Sse {
    const MIXES: bool = true;

    #[inline(always)]
    fn unit(order: SseOrder) -> usize {
        order.unit
    }

    #[inline(always)]
    unsafe fn reverse_short(end: *const u8, dst: *mut u8, bytes: usize, order: SseOrder) {
        // SAFETY: contract 1 and 2: everything is loaded from the `bytes` bytes before `end` and
        // stored to those from `dst` on; where there are 8 or more, by two halves that overlap.
        unsafe {
            // The order of half a register.
            let order = _mm_sub_epi8(order.reversed, _mm_set1_epi8(8));
            match bytes {
                8.. => {
                    let last = _mm_shuffle_epi8(_mm_loadl_epi64(end.sub(8).cast()), order);
                    let first = _mm_shuffle_epi8(_mm_loadl_epi64(end.sub(bytes).cast()), order);
                    _mm_storel_epi64(dst.cast(), last);
                    _mm_storel_epi64(dst.add(bytes - 8).cast(), first);
                }
                1.. => {
                    let few = _mm_cvtsi64_si128(load_few(end.sub(bytes), bytes) as i64);
                    let few = _mm_cvtsi128_si64(_mm_shuffle_epi8(few, order)) as u64;
                    // The bytes were the lowest and are now the highest.
                    store_few(few >> (64 - 8 * bytes), dst, bytes);
                }
                _ => {}
            }
        }
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(src: *const u8, dst: *mut u8, head: usize, units: usize) {
        let bytes = units * W;
        // SAFETY: contract 1; contract 2 for the `bytes` bytes from `src` and from `dst` on, and
        // nothing else is loaded or stored; contract 3: `head <= units <= 16 / W`, for which there
        // is an order, and the bytes of an order from `bytes - 8` on are 8 or more.
        unsafe {
            let order = const { &orders::heads::<W, 16, 17>() }.get_unchecked(head).as_ptr();
            match bytes {
                16.. => {
                    let row = _mm_loadu_si128(src.cast());
                    let row = ordered(row, row, _mm_loadu_si128(order.cast()));
                    _mm_storeu_si128(dst.cast(), row);
                }
                8.. => {
                    // The first eight bytes and the last eight, which overlap: byte `i` of the
                    // lane is also byte `i + 16 - bytes` of the register.
                    let row = halves(src, src.add(bytes - 8));
                    let order = halves(order, order.add(bytes - 8));
                    let second = _mm_cmpgt_epi8(order, _mm_set1_epi8(7));
                    let further = _mm_and_si128(second, _mm_set1_epi8(16 - bytes as i8));
                    let row = ordered(row, row, _mm_add_epi8(order, further));
                    _mm_storel_epi64(dst.cast(), row);
                    _mm_storel_epi64(dst.add(bytes - 8).cast(), _mm_unpackhi_epi64(row, row));
                }
                1.. => {
                    let few = _mm_cvtsi64_si128(load_few(src, bytes) as i64);
                    let few = ordered(few, few, _mm_loadl_epi64(order.cast()));
                    store_few(_mm_cvtsi128_si64(few) as u64, dst, bytes);
                }
                _ => {}
            }
        }
    }

    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        mirrored: usize,
    ) -> Self {
        // SAFETY: contract 1, contract 2 for a register at both addresses, contract 3: there is an
        // order for `mirrored <= 16 / W`.
        unsafe {
            let order = const { &orders::heads::<W, 16, 17>() }.get_unchecked(mirrored);
            let order = _mm_loadu_si128(order.as_ptr().cast());
            let kept = _mm_loadu_si128(straight.cast());
            Sse(ordered(_mm_loadu_si128(reversed.cast()), kept, order))
        }
    }

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

impl PackedLanes for Sse {
    #[inline(always)]
    fn packs(unit: usize) -> bool {
        // Two lanes of wider units do not fit, unless each is a single unit.
        matches!(unit, 1 | 2 | 4)
    }

    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        heads: *const u8,
        map: &LaneMap,
    ) -> Self {
        // SAFETY: contract 1, and 2 for a register at `src` and a head per unit; the arrays of the
        // map and of `places` are as wide as a register or wider.
        unsafe {
            let heads = match W {
                1 => _mm_loadu_si128(heads.cast()),
                2 => _mm_loadl_epi64(heads.cast()),
                4 => _mm_cvtsi32_si128(heads.cast::<i32>().read_unaligned()),
                _ => return by_units::<Self, W>(src, heads, map),
            };
            let [first, place] = const { &orders::places::<W>() };
            let (first, place) = (load16(first.as_ptr()), load16(place.as_ptr()));
            // The map counts units, in integers as wide as they are: to each byte of a unit, the
            // lowest byte of its integer.
            let lane = _mm_shuffle_epi8(load16(map.lane.as_ptr()), first);
            let within = _mm_shuffle_epi8(load16(map.within.as_ptr()), first);
            let base = _mm_shuffle_epi8(load16(map.base.as_ptr()), first);
            let head = _mm_shuffle_epi8(heads, lane);
            // Units of no lane may become anything.
            let inside = _mm_cmpgt_epi8(head, within);
            let unit = _mm_add_epi8(base, head);
            // Numbers of units are small, so no bit crosses a byte.
            let byte = match W {
                1 => unit,
                2 => _mm_add_epi8(place, _mm_slli_epi16::<1>(unit)),
                _ => _mm_add_epi8(place, _mm_slli_epi16::<2>(unit)),
            };
            let none = _mm_cmpeq_epi8(inside, _mm_setzero_si128());
            let row = load16(src);
            Sse(ordered(row, row, _mm_or_si128(byte, none)))
        }
    }
}

/// # Safety
/// Contract 1, and 2 for 16 bytes.
#[inline(always)]
unsafe fn load16(src: *const u8) -> __m128i {
    // SAFETY: contract 1 and 2.
    unsafe { _mm_loadu_si128(src.cast()) }
}

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

impl SquareVector for Sse {
    type Part = Self;

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: u8) -> Self {
        // SAFETY: contract 1.
        unsafe {
            let mask = _mm_set1_epi8(mask as i8);
            let (own, others) = (_mm_andnot_si128(mask, self.0), _mm_and_si128(mask, other.0));
            Sse(_mm_or_si128(own, others))
        }
    }
}

impl BytePermute for Sse {}

impl Simd for Sse {
    type Odd = Self;
    type Lanes = Self;
}
