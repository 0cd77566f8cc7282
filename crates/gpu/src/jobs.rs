//! From a plan and a chosen kernel to the kernel's arguments.

use crate::choose::{self, Choice, Kernel, Limits, STRIP};
use crate::params::{
    Axis, Check, Columns, FEW, Gather, Lengths, Loops, MANY, NONE, Packed, Rows, Strided, Tiles,
    divisor,
};
use crate::shape::{Shape, Site};
use retrograde::{BitOrder, DType, Dim, Flow, Grain, LengthPolicy, LengthsPlan, Plan};
use smallvec::SmallVec;

/// Threads of a block, except where columns are staged.
const THREADS: u32 = 256;
const COLUMN_THREADS: u32 = 512;
/// Bytes of shared memory that short columns fill with more of them.
const STAGE: u64 = 16 * 1024;
/// Threads of a warp, and of a block where each warp stages for itself.
const WARP: u64 = 32;
const STAGE_THREADS: u32 = 128;
/// Bytes of the segment of a row that a warp stages, of both that trade places, and around them.
const SEGMENT: u64 = 2048;
const SWAPPED: u64 = 4096;
const MARGIN: u64 = 48;
/// How far the banks of one warp's memory lie from the next one's: anything but multiples of 32
/// gained 2 %.
const SKEW: u64 = 80;
/// Bytes before what is staged that say where the reversed starts of short rows end.
const ENDS: u64 = 32 * 4;
/// Bytes from one row of a column to the next that are far.
const FAR: usize = 64 * 1024;
/// So many strips are worth clusters.
const MANY_STRIPS: u64 = 64;
/// Blocks that check lengths, at most.
const CHECK_BLOCKS: u64 = 512;

/// A launch, ready but for the stream.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) entry: Entry,
    pub(crate) blocks: u64,
    pub(crate) threads: u32,
    pub(crate) shared: u32,
    pub(crate) params: AnyParams,
}

/// A function of the kernels, by its parts: name and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry(pub(crate) Family, pub(crate) u8);

/// The functions that differ only in width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    RowsAligned,
    RowsBlocks,
    RowsAny,
    RowsLong,
    RowsDense,
    RowsDenseFlip,
    RowsStaged,
    RowsStagedSwap,
    RowsShort,
    RowsSwap,
    Strided,
    StridedDeep,
    Swap,
    SwapDeep,
    Gather,
    GatherPrefix,
    Tiles,
    Columns,
    ColumnsTwo,
    ColumnsFour,
    ColumnsDirect,
    ColumnsCluster,
    Packed,
    PackedFlip,
    CheckLengths,
}

/// Versions of the kernels that stage rows.
const STAGED: &[u8] = &[0, 1, 2, 3, 4, 6, 8, 12, 16, 22];

impl Family {
    /// All of them, with their names and the widths they come in.
    pub(crate) const ALL: [(Family, &'static str, &'static [u8]); 25] = [
        (Family::RowsAligned, "rows_aligned", &[0, 1, 2, 3, 4, 6, 8, 12, 16]),
        (Family::RowsBlocks, "rows_blocks", &[0]),
        (Family::RowsAny, "rows_any", &[1, 2, 3, 4, 6, 8, 12, 16]),
        (Family::RowsLong, "rows_long", &[1, 2, 4, 8, 16]),
        (Family::RowsDenseFlip, "rows_dense_flip", &[1, 2, 3, 4, 6, 8, 12]),
        (Family::RowsDense, "rows_dense", &[1, 2, 3, 4, 6, 8, 12]),
        (Family::RowsStaged, "rows_staged", STAGED),
        (Family::RowsStagedSwap, "rows_staged_swap", STAGED),
        (Family::RowsShort, "rows_short", &[1, 2, 4, 8]),
        (Family::RowsSwap, "rows_swap", &[1, 2, 4, 8, 16]),
        (Family::Strided, "strided", &[1, 2, 4, 8, 16]),
        (Family::StridedDeep, "strided_deep", &[1, 2, 4, 8, 16]),
        (Family::Swap, "swap", &[1, 2, 4, 8, 16]),
        (Family::SwapDeep, "swap_deep", &[1, 2, 4, 8, 16]),
        (Family::Gather, "gather", &[1, 2, 4, 8]),
        (Family::GatherPrefix, "gather_prefix", &[1, 2, 4, 8]),
        (Family::Tiles, "tiles", &[1, 2, 4, 8, 16]),
        (Family::Columns, "columns", &[1, 2, 4, 8, 16]),
        (Family::ColumnsTwo, "columns_two", &[2, 4, 8, 16]),
        (Family::ColumnsFour, "columns_four", &[2, 4, 8, 16]),
        (Family::ColumnsDirect, "columns_direct", &[1, 2, 4, 8, 16]),
        (Family::ColumnsCluster, "columns_cluster", &[1, 2, 4]),
        (Family::Packed, "packed", &[]),
        (Family::PackedFlip, "packed_flip", &[]),
        (Family::CheckLengths, "check_lengths", &[]),
    ];

