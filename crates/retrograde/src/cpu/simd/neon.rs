//! NEON: 16-byte registers with a byte table look-up.

use super::lanes::by_units;
use super::orders;
use super::words::{load_few, store_few};
use super::{
    BitVector, BytePermute, LaneMap, PackedLanes, PartialVector, Simd, SquareVector, Vector, WIDEST,
};
use std::arch::aarch64::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Neon(uint8x16_t);

/// How units of one width are reversed.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct NeonOrder {
    unit: usize,
    reversed: uint8x16_t,
}

static REVERSED: [[u8; 16]; 17] = orders::reversed();

impl Vector for Neon {
    const BYTES: usize = 16;
    type Order = NeonOrder;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: contract 1 and 2.
        Neon(unsafe { vld1q_u8(src) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2.
        unsafe { vst1q_u8(dst, self.0) }
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2. There is no intrinsic for a non-temporal
        // store.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: contract 1.
        unsafe {
            let (a, b) = (a.0, b.0);
            let (a16, b16) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
            let (a32, b32) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
            let (a64, b64) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
            let (low, high) = match W {
                1 => (vzip1q_u8(a, b), vzip2q_u8(a, b)),
                2 => (
                    vreinterpretq_u8_u16(vzip1q_u16(a16, b16)),
                    vreinterpretq_u8_u16(vzip2q_u16(a16, b16)),
                ),
                4 => (
                    vreinterpretq_u8_u32(vzip1q_u32(a32, b32)),
                    vreinterpretq_u8_u32(vzip2q_u32(a32, b32)),
                ),
                8 => (
                    vreinterpretq_u8_u64(vzip1q_u64(a64, b64)),
                    vreinterpretq_u8_u64(vzip2q_u64(a64, b64)),
                ),
                _ => (a, b),
            };
            (Neon(low), Neon(high))
        }
    }

    #[inline(always)]
    unsafe fn order(unit: usize) -> NeonOrder {
        // SAFETY: contract 1; the array is as wide as a register.
        let reversed = unsafe { vld1q_u8(REVERSED[unit].as_ptr()) };
        NeonOrder { unit, reversed }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: NeonOrder) -> Self {
        // SAFETY: contract 1.
        Neon(unsafe { vqtbl1q_u8(self.0, order.reversed) })
    }
}

impl PartialVector for Neon {
    #[inline(always)]
    fn unit(order: NeonOrder) -> usize {
        order.unit
    }

    #[inline(always)]
    unsafe fn reverse_short(end: *const u8, dst: *mut u8, bytes: usize, order: NeonOrder) {
        // SAFETY: contract 1 and 2: everything is loaded from the `bytes` bytes before `end` and
        // stored to those from `dst` on; where there are 8 or more, by two halves that overlap.
        unsafe {
            // The order of half a register.
            let order = vget_low_u8(vsubq_u8(order.reversed, vdupq_n_u8(8)));
            match bytes {
                8.. => {
                    let (last, first) = (vld1_u8(end.sub(8)), vld1_u8(end.sub(bytes)));
                    vst1_u8(dst, vtbl1_u8(last, order));
                    vst1_u8(dst.add(bytes - 8), vtbl1_u8(first, order));
                }
                1.. => {
                    let few = vcreate_u8(load_few(end.sub(bytes), bytes));
                    let few = vget_lane_u64::<0>(vreinterpret_u64_u8(vtbl1_u8(few, order)));
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
                    let row = vld1q_u8(src);
                    vst1q_u8(dst, vqtbx1q_u8(row, row, vld1q_u8(order)));
                }
                8.. => {
                    // The first eight bytes and the last eight, which overlap: byte `i` of the
                    // lane is also byte `i + 16 - bytes` of the register.
                    let row = vcombine_u8(vld1_u8(src), vld1_u8(src.add(bytes - 8)));
                    let order = vcombine_u8(vld1_u8(order), vld1_u8(order.add(bytes - 8)));
                    let second = vcgeq_u8(order, vdupq_n_u8(8));
                    let further = vandq_u8(second, vdupq_n_u8(16 - bytes as u8));
                    let row = vqtbx1q_u8(row, row, vqaddq_u8(order, further));
                    vst1_u8(dst, vget_low_u8(row));
                    vst1_u8(dst.add(bytes - 8), vget_high_u8(row));
                }
                1.. => {
                    let few = vcreate_u8(load_few(src, bytes));
                    let few = vqtbx1_u8(few, vcombine_u8(few, few), vld1_u8(order));
                    store_few(vget_lane_u64::<0>(vreinterpret_u64_u8(few)), dst, bytes);
                }
                _ => {}
            }
        }
    }

    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        let order = &const { orders::either::<W>() }[usize::from(reversed)];
        // SAFETY: contract 1 and 2.
        unsafe { Neon(vqtbl1q_u8(vld1q_u8(src), vld1q_u8(order.as_ptr()))) }
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
            let order = vld1q_u8(order.as_ptr());
            Neon(vqtbx1q_u8(vld1q_u8(straight), vld1q_u8(reversed), order))
        }
    }
}

