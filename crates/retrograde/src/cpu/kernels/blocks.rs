//! Blocks: wide units with adjacent lanes, written in the order of the output.

use super::l1_buffer::{self, L1Buffer};
use super::runs::{Forward, copy_run, runs_ahead, zero_run};
use super::stream::{self, CopyKernel, LINE, Run, STREAMS, Stream, To};
use crate::cpu::simd::Vector;
use std::ptr::{null, null_mut};

/// Blocks of equally spaced lanes, along one axis.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Blocks<'a> {
    /// Step 0 of the first lane in the input.
    pub(in crate::cpu) src: *const u8,
    /// The same in the output.
    pub(in crate::cpu) dst: *mut u8,
    /// How many steps of each lane are reversed.
    pub(in crate::cpu) prefix_lens: &'a [usize],
    /// From lane to lane: input, output.
    pub(in crate::cpu) lane_steps: [isize; 2],
    /// From step to step along the axis: input, output.
    pub(in crate::cpu) axis_steps: [isize; 2],
    /// The first step wanted, and one past the last.
    pub(in crate::cpu) from: usize,
    /// One past the last step wanted.
    pub(in crate::cpu) to: usize,
    /// Bytes in a block.
    pub(in crate::cpu) bytes: usize,
    /// Whether blocks behind the reversed ones become zero.
    pub(in crate::cpu) zero: bool,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
}

impl Blocks<'_> {
    /// The input address of the block that `lane` has at step `at` of the output.
    #[inline(always)]
    fn source(&self, at: usize, lane: usize) -> *const u8 {
        let prefix_len = self.prefix_lens[lane];
        let step = if at < prefix_len { prefix_len - 1 - at } else { at };
        let offset = self.axis_steps[0] * step as isize + self.lane_steps[0] * lane as isize;
        self.src.wrapping_offset(offset)
    }

    /// What to prefetch for lane `lane`, counted on into the next step, at step `at` of the output:
    /// its block, or behind the last step what follows in the input, which is often the next
    /// sequence. Null if it is too long to prefetch.
    #[inline(always)]
    fn next(&self, mut at: usize, mut lane: usize) -> *const u8 {
        let lanes = self.prefix_lens.len();
        if lane >= lanes {
            (at, lane) = (at + 1, lane - lanes);
        }
        if self.bytes > AHEAD {
            null()
        } else if at < self.to {
            self.source(at, lane)
        } else {
            self.src.wrapping_offset(self.axis_steps[0] * at as isize)
        }
    }

    /// Whether blocks follow each other in the output without a gap.
    fn are_contiguous_in_output(&self) -> bool {
        let (lanes, bytes) = (self.prefix_lens.len(), self.bytes as isize);
        let (lane, step) = (self.lane_steps[1], self.axis_steps[1]);
        step == bytes * lanes as isize && (lanes == 1 || lane == bytes)
    }

    /// The block of `lane` at step `at`, and the one to prefetch meanwhile, so many steps and lanes
    /// on.
    #[inline(always)]
    fn run_at(&self, at: usize, lane: usize, ahead: [usize; 2]) -> Run<Forward> {
        // Only streams prefetch.
        let next = if self.stream { self.next(at + ahead[0], lane + ahead[1]) } else { null() };
        let offset = self.axis_steps[1] * at as isize + self.lane_steps[1] * lane as isize;
        let dst = self.dst.wrapping_offset(offset);
        Run { source: Forward(self.source(at, lane)), dst, next }
    }
}

/// Shorter blocks are put together before they are streamed.
const SHORT: usize = 512;

/// Blocks up to this size are prefetched in software: the address of the next one depends on a
/// length, which the hardware prefetcher cannot predict.
const AHEAD: usize = 128 << 10;

/// Runs all blocks.
///
/// # Safety
/// Kernel contract 1 to 4.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Vector>(blocks: &Blocks<'_>, copy: CopyKernel) {
    if let (&[prefix_len], false) = (blocks.prefix_lens, blocks.stream) {
        // SAFETY: kernel contract 1 to 4.
        return unsafe { one_lane::<V>(blocks, prefix_len) };
    }
    let mut stream = Stream::new(copy);
    let lanes = blocks.prefix_lens.len();
    let ahead = runs_ahead(blocks.bytes, true).max(STREAMS);
    // Divided once: a division for each block takes as long as a short block.
    let ahead = [ahead / lanes.max(1), ahead % lanes.max(1)];
    if blocks.stream && blocks.bytes <= SHORT && blocks.are_contiguous_in_output() {
        // SAFETY: kernel contract 1 to 4.
        return unsafe { through_buffer::<V>(blocks, ahead, copy) };
    }
    let in_fours = blocks.stream && (stream::LEAST..stream::LONG).contains(&blocks.bytes);
    let mut waiting = [Run { source: Forward(null()), dst: null_mut(), next: null() }; STREAMS];
    let mut count = 0;
    for at in blocks.from..blocks.to {
        for lane in 0..lanes {
            let run = blocks.run_at(at, lane, ahead);
            if blocks.zero && at >= blocks.prefix_lens[lane] {
                let to = To::new(&mut stream, blocks.stream);
                // SAFETY: kernel contract 1 to 4.
                unsafe { zero_run(run.dst, blocks.bytes, to) };
                continue;
            }
            if in_fours {
                waiting[count] = run;
                count += 1;
                if count == STREAMS {
                    // SAFETY: kernel contract 1 to 4.
                    unsafe { stream.four_runs::<V, _>(&waiting, blocks.bytes) };
                    count = 0;
                }
                continue;
            }
            // SAFETY: kernel contract 1 to 4.
            unsafe { copy_one::<V>(blocks, run, &mut stream) };
        }
    }
    // SAFETY: kernel contract 1 to 4; all of it was the output's.
    unsafe {
        for run in &waiting[..count] {
            copy_one::<V>(blocks, *run, &mut stream);
        }
        stream.flush();
    }
}

