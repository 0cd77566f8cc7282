//! One dimension that offsets cut into segments.

use super::any::{self, granules};
use super::staged::{WARP, room_for};
use super::{AnyParams, Call, Launch, axes, count};
use crate::choose::Choice;
use crate::constants::{
    MARGIN, SPREAD, STAGED_PIECE, STAGED_PIECES, STAGED_SWAP_TILE, STAGED_TILE, SWAP_TILE_BYTES,
    THREADS, TILE_BYTES,
};
use crate::kernel::Kernel;
use crate::limits::Limits;
use crate::params::{Axis, Loops, Segments};
use crate::shape::address;

/// Blocks of so many per multiprocessor are enough; if there are more tiles, a block writes several.
const ENOUGH: u64 = 24;
/// The most tiles that a block writes.
const LONGEST_RUN: u64 = 8;

/// Contiguous units, staged in shared memory.
pub(super) fn rows(call: &Call<'_>, choice: Choice, limits: &Limits) -> Launch {
    let width = call.shape.unit;
    let (tile, shared) = match choice.kernel {
        Kernel::SegmentRowSwaps => (SWAP_TILE_BYTES, STAGED_SWAP_TILE),
        _ => (TILE_BYTES, STAGED_TILE),
    };
    let (params, lanes) = segments_of(call, width);
    let alike = params.outer.axis.iter().all(|axis| axis.dst % 16 == 0);
    let lead = if alike { params.dst % 16 } else { 16 - width };
    let tiles = (params.steps * width + lead).div_ceil(tile);
    let run = lanes * tiles / (limits.multiprocessors as u64 * ENOUGH);
    let run = run.clamp(1, LONGEST_RUN);
    let runs = tiles.div_ceil(run);
    let params = AnyParams::Segments(Segments { blocks: Axis::count(runs), run, ..params });
    Launch { blocks: lanes * runs, threads: THREADS, shared: shared as u32, params }
}

/// Any units, by several pieces per thread.
pub(super) fn pieces(call: &Call<'_>, choice: Choice) -> Launch {
    let (params, lanes) = segments_of(call, choice.variant.into());
    let tiles = (params.steps * params.pieces.len).div_ceil(u64::from(THREADS) * SPREAD);
    let params = AnyParams::Segments(Segments { blocks: Axis::count(tiles), ..params });
    Launch { blocks: lanes * tiles, threads: THREADS, shared: 0, params }
}

/// Wide units, by pieces that warps stage; in place, two of them.
pub(super) fn units(call: &Call<'_>) -> Launch {
    let pieces = call.shape.unit.div_ceil(STAGED_PIECE);
    let (params, lanes) = segments_of(call, call.shape.unit.div_ceil(pieces));
    let tiles = (params.steps * params.pieces.len).div_ceil(STAGED_PIECES);
    let params = AnyParams::Segments(Segments { blocks: Axis::count(tiles), ..params });
    let shared = MARGIN + u64::from(THREADS) / WARP * 2 * room_for(STAGED_PIECE);
    Launch { blocks: lanes * tiles, threads: THREADS, shared: shared as u32, params }
}

/// Along any dimension, one piece per thread.
pub(super) fn strided(call: &Call<'_>, choice: Choice) -> Launch {
    let all = granules(call.shape, choice.variant.into());
    any::pieces(call, &all, call.shape.segments)
}

/// The arguments of the kernels for which the dimension is the innermost one, except for the number
/// of tiles; and the number of lanes.
fn segments_of(call: &Call<'_>, width: u64) -> (Segments, u64) {
    let &Call { plan, shape, at, lengths, policy, .. } = call;
    let (cut, outer) = (shape.dims[shape.dims.len() - 1], &shape.dims[..shape.dims.len() - 1]);
    let params = Segments {
        src: address(at.src, shape.src),
        dst: address(at.dst, shape.dst),
        policy,
        src_begin: at.src.wrapping_add(plan.src().start as u64),
        src_end: at.src.wrapping_add(plan.src().end as u64),
        steps: cut.len as u64,
        src_step: cut.src as i64,
        dst_step: cut.dst as i64,
        blocks: Axis::default(),
        run: 1,
        pieces: Axis::count(shape.unit.div_ceil(width)),
        unit: shape.unit,
        piece: width,
        lengths,
        outer: Loops::new(&axes(outer), None),
    };
    (params, count(outer))
}
