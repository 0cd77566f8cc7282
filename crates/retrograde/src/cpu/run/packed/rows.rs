//! Packed elements row by row through a [`Sink`], in the order of the output.

use super::runs::{Run, copy_run, zero_run};
use super::short::ShortRows;
use super::sink::Sink;
use crate::cpu::dispatch::Isa;
use crate::cpu::kernels::runs::{PREFETCHED, runs_ahead};
use crate::cpu::lengths::{Bounds, LengthReader};
use crate::cpu::nest::{Loop, Loops, walk, walk_of};
use crate::cpu::program::Packed;
use crate::cpu::schedule::{Cut, Team, Window, tuning};
use crate::cpu::simd::words;
use crate::plan::{Dim, Flow};
use std::convert::Infallible;
use std::ops::Range;

/// Rows of fewer bytes use ordinary stores: too much of them is ends.
const STREAMED: usize = 64;

/// What every part of a call shares.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    /// Bits in an element: 1, 2 or 4.
    pub(super) bits: usize,
    /// The first element, on both sides.
    pub(super) origins: [usize; 2],
    /// All dimensions; the last one is the row.
    pub(super) dims: &'a [Dim],
    pub(super) lengths: Option<LengthReader<'a>>,
    /// Whether unused bits become zero.
    pub(super) seals: bool,
    /// Whether rows are a few bits that follow each other, and no part cuts them.
    pub(super) short: bool,
    /// Whether to use non-temporal stores; only if rows are contiguous in the output.
    pub(super) stream: bool,
    pub(super) isa: Isa,
}

// SAFETY: threads write separate bytes, and only read the rest.
unsafe impl Send for Rows<'_> {}
// SAFETY: as above.
unsafe impl Sync for Rows<'_> {}

/// Moves elements row by row, shared among threads. True: it needs no memory.
///
/// # Safety
/// As for [`run`](super::run).
pub(super) unsafe fn run(
    packed: &Packed,
    dims: &[Dim],
    short: bool,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) -> bool {
    let Packed { bits, elements, origins, seals, .. } = *packed;
    let per_byte = packed.per_byte();
    let bytes = elements / per_byte;
    let team = Team::new(bytes);
    // Only the row steps by one.
    let may_cut = |dim: &Dim| !(short && dim.dst == 1);
    let cut = Cut::new(dims, origins[1], per_byte, team.parts(bytes), may_cut);
    let long = dims.last().is_some_and(|row| row.dst.abs() == 1 && row.len / per_byte >= STREAMED);
    let (stream, isa) = (long && tuning::streams(packed.hint, bytes), Isa::current());
    let rows = Rows { src, dst, bits, origins, dims, lengths, seals, short, stream, isa };
    team.run(cut.parts(), move |part| {
        // SAFETY: the contract of this function; parts have no byte of the output in common.
        unsafe { rows.copy(cut.window(part)) };
        if rows.stream {
            rows.isa.fence();
        }
    });
    true
}

impl Rows<'_> {
    /// Moves the elements of a window.
    ///
    /// # Safety
    /// As for [`run`], for a window whose bytes no other thread writes.
    pub(super) unsafe fn copy(&self, window: Window) {
        // SAFETY: passed on.
        unsafe {
            match self.bits {
                4 => self.of_width::<4>(window),
                2 => self.of_width::<2>(window),
                _ => self.of_width::<1>(window),
            }
        }
    }

    /// # Safety
    /// As for [`copy`](Self::copy).
    unsafe fn of_width<const BITS: usize>(&self, window: Window) {
        let Some((row, outer)) = self.dims.split_last() else { return };
        let steps = window.steps(outer.len(), row.len);
        // Offsets of the row: input, output, lengths; and its step along an axis outside it.
        let origin = self.lengths.map_or(0, |lengths| lengths.origin());
        let mut start = [self.origins[0] as isize, self.origins[1] as isize, origin, 0];
        let mut loops = Loops::<4>::new();
        let mut axis = None;
        for (level, dim) in outer.iter().enumerate() {
            let wanted = window.steps(level, dim.len);
            let (first, each) = if dim.flow.reads_lengths() {
                axis = Some(*dim);
                along_axis(dim, &wanted)
            } else {
                let ([src, dst, lengths], each) = walk_of(dim, wanted.start);
                ([src, dst, lengths, 0], [each[0], each[1], each[2], 0])
            };
            for (at, first) in start.iter_mut().zip(first) {
                *at += first;
            }
            loops.push(Loop { len: wanted.len(), steps: each });
        }
        let mut stream = self.stream.then(|| self.isa.stream());
        let mut sink = Sink::<BITS>::new(self.dst, self.seals, stream.as_mut(), self.isa);
        // SAFETY: the loops run over the window, so rows are inside both sides, and lengths are those
        // of the call at these offsets.
        unsafe {
            if let Some(rows) = loops.last().copied().filter(|_| self.short) {
                loops.pop();
                let rows = ShortRows { row, count: rows.len, steps: rows.steps };
                let Ok(()) = walk(&loops, start, |at| {
                    rows.copy(self.src, self.lengths, at, &mut sink);
                    Ok::<(), Infallible>(())
                });
            } else {
                let ahead = ahead::<BITS>(row, &steps, loops.last());
                let zero = self.lengths.is_some_and(|lengths| lengths.zeroes_tail());
                let one = OneRow { rows: self, row, steps, axis, zero, ahead };
                let Ok(()) = walk(&loops, start, |at| {
                    one.copy(at, &mut sink);
                    Ok::<(), Infallible>(())
                });
            }
            sink.finish();
        }
    }
}

