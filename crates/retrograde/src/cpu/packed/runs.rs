//! The kernel that copies packed elements: row by row through a [`Sink`], in the output's order.

use super::eights::Eights;
use super::job::{BitRuns, Level};
use super::short::{ShortRows, is_short};
use super::sink::Sink;
use crate::cpu::kernels::runs::{PREFETCHED, runs_ahead};
use crate::cpu::kernels::stream::Stream;
use crate::cpu::lengths::{Bounds, LengthReader};
use crate::cpu::nest::walk_of;
use crate::cpu::simd::words;
use crate::plan::{Dim, Flow};
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr::null;

/// Runs the part.
///
/// # Safety
/// The window's elements are inside memory valid for reads (`src`) and writes (`dst`, which is
/// initialised unless the job seals), which do not overlap; no other thread writes to their bytes;
/// and lengths are there if a dimension reads any.
pub(super) unsafe fn copy_runs(job: &BitRuns<'_>) {
    // SAFETY: the contract of [`copy_runs`].
    unsafe {
        match job.bits {
            4 => of_width::<4>(job),
            2 => of_width::<2>(job),
            _ => of_width::<1>(job),
        }
    }
}

/// The reversed axis, if it is outside the rows.
struct Prefix {
    level: usize,
    /// The steps that are wanted.
    steps: Range<usize>,
    /// Whether they are taken from the last to the first: the sink writes low addresses first.
    down: bool,
    src: isize,
    segments: bool,
}

impl Prefix {
    /// The step of the axis after `done` of them.
    fn step(&self, done: usize) -> usize {
        if self.down { self.steps.end - 1 - done } else { self.steps.start + done }
    }
}

