//! Runs units out of place: shared among threads, each part on the kernel of the program.

use super::look_up::{self, LookUps};
use super::stage::Stage;
use crate::cpu::dispatch::Isa;
use crate::cpu::kernels::blocks::Blocks;
use crate::cpu::kernels::columns::Columns;
use crate::cpu::kernels::lanes::Lanes;
use crate::cpu::kernels::rows::Rows;
use crate::cpu::kernels::segments::Segments;
use crate::cpu::kernels::short_lanes::ShortLanes;
use crate::cpu::kernels::tiles::Tiles;
use crate::cpu::kernels::units;
use crate::cpu::lengths::{Bounds, LengthReader, visit_marked};
use crate::cpu::nest::{Loop, Loops, Nest, walk};
use crate::cpu::program::{Along, Units, UnitsKernel, column_room, lanes_aside};
use crate::cpu::schedule::{Cut, Team, Window, tuning};
use crate::cpu::simd::WIDEST;
use crate::plan::{Dim, Flow};
use crate::table::Table;
use std::convert::Infallible;
use std::ops::Range;

/// Lengths read at a time.
pub(super) const MOST_LANES: usize = 2048;
/// Lengths read at a time by calls with no more than these.
const FEW_LANES: usize = 64;
/// Bytes of a segment that is short.
const SHORT: usize = 512;

/// What every part of a call shares.
///
/// # Invariants
/// 1. `src` and `dst` are the first units, in memory valid over the reaches of the program: for reads and
///    for writes.
/// 2. The reaches do not overlap, or (in place) are the same.
/// 3. `lengths` is there if a dimension reads any, and covers its values.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) unit: usize,
    pub(super) lengths: Option<LengthReader<'a>>,
    pub(super) isa: Isa,
    pub(super) stream: bool,
    /// The same for kernels that write a strip of each row at a time.
    pub(super) stream_strips: bool,
    pub(super) prefetch: bool,
    /// How many parts may run at once, and share the memory for staging buffers.
    pub(super) at_once: usize,
}

// SAFETY: threads write separate parts of the output, and only read the rest.
unsafe impl Send for Call<'_> {}
// SAFETY: as above.
unsafe impl Sync for Call<'_> {}

/// Runs units out of place, on the threads that the size is worth.
///
/// # Safety
/// As for [`run_on`].
pub(super) unsafe fn run(
    units: &Units,
    dims: &[Dim],
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
    table: Option<&Table>,
) {
    let team = Team::new(units.bytes);
    let Some(job) = units.job.filter(|_| team.threads() == 1 && table.is_none()) else {
        // SAFETY: passed on.
        return unsafe { run_on(&team, units, dims, src, dst, lengths, table) };
    };
    let (isa, stream) = (Isa::current(), tuning::streams(units.hint, units.bytes));
    // SAFETY: the job is the program's own loops over both reaches, which are valid and separate, as
    // required.
    unsafe {
        isa.rows(&Rows {
            src: src.offset(job.from),
            dst: dst.add(units.origins[1]),
            count: job.rows,
            src_step: job.steps[0],
            dst_step: job.steps[1],
            len: job.len,
            unit: units.unit,
            backward: job.backward,
            stream,
            prefetch: tuning::prefetches(units.bytes),
        });
    }
    if stream {
        isa.fence();
    }
}

