//! Segments: one axis cut by bounds, every piece reversed, or those that are marked.

use super::runs::{PREFETCHED, Reverser, copy_any, copy_run, prefetch_ahead, runs_ahead};
use super::stream::{CopyKernel, Stream, To};
use crate::cpu::simd::{PartialVector, Simd, Vector, WIDEST};
use std::ops::Range;

/// Adjacent segments along one axis.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct Segments<'a> {
    /// Step 0 of the axis in the input.
    pub(in crate::cpu) src: *const u8,
    /// The same in the output.
    pub(in crate::cpu) dst: *mut u8,
    /// Where segments start, and the end of the last one; ascending.
    pub(in crate::cpu) bounds: &'a [usize],
    /// For each segment a bit that says whether it is reversed; all of them if there are none.
    pub(in crate::cpu) marks: Option<&'a [u64]>,
    /// The steps of the output that are wanted.
    pub(in crate::cpu) steps: Range<usize>,
    /// From step to step along the axis: input, output.
    pub(in crate::cpu) axis_steps: [isize; 2],
    /// Bytes in a unit.
    pub(in crate::cpu) unit: usize,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
    /// Whether to prefetch what follows.
    pub(in crate::cpu) prefetch: bool,
}

/// The wanted part of a segment: `len` steps from `to` on in the output. If it is reversed, they come from
/// the steps that end at `end` in the input, read backward.
struct Piece {
    end: usize,
    to: usize,
    len: usize,
    reversed: bool,
}

impl Segments<'_> {
    /// The wanted part of segment `index`, which may be empty. Not a closure: those are compiled as
    /// functions, which take as long as a short segment.
    #[inline(always)]
    fn piece(&self, index: usize) -> Piece {
        let (start, end) = (self.bounds[index], self.bounds[index + 1]);
        let to = start.clamp(self.steps.start, self.steps.end);
        let len = end.clamp(to, self.steps.end) - to;
        // One that is outside of the wanted steps is mirrored to some place outside of the axis.
        let end = if len == 0 { to } else { start + end - to };
        Piece { end, to, len, reversed: self.reverses(index) }
    }

    /// Whether segment `index` is reversed.
    #[inline(always)]
    fn reverses(&self, index: usize) -> bool {
        self.marks.is_none_or(|marks| is_marked(marks, index))
    }

    /// The segments that are wanted as a whole, with so many of the wanted steps before each, which are
    /// read with it, and behind it, which are written with it.
    #[inline(always)]
    fn inside(&self, steps: usize) -> Range<usize> {
        let (low, high) = (self.steps.start + steps, self.steps.end.saturating_sub(steps));
        let (mut first, mut end) = (0, self.count());
        while first < end && self.bounds[first] < low {
            first += 1;
        }
        while end > first && self.bounds[end] > high {
            end -= 1;
        }
        first..end
    }

    /// How many segments there are.
    #[inline(always)]
    fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// How a run of `bytes` bytes is written. What is read while later runs are written is
    /// prefetched: segments follow each other, so it is as far ahead of step `at`, on which this run
    /// is written.
    #[inline(always)]
    fn to<'s>(&self, stream: &'s mut Stream, at: usize, bytes: usize) -> To<'s> {
        let mut to = To::new(stream, self.stream);
        // A division takes as long as a short run.
        if self.prefetch && bytes <= PREFETCHED && self.axis_steps[0] > 0 {
            let here = self.axis_steps[0].wrapping_mul(at as isize);
            let ahead = (runs_ahead(bytes, self.stream) * bytes) as isize;
            to.next = self.src.wrapping_offset(here.wrapping_add(ahead));
        }
        to
    }
}

/// Bit `index`.
#[inline(always)]
fn is_marked(marks: &[u64], index: usize) -> bool {
    marks[index / 64] >> (index % 64) & 1 == 1
}

/// Runs all segments.
///
/// # Safety
/// Kernel contract 1 to 3, for the wanted steps and the segments that they are in.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(segments: &Segments<'_>, copy: CopyKernel) {
    let mut stream = Stream::new(copy);
    let to = &mut stream;
    let contiguous = segments.axis_steps == [segments.unit as isize; 2];
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match contiguous {
            true => of_contiguous_units::<V>(segments, to),
            false => of_units(segments, to),
        }
        stream.flush();
    }
}

/// # Safety
/// As for [`run`], with contiguous units.
#[inline(always)]
unsafe fn of_contiguous_units<V: Simd>(segments: &Segments<'_>, stream: &mut Stream) {
    // SAFETY: kernel contract 1 to 3; pieces are inside the axis on both sides.
    unsafe {
        let reverser = Reverser::<V>::new(segments.unit);
        if reverser.divides() {
            return many_short::<V>(segments, &reverser, stream);
        }
        for index in 0..segments.count() {
            let piece = segments.piece(index);
            write::<V, false>(segments, &reverser, &piece, stream);
        }
    }
}

/// Segments up to this many bytes are written by whole vectors.
const SHORT: usize = 1024;

