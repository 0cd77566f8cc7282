//! Rows: contiguous runs of units, copied forward or backward to contiguous places.
//!
//! What lies at each place of a row is a [`Source`]; how a row is written (plainly, or past
//! the caches in several streams) is [`fill`]'s business, whatever the source.

use super::vector::{OddVector, Vector, copy_unit};

/// Rows that all lie alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    /// The unit that the first output unit of the first row comes from.
    pub(super) src: *const u8,
    /// The first output unit of the first row.
    pub(super) dst: *mut u8,
    /// How many rows.
    pub(super) count: usize,
    /// From row to row in the input.
    pub(super) src_step: isize,
    /// From row to row in the output.
    pub(super) dst_step: isize,
    /// Units in a row.
    pub(super) len: usize,
    /// Bytes in a unit.
    pub(super) unit: usize,
    /// Whether the input is read from the end of its row to the start.
    pub(super) backward: bool,
    /// Whether to store past the caches.
    pub(super) stream: bool,
}

impl Rows {
    /// Where row `row` starts, on both sides.
    ///
    /// # Safety
    /// `row < count`.
    #[inline(always)]
    pub(super) unsafe fn row(&self, row: usize) -> (*const u8, *mut u8) {
        let row = row as isize;
        // SAFETY: the caller's promise: the row lies inside the memory of the plan.
        unsafe { (self.src.offset(self.src_step * row), self.dst.offset(self.dst_step * row)) }
    }
}

/// What belongs at each place of a row: a vector of output bytes, `offset` bytes into it.
pub(super) trait Source<V: Vector>: Copy {
    /// # Safety
    /// `offset + V::BYTES` is at most the row's bytes, and `offset` is a multiple of the unit.
    unsafe fn at(&self, offset: usize) -> V;
}

/// Bytes in their own order.
#[derive(Clone, Copy)]
pub(super) struct Forward(pub(super) *const u8);

impl<V: Vector> Source<V> for Forward {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load(self.0.add(offset)) }
    }
}

/// Units of `W` bytes in reverse order, from the ones that end here.
#[derive(Clone, Copy)]
pub(super) struct Backward<const W: usize>(pub(super) *const u8);

impl<V: Vector, const W: usize> Source<V> for Backward<W> {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load(self.0.sub(offset + V::BYTES)).reversed::<W>() }
    }
}

/// Runs all rows.
///
/// # Safety
/// Every row lies inside memory valid for reads and writes, input and output do not overlap,
/// and the processor has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(rows: &Rows) {
    // SAFETY: the caller's promises.
    unsafe {
        match (rows.backward && rows.len > 1, rows.unit) {
            (false, _) => forward::<V>(rows),
            (true, 1) => backward::<V, 1>(rows),
            (true, 2) => backward::<V, 2>(rows),
            (true, 4) => backward::<V, 4>(rows),
            (true, 8) => backward::<V, 8>(rows),
            (true, 16) => backward::<V, 16>(rows),
            _ if V::backward_any(rows) => {}
            (true, 3) => backward_odd::<V::Odd, 3>(rows),
            (true, 6) => backward_odd::<V::Odd, 6>(rows),
            (true, 12) => backward_odd::<V::Odd, 12>(rows),
            (true, _) => backward_units::<V>(rows),
        }
        if rows.stream {
            V::fence();
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn forward<V: Vector>(rows: &Rows) {
    let bytes = rows.len * rows.unit;
    for row in 0..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            copy_run::<V>(src, dst, bytes, rows.stream);
        }
    }
}

