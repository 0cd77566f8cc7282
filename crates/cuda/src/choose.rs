//! Chooses the kernel for a plan: the only place, which `explain` can query.

use crate::kernel::{Kernel, Limits};
use crate::params::{FEW, MANY};
use crate::scratch::MOST_SCRATCH;
use crate::shape::{Shape, Site};
use retrograde::{Flow, Grain, Plan};

/// A kernel, and the width of the unit that it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    pub(crate) width: Width,
}

/// The unit that a kernel moves at a time, with its width in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// No unit: the kernel moves nothing, or packed elements, which are narrower than a byte.
    None,
    /// Units of the plan: naturally aligned, or pixels (3, 6 or 12 bytes) with the alignment that
    /// the kernel needs.
    Unit(u64),
    /// Units of the plan at any byte address: pixels in rows, and staged two-byte units.
    Loose(u64),
    /// Units of a width for which the staged row kernel has no variant.
    Other,
    /// Granules, of which each unit is a whole number.
    Granule(u64),
    /// Vectors of a unit that is a whole row, copied in forward order.
    Vectors,
}

impl Width {
    /// The width in bytes that is passed to the kernels.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Width::Unit(bytes) | Width::Loose(bytes) | Width::Granule(bytes) => bytes,
            Width::Vectors => 16,
            Width::None | Width::Other => 0,
        }
    }
}

/// The narrowest strip of columns, in bytes.
pub(crate) const STRIP: u64 = 64;
/// Blocks of a cluster, words of a column that one of them takes at a time, and the widths of
/// strips in bytes: at most a cache line, at least a sector of it.
pub(crate) const CLUSTER: u64 = 16;
const CLUSTER_GROUP: u64 = 32;
const CLUSTER_STRIPS: [u64; 3] = [128, 64, SECTOR];
const SECTOR: u64 = 32;

/// Bytes per multiprocessor from which scratch memory is worth two passes.
const SCRATCH_FROM: u64 = 192 * 1024;
/// Strips that pass through scratch memory, at least three of them at a time: bytes of a cache line,
/// or of two.
pub(crate) const LINE: u64 = 128;
pub(crate) const WIDE_STRIP: u64 = 256;

/// Shorter rows do not use kernels that treat the ends of rows separately, if there is a choice.
const LONG_ROW: u64 = 4096;
const LONG_ROW_BY_LENGTH: u64 = 512;
/// Shorter rows are rewritten as a whole in place; in longer ones, the part that stays is not
/// written.
const SHORT_SWAP: u64 = 512;
/// Contiguous rows are counted in 32 bits.
const MOST_DENSE: u64 = 1 << 30;
/// Shorter rows are swapped piece by piece: one warp per row would be too much for them.
const STAGED_ROW: u64 = 512;
/// Shorter rows of whole vectors are reversed in place vector by vector.
const STAGED_FLIP: u64 = 4096;
/// Narrower blocks trade places piece by piece.
const WIDE_SWAP: u64 = 512;
/// Shorter dimensions are not tiled.
const TILE: usize = 16;
/// Shorter rows are gathered, since most of their vectors would be partial. Rows of whole vectors
/// have no partial ones.
const SHORT_ROW: u64 = 256;
const SHORT_VECTORS: u64 = 32;
/// Unaligned units of at least this size are treated as rows; for aligned ones, 16 is enough.
pub(crate) const WIDE_UNIT: u64 = 128;
/// Units of at least this size are staged, if lengths move them.
const WIDE_STAGED: u64 = 960;
/// Shorter runs of output are written piece by piece.
const SHORT_RUN: u64 = 32;
/// The fewest bytes that adjacent lanes must have to be treated as columns.
const NARROW: u64 = 32;

