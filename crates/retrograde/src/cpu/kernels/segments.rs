//! Segments: one axis cut by bounds, every piece reversed.

use super::runs::{PREFETCHED, Reverser, copy_any, prefetch_ahead, runs_ahead};
use super::stream::{CopyKernel, Stream, To};
use crate::cpu::simd::{PartialVector, Simd, Vector};
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

/// The wanted part of a segment: `len` steps from `to` on in the output, which come from the
/// steps that end at `end` in the input, read backward.
struct Piece {
    end: usize,
    to: usize,
    len: usize,
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
        Piece { end: if len == 0 { to } else { start + end - to }, to, len }
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
    let Segments { src, dst, bounds, unit, .. } = *segments;
    let count = segments.count();
    // How much of each segment is written at once follows from how long they are on average.
    let first = match (bounds[count] - bounds[0]) * unit / count.max(1) {
        0..=10 => 32,
        11..=36 => 64,
        37..=80 => 128,
        _ => 256,
    };
    let inside = segments.inside(first.max(V::BYTES).div_ceil(unit));
    let mut index = 0;
    while index < count {
        if inside.contains(&index) {
            let many = Many { src, dst, bounds: &bounds[index..=inside.end], unit };
            let order = reverser.order();
            // SAFETY: kernel contract 1 to 3: `inside` leaves out segments that are nearer to an end than
            // what is written at once.
            index += unsafe {
                match first {
                    32 => many.write::<V::Half, 32>(V::Half::order(unit)),
                    64 => many.write::<V, 64>(order),
                    128 => many.write::<V, 128>(order),
                    _ => many.write::<V, 256>(order),
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
    unit: usize,
}

impl Many<'_> {
    /// Writes them up to one that is long: says how many. `FIRST` bytes of each are written whatever its
    /// length is: lengths are hard to predict.
    ///
    /// # Safety
    /// Kernel contract 1 to 3, with `FIRST` bytes, and at least a vector, before the first segment in the
    /// input and behind the last one in the output. Bounds ascend.
    #[inline(always)]
    unsafe fn write<V: PartialVector, const FIRST: usize>(&self, order: V::Order) -> usize {
        let (mut start, mut index) = (self.bounds[0] * self.unit, 1);
        while index < self.bounds.len() {
            let end = self.bounds[index] * self.unit;
            let bytes = end - start;
            // SAFETY: kernel contract 1 to 3. Vectors are loaded from the axis, all of which is in the
            // input, and stored where there is room for them.
            unsafe {
                let (from, to) = (self.src.add(end), self.dst.add(start));
                prefetch_ahead::<V>(from, to);
                let mut done = 0;
                while done < FIRST {
                    V::load(from.sub(done + V::BYTES)).reversed(order).store(to.add(done));
                    done += V::BYTES;
                }
                if bytes > done {
                    if bytes > SHORT {
                        break;
                    }
                    while done < bytes {
                        V::load(from.sub(done + V::BYTES)).reversed(order).store(to.add(done));
                        done += V::BYTES;
                    }
                }
            }
            (start, index) = (end, index + 1);
        }
        index - 1
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
        let (end, dst) = (segments.src.add(piece.end * unit), segments.dst.add(piece.to * unit));
        reverser.run::<DIVIDES>(end, dst, bytes, segments.to(stream, piece.to, bytes));
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
                let src = segments.src.offset(src_step * (piece.end - 1 - step) as isize);
                let dst = segments.dst.offset(dst_step * (piece.to + step) as isize);
                let to = segments.to(stream, piece.to + step, segments.unit);
                copy_any(src, dst, segments.unit, to);
            }
        }
    }
}