    /// Whether its blocks form clusters, which not every image has.
    pub(crate) fn clusters(self) -> bool {
        matches!(self, Family::ColumnsTwo | Family::ColumnsFour | Family::ColumnsCluster)
    }

    /// Whether its blocks ask for more shared memory than they get unasked.
    pub(crate) fn stages(self) -> bool {
        self == Family::Columns || self.clusters()
    }
}

/// Arguments of any kernel.
#[derive(Debug)]
pub(crate) enum AnyParams {
    Rows(Rows),
    Strided(Strided<FEW>),
    Deep(Strided<MANY>),
    Gather(Gather),
    Tiles(Tiles),
    Columns(Columns),
    Packed(Packed),
    Check(Check),
}

/// The lengths of a call: where they are, and the report that may stop it.
pub(crate) fn lengths_of(plan: &Plan, address: u64, stop: u64) -> Lengths {
    match plan.lengths() {
        Some(lengths) => {
            let first = address + lengths.reach.origin as u64;
            let steps = plan.dims().iter().map(|dim| dim.lengths as i64);
            let kind = length_kind(lengths.dtype, first, steps);
            Lengths { first, stop, limit: lengths.limit as u64, kind, unused: 0 }
        }
        None => Lengths { first: 0, stop: 0, limit: 0, kind: 0, unused: 0 },
    }
}

/// The code of a type of lengths: log2 of its bytes, 4 if signed, 8 if some are not aligned.
fn length_kind(dtype: DType, first: u64, mut steps: impl Iterator<Item = i64>) -> u32 {
    use DType::*;
    let code = match dtype {
        I8 => 4,
        U16 => 1,
        I16 => 5,
        U32 => 2,
        I32 => 6,
        U64 => 3,
        I64 => 7,
        // U8, the only integer that is left.
        _ => 0,
    };
    let bytes = 1i64 << (code & 3);
    let aligned = first as i64 % bytes == 0 && steps.all(|step| step % bytes == 0);
    if aligned { code } else { code | 8 }
}

/// The check of all lengths, in row-major order.
pub(crate) fn check(lengths: &LengthsPlan, address: u64, report: u64) -> Job {
    let first = address + lengths.first as u64;
    let axes: SmallVec<[Axis; 8]> =
        lengths.dims.iter().map(|&(len, step)| Axis::new(len as u64, 0, 0, step as i64)).collect();
    let count = lengths.count() as u64;
    let most = match lengths.policy {
        LengthPolicy::Strict => lengths.limit as u64,
        LengthPolicy::Clamp => u64::MAX,
    };
    let kind = length_kind(lengths.dtype, first, axes.iter().map(|axis| axis.lengths));
    let (limit, loops) = (lengths.limit as u64, Loops::new(&axes, None));
    let blocks = count.div_ceil(u64::from(THREADS)).clamp(1, CHECK_BLOCKS);
    let params =
        AnyParams::Check(Check { first, report, count, most, limit, kind, unused: 0, loops });
    Job { entry: Entry(Family::CheckLengths, 0), blocks, threads: THREADS, shared: 0, params }
}