/// Copies one run of bytes.
///
/// # Safety
/// As for [`run`], for these bytes.
#[inline(always)]
pub(super) unsafe fn copy_run<V: Vector>(src: *const u8, dst: *mut u8, bytes: usize, stream: bool) {
    // SAFETY: the caller's promises.
    unsafe {
        if stream && bytes >= LEAST_STREAMED {
            let head = to_line(dst);
            src.copy_to_nonoverlapping(dst, head);
            let (src, dst, bytes) = (src.add(head), dst.add(head), bytes - head);
            let done = stream_lines::<V, _>(Forward(src), dst, bytes);
            src.add(done).copy_to_nonoverlapping(dst.add(done), bytes - done);
        } else {
            src.copy_to_nonoverlapping(dst, bytes);
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`, which divides `V::BYTES`.
#[inline(always)]
unsafe fn backward<V: Vector, const W: usize>(rows: &Rows) {
    let bytes = rows.len * W;
    for row in 0..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            reverse_run::<V, W>(src.add(W), dst, bytes, rows.stream);
        }
    }
}

/// Reverses the units of the `bytes` bytes that end at `end`.
///
/// # Safety
/// As for [`run`], for these bytes, with `W` dividing `V::BYTES` and `bytes`.
#[inline(always)]
pub(super) unsafe fn reverse_run<V: Vector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
    stream: bool,
) {
    // SAFETY: the caller's promises; `fill` and `reverse_short` cover the bytes exactly.
    unsafe {
        if bytes < V::BYTES {
            V::reverse_short::<W>(end, dst, bytes);
        } else {
            fill::<V, _, W>(Backward::<W>(end), dst, bytes, stream);
        }
    }
}

/// Writes a row of at least one vector.
///
/// # Safety
/// `bytes >= V::BYTES` is a multiple of `W`, which divides `V::BYTES`; `dst` is valid for
/// writes of that many; the source is valid for it.
#[inline(always)]
unsafe fn fill<V: Vector, S: Source<V>, const W: usize>(
    source: S,
    dst: *mut u8,
    bytes: usize,
    stream: bool,
) {
    // SAFETY: offsets are multiples of `W`, and `offset + V::BYTES <= bytes` throughout.
    unsafe {
        let mut offset = 0;
        let head = to_line(dst);
        if bytes >= LEAST_ALIGNED && head.is_multiple_of(W) {
            // Stores that cross lines cost double. The first vectors may cover more than the
            // head; what follows writes that again.
            let mut at = 0;
            while at < head {
                source.at(at).store(dst.add(at));
                at += V::BYTES;
            }
            offset = head;
            if stream && bytes >= LEAST_STREAMED {
                let rest = Shifted { source, by: head };
                offset += stream_lines::<V, _>(rest, dst.add(head), bytes - head);
            }
        }
        while offset + 4 * V::BYTES <= bytes {
            let block: [V; 4] = [
                source.at(offset),
                source.at(offset + V::BYTES),
                source.at(offset + 2 * V::BYTES),
                source.at(offset + 3 * V::BYTES),
            ];
            for (index, vector) in block.into_iter().enumerate() {
                vector.store(dst.add(offset + index * V::BYTES));
            }
            offset += 4 * V::BYTES;
        }
        while offset + V::BYTES <= bytes {
            source.at(offset).store(dst.add(offset));
            offset += V::BYTES;
        }
        if offset < bytes {
            // The last vector overlaps the one before it.
            let last = bytes - V::BYTES;
            source.at(last).store(dst.add(last));
        }
    }
}

/// A source from some offset on.
#[derive(Clone, Copy)]
pub(super) struct Shifted<S> {
    pub(super) source: S,
    pub(super) by: usize,
}

impl<V: Vector, S: Source<V>> Source<V> for Shifted<S> {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: the caller's promise, for the shifted offset.
        unsafe { self.source.at(self.by + offset) }
    }
}

/// Rows shorter than this are not worth aligning.
const LEAST_ALIGNED: usize = 256;
/// Rows shorter than this are not worth streaming.
const LEAST_STREAMED: usize = 512;
/// One cache line.
const LINE: usize = 64;
/// Bytes that one stream takes in a turn: two lines.
const TURN: usize = 2 * LINE;
/// A page: what one stream takes at most, before the streams move on together.
const PAGE: usize = 4096;
/// Streams that take turns. Memory serves several pages at once better than one page after
/// the other: measured, four are 15 to 25 % faster than one beyond the caches.
const STREAMS: usize = 4;

/// Bytes up to the next line.
#[inline(always)]
pub(super) fn to_line(dst: *mut u8) -> usize {
    dst.addr().wrapping_neg() % LINE
}

/// Streams whole lines, and says how many bytes that was.
///
/// # Safety
/// `dst` is the start of a line, valid for writes of `bytes`; the source is valid at every
/// multiple of `V::BYTES` in them.
#[inline(always)]
pub(super) unsafe fn stream_lines<V: Vector, S: Source<V>>(
    source: S,
    dst: *mut u8,
    bytes: usize,
) -> usize {
    let mut base = 0;
    // SAFETY: offsets are multiples of `V::BYTES` and stay below `bytes`; lines are aligned.
    unsafe {
        let turn = |offset: usize| {
            let mut at = offset;
            while at < offset + TURN {
                source.at(at).stream(dst.add(at));
                at += V::BYTES;
            }
        };
        while base + STREAMS * TURN <= bytes {
            // Each stream gets an equal share of what is left, a page at most.
            let share = ((bytes - base) / STREAMS / TURN * TURN).min(PAGE);
            let mut at = base;
            while at < base + share {
                for stream in 0..STREAMS {
                    turn(at + stream * share);
                }
                at += TURN;
            }
            base += STREAMS * share;
        }
        while base + TURN <= bytes {
            turn(base);
            base += TURN;
        }
    }
    base
}

/// Widths that do not divide a vector: as many units as fit, the next store covering what was
/// stored too much.
///
/// # Safety
/// As for [`run`], with `unit == W` of 3, 6 or 12.
#[inline(always)]
unsafe fn backward_odd<V: OddVector, const W: usize>(rows: &Rows) {
    for row in 0..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            reverse_odd_run::<V, W>(src.add(W), dst, rows.len * W);
        }
    }
}

/// Reverses the units of the `bytes` bytes that end at `end`.
///
/// # Safety
/// As for [`run`], for these bytes, with `W` of 3, 6 or 12.
#[inline(always)]
pub(super) unsafe fn reverse_odd_run<V: OddVector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
) {
    let step = V::BYTES / W * W;
    let mut done = 0;
    // SAFETY: a vector is only loaded and stored where `V::BYTES` bytes are left on both
    // sides; the rest goes unit by unit.
    unsafe {
        while done + V::BYTES <= bytes {
            V::load(end.sub(done + V::BYTES)).reversed_odd::<W>().store(dst.add(done));
            done += step;
        }
        while done < bytes {
            copy_unit::<W>(end.sub(done + W), dst.add(done));
            done += W;
        }
    }
}

/// Any other width: unit by unit.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn backward_units<V: Vector>(rows: &Rows) {
    for row in 0..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            for index in 0..rows.len {
                let (from, to) = (src.sub(index * rows.unit), dst.add(index * rows.unit));
                copy_any::<V>(from, to, rows.unit, rows.stream);
            }
        }
    }
}

/// Copies one unit of any width; narrow ones by two moves that overlap.
///
/// # Safety
/// `src` and `dst` are valid for `bytes` and do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_any<V: Vector>(src: *const u8, dst: *mut u8, bytes: usize, stream: bool) {
    // SAFETY: the caller's promises; both moves stay inside the unit.
    unsafe {
        match bytes {
            4..=7 => copy_ends::<4>(src, dst, bytes),
            8..=15 => copy_ends::<8>(src, dst, bytes),
            16..=32 => copy_ends::<16>(src, dst, bytes),
            33..=64 => copy_ends::<32>(src, dst, bytes),
            _ => copy_run::<V>(src, dst, bytes, stream),
        }
    }
}

/// # Safety
/// As for [`copy_any`], with `N <= bytes <= 2 * N`.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        copy_unit::<N>(src, dst);
        copy_unit::<N>(src.add(bytes - N), dst.add(bytes - N));
    }
}