/// Runs units out of place, shared among the threads of a team.
///
/// # Safety
/// `src` is valid for reads over the reach of the dimensions, `dst` for writes, the two do not overlap,
/// and `lengths` is there if a dimension reads any.
pub(super) unsafe fn run_on(
    team: &Team<'_>,
    units: &Units,
    dims: &[Dim],
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
    table: Option<&Table>,
) {
    let Units { unit, origins: [from, to], bytes, kernel, hint, .. } = *units;
    let (isa, prefetch) = (Isa::current(), tuning::prefetches(bytes));
    // What is looked up afterwards has to be in a cache.
    let direct = table.is_none();
    let stream = direct && tuning::streams(hint, bytes);
    let stream_strips = direct && tuning::streams_strips(hint, bytes);
    let parts = look_up::parts(team, bytes, !direct);
    let cut = Cut::new(dims, to, 1, parts, |dim| units.may_cut(dim));
    // SAFETY: the origins are inside the buffers.
    let (src, dst) = unsafe { (src.add(from), dst.add(to)) };
    let at_once = cut.parts().min(team.threads());
    let call = Call { src, dst, unit, lengths, isa, stream, stream_strips, prefetch, at_once };
    let aside = !direct && tuning::streams(hint, bytes) && are_dense(dims, unit);
    // Moved into the closure: another thread reads less of this one's memory before it starts.
    team.run(cut.parts(), move |part| {
        // SAFETY: the invariants of `Call` are this function's requirements; parts write
        // separate ranges of one dimension.
        unsafe {
            let window = cut.window(part);
            let Some(table) = table else {
                part_of(&call, kernel, dims, window);
                if stream || stream_strips {
                    call.isa.fence();
                }
                return;
            };
            let to = |call: &Call<'_>| {
                part_of(call, kernel, dims, window);
                let (memory, bits, whole_segments) = (call.dst, 8, false);
                let all = LookUps { table, isa, memory, unit, bits, lengths, whole_segments };
                all.part(dims, 0, window);
            };
            if !aside || !through_a_buffer(&call, dims, window, to) {
                to(&call);
            }
        }
    });
}

/// Whether units fill a range of the output, in the order of the dimensions.
fn are_dense(dims: &[Dim], unit: usize) -> bool {
    let mut run = unit;
    dims.iter().rev().all(|dim| {
        let follows = dim.dst == run as isize;
        run *= dim.len;
        follows
    })
}

