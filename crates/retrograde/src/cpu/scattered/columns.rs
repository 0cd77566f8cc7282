//! A length for each column of packed elements.

use super::Call;
use crate::cpu::choose;
use crate::cpu::copy::{MOST_LANES, each_group};
use crate::cpu::kernels::columns::{Columns, LEAST_PACKED, LEAST_STEPS};
use crate::cpu::nest::Nest;
use crate::cpu::schedule::Window;
use crate::cpu::stage::Stage;
use crate::plan::{Dim, Flow};

/// The axis along which lanes that lie side by side are reversed, if that is what the nest has and
/// the kernel takes it.
fn axis(nest: &Nest, elements: usize) -> Option<Dim> {
    let (prefix, steps) = nest.prefix.filter(|_| nest.inner.is_empty())?;
    let (lanes, _) = nest.innermost_lanes();
    let side_by_side = lanes.steps[0] == 1 && lanes.steps[1] == 1;
    let whole = steps.start == 0 && steps.end == prefix.len;
    let large = prefix.len >= LEAST_STEPS && lanes.len.div_ceil(elements) >= LEAST_PACKED;
    (prefix.flow == Flow::FlipPrefix && side_by_side && whole && large).then_some(prefix)
}

/// The room that the buffer of each thread has, if so many run at once.
fn room(axis: Dim, elements: usize, at_once: usize) -> Option<usize> {
    choose::column_room(axis.len, 1, elements, at_once)
}

/// Whether there is a kernel for such a nest.
pub(super) fn has_kernel(nest: &Nest, elements: usize) -> bool {
    axis(nest, elements).is_some()
}

/// Whether the kernel has room for it on so many threads.
pub(super) fn has_room(nest: &Nest, elements: usize, at_once: usize) -> bool {
    axis(nest, elements).is_none_or(|axis| room(axis, elements, at_once).is_some())
}

/// Runs a part. False, and nothing has happened, if it is none for the kernel or there is no memory
/// for it.
///
/// # Safety
/// The invariants of [`Call`]; no other thread writes to the window.
pub(super) unsafe fn run(call: &Call<'_>, window: Window) -> bool {
    let (nest, elements) = (call.nest(window), call.elements());
    let Some((axis, lengths)) = axis(&nest, elements).zip(call.lengths) else { return false };
    let Some(room) = room(axis, elements, call.at_once) else { return false };
    let Some(mut stage) = Stage::take(room) else { return false };
    let stage = stage.as_mut_ptr();
    let [first, to_first] = call.origins.map(|origin| origin as isize);
    let group = |from: isize, to: isize, heads: &[usize]| {
        // SAFETY: kernel contract 1 and 2 by `Call`'s invariants, 3 by the `Isa`, 4 because lengths
        // are clamped to the size of the axis. Groups are as wide as the kernel wants, and whole
        // bytes but for the last, and rows start on bytes (invariant 3).
        unsafe {
            call.isa.columns(&Columns {
                src: call.src,
                first: (first + from) as usize,
                end: call.end,
                dst: call.dst.add((to_first + to) as usize / elements),
                heads,
                pitches: [axis.src, axis.dst / elements as isize],
                len: axis.len,
                unit: 1,
                elements,
                stage,
                room,
                zero: lengths.zeroes_tail(),
                stream: call.stream,
            });
        }
    };
    let least = LEAST_PACKED * elements;
    // SAFETY: the nest is that of the call's dimensions, and `lengths` has theirs.
    unsafe { each_group(call.isa, &nest, MOST_LANES, least, lengths, group) };
    true
}
