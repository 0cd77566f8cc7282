//! Rows that warps stage in shared memory.

use super::entry::{Entry, Family};
use super::rows::rows_of;
use super::{AnyParams, Call, Job};
use crate::choose::{self, Choice, Width};
use crate::kernel::Kernel;
use crate::params::{Axis, Rows};

/// Threads of a warp, and of a block where each warp stages for itself.
const WARP: u64 = 32;
const STAGE_THREADS: u32 = 128;
/// Bytes of the segment of a row that a warp stages, of short rows, of both that trade places, and around them.
const SEGMENT: u64 = 2048;
const SHORT_ROWS: u64 = 8192;
const SWAPPED: u64 = 4096;
const MARGIN: u64 = 48;
/// How far the banks of one warp's memory lie from the next one's: anything but multiples of 32
/// gained 2 %.
const SKEW: u64 = 80;
/// The version for units of two bytes that begin at any: the end of staged.cuh.
const LOOSE: u8 = 22;
/// Bytes before what is staged, for each short row: `header_of` in short.cuh.
const HEADER: u64 = 2 * 16 + 4;

/// Rows in segments of whole units, a warp for each; in place, for each and its mirror image.
pub(super) fn staged(call: &Call<'_>, choice: Choice) -> Job {
    // Wide units that lengths move are rows themselves.
    let pieces = (call.shape.unit >= choose::WIDE_UNIT).then_some(choice.width.bytes());
    let unit = pieces.unwrap_or(call.shape.unit);
    let (mut params, ..) = rows_of(call, pieces);
    let swaps = choice.kernel == Kernel::StagedSwaps;
    let version = match choice.width {
        Width::Loose(_) => LOOSE,
        width => width.bytes() as u8,
    };
    // In place a segment is one of two.
    let units = if swaps { params.units.div_ceil(2) } else { params.units };
    // Segments of the same size, but for the last. Those that do not trade places may be half as
    // large again, rather than many small ones.
    let segments = match swaps {
        true => units.div_ceil(SWAPPED / unit),
        false => ((units * unit + SEGMENT / 2) / SEGMENT).max(1),
    };
    // Those that begin with a vector, and not where a row does, are whole vectors, and reach farther.
    let vector = if swaps || !matches!(version, 1 | 2 | 4 | 8) { 1 } else { 16 / unit };
    let reach = units + vector - 1;
    let segment = reach.div_ceil(segments).next_multiple_of(vector);
    let segments = reach.div_ceil(segment);
    let bytes = segment * unit;
    let (family, room) = match swaps {
        true => (Family::RowsStagedSwap, 2 * room_for(bytes)),
        // The parts before and behind a cut both begin anywhere.
        false => (Family::RowsStaged, room_for(bytes) + room_for(0)),
    };
    params.chunk = Axis::count(segments);
    params.threads = params.count * segments * WARP;
    params.count = segment;
    launch(Entry(family, version), params, room)
}

/// As many short rows a warp as a segment has room for.
pub(super) fn short(call: &Call<'_>) -> Job {
    let width = call.shape.unit;
    let (mut params, ..) = rows_of(call, None);
    let bytes = params.units * width;
    // A lane for each length.
    let most = (SHORT_ROWS / bytes).clamp(1, WARP);
    params.chunk = Axis::count(bytes);
    params.unit = Axis::count(most);
    params.threads = params.count.div_ceil(most) * WARP;
    let room = (HEADER * most).next_multiple_of(16) + MARGIN + room_for(most * bytes);
    launch(Entry(Family::RowsShort, width as u8), params, room)
}

/// Shared memory for so many bytes, wherever they begin, and some around them: `room_for` in
/// staged.cuh.
fn room_for(bytes: u64) -> u64 {
    (bytes + 30) / 16 * 16 + MARGIN
}

/// With so much shared memory for each warp, and warps that do not all begin in the same bank.
fn launch(entry: Entry, params: Rows, room: u64) -> Job {
    let room = room.next_multiple_of(128) + SKEW;
    let warps = u64::from(STAGE_THREADS) / WARP;
    Job {
        entry,
        blocks: params.threads.div_ceil(u64::from(STAGE_THREADS)),
        threads: STAGE_THREADS,
        shared: (warps * room + 2 * MARGIN) as u32,
        params: AnyParams::Rows(Rows { room: room as u32, ..params }),
    }
}
