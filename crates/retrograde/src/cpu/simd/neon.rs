//! NEON: 16-byte registers with a byte table look-up.

use super::{BitVector, BytePermute, OddVector, PackedLanes, PartialVector, Simd, Vector};
use std::arch::aarch64::*;

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(in crate::cpu) struct Neon(uint8x16_t);

/// Which byte comes where when the last whole units of `W` bytes reverse their order.
const fn order<const W: usize>() -> [u8; 16] {
    let mut order = [0; 16];
    let mut byte = 0;
    while byte < 16 / W * W {
        let (unit, within) = (byte / W, byte % W);
        order[byte] = (16 - (unit + 1) * W + within) as u8;
        byte += 1;
    }
    order
}

impl Vector for Neon {
    const BYTES: usize = 16;

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
    unsafe fn reversed<const W: usize>(self) -> Self {
        // SAFETY: contract 1.
        unsafe { self.reversed_odd::<W>() }
    }
}

impl PartialVector for Neon {}

impl PackedLanes for Neon {}

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
    type Half = Self;
    type Quarter = Self;
}

impl OddVector for Neon {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        let order = const { order::<W>() };
        // SAFETY: contract 1.
        unsafe { Neon(vqtbl1q_u8(self.0, vld1q_u8(order.as_ptr()))) }
    }
}
