//! Movement of whole bytes: a plan's dimensions become rows, lanes or swaps for the kernels.
//!
//! A `Flip` is a copy that reads backwards. A `FlipPrefix` is, lane by lane, a flip of the
//! first `len` steps and a copy of the rest. So one nest of loops with signed steps serves all.

use super::blocks::Blocks;
use super::columns::{self, Columns};
use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;
use super::lengths::{Fill, LengthReader};
use super::mirror::{mirror, swap_pairs};
use super::parts::{Cut, Window, walk_of};
use super::rows::Rows;
use super::short;
use super::stream::to_line;
use super::strided;
use super::swaps::{Swaps, swap_runs};
use super::threads;
use super::tiles::Tiles;
use super::tuning;
use super::walk::{Loop, walk};
use crate::plan::{Dim, Flow, Plan};
use smallvec::SmallVec;
use std::cell::Cell;
use std::convert::Infallible;

type Dims = SmallVec<[Dim; 8]>;
type Loops<const K: usize> = SmallVec<[Loop<K>; 8]>;

/// Lengths read at a time.
const MOST_LANES: usize = 2048;
/// Units from here on move as blocks, in the order of the output.
const WIDE: usize = 64;

/// The largest column buffer that a thread keeps for its next call.
const MOST_KEPT: usize = 4 << 20;

/// The most that the column buffers of all threads may take. Longer axes go unit by unit:
/// slowly, but in no more memory than that.
const MOST_STAGED: usize = 128 << 20;

thread_local! {
    /// This thread's column buffer.
    static STAGE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// What every part of a call shares.
#[derive(Clone, Copy)]
struct Call<'a> {
    src: *const u8,
    dst: *mut u8,
    unit: usize,
    lengths: Option<LengthReader<'a>>,
    isa: Isa,
    stream: bool,
}

// SAFETY: threads write separate parts of the output, and only read the rest.
unsafe impl Send for Call<'_> {}
// SAFETY: as above.
unsafe impl Sync for Call<'_> {}

/// Runs a plan of bytes out of place.
///
/// # Safety
/// `src` is valid for reads over the plan's input reach, `dst` for writes over its output
/// reach, the two do not overlap, and `lengths` is there if the plan has a `FlipPrefix`.
pub(super) unsafe fn copy(
    plan: &Plan,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let bytes = plan.units() * plan.unit().count;
    let threads = threads::threads_for(bytes);
    // SAFETY: the caller's promises.
    if threads == 1 && unsafe { copy_simple(plan, src, dst, bytes) } {
        return;
    }
    let (dims, unit) = rows_of(plan);
    // A prefix is cut only where blocks move: columns and lanes want all of it.
    let may_cut = |dim: &Dim| dim.flow != Flow::FlipPrefix || unit >= WIDE;
    let cut = Cut::new(&dims, threads::parts_for(bytes, threads), may_cut);
    // SAFETY: the origins lie inside the buffers.
    let (src, dst) = unsafe { (src.add(plan.src().origin), dst.add(plan.dst().origin)) };
    let stream = tuning::streams(bytes, threads);
    let call = Call { src, dst, unit, lengths, isa: Isa::current(), stream };
    threads::run(cut.parts(), |part| {
        // SAFETY: the caller's promises; parts write separate ranges of one dimension.
        unsafe { copy_part(&call, &dims, cut.window(part)) };
        if stream {
            call.isa.fence();
        }
    });
}

/// The plans that most small calls have, without ado: one block, or one or two dimensions of
/// units that lie together. False for any other.
///
/// # Safety
/// As for [`copy`].
unsafe fn copy_simple(plan: &Plan, src: *const u8, dst: *mut u8, bytes: usize) -> bool {
    let unit = plan.unit().count;
    let one = Dim { len: 1, src: 0, dst: 0, lengths: 0, flow: Flow::Keep };
    let (rows, row) = match *plan.dims() {
        [] => (one, Dim { src: unit as isize, dst: unit as isize, ..one }),
        [row] => (one, row),
        [rows, row] => (rows, row),
        _ => return false,
    };
    let together = row.src == unit as isize && row.dst == unit as isize;
    if !together || row.flow == Flow::FlipPrefix || rows.flow == Flow::FlipPrefix {
        return false;
    }
    let (row_start, row_step) = walk_of(&row, 0);
    let (rows_start, rows_step) = walk_of(&rows, 0);
    let from = plan.src().origin as isize + row_start[0] + rows_start[0];
    let (isa, stream) = (Isa::current(), tuning::streams(bytes, 1));
    // SAFETY: the caller's promises; these are the plan's own loops.
    unsafe {
        isa.rows(&Rows {
            src: src.offset(from),
            dst: dst.add(plan.dst().origin),
            count: rows.len,
            src_step: rows_step[0],
            dst_step: rows_step[1],
            len: row.len,
            unit,
            backward: row_step[0] < 0,
            stream,
        });
    }
    if stream {
        isa.fence();
    }
    true
}