/// The kernel that [`Stream::execute`](crate::Stream::execute) uses for a plan, if its buffers are
/// aligned to 16 bytes, as allocations are.
///
/// ```
/// use retrograde::{DType, Layout, Reverse};
/// use retrograde_cuda::{Kernel, Limits, kernel};
///
/// let rows = Layout::dense(DType::F32, &[64, 64])?;
/// let plan = Reverse::axes([1]).plan(&rows, &rows)?;
/// assert_eq!(kernel(&plan, &Limits::default()), Kernel::AlignedRows);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn kernel(plan: &Plan, limits: &Limits) -> Kernel {
    choose(plan, &Shape::of(plan), Site { src: 0, dst: 0 }, limits).kernel
}

/// The same for [`Stream::execute_in_place`](crate::Stream::execute_in_place).
pub fn kernel_in_place(plan: &Plan, limits: &Limits) -> Kernel {
    choose_in_place(plan, &Shape::of(plan), 0, limits).kernel
}

/// Out of place.
pub(crate) fn choose(plan: &Plan, shape: &Shape, at: Site, limits: &Limits) -> Choice {
    if plan.is_empty() {
        return Choice { kernel: Kernel::None, width: Width::None };
    }
    if plan.unit().grain != Grain::Byte {
        return Choice { kernel: Kernel::Packed, width: Width::None };
    }
    if shape.segments.is_some() {
        return segments(shape, at);
    }
    let found = rows(shape, at)
        .or_else(|| columns(shape, at, limits, false))
        .or_else(|| tiles(shape, at))
        .or_else(|| wide(shape, at));
    found.unwrap_or_else(|| any(shape, at))
}

/// In place; the plan must allow it.
pub(crate) fn choose_in_place(plan: &Plan, shape: &Shape, at: u64, limits: &Limits) -> Choice {
    // A whole packed tensor that keeps its order still gets its unused bits cleared.
    if plan.is_empty() || (plan.keeps_order() && !plan.seals_last_byte()) {
        return Choice { kernel: Kernel::None, width: Width::None };
    }
    if plan.unit().grain != Grain::Byte {
        return Choice { kernel: Kernel::Packed, width: Width::None };
    }
    let site = Site { src: at, dst: at };
    if shape.segments.is_some() {
        let width = Width::Granule(shape.granule(site));
        return Choice { kernel: Kernel::SegmentSwaps, width };
    }
    let found = row_swaps(plan, shape, site)
        .or_else(|| short_swaps(plan, shape, site))
        .or_else(|| staged_swaps(plan, shape, site))
        .or_else(|| columns(shape, site, limits, true))
        .or_else(|| block_swaps(shape, site));
    found.unwrap_or_else(|| Choice {
        kernel: Kernel::Swaps,
        width: Width::Granule(shape.granule(site)),
    })
}