/// The launch of a plan out of place; none if nothing moves.
pub(crate) fn job(
    plan: &Plan,
    shape: &Shape,
    at: Site,
    lengths: Lengths,
    choice: Choice,
    limits: &Limits,
) -> Option<Job> {
    let width = choice.width;
    Some(match choice.kernel {
        Kernel::None => return None,
        Kernel::AlignedRows | Kernel::Rows | Kernel::Pixels | Kernel::DenseRows => {
            rows(plan, shape, at, lengths, choice, limits)
        }
        Kernel::StagedRows => staged(plan, shape, at, lengths, choice, limits),
        Kernel::RowSwaps => row_swaps(plan, shape, at, lengths, width),
        Kernel::StagedSwaps => staged(plan, shape, at, lengths, choice, limits),
        Kernel::ShortRows => short(plan, shape, at, lengths, width, limits),
        Kernel::Columns | Kernel::ClusterColumns | Kernel::DirectColumns => {
            columns(shape, at, lengths, choice, limits)
        }
        Kernel::Tiles => tiles(shape, at, lengths),
        Kernel::Gather => gather(shape, at, lengths, width),
        Kernel::Strided => strided(shape, at, lengths, width),
        Kernel::Swaps => return swaps(plan, shape, at, lengths, width),
        Kernel::Packed => packed(plan, shape, at, lengths),
    })
}

/// A job of one thread for each of `count` pieces.
fn flat(family: Family, width: u64, count: u64, params: AnyParams) -> Job {
    let blocks = count.div_ceil(u64::from(THREADS));
    Job { entry: Entry(family, width as u8), blocks, threads: THREADS, shared: 0, params }
}

fn axis(dim: &Dim) -> Axis {
    Axis::new(dim.len as u64, dim.src as i64, dim.dst as i64, dim.lengths as i64)
}

fn axes(dims: &[Dim]) -> SmallVec<[Axis; 8]> {
    dims.iter().map(axis).collect()
}

fn count(dims: &[Dim]) -> u64 {
    dims.iter().map(|dim| dim.len as u64).product()
}

/// An address in a buffer.
fn address(base: u64, offset: i64) -> u64 {
    base.wrapping_add_signed(offset)
}

/// 16-byte pieces that a run of so many bytes touches at most, if it begins at a multiple of
/// `width` and, where all runs do the same, at `start` in 16.
fn chunks(bytes: u64, width: u64, start: Option<u64>) -> u64 {
    let before = start.unwrap_or(16 - if matches!(width, 2 | 4 | 8 | 16) { width } else { 1 });
    (bytes + before).div_ceil(16)
}

fn rows(
    plan: &Plan,
    shape: &Shape,
    at: Site,
    lengths: Lengths,
    choice: Choice,
    limits: &Limits,
) -> Job {
    let pairs_from = limits.pairs_from;
    let Choice { kernel, width } = choice;
    // Rows of units, or wide units that are rows themselves and go forward, in pieces that fit.
    let is_row = kernel == Kernel::Pixels || width == shape.unit;
    let piece = match is_row {
        true => shape.unit,
        false if width == 0 => 16,
        false => width,
    };
    let (units, row, outer) = match choose::row_of(shape).filter(|_| is_row) {
        Some((row, outer)) => (row.len as u64, row, &shape.dims[..outer]),
        None => {
            let forward = Dim { len: 1, src: 1, dst: 1, lengths: 0, flow: Flow::Keep };
            (shape.unit / piece, forward, &shape.dims[..])
        }
    };
    let bytes = units * piece;
    let low = |stride: isize| (stride as i64 * (row.len as i64 - 1)).min(0);
    let dst = address(at.dst, shape.dst + low(row.dst));
    let by_length = row.flow == Flow::FlipPrefix;
    let alike = outer.iter().all(|dim| dim.dst % 16 == 0);
    let whole = bytes / 16;
    let part = chunks(bytes, width, alike.then_some(dst % 16));
    // Two vectors a thread where it has to wait for a length, or the rows are long anyway.
    let (family, width, chunk) = match kernel {
        Kernel::AlignedRows if width == 0 && shape.prefix.is_some() && whole >= pairs_from => {
            (Family::RowsBlocks, 0, whole.div_ceil(64) * 32)
        }
        Kernel::AlignedRows => (Family::RowsAligned, width, whole),
        Kernel::Pixels if width > 0 => (Family::RowsAligned, width, whole),
        Kernel::Pixels => (Family::RowsAny, shape.unit, part),
        // Not threads for a row, but its bytes.
        Kernel::DenseRows if is_plain_flip(shape, &row, outer) => {
            (Family::RowsDenseFlip, width, bytes)
        }
        Kernel::DenseRows => (Family::RowsDense, width, bytes),
        _ if part >= pairs_from => (Family::RowsLong, width, part.div_ceil(64) * 32),
        _ => (Family::RowsAny, width, part),
    };
    let threads = match kernel {
        Kernel::DenseRows => (count(outer) * bytes + dst % 16).div_ceil(16),
        _ => count(outer) * chunk,
    };
    let params = Rows {
        src: address(at.src, shape.src + low(row.src)),
        dst,
        src_begin: at.src.wrapping_add(plan.src().start as u64),
        src_end: at.src.wrapping_add(plan.src().end as u64),
        threads,
        units,
        chunk: Axis::count(chunk),
        unit: Axis::count(piece),
        src_back: u32::from(row.src < 0),
        dst_back: u32::from(row.dst < 0),
        by_length: u32::from(by_length),
        room: 0,
        count: count(outer),
        lengths,
        rows: Loops::new(&axes(outer), shape.prefix.filter(|&prefix| prefix < outer.len())),
    };
    flat(family, width, threads, AnyParams::Rows(params))
}