/// The plan's dimensions and unit; a plan that is one block becomes a row of bytes.
fn rows_of(plan: &Plan) -> (Dims, usize) {
    let (dims, count) = (plan.dims(), plan.unit().count);
    if !dims.is_empty() {
        return (dims.into(), count);
    }
    let row = Dim { len: count, src: 1, dst: 1, lengths: 0, flow: Flow::Keep };
    (SmallVec::from_slice(&[row]), 1)
}

/// Dimensions in the order the CPU takes them: lanes outside, then the reversed axis, then
/// whatever moves along with each step of it.
pub(super) struct Nest {
    /// Where the first lane starts: input, output, lengths.
    pub(super) start: [isize; 3],
    /// One visit per length that applies.
    pub(super) lanes: Loops<3>,
    /// The `FlipPrefix` dimension and the steps of it that are wanted.
    pub(super) prefix: Option<(Dim, Window)>,
    /// Dimensions along which the length stays the same.
    pub(super) inner: Loops<2>,
}

impl Nest {
    pub(super) fn of(dims: &[Dim], window: Window, lengths_origin: isize) -> Self {
        let prefix = dims.iter().position(|dim| dim.flow == Flow::FlipPrefix);
        let mut nest = Nest {
            start: [0, 0, lengths_origin],
            lanes: Loops::new(),
            prefix: None,
            inner: Loops::new(),
        };
        for (index, dim) in dims.iter().enumerate() {
            let steps = window.steps(index, dim.len);
            if dim.flow == Flow::FlipPrefix {
                let wanted = Window { dim: index, start: steps.start, end: steps.end };
                nest.prefix = Some((*dim, wanted));
                continue;
            }
            let (first, step) = walk_of(dim, steps.start);
            for (at, first) in nest.start.iter_mut().zip(first) {
                *at += first;
            }
            if prefix.is_some_and(|prefix| index < prefix || dim.lengths != 0) {
                nest.lanes.push(Loop { len: steps.len(), steps: step });
            } else {
                nest.inner.push(Loop { len: steps.len(), steps: [step[0], step[1]] });
            }
        }
        nest
    }

    /// Which kernel takes it.
    fn kernel(&self, unit: usize) -> Kernel {
        let Some((prefix, steps)) = self.prefix else { return loops_kernel(&self.inner, unit) };
        let step = unit as isize;
        let contiguous = prefix.src == step && prefix.dst == step;
        let whole = steps.start == 0 && steps.end == prefix.len;
        if unit >= WIDE && self.inner.is_empty() {
            Kernel::Blocks
        } else if contiguous && whole && self.inner.is_empty() {
            if has_short_lanes(self, prefix, unit) { Kernel::Short } else { Kernel::Lanes }
        } else if whole && self.inner.is_empty() && self.has_columns(step) && staged(prefix, unit) {
            Kernel::Columns
        } else {
            Kernel::Prefixes
        }
    }

    /// Whether lanes lie side by side, on both sides, in units the column kernel knows.
    fn has_columns(&self, unit: isize) -> bool {
        let (lanes, _) = self.innermost_lanes();
        let together = lanes.steps[0] == unit && lanes.steps[1] == unit;
        together && matches!(unit, 1 | 2 | 4 | 8 | 16)
    }

    /// The innermost loop of lanes, a single lane if there is none, and the loops around it.
    fn innermost_lanes(&self) -> (Loop<3>, &[Loop<3>]) {
        match self.lanes.split_last() {
            Some((row, outer)) => (*row, outer),
            None => (Loop { len: 1, steps: [0; 3] }, &[]),
        }
    }
}