/// Units that are contiguous on both sides.
fn rows(shape: &Shape, at: Site) -> Option<Choice> {
    let (row, outer) = row_of(shape)?;
    let bytes = row.len as u64 * shape.unit;
    let by_length = row.flow == Flow::FlipPrefix;
    let whole = bytes.is_multiple_of(16) && outer_is_aligned(shape, at);
    let vectors = whole && !by_length;
    let long = bytes >= if vectors { SHORT_VECTORS } else { SHORT_ROW };
    let all = bytes * shape.dims[..outer].iter().map(|dim| dim.len as u64).product::<u64>();
    // Rows that run backward in the output are contiguous as well, but `run` does not detect them.
    let dense = bytes >= 16 && row.dst > 0 && shape.run() == all && !shape.zero;
    let granule = shape.granule(at);
    let natural = matches!(shape.unit, 1 | 2 | 4 | 8 | 16) && granule >= shape.unit;
    let words = flips_words(shape);
    let (few, most_dense) = match by_length {
        true => (LONG_ROW_BY_LENGTH, LONG_ROW_BY_LENGTH),
        false if words => (MOST_DENSE, MOST_DENSE),
        false => (LONG_ROW, MOST_DENSE),
    };
    let (cut, most_short) = by_length_from(shape.unit);
    let short = by_length && is_short(shape, at, most_short);
    // Units of 3 or 6 bytes can be assembled from any bytes; those of 12 need words.
    let triples = shape.unit < 12 || granule >= 4;
    let kernel = match shape.unit {
        _ if outer > FEW => None,
        // Of rows that become zero as a whole, the kernel that can stage zeros.
        _ if shape.zero && !by_length => {
            (long && shape.unit < WIDE_UNIT && granule < 16).then_some(Kernel::StagedRows)
        }
        _ if natural && vectors && long => Some(Kernel::AlignedRows),
        _ if natural && by_length && whole && bytes < MOST_DENSE && !(short && bytes < cut) => {
            Some(Kernel::CutRows)
        }
        _ if short => Some(Kernel::ShortRows),
        1 | 2 | 4 | 8 if natural && dense && bytes < few => Some(Kernel::DenseRows),
        3 | 6 | 12 if triples && dense && (!vectors || words) && bytes < most_dense => {
            Some(Kernel::DenseRows)
        }
        _ if !long => None,
        _ if natural && by_length => Some(Kernel::StagedRows),
        _ if natural => Some(Kernel::Rows),
        3 | 6 | 12 if triples && !by_length => Some(Kernel::Pixels),
        // An odd number of whole vectors is as fast as blocks.
        width if width < WIDE_UNIT && granule < 16 => Some(Kernel::StagedRows),
        _ => None,
    };
    let kernel = kernel?;
    let width = match kernel {
        Kernel::StagedRows => staged_width(shape, at),
        // The variant for aligned rows needs whole pieces.
        Kernel::Pixels if !(vectors && row.dst > 0 && granule * 3 >= shape.unit) => {
            Width::Loose(shape.unit)
        }
        _ => Width::Unit(shape.unit),
    };
    Some(Choice { kernel, width })
}

/// Whether rows along one dimension, or a single row, are reversed as a whole.
pub(crate) fn flips_rows(shape: &Shape) -> bool {
    let near = |dim: &retrograde::Dim| dim.src.unsigned_abs() < 1 << 30;
    shape.dims.split_last().is_some_and(|(row, outer)| {
        shape.prefix.is_none() && row.src < 0 && outer.len() <= 1 && outer.iter().all(near)
    })
}

/// The same for units that consist of words.
pub(crate) fn flips_words(shape: &Shape) -> bool {
    matches!(shape.unit, 4 | 8 | 12) && flips_rows(shape)
}

/// Units so wide that each is treated as a row.
fn wide(shape: &Shape, at: Site) -> Option<Choice> {
    if shape.dims.len() > FEW {
        return None;
    }
    let granule = shape.granule(at);
    if granule == 16 {
        return Some(Choice { kernel: Kernel::AlignedRows, width: Width::Vectors });
    }
    let width = Width::Granule(granule);
    let from = if shape.zero { WIDE_UNIT } else { WIDE_STAGED };
    if shape.unit >= from && shape.prefix.is_some() {
        return Some(Choice { kernel: Kernel::StagedRows, width });
    }
    (shape.unit >= WIDE_UNIT).then_some(Choice { kernel: Kernel::Rows, width })
}

/// The row size in bytes from which rows of whole vectors with lengths are moved by vectors, and
/// the size up to which several other rows are staged at a time. Both were measured: the wider the
/// units, the cheaper it is to assemble a vector.
fn by_length_from(unit: u64) -> (u64, u64) {
    match unit {
        1 | 2 => (2048, 4096),
        4 => (1024, 4096),
        8 => (256, 4096),
        16 => (16, 0),
        _ => (0, 10240),
    }
}

/// The innermost dimension, if it is a row, and the number of other dimensions.
pub(crate) fn row_of(shape: &Shape) -> Option<(retrograde::Dim, usize)> {
    let (&row, outer) = shape.dims.split_last()?;
    let adjacent = |stride: isize| stride.unsigned_abs() as u64 == shape.unit;
    let is_row = adjacent(row.src) && adjacent(row.dst) && row.lengths == 0;
    is_row.then_some((row, outer.len()))
}

