//! No special instructions: two 64-bit words stand for a vector.

use super::entries;
use crate::cpu::vector::{OddVector, Vector};

entries!(Pair);

/// Sixteen bytes; `0` holds the lower addresses.
#[derive(Clone, Copy)]
struct Pair(u64, u64);

impl Vector for Pair {
    type Odd = Self;
    type Half = Self;
    type Quarter = Self;
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        let words = src.cast::<u64>();
        // SAFETY: the caller's promise.
        unsafe { Pair(words.read_unaligned(), words.add(1).read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        let words = dst.cast::<u64>();
        // SAFETY: the caller's promise.
        unsafe {
            words.write_unaligned(self.0);
            words.add(1).write_unaligned(self.1);
        }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: the caller's promise. There is no way past the caches.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        let (mut one, mut two) = ([0u8; 16], [0u8; 16]);
        let mut out = [0u8; 32];
        // SAFETY: the arrays are one and two vectors wide.
        unsafe {
            a.store(one.as_mut_ptr());
            b.store(two.as_mut_ptr());
            for unit in 0..16 / W {
                let (from, to) = (unit * W, 2 * unit * W);
                out[to..to + W].copy_from_slice(&one[from..from + W]);
                out[to + W..to + 2 * W].copy_from_slice(&two[from..from + W]);
            }
            (Self::load(out.as_ptr()), Self::load(out.as_ptr().add(16)))
        }
    }

    #[inline(always)]
    unsafe fn reversed<const W: usize>(self) -> Self {
        let turn = |word: u64| match W {
            1 => word.swap_bytes(),
            2 => {
                let halves = word.rotate_left(32);
                (halves & 0x0000_FFFF_0000_FFFF) << 16 | (halves >> 16) & 0x0000_FFFF_0000_FFFF
            }
            4 => word.rotate_left(32),
            _ => word,
        };
        if W == 16 { self } else { Pair(turn(self.1), turn(self.0)) }
    }
}

impl OddVector for Pair {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        let mut from = [0u8; 16];
        let mut to = [0u8; 16];
        // SAFETY: both arrays are as wide as a vector.
        unsafe {
            self.store(from.as_mut_ptr());
            let mut done = 0;
            while done + W <= 16 {
                let unit = 16 - done - W;
                to[done..done + W].copy_from_slice(&from[unit..unit + W]);
                done += W;
            }
            Self::load(to.as_ptr())
        }
    }
}
