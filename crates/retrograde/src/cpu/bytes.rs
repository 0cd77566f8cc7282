//! Movement of whole bytes: signed strided copies, and swaps for work in place.
//!
//! A `Flip` is a copy that reads backwards. A `FlipPrefix` is, lane by lane, a flip of the
//! first `len` steps and a copy of the rest. So one nest of loops with signed steps serves all.

use super::lengths::LengthReader;
use super::walk::{Loop, walk};
use crate::plan::{Dim, Flow, Plan};
use smallvec::SmallVec;
use std::convert::Infallible;
use std::mem::MaybeUninit;

type Loops<const K: usize> = SmallVec<[Loop<K>; 8]>;

/// A plan's loops in the order the CPU takes them: lanes outside, then the reversed axis,
/// then whatever moves along with each step of it.
struct Nest {
    /// Steps: input, output, lengths. One visit per length that applies.
    lanes: Loops<3>,
    /// The `FlipPrefix` dimension; `None` if whole axes are reversed.
    prefix: Option<Dim>,
    /// Dimensions along which the length stays the same.
    inner: SmallVec<[Dim; 8]>,
}

impl Nest {
    fn of(plan: &Plan) -> Self {
        let dims = plan.dims();
        let Some(at) = dims.iter().position(|dim| dim.flow == Flow::FlipPrefix) else {
            return Nest { lanes: SmallVec::new(), prefix: None, inner: dims.into() };
        };
        // Beside a FlipPrefix, a Flip comes only from a view that runs backwards.
        let mut lanes = Loops::new();
        let mut inner = SmallVec::new();
        for (index, dim) in dims.iter().enumerate() {
            if index < at || dim.lengths != 0 {
                let steps = [signed_src(dim), dim.dst, dim.lengths];
                lanes.push(Loop { len: dim.len, steps });
            } else if index > at {
                inner.push(*dim);
            }
        }
        Nest { lanes, prefix: Some(dims[at]), inner }
    }
}

/// The input's step when the output walks forward.
fn signed_src(dim: &Dim) -> isize {
    if dim.flow == Flow::Flip { -dim.src } else { dim.src }
}

/// How far the input's walk over `dim` starts from its origin.
fn start_of(dim: &Dim) -> isize {
    if dim.flow == Flow::Flip { dim.src * (dim.len as isize - 1) } else { 0 }
}

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
    let nest = Nest::of(plan);
    let unit = plan.unit().count;
    // Every dimension but the prefix starts at a fixed place.
    let flipped = plan.dims().iter().filter(|dim| dim.flow == Flow::Flip).map(start_of);
    let src_origin = plan.src().origin as isize + flipped.sum::<isize>();
    let dst_origin = plan.dst().origin as isize;
    let inner: Loops<2> = nest
        .inner
        .iter()
        .map(|dim| Loop { len: dim.len, steps: [signed_src(dim), dim.dst] })
        .collect();

    let (Some(prefix), Some(lengths)) = (nest.prefix, lengths) else {
        // SAFETY: the loops visit exactly the plan's elements, all inside both reaches.
        unsafe { copy_loops(&inner, unit, src, dst, [src_origin, dst_origin]) };
        return;
    };
    let steps = [prefix.src, prefix.dst];
    let mut loops = Loops::<2>::with_capacity(inner.len() + 1);
    loops.push(Loop { len: 0, steps });
    loops.extend_from_slice(&inner);
    let lane_start = [src_origin, dst_origin, lengths.origin()];
    let Ok(()) = walk(&nest.lanes, lane_start, |[from, to, length_at]| {
        // SAFETY: the lanes visit exactly the lengths' offsets, and with `len` at most the
        // size of the axis both parts stay inside the lane, which lies inside both reaches.
        unsafe {
            let len = lengths.at(length_at);
            let turn = prefix.src * (len as isize - 1);
            loops[0] = Loop { len, steps: [-prefix.src, prefix.dst] };
            copy_loops(&loops, unit, src, dst, [from.wrapping_add(turn), to]);

            let rest = len as isize;
            loops[0] = Loop { len: prefix.len - len, steps };
            let tail = [
                from.wrapping_add(prefix.src.wrapping_mul(rest)),
                to.wrapping_add(prefix.dst.wrapping_mul(rest)),
            ];
            copy_loops(&loops, unit, src, dst, tail);
        }
        Ok::<(), Infallible>(())
    });
}

