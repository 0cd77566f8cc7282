//! Swaps: rows that are swapped with their own mirror image, in place.

use super::rows::Rows;
use crate::cpu::simd::{Simd, Vector, copy_narrow, divides_registers};
use std::mem::MaybeUninit;

/// Pairs of runs: units walk forward on one side and backward on the other.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Swaps {
    /// The first unit of the side that walks forward.
    pub(in crate::cpu) front: *mut u8,
    /// The unit it is swapped with; the next one is before it.
    pub(in crate::cpu) back: *mut u8,
    /// How many units are swapped on each side.
    pub(in crate::cpu) len: usize,
    /// Bytes in a unit.
    pub(in crate::cpu) unit: usize,
}

/// Runs one pair of runs. `rows` is the row kernel of the same level, called and not compiled a
/// second time.
///
/// # Safety
/// Kernel contract 1 to 3, with the two runs as input and output.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(swaps: &Swaps, rows: unsafe fn(&Rows)) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match swaps.unit {
            unit if divides_registers(unit) => by_vectors::<V>(swaps),
            unit if unit <= BLOCK / 16 => by_blocks(swaps, rows),
            unit => {
                for index in 0..swaps.len {
                    swap_runs(swaps.front.add(index * unit), swaps.back.sub(index * unit), unit);
                }
            }
        }
    }
}

/// # Safety
/// As for [`run`], with a unit that divides `V::BYTES`.
#[inline(always)]
unsafe fn by_vectors<V: Vector>(swaps: &Swaps) {
    let (bytes, unit) = (swaps.len * swaps.unit, swaps.unit);
    let mut done = 0;
    // SAFETY: a vector is only moved where `V::BYTES` bytes are left on both sides.
    unsafe {
        let order = V::order(unit);
        let end = swaps.back.add(unit);
        while done + 2 * V::BYTES <= bytes {
            let (front, back) = (swaps.front.add(done), end.sub(done + V::BYTES));
            let (front_next, back_next) = (front.add(V::BYTES), back.sub(V::BYTES));
            let (a, b) = (V::load_reversed(front, order), V::load_reversed(back, order));
            let c = V::load_reversed(front_next, order);
            let d = V::load_reversed(back_next, order);
            b.store(front);
            a.store(back);
            d.store(front_next);
            c.store(back_next);
            done += 2 * V::BYTES;
        }
        while done + V::BYTES <= bytes {
            let (front, back) = (swaps.front.add(done), end.sub(done + V::BYTES));
            let (a, b) = (V::load_reversed(front, order), V::load_reversed(back, order));
            b.store(front);
            a.store(back);
            done += V::BYTES;
        }
        rest(swaps, done);
    }
}

/// Bytes of one side that are put aside while the other side takes their place.
const BLOCK: usize = 1536;

/// Widths that do not divide a vector: block by block, each reversed by the row kernels.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn by_blocks(swaps: &Swaps, reverse: unsafe fn(&Rows)) {
    let unit = swaps.unit;
    let per_block = BLOCK / unit;
    let mut aside = MaybeUninit::<[u8; BLOCK]>::uninit();
    let aside = aside.as_mut_ptr().cast::<u8>();
    let mut done = 0;
    while done < swaps.len {
        let len = per_block.min(swaps.len - done);
        let bytes = len * unit;
        // SAFETY: both blocks are inside their runs, which do not overlap; `aside` holds one.
        unsafe {
            let front = swaps.front.add(done * unit);
            // The same units on the other side, from their lowest address.
            let back = swaps.back.sub((done + len - 1) * unit);
            let rows = Rows {
                src: front.add(bytes - unit),
                dst: aside,
                count: 1,
                src_step: 0,
                dst_step: 0,
                len,
                unit,
                backward: true,
                stream: false,
                prefetch: false,
            };
            reverse(&rows);
            reverse(&Rows { src: back.add(bytes - unit), dst: front, ..rows });
            aside.copy_to_nonoverlapping(back, bytes);
        }
        done += len;
    }
}

/// The units that fill no vector.
///
/// # Safety
/// As for [`run`], with `unit <= 16`.
#[inline(always)]
unsafe fn rest(swaps: &Swaps, mut done: usize) {
    let unit = swaps.unit;
    while done < swaps.len * unit {
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            let (front, back) = (swaps.front.add(done), swaps.back.sub(done));
            let mut held = MaybeUninit::<[u8; 16]>::uninit();
            copy_narrow(front, held.as_mut_ptr().cast(), unit);
            copy_narrow(back, front, unit);
            copy_narrow(held.as_ptr().cast(), back, unit);
        }
        done += unit;
    }
}

/// # Safety
/// `a` and `b` are valid for reads and writes of `bytes` and do not overlap.
pub(in crate::cpu) unsafe fn swap_runs(a: *mut u8, b: *mut u8, bytes: usize) {
    // SAFETY: kernel contract 1 to 3. `MaybeUninit` because units may hold padding.
    unsafe {
        let (a, b) = (a.cast::<MaybeUninit<u8>>(), b.cast::<MaybeUninit<u8>>());
        std::ptr::swap_nonoverlapping(a, b, bytes);
    }
}
