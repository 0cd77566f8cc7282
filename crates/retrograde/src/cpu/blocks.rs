//! Blocks: wide units with lanes beside each other, in the order of the output.

use super::rows::{Forward, copy_run, runs_ahead};
use super::stream::{self, Run, STREAMS, Stream, To};
use super::vector::Vector;
use std::ptr::{null, null_mut};

/// Blocks of lanes that lie alike, along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks<'a> {
    /// Step 0 of the first lane in the input.
    pub(super) src: *const u8,
    /// The same in the output.
    pub(super) dst: *mut u8,
    /// How many steps of each lane are reversed.
    pub(super) heads: &'a [usize],
    /// From lane to lane: input, output.
    pub(super) lane_steps: [isize; 2],
    /// From step to step along the axis: input, output.
    pub(super) axis_steps: [isize; 2],
    /// The first step wanted, and one past the last.
    pub(super) from: usize,
    /// One past the last step wanted.
    pub(super) to: usize,
    /// Bytes in a block.
    pub(super) bytes: usize,
    /// Whether to store past the caches.
    pub(super) stream: bool,
}

impl Blocks<'_> {
    /// Where the block of `lane` that comes out at step `at` lies in the input.
    #[inline(always)]
    fn source(&self, at: usize, lane: usize) -> *const u8 {
        let head = self.heads[lane];
        let step = if at < head { head - 1 - at } else { at };
        let offset = self.axis_steps[0] * step as isize + self.lane_steps[0] * lane as isize;
        self.src.wrapping_offset(offset)
    }

    /// The block of `lane` at step `at`, and the one to fetch meanwhile, `ahead` blocks on.
    #[inline(always)]
    fn run_at(&self, at: usize, lane: usize, ahead: usize) -> Run<Forward> {
        let lanes = self.heads.len();
        let (mut next_at, mut next_lane) = (at, lane + ahead);
        if next_lane >= lanes {
            (next_at, next_lane) = (at + next_lane / lanes, next_lane % lanes);
        }
        let next = match next_at < self.to && self.bytes <= AHEAD {
            true => self.source(next_at, next_lane),
            false => null(),
        };
        let offset = self.axis_steps[1] * at as isize + self.lane_steps[1] * lane as isize;
        let dst = self.dst.wrapping_offset(offset);
        Run { source: Forward(self.source(at, lane)), dst, next }
    }
}

/// Blocks up to this size are fetched ahead: where the next one lies depends on a length, so
/// the processor cannot guess it.
const AHEAD: usize = 128 << 10;

/// Runs all blocks.
///
/// # Safety
/// Every block lies inside memory valid for reads and writes, input and output do not overlap,
/// and the processor has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(blocks: &Blocks<'_>) {
    let mut stream = Stream::new();
    let lanes = blocks.heads.len();
    let ahead = runs_ahead(blocks.bytes).max(STREAMS);
    let in_fours = blocks.stream && (stream::LEAST..stream::LONG).contains(&blocks.bytes);
    let mut waiting = [Run { source: Forward(null()), dst: null_mut(), next: null() }; STREAMS];
    let mut count = 0;
    for at in blocks.from..blocks.to {
        for lane in 0..lanes {
            let run = blocks.run_at(at, lane, ahead);
            if in_fours {
                waiting[count] = run;
                count += 1;
                if count == STREAMS {
                    // SAFETY: the caller's promises.
                    unsafe { stream.four_runs::<V, _>(&waiting, blocks.bytes) };
                    count = 0;
                }
                continue;
            }
            // SAFETY: the caller's promises.
            unsafe { copy_one::<V>(blocks, run, &mut stream) };
        }
    }
    // SAFETY: the caller's promises; all of it was the output's.
    unsafe {
        for run in &waiting[..count] {
            copy_one::<V>(blocks, *run, &mut stream);
        }
        stream.flush();
    }
}

/// # Safety
/// As for [`run`], for one of its blocks.
#[inline(always)]
unsafe fn copy_one<V: Vector>(blocks: &Blocks<'_>, run: Run<Forward>, stream: &mut Stream) {
    let to = blocks.stream.then_some(To { stream, next: run.next });
    // SAFETY: the caller's promises.
    unsafe { copy_run::<V>(run.source.0, run.dst, blocks.bytes, to) };
}
