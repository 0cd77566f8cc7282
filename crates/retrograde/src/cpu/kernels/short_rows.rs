//! Rows of one to four vectors, with ordinary stores: how many vectors a row takes is known to the
//! compiler, so that nothing is decided per row. The last vector overlaps the one before it.

use super::rows::Rows;
use crate::cpu::simd::Vector;

/// Whether these rows, of so many bytes each, are done this way.
#[inline(always)]
pub(super) fn applies<V: Vector>(rows: &Rows, bytes: usize) -> bool {
    !rows.stream && rows.count > 1 && (V::BYTES..=4 * V::BYTES).contains(&bytes)
}

/// Runs all rows, in reverse order of units of `W` bytes if `BACKWARD`.
///
/// # Safety
/// Kernel contract 1 to 3, for rows that this [applies] to, of `bytes` bytes; in reverse order `W` is
/// their unit, which divides `V::BYTES`.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const W: usize, const BACKWARD: bool>(
    rows: &Rows,
    bytes: usize,
) {
    // SAFETY: passed on, with as many vectors as cover a row.
    unsafe {
        match bytes.div_ceil(V::BYTES) {
            1 => vectors::<V, W, BACKWARD, 1>(rows, bytes),
            2 => vectors::<V, W, BACKWARD, 2>(rows, bytes),
            3 => vectors::<V, W, BACKWARD, 3>(rows, bytes),
            _ => vectors::<V, W, BACKWARD, 4>(rows, bytes),
        }
    }
}

/// # Safety
/// As for [`run`], with `(N - 1) * V::BYTES < bytes <= N * V::BYTES`.
#[inline(always)]
unsafe fn vectors<V: Vector, const W: usize, const BACKWARD: bool, const N: usize>(
    rows: &Rows,
    bytes: usize,
) {
    let last = bytes - V::BYTES;
    for row in 0..rows.count {
        // SAFETY: kernel contract 1 to 3; offsets are at most `bytes - V::BYTES`.
        unsafe {
            let (src, dst) = rows.row(row);
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