/// # Safety
/// As for [`copy`], for the window.
unsafe fn copy_part(call: &Call<'_>, dims: &[Dim], window: Window) {
    let origin = call.lengths.map_or(0, |lengths| lengths.origin());
    let nest = Nest::of(dims, window, origin);
    let [from, to, _] = nest.start;
    // SAFETY: the nest visits exactly the window's elements, all inside both reaches, and the
    // lengths of their lanes.
    unsafe {
        match (nest.prefix, call.lengths) {
            (Some((prefix, steps)), Some(lengths)) => match nest.kernel(call.unit) {
                Kernel::Blocks => copy_blocks(call, &nest, prefix, steps, lengths),
                // One entry: it finds out itself which lanes are short.
                Kernel::Lanes | Kernel::Short => copy_lanes(call, &nest, prefix, lengths),
                Kernel::Columns => copy_columns(call, &nest, prefix, steps, lengths),
                _ => copy_prefixes(call, &nest, prefix, steps, lengths),
            },
            _ => copy_loops(call, &nest.inner, [from, to]),
        }
    }
}

/// Takes the innermost lanes in groups of at most `most`, with their lengths: hands on where
/// the group's first lane starts, on both sides, and the lengths.
///
/// # Safety
/// As for [`copy_part`].
unsafe fn each_group(
    isa: Isa,
    nest: &Nest,
    most: usize,
    lengths: LengthReader<'_>,
    mut visit: impl FnMut(isize, isize, &[usize]),
) {
    let (lanes, outer) = nest.innermost_lanes();
    let mut heads = [0; MOST_LANES];
    let Ok(()) = walk(outer, nest.start, |[from, to, length_at]| {
        let mut first = 0;
        while first < lanes.len {
            let count = most.min(MOST_LANES).min(lanes.len - first);
            let [from_step, to_step, length_step] = lanes.steps.map(|step| step * first as isize);
            let (offset, stride) = (length_at + length_step, lanes.steps[2]);
            let heads = &mut heads[..count];
            // SAFETY: the caller's promises.
            unsafe { isa.fill(&mut Fill { reader: lengths, offset, stride, heads }) };
            visit(from + from_step, to + to_step, &heads[..count]);
            first += count;
        }
        Ok::<(), Infallible>(())
    });
}

/// Lanes whose units lie together: the kernels take them many at a time.
///
/// # Safety
/// As for [`copy_part`].
unsafe fn copy_lanes(call: &Call<'_>, nest: &Nest, prefix: Dim, lengths: LengthReader<'_>) {
    let (lanes, _) = nest.innermost_lanes();
    let group = |from: isize, to: isize, heads: &[usize]| {
        // SAFETY: the caller's promises; lengths are at most the size of the axis.
        unsafe {
            call.isa.lanes(&Lanes {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                heads,
                src_step: lanes.steps[0],
                dst_step: lanes.steps[1],
                len: prefix.len,
                unit: call.unit,
                stream: call.stream,
                in_place: std::ptr::eq(call.src, call.dst),
            });
        }
    };
    // SAFETY: the caller's promises.
    unsafe { each_group(call.isa, nest, MOST_LANES, lengths, group) };
}

/// Wide units: the output is written in its own order, lanes beside each other step by step.
///
/// # Safety
/// As for [`copy_part`].
unsafe fn copy_blocks(
    call: &Call<'_>,
    nest: &Nest,
    prefix: Dim,
    steps: Window,
    lengths: LengthReader<'_>,
) {
    let (lanes, _) = nest.innermost_lanes();
    // Lanes outside the axis are taken one by one, lanes inside it all at once.
    let most = if lanes.steps[1].abs() > prefix.dst.abs() { 1 } else { MOST_LANES };
    let group = |from: isize, to: isize, heads: &[usize]| {
        // SAFETY: the caller's promises; lengths are at most the size of the axis.
        unsafe {
            call.isa.blocks(&Blocks {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                heads,
                lane_steps: [lanes.steps[0], lanes.steps[1]],
                axis_steps: [prefix.src, prefix.dst],
                from: steps.start,
                to: steps.end,
                bytes: call.unit,
                stream: call.stream,
            });
        }
    };
    // SAFETY: the caller's promises.
    unsafe { each_group(call.isa, nest, most, lengths, group) };
}

/// The next address that starts a line.
fn to_next_line(buffer: *mut u8) -> *mut u8 {
    buffer.wrapping_add(to_line(buffer))
}

