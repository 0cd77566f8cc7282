//! Segments: one axis cut by bounds, every piece reversed.

use super::runs::{PREFETCHED, copy_any, reverse_odd_run, reverse_run, runs_ahead};
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
        match segments.unit {
            1 if contiguous => of_width::<V, 1>(segments, to),
            2 if contiguous => of_width::<V, 2>(segments, to),
            4 if contiguous => of_width::<V, 4>(segments, to),
            8 if contiguous => of_width::<V, 8>(segments, to),
            16 if contiguous => of_width::<V, 16>(segments, to),
            3 if contiguous => of_odd_width::<V, 3>(segments),
            6 if contiguous => of_odd_width::<V, 6>(segments),
            12 if contiguous => of_odd_width::<V, 12>(segments),
            _ => of_any_width::<V>(segments, to),
        }
        stream.flush();
    }
}

/// # Safety
/// As for [`run`], with contiguous units and `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Simd, const W: usize>(segments: &Segments<'_>, stream: &mut Stream) {
    for piece in segments.pieces() {
        // SAFETY: kernel contract 1 to 3; the piece is inside the axis on both sides.
        unsafe {
            let (end, dst) = (segments.src.add(piece.end * W), segments.dst.add(piece.to * W));
            let bytes = piece.len * W;
            reverse_run::<V, W>(end, dst, bytes, segments.to(stream, piece.to, bytes));
        }
    }
}

/// # Safety
/// As for [`run`], with contiguous units and `unit == W` of 3, 6 or 12.
#[inline(always)]
unsafe fn of_odd_width<V: Simd, const W: usize>(segments: &Segments<'_>) {
    for piece in segments.pieces() {
        // SAFETY: as in `of_width`.
        unsafe {
            let (end, dst) = (segments.src.add(piece.end * W), segments.dst.add(piece.to * W));
            reverse_odd_run::<V::Odd, W>(end, dst, piece.len * W);
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn of_any_width<V: Simd>(segments: &Segments<'_>, stream: &mut Stream) {
    let [src_step, dst_step] = segments.axis_steps;
    for piece in segments.pieces() {
        for step in 0..piece.len {
            // SAFETY: as in `of_width`.
            unsafe {
                let src = segments.src.offset(src_step * (piece.end - 1 - step) as isize);
                let dst = segments.dst.offset(dst_step * (piece.to + step) as isize);
                let to = segments.to(stream, piece.to + step, segments.unit);
                copy_any::<V>(src, dst, segments.unit, to);
            }
        }
    }
}