/// Whether rows, ignoring the steps inside them, begin at multiples of 16.
fn outer_is_aligned(shape: &Shape, at: Site) -> bool {
    let Some((&row, outer)) = shape.dims.split_last() else { return false };
    let low = |stride: isize| (stride as i64 * (row.len as i64 - 1)).min(0);
    let whole = |number: i64| number % 16 == 0;
    whole(at.src as i64 + shape.src + low(row.src))
        && whole(at.dst as i64 + shape.dst + low(row.dst))
        && outer.iter().all(|dim| whole(dim.src as i64) && whole(dim.dst as i64))
}

/// Adjacent lanes, each with a length.
fn columns(shape: &Shape, at: Site, limits: &Limits, in_place: bool) -> Option<Choice> {
    let (&inner, outer) = shape.dims.split_last()?;
    let prefix = shape.prefix.filter(|&prefix| prefix < outer.len())?;
    let width = inner.len as u64 * shape.unit;
    let beside = |stride: isize| stride as i64 == shape.unit as i64;
    if inner.lengths == 0 || !beside(inner.src) || !beside(inner.dst) {
        return None;
    }
    if width < NARROW || outer.len() - 1 > FEW {
        return None;
    }
    let steps = outer[prefix].len as u64;
    let granule = shape.granule(at);
    // Blocks are treated as rows, and so are single vectors if columns of them are too long.
    let blocks = if granule == 16 { 17 } else { WIDE_UNIT };
    if shape.unit >= blocks && !in_place {
        return None;
    }
    if steps * STRIP <= limits.shared as u64 {
        return Some(Choice { kernel: Kernel::Columns, width: Width::Granule(granule) });
    }
    let vectors = width.is_multiple_of(16)
        && [at.src as i64 + shape.src, at.dst as i64 + shape.dst].iter().all(|a| a % 16 == 0)
        && outer.iter().all(|dim| dim.src % 16 == 0 && dim.dst % 16 == 0);
    let piece = granule.min(4);
    let strip = cluster_strip(steps, piece, width, limits);
    let shared = strip.map(|strip| cluster_shared(steps, piece, strip));
    let enough = shape.grains() >= SCRATCH_FROM * limits.multiprocessors as u64;
    // Out of place, single vectors are as fast as rows.
    let scratch = limits.scratch && enough && (in_place || granule < 16);
    let scratch = scratch && 3 * steps * WIDE_STRIP <= MOST_SCRATCH;
    // With one block per multiprocessor, clusters are slower than columns that are not staged, and
    // with two they are slower than scratch memory if cache lines are whole.
    let most = match scratch {
        true if in_lines(shape, at) => shared_by(3, limits),
        false if in_place => limits.shared as u64,
        _ => shared_by(2, limits),
    };
    if limits.clusters && vectors && shared.is_some_and(|shared| shared <= most) {
        return Some(Choice { kernel: Kernel::ClusterColumns, width: Width::Granule(piece) });
    }
    let width = Width::Granule(granule);
    if scratch {
        return Some(Choice { kernel: Kernel::ScratchColumns, width });
    }
    (!in_place && granule < 16).then_some(Choice { kernel: Kernel::DirectColumns, width })
}

/// Whether rows begin where cache lines do, in the input and the output.
pub(crate) fn in_lines(shape: &Shape, at: Site) -> bool {
    let whole = |number: i64| number % LINE as i64 == 0;
    let outer = &shape.dims[..shape.dims.len().saturating_sub(1)];
    whole(at.src as i64 + shape.src)
        && whole(at.dst as i64 + shape.dst)
        && outer.iter().all(|dim| whole(dim.src as i64) && whole(dim.dst as i64))
}

/// Words of each column that a block of a cluster holds, if a step has so many bytes.
pub(crate) fn cluster_words(steps: u64, granule: u64) -> u64 {
    let words = (steps * granule).div_ceil(4);
    words.div_ceil(CLUSTER * CLUSTER_GROUP) * CLUSTER_GROUP
}

/// Shared memory per block of a cluster, in bytes: words of all columns of a strip, and a length
/// each.
pub(crate) fn cluster_shared(steps: u64, granule: u64, strip: u64) -> u64 {
    (cluster_words(steps, granule) + 1) * 4 * (strip / granule)
}

