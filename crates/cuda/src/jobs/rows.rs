//! Rows by vectors, one or two per thread; and the arguments that all kernels for rows share.

use super::any::halve;
use super::{AnyParams, Call, Launch, axes, count, flat};
use crate::choose::Choice;
use crate::constants::{CUT, FLIPS, MOVED, PAIR, TRADED};
use crate::facts;
use crate::kernel::Kernel;
use crate::params::{Axis, Loops, Rows};
use crate::shape::address;
use retrograde::{Dim, Flow};

/// Threads of a warp.
const WARP: u64 = 32;

/// Rows of contiguous units or, with `pieces` of so many bytes, wide units that are rows themselves
/// and run forward. The division among threads is left open.
pub(super) fn rows_of(call: &Call<'_>, pieces: Option<u64>) -> (Rows, Dim, usize) {
    let &Call { plan, shape, at, lengths, policy, .. } = call;
    let width = pieces.unwrap_or(shape.unit);
    let (units, row, outer) = match facts::row_of(shape).filter(|_| pieces.is_none()) {
        Some((row, outer)) => (row.len as u64, row, outer),
        None => {
            let forward = Dim { len: 1, src: 1, dst: 1, lengths: 0, flow: Flow::Keep };
            (shape.unit / width, forward, shape.dims.len())
        }
    };
    let dims = &shape.dims[..outer];
    let low = |stride: isize| (stride as i64 * (row.len as i64 - 1)).min(0);
    let rows = Rows {
        src: address(at.src, shape.src + low(row.src)),
        dst: address(at.dst, shape.dst + low(row.dst)),
        policy,
        src_begin: at.src.wrapping_add(plan.src().start as u64),
        src_end: at.src.wrapping_add(plan.src().end as u64),
        threads: 0,
        units,
        count: count(dims),
        segment: 0,
        per_row: Axis::default(),
        row: Axis::default(),
        unit: Axis::count(width),
        apart: Axis::default(),
        src_back: u32::from(row.src < 0),
        dst_back: u32::from(row.dst < 0),
        by_length: u32::from(row.flow == Flow::FlipPrefix),
        room: 0,
        stacked: 0,
        unused: 0,
        lengths,
        rows: Loops::new(&axes(dims), shape.prefix.filter(|&prefix| prefix < outer)),
    };
    (rows, row, outer)
}

/// Rows out of place, by vectors or windows.
pub(super) fn rows(call: &Call<'_>, choice: Choice) -> Launch {
    let (params, _, outer) = rows_of(call, choice.pieces);
    let width = params.unit.len;
    let bytes = params.units * width;
    let vectors = bytes / 16;
    let crossing = |each| (params.count * bytes + params.dst % 16).div_ceil(16 * each);
    let windows = || facts::touched(bytes, width, params.dst, &call.shape.dims[..outer]);
    let each = |threads| (threads, params.count * threads);
    let (per_row, threads) = match choice.kernel {
        // Vectors that cross the ends of rows.
        Kernel::WordFlips | Kernel::DenseRows | Kernel::DenseFlips => {
            let each = if choice.kernel == Kernel::DenseFlips { FLIPS } else { 1 };
            let threads = crossing(each);
            let params = Rows { threads, row: Axis::count(bytes), ..params };
            return flat(threads, AnyParams::Rows(params));
        }
        Kernel::RowBlocks => each(vectors.div_ceil(MOVED)),
        Kernel::CutRows => each(vectors.div_ceil(CUT)),
        Kernel::RowPairs => each(windows().div_ceil(PAIR)),
        Kernel::Rows => each(windows()),
        _ => each(vectors),
    };
    let params = Rows { threads, per_row: Axis::count(per_row), ..params };
    flat(threads, AnyParams::Rows(params))
}

/// In place: blocks of vectors of one half trade places with those of the other.
pub(super) fn block_swaps(call: &Call<'_>) -> Option<Launch> {
    let (params, ..) = rows_of(call, Some(16));
    let mut all = axes(&call.shape.dims);
    halve(call, &mut all)?;
    let rows: u64 = all.iter().map(|axis| axis.len).product();
    let per_row = params.units.div_ceil(WARP * TRADED) * WARP;
    let threads = rows * per_row;
    let rows = Loops::new(&all, call.shape.prefix);
    let params = Rows { threads, per_row: Axis::count(per_row), rows, ..params };
    (threads > 0).then(|| flat(threads, AnyParams::Rows(params)))
}

/// In place, by vectors: the first half of a row, and the middle vector if there is one.
pub(super) fn row_swaps(call: &Call<'_>) -> Launch {
    let width = call.shape.unit;
    let (params, ..) = rows_of(call, None);
    let half = (params.units * width / 16).div_ceil(2);
    let threads = params.count * half;
    let params = Rows { threads, per_row: Axis::count(half), ..params };
    flat(threads, AnyParams::Rows(params))
}
