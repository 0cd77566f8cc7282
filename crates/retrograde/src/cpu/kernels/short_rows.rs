//! Rows of one to four vectors, with ordinary stores: how many vectors a row takes is known to the
//! compiler, so that nothing is decided per row. The last vector overlaps the one before it.
//!
//! And rows of at most 16 bytes that follow each other, as the channels of pixels do: one look-up
//! reverses as many of them as 16 bytes have.

use super::l1_buffer::{self, L1Buffer};
use super::runs::copy_run;
use super::stream::{Stream, To};
use crate::cpu::simd::{PartialVector, SIXTEEN, Source, Vector};
use std::ptr::null;

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

/// Whether so many rows of so many bytes are reversed several at a time, which takes an order.
#[inline(always)]
pub(super) fn are_packed<V: Vector>(count: usize, bytes: usize, steps: [isize; 2]) -> bool {
    V::SHUFFLES && count >= 32 && bytes <= SIXTEEN && steps == [bytes as isize; 2]
}

/// Reverses units of `unit` bytes in rows that [are packed](are_packed); `stream` has its use if
/// `streams`.
///
/// # Safety
/// Kernel contract 1 to 3.
#[inline(always)]
pub(super) unsafe fn reverse_packed<V: PartialVector>(
    rows: &ShortRows,
    unit: usize,
    stream: &mut Stream,
    streams: bool,
) {
    const { assert!(V::BYTES == SIXTEEN) };
    let bytes = rows.bytes;
    // Counted, not divided: divisions take longer than a small call. Of the bytes behind the last whole
    // row, any.
    let mut order = [0u8; SIXTEEN];
    let (mut row, mut at, mut within) = (0, bytes - unit, 0);
    for number in &mut order {
        *number = (row + at + within) as u8;
        within += 1;
        if within == unit {
            within = 0;
            (row, at) = if at == 0 { (row + bytes, bytes - unit) } else { (row, at - unit) };
        }
    }
    let group = SIXTEEN / bytes * bytes;
    let (src, total) = (rows.src.wrapping_sub(bytes - unit), rows.count * bytes);
    let most = if streams { l1_buffer::BYTES / group * group } else { total };
    let mut buffer = L1Buffer::new();
    let mut done = 0;
    while done < total {
        let len = most.min(total - done);
        // SAFETY: kernel contract 1 to 3: what a register has behind its rows is written again, and is
        // inside the rows or the buffer.
        unsafe {
            let (src, dst) = (src.add(done), rows.dst.add(done));
            let to = if streams { buffer.as_mut_ptr() } else { dst };
            let (order, one, mut at) = (V::load(order.as_ptr()), V::order(unit), 0);
            while at + SIXTEEN <= len {
                V::load(src.add(at)).shuffle(order).store(to.add(at));
                at += group;
            }
            while at < len {
                V::reverse_short(src.add(at + bytes), to.add(at), bytes, one);
                at += bytes;
            }
            if streams {
                let next = if done + len < total { src.add(len) } else { null() };
                copy_run(to, dst, len, To { next, ..To::new(stream, true) });
            }
        }
        done += len;
    }
}