/// Whether all threads together have room for columns as long as this axis.
fn staged(prefix: Dim, unit: usize) -> bool {
    let room = columns::stage_bytes(prefix.len, unit);
    room.is_some_and(|room| room <= MOST_STAGED / rayon::current_num_threads())
}

/// Narrow units with lanes side by side: strips of columns.
///
/// # Safety
/// As for [`copy_part`], with columns in the nest, for which there is [room](staged).
unsafe fn copy_columns(
    call: &Call<'_>,
    nest: &Nest,
    prefix: Dim,
    steps: Window,
    lengths: LengthReader<'_>,
) {
    let room = columns::stage_bytes(prefix.len, call.unit).unwrap_or(usize::MAX);
    // Kept by each thread, so that its pages need not be found anew for every call.
    let mut stage = STAGE.take();
    stage.clear();
    if stage.try_reserve_exact(room).is_err() {
        // No memory for an axis that long: the slow way still works.
        // SAFETY: the caller's promises.
        return unsafe { copy_prefixes(call, nest, prefix, steps, lengths) };
    }
    let buffer = to_next_line(stage.as_mut_ptr());
    let group = |from: isize, to: isize, heads: &[usize]| {
        // SAFETY: the caller's promises; lengths are at most the size of the axis.
        unsafe {
            call.isa.columns(&Columns {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                heads,
                pitches: [prefix.src, prefix.dst],
                len: prefix.len,
                unit: call.unit,
                stage: buffer,
                stream: call.stream,
            });
        }
    };
    // SAFETY: the caller's promises.
    unsafe { each_group(call.isa, nest, MOST_LANES, lengths, group) };
    if room <= MOST_KEPT {
        STAGE.set(stage);
    }
}

/// Any other prefix: for each lane, the wanted steps of its head and of its rest.
///
/// # Safety
/// As for [`copy_part`].
unsafe fn copy_prefixes(
    call: &Call<'_>,
    nest: &Nest,
    prefix: Dim,
    steps: Window,
    lengths: LengthReader<'_>,
) {
    let Ok(()) = walk(&nest.lanes, nest.start, |[from, to, length_at]| {
        // SAFETY: the caller's promises.
        unsafe {
            let len = lengths.at(length_at);
            copy_prefix(call, &nest.inner, prefix, steps, len, [from, to]);
        }
        Ok::<(), Infallible>(())
    });
}

/// One lane, whose first `len` steps are reversed, with whatever moves along.
///
/// # Safety
/// As for [`copy_part`], for this lane, with `len` at most the size of the axis.
unsafe fn copy_prefix(
    call: &Call<'_>,
    inner: &[Loop<2>],
    prefix: Dim,
    steps: Window,
    len: usize,
    [from, to]: [isize; 2],
) {
    let mut loops = Loops::<2>::with_capacity(inner.len() + 1);
    loops.push(Loop { len: 0, steps: [0, 0] });
    loops.extend_from_slice(inner);
    let turn = len.clamp(steps.start, steps.end);
    // SAFETY: the caller's promises; both parts stay inside the lane.
    unsafe {
        if turn > steps.start {
            loops[0] = Loop { len: turn - steps.start, steps: [-prefix.src, prefix.dst] };
            let first = from + prefix.src * (len - 1 - steps.start) as isize;
            let place = to + prefix.dst * steps.start as isize;
            copy_loops(call, &loops, [first, place]);
        }
        if turn < steps.end {
            loops[0] = Loop { len: steps.end - turn, steps: [prefix.src, prefix.dst] };
            let rest = turn as isize;
            copy_loops(call, &loops, [from + prefix.src * rest, to + prefix.dst * rest]);
        }
    }
}

/// Copies units along nested loops: the innermost is a row, the next one many rows.
///
/// # Safety
/// Every combination of steps from `start` stays, with its unit, inside memory valid for
/// reads (input) and writes (output), which do not overlap.
unsafe fn copy_loops(call: &Call<'_>, loops: &[Loop<2>], start: [isize; 2]) {
    let unit = call.unit as isize;
    let one = Loop { len: 1, steps: [0, 0] };
    let (row, rest) = loops.split_last().map_or((one, &[][..]), |(row, rest)| (*row, rest));
    let contiguous = row.steps[1] == unit && row.steps[0].abs() == unit;
    // Units that do not lie together are rows of one.
    let (row, rows, outer) = if contiguous || row.len == 1 {
        let (rows, outer) = rest.split_last().map_or((one, &[][..]), |(l, rest)| (*l, rest));
        (row, rows, outer)
    } else {
        (one, row, rest)
    };
    if row.len == 0 || rows.len == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    if !contiguous && unsafe { copy_tiles(call, loops, start) } {
        return;
    }
    let Ok(()) = walk(outer, start, |[from, to]| {
        // SAFETY: the caller's promise.
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
            };
            if row.len == 1 { strided::copy(&job, call.isa) } else { call.isa.rows(&job) }
        }
        Ok::<(), Infallible>(())
    });
}

