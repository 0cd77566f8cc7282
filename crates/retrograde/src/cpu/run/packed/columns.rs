//! A length for each column of packed elements.

use super::call::Call;
use crate::cpu::kernels::columns::{Columns, LEAST_PACKED};
use crate::cpu::nest::Nest;
use crate::cpu::program::column_room;
use crate::cpu::run::stage::Stage;
use crate::cpu::run::units::{MOST_LANES, each_group};

/// Runs a part. False, and nothing has happened, if it is too narrow for the kernel or there is no memory
/// for it.
///
/// # Safety
/// The invariants of [`Call`], for columns along the axis of the nest; no other thread writes to the part.
pub(super) unsafe fn run(call: &Call<'_>, nest: &Nest) -> bool {
    let elements = call.per_byte();
    let Some(((axis, _), lengths)) = nest.prefix.zip(call.lengths) else { return false };
    let (lanes, _) = nest.innermost_lanes();
    if lanes.len.div_ceil(elements) < LEAST_PACKED {
        return false;
    }
    let Some(room) = column_room(axis.len, 1, elements, call.at_once) else { return false };
    let Some(mut stage) = Stage::take(room) else { return false };
    let stage = stage.as_mut_ptr();
    let [first, to_first] = call.origins.map(|origin| origin as isize);
    let group = |from: isize, to: isize, prefix_lens: &[usize]| {
        // SAFETY: kernel contract 1 and 2 by `Call`'s invariants, 3 by the `Isa`, 4 because lengths
        // are clamped to the size of the axis. Groups are as wide as the kernel wants, and whole
        // bytes but for the last, and rows start on bytes (invariant 3).
        unsafe {
            call.isa.columns(&Columns {
                src: call.src,
                first: (first + from) as usize,
                end: call.end,
                dst: call.dst.add((to_first + to) as usize / elements),
                prefix_lens,
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
    unsafe { each_group(call.isa, nest, MOST_LANES, least, lengths, group) };
    true
}
