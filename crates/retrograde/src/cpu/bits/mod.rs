//! Movement of packed elements: 1, 2 or 4 bits, several to a byte. A plan's dimensions become
//! runs and swaps for the kernels, as in `bytes`.
//!
//! Eight bits at any place of the input make one byte of the output, so vectors of bytes do the
//! work; the ends of a run, which share bytes with others, go by words.

mod cut;
mod eights;
mod runs;
mod short;
mod sink;
mod swap;

pub(super) use eights::{BitFill, fill};
pub(super) use swap::{BitTurns, turn};

use super::bytes::Nest;
use super::isa::Isa;
use super::lengths::LengthReader;
use super::mirror::{mirror, swap_pairs};
use super::parts::Window;
use super::walk::{Loop, walk};
use super::{threads, tuning};
use crate::dtype::{BitOrder, Grain};
use crate::plan::{Dim, Flow, Plan};
use cut::ByteCut;
use runs::{BitRuns, copy_runs};
use smallvec::SmallVec;
use std::convert::Infallible;
use swap::{BitSwaps, swap_runs};

type Dims = SmallVec<[Dim; 8]>;

/// Rows of fewer bytes are not stored past the caches: their ends are too much of them.
const STREAMED: usize = 64;

/// What every part of a call shares.
#[derive(Clone, Copy)]
struct Call<'a> {
    memory: *mut u8,
    bits: usize,
    lengths: Option<LengthReader<'a>>,
    isa: Isa,
}

// SAFETY: threads write separate bytes, and read no others' while they do.
unsafe impl Send for Call<'_> {}
// SAFETY: as above.
unsafe impl Sync for Call<'_> {}

/// A job that threads share; each changes its window.
struct Shared<'a>(BitRuns<'a>);

// SAFETY: as for `Call`.
unsafe impl Send for Shared<'_> {}
// SAFETY: as for `Call`.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    /// # Safety
    /// As for [`copy`], for a window whose bytes are nobody else's.
    unsafe fn run(&self, window: Window) {
        // SAFETY: the caller's promises.
        unsafe { copy_runs(&BitRuns { window, ..self.0 }) };
        if self.0.stream {
            self.0.isa.fence();
        }
    }
}

/// The width of a plan's elements.
fn bits_of(plan: &Plan) -> usize {
    let grain = plan.unit().grain;
    debug_assert!(match grain {
        Grain::Packed { bits, order } => (bits == 1) == (order == BitOrder::HighFirst),
        Grain::Byte => false,
    });
    grain.bits()
}

/// Bytes that a plan writes, roughly.
fn bytes_of(plan: &Plan) -> usize {
    let elements = plan.units() * plan.unit().count;
    elements / plan.unit().grain.per_byte()
}

/// Runs a plan of packed elements out of place.
///
/// # Safety
/// `src` is valid for reads over the plan's input reach, `dst` for writes over its output
/// reach (and initialised, if the plan merges bytes), the two do not overlap, and `lengths`
/// is there if the plan has a `FlipPrefix`.
pub(super) unsafe fn copy(
    plan: &Plan,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let unfolded = (plan.unit().count > 1 || plan.dims().is_empty()).then(|| unfolded(plan));
    let dims = unfolded.as_deref().unwrap_or(plan.dims());
    let (bytes, per_byte) = (bytes_of(plan), plan.unit().grain.per_byte());
    let threads = threads::threads_for(bytes);
    let parts = threads::parts_for(bytes, threads);
    let cut = ByteCut::new(dims, plan.dst().origin, per_byte, parts, |_| true);
    let long = dims.last().is_some_and(|row| row.dst.abs() == 1 && row.len / per_byte >= STREAMED);
    let job = Shared(BitRuns {
        src,
        dst,
        bits: bits_of(plan),
        origins: [plan.src().origin, plan.dst().origin],
        dims,
        window: cut.window(0),
        lengths,
        seals: plan.seals_last_byte(),
        stream: long && tuning::streams(bytes, threads),
        isa: Isa::current(),
    });
    // SAFETY: the caller's promises; parts have no byte of the output in common.
    threads::run(cut.parts(), |part| unsafe { job.run(cut.window(part)) });
}

/// The plan's dimensions with a unit of several elements spelled out as one more.
fn unfolded(plan: &Plan) -> Dims {
    let mut dims: Dims = plan.dims().into();
    let count = plan.unit().count;
    if count > 1 || dims.is_empty() {
        dims.push(Dim { len: count, src: 1, dst: 1, lengths: 0, flow: Flow::Keep });
    }
    dims
}

/// Runs a plan of packed elements on one piece of memory.
///
/// # Safety
/// The plan fits in place, `memory` is valid and initialised over its reach, and `lengths` is
/// there if the plan has a `FlipPrefix`.
pub(super) unsafe fn reverse_in_place(
    plan: &Plan,
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let bits = bits_of(plan);
    if !plan.keeps_order() {
        let dims = unfolded(plan);
        let (bytes, per_byte, origin) = (bytes_of(plan), 8 / bits, plan.dst().origin);
        let threads = threads::threads_for(bytes);
        let parts = threads::parts_for(bytes, threads);
        let call = Call { memory, bits, lengths, isa: Isa::current() };
        let keeps = |dim: &Dim| dim.flow == Flow::Keep;
        let cut = ByteCut::new(&dims, origin, per_byte, parts, keeps);
        let flips = || dims.iter().filter(|dim| dim.flow == Flow::Flip);
        // SAFETY: the caller's promises; a step of a kept dimension trades places with no
        // other, and parts have no byte in common.
        unsafe {
            if lengths.is_none() && cut.parts() == 1 && parts > 1 && flips().count() == 1 {
                mirror_shared(&call, &dims, origin, parts);
            } else {
                threads::run(cut.parts(), |part| {
                    reverse_part(&call, &dims, origin, cut.window(part));
                });
            }
        }
    }
    if plan.seals_last_byte() {
        // SAFETY: the last byte of the reach.
        unsafe { seal(bits, memory, plan.dst().end) };
    }
}