/// # Safety
/// As for [`copy_runs`].
unsafe fn of_width<const BITS: usize>(job: &BitRuns<'_>) {
    let Some((row, outer)) = job.dims.split_last() else { return };
    let steps = job.window.steps(outer.len(), row.len);
    let mut at = [
        job.origins[0] as isize,
        job.origins[1] as isize,
        job.lengths.map_or(0, |lengths| lengths.origin()),
    ];
    let mut prefix = None;
    let mut levels: SmallVec<[Level; 8]> = SmallVec::new();
    for (level, dim) in outer.iter().enumerate() {
        let wanted = job.window.steps(level, dim.len);
        let (mut first, mut step) = walk_of(dim, wanted.start);
        if dim.flow.reads_lengths() {
            // Which step it comes from depends on the length.
            (first[0], step[0]) = (0, 0);
            let (segments, down) = (dim.flow == Flow::FlipSegments, dim.dst < 0);
            if down && !wanted.is_empty() {
                (first[1], step[1]) = (dim.dst * (wanted.end as isize - 1), -dim.dst);
            }
            let steps = wanted.clone();
            prefix = Some(Prefix { level, steps, down, src: dim.src, segments });
        }
        for (at, first) in at.iter_mut().zip(first) {
            *at += first;
        }
        levels.push(Level { len: wanted.len(), done: 0, steps: step });
    }
    let ahead = ahead::<BITS>(row, &steps, levels.last());
    let mut stream = job.stream.then(Stream::new);
    let mut sink = Sink::<BITS>::new(job.dst, job.seals, stream.as_mut(), job.isa);
    let zero = job.lengths.is_some_and(|lengths| lengths.zeroes_tail());
    let may_be_short = prefix.is_none() && !zero && row.flow != Flow::FlipSegments;
    let short = |rows: &&Level| may_be_short && is_short::<BITS>(row, &steps, rows);
    if let Some(rows) = levels.last().filter(short) {
        let rows = ShortRows { row, count: rows.len, steps: rows.steps };
        levels.pop();
        loop {
            // SAFETY: as below.
            unsafe { rows.copy(job, at, &mut sink) };
            if !advance(&mut levels, &mut at) {
                break;
            }
        }
        // SAFETY: as below.
        unsafe { sink.finish() };
        return;
    }
    loop {
        let [mut from, to, length_at] = at;
        // SAFETY: the levels run over the window, so rows are inside both sides, and lengths
        // of the plan at these offsets.
        unsafe {
            if let Some(cut) = prefix.as_ref().filter(|prefix| prefix.segments) {
                let step = cut.step(levels[cut.level].done);
                let source = job.lengths.map_or(step, |offsets| offsets.segment_source(step));
                from += cut.src * source as isize;
            } else if let Some(prefix) = &prefix {
                let (step, src) = (prefix.step(levels[prefix.level].done), prefix.src);
                if row.lengths != 0 {
                    let lanes = Lanes { step, axis: src, from, to, length_at };
                    side_by_side::<BITS>(job, row, steps.clone(), lanes, &mut sink);
                    if !advance(&mut levels, &mut at) {
                        break;
                    }
                    continue;
                }
                let len = job.lengths.map_or(0, |lengths| lengths.at(length_at));
                if zero && step >= len {
                    zero_run(part(row, 0, to, steps.clone(), 1), &mut sink);
                    if !advance(&mut levels, &mut at) {
                        break;
                    }
                    continue;
                }
                from += src * if step < len { len - 1 - step } else { step } as isize;
            }
            match row.flow {
                Flow::Keep => {
                    let run = part(row, from, to, steps.clone(), 1);
                    copy_run(run, job.src, &mut sink, ahead);
                }
                Flow::Flip => {
                    let last = from + row.src * (row.len as isize - 1);
                    let run = part(row, last, to, steps.clone(), -1);
                    copy_run(run, job.src, &mut sink, ahead);
                }
                Flow::FlipPrefix => {
                    let head = job.lengths.map_or(0, |lengths| lengths.at(length_at));
                    let middle = head.clamp(steps.start, steps.end);
                    let last = from + row.src * (head as isize - 1);
                    let reversed = part(row, last, to, steps.start..middle, -1);
                    let kept = part(row, from, to, middle..steps.end, 1);
                    // From low addresses to high ones.
                    let both = if row.dst < 0 { [kept, reversed] } else { [reversed, kept] };
                    let zero_at = if row.dst < 0 { 0 } else { 1 };
                    for (index, run) in both.into_iter().enumerate() {
                        if zero && index == zero_at {
                            zero_run(run, &mut sink);
                        } else if run.len > 0 {
                            copy_run(run, job.src, &mut sink, ahead);
                        }
                    }
                }
                Flow::FlipSegments => {
                    let copy = |sink: &mut Sink<'_, BITS>, start: usize, end: usize, back: bool| {
                        let wanted = start.max(steps.start)..end.min(steps.end);
                        if wanted.is_empty() {
                            return;
                        }
                        // `part` counts from step 0, so a segment is mirrored around its middle.
                        let first = if back { row.src * (start + end - 1) as isize } else { 0 };
                        let direction = if back { -1 } else { 1 };
                        let run = part(row, from + first, to, wanted, direction);
                        copy_run(run, job.src, sink, 0);
                    };
                    if let Some(offsets) = job.lengths {
                        segments(offsets, steps.clone(), row.dst < 0, |start, end, back| {
                            copy(&mut sink, start, end, back);
                        });
                    }
                }
            }
        }
        if !advance(&mut levels, &mut at) {
            break;
        }
    }
    // SAFETY: as above.
    unsafe { sink.finish() };
}

/// Visits segments with a step in `steps`, and what is behind the last one: where they start and
/// end, and whether they are reversed. In the order of the output's addresses.
fn segments(
    offsets: LengthReader<'_>,
    steps: Range<usize>,
    descending: bool,
    mut visit: impl FnMut(usize, usize, bool),
) {
    if !descending {
        offsets.each_bounds(steps, |bounds| match bounds {
            Bounds::Segments(bounds) => {
                bounds.windows(2).for_each(|pair| visit(pair[0], pair[1], true));
            }
            Bounds::Rest(rest) => visit(rest.start, rest.end, false),
        });
        return;
    }
    // The sink is written from low addresses to high ones: the last segment comes first. That
    // takes a list of them.
    let mut all = Vec::new();
    offsets.each_bounds(steps, |bounds| match bounds {
        Bounds::Segments(bounds) => {
            all.extend(bounds.windows(2).map(|pair| (pair[0], pair[1], true)))
        }
        Bounds::Rest(rest) => all.push((rest.start, rest.end, false)),
    });
    all.into_iter().rev().for_each(|(start, end, back)| visit(start, end, back));
}

