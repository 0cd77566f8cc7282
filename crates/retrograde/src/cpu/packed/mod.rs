//! Packed elements of 1, 2 or 4 bits: a plan's dimensions become runs and swaps for the kernels.
//!
//! Eight bits anywhere in the input make one byte of the output, so vectors of bytes do most of
//! the work. The ends of a run, which share bytes with other elements, are moved in 64-bit words.

mod eights;
mod job;
mod runs;
mod short;
mod sink;
mod swap;

use super::dispatch::Isa;
use super::lengths::LengthReader;
use super::nest::{Dims, Loop, walk};
use super::schedule::{Cut, Team, Window, tuning};
use super::simd::words;
use crate::dtype::{BitOrder, Grain};
use crate::plan::{Dim, Flow, Plan};
use job::BitRuns;
use runs::copy_runs;
use std::convert::Infallible;
use swap::{BitSwaps, swap_runs};

/// Rows of fewer bytes use ordinary stores: too much of them is ends.
const STREAMED: usize = 64;

/// What every swap of a call in place shares.
#[derive(Clone, Copy)]
pub(super) struct PackedCall {
    pub(super) memory: *mut u8,
    pub(super) bits: usize,
    pub(super) isa: Isa,
}

// SAFETY: threads write separate bytes, and read no others' while they do.
unsafe impl Send for PackedCall {}
// SAFETY: as above.
unsafe impl Sync for PackedCall {}

/// A job that threads share; each changes its window.
struct Shared<'a>(BitRuns<'a>);

// SAFETY: as for `PackedCall`.
unsafe impl Send for Shared<'_> {}
// SAFETY: as for `PackedCall`.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    /// # Safety
    /// As for [`copy`], for a window whose bytes no other thread writes.
    unsafe fn run(&self, window: Window) {
        // SAFETY: the contract of [`copy`], for this window.
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

/// Dimensions of packed elements.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    /// Bits in an element: 1, 2 or 4.
    pub(super) bits: usize,
    /// All dimensions, of single elements; the last one is the row.
    pub(super) dims: &'a [Dim],
    /// The first element, on both sides.
    pub(super) origins: [usize; 2],
    /// Whether unused bits become zero.
    pub(super) seals: bool,
}

impl Elements<'_> {
    /// The job of a window, on memory.
    fn job<'a>(
        &'a self,
        src: *const u8,
        dst: *mut u8,
        lengths: Option<LengthReader<'a>>,
        window: Window,
    ) -> BitRuns<'a> {
        let Elements { bits, dims, origins, seals } = *self;
        let isa = Isa::current();
        BitRuns { src, dst, bits, origins, dims, window, lengths, seals, stream: false, isa }
    }
}

/// Runs a plan of packed elements out of place.
///
/// # Safety
/// `src` is valid for reads over the plan's input reach, `dst` for writes over its output
/// reach (and initialised, if the plan merges bytes), the two do not overlap, and `lengths`
/// is there if the plan reads any.
pub(super) unsafe fn copy(
    plan: &Plan,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let unfolded = (plan.unit().count > 1 || plan.dims().is_empty()).then(|| unfolded(plan));
    let elements = Elements {
        bits: bits_of(plan),
        dims: unfolded.as_deref().unwrap_or(plan.dims()),
        origins: [plan.src().origin, plan.dst().origin],
        seals: plan.seals_last_byte(),
    };
    // SAFETY: passed on.
    unsafe { copy_elements(elements, src, dst, lengths) };
}

/// Moves elements out of place, shared among threads.
///
/// # Safety
/// As for [`copy`], for a plan with these dimensions.
pub(super) unsafe fn copy_elements(
    elements: Elements<'_>,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let (dims, per_byte) = (elements.dims, 8 / elements.bits);
    let bytes = dims.iter().map(|dim| dim.len).product::<usize>() / per_byte;
    let team = Team::new(bytes);
    let parts = team.parts(bytes);
    let cut = Cut::new(dims, elements.origins[1], per_byte, parts, |_| true);
    let long = dims.last().is_some_and(|row| row.dst.abs() == 1 && row.len / per_byte >= STREAMED);
    let job = elements.job(src, dst, lengths, cut.window(0));
    let job = Shared(BitRuns { stream: long && tuning::streams(bytes), ..job });
    // SAFETY: the contract of this function; parts have no byte of the output in common.
    team.run(cut.parts(), |part| unsafe { job.run(cut.window(part)) });
}

/// Moves the elements of a window, on this thread.
///
/// # Safety
/// As for [`copy_elements`], for a window whose bytes no other thread writes.
pub(super) unsafe fn copy_window(
    elements: Elements<'_>,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
    window: Window,
) {
    // SAFETY: passed on.
    unsafe { copy_runs(&elements.job(src, dst, lengths, window)) };
}

/// The plan's dimensions with a unit of several elements spelled out as one more.
pub(super) fn unfolded(plan: &Plan) -> Dims {
    let mut dims: Dims = plan.dims().into();
    let count = plan.unit().count;
    if count > 1 || dims.is_empty() {
        dims.push(Dim { len: count, src: 1, dst: 1, lengths: 0, flow: Flow::Keep });
    }
    dims
}

/// Swaps elements along nested loops: the innermost is a run, the next one many runs.
///
/// # Safety
/// Every combination of steps from `start` stays inside the memory on both sides, no element
/// of one side meets one of the other, and no other thread uses their bytes.
pub(super) unsafe fn swap_loops(call: &PackedCall, loops: &[Loop<2>], start: [isize; 2]) {
    let one = Loop { len: 1, steps: [0, 0] };
    let Some((row, rest)) = loops.split_last() else { return };
    let contiguous = row.len == 1 || matches!(row.steps, [1, 1] | [1, -1] | [-1, 1]);
    // Elements that are not contiguous are runs of one.
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
        // SAFETY: runs are combinations of steps, for which this function's contract holds.
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

/// Writes zeros along nested loops, whose second steps count.
///
/// # Safety
/// As for [`swap_loops`], for that side.
pub(super) unsafe fn zero_loops(call: &PackedCall, loops: &[Loop<2>], start: isize) {
    let Ok(()) = walk(loops, [0, start], |[_, at]| {
        // SAFETY: combinations of steps, which are inside the memory, and initialised in place.
        unsafe {
            match call.bits {
                4 => words::store::<4>(0, call.memory, at as usize, 1),
                2 => words::store::<2>(0, call.memory, at as usize, 1),
                _ => words::store::<1>(0, call.memory, at as usize, 1),
            }
        }
        Ok::<(), Infallible>(())
    });
}

/// Clears the bits after the last element.
///
/// # Safety
/// Element `end - 1` is inside `memory`.
pub(super) unsafe fn seal(bits: usize, memory: *mut u8, end: usize) {
    let used = end % (8 / bits) * bits;
    if used == 0 {
        return;
    }
    let unused = if bits == 1 { 0xFF >> used } else { 0xFF << used };
    // SAFETY: the byte holds element `end - 1`, which is inside the memory, as required.
    unsafe {
        let byte = memory.add(end / (8 / bits));
        byte.write(byte.read() & !unused);
    }
}
