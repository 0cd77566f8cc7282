//! NEON: 16-byte registers with a byte table look-up.

use super::entries;
use crate::cpu::vector::{OddVector, Vector};
use std::arch::aarch64::*;

entries!(Neon, "neon");

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Neon(uint8x16_t);

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
    type Odd = Self;
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Neon(unsafe { vld1q_u8(src) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { vst1q_u8(dst, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: the caller's promise. There is no intrinsic for a store past the caches.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn reversed<const W: usize>(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { self.reversed_odd::<W>() }
    }
}

impl OddVector for Neon {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        let order = const { order::<W>() };
        // SAFETY: the caller's promise.
        unsafe { Neon(vqtbl1q_u8(self.0, vld1q_u8(order.as_ptr()))) }
    }
}
