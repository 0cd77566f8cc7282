//! Rows: contiguous runs of units, copied forward or backward to contiguous places.
//!
//! What lies at each place of a row is a [`Source`]; how it is written, plainly ([`fill`]) or
//! past the caches ([`Stream`]), does not depend on it.

use super::stream::{self, Run, Stream, To, to_line};
use super::vector::{OddVector, Source, Vector, copy_unit};
use std::mem::MaybeUninit;
use std::ptr::null;

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

/// Rows longer than this are left to the processor's own fetching.
pub(super) const FETCHED: usize = 128 << 10;

/// How many runs of so many bytes ahead to fetch: 16 KiB, or the next one.
#[inline(always)]
pub(super) fn runs_ahead(bytes: usize) -> usize {
    ((16 << 10) / bytes.max(1)).max(1)
}

impl Rows {
    /// Where this row goes if it is streamed, with the row to fetch meanwhile.
    #[inline(always)]
    pub(super) fn to<'a>(
        &self,
        stream: &'a mut Stream,
        row: usize,
        bytes: usize,
    ) -> Option<To<'a>> {
        if !self.stream {
            return None;
        }
        let mut next = null();
        let ahead = row + runs_ahead(bytes);
        if bytes <= FETCHED && ahead < self.count {
            next = self.src.wrapping_offset(self.src_step * ahead as isize);
            if self.backward {
                next = next.wrapping_sub(bytes - self.unit);
            }
        }
        Some(To { stream, next })
    }

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
    let mut stream = Stream::new();
    let to = &mut stream;
    // SAFETY: the caller's promises.
    unsafe {
        match (rows.backward && rows.len > 1, rows.unit) {
            (false, _) => forward::<V>(rows, to),
            (true, 1) => backward::<V, 1>(rows, to),
            (true, 2) => backward::<V, 2>(rows, to),
            (true, 4) => backward::<V, 4>(rows, to),
            (true, 8) => backward::<V, 8>(rows, to),
            (true, 16) => backward::<V, 16>(rows, to),
            _ if V::backward_any(rows, to) => {}
            (true, 3) => backward_odd::<V::Odd, 3>(rows),
            (true, 6) => backward_odd::<V::Odd, 6>(rows),
            (true, 12) => backward_odd::<V::Odd, 12>(rows),
            (true, _) => backward_units::<V>(rows, to),
        }
        stream.flush();
    }
}

/// Streams rows four at a time, if they are neither too short nor long enough by themselves.
/// Says how many it did.
///
/// # Safety
/// As for [`run`]; the sources that `source` makes of where rows start are valid for
/// [streams](Stream).
#[inline(always)]
pub(super) unsafe fn in_fours<V: Vector, S: Source<V>>(
    rows: &Rows,
    bytes: usize,
    stream: &mut Stream,
    source: impl Fn(*const u8) -> S,
) -> usize {
    if !rows.stream || !(stream::LEAST..stream::LONG).contains(&bytes) {
        return 0;
    }
    let mut row = 0;
    let ahead = runs_ahead(bytes).max(stream::STREAMS) as isize;
    while row + stream::STREAMS <= rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let run = |row: usize| {
                let (src, dst) = rows.row(row);
                let mut next = src.wrapping_offset(rows.src_step * ahead);
                if rows.backward {
                    next = next.wrapping_sub(bytes - rows.unit);
                }
                Run { source: source(src), dst, next }
            };
            stream.four_runs::<V, S>(&[run(row), run(row + 1), run(row + 2), run(row + 3)], bytes);
        }
        row += stream::STREAMS;
    }
    row
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn forward<V: Vector>(rows: &Rows, stream: &mut Stream) {
    let bytes = rows.len * rows.unit;
    // SAFETY: the caller's promises.
    let done = unsafe { in_fours::<V, _>(rows, bytes, stream, Forward) };
    for row in done..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            copy_run::<V>(src, dst, bytes, rows.to(stream, row, bytes));
        }
    }
}

