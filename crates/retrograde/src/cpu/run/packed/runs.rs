//! Runs of packed elements: one after the other on both sides, through a [`Sink`].

use super::eights::Eights;
use super::sink::Sink;
use crate::cpu::simd::words;
use crate::plan::Dim;
use std::ops::Range;
use std::ptr::null;

/// Elements one after the other: where they come from and go to, and the steps between.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) from: isize,
    pub(super) src: isize,
    pub(super) to: isize,
    pub(super) dst: isize,
    /// At least 1, where it is copied.
    pub(super) len: usize,
}

impl Run {
    /// Steps of a row; `direction` is -1 if the input is read backward from `from`.
    #[inline(always)]
    pub(super) fn of(
        row: &Dim,
        from: isize,
        to: isize,
        steps: Range<usize>,
        direction: isize,
    ) -> Self {
        let (src, start) = (row.src * direction, steps.start as isize);
        let (from, to) = (from + src * start, to + row.dst * start);
        Run { from, src, to, dst: row.dst, len: steps.len() }
    }
}

/// Copies one run, and prefetches the one `ahead` bytes from it, if that is not 0.
///
/// # Safety
/// The run is inside memory valid for reads (`src`) and for the sink's writes.
#[inline(never)]
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
    // SAFETY: the contract of this function.
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
    // SAFETY: the contract of this function.
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
    // SAFETY: the contract of this function; the three pieces are the run.
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

/// Writes zeros to the places of a run.
///
/// # Safety
/// The run is inside memory valid for the sink's writes.
pub(super) unsafe fn zero_run<const BITS: usize>(run: Run, sink: &mut Sink<BITS>) {
    if run.len == 0 {
        return;
    }
    let last = run.len as isize - 1;
    // SAFETY: the contract of this function.
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