/// Rows that are reversed whole, and follow each other in one dimension.
fn is_plain_flip(shape: &Shape, row: &Dim, outer: &[Dim]) -> bool {
    let near = |dim: &Dim| dim.src.unsigned_abs() < 1 << 30;
    shape.prefix.is_none() && row.src < 0 && outer.len() <= 1 && outer.iter().all(near)
}

fn row_swaps(plan: &Plan, shape: &Shape, at: Site, lengths: Lengths, width: u64) -> Job {
    let aligned = Choice { kernel: Kernel::AlignedRows, width };
    let Job { params, .. } = rows(plan, shape, at, lengths, aligned, &Limits::default());
    let AnyParams::Rows(mut params) = params else { unreachable!("rows make rows") };
    // The first half of the vectors, and one more if there is a middle.
    let half = params.chunk.len.div_ceil(2);
    params.threads = params.threads / params.chunk.len * half;
    params.chunk = Axis::count(half);
    flat(Family::RowsSwap, width, params.threads, AnyParams::Rows(params))
}

/// Rows in segments of whole units, a warp for each; in place, for each and its mirror image.
fn staged(
    plan: &Plan,
    shape: &Shape,
    at: Site,
    lengths: Lengths,
    choice: Choice,
    limits: &Limits,
) -> Job {
    let as_rows = Choice { kernel: Kernel::Rows, width: shape.unit };
    let Job { params, .. } = rows(plan, shape, at, lengths, as_rows, limits);
    let AnyParams::Rows(mut params) = params else { unreachable!("rows make rows") };
    let swaps = choice.kernel == Kernel::StagedSwaps;
    // In place a segment is one of two.
    let units = if swaps { params.units.div_ceil(2) } else { params.units };
    // Segments of the same size, but for the last. Those that do not trade places may be half as
    // large again, rather than many small ones.
    let segments = match swaps {
        true => units.div_ceil(SWAPPED / shape.unit),
        false => ((units * shape.unit + SEGMENT / 2) / SEGMENT).max(1),
    };
    let segment = units.div_ceil(segments);
    params.chunk = Axis::count(segments);
    params.threads = params.count * segments * WARP;
    params.count = segment;
    let bytes = segment * shape.unit;
    let (family, room) = match swaps {
        true => (Family::RowsStagedSwap, 2 * room_for(bytes)),
        // The parts before and behind a cut both begin anywhere.
        false => (Family::RowsStaged, room_for(bytes) + room_for(0)),
    };
    let room = apart(room);
    params.room = room as u32;
    let warps = u64::from(STAGE_THREADS) / WARP;
    let entry = Entry(family, choice.width as u8);
    let blocks = params.threads.div_ceil(u64::from(STAGE_THREADS));
    let shared = (warps * room + 2 * MARGIN) as u32;
    Job { entry, blocks, threads: STAGE_THREADS, shared, params: AnyParams::Rows(params) }
}

/// Shared memory for so many bytes, wherever they begin, and some around them: `room_for` in
/// staged.cuh, which divides one that is cut in two.
fn room_for(bytes: u64) -> u64 {
    (bytes + 30) / 16 * 16 + MARGIN
}

/// What each warp has of it, so that warps do not all begin in the same bank.
fn apart(room: u64) -> u64 {
    room.next_multiple_of(128) + SKEW
}