/// Segments of any length, of which many may be short: those are written by whole vectors, and the next
/// one covers what was written too much. With ordinary stores, even beyond the caches: to put them together
/// for non-temporal ones takes longer than those save.
///
/// # Safety
/// As for [`run`], with contiguous units that divide a vector.
#[inline(always)]
unsafe fn many_short<V: Simd>(
    segments: &Segments<'_>,
    reverser: &Reverser<V>,
    stream: &mut Stream,
) {
    let Segments { src, dst, bounds, marks, unit, .. } = *segments;
    let count = segments.count();
    // How much of each segment is written at once follows from how long they are on average. Registers of
    // 64 bytes write more with as many stores.
    let wide = V::BYTES == WIDEST;
    let first = match (bounds[count] - bounds[0]) * unit / count.max(1) {
        0..=10 => 32,
        11..=20 if !wide => 32,
        11..=36 => 64,
        37..=80 => 128,
        _ if !wide => 160,
        _ => 256,
    };
    let inside = segments.inside(first.max(V::BYTES).div_ceil(unit));
    let mut index = 0;
    while index < count {
        if inside.contains(&index) {
            let many = Many { src, dst, bounds, marks: marks.unwrap_or_default(), unit };
            let (range, order) = (index..inside.end, reverser.order());
            // SAFETY: kernel contract 1 to 3: `inside` leaves out segments that are nearer to an end than
            // what is written at once.
            index = unsafe {
                match (first, marks.is_some()) {
                    (32, false) => many.write::<V::Half, 32, false>(range, V::Half::order(unit)),
                    (64, false) => many.write::<V, 64, false>(range, order),
                    (128, false) => many.write::<V, 128, false>(range, order),
                    (_, false) if wide => many.write::<V, 256, false>(range, order),
                    (_, false) => many.write::<V, 160, false>(range, order),
                    (32, true) => many.write::<V::Half, 32, true>(range, V::Half::order(unit)),
                    (64, true) => many.write::<V, 64, true>(range, order),
                    (128, true) => many.write::<V, 128, true>(range, order),
                    (_, true) if wide => many.write::<V, 256, true>(range, order),
                    (_, true) => many.write::<V, 160, true>(range, order),
                }
            };
        }
        // One that is long, or near to an end of the memory.
        if index < count {
            // SAFETY: kernel contract 1 to 3.
            unsafe { write::<V, true>(segments, reverser, &segments.piece(index), stream) };
            index += 1;
        }
    }
}

/// Adjacent segments that are wanted as a whole.
struct Many<'a> {
    /// Byte 0 of the axis in the input.
    src: *const u8,
    /// The same in the output.
    dst: *mut u8,
    bounds: &'a [usize],
    marks: &'a [u64],
    unit: usize,
}

impl Many<'_> {
    /// Writes segments of this range up to one that is long, and says which that is. `FIRST` bytes of each
    /// are written whatever its length is, and if they are `MARKED` read both ways: lengths and marks are hard
    /// to predict.
    ///
    /// # Safety
    /// Kernel contract 1 to 3, with `FIRST` bytes, and at least a vector, before the first segment and behind
    /// the last one on both sides. Bounds ascend.
    #[inline(always)]
    unsafe fn write<V: PartialVector, const FIRST: usize, const MARKED: bool>(
        &self,
        range: Range<usize>,
        order: V::Order,
    ) -> usize {
        let (mut start, mut index) = (self.bounds[range.start] * self.unit, range.start);
        while index < range.end {
            let end = self.bounds[index + 1] * self.unit;
            let bytes = end - start;
            // SAFETY: kernel contract 1 to 3. Vectors are loaded from the axis, all of which is in the
            // input, and stored where there is room for them.
            unsafe {
                let (from, to) = (self.src.add(end), self.dst.add(start));
                prefetch_ahead::<V>(from, to);
                let mark = MARKED && is_marked(self.marks, index);
                let mask = V::splat(u8::from(mark).wrapping_neg());
                let write = |done: usize| {
                    let mut vector = V::load(from.sub(done + V::BYTES)).reversed(order);
                    if MARKED {
                        vector = V::select(mask, vector, V::load(self.src.add(start + done)));
                    }
                    vector.store(to.add(done));
                };
                let mut done = 0;
                while done < FIRST {
                    write(done);
                    done += V::BYTES;
                }
                if bytes > done {
                    if bytes > SHORT {
                        break;
                    }
                    while done < bytes {
                        write(done);
                        done += V::BYTES;
                    }
                }
            }
            (start, index) = (end, index + 1);
        }
        index
    }
}

/// Writes one piece.
///
/// # Safety
/// As for [`run`], with contiguous units; `DIVIDES` as for [`Reverser::run`].
#[inline(always)]
unsafe fn write<V: Simd, const DIVIDES: bool>(
    segments: &Segments<'_>,
    reverser: &Reverser<V>,
    piece: &Piece,
    stream: &mut Stream,
) {
    let (unit, bytes) = (segments.unit, piece.len * segments.unit);
    // SAFETY: kernel contract 1 to 3; the piece is inside the axis on both sides.
    unsafe {
        let dst = segments.dst.add(piece.to * unit);
        let to = segments.to(stream, piece.to, bytes);
        match piece.reversed {
            true => reverser.run::<DIVIDES>(segments.src.add(piece.end * unit), dst, bytes, to),
            false => copy_run(segments.src.add(piece.to * unit), dst, bytes, to),
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn of_units(segments: &Segments<'_>, stream: &mut Stream) {
    let [src_step, dst_step] = segments.axis_steps;
    for index in 0..segments.count() {
        let piece = segments.piece(index);
        for step in 0..piece.len {
            // SAFETY: kernel contract 1 to 3; the piece is inside the axis on both sides.
            unsafe {
                let from = if piece.reversed { piece.end - 1 - step } else { piece.to + step };
                let src = segments.src.offset(src_step * from as isize);
                let dst = segments.dst.offset(dst_step * (piece.to + step) as isize);
                let to = segments.to(stream, piece.to + step, segments.unit);
                copy_any(src, dst, segments.unit, to);
            }
        }
    }
}