/// Copies units along nested loops, the innermost as one row.
///
/// # Safety
/// Every combination of steps from `start` stays, with its unit, inside memory valid for
/// reads (`src`) and writes (`dst`), which do not overlap.
unsafe fn copy_loops(
    loops: &[Loop<2>],
    unit: usize,
    src: *const u8,
    dst: *mut u8,
    start: [isize; 2],
) {
    let (row, outer) = match loops.split_last() {
        Some((row, outer)) => (*row, outer),
        None => (Loop { len: 1, steps: [0, 0] }, loops),
    };
    if row.len == 0 {
        return;
    }
    let Ok(()) = walk(outer, start, |[from, to]| {
        // SAFETY: the caller's promise, for this row.
        unsafe { copy_row(row, unit, src.offset(from), dst.offset(to)) };
        Ok::<(), Infallible>(())
    });
}

/// # Safety
/// As for [`copy_loops`], for one row that starts at `src` and `dst`.
#[inline]
unsafe fn copy_row(row: Loop<2>, unit: usize, src: *const u8, dst: *mut u8) {
    let contiguous = [unit as isize; 2];
    // SAFETY: the caller's promise covers `row.len` units at these steps; a contiguous row is
    // one run of that many units.
    unsafe {
        if row.steps == contiguous || row.len == 1 {
            src.copy_to_nonoverlapping(dst, unit * row.len);
            return;
        }
        // Widths known to the compiler become plain loads and stores.
        match unit {
            1 => copy_units::<1>(row, src, dst),
            2 => copy_units::<2>(row, src, dst),
            3 => copy_units::<3>(row, src, dst),
            4 => copy_units::<4>(row, src, dst),
            6 => copy_units::<6>(row, src, dst),
            8 => copy_units::<8>(row, src, dst),
            12 => copy_units::<12>(row, src, dst),
            16 => copy_units::<16>(row, src, dst),
            _ => {
                for step in 0..row.len as isize {
                    let from = src.offset(row.steps[0] * step);
                    let to = dst.offset(row.steps[1] * step);
                    from.copy_to_nonoverlapping(to, unit);
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy_row`], with `unit == N`.
#[inline]
unsafe fn copy_units<const N: usize>(row: Loop<2>, src: *const u8, dst: *mut u8) {
    let [src_step, dst_step] = row.steps;
    for step in 0..row.len as isize {
        // SAFETY: the caller's promise. `MaybeUninit` carries padding bytes along unread.
        unsafe {
            let unit = src.offset(src_step * step).cast::<MaybeUninit<[u8; N]>>().read_unaligned();
            dst.offset(dst_step * step).cast::<MaybeUninit<[u8; N]>>().write_unaligned(unit);
        }
    }
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
    let nest = Nest::of(plan);
    let unit = plan.unit().count;
    let origin = plan.dst().origin as isize;
    let (Some(prefix), Some(lengths)) = (nest.prefix, lengths) else {
        // SAFETY: the dimensions are the plan's, all inside its reach.
        unsafe { mirror(&nest.inner, unit, memory, origin) };
        return;
    };
    let mut dims: SmallVec<[Dim; 8]> = SmallVec::with_capacity(nest.inner.len() + 1);
    dims.push(prefix);
    dims.extend_from_slice(&nest.inner);
    let Ok(()) = walk(&nest.lanes, [origin, origin, lengths.origin()], |[lane, _, length_at]| {
        // SAFETY: as in `copy`: the first `len` steps of a lane inside the reach.
        unsafe {
            let len = lengths.at(length_at);
            dims[0] = Dim { len, flow: Flow::Flip, ..prefix };
            mirror(&dims, unit, memory, lane);
        }
        Ok::<(), Infallible>(())
    });
}

/// Reverses all `Flip` dimensions at once by swapping every unit with its mirror image.
///
/// # Safety
/// Every combination of the dimensions' output steps from `origin` stays inside `memory`, and
/// no two of them meet.
unsafe fn mirror(dims: &[Dim], unit: usize, memory: *mut u8, mut origin: isize) {
    let mut rest: SmallVec<[Dim; 8]> = dims.into();
    // Split on the outermost flip: its first half trades places with its second half. Units
    // of the middle step, if there is one, are mirrored along the remaining flips.
    while let Some(at) = rest.iter().position(|dim| dim.flow == Flow::Flip) {
        let flip = rest.remove(at);
        let far = flip.dst.wrapping_mul(flip.len as isize - 1);
        let mut loops = Loops::<2>::with_capacity(rest.len() + 1);
        loops.push(Loop { len: flip.len / 2, steps: [flip.dst, -flip.dst] });
        let mut image = origin.wrapping_add(far);
        for dim in &rest {
            let back = dim.flow == Flow::Flip;
            if back {
                image = image.wrapping_add(dim.dst * (dim.len as isize - 1));
            }
            loops.push(Loop {
                len: dim.len,
                steps: [dim.dst, if back { -dim.dst } else { dim.dst }],
            });
        }
        // SAFETY: both sides visit units of the nest; the first half and the second half of
        // the flip have no step in common, so no unit meets itself.
        unsafe { swap_loops(&loops, unit, memory, [origin, image]) };
        if flip.len.is_multiple_of(2) {
            return;
        }
        origin += flip.dst * (flip.len as isize / 2);
    }
}

/// Swaps units along nested loops, the innermost as one row.
///
/// # Safety
/// Every combination of steps from `start` stays inside `memory` on both sides, and no unit
/// of one side meets a unit of the other.
unsafe fn swap_loops(loops: &[Loop<2>], unit: usize, memory: *mut u8, start: [isize; 2]) {
    let Some((row, outer)) = loops.split_last() else { return };
    if row.len == 0 {
        return;
    }
    let Ok(()) = walk(outer, start, |[a, b]| {
        // SAFETY: the caller's promise, for this row.
        unsafe { swap_row(*row, unit, memory.offset(a), memory.offset(b)) };
        Ok::<(), Infallible>(())
    });
}

/// # Safety
/// As for [`swap_loops`], for one row that starts at `a` and `b`.
#[inline]
unsafe fn swap_row(row: Loop<2>, unit: usize, a: *mut u8, b: *mut u8) {
    // SAFETY: the caller's promise covers `row.len` units at these steps.
    unsafe {
        if row.steps == [unit as isize; 2] {
            swap_run(a, b, unit * row.len);
            return;
        }
        match unit {
            1 => swap_units::<1>(row, a, b),
            2 => swap_units::<2>(row, a, b),
            3 => swap_units::<3>(row, a, b),
            4 => swap_units::<4>(row, a, b),
            6 => swap_units::<6>(row, a, b),
            8 => swap_units::<8>(row, a, b),
            12 => swap_units::<12>(row, a, b),
            16 => swap_units::<16>(row, a, b),
            _ => {
                for step in 0..row.len as isize {
                    swap_run(a.offset(row.steps[0] * step), b.offset(row.steps[1] * step), unit);
                }
            }
        }
    }
}

/// # Safety
/// As for [`swap_row`], with `unit == N`.
#[inline]
unsafe fn swap_units<const N: usize>(row: Loop<2>, a: *mut u8, b: *mut u8) {
    let [a_step, b_step] = row.steps;
    for step in 0..row.len as isize {
        // SAFETY: the caller's promise. `MaybeUninit` carries padding bytes along unread.
        unsafe {
            let a = a.offset(a_step * step).cast::<MaybeUninit<[u8; N]>>();
            let b = b.offset(b_step * step).cast::<MaybeUninit<[u8; N]>>();
            let (from_a, from_b) = (a.read_unaligned(), b.read_unaligned());
            a.write_unaligned(from_b);
            b.write_unaligned(from_a);
        }
    }
}

/// # Safety
/// `a` and `b` are valid for reads and writes of `len` bytes and do not overlap.
unsafe fn swap_run(a: *mut u8, b: *mut u8, len: usize) {
    // SAFETY: the caller's promise. `MaybeUninit` because units may hold padding.
    unsafe {
        std::ptr::swap_nonoverlapping(
            a.cast::<MaybeUninit<u8>>(),
            b.cast::<MaybeUninit<u8>>(),
            len,
        );
    }
}