/// As many short rows a warp as a segment has room for.
fn short(
    plan: &Plan,
    shape: &Shape,
    at: Site,
    lengths: Lengths,
    width: u64,
    limits: &Limits,
) -> Job {
    let as_rows = Choice { kernel: Kernel::Rows, width };
    let Job { params, .. } = rows(plan, shape, at, lengths, as_rows, limits);
    let AnyParams::Rows(mut params) = params else { unreachable!("rows make rows") };
    let bytes = params.units * width;
    // A lane for each length.
    let most = (SEGMENT / bytes).clamp(1, WARP);
    let warps = u64::from(STAGE_THREADS) / WARP;
    params.chunk = Axis::count(bytes);
    params.unit = Axis::count(most);
    params.threads = params.count.div_ceil(most) * WARP;
    let room = apart(ENDS + MARGIN + room_for(most * bytes));
    params.room = room as u32;
    Job {
        entry: Entry(Family::RowsShort, width as u8),
        blocks: params.threads.div_ceil(u64::from(STAGE_THREADS)),
        threads: STAGE_THREADS,
        shared: (warps * room + MARGIN) as u32,
        params: AnyParams::Rows(params),
    }
}

/// All dimensions, and the granules of a unit as the innermost.
fn granules(shape: &Shape, width: u64) -> SmallVec<[Axis; 8]> {
    let mut all = axes(&shape.dims);
    if shape.unit > width {
        all.push(Axis::new(shape.unit / width, width as i64, width as i64, 0));
    }
    all
}

fn strided(shape: &Shape, at: Site, lengths: Lengths, width: u64) -> Job {
    let all = granules(shape, width);
    let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
    let threads = all.iter().map(|axis| axis.len).product();
    by_depth(Family::Strided, width, src, dst, threads, lengths, &all, shape.prefix)
}

#[expect(clippy::too_many_arguments, reason = "the fields of a struct in two sizes")]
fn by_depth(
    family: Family,
    width: u64,
    src: u64,
    dst: u64,
    threads: u64,
    lengths: Lengths,
    all: &[Axis],
    prefix: Option<usize>,
) -> Job {
    if all.len() <= FEW {
        let loops = Loops::new(all, prefix);
        let params = AnyParams::Strided(Strided { src, dst, threads, lengths, loops });
        return flat(family, width, threads, params);
    }
    let deep = match family {
        Family::Swap => Family::SwapDeep,
        _ => Family::StridedDeep,
    };
    let loops = Loops::new(all, prefix);
    flat(deep, width, threads, AnyParams::Deep(Strided { src, dst, threads, lengths, loops }))
}

/// In place: one half of the outermost flipped dimension, or of the one with lengths, meets the
/// other half.
fn swaps(plan: &Plan, shape: &Shape, at: Site, lengths: Lengths, width: u64) -> Option<Job> {
    let mut all = granules(shape, width);
    let flips = |dim: &Dim| dim.flow == Flow::Flip;
    match (shape.prefix, plan.dims().iter().position(flips)) {
        (Some(prefix), _) => {
            let half = all[prefix].len / 2;
            all[prefix] = Axis::new(half, all[prefix].src, all[prefix].dst, 0);
        }
        (None, Some(flip)) => {
            let half = all[flip].len.div_ceil(2);
            all[flip] = Axis::new(half, all[flip].src, all[flip].dst, 0);
        }
        (None, None) => return None,
    }
    let threads: u64 = all.iter().map(|axis| axis.len).product();
    let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
    let job = || by_depth(Family::Swap, width, src, dst, threads, lengths, &all, shape.prefix);
    (threads > 0).then(job)
}