/// Where the walk along an axis outside the rows starts, and its steps: from which step of the input a
/// row comes depends on a length. A sink is written from low addresses to high ones.
fn along_axis(dim: &Dim, wanted: &Range<usize>) -> ([isize; 4], [isize; 4]) {
    let (first, direction) = match dim.dst < 0 {
        true => (wanted.end as isize - 1, -1),
        false => (wanted.start as isize, 1),
    };
    ([0, dim.dst * first, 0, first], [0, dim.dst * direction, 0, direction])
}

/// Distance in bytes to the run to prefetch while one is written; 0 for none.
fn ahead<const BITS: usize>(row: &Dim, steps: &Range<usize>, rows: Option<&Loop<4>>) -> isize {
    let bytes = steps.len() / words::per_byte::<BITS>();
    match rows {
        Some(rows) if bytes <= PREFETCHED && row.src.abs() == 1 => {
            let runs = runs_ahead(bytes, true) as isize;
            // Never used as an address of anything but a fetch.
            rows.steps[0].wrapping_mul(runs) / words::per_byte::<BITS>() as isize
        }
        _ => 0,
    }
}

/// What every row of a part has in common.
struct OneRow<'a> {
    rows: &'a Rows<'a>,
    row: &'a Dim,
    /// The steps that are wanted.
    steps: Range<usize>,
    /// The axis that reads lengths, if it is outside the row.
    axis: Option<Dim>,
    /// Whether steps beyond a length become zero.
    zero: bool,
    /// Distance in bytes to what is prefetched.
    ahead: isize,
}

