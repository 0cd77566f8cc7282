//! Rows: contiguous runs of units, copied forward or backward to contiguous places.
//!
//! What belongs at each position of a row is a [`Source`]. How it is written, with ordinary
//! stores or non-temporal ones ([`Stream`]), does not depend on it.

use super::any_width::{self, BackwardAny, Phases, Pixels};
use super::runs::{
    Backward, Forward, PREFETCHED, Reverser, copy_run, in_units, reverse_run, runs_ahead,
};
use super::short_rows::{self, ShortRows};
use super::stream::{self, CopyKernel, Run, Stream, To};
use crate::cpu::simd::{SIXTEEN, Simd, Source, Vector, divides_registers};
use std::mem::MaybeUninit;

/// Rows of equal shape and spacing.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Rows {
    /// The unit that the first output unit of the first row comes from.
    pub(in crate::cpu) src: *const u8,
    /// The first output unit of the first row.
    pub(in crate::cpu) dst: *mut u8,
    /// How many rows.
    pub(in crate::cpu) count: usize,
    /// From row to row in the input.
    pub(in crate::cpu) src_step: isize,
    /// From row to row in the output.
    pub(in crate::cpu) dst_step: isize,
    /// Units in a row.
    pub(in crate::cpu) len: usize,
    /// Bytes in a unit.
    pub(in crate::cpu) unit: usize,
    /// Whether the input is read from the end of its row to the start.
    pub(in crate::cpu) backward: bool,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
    /// Whether to prefetch the rows that follow.
    pub(in crate::cpu) prefetch: bool,
}

impl Rows {
    /// How this row is written, with the row to prefetch meanwhile.
    #[inline(always)]
    pub(in crate::cpu) fn to<'a>(
        &self,
        stream: &'a mut Stream,
        row: usize,
        bytes: usize,
    ) -> To<'a> {
        let mut to = To::new(stream, self.stream);
        // A division takes as long as a short row.
        if !self.prefetch || bytes > PREFETCHED {
            return to;
        }
        let ahead = row + runs_ahead(bytes, self.stream);
        if ahead < self.count {
            to.next = self.src.wrapping_offset(self.src_step * ahead as isize);
            if self.backward {
                to.next = to.next.wrapping_sub(bytes - self.unit);
            }
        }
        to
    }

    /// The same rows, of so many bytes each, as a job for [`short_rows`], if they are one.
    #[inline(always)]
    fn short<V: Vector>(&self, bytes: usize) -> Option<ShortRows> {
        let short = !self.stream && short_rows::applies::<V>(self.count, bytes);
        let &Rows { src, dst, count, src_step, dst_step, .. } = self;
        short.then_some(ShortRows { src, dst, count, steps: [src_step, dst_step], bytes })
    }

    /// Where row `row` starts, on both sides.
    ///
    /// # Safety
    /// `row < count`.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn row(&self, row: usize) -> (*const u8, *mut u8) {
        let row = row as isize;
        // SAFETY: kernel contract 1 to 3; `row < count`.
        unsafe { (self.src.offset(self.src_step * row), self.dst.offset(self.dst_step * row)) }
    }
}