/// The width of the strips that clusters stage: the widest of which a multiprocessor holds three, so
/// that some blocks load while others store, or else the narrowest, if that fits.
pub(crate) fn cluster_strip(steps: u64, granule: u64, width: u64, limits: &Limits) -> Option<u64> {
    let shared = |strip| cluster_shared(steps, granule, strip);
    let wide = CLUSTER_STRIPS.into_iter().filter(|&strip| strip <= width.next_power_of_two());
    let three = wide.into_iter().find(|&strip| shared(strip) <= shared_by(3, limits));
    three.or((shared(SECTOR) <= limits.shared as u64).then_some(SECTOR))
}

/// Shared memory per block, if a multiprocessor holds so many; one KiB of each is reserved.
fn shared_by(blocks: u64, limits: &Limits) -> u64 {
    (limits.shared as u64 + 1024) / blocks - 1024
}

/// Whether rows are shorter than this many bytes and contiguous on both sides.
fn is_short(shape: &Shape, at: Site, most: u64) -> bool {
    let Some((row, outer)) = row_of(shape) else { return false };
    let bytes = row.len as u64 * shape.unit;
    let granule = shape.granule(at);
    let known = match shape.unit {
        1 | 2 | 4 | 8 => granule >= shape.unit,
        // Units of 3 or 6 bytes can be assembled from any bytes; those of 12 need words.
        3 | 6 => true,
        12 => granule >= 4,
        _ => false,
    };
    let forward = row.dst > 0 && (row.flow != Flow::FlipPrefix || row.src > 0);
    let mut run = bytes as i64;
    let follow = shape.dims[..outer].iter().rev().all(|dim| {
        let follows = dim.src == dim.dst && dim.dst as i64 == run;
        run *= dim.len as i64;
        follows
    });
    known && forward && (16..most).contains(&bytes) && outer <= FEW && follow
}

/// Short rows, if nothing else is reversed, as a whole or up to a length.
fn short_swaps(plan: &Plan, shape: &Shape, at: Site) -> Option<Choice> {
    let found = reverses_rows_only(plan, shape) && is_short(shape, at, SHORT_SWAP);
    found.then_some(Choice { kernel: Kernel::ShortRows, width: Width::Unit(shape.unit) })
}

/// The variant of the kernels that stage rows: units that divide a vector, or pixels; unaligned
/// units of two bytes; all others.
fn staged_width(shape: &Shape, at: Site) -> Width {
    match shape.unit {
        1 | 2 | 4 | 8 | 16 if shape.granule(at) >= shape.unit => Width::Unit(shape.unit),
        // Units of 3 or 6 bytes can be assembled from any bytes; those of 12 need words.
        3 | 6 => Width::Unit(shape.unit),
        12 if shape.granule(at) >= 4 => Width::Unit(12),
        // Four of them are whole words.
        5 => Width::Unit(5),
        2 => Width::Loose(2),
        _ => Width::Other,
    }
}

/// The dimension along which the input's elements are contiguous, if it is not the output's
/// innermost one and both are long enough for tiles.
pub(crate) fn transposed_dim(shape: &Shape) -> Option<usize> {
    let (a, others) = shape.dims.split_last()?;
    let together = |dim: &retrograde::Dim| dim.src.unsigned_abs() as u64 == shape.unit;
    let at = others.iter().rposition(together)?;
    let b = &others[at];
    let free = shape.prefix.is_none_or(|prefix| {
        prefix < others.len() && prefix != at && a.lengths == 0 && b.lengths == 0
    });
    let is_it = a.dst as i64 == shape.unit as i64 && !together(a) && free;
    (is_it && a.len >= TILE && b.len >= TILE).then_some(at)
}

fn tiles(shape: &Shape, at: Site) -> Option<Choice> {
    let natural = matches!(shape.unit, 1 | 2 | 4 | 8 | 16) && shape.granule(at) >= shape.unit;
    let found =
        natural && !shape.zero && transposed_dim(shape).is_some() && shape.dims.len() - 2 <= FEW;
    found.then_some(Choice { kernel: Kernel::Tiles, width: Width::Unit(shape.unit) })
}

