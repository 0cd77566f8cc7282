//! Segments: one axis cut by bounds, every piece reversed.

use super::runs::{PREFETCHED, Reverser, copy_any, runs_ahead};
use super::stream::{Stream, To};
use crate::cpu::simd::Simd;
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
    #[inline(always)]
    fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.bounds.windows(2).filter_map(|pair| {
            let (start, end) = (pair[0], pair[1]);
            let (from, to) = (start.max(self.steps.start), end.min(self.steps.end));
            (from < to).then(|| Piece { end: start + end - from, to: from, len: to - from })
        })
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
pub(in crate::cpu) unsafe fn run<V: Simd>(segments: &Segments<'_>) {
    let mut stream = Stream::new();
    let to = &mut stream;
    let contiguous = segments.axis_steps == [segments.unit as isize; 2];
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match contiguous {
            true => of_contiguous_units::<V>(segments, to),
            false => of_units::<V>(segments, to),
        }
        stream.flush();
    }
}

/// # Safety
/// As for [`run`], with contiguous units.
#[inline(always)]
unsafe fn of_contiguous_units<V: Simd>(segments: &Segments<'_>, stream: &mut Stream) {
    let unit = segments.unit;
    // SAFETY: kernel contract 3.
    let reverser = unsafe { Reverser::<V>::new(unit) };
    for piece in segments.pieces() {
        // SAFETY: kernel contract 1 to 3; the piece is inside the axis on both sides.
        unsafe {
            let (end, dst) =
                (segments.src.add(piece.end * unit), segments.dst.add(piece.to * unit));
            let bytes = piece.len * unit;
            reverser.run::<false>(end, dst, bytes, segments.to(stream, piece.to, bytes));
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn of_units<V: Simd>(segments: &Segments<'_>, stream: &mut Stream) {
    let [src_step, dst_step] = segments.axis_steps;
    for piece in segments.pieces() {
        for step in 0..piece.len {
            // SAFETY: as in `of_contiguous_units`.
            unsafe {
                let src = segments.src.offset(src_step * (piece.end - 1 - step) as isize);
                let dst = segments.dst.offset(dst_step * (piece.to + step) as isize);
                let to = segments.to(stream, piece.to + step, segments.unit);
                copy_any::<V>(src, dst, segments.unit, to);
            }
        }
    }
}
