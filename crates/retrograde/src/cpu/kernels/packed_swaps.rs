//! Swaps of packed elements in place: whole bytes on both sides, mirrored.

use crate::cpu::simd::{Simd, bits::InBytes};

/// Two runs of whole bytes to swap, with the order of their elements reversed.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct PackedSwaps {
    /// The first byte of one run.
    pub(in crate::cpu) front: *mut u8,
    /// One past the last byte of the other one.
    pub(in crate::cpu) end: *mut u8,
    /// How many, on each side: a multiple of 64.
    pub(in crate::cpu) bytes: usize,
    /// Bits in an element: 1, 2 or 4.
    pub(in crate::cpu) bits: usize,
}

/// Swaps the runs.
///
/// # Safety
/// Kernel contract 1 to 3, with the two runs as input and output.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(job: &PackedSwaps) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match job.bits {
            4 => of_width::<V, 4>(job),
            2 if !InBytes::<V>::AS_DATA => of_width::<V, 2>(job),
            1 if !InBytes::<V>::AS_DATA => of_width::<V, 1>(job),
            _ => of_width::<V, 0>(job),
        }
    }
}

/// # Safety
/// As for [`run`]; elements have `BITS` bits, or that is 0.
#[inline(always)]
unsafe fn of_width<V: Simd, const BITS: usize>(job: &PackedSwaps) {
    let mut done = 0;
    // SAFETY: kernel contract 3.
    let (order, in_bytes) = unsafe { (V::order(1), InBytes::new(job.bits)) };
    while done < job.bytes {
        // SAFETY: kernel contract 1 to 3; vectors are no wider than 64 bytes, and divide them.
        unsafe {
            let (front, back) = (job.front.add(done), job.end.sub(done + V::BYTES));
            let (a, b) = (V::load_reversed(front, order), V::load_reversed(back, order));
            in_bytes.reversed::<BITS>(b).store(front);
            in_bytes.reversed::<BITS>(a).store(back);
        }
        done += V::BYTES;
    }
}