impl PackedLanes for Neon {
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
                1 => vld1q_u8(heads),
                2 => vcombine_u8(vld1_u8(heads), vdup_n_u8(0)),
                4 => vreinterpretq_u8_u32(vdupq_n_u32(heads.cast::<u32>().read_unaligned())),
                _ => return by_units::<Self, W>(src, heads, map),
            };
            let [first, within] = const { &orders::places::<W>() };
            let (first, within) = (vld1q_u8(first.as_ptr()), vld1q_u8(within.as_ptr()));
            // The map counts units, in integers as wide as they are: to each byte of a unit, the
            // lowest byte of its integer.
            let of = |integers: &[u8; WIDEST]| vqtbl1q_u8(vld1q_u8(integers.as_ptr()), first);
            let head = vqtbl1q_u8(heads, of(&map.lane));
            let inside = vcltq_u8(of(&map.within), head);
            let unit = vaddq_u8(of(&map.base), head);
            let byte = vmlaq_u8(within, unit, vdupq_n_u8(W as u8));
            // Bytes outside of their lane's head get a number that leaves them as they are.
            let row = vld1q_u8(src);
            Neon(vqtbx1q_u8(row, row, vornq_u8(byte, inside)))
        }
    }
}

impl BitVector for Neon {
    #[inline(always)]
    unsafe fn reversed_in_bytes<const BITS: usize>(self) -> Self {
        // SAFETY: contract 1.
        unsafe {
            Neon(match BITS {
                4 => vsliq_n_u8::<4>(vshrq_n_u8::<4>(self.0), self.0),
                2 => {
                    // All bits, then those of each element back.
                    let bits = vrbitq_u8(self.0);
                    let odd = vandq_u8(vshrq_n_u8::<1>(bits), vdupq_n_u8(0x55));
                    let even = vandq_u8(vshlq_n_u8::<1>(bits), vdupq_n_u8(0xAA));
                    vorrq_u8(odd, even)
                }
                _ => vrbitq_u8(self.0),
            })
        }
    }

    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        // A negative left shift is a right shift.
        let (here, there) = (shift as i8, shift as i8 - 8);
        let (here, there) = if high_first { (here, there) } else { (-here, -there) };
        // SAFETY: contract 1.
        unsafe {
            let own = vshlq_u8(self.0, vdupq_n_s8(here));
            Neon(vorrq_u8(own, vshlq_u8(next.0, vdupq_n_s8(there))))
        }
    }
}

impl SquareVector for Neon {
    type Part = Self;

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: u8) -> Self {
        // SAFETY: contract 1.
        unsafe { Neon(vbslq_u8(vdupq_n_u8(mask), other.0, self.0)) }
    }
}

impl BytePermute for Neon {
    const HAS_PERMUTE: bool = true;

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: *const u8) -> Self {
        // SAFETY: contract 1 and 2: there are 16 numbers at `order`.
        unsafe { Neon(vqtbl2q_u8(uint8x16x2_t(first.0, second.0), vld1q_u8(order))) }
    }
}

impl Simd for Neon {
    type Odd = Self;
    type Lanes = Self;
}