/// Copies one run of bytes.
///
/// # Safety
/// As for [`run`], for these bytes.
#[inline(always)]
pub(super) unsafe fn copy_run<V: Vector>(
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    stream: Option<To<'_>>,
) {
    // SAFETY: the caller's promises.
    unsafe {
        match stream {
            Some(to) if bytes >= stream::LEAST => to.run::<V, _>(Forward(src), dst, bytes),
            Some(to) => to.stream.bytes::<V>(src, dst, bytes),
            None => src.copy_to_nonoverlapping(dst, bytes),
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`, which divides `V::BYTES`.
#[inline(always)]
unsafe fn backward<V: Vector, const W: usize>(rows: &Rows, stream: &mut Stream) {
    let bytes = rows.len * W;
    let source = |src: *const u8| Backward::<W>(src.wrapping_add(W));
    let mut done = 0;
    // Vectors from the next line on must be whole units, in every row.
    if to_line(rows.dst).is_multiple_of(W) && rows.dst_step.unsigned_abs().is_multiple_of(W) {
        // SAFETY: the caller's promises.
        done = unsafe { in_fours::<V, _>(rows, bytes, stream, source) };
    }
    for row in done..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            reverse_run::<V, W>(src.add(W), dst, bytes, rows.to(stream, row, bytes));
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
    stream: Option<To<'_>>,
) {
    let source = Backward::<W>(end);
    // SAFETY: the caller's promises; each way covers the bytes exactly. A stream asks for
    // vectors from the next line on, which must be whole units.
    unsafe {
        match stream {
            Some(to) if bytes >= stream::LEAST && to_line(dst).is_multiple_of(W) => {
                to.run::<V, _>(source, dst, bytes);
            }
            Some(to) if bytes < stream::LEAST => {
                let mut ready = MaybeUninit::<[u8; stream::LEAST]>::uninit();
                let ready = ready.as_mut_ptr().cast::<u8>();
                reverse_plainly::<V, W>(end, ready, bytes);
                to.stream.bytes::<V>(ready, dst, bytes);
            }
            _ => reverse_plainly::<V, W>(end, dst, bytes),
        }
    }
}

/// # Safety
/// As for [`reverse_run`].
#[inline(always)]
pub(super) unsafe fn reverse_plainly<V: Vector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
) {
    // SAFETY: the caller's promises.
    unsafe {
        if bytes < V::BYTES {
            V::reverse_short::<W>(end, dst, bytes);
        } else {
            fill::<V, _, W>(Backward::<W>(end), dst, bytes);
        }
    }
}

/// Writes a row of at least one vector.
///
/// # Safety
/// `bytes >= V::BYTES` is a multiple of `W`, which divides `V::BYTES`; `dst` is valid for
/// writes of that many; the source is valid for it.
#[inline(always)]
unsafe fn fill<V: Vector, S: Source<V>, const W: usize>(source: S, dst: *mut u8, bytes: usize) {
    // SAFETY: offsets are multiples of `W`, and `offset + V::BYTES <= bytes` throughout.
    unsafe {
        let mut offset = 0;
        let head = to_line(dst);
        if bytes >= LEAST_ALIGNED && head.is_multiple_of(W) {
            // Stores that cross lines cost double. The first vectors may cover more than the
            // head; what follows writes that again.
            while offset < head {
                source.at(offset).store(dst.add(offset));
                offset += V::BYTES;
            }
            offset = head;
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

/// Rows shorter than this are not worth aligning.
const LEAST_ALIGNED: usize = 256;
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
unsafe fn backward_units<V: Vector>(rows: &Rows, stream: &mut Stream) {
    for row in 0..rows.count {
        // SAFETY: the caller's promises.
        unsafe {
            let (src, dst) = rows.row(row);
            for index in 0..rows.len {
                let (from, to) = (src.sub(index * rows.unit), dst.add(index * rows.unit));
                let to_stream = rows.stream.then_some(To { stream: &mut *stream, next: null() });
                copy_any::<V>(from, to, rows.unit, to_stream);
            }
        }
    }
}

/// Copies one unit of any width; narrow ones by two moves that overlap.
///
/// # Safety
/// `src` and `dst` are valid for `bytes` and do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_any<V: Vector>(
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    stream: Option<To<'_>>,
) {
    // SAFETY: the caller's promises; both moves stay inside the unit.
    unsafe {
        if let Some(stream) = stream {
            return copy_run::<V>(src, dst, bytes, Some(stream));
        }
        match bytes {
            4..=7 => copy_ends::<4>(src, dst, bytes),
            8..=15 => copy_ends::<8>(src, dst, bytes),
            16..=32 => copy_ends::<16>(src, dst, bytes),
            33..=64 => copy_ends::<32>(src, dst, bytes),
            _ => src.copy_to_nonoverlapping(dst, bytes),
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