fn gather(shape: &Shape, at: Site, lengths: Lengths, width: u64) -> Job {
    let all = granules(shape, width);
    let run = shape.run();
    let mut below = shape.unit;
    // Dimensions outside the run, where each step begins another one.
    let outside: SmallVec<[&Dim; 8]> = shape
        .dims
        .iter()
        .rev()
        .skip_while(|dim| {
            let inside = dim.dst as i64 == below as i64;
            below *= if inside { dim.len as u64 } else { 1 };
            inside
        })
        .collect();
    let dst = address(at.dst, shape.dst);
    let uniform = outside.iter().all(|dim| dim.dst % 16 == 0);
    let chunk = chunks(run, width, uniform.then_some(dst % 16));
    let runs: u64 = outside.iter().map(|dim| dim.len as u64).product();
    let one = Axis::count(1);
    let inner = [
        all.last().copied().unwrap_or(one),
        all.len().checked_sub(2).map_or(one, |next| all[next]),
    ];
    let outer = &all[..all.len().saturating_sub(2)];
    let (prefix, outer_prefix) = match shape.prefix {
        None => (NONE, None),
        Some(at) if at < outer.len() => (2, Some(at)),
        Some(at) => ((all.len() - 1 - at) as u32, None),
    };
    let threads = runs * chunk;
    let family = if prefix == NONE { Family::Gather } else { Family::GatherPrefix };
    let params = Gather {
        src: address(at.src, shape.src),
        dst,
        threads,
        run: run / width,
        chunk: Axis::count(chunk),
        inner,
        prefix,
        uniform: u32::from(uniform),
        lengths,
        outer: Loops::new(outer, outer_prefix),
    };
    flat(family, width, threads, AnyParams::Gather(params))
}

fn tiles(shape: &Shape, at: Site, lengths: Lengths) -> Job {
    let inner = shape.dims.len() - 1;
    let turned = choose::turned(shape).unwrap_or_default();
    let (a, b) = (&shape.dims[inner], &shape.dims[turned]);
    let mut outer: SmallVec<[Dim; 8]> = SmallVec::from_slice(&shape.dims[..inner]);
    outer.remove(turned);
    let prefix = shape.prefix.map(|prefix| prefix - usize::from(prefix > turned));
    let width = shape.unit;
    let per_word = 4u64.div_ceil(width);
    let side = if width == 4 { 64 } else { 32 * per_word };
    let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
    // A word of the input that runs backward begins at its last element.
    let first = address(src, if b.src < 0 { b.src as i64 * (per_word as i64 - 1) } else { 0 });
    let whole = |step: isize| step % 4 == 0;
    let words = first.is_multiple_of(4)
        && dst.is_multiple_of(4)
        && whole(a.src)
        && whole(b.dst)
        && outer.iter().all(|dim| whole(dim.src) && whole(dim.dst));
    let (tiles_a, tiles_b) = ((a.len as u64).div_ceil(side), (b.len as u64).div_ceil(side));
    let params = Tiles {
        src,
        dst,
        a: axis(a),
        b: axis(b),
        tiles_a: Axis::count(tiles_a),
        tiles_b: Axis::count(tiles_b),
        words: u32::from(words),
        unused: 0,
        lengths,
        outer: Loops::new(&axes(&outer), prefix),
    };
    Job {
        entry: Entry(Family::Tiles, width as u8),
        blocks: count(&outer) * tiles_a * tiles_b,
        threads: THREADS,
        // One more word in each row, so that columns find separate banks.
        shared: (side * (side / per_word + 1) * width.max(4)) as u32,
        params: AnyParams::Tiles(params),
    }
}

