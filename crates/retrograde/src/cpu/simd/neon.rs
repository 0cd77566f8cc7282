//! NEON: 16-byte registers with a byte table look-up.

use super::Vector;
use super::narrow::{Narrow, NarrowOrder};
use std::arch::aarch64::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Neon(uint8x16_t);

impl Vector for Neon {
    const BYTES: usize = 16;
    type Order = NarrowOrder<Neon>;
    const SHUFFLES: bool = true;
    const REVERSES_BITS: bool = true;
    const HAS_PERMUTE: bool = true;

    one_instruction! {
        load(src: *const u8) -> Self = Neon(vld1q_u8(src));
        store(self, dst: *mut u8) = vst1q_u8(dst, self.0);
        splat(byte: u8) -> Self = Neon(vdupq_n_u8(byte));
        broadcast(sixteen: *const u8) -> Self = Neon(vld1q_u8(sixteen));
        and(self, other: Self) -> Self = Neon(vandq_u8(self.0, other.0));
        or(self, other: Self) -> Self = Neon(vorrq_u8(self.0, other.0));
        xor(self, other: Self) -> Self = Neon(veorq_u8(self.0, other.0));
        select(mask: Self, set: Self, clear: Self) -> Self = Neon(vbslq_u8(mask.0, set.0, clear.0));
        shl(self, bits: usize) -> Self = Neon(vshlq_u8(self.0, vdupq_n_s8(bits as i8)));
        shr(self, bits: usize) -> Self = Neon(vshlq_u8(self.0, vdupq_n_s8(-(bits as i8))));
        shuffle(self, order: Self) -> Self = Neon(vqtbl1q_u8(self.0, order.0));
        reversed_bits(self) -> Self = Neon(vrbitq_u8(self.0));
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2. There is no intrinsic for a non-temporal
        // store.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: Self) -> Self {
        // SAFETY: contract 1.
        unsafe { Neon(vqtbl2q_u8(uint8x16x2_t(first.0, second.0), order.0)) }
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
    unsafe fn order(unit: usize) -> NarrowOrder<Neon> {
        // SAFETY: contract 1.
        unsafe { NarrowOrder::new(unit) }
    }

    #[inline(always)]
    unsafe fn reversed(self, order: NarrowOrder<Neon>) -> Self {
        // SAFETY: contract 1.
        unsafe { self.shuffle(order.bytes) }
    }
}

impl Narrow for Neon {
    one_instruction! {
        load_half(src: *const u8) -> Self = Neon(vcombine_u8(vld1_u8(src), vdup_n_u8(0)));
        store_half(self, dst: *mut u8) = vst1_u8(dst, vget_low_u8(self.0));
        store_upper_half(self, dst: *mut u8) = vst1_u8(dst, vget_high_u8(self.0));
        from_word(word: u64) -> Self = Neon(vcombine_u8(vcreate_u8(word), vdup_n_u8(0)));
        word(self) -> u64 = vgetq_lane_u64::<0>(vreinterpretq_u64_u8(self.0));
        add(self, other: Self) -> Self = Neon(vaddq_u8(self.0, other.0));
        greater(self, other: Self) -> Self =
            Neon(vcgtq_s8(vreinterpretq_s8_u8(self.0), vreinterpretq_s8_u8(other.0)));
        shuffle_or(self, order: Self, kept: Self) -> Self =
            Neon(vqtbx1q_u8(kept.0, self.0, order.0));
    }
}