/// Runs all rows.
///
/// # Safety
/// Kernel contract 1 to 3.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(rows: &Rows, copy: CopyKernel) {
    let mut stream = Stream::new(copy);
    let to = &mut stream;
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match (rows.backward && rows.len > 1, rows.unit) {
            (false, _) => forward::<V>(rows, to),
            (true, unit) if divides_registers(unit) => backward::<V>(rows, to),
            (true, unit) if any_width::applies::<V>(rows.stream, unit, rows.len, rows.count) => {
                backward_any::<V>(rows, to);
            }
            (true, unit) if Pixels::<V::Sixteen>::applies(unit, rows.len) => match rows.stream {
                true => stream_pixels::<V::Sixteen>(rows, to),
                // Wider registers that have an order move more by one load.
                false if V::BYTES > SIXTEEN && V::orders(unit) => backward_units::<V>(rows, to),
                false => backward_pixels::<V::Sixteen>(rows, to),
            },
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
pub(in crate::cpu) unsafe fn in_fours<V: Vector, S: Source<V>>(
    rows: &Rows,
    bytes: usize,
    stream: &mut Stream,
    source: impl Fn(*const u8) -> S,
) -> usize {
    if !rows.stream || !(stream::LEAST..stream::LONG).contains(&bytes) {
        return 0;
    }
    let mut row = 0;
    let ahead = runs_ahead(bytes, true).max(stream::STREAMS) as isize;
    while row + stream::STREAMS <= rows.count {
        // SAFETY: kernel contract 1 to 3.
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
    if let Some(short) = rows.short::<V>(bytes) {
        // SAFETY: kernel contract 1 to 3.
        return unsafe { short_rows::run::<V, _>(&short, Forward) };
    }
    // SAFETY: kernel contract 1 to 3.
    let done = unsafe { in_fours::<V, _>(rows, bytes, stream, Forward) };
    for row in done..rows.count {
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            let (src, dst) = rows.row(row);
            copy_run(src, dst, bytes, rows.to(stream, row, bytes));
        }
    }
}

/// # Safety
/// As for [`run`], with a unit that divides `V::BYTES`.
#[inline(always)]
unsafe fn backward<V: Simd>(rows: &Rows, stream: &mut Stream) {
    let (bytes, unit) = (rows.len * rows.unit, rows.unit);
    // SAFETY: kernel contract 3.
    let order = unsafe { V::order(unit) };
    let source = |src: *const u8| Backward::<V> { end: src.wrapping_add(unit), order };
    let steps = [rows.src_step, rows.dst_step];
    if short_rows::are_packed::<V::Sixteen>(rows.count, bytes, steps) {
        let &Rows { src, dst, count, .. } = rows;
        let packed = ShortRows { src, dst, count, steps, bytes };
        // SAFETY: kernel contract 1 to 3.
        return unsafe {
            short_rows::reverse_packed::<V::Sixteen>(&packed, unit, stream, rows.stream)
        };
    }
    if let Some(short) = rows.short::<V>(bytes) {
        // SAFETY: kernel contract 1 to 3.
        return unsafe { short_rows::run::<V, _>(&short, source) };
    }
    if bytes < V::BYTES && !rows.stream {
        for row in 0..rows.count {
            // SAFETY: kernel contract 1 to 3.
            unsafe {
                let (src, dst) = rows.row(row);
                V::reverse_short(src.add(unit), dst, bytes, order);
            }
        }
        return;
    }
    let mut done = 0;
    // Vectors from the next line on must be whole units, in every row.
    if in_units(rows.dst, unit) && rows.dst_step.unsigned_abs() & (unit - 1) == 0 {
        // SAFETY: kernel contract 1 to 3.
        done = unsafe { in_fours::<V, _>(rows, bytes, stream, source) };
    }
    for row in done..rows.count {
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            let (src, dst) = rows.row(row);
            reverse_run::<V>(src.add(unit), dst, bytes, order, rows.to(stream, row, bytes));
        }
    }
}

/// Units of any width, by byte permutations.
///
/// # Safety
/// As for [`run`], for a unit that [`any_width::applies`] to.
#[inline(always)]
unsafe fn backward_any<V: Vector>(rows: &Rows, stream: &mut Stream) {
    let computed;
    let phases = match rows.unit {
        3 => const { &Phases::new(V::BYTES, 3) },
        6 => const { &Phases::new(V::BYTES, 6) },
        12 => const { &Phases::new(V::BYTES, 12) },
        unit => {
            computed = Phases::new(V::BYTES, unit);
            &computed
        }
    };
    let bytes = rows.len * rows.unit;
    let source = |src| BackwardAny::<V>::new(src, phases);
    // SAFETY: kernel contract 1 to 3; the source is valid at any offset.
    let done = unsafe { in_fours::<V, _>(rows, bytes, stream, source) };
    for row in done..rows.count {
        // SAFETY: kernel contract 1 to 3; `offset + V::BYTES <= bytes` throughout.
        unsafe {
            let (src, dst) = rows.row(row);
            let source = source(src);
            let to = rows.to(stream, row, bytes);
            if let Some(stream) = to.stream.filter(|_| bytes >= stream::LEAST) {
                stream.run::<V, _>(source, to.next, dst, bytes);
                continue;
            }
            let mut offset = 0;
            while offset + V::BYTES <= bytes {
                source.at(offset).store(dst.add(offset));
                offset += V::BYTES;
            }
            if offset < bytes {
                source.at(bytes - V::BYTES).store(dst.add(bytes - V::BYTES));
            }
        }
    }
}

