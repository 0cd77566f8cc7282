//! Short segments in place: many at a time are reversed into a buffer, and moved back from there.

use super::stage::Stage;
use super::units::Call;
use crate::cpu::kernels::segments::Segments;
use crate::cpu::kernels::swaps::Swaps;
use crate::cpu::lengths::{Bounds, LengthReader};
use crate::cpu::nest::{Nest, walk};
use crate::cpu::schedule::Window;
use std::convert::Infallible;

/// Bytes of segments that are put aside at a time, which stay in the first cache with what they come from.
const ASIDE: usize = 16 << 10;

/// Adjacent segments, and for each a bit that says whether it is reversed: all of them without bits.
#[derive(Clone, Copy)]
struct Marked<'a> {
    bounds: &'a [usize],
    marks: Option<&'a [u64]>,
}

impl Marked<'_> {
    fn moves(&self, segment: usize) -> bool {
        self.marks.is_none_or(|marks| marks[segment / 64] >> (segment % 64) & 1 == 1)
    }

    /// The first of the segments `from..end` that is reversed, or that is not; `end` if there is none.
    fn next(&self, from: usize, end: usize, moves: bool) -> usize {
        match self.marks {
            None if moves => from,
            None => end,
            Some(_) => (from..end).find(|&at| self.moves(at) == moves).unwrap_or(end),
        }
    }
}

/// Reverses the segments that start in a window, of contiguous units. False, and nothing has happened,
/// if there is no memory for the buffer.
///
/// # Safety
/// As for [`part_of`](super::units::part_of), with segments in the nest, where both sides are the same
/// memory, whose units lie side by side.
pub(super) unsafe fn segments_in_place(
    call: &Call<'_>,
    nest: &Nest,
    window: Window,
    offsets: LengthReader<'_>,
) -> bool {
    let Some(mut stage) = Stage::take(ASIDE) else { return false };
    let stage = stage.as_mut_ptr();
    let wanted = window.start..window.end;
    let Ok(()) = walk(&nest.lanes, nest.start, |[_, lane, _]| {
        offsets.each_group(wanted.clone(), |bounds| {
            let (bounds, marks) = match bounds {
                Bounds::Segments(bounds) => (bounds, None),
                Bounds::Marked(bounds, marks) => (bounds, Some(marks)),
                Bounds::Rest(_) => return,
            };
            let starts = &bounds[..bounds.len() - 1];
            let first = starts.partition_point(|&start| start < wanted.start);
            let end = starts.partition_point(|&start| start < wanted.end);
            // SAFETY: bounds are clamped to the axis and ascend.
            unsafe { group(call, lane, Marked { bounds, marks }, first, end, stage) };
        });
        Ok::<(), Infallible>(())
    });
    true
}

/// The segments `first..end` of a lane.
///
/// # Safety
/// As for [`segments_in_place`]; `stage` has room for [`ASIDE`] bytes.
unsafe fn group(
    call: &Call<'_>,
    lane: isize,
    segments: Marked<'_>,
    mut first: usize,
    end: usize,
    stage: *mut u8,
) {
    let (bounds, unit) = (segments.bounds, call.unit);
    while first < end {
        let start = bounds[first];
        // As many as fit, and at least one.
        let fit = bounds[first + 1..=end].partition_point(|&stop| (stop - start) * unit <= ASIDE);
        let last = (first + fit).max(first + 1);
        let chunk = start..bounds[last];
        // SAFETY: all of it is inside the lane, and belongs to this part; what is staged fits.
        unsafe {
            let memory = call.dst.offset(lane);
            let at = |step: usize| memory.add(step * unit);
            if fit == 0 {
                if segments.moves(first) {
                    let (front, back) = (at(chunk.start), at(chunk.end - 1));
                    call.isa.swaps(&Swaps { front, back, len: chunk.len() / 2, unit });
                }
            } else {
                call.isa.segments(&Segments {
                    src: memory,
                    dst: stage.wrapping_sub(start * unit),
                    bounds: &bounds[first..=last],
                    marks: None,
                    steps: chunk,
                    axis_steps: [unit as isize; 2],
                    unit,
                    stream: false,
                    prefetch: false,
                });
                let mut moved = segments.next(first, last, true);
                while moved < last {
                    let kept = segments.next(moved, last, false);
                    let (run, from) = (bounds[moved]..bounds[kept], bounds[moved] - start);
                    let from = stage.add(from * unit);
                    from.copy_to_nonoverlapping(at(run.start), run.len() * unit);
                    moved = segments.next(kept, last, true);
                }
            }
        }
        first = last;
    }
}