/// Which kernel takes nested loops: what [`copy_loops`] does, in a word.
fn loops_kernel(loops: &[Loop<2>], unit: usize) -> Kernel {
    let step = unit as isize;
    let Some((row, rest)) = loops.split_last() else { return Kernel::Rows };
    if row.steps[1] == step && row.steps[0].abs() == step {
        return Kernel::Rows;
    }
    if plane_of(row, rest, step).is_some() { Kernel::Tiles } else { Kernel::Strided }
}

/// The loop that makes a plane for the tile kernel together with the innermost one.
fn plane_of(inner: &Loop<2>, rest: &[Loop<2>], unit: isize) -> Option<usize> {
    let across = rest.iter().position(|l| l.steps[0].abs() == unit && l.len > 1)?;
    let fits = matches!(unit, 1 | 2 | 4 | 8 | 16) && inner.steps[1] == unit && inner.len >= 2;
    (fits && rest.iter().all(|l| l.len > 0)).then_some(across)
}

/// The kernel that a plan of bytes runs on.
pub(super) fn kernel_of(plan: &Plan) -> Kernel {
    let (dims, unit) = rows_of(plan);
    let window = Window { dim: 0, start: 0, end: dims[0].len };
    Nest::of(&dims, window, 0).kernel(unit)
}

/// Loops whose innermost lies together in the output only, while another one does in the
/// input: the two are a plane for the tile kernel. False if there is none.
///
/// # Safety
/// As for [`copy_loops`].
unsafe fn copy_tiles(call: &Call<'_>, loops: &[Loop<2>], start: [isize; 2]) -> bool {
    let unit = call.unit as isize;
    let Some((inner, rest)) = loops.split_last() else { return false };
    let Some(across) = plane_of(inner, rest, unit) else { return false };
    let mut rows = rest[across];
    let [mut from, mut to] = start;
    if rows.steps[0] < 0 {
        // Walk it from the other end, so that the input lies in its own order.
        from += rows.steps[0] * (rows.len as isize - 1);
        to += rows.steps[1] * (rows.len as isize - 1);
        rows.steps = rows.steps.map(|step| -step);
    }
    let mut outer: Loops<2> = rest.into();
    outer.remove(across);
    let Ok(()) = walk(&outer, [from, to], |[from, to]| {
        // SAFETY: the caller's promise.
        unsafe {
            call.isa.tiles(&Tiles {
                src: call.src.offset(from),
                dst: call.dst.offset(to),
                rows: rows.len,
                columns: inner.len,
                src_step: inner.steps[0],
                dst_step: rows.steps[1],
                unit: call.unit,
                stream: call.stream,
            });
        }
        Ok::<(), Infallible>(())
    });
    true
}

/// Runs a plan of bytes on one piece of memory.
///
/// # Safety
/// The plan fits in place, `memory` is valid over its reach, and `lengths` is there if the
/// plan has a `FlipPrefix`.
pub(super) unsafe fn reverse_in_place(
    plan: &Plan,
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let dims = plan.dims();
    if plan.keeps_order() {
        return;
    }
    let bytes = plan.units() * plan.unit().count;
    let threads = threads::threads_for(bytes);
    let cut = Cut::new(dims, threads::parts_for(bytes, threads), |dim| dim.flow == Flow::Keep);
    // SAFETY: the origin lies inside the memory.
    let memory = unsafe { memory.add(plan.dst().origin) };
    let unit = plan.unit().count;
    let call = Call { src: memory, dst: memory, unit, lengths, isa: Isa::current(), stream: false };
    let flips = || dims.iter().filter(|dim| dim.flow == Flow::Flip);
    if lengths.is_none() && cut.parts() == 1 && threads > 1 && flips().count() == 1 {
        // SAFETY: the caller's promises.
        unsafe { mirror_shared(&call, dims, threads::parts_for(bytes, threads)) };
        return;
    }
    threads::run(cut.parts(), |part| {
        // SAFETY: the caller's promises; a step of a kept dimension trades places with no other.
        unsafe { reverse_part(&call, dims, cut.window(part)) }
    });
}