/// Pixels of three channels, by the same permutations.
///
/// # Safety
/// As for [`run`], for a unit and a length that [`Pixels::applies`] to.
#[inline(always)]
unsafe fn backward_pixels<V: Vector>(rows: &Rows, stream: &mut Stream) {
    // SAFETY: kernel contract 3.
    let pixels = unsafe { Pixels::<V>::new(rows.unit) };
    let bytes = rows.len * rows.unit;
    for row in 0..rows.count {
        let next = rows.to(stream, row, bytes).next;
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            let (src, dst) = rows.row(row);
            pixels.reverse_run(src.add(rows.unit), dst, bytes, next);
        }
    }
}

/// What is put together before it is streamed. Small, because every call has room for it on its stack.
const BUFFER: usize = 4 << 10;

/// The same with non-temporal stores: pieces of rows are put together in L1 first, because rows start
/// anywhere in a line.
///
/// # Safety
/// As for [`backward_pixels`].
#[inline(always)]
unsafe fn stream_pixels<V: Vector>(rows: &Rows, stream: &mut Stream) {
    // SAFETY: kernel contract 3.
    let pixels = unsafe { Pixels::<V>::new(rows.unit) };
    let bytes = rows.len * rows.unit;
    let mut buffer = MaybeUninit::<[u8; BUFFER]>::uninit();
    let ready = buffer.as_mut_ptr().cast::<u8>();
    // Whole units; what would leave less than a vector takes that along.
    let piece = BUFFER / 2 / rows.unit * rows.unit;
    // Bytes in the buffer, and where they belong.
    let (mut waiting, mut place) = (0, rows.dst);
    for row in 0..rows.count {
        let next = rows.to(stream, row, bytes).next;
        let mut left = bytes;
        while left > 0 {
            let count = if left < piece + V::BYTES { left } else { piece };
            // SAFETY: kernel contract 1 to 3; `count` is at least a vector, and fits the buffer behind what
            // waits there.
            unsafe {
                let (src, dst) = rows.row(row);
                let (end, dst) = (src.add(rows.unit).sub(bytes - left), dst.add(bytes - left));
                if place.wrapping_add(waiting) != dst || waiting + count > BUFFER {
                    copy_run(ready, place, waiting, To::new(stream, true));
                    (waiting, place) = (0, dst);
                }
                let next = if next.is_null() { next } else { next.wrapping_add(bytes - left) };
                pixels.reverse_run(end, ready.add(waiting), count, next);
            }
            (waiting, left) = (waiting + count, left - count);
        }
    }
    // SAFETY: kernel contract 1 to 3.
    unsafe { copy_run(ready, place, waiting, To::new(stream, true)) };
}

/// Any other width, and rows that are too short for the above.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn backward_units<V: Simd>(rows: &Rows, stream: &mut Stream) {
    // SAFETY: kernel contract 3.
    let reverser = unsafe { Reverser::<V>::new(rows.unit) };
    for row in 0..rows.count {
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            let (src, dst) = rows.row(row);
            let (end, to) = (src.add(rows.unit), To::new(stream, rows.stream));
            reverser.run::<false>(end, dst, rows.len * rows.unit, to);
        }
    }
}