fn columns(shape: &Shape, at: Site, lengths: Lengths, choice: Choice, limits: &Limits) -> Job {
    let Choice { kernel, width: granule } = choice;
    let inner = shape.dims[shape.dims.len() - 1];
    let prefix = shape.prefix.unwrap_or_default();
    let lane = shape.dims[prefix];
    let mut outer: SmallVec<[Dim; 8]> = SmallVec::from_slice(&shape.dims[..shape.dims.len() - 1]);
    outer.remove(prefix);
    let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
    let (steps, width) = (lane.len as u64, inner.len as u64 * shape.unit);
    let whole = |number: u64, side: fn(&Dim) -> isize, by: u64| {
        let by_step = side(&lane) as i64 % by as i64 == 0;
        let outside = outer.iter().all(|dim| side(dim) as i64 % by as i64 == 0);
        number.is_multiple_of(by) && width.is_multiple_of(by) && by_step && outside
    };
    let word = granule.max(4);
    let strip = match kernel {
        Kernel::Columns => {
            // Short columns: several strips' worth, as long as a row's words are one block's.
            let room = (STAGE / steps).max(STRIP).min(width.next_power_of_two().max(STRIP));
            let most = u64::from(COLUMN_THREADS) * granule;
            let power = 1 << room.ilog2();
            if most < STRIP { STRIP } else { power.min(most).min(2048) }
        }
        // Wider ones were much slower where clusters hold them.
        _ => STRIP,
    };
    let strips = width.div_ceil(strip);
    let all = count(&outer) * strips;
    let params = Columns {
        src,
        dst,
        src_step: lane.src as i64,
        dst_step: lane.dst as i64,
        steps,
        width,
        strip: Axis::count(strips),
        unit: Axis::count(shape.unit / granule),
        strips: all,
        lengths_step: inner.lengths as i64,
        strip_shift: strip.ilog2(),
        vectors: u32::from(whole(src, |dim| dim.src, 16)),
        words: u32::from(whole(dst, |dim| dim.dst, word)),
        rows: choose::cluster_rows(steps) as u32,
        pitch: choose::cluster_pitch(steps) as u32,
        unused: 0,
        lengths,
        outer: Loops::new(&axes(&outer), None),
    };
    // Blocks that fill a multiprocessor each: those beside each other keep pace, the more the farther
    // apart rows lie. Columns of bytes have too much else to do.
    let alone = 2 * steps * strip > limits.shared as u64 && all >= MANY_STRIPS;
    let (columns, together) = match lane.src.unsigned_abs() {
        _ if !limits.clusters || !alone || granule == 1 => (Family::Columns, 1),
        step if step >= FAR && granule >= 4 => (Family::ColumnsFour, 4),
        _ => (Family::ColumnsTwo, 2),
    };
    let (family, blocks, shared) = match kernel {
        Kernel::Columns => (columns, all.next_multiple_of(together), steps * strip),
        Kernel::ClusterColumns => {
            (Family::ColumnsCluster, all * choose::CLUSTER, choose::cluster_shared(steps))
        }
        _ => (Family::ColumnsDirect, all, 0),
    };
    let (entry, shared) = (Entry(family, granule as u8), shared as u32);
    Job { entry, blocks, threads: COLUMN_THREADS, shared, params: AnyParams::Columns(params) }
}

fn packed(plan: &Plan, shape: &Shape, at: Site, lengths: Lengths) -> Job {
    let (bits, order) = match plan.unit().grain {
        Grain::Packed { bits, order } => (bits, order),
        Grain::Byte => (8, BitOrder::LowFirst),
    };
    let per_byte = 8 / i64::from(bits);
    let mut all: SmallVec<[Axis; 8]> = shape
        .dims
        .iter()
        .map(|dim| {
            let mut one = axis(dim);
            one.dst = one.dst.abs();
            (one.mul, one.shift) = divisor(one.dst as u64);
            one
        })
        .collect();
    if shape.unit > 1 || all.is_empty() {
        let (mul, shift) = divisor(1);
        all.push(Axis { len: shape.unit, mul, src: 1, dst: 1, lengths: 0, shift, mul32: 0 });
    }
    let inner = all[all.len() - 1];
    let prefix_back = shape.prefix.is_some_and(|prefix| shape.dims[prefix].dst < 0);
    let (start, end) = (plan.dst().start as i64, plan.dst().end as i64);
    let first = start / per_byte;
    let first_chunk = first - (at.dst as i64 + first) % 16;
    let threads = (((end + per_byte - 1) / per_byte - first_chunk) as u64).div_ceil(16);
    let params = Packed {
        src: at.src,
        dst: at.dst,
        threads,
        src_origin: shape.src,
        src_begin: plan.src().start as i64 / per_byte * per_byte,
        src_end: (plan.src().end as i64 + per_byte - 1) / per_byte * per_byte,
        dst_begin: start,
        dst_end: end,
        first_chunk,
        bits_log2: bits.ilog2(),
        high_first: u32::from(order == BitOrder::HighFirst),
        seals: u32::from(plan.seals_last_byte()),
        prefix_back: u32::from(prefix_back),
        row: u32::from(inner.src.abs() == 1 && inner.dst == 1 && inner.lengths == 0),
        src_back: u32::from(inner.src < 0),
        lengths,
        loops: Loops::new(&all, shape.prefix),
    };
    // One row backward is the same for all of its vectors.
    let flips = all.len() == 1 && params.row == 1 && params.src_back == 1 && shape.prefix.is_none();
    let family = if flips { Family::PackedFlip } else { Family::Packed };
    flat(family, 0, threads, AnyParams::Packed(params))
}
