//! Rows that warps stage in shared memory.

use super::rows::rows_of;
use super::{AnyParams, Call, Launch};
use crate::choose::Choice;
use crate::constants::{MARGIN, SHORT_HEADER};
use crate::kernel::Kernel;
use crate::params::{Axis, Rows};

/// Threads per warp, and per block if each warp stages separately.
pub(super) const WARP: u64 = 32;
const STAGE_THREADS: u32 = 128;
/// Bytes that a warp stages: of a segment, of short rows, of two segments to swap.
const SEGMENT: u64 = 2048;
const SHORT_ROWS: u64 = 8192;
const SWAPPED: u64 = 4096;
/// Units of five bytes, which take as much memory again: larger segments are faster, and three of
/// 4 KiB would not fit.
const FIVE: u8 = 5;
const SEGMENT_FIVE: u64 = 4096;
const SWAPPED_FIVE: u64 = 2048;
/// Offset between the banks of consecutive warps' memory: any value that is not a multiple of 32
/// gained 2 %.
const SKEW: u64 = 80;

/// Rows in segments of whole units, one warp per segment; in place, one per segment and its mirror
/// image.
pub(super) fn staged(call: &Call<'_>, choice: Choice) -> Launch {
    let (mut params, ..) = rows_of(call, choice.pieces);
    let (unit, version) = (params.unit.len, choice.variant);
    let swaps = choice.kernel == Kernel::StagedSwaps;
    // In place a segment is one of two.
    let units = if swaps { params.units.div_ceil(2) } else { params.units };
    // Segments of equal size, except for the last. Those that are not swapped may be 1.5 times as
    // large, to avoid many small ones.
    let segments = match (swaps, version) {
        (true, FIVE) => units.div_ceil(SWAPPED_FIVE / unit),
        (true, _) => units.div_ceil(SWAPPED / unit),
        (false, FIVE) => units.div_ceil(SEGMENT_FIVE / unit),
        (false, _) => ((units * unit + SEGMENT / 2) / SEGMENT).max(1),
    };
    // Segments that begin at a vector boundary instead of the start of a row consist of whole
    // vectors, and extend farther.
    let vector = if swaps || !matches!(version, 1 | 2 | 4 | 8) { 1 } else { 16 / unit };
    let reach = units + vector - 1;
    let segment = reach.div_ceil(segments).next_multiple_of(vector);
    let segments = reach.div_ceil(segment);
    let bytes = segment * unit;
    let room = match swaps {
        true => 2 * room_for(bytes),
        // The parts before and after the end of the prefix both have any alignment.
        false => room_for(bytes) + room_for(0),
    };
    // Groups of units are reversed from one place to another: `Groups` in staged.cuh. The middle of
    // a row in place is up to two segments.
    let spare = if swaps { room_for(2 * bytes) } else { room_for(bytes) };
    let room = room + if version == FIVE { spare } else { 0 };
    params.per_row = Axis::count(segments);
    params.threads = params.count * segments * WARP;
    params.segment = segment;
    launch(params, room)
}

/// As many short rows per warp as fit into a segment.
pub(super) fn short(call: &Call<'_>) -> Launch {
    let params = stacked(call, |bytes| SHORT_ROWS / bytes);
    let (bytes, most) = (params.row.len, u64::from(params.stacked));
    let room = (SHORT_HEADER * most).next_multiple_of(16) + MARGIN + room_for(most * bytes);
    launch(params, room)
}

/// One row per lane. Rows of 64 bytes are staged one vector apart: they would begin in two banks.
pub(super) fn brief(call: &Call<'_>) -> Launch {
    let params = stacked(call, |_| WARP);
    let bytes = params.row.len;
    let aligned = params.src.is_multiple_of(16) && params.dst.is_multiple_of(16);
    let apart = aligned && bytes == 64;
    let (apart, pitch) = match apart {
        true => (Axis::count(bytes / 16), bytes + 16),
        false => (Axis::default(), bytes),
    };
    launch(Rows { apart, ..params }, room_for(WARP * pitch))
}

/// Rows of which a warp stages several, at most one per lane.
fn stacked(call: &Call<'_>, most: impl Fn(u64) -> u64) -> Rows {
    let (params, ..) = rows_of(call, None);
    let bytes = params.units * call.shape.unit;
    let most = most(bytes).clamp(1, WARP);
    let threads = params.count.div_ceil(most) * WARP;
    Rows { row: Axis::count(bytes), stacked: most as u32, threads, ..params }
}

/// Shared memory for so many bytes with any alignment, including the margin: `room_for` in
/// staged.cuh.
pub(super) fn room_for(bytes: u64) -> u64 {
    (bytes + 30) / 16 * 16 + MARGIN
}

/// Sets the shared memory per warp, such that warps do not all begin in the same bank.
fn launch(params: Rows, room: u64) -> Launch {
    let room = room.next_multiple_of(128) + SKEW;
    let warps = u64::from(STAGE_THREADS) / WARP;
    Launch {
        blocks: params.threads.div_ceil(u64::from(STAGE_THREADS)),
        threads: STAGE_THREADS,
        shared: (warps * room + 2 * MARGIN) as u32,
        params: AnyParams::Rows(Rows { room: room as u32, ..params }),
    }
}