/// Short blocks that follow each other in the output, with non-temporal stores.
///
/// # Safety
/// As for [`run`], for blocks of at most [`SHORT`] bytes that are contiguous in the output.
#[inline(always)]
unsafe fn through_buffer<V: Vector>(blocks: &Blocks<'_>, ahead: [usize; 2], copy: CopyKernel) {
    let (lanes, bytes) = (blocks.prefix_lens.len(), blocks.bytes);
    let most = l1_buffer::BYTES / bytes;
    let mut buffer = L1Buffer::new();
    let buffer = buffer.as_mut_ptr();
    let mut stream = Stream::new(copy);
    let mut dst = blocks.run_at(blocks.from, 0, ahead).dst;
    let mut count = 0;
    for at in blocks.from..blocks.to {
        for lane in 0..lanes {
            let run = blocks.run_at(at, lane, ahead);
            // SAFETY: kernel contract 1 to 4; the buffer has room for `most` blocks, and is written to
            // the blocks of the output from `dst` on.
            unsafe {
                let place = buffer.add(count * bytes);
                if blocks.zero && at >= blocks.prefix_lens[lane] {
                    place.write_bytes(0, bytes);
                } else {
                    let mut ahead = 0;
                    while ahead < bytes {
                        V::prefetch(run.next.wrapping_add(ahead));
                        ahead += LINE;
                    }
                    copy_block::<V>(run.source.0, place, bytes);
                }
                count += 1;
                if count == most {
                    copy_run(buffer, dst, count * bytes, To::new(&mut stream, true));
                    (dst, count) = (dst.add(most * bytes), 0);
                }
            }
        }
    }
    // SAFETY: kernel contract 1 to 4, for the blocks that are left.
    unsafe {
        copy_run(buffer, dst, count * bytes, To::new(&mut stream, true));
        stream.flush();
    }
}

/// The blocks of a lane with ordinary stores: the reversed ones one by one, the rest as one run if it
/// is contiguous.
///
/// # Safety
/// As for [`run`], for blocks of one lane.
#[inline(always)]
unsafe fn one_lane<V: Vector>(blocks: &Blocks<'_>, prefix_len: usize) {
    let &Blocks { from, to, bytes, axis_steps: [step_in, step_out], .. } = blocks;
    let input = |step: usize| blocks.src.wrapping_offset(step_in * step as isize);
    let output = |step: usize| blocks.dst.wrapping_offset(step_out * step as isize);
    let reversed = prefix_len.clamp(from, to);
    let contiguous = [step_in, step_out] == [bytes as isize; 2];
    // SAFETY: kernel contract 1 to 4: `prefix_len` is at most the size of the axis, and all steps
    // are between `from` and `to`.
    unsafe {
        for at in from..reversed {
            copy_block::<V>(input(prefix_len - 1 - at), output(at), bytes);
        }
        if blocks.zero {
            (reversed..to).for_each(|at| output(at).write_bytes(0, bytes));
        } else if contiguous {
            let rest = (to - reversed) * bytes;
            input(reversed).copy_to_nonoverlapping(output(reversed), rest);
        } else {
            (reversed..to).for_each(|at| copy_block::<V>(input(at), output(at), bytes));
        }
    }
}

/// Copies a block; a short one without the call of a function, which would take as long.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes.
#[inline(always)]
unsafe fn copy_block<V: Vector>(src: *const u8, dst: *mut u8, bytes: usize) {
    const FEW: usize = 4;
    // SAFETY: kernel contract 1 to 3. Offsets leave a whole vector before the end; the last vector
    // overlaps the one before it.
    unsafe {
        if !(V::BYTES..=FEW * V::BYTES).contains(&bytes) {
            return src.copy_to_nonoverlapping(dst, bytes);
        }
        let last = V::load(src.add(bytes - V::BYTES));
        let mut offset = 0;
        while offset + V::BYTES < bytes {
            V::load(src.add(offset)).store(dst.add(offset));
            offset += V::BYTES;
        }
        last.store(dst.add(bytes - V::BYTES));
    }
}

/// # Safety
/// As for [`run`], for one of its blocks.
#[inline(always)]
unsafe fn copy_one<V: Vector>(blocks: &Blocks<'_>, run: Run<Forward>, stream: &mut Stream) {
    // SAFETY: kernel contract 1 to 4.
    unsafe {
        if !blocks.stream {
            return copy_block::<V>(run.source.0, run.dst, blocks.bytes);
        }
        let to = To { next: run.next, ..To::new(stream, true) };
        copy_run(run.source.0, run.dst, blocks.bytes, to);
    }
}