fn any(shape: &Shape, at: Site) -> Choice {
    let granule = shape.granule(at);
    // The granules of a unit are a dimension too; the two innermost ones are not among the outer
    // ones.
    let axes = shape.dims.len() + usize::from(shape.unit > granule);
    let gathers = granule < 16 && shape.run() >= SHORT_RUN && axes <= FEW + 2;
    let kernel = if gathers { Kernel::Gather } else { Kernel::Strided };
    Choice { kernel, width: Width::Granule(granule) }
}

/// A dimension that is cut into segments.
fn segments(shape: &Shape, at: Site) -> Choice {
    let granule = shape.granule(at);
    let row = row_of(shape).filter(|(row, _)| row.src > 0 && row.dst > 0);
    let long = row.is_some_and(|(row, _)| row.len as u64 * shape.unit >= SHORT_ROW);
    let natural = matches!(shape.unit, 1 | 2 | 4 | 8) && granule >= shape.unit;
    let innermost = cuts_innermost(shape, granule);
    if innermost && natural && long {
        return Choice { kernel: Kernel::SegmentRows, width: Width::Unit(shape.unit) };
    }
    let kernel = if innermost { Kernel::SegmentBlocks } else { Kernel::SegmentStrided };
    Choice { kernel, width: Width::Granule(granule) }
}

/// Whether the innermost dimension is cut into segments, and the kernels for that can count the
/// pieces of a unit.
pub(crate) fn cuts_innermost(shape: &Shape, piece: u64) -> bool {
    let innermost = shape.segments.is_some_and(|at| at + 1 == shape.dims.len());
    innermost && shape.dims.len() - 1 <= FEW && shape.unit / piece < MOST_DENSE
}

/// One flipped dimension, the innermost, of aligned rows.
fn row_swaps(plan: &Plan, shape: &Shape, at: Site) -> Option<Choice> {
    let (row, outer) = row_of(shape)?;
    let flips = plan.dims().iter().filter(|dim| dim.flow == Flow::Flip).count();
    let natural = matches!(shape.unit, 1 | 2 | 4 | 8 | 16);
    let bytes = row.len as u64 * shape.unit;
    let whole = bytes.is_multiple_of(16) && outer_is_aligned(shape, at);
    let is_it = shape.prefix.is_none() && flips == 1 && row.src < 0;
    (is_it && natural && whole && outer <= FEW && bytes < STAGED_FLIP)
        .then_some(Choice { kernel: Kernel::RowSwaps, width: Width::Unit(shape.unit) })
}

/// Whether only rows are reversed, as a whole or up to a length.
fn reverses_rows_only(plan: &Plan, shape: &Shape) -> bool {
    let Some((row, outer)) = row_of(shape) else { return false };
    let flips = plan.dims().iter().filter(|dim| dim.flow == Flow::Flip).count();
    match shape.prefix {
        Some(prefix) => prefix == outer && flips == 0,
        None => flips == 1 && row.src < 0,
    }
}

fn staged_swaps(plan: &Plan, shape: &Shape, at: Site) -> Option<Choice> {
    let (row, outer) = row_of(shape)?;
    let fits = shape.unit < WIDE_UNIT && row.len as u64 * shape.unit >= STAGED_ROW && outer <= FEW;
    (fits && reverses_rows_only(plan, shape))
        .then_some(Choice { kernel: Kernel::StagedSwaps, width: staged_width(shape, at) })
}

/// Blocks of whole vectors that trade places.
fn block_swaps(shape: &Shape, at: Site) -> Option<Choice> {
    let fits = shape.granule(at) == 16 && shape.unit >= WIDE_SWAP && shape.dims.len() <= FEW;
    (fits && !shape.zero).then_some(Choice { kernel: Kernel::BlockSwaps, width: Width::Vectors })
}

/// The most dimensions that any kernel supports.
pub(crate) const MOST_DIMS: usize = MANY - 1;