/// A single flip with nothing around it to cut: threads share the pairs.
///
/// # Safety
/// As for [`reverse_in_place`], with exactly one `Flip` and no `FlipPrefix`.
unsafe fn mirror_shared(call: &Call<'_>, dims: &[Dim], origin: usize, parts: usize) {
    let Some(at) = dims.iter().position(|dim| dim.flow == Flow::Flip) else { return };
    let (flip, origin) = (dims[at], origin as isize);
    let per_byte = 8 / call.bits;
    // Neighbours could share a byte on either side; so many pairs apart they cannot.
    let gap = per_byte.div_ceil(flip.dst.unsigned_abs());
    let pairs = flip.len / 2;
    let align = (256 * per_byte / flip.dst.unsigned_abs()).max(1);
    let step = pairs.div_ceil(parts).next_multiple_of(align).max(2 * gap);
    let shared = pairs.div_ceil(step).max(1);
    let swap = |loops: &[Loop<2>], start: [isize; 2]| {
        // SAFETY: the caller's promises.
        unsafe { swap_loops(call, loops, start) }
    };
    threads::run(shared, |part| {
        let first = part * step + if part == 0 { 0 } else { gap };
        let last = ((part + 1) * step).min(pairs);
        if first < last {
            swap_pairs(dims, at, first..last, origin, swap);
        }
    });
    for part in 1..shared {
        let first = part * step;
        swap_pairs(dims, at, first..(first + gap).min(pairs), origin, swap);
    }
}

/// # Safety
/// As for [`reverse_in_place`], for the window, which is of a `Keep` dimension.
unsafe fn reverse_part(call: &Call<'_>, dims: &[Dim], origin: usize, window: Window) {
    let mut origin = origin as isize;
    let swap = |loops: &[Loop<2>], start: [isize; 2]| {
        // SAFETY: the caller's promises.
        unsafe { swap_loops(call, loops, start) }
    };
    let Some(lengths) = call.lengths.filter(|_| dims.iter().any(|d| d.flow == Flow::FlipPrefix))
    else {
        let mut dims = Dims::from_slice(dims);
        if dims[window.dim].flow == Flow::Keep {
            origin += dims[window.dim].dst * window.start as isize;
            dims[window.dim].len = window.end - window.start;
        }
        mirror(&dims, origin, swap);
        return;
    };
    let nest = Nest::of(dims, window, lengths.origin());
    let Some((prefix, _)) = nest.prefix else { return };
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
        let len = unsafe { lengths.at(length_at) };
        let lane = origin + lane;
        if nest.inner.is_empty() {
            // The most common of lanes, without ado.
            let row = Loop { len: len / 2, steps: [prefix.dst, -prefix.dst] };
            swap(&[row], [lane, lane + prefix.dst * (len as isize - 1)]);
        } else {
            lane_dims[0] = Dim { len, flow: Flow::Flip, ..prefix };
            mirror(&lane_dims, lane, swap);
        }
        Ok::<(), Infallible>(())
    });
}

/// Swaps elements along nested loops: the innermost is a run, the next one many runs.
///
/// # Safety
/// Every combination of steps from `start` stays inside the memory on both sides, no element
/// of one side meets one of the other, and nobody else uses their bytes.
unsafe fn swap_loops(call: &Call<'_>, loops: &[Loop<2>], start: [isize; 2]) {
    let one = Loop { len: 1, steps: [0, 0] };
    let Some((row, rest)) = loops.split_last() else { return };
    let contiguous = row.len == 1 || matches!(row.steps, [1, 1] | [1, -1] | [-1, 1]);
    // Elements that do not lie together are runs of one.
    let (row, rows, outer) = if contiguous {
        let (rows, outer) = rest.split_last().map_or((one, &[][..]), |(l, rest)| (*l, rest));
        (*row, rows, outer)
    } else {
        (one, *row, rest)
    };
    if row.len == 0 || rows.len == 0 {
        return;
    }
    // A side that walks downward is the second one.
    let exchanged = row.steps[0] < 0 && row.len > 1;
    let in_order = |[a, b]: [isize; 2]| if exchanged { [b, a] } else { [a, b] };
    let Ok(()) = walk(outer, start, |at| {
        let [front, back] = in_order(at);
        // SAFETY: the caller's promise.
        unsafe {
            swap_runs(&BitSwaps {
                memory: call.memory,
                bits: call.bits,
                front,
                back,
                len: row.len,
                mirrored: row.len == 1 || row.steps != [1, 1],
                count: rows.len,
                steps: in_order(rows.steps),
                isa: call.isa,
            });
        }
        Ok::<(), Infallible>(())
    });
}

/// Clears the bits behind the last element.
///
/// # Safety
/// Element `end - 1` lies inside `memory`.
unsafe fn seal(bits: usize, memory: *mut u8, end: usize) {
    let used = end % (8 / bits) * bits;
    if used == 0 {
        return;
    }
    let unused = if bits == 1 { 0xFF >> used } else { 0xFF << used };
    // SAFETY: the caller's promise: the byte holds element `end - 1`.
    unsafe {
        let byte = memory.add(end / (8 / bits));
        byte.write(byte.read() & !unused);
    }
}
