//! Rows of one to four vectors, with ordinary stores: how many vectors a row takes is known to the
//! compiler, so that nothing is decided per row. The last vector overlaps the one before it.

use crate::cpu::simd::Vector;

/// Rows of equal size and spacing.
#[derive(Clone, Copy)]
pub(super) struct ShortRows {
    /// Where the first row starts, on both sides; in reverse order its last unit in the input.
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) count: usize,
    /// From row to row: input, output.
    pub(super) steps: [isize; 2],
    /// Bytes in a row.
    pub(super) bytes: usize,
}

/// Whether so many rows of so many bytes are done this way.
#[inline(always)]
pub(super) fn applies<V: Vector>(count: usize, bytes: usize) -> bool {
    count > 1 && (V::BYTES..=4 * V::BYTES).contains(&bytes)
}

/// Runs all rows, in reverse order of units of `W` bytes if `BACKWARD`.
///
/// # Safety
/// Kernel contract 1 to 3, for rows that this [applies] to; in reverse order `W` is their unit, which
/// divides `V::BYTES`.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const W: usize, const BACKWARD: bool>(rows: &ShortRows) {
    // SAFETY: passed on, with as many vectors as cover a row.
    unsafe {
        match rows.bytes.div_ceil(V::BYTES) {
            1 => vectors::<V, W, BACKWARD, 1>(rows),
            2 => vectors::<V, W, BACKWARD, 2>(rows),
            3 => vectors::<V, W, BACKWARD, 3>(rows),
            _ => vectors::<V, W, BACKWARD, 4>(rows),
        }
    }
}

/// # Safety
/// As for [`run`], with `(N - 1) * V::BYTES < bytes <= N * V::BYTES`.
#[inline(always)]
unsafe fn vectors<V: Vector, const W: usize, const BACKWARD: bool, const N: usize>(
    rows: &ShortRows,
) {
    let last = rows.bytes - V::BYTES;
    for row in 0..rows.count as isize {
        // SAFETY: kernel contract 1 to 3; offsets are at most `bytes - V::BYTES`.
        unsafe {
            let src = rows.src.offset(rows.steps[0] * row);
            let dst = rows.dst.offset(rows.steps[1] * row);
            let mut whole = [at::<V, W, BACKWARD>(src, last); N];
            for (index, vector) in whole.iter_mut().enumerate().take(N - 1) {
                *vector = at::<V, W, BACKWARD>(src, index * V::BYTES);
            }
            for (index, vector) in whole.into_iter().enumerate() {
                vector.store(dst.add(if index == N - 1 { last } else { index * V::BYTES }));
            }
        }
    }
}

/// The vector at an offset of the output, of a row whose first output unit comes from `src`.
///
/// # Safety
/// Kernel contract 1 to 3, for that vector.
#[inline(always)]
unsafe fn at<V: Vector, const W: usize, const BACKWARD: bool>(src: *const u8, offset: usize) -> V {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match BACKWARD {
            true => V::load(src.add(W).sub(offset + V::BYTES)).reversed::<W>(),
            false => V::load(src.add(offset)),
        }
    }
}