impl OneRow<'_> {
    /// The row at these offsets (input, output, lengths), at this step of an axis outside it.
    ///
    /// # Safety
    /// As for [`Rows::copy`], for a row of the window.
    #[inline(always)]
    unsafe fn copy<const BITS: usize>(
        &self,
        [mut from, to, length_at, step]: [isize; 4],
        sink: &mut Sink<'_, BITS>,
    ) {
        let (row, src, step) = (self.row, self.rows.src, step as usize);
        let whole = self.steps.clone();
        // SAFETY: rows of the window are inside both sides, and their lengths are those of the call.
        unsafe {
            if let Some((axis, lengths)) = self.axis.zip(self.rows.lengths) {
                let source = if axis.flow == Flow::FlipSegments {
                    lengths.segment_source(step)
                } else if row.lengths != 0 {
                    return self.side_by_side(lengths, axis, step, [from, to, length_at], sink);
                } else {
                    let len = lengths.at(length_at);
                    if self.zero && step >= len {
                        return zero_run(Run::of(row, 0, to, whole, 1), sink);
                    }
                    source_of(step, len)
                };
                from += axis.src * source as isize;
            }
            match row.flow {
                Flow::Keep => copy_run(Run::of(row, from, to, whole, 1), src, sink, self.ahead),
                Flow::Flip => {
                    let last = from + row.src * (row.len as isize - 1);
                    copy_run(Run::of(row, last, to, whole, -1), src, sink, self.ahead);
                }
                Flow::FlipPrefix => self.prefix([from, to, length_at], sink),
                Flow::FlipSegments => self.segments([from, to], sink),
            }
        }
    }

    /// A row of which a prefix is reversed.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    #[inline(always)]
    unsafe fn prefix<const BITS: usize>(
        &self,
        [from, to, length_at]: [isize; 3],
        sink: &mut Sink<'_, BITS>,
    ) {
        let (row, steps) = (self.row, &self.steps);
        // SAFETY: as for `copy`.
        unsafe {
            let prefix_len = self.rows.lengths.map_or(0, |lengths| lengths.at(length_at));
            let middle = prefix_len.clamp(steps.start, steps.end);
            let last = from + row.src * (prefix_len as isize - 1);
            let reversed = Run::of(row, last, to, steps.start..middle, -1);
            let kept = Run::of(row, from, to, middle..steps.end, 1);
            let mut copy = |run: Run, zero: bool| match zero {
                true => zero_run(run, sink),
                false if run.len > 0 => copy_run(run, self.rows.src, sink, self.ahead),
                false => {}
            };
            // From low addresses to high ones.
            if row.dst < 0 {
                copy(kept, self.zero);
                copy(reversed, false);
            } else {
                copy(reversed, false);
                copy(kept, self.zero);
            }
        }
    }

    /// A row that is cut into segments.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    unsafe fn segments<const BITS: usize>(
        &self,
        [from, to]: [isize; 2],
        sink: &mut Sink<'_, BITS>,
    ) {
        let (row, steps) = (self.row, &self.steps);
        let Some(offsets) = self.rows.lengths else { return };
        let mut copy = |start: usize, end: usize, back: bool| {
            let wanted = start.max(steps.start)..end.min(steps.end);
            if wanted.is_empty() {
                return;
            }
            // A run counts from step 0, so a segment is mirrored around its middle.
            let first = if back { row.src * (start + end - 1) as isize } else { 0 };
            let run = Run::of(row, from + first, to, wanted, if back { -1 } else { 1 });
            // SAFETY: as for `copy`; bounds are clamped to the row.
            unsafe { copy_run(run, self.rows.src, sink, 0) };
        };
        let mut each = |bounds: Bounds<'_>| match bounds {
            Bounds::Segments(bounds) => {
                bounds.windows(2).for_each(|pair| copy(pair[0], pair[1], true));
            }
            Bounds::Rest(rest) => copy(rest.start, rest.end, false),
            Bounds::Marked(..) => {}
        };
        if row.dst > 0 {
            return offsets.each_bounds(steps.clone(), each);
        }
        // The sink is written from low addresses to high ones: the last segment comes first. That
        // takes a list of them.
        let mut all = Vec::new();
        offsets.each_bounds(steps.clone(), |bounds| match bounds {
            Bounds::Segments(bounds) => {
                all.extend(bounds.windows(2).map(|pair| (pair[0], pair[1], true)));
            }
            Bounds::Rest(rest) => all.push((rest.start, rest.end, false)),
            Bounds::Marked(..) => {}
        });
        for (start, end, back) in all.into_iter().rev() {
            match back {
                true => each(Bounds::Segments(&[start, end])),
                false => each(Bounds::Rest(start..end)),
            }
        }
    }

    /// Lanes side by side, of which each has its own length: element by element.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    unsafe fn side_by_side<const BITS: usize>(
        &self,
        lengths: LengthReader<'_>,
        axis: Dim,
        step: usize,
        [from, to, length_at]: [isize; 3],
        sink: &mut Sink<'_, BITS>,
    ) {
        let row = self.row;
        let mut prefix_lens = [0; 32];
        let mut done = self.steps.start;
        while done < self.steps.end {
            let count = (words::MOST / BITS).min(32).min(self.steps.end - done);
            let mut word = 0;
            // SAFETY: as for `copy`.
            unsafe {
                let first = length_at + row.lengths * done as isize;
                lengths.fill(first, row.lengths, &mut prefix_lens[..count]);
                for (index, &len) in prefix_lens[..count].iter().enumerate() {
                    let lane = (done + index) as isize;
                    let back = row.flow == Flow::Flip;
                    let along = if back { row.len as isize - 1 - lane } else { lane };
                    let across = source_of(step, len) as isize;
                    let place = (from + axis.src * across + row.src * along) as usize;
                    let element = match step >= len && self.zero {
                        true => 0,
                        false => words::load::<BITS>(self.rows.src, place, 1),
                    };
                    if row.dst == 1 {
                        word |= element << (index * BITS);
                    } else {
                        sink.seek((to + row.dst * lane) as usize);
                        sink.push(element, 1);
                    }
                }
                if row.dst == 1 {
                    sink.seek((to + done as isize) as usize);
                    sink.push(word, count);
                }
            }
            done += count;
        }
    }
}

/// The step of the input that becomes this one, if `len` steps are reversed.
#[inline(always)]
fn source_of(step: usize, len: usize) -> usize {
    if step < len { len - 1 - step } else { step }
}
