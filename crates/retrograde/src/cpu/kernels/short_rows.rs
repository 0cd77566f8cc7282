//! Rows of one to four vectors, with ordinary stores: how many vectors a row takes is known to the
//! compiler, so that nothing is decided per row. The last vector overlaps the one before it.

use crate::cpu::simd::{Source, Vector};

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

/// Runs all rows; `source` makes of where a row starts what belongs in it.
///
/// # Safety
/// Kernel contract 1 to 3, for rows that this [applies] to; the sources are valid for them.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, S: Source<V>>(
    rows: &ShortRows,
    source: impl Fn(*const u8) -> S,
) {
    // SAFETY: passed on, with as many vectors as cover a row.
    unsafe {
        match rows.bytes.div_ceil(V::BYTES) {
            1 => vectors::<V, S, 1>(rows, source),
            2 => vectors::<V, S, 2>(rows, source),
            3 => vectors::<V, S, 3>(rows, source),
            _ => vectors::<V, S, 4>(rows, source),
        }
    }
}

/// # Safety
/// As for [`run`], with `(N - 1) * V::BYTES < bytes <= N * V::BYTES`.
#[inline(always)]
unsafe fn vectors<V: Vector, S: Source<V>, const N: usize>(
    rows: &ShortRows,
    source: impl Fn(*const u8) -> S,
) {
    let last = rows.bytes - V::BYTES;
    for row in 0..rows.count as isize {
        // SAFETY: kernel contract 1 to 3; offsets are at most `bytes - V::BYTES`.
        unsafe {
            let source = source(rows.src.offset(rows.steps[0] * row));
            let dst = rows.dst.offset(rows.steps[1] * row);
            let mut whole = [source.at(last); N];
            for (index, vector) in whole.iter_mut().enumerate().take(N - 1) {
                *vector = source.at(index * V::BYTES);
            }
            for (index, vector) in whole.into_iter().enumerate() {
                vector.store(dst.add(if index == N - 1 { last } else { index * V::BYTES }));
            }
        }
    }
}
