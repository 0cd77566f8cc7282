//! Transposed planes of packed elements: neighbours exchange elements inside bytes, and then bytes
//! are transposed.

use super::call::Call;
use crate::cpu::kernels::bit_lines::{self, BitLines};
use crate::cpu::kernels::tiles::Tiles;
use crate::cpu::nest::{Loop, Loops, Nest, walk};
use crate::cpu::run::stage::Stage;
use std::convert::Infallible;

/// Bytes of lines, and groups of lines, that are transposed at a time: they stay in L2.
const MOST: usize = 256;
/// Bytes from line to line in the buffer, so that lines do not all meet in the same places of L1.
const PITCH: usize = MOST + 64;

/// Runs a part. False, and nothing has happened, if there is no memory for it.
///
/// # Safety
/// The invariants of [`Call`], with `across` one of the loops; no other thread writes to the part.
pub(super) unsafe fn run(call: &Call<'_>, nest: &Nest, across: usize) -> bool {
    let elements = call.per_byte();
    let Some(mut stage) = Stage::take(elements * MOST * PITCH) else { return false };
    let stage = stage.as_mut_ptr();
    let Some((&lines, rest)) = nest.inner.split_last() else { return false };
    let mut rows = rest[across];
    let mut start = [0, 1].map(|side| call.origins[side] as isize + nest.start[side]);
    if rows.steps[0] < 0 {
        // Walk it from the other end, so that lines are read forward.
        let last = rows.len as isize - 1;
        start = [start[0] + rows.steps[0] * last, start[1] + rows.steps[1] * last];
        rows.steps = rows.steps.map(|step| -step);
    }
    let mut outer: Loops<2> = rest.into();
    outer.remove(across);
    let Ok(()) = walk(&outer, start, |at| {
        // SAFETY: the plane is combinations of steps, inside both sides by `Call`'s invariants, and
        // its rows start on bytes.
        unsafe { plane(call, lines, rows, at, stage) };
        Ok::<(), Infallible>(())
    });
    true
}

/// One plane, from element `from` to element `to`. Lines are contiguous in the input, rows in the
/// output.
///
/// # Safety
/// As for [`run`]; the buffer has room for `elements * MOST * PITCH` bytes.
unsafe fn plane(
    call: &Call<'_>,
    lines: Loop<2>,
    rows: Loop<2>,
    [from, to]: [isize; 2],
    stage: *mut u8,
) {
    let elements = call.per_byte();
    let (wide, high) = (lines.len.div_ceil(elements), rows.len.div_ceil(elements));
    let (groups, bytes) = (even(wide), even(high));
    let apart = MOST * PITCH;
    for group in (0..wide).step_by(groups) {
        for byte in (0..high).step_by(bytes) {
            let (line, row) = (group * elements, byte * elements);
            let count = groups.min(wide - group);
            // SAFETY: kernel contract 1 and 2 by `Call`'s invariants: lines and rows are inside the
            // plane, and the buffer is of its own; 3 by the `Isa`.
            unsafe {
                let len = (bytes * elements).min(rows.len - row);
                debug_assert!(bit_lines::written(len, elements) <= PITCH);
                call.isa.bit_lines(&BitLines {
                    src: call.src,
                    first: (from + lines.steps[0] * line as isize + row as isize) as usize,
                    step: lines.steps[0],
                    len,
                    lines: (groups * elements).min(lines.len - line),
                    elements,
                    dst: stage,
                    pitch: PITCH,
                    apart,
                });
                for element in 0..elements.min(len) {
                    let first = to + rows.steps[1] * (row + element) as isize;
                    call.isa.tiles(&Tiles {
                        src: stage.add(element * apart),
                        dst: call.dst.offset(first / elements as isize).add(group),
                        rows: (len - element).div_ceil(elements),
                        columns: count,
                        src_step: PITCH as isize,
                        // As many rows further on as a byte has elements.
                        dst_step: rows.steps[1],
                        unit: 1,
                        stream: call.stream,
                    });
                }
            }
        }
    }
}

/// How many of `count` to take at a time: at most [`MOST`], and about as many each time.
fn even(count: usize) -> usize {
    count.div_ceil(count.div_ceil(MOST))
}