/// Calls `part` with a buffer in place of the window's output, which is written from there by non-temporal
/// stores. False, and nothing has happened, if the window is too large or in pieces.
///
/// # Safety
/// As for [`part_of`], with dense units; `part` writes all of the window.
unsafe fn through_a_buffer(
    call: &Call<'_>,
    dims: &[Dim],
    window: Window,
    part: impl FnOnce(&Call<'_>),
) -> bool {
    let Some(step) = dims.first().map(|dim| dim.dst as usize) else { return false };
    let (start, len) = (window.start * step, (window.end - window.start) * step);
    if window.dim > 0 || len > look_up::MOST_ASIDE {
        return false;
    }
    let Some(mut stage) = Stage::take(len) else { return false };
    let stage = stage.as_mut_ptr();
    part(&Call { dst: stage.wrapping_sub(start), ..*call });
    // SAFETY: the buffer holds the window, which is initialised now.
    unsafe {
        call.isa.rows(&Rows {
            src: stage,
            dst: call.dst.add(start),
            count: 1,
            src_step: 0,
            dst_step: 0,
            len,
            unit: 1,
            backward: false,
            stream: true,
            prefetch: false,
        });
        call.isa.fence();
    }
    true
}

/// # Safety
/// The invariants of [`Call`]; no other thread writes to the window.
unsafe fn part_of(call: &Call<'_>, kernel: UnitsKernel, dims: &[Dim], window: Window) {
    let origin = call.lengths.map_or(0, |lengths| lengths.origin());
    let nest = Nest::of(dims, window, origin);
    let [from, to, _] = nest.start;
    // SAFETY: the nest visits exactly the window's elements, all inside both reaches, and the
    // lengths of their lanes.
    unsafe {
        let Some(((axis, steps), lengths)) = nest.prefix.zip(call.lengths) else {
            let UnitsKernel::Along(along) = kernel else { return };
            return loops(call, along, &nest.inner, [from, to]);
        };
        match kernel {
            UnitsKernel::Blocks => blocks(call, &nest, axis, steps, lengths),
            UnitsKernel::Lanes => lanes(call, &nest, axis, lengths),
            UnitsKernel::ShortLanes => short_lanes(call, &nest, axis, lengths),
            UnitsKernel::Columns => columns(call, &nest, axis, steps, lengths),
            UnitsKernel::Segments => segments(call, &nest, axis, steps, lengths),
            UnitsKernel::Prefixes(along) | UnitsKernel::Along(along) => {
                prefixes(call, along, &nest, axis, steps, lengths);
            }
        }
    }
}

/// Takes the innermost lanes in groups of at most `most`, with their lengths: passes on the
/// offsets of the group's first lane, on both sides, and the lengths. The last group has no fewer
/// than `least` lanes, if there are that many and `most` is twice that.
///
/// # Safety
/// The nest is one of a plan whose lengths `lengths` covers.
pub(super) unsafe fn each_group(
    isa: Isa,
    nest: &Nest,
    most: usize,
    least: usize,
    lengths: LengthReader<'_>,
    mut visit: impl FnMut(isize, isize, &[usize]),
) {
    let (lanes, outer) = nest.innermost_lanes();
    // Zeroing room for many lengths would take longer than a small call.
    let (mut few, mut many);
    let prefix_lens: &mut [usize] = if most.min(lanes.len) <= FEW_LANES {
        few = [0; FEW_LANES];
        &mut few
    } else {
        many = [0; MOST_LANES];
        &mut many
    };
    let Ok(()) = walk(outer, nest.start, |[from, to, length_at]| {
        let mut first = 0;
        while first < lanes.len {
            let left = lanes.len - first;
            let count = most.min(prefix_lens.len()).min(left);
            let too_few = count < left && left - count < least && count >= 2 * least;
            let count = if too_few { count - least } else { count };
            let [from_step, to_step, length_step] = lanes.steps.map(|step| step * first as isize);
            let (offset, stride) = (length_at + length_step, lanes.steps[2]);
            let prefix_lens = &mut prefix_lens[..count];
            // SAFETY: the nest visits lengths of the plan.
            unsafe { lengths.fill_with(isa, offset, stride, prefix_lens) };
            visit(from + from_step, to + to_step, prefix_lens);
            first += count;
        }
        Ok::<(), Infallible>(())
    });
}

/// Lanes of contiguous units: the kernel takes many at a time.
///
/// # Safety
/// As for [`part_of`], for lanes that are whole and contiguous on both sides.
unsafe fn lanes(call: &Call<'_>, nest: &Nest, prefix: Dim, lengths: LengthReader<'_>) {
    let (lanes, _) = nest.innermost_lanes();
    let at_end = prefix.dst < 0;
    // From step 0 of the axis to the lowest address of the lane.
    let low = if at_end { prefix.dst * (prefix.len as isize - 1) } else { 0 };
    let group = |from: isize, to: isize, prefix_lens: &[usize]| {
        // SAFETY: kernel contract 1 and 2 by `Call`'s invariants, 3 by the `Isa`, 4 because
        // lengths are clamped to the size of the axis.
        unsafe {
            call.isa.lanes(&Lanes {
                src: call.src.offset(from + low),
                dst: call.dst.offset(to + low),
                prefix_lens,
                src_step: lanes.steps[0],
                dst_step: lanes.steps[1],
                len: prefix.len,
                unit: call.unit,
                at_end,
                zero: lengths.zeroes_tail(),
                stream: call.stream,
                prefetch: call.prefetch,
            });
        }
    };
    // SAFETY: the nest is the plan's, and `lengths` its own.
    unsafe { each_group(call.isa, nest, MOST_LANES, 0, lengths, group) };
}

/// Lanes of a few units; in place too.
///
/// # Safety
/// As for [`lanes`], for lanes that are short.
pub(super) unsafe fn short_lanes(
    call: &Call<'_>,
    nest: &Nest,
    prefix: Dim,
    lengths: LengthReader<'_>,
) {
    let (lanes, _) = nest.innermost_lanes();
    let group = |from: isize, to: isize, prefix_lens: &[usize]| {
        // SAFETY: as in `lanes`.
        unsafe {
            call.isa.short_lanes(&ShortLanes {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                prefix_lens,
                src_step: lanes.steps[0],
                len: prefix.len,
                unit: call.unit,
                in_place: std::ptr::eq(call.src, call.dst),
                stream: call.stream,
            });
        }
    };
    // SAFETY: as in `lanes`.
    unsafe { each_group(call.isa, nest, MOST_LANES, 0, lengths, group) };
}

/// Wide units: the output is written in its own order, adjacent lanes step by step.
///
/// # Safety
/// As for [`part_of`].
unsafe fn blocks(
    call: &Call<'_>,
    nest: &Nest,
    prefix: Dim,
    steps: Window,
    lengths: LengthReader<'_>,
) {
    let (lanes, _) = nest.innermost_lanes();
    // Lanes outside the axis are taken one by one, lanes inside it all at once.
    let most = if lanes.steps[1].abs() > prefix.dst.abs() { 1 } else { MOST_LANES };
    let group = |from: isize, to: isize, prefix_lens: &[usize]| {
        // SAFETY: as in `lanes`.
        unsafe {
            call.isa.blocks(&Blocks {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                prefix_lens,
                lane_steps: [lanes.steps[0], lanes.steps[1]],
                axis_steps: [prefix.src, prefix.dst],
                from: steps.start,
                to: steps.end,
                bytes: call.unit,
                zero: lengths.zeroes_tail(),
                stream: call.stream,
            });
        }
    };
    // SAFETY: as in `lanes`.
    unsafe { each_group(call.isa, nest, most, 0, lengths, group) };
}

/// Narrow units with adjacent lanes: strips of columns, through a staging buffer.
///
/// # Safety
/// As for [`part_of`], with columns in the nest.
unsafe fn columns(
    call: &Call<'_>,
    nest: &Nest,
    prefix: Dim,
    steps: Window,
    lengths: LengthReader<'_>,
) {
    let room = column_room(prefix.len, call.unit, 1, call.at_once);
    let Some((room, mut stage)) = room.and_then(|room| Some((room, Stage::take(room)?))) else {
        // No memory for an axis that long: fall back to lane by lane, unit by unit.
        // SAFETY: as required of this function.
        return unsafe { prefixes(call, Along::Strided, nest, prefix, steps, lengths) };
    };
    let stage = stage.as_mut_ptr();
    let group = |from: isize, to: isize, prefix_lens: &[usize]| {
        // SAFETY: as in `lanes`; the buffer has the room.
        unsafe {
            call.isa.columns(&Columns {
                src: call.src.offset(from),
                first: 0,
                end: call.src,
                dst: call.dst.offset(to),
                prefix_lens,
                pitches: [prefix.src, prefix.dst],
                len: prefix.len,
                unit: call.unit,
                elements: 1,
                stage,
                room,
                zero: lengths.zeroes_tail(),
                stream: call.stream_strips,
            });
        }
    };
    // SAFETY: as in `lanes`.
    unsafe { each_group(call.isa, nest, MOST_LANES, WIDEST / call.unit, lengths, group) };
}

/// The same in place: some columns at a time are put aside, and moved back from there. False, and
/// nothing has happened, if there is no memory for them.
///
/// # Safety
/// As for [`part_of`], with columns in the nest, where both sides are the same memory.
pub(super) unsafe fn columns_in_place(
    call: &Call<'_>,
    nest: &Nest,
    axis: Dim,
    lengths: LengthReader<'_>,
) -> bool {
    let (unit, (lanes, _)) = (call.unit, nest.innermost_lanes());
    let most = lanes_aside(axis.len, unit).min(lanes.len);
    let Some(room) = column_room(axis.len, unit, 1, call.at_once) else { return false };
    let Some(mut stage) = Stage::take(room + WIDEST + axis.len * most * unit) else { return false };
    let stage = stage.as_mut_ptr();
    // Behind what the kernel uses.
    let aside = stage.wrapping_add(room + WIDEST);
    let group = |_: isize, to: isize, prefix_lens: &[usize]| {
        let row = prefix_lens.len() * unit;
        // SAFETY: as in `lanes`; the buffer has the room for both, and the columns, which are no wider
        // than `most`, are read before they are written.
        unsafe {
            call.isa.rows(&Rows {
                src: call.dst.offset(to),
                dst: aside,
                count: axis.len,
                src_step: axis.dst,
                dst_step: row as isize,
                len: row,
                unit: 1,
                backward: false,
                stream: false,
                prefetch: false,
            });
            call.isa.columns(&Columns {
                src: aside,
                first: 0,
                end: aside,
                dst: call.dst.offset(to),
                prefix_lens,
                pitches: [row as isize, axis.dst],
                len: axis.len,
                unit,
                elements: 1,
                stage,
                room,
                zero: lengths.zeroes_tail(),
                stream: false,
            });
        }
    };
    // SAFETY: as in `lanes`.
    unsafe { each_group(call.isa, nest, most, WIDEST / unit, lengths, group) };
    true
}

/// Segments of an axis with nothing but units inside it.
///
/// # Safety
/// As for [`part_of`], with a `FlipSegments`.
unsafe fn segments(
    call: &Call<'_>,
    nest: &Nest,
    cut: Dim,
    steps: Window,
    offsets: LengthReader<'_>,
) {
    // What is behind the segments: one row, or units one by one.
    let unit = call.unit as isize;
    let contiguous = cut.src.abs() == unit && cut.dst == unit;
    let along = if contiguous { Along::Rows } else { Along::Strided };
    let wanted = steps.start..steps.end;
    let Ok(()) = walk(&nest.lanes, nest.start, |[from, to, _]| {
        let reverse = |bounds: &[usize], marks: Option<&[u64]>| {
            // SAFETY: kernel contract 1 and 2 by `Call`'s invariants, since bounds are clamped to the
            // axis and ascend; 3 by the `Isa`.
            unsafe {
                call.isa.segments(&Segments {
                    src: call.src.offset(from),
                    dst: call.dst.offset(to),
                    bounds,
                    marks,
                    steps: wanted.clone(),
                    axis_steps: [cut.src, cut.dst],
                    unit: call.unit,
                    stream: call.stream,
                    prefetch: call.prefetch,
                });
            }
        };
        let keep = |steps: Range<usize>| {
            let first = steps.start as isize;
            let [from, to] = [from + cut.src * first, to + cut.dst * first];
            // SAFETY: as above; these steps are inside the axis, and input and output do not overlap.
            unsafe {
                let row = Loop { len: steps.len(), steps: [cut.src, cut.dst] };
                loops(call, along, &[row], [from, to]);
            }
        };
        offsets.each_group(wanted.clone(), |bounds| match bounds {
            Bounds::Segments(bounds) => reverse(bounds, None),
            Bounds::Rest(rest) => keep(rest),
            Bounds::Marked(bounds, marks) => {
                // The kernel takes many short ones at a time, and moves long ones that stay one by one.
                let (first, last) = (bounds[0], bounds[bounds.len() - 1]);
                if (last - first) * call.unit <= SHORT * (bounds.len() - 1) {
                    return reverse(bounds, Some(marks));
                }
                visit_marked(bounds, marks, &wanted, &mut |bounds| match bounds {
                    Bounds::Rest(rest) => keep(rest),
                    Bounds::Segments(bounds) => reverse(bounds, None),
                    Bounds::Marked(..) => {}
                });
            }
        });
        Ok::<(), Infallible>(())
    });
}

/// Any other prefix: for each lane, the wanted steps of its prefix and of its rest. Or any other
/// segments: for each lane, the wanted steps of each of them.
///
/// # Safety
/// As for [`part_of`].
unsafe fn prefixes(
    call: &Call<'_>,
    along: Along,
    nest: &Nest,
    prefix: Dim,
    steps: Window,
    lengths: LengthReader<'_>,
) {
    let Ok(()) = walk(&nest.lanes, nest.start, |[from, to, length_at]| {
        // SAFETY: the nest visits lanes of the plan and their lengths.
        unsafe {
            if prefix.flow == Flow::FlipSegments {
                copy_segments(call, along, &nest.inner, prefix, steps, lengths, [from, to]);
            } else {
                let len = lengths.at(length_at);
                let tail = lengths.zeroes_tail();
                copy_prefix(call, along, &nest.inner, (prefix, steps), len, tail, [from, to]);
            }
        }
        Ok::<(), Infallible>(())
    });
}

/// One lane, cut into segments that are reversed, with what moves along.
///
/// # Safety
/// As for [`part_of`], for the lane at these offsets.
unsafe fn copy_segments(
    call: &Call<'_>,
    along: Along,
    inner: &[Loop<2>],
    cut: Dim,
    wanted: Window,
    offsets: LengthReader<'_>,
    [from, to]: [isize; 2],
) {
    let mut nested = Loops::<2>::with_capacity(inner.len() + 1);
    nested.push(Loop { len: 0, steps: [0, 0] });
    nested.extend_from_slice(inner);
    let mut run = |first: usize, steps: Range<usize>, direction: isize| {
        nested[0] = Loop { len: steps.len(), steps: [cut.src * direction, cut.dst] };
        let start = [from + cut.src * first as isize, to + cut.dst * steps.start as isize];
        // SAFETY: bounds are clamped to the axis and ascend, so all of it is inside the lane.
        unsafe { loops(call, along, &nested, start) };
    };
    offsets.each_bounds(wanted.start..wanted.end, |bounds| match bounds {
        Bounds::Segments(bounds) => {
            for pair in bounds.windows(2) {
                let (start, end) = (pair[0], pair[1]);
                let steps = start.max(wanted.start)..end.min(wanted.end);
                if !steps.is_empty() {
                    run(start + end - 1 - steps.start, steps, -1);
                }
            }
        }
        Bounds::Rest(rest) => run(rest.start, rest, 1),
        Bounds::Marked(..) => {}
    });
}

/// One lane, whose first `len` steps are reversed, with what moves along.
///
/// # Safety
/// As for [`part_of`], for the lane at these offsets, with `len` at most the size of the axis.
unsafe fn copy_prefix(
    call: &Call<'_>,
    along: Along,
    inner: &[Loop<2>],
    (prefix, steps): (Dim, Window),
    len: usize,
    zero: bool,
    [from, to]: [isize; 2],
) {
    let mut nested = Loops::<2>::with_capacity(inner.len() + 1);
    nested.push(Loop { len: 0, steps: [0, 0] });
    nested.extend_from_slice(inner);
    let middle = len.clamp(steps.start, steps.end);
    // SAFETY: both parts stay inside the lane, which is inside both reaches.
    unsafe {
        if middle > steps.start {
            nested[0] = Loop { len: middle - steps.start, steps: [-prefix.src, prefix.dst] };
            let first = from + prefix.src * (len - 1 - steps.start) as isize;
            let place = to + prefix.dst * steps.start as isize;
            loops(call, along, &nested, [first, place]);
        }
        if middle < steps.end {
            nested[0] = Loop { len: steps.end - middle, steps: [prefix.src, prefix.dst] };
            let rest = middle as isize;
            let (from, to) = (from + prefix.src * rest, to + prefix.dst * rest);
            match zero {
                true => zero_loops(call, &nested, to),
                false => loops(call, along, &nested, [from, to]),
            }
        }
    }
}

/// Writes zeros along nested loops; in place too.
///
/// # Safety
/// As for [`loops`], for the output.
pub(super) unsafe fn zero_loops(call: &Call<'_>, loops: &[Loop<2>], start: isize) {
    let unit = call.unit as isize;
    let one = Loop { len: 1, steps: [0, 0] };
    let (row, outer) = loops.split_last().map_or((one, &[][..]), |(row, rest)| (*row, rest));
    // Contiguous units are one run, from its lowest address.
    let (row, run, low) = match row.steps[1] {
        step if step == unit => (one, call.unit * row.len, 0),
        step if step == -unit && row.len > 0 => {
            (one, call.unit * row.len, step * (row.len as isize - 1))
        }
        _ => (row, call.unit, 0),
    };
    let Ok(()) = walk(outer, [0, start], |[_, to]| {
        for index in 0..row.len as isize {
            // SAFETY: combinations of steps, which are inside the output.
            unsafe { call.dst.offset(to + low + row.steps[1] * index).write_bytes(0, run) };
        }
        Ok::<(), Infallible>(())
    });
}

/// Copies units along nested loops: the innermost is a row, the next one many rows.
///
/// # Safety
/// The invariants of [`Call`]; every combination of steps from `start` stays, with its unit,
/// inside both reaches.
unsafe fn loops(call: &Call<'_>, along: Along, loops: &[Loop<2>], start: [isize; 2]) {
    let one = Loop { len: 1, steps: [0, 0] };
    let (row, rest) = loops.split_last().map_or((one, &[][..]), |(row, rest)| (*row, rest));
    let (row, rows, outer) = match along {
        Along::Tiles { across } => {
            // SAFETY: passed on; `across` is one of the outer loops.
            return unsafe { tiles(call, &row, rest, across, start) };
        }
        // Units that are not contiguous are rows of one.
        Along::Strided if row.len != 1 => (one, row, rest),
        Along::Strided | Along::Rows => {
            let (rows, outer) = rest.split_last().map_or((one, &[][..]), |(l, rest)| (*l, rest));
            (row, rows, outer)
        }
    };
    if row.len == 0 || rows.len == 0 {
        return;
    }
    let Ok(()) = walk(outer, start, |[from, to]| {
        // SAFETY: kernel contract 1 and 2 by `Call`'s invariants: rows are combinations of
        // steps; 3 by the `Isa`.
        unsafe {
            let job = Rows {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                count: rows.len,
                src_step: rows.steps[0],
                dst_step: rows.steps[1],
                len: row.len,
                unit: call.unit,
                backward: row.steps[0] < 0,
                stream: call.stream,
                prefetch: call.prefetch,
            };
            if row.len != 1 || !units::copy(&job) {
                call.isa.rows(&job);
            }
        }
        Ok::<(), Infallible>(())
    });
}

/// Loops of which the innermost is contiguous in the output only, while loop `across` is
/// contiguous in the input: the two make planes for the tile kernel.
///
/// # Safety
/// As for [`loops`], with `across` one of them.
unsafe fn tiles(
    call: &Call<'_>,
    inner: &Loop<2>,
    rest: &[Loop<2>],
    across: usize,
    start: [isize; 2],
) {
    let mut rows = rest[across];
    if rows.len == 0 || inner.len == 0 {
        return;
    }
    let [mut from, mut to] = start;
    if rows.steps[0] < 0 {
        // Walk it from the other end, so that the input is read forward.
        from += rows.steps[0] * (rows.len as isize - 1);
        to += rows.steps[1] * (rows.len as isize - 1);
        rows.steps = rows.steps.map(|step| -step);
    }
    let mut outer: Loops<2> = rest.into();
    outer.remove(across);
    let Ok(()) = walk(&outer, [from, to], |[from, to]| {
        // SAFETY: as in `loops`: the plane is combinations of steps.
        unsafe {
            call.isa.tiles(&Tiles {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                rows: rows.len,
                columns: inner.len,
                src_step: inner.steps[0],
                dst_step: rows.steps[1],
                unit: call.unit,
                stream: call.stream_strips,
            });
        }
        Ok::<(), Infallible>(())
    });
}