/// A single flip with nothing kept around it: threads share the pairs.
///
/// # Safety
/// As for [`reverse_in_place`], with exactly one `Flip` and no `FlipPrefix`.
unsafe fn mirror_shared(call: &Call<'_>, dims: &[Dim], parts: usize) {
    let Some(at) = dims.iter().position(|dim| dim.flow == Flow::Flip) else { return };
    let pairs = dims[at].len / 2;
    let step = pairs.div_ceil(parts).max(1);
    threads::run(pairs.div_ceil(step).max(1), |part| {
        let range = part * step..((part + 1) * step).min(pairs);
        // SAFETY: the caller's promises; each pair belongs to one part.
        swap_pairs(dims, at, range, 0, |loops, start| unsafe { swap_loops(call, loops, start) });
    });
}

/// # Safety
/// As for [`reverse_in_place`], for the window, which is of a `Keep` dimension.
unsafe fn reverse_part(call: &Call<'_>, dims: &[Dim], window: Window) {
    let Some(lengths) = call.lengths.filter(|_| dims.iter().any(|d| d.flow == Flow::FlipPrefix))
    else {
        let (mut dims, mut origin) = (Dims::from_slice(dims), 0);
        if dims[window.dim].flow == Flow::Keep {
            origin = dims[window.dim].dst * window.start as isize;
            dims[window.dim].len = window.end - window.start;
        }
        // SAFETY: the caller's promises.
        mirror(&dims, origin, |loops, start| unsafe { swap_loops(call, loops, start) });
        return;
    };
    let nest = Nest::of(dims, window, lengths.origin());
    let Some((prefix, _)) = nest.prefix else { return };
    if nest.inner.is_empty() && has_short_lanes(&nest, prefix, call.unit) {
        // SAFETY: the caller's promises; the kernel knows that both sides are the same.
        return unsafe { copy_lanes(call, &nest, prefix, lengths) };
    }
    let kept = |l: &Loop<2>| Dim {
        len: l.len,
        src: l.steps[0],
        dst: l.steps[1],
        lengths: 0,
        flow: Flow::Keep,
    };
    let mut lane_dims = Dims::with_capacity(nest.inner.len() + 1);
    lane_dims.push(prefix);
    lane_dims.extend(nest.inner.iter().map(kept));
    let Ok(()) = walk(&nest.lanes, nest.start, |[_, lane, length_at]| {
        // SAFETY: the caller's promises: the first `len` steps of a lane inside the reach.
        unsafe {
            let len = lengths.at(length_at);
            lane_dims[0] = Dim { len, flow: Flow::Flip, ..prefix };
            mirror(&lane_dims, lane, |loops, start| swap_loops(call, loops, start));
        }
        Ok::<(), Infallible>(())
    });
}

/// Whether lanes are short and follow each other, in units that their kernel knows.
fn has_short_lanes(nest: &Nest, prefix: Dim, unit: usize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    let bytes = prefix.len * unit;
    let together = prefix.dst == unit as isize && lanes.steps[1] == bytes as isize;
    together && bytes <= short::MOST_BYTES && matches!(unit, 1 | 2 | 4 | 8 | 16)
}

/// Swaps units along nested loops, the innermost as one row.
///
/// # Safety
/// Every combination of steps from `start` stays inside the memory on both sides, and no unit
/// of one side meets a unit of the other.
unsafe fn swap_loops(call: &Call<'_>, loops: &[Loop<2>], start: [isize; 2]) {
    let Some((row, outer)) = loops.split_last() else { return };
    let unit = call.unit as isize;
    let Ok(()) = walk(outer, start, |[a, b]| {
        // SAFETY: the caller's promise, for this row.
        unsafe {
            let (a, b) = (call.dst.offset(a), call.dst.offset(b));
            match row.steps {
                _ if row.len == 0 => {}
                steps if steps == [unit, unit] => swap_runs(a, b, call.unit * row.len),
                steps if steps == [unit, -unit] => {
                    call.isa.swaps(&Swaps { front: a, back: b, len: row.len, unit: call.unit });
                }
                steps => strided::swap(a, b, steps, row.len, call.unit),
            }
        }
        Ok::<(), Infallible>(())
    });
}