/// Writes zeros to the places of a run.
///
/// # Safety
/// The run is inside memory valid for the sink's writes.
unsafe fn zero_run<const BITS: usize>(run: Run, sink: &mut Sink<BITS>) {
    if run.len == 0 {
        return;
    }
    let last = run.len as isize - 1;
    // SAFETY: the contract of [`copy_runs`].
    unsafe {
        if run.dst.abs() != 1 {
            for index in 0..=last {
                sink.seek((run.to + run.dst * index) as usize);
                sink.push(0, 1);
            }
            return;
        }
        sink.seek(if run.dst < 0 { run.to - last } else { run.to } as usize);
        let mut left = run.len;
        while left > 0 {
            let count = (words::MOST / BITS).min(left);
            sink.push(0, count);
            left -= count;
        }
    }
}

/// Distance in bytes to the run to prefetch while one is written; 0 for none.
fn ahead<const BITS: usize>(row: &Dim, steps: &Range<usize>, rows: Option<&Level>) -> isize {
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

/// Counts on; false after the last step.
#[inline(always)]
fn advance(levels: &mut [Level], at: &mut [isize; 3]) -> bool {
    for level in levels.iter_mut().rev() {
        level.done += 1;
        let more = level.done < level.len;
        let times = if more { 1 } else { 1 - level.len as isize };
        for (at, step) in at.iter_mut().zip(level.steps) {
            *at += step * times;
        }
        if more {
            return true;
        }
        level.done = 0;
    }
    false
}

/// A row of lanes of which each has its own length.
struct Lanes {
    /// Which step of the axis the row is.
    step: usize,
    /// How far a step of the axis is in the input.
    axis: isize,
    from: isize,
    to: isize,
    length_at: isize,
}

/// # Safety
/// As for [`copy_runs`], for the wanted steps of this row.
unsafe fn side_by_side<const BITS: usize>(
    job: &BitRuns<'_>,
    row: &Dim,
    steps: Range<usize>,
    lanes: Lanes,
    sink: &mut Sink<BITS>,
) {
    let Some(lengths) = job.lengths else { return };
    let Lanes { step, axis, from, to, length_at } = lanes;
    let mut heads = [0; 32];
    let mut done = steps.start;
    while done < steps.end {
        let count = (words::MOST / BITS).min(32).min(steps.end - done);
        let mut word = 0;
        // SAFETY: the contract of [`copy_runs`].
        unsafe {
            let first = length_at + row.lengths * done as isize;
            lengths.fill(first, row.lengths, &mut heads[..count]);
            for (index, &len) in heads[..count].iter().enumerate() {
                let lane = (done + index) as isize;
                let along = if row.flow == Flow::Flip { row.len as isize - 1 - lane } else { lane };
                let across = if step < len { len - 1 - step } else { step } as isize;
                let place = (from + axis * across + row.src * along) as usize;
                let element = match step >= len && lengths.zeroes_tail() {
                    true => 0,
                    false => words::load::<BITS>(job.src, place, 1),
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

/// Elements one after the other: where they come from and go to, and the steps between.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) from: isize,
    pub(super) src: isize,
    pub(super) to: isize,
    pub(super) dst: isize,
    /// At least 1.
    pub(super) len: usize,
}

/// Steps of a row as a run; `direction` is -1 if the input is read backward from `from`.
#[inline(always)]
fn part(row: &Dim, from: isize, to: isize, steps: Range<usize>, direction: isize) -> Run {
    let (src, start) = (row.src * direction, steps.start as isize);
    Run { from: from + src * start, src, to: to + row.dst * start, dst: row.dst, len: steps.len() }
}

/// Copies one run, and prefetches the one `ahead` bytes from it, if that is not 0.
///
/// # Safety
/// The run is inside memory valid for reads (`src`) and for the sink's writes.
#[inline]
pub(super) unsafe fn copy_run<const BITS: usize>(
    run: Run,
    src: *const u8,
    sink: &mut Sink<BITS>,
    ahead: isize,
) {
    let mut run = run;
    if run.dst == -1 {
        // The same from its other end.
        let last = run.len as isize - 1;
        let (from, to) = (run.from + run.src * last, run.to - last);
        run = Run { from, src: -run.src, to, dst: 1, len: run.len };
    }
    // SAFETY: the contract of [`copy_runs`].
    unsafe {
        if run.dst != 1 {
            for index in 0..run.len as isize {
                let element = words::load::<BITS>(src, (run.from + run.src * index) as usize, 1);
                sink.seek((run.to + run.dst * index) as usize);
                sink.push(element, 1);
            }
            return;
        }
        sink.seek(run.to as usize);
        if run.len <= words::MOST / BITS && (run.src.abs() == 1 || run.len == 1) {
            push::<BITS>(&run, 0, run.len, src, sink);
            return;
        }
        match run.src {
            1 => contiguous::<BITS, false>(&run, src, sink, ahead),
            -1 => contiguous::<BITS, true>(&run, src, sink, ahead),
            _ => {
                let mut done = 0;
                while done < run.len {
                    let count = (words::MOST / BITS).min(run.len - done);
                    let mut word = 0;
                    for index in 0..count {
                        let at = run.from + run.src * (done + index) as isize;
                        word |= words::load::<BITS>(src, at as usize, 1) << (index * BITS);
                    }
                    sink.push(word, count);
                    done += count;
                }
            }
        }
    }
}

/// Pushes `count` elements, at most [`words::MOST`] bits, from the run's element `done` on.
///
/// # Safety
/// As for [`copy_run`], with contiguous elements.
#[inline(always)]
unsafe fn push<const BITS: usize>(
    run: &Run,
    done: usize,
    count: usize,
    src: *const u8,
    sink: &mut Sink<BITS>,
) {
    let first = run.from + run.src * done as isize;
    let back = run.src < 0 && count > 1;
    let lowest = if back { first - (count as isize - 1) } else { first };
    // SAFETY: the contract of [`copy_runs`].
    unsafe {
        let word = words::load::<BITS>(src, lowest as usize, count);
        sink.push(if back { words::reverse::<BITS>(word, count) } else { word }, count);
    }
}

/// Elements that are contiguous on both sides: up to a byte of the output, whole bytes, the rest.
///
/// # Safety
/// As for [`copy_run`], with steps of 1 in the output and 1, or -1 if `BACK`, in the input,
/// for a run of at least one byte, after `seek`.
#[inline]
unsafe fn contiguous<const BITS: usize, const BACK: bool>(
    run: &Run,
    src: *const u8,
    sink: &mut Sink<BITS>,
    ahead: isize,
) {
    let lead = sink.to_byte();
    let bytes = (run.len - lead) / words::per_byte::<BITS>();
    let done = lead + bytes * words::per_byte::<BITS>();
    // SAFETY: the contract of [`copy_runs`]; the three pieces are the run.
    unsafe {
        if lead > 0 {
            push::<BITS>(run, 0, lead, src, sink);
        }
        if bytes > 0 {
            let lead = lead as isize;
            let at = if BACK { run.from + 1 - lead } else { run.from + lead } as usize;
            let mut next = null();
            if ahead != 0 {
                let (byte, _) = words::place::<BITS>(at);
                let lowest = if BACK { byte.wrapping_sub(bytes) } else { byte };
                next = src.wrapping_add(lowest).wrapping_offset(ahead);
            }
            sink.fill(Eights::<BITS, BACK>::new(src, at), bytes, next);
        }
        if done < run.len {
            push::<BITS>(run, done, run.len - done, src, sink);
        }
    }
}
