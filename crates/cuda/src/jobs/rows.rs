//! Rows by vectors, one or two per thread; and the arguments that all kernels for rows share.

use super::any::halve;
use super::entry::Family;
use super::{AnyParams, Call, Job, address, axes, count, flat};
use crate::choose::{self, Choice, Width};
use crate::kernel::{Kernel, Limits};
use crate::params::{Axis, Loops, Rows};
use retrograde::{Dim, Flow};

/// Vectors of a row per thread, if it has to wait for its length: `CUT` and `MOVED` in cut.cuh.
const CUT: u64 = 4;
const MOVED: u64 = 2;
/// Vectors of dense rows that a thread flips: `FLIPS` in dense.cuh.
const FLIPS: u64 = 2;
/// Vectors of each of two blocks that a thread swaps: `TRADED` in trade.cuh; and threads per warp.
const TRADED: u64 = 4;
const WARP: u64 = 32;

/// Rows of contiguous units or, with `pieces` of so many bytes, wide units that are rows themselves
/// and run forward. The division among threads is left open.
pub(super) fn rows_of(call: &Call<'_>, pieces: Option<u64>) -> (Rows, Dim, usize) {
    let &Call { plan, shape, at, lengths, policy, .. } = call;
    let width = pieces.unwrap_or(shape.unit);
    let (units, row, outer) = match choose::row_of(shape).filter(|_| pieces.is_none()) {
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
        chunk: Axis::default(),
        unit: Axis::count(width),
        src_back: u32::from(row.src < 0),
        dst_back: u32::from(row.dst < 0),
        by_length: u32::from(row.flow == Flow::FlipPrefix),
        room: 0,
        count: count(dims),
        lengths,
        rows: Loops::new(&axes(dims), shape.prefix.filter(|&prefix| prefix < outer)),
    };
    (rows, row, outer)
}

pub(super) fn rows(call: &Call<'_>, choice: Choice, limits: &Limits) -> Job {
    let shape = call.shape;
    let pairs_from = limits.pairs_from;
    let Choice { kernel, width } = choice;
    let pieces = match width {
        Width::Granule(_) | Width::Vectors => Some(width.bytes()),
        _ => None,
    };
    let (params, _, outer) = rows_of(call, pieces);
    let outer = &shape.dims[..outer];
    let bytes = params.units * params.unit.len;
    let alike = outer.iter().all(|dim| dim.dst % 16 == 0);
    let whole = bytes / 16;
    let (loose, forward) = (matches!(width, Width::Loose(_)), width == Width::Vectors);
    let aligned = if loose { 1 } else { width.bytes() };
    let part = super::chunks(bytes, aligned, alike.then_some(params.dst % 16));
    // The version of the kernels.
    let width = if forward { 0 } else { width.bytes() };
    let (family, width, chunk) = match kernel {
        // Two vectors per thread, if it has to wait for a length.
        Kernel::AlignedRows if forward && shape.prefix.is_some() => {
            (Family::RowsBlocks, 0, whole.div_ceil(MOVED))
        }
        Kernel::CutRows if shape.zero => (Family::RowsCutZero, width, whole.div_ceil(CUT)),
        Kernel::CutRows => (Family::RowsCut, width, whole.div_ceil(CUT)),
        Kernel::AlignedRows => (Family::RowsAligned, width, whole),
        Kernel::Pixels if loose => (Family::RowsAny, width, part),
        Kernel::Pixels => (Family::RowsAligned, width, whole),
        // Here `chunk` is the bytes of a row, not the threads per row.
        Kernel::DenseRows if choose::flips_words(shape) => (Family::RowsFlip, width, bytes),
        // Lengths may have no effect on the movement, and still have to be checked.
        Kernel::DenseRows if choose::flips_rows(shape) && call.lengths.stop == 0 => {
            (Family::RowsDenseFlip, width, bytes)
        }
        Kernel::DenseRows => (Family::RowsDense, width, bytes),
        _ if part >= pairs_from => (Family::RowsLong, width, part.div_ceil(64) * 32),
        _ => (Family::RowsAny, width, part),
    };
    let threads = match family {
        Family::RowsDenseFlip => (params.count * bytes + params.dst % 16).div_ceil(16 * FLIPS),
        Family::RowsDense | Family::RowsFlip => {
            (params.count * bytes + params.dst % 16).div_ceil(16)
        }
        _ => params.count * chunk,
    };
    let params = Rows { threads, chunk: Axis::count(chunk), ..params };
    flat(family, width, threads, AnyParams::Rows(params))
}

/// In place: blocks of vectors of one half trade places with those of the other.
pub(super) fn block_swaps(call: &Call<'_>) -> Option<Job> {
    let (params, ..) = rows_of(call, Some(16));
    let mut all = axes(&call.shape.dims);
    halve(call, &mut all)?;
    let rows: u64 = all.iter().map(|axis| axis.len).product();
    let chunk = params.units.div_ceil(WARP * TRADED) * WARP;
    let threads = rows * chunk;
    let rows = Loops::new(&all, call.shape.prefix);
    let params = Rows { threads, chunk: Axis::count(chunk), rows, ..params };
    (threads > 0).then(|| flat(Family::RowsTrade, 0, threads, AnyParams::Rows(params)))
}

/// In place, by vectors: the first half of a row, and the middle vector if there is one.
pub(super) fn row_swaps(call: &Call<'_>) -> Job {
    let width = call.shape.unit;
    let (params, ..) = rows_of(call, None);
    let half = (params.units * width / 16).div_ceil(2);
    let threads = params.count * half;
    let params = Rows { threads, chunk: Axis::count(half), ..params };
    flat(Family::RowsSwap, width, threads, AnyParams::Rows(params))
}
