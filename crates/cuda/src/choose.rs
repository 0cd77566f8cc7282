//! The choice of a kernel for a plan: a table, and nothing else chooses.
//!
//! A call runs on the first kernel whose row applies. What a row says has to be enough for its kernel
//! to be right, whatever is above it. Whether a kernel is worth having is measured: the percentages say
//! by how much calls take longer without it, on the next one that applies (H200, 2026-11-18, most
//! tensors have 1 GiB, `bench-gpu --without`).

use crate::constants::{FEW, MANY};
use crate::facts::{ColumnFacts, Facts, MOST_DENSE, RowFacts, WIDE_UNIT, cut_from, short_to};
use crate::kernel::Kernel;
use crate::limits::Limits;
use crate::shape::{Addresses, Shape};
use retrograde::{Grain, Plan};

/// A kernel, the variant of it, and what it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    /// The width in the name of the kernel's function.
    pub(crate) variant: u8,
    /// Each unit is a row of its own, of pieces of so many bytes that keep their order.
    pub(crate) pieces: Option<u64>,
    /// Blocks that run in step.
    pub(crate) blocks: u64,
}

/// A row of the table: a kernel, and where it is chosen.
struct Row {
    kernel: Kernel,
    calls: Calls,
    by: By,
    when: When,
}

/// Calls that a kernel can run.
#[derive(PartialEq, Eq)]
enum Calls {
    Apart,
    InPlace,
    Both,
}

/// What a kernel moves, which decides the variant of it.
enum By {
    /// Nothing that variants differ in.
    One,
    /// Units of the plan.
    Unit,
    /// Pieces that divide the units, and all steps and addresses.
    Piece,
    /// The same, of units that are rows.
    Pieces,
    /// Vectors of units that are rows.
    Vectors,
    /// The same, by blocks that stage adjacent strips of columns in step.
    Strips,
    /// Pieces of at most a word.
    Word,
    /// Units that the kernels that stage rows know, or any others.
    Staged,
}

/// Where a kernel is chosen.
enum When {
    Always,
    /// Calls of any shape.
    Call(fn(&Facts<'_>) -> bool),
    /// Units that are contiguous on both sides.
    Rows(fn(&Facts<'_>, &RowFacts) -> bool),
    /// Adjacent lanes, each with a length.
    Columns(fn(&Facts<'_>, &ColumnFacts<'_>) -> bool),
}

const fn row(kernel: Kernel, calls: Calls, by: By, when: When) -> Row {
    Row { kernel, calls, by, when }
}

/// Packed elements.
const PACKED: &[Row] = &[
    // The shift is uniform for all vectors.
    // 44 % (u4 and u1, 1 GiB).
    row(Kernel::PackedFlips, Calls::Both, By::One, When::Call(|f| f.flips_packed_row())),
    // One kernel for both would take 16 % longer (u4 [32768,32768]).
    row(
        Kernel::PackedMore,
        Calls::Both,
        By::One,
        When::Call(|f| f.shape.zero || f.shape.segments.is_some()),
    ),
    row(
        Kernel::Packed,
        Calls::Both,
        By::One,
        When::Call(|f| !f.shape.zero && f.shape.segments.is_none()),
    ),
];

/// Elements that are looked up in a table; in place, all but short rows are read from a copy. Not measured without
/// each of these.
const TABLES: &[Row] = &[
    row(
        Kernel::SegmentRowTable,
        Calls::Both,
        By::Unit,
        When::Rows(|f, r| !f.is_packed && f.shape.unit == 1 && segments_of_units(f, r)),
    ),
    row(
        Kernel::ShortRowTable,
        Calls::Both,
        By::Unit,
        When::Rows(|f, r| {
            let bytes = !f.is_packed && f.shape.unit == 1;
            bytes && f.shape.segments.is_none() && r.stacked && r.alone && r.bytes < short_to(1)
        }),
    ),
    row(
        Kernel::StagedRowTable,
        Calls::Both,
        By::Unit,
        When::Rows(|f, r| {
            !f.is_packed && f.shape.unit == 1 && f.shape.segments.is_none() && r.bytes >= 32
        }),
    ),
    row(Kernel::PackedTable, Calls::Both, By::One, When::Always),
];

/// A dimension that offsets cut into segments.
const SEGMENTS: &[Row] = &[
    // 33 % (c128), 110 % (f64) to 1,272 % (u8), segments of 1 KiB.
    row(Kernel::SegmentRows, Calls::Apart, By::Unit, When::Rows(segments_of_units)),
    // 42 % (c128) to 959 % (u8), segments of 1 KiB.
    row(Kernel::SegmentRowSwaps, Calls::InPlace, By::Unit, When::Rows(segments_of_units)),
    // 141 % (f32 [262144,255], in place) to 930 % (u8 [65536,4095]). Units of fewer pieces are as fast
    // without it.
    row(
        Kernel::SegmentUnits,
        Calls::Both,
        By::One,
        When::Call(|f| {
            let pieces = f.shape.unit / f.granule;
            f.cuts_innermost() && f.granule < 16 && f.shape.unit >= WIDE_UNIT && pieces >= 64
        }),
    ),
    // 196 % (100 rows of f32 [262144,256]) to 297 % (4 of f32 [2097152,33]).
    row(Kernel::SegmentBlocks, Calls::Apart, By::Piece, When::Call(|f| f.cuts_innermost())),
    // 194 % (100 rows of f32 [262144,256]) to 318 % (f32 [1048576,63]).
    row(Kernel::SegmentSwaps, Calls::InPlace, By::Piece, When::Call(|f| f.cuts_innermost())),
    row(Kernel::SegmentStrided, Calls::Both, By::Piece, When::Always),
];

/// All others.
const UNITS: &[Row] = &[
    // Rows.
    // 4 % (f32 axis 0); as fast as word flips where these apply.
    row(
        Kernel::AlignedRows,
        Calls::Apart,
        By::Unit,
        When::Rows(|f, r| f.natural && r.whole && r.long && !r.by_length && !f.shape.zero),
    ),
    // 1 % (f32 [4194304,64]), 3 % (c128 [4194304,16]).
    row(
        Kernel::RowSwaps,
        Calls::InPlace,
        By::Unit,
        When::Rows(|f, r| f.natural && r.whole && !r.by_length && r.alone && r.bytes < 4096),
    ),
    // Shorter rows are staged several at a time.
    // 8 % (f64) to 11 % (u8 lanes).
    row(Kernel::CutRows, Calls::Apart, By::Unit, When::Rows(cuts)),
    // In such rows half of all vectors contain an end. From 64 bytes on, vectors of wide units are
    // assembled as fast.
    // 14 % (u8 [8388608,100]), 24 % (f32 [8388608,15]).
    row(
        Kernel::BriefRows,
        Calls::Both,
        By::Unit,
        When::Rows(|f, r| {
            let most = if f.shape.unit < 4 { 112 } else { 63 };
            f.natural && r.by_length && f.is_short(r) && r.bytes <= most
        }),
    ),
    // 4 % (f32 RGB, 704 pixels) to 145 % (u8 [2097152,512]).
    row(Kernel::ShortRows, Calls::Both, By::Unit, When::Rows(|f, r| f.is_short(r))),
    // Shorter rows would take a warp each.
    // 145 % (f32) to 933 % (RGB); twice that with lengths.
    row(
        Kernel::StagedSwaps,
        Calls::InPlace,
        By::Staged,
        When::Rows(|f, r| f.shape.unit < WIDE_UNIT && r.bytes >= 512 && r.alone),
    ),
    // 113 % (f32 RGB, 705 pixels), 125 % (f32 [4194304,61]).
    row(
        Kernel::WordFlips,
        Calls::Apart,
        By::Unit,
        When::Rows(|f, r| {
            let words =
                f.natural && matches!(f.shape.unit, 4 | 8) || f.pixels() && f.shape.unit == 12;
            words && r.flipped && r.dense && r.bytes < MOST_DENSE
        }),
    ),
    // 105 % (RGB, 705 pixels), 106 % (u8 [16777216,63]).
    row(
        Kernel::DenseFlips,
        Calls::Apart,
        By::Unit,
        When::Rows(|f, r| {
            // Lengths may have no effect on the movement, and still have to be checked.
            f.shape.unit <= 6 && f.shape.unit != 4 && r.flipped && !f.has_lengths && crosses(f, r)
        }),
    ),
    // Others are as fast by windows or 16 bytes at a time, or faster: 54 % (f32 [8,524288,61] axes 0
    // and 2).
    row(
        Kernel::DenseRows,
        Calls::Apart,
        By::Unit,
        When::Rows(|f, r| crosses(f, r) && (r.by_length || !f.natural)),
    ),
    // 70 % (RGB of u8), 90 % (of u16), 704 pixels.
    row(
        Kernel::AlignedRows,
        Calls::Apart,
        By::Unit,
        When::Rows(|f, r| {
            let whole = r.whole && r.long && r.row.dst > 0 && 3 * f.granule >= f.shape.unit;
            f.pixels() && whole && !r.by_length && !f.shape.zero
        }),
    ),
    // 12 % (f32 [16384,16383] axis 0), 27 % (f32 [512,1024,511]).
    row(
        Kernel::RowPairs,
        Calls::Apart,
        By::Unit,
        When::Rows(|f, r| windows(f, r) && f.natural && !f.one_each(Some(r))),
    ),
    // 15 % (f32 [1048576,255] axis 0); 6 % (f32) and 8 % (f16) by pairs.
    row(Kernel::Rows, Calls::Apart, By::Unit, When::Rows(windows)),
    // Whole vectors are as fast as blocks.
    // 71 % (f32 [16384,16383]) to 328 % (u8) with lengths, 163 % (units of 5 bytes).
    row(
        Kernel::StagedRows,
        Calls::Apart,
        By::Staged,
        When::Rows(|f, r| {
            f.shape.unit < WIDE_UNIT && r.long && (f.granule < 16 || f.natural && r.by_length)
        }),
    ),
    // Adjacent lanes.
    // 7 % (u8 [2048,524288]), 19 % (u8 lanes).
    row(
        Kernel::ColumnsBytes,
        Calls::Both,
        By::Piece,
        When::Columns(|_, c| c.staged() && c.bytes()),
    ),
    // 56 % (f32 [2048,131072]) to 283 % (f32 [512,524288]).
    row(
        Kernel::ColumnsZero,
        Calls::Both,
        By::Strips,
        When::Columns(|f, c| c.staged() && f.shape.zero),
    ),
    // Four blocks in step instead of two: 3 % (f16 [2048,262144]), 4 % (f32 lanes, axis 0). Two
    // instead of one: 5 % (f32 lanes, axis 1).
    row(
        Kernel::Columns,
        Calls::Both,
        By::Strips,
        When::Columns(|f, c| c.staged() && !f.shape.zero),
    ),
    // 8 % (u8 [32768,32768]), 9 % (f32 [16384,16384]).
    row(Kernel::ClusterColumns, Calls::Both, By::Word, When::Columns(|_, c| c.clusters())),
    // 5 % (f32 [40000,6720]), 8 % (f32 [100000,2688]).
    row(
        Kernel::ScratchColumns,
        Calls::Both,
        By::Piece,
        When::Columns(|_, c| c.scratch() && c.narrow_scratch()),
    ),
    // 26 % (f32 [100000,2684]), 169 % (u8 [100000,10736]).
    row(Kernel::ScratchColumnsWide, Calls::Both, By::Piece, When::Columns(|_, c| c.scratch())),
    // Not measured: for what is too small for scratch memory, and while a graph is captured.
    row(Kernel::DirectColumns, Calls::Apart, By::Piece, When::Columns(|f, _| f.granule < 16)),
    // Any other order of dimensions.
    // 49 % (c128) to 1,164 % (u8).
    row(Kernel::Tiles, Calls::Apart, By::Unit, When::Call(|f| f.transposes())),
    // 15 % to 17 % (f32 [512,512,1024]).
    row(
        Kernel::RowBlocks,
        Calls::Apart,
        By::Vectors,
        When::Call(|f| f.blocks() && f.shape.prefix.is_some()),
    ),
    // 4 % (c128).
    row(
        Kernel::AlignedRows,
        Calls::Apart,
        By::Vectors,
        When::Call(|f| f.blocks() && !f.shape.zero),
    ),
    // 29 % (f32 [512,1024,511]). A warp stages a unit, so shorter ones would be slow.
    row(
        Kernel::StagedRows,
        Calls::Apart,
        By::Pieces,
        When::Call(|f| f.wide() && f.shape.prefix.is_some() && f.shape.unit >= 960),
    ),
    // 54 % (f32 [512,8192,63] with lengths).
    row(Kernel::RowPairs, Calls::Apart, By::Pieces, When::Call(|f| f.wide() && !f.one_each(None))),
    row(Kernel::Rows, Calls::Apart, By::Pieces, When::Call(|f| f.wide())),
    // Narrower blocks trade places piece by piece.
    // 16 % (f32 axis 0), 49 % (f32 [512,512,256] with lengths).
    row(
        Kernel::BlockSwaps,
        Calls::InPlace,
        By::Vectors,
        When::Call(|f| f.blocks() && f.shape.unit >= 512 && !f.shape.zero),
    ),
    // Shorter runs of output are written piece by piece. The two innermost dimensions are not among
    // the outer ones.
    // 178 % (f32 [33554432,8], transposed), 433 % (u8 [134217728,7]).
    row(
        Kernel::Gather,
        Calls::Apart,
        By::Piece,
        When::Call(|f| gathers(f) && f.shape.prefix.is_none()),
    ),
    // One kernel for both would take 88 % (u8 [134217728,7]) and 20 % (f32 [33554432,8]) longer.
    row(
        Kernel::GatherPrefix,
        Calls::Apart,
        By::Piece,
        When::Call(|f| gathers(f) && f.shape.prefix.is_some()),
    ),
    row(Kernel::Strided, Calls::Apart, By::Piece, When::Always),
    row(Kernel::Swaps, Calls::InPlace, By::Piece, When::Always),
];

/// Segments of contiguous units.
fn segments_of_units(f: &Facts<'_>, r: &RowFacts) -> bool {
    let forward = r.row.src > 0 && r.row.dst > 0;
    f.cuts_innermost() && f.natural && forward && r.bytes >= 256
}

/// Rows of vectors with a length each.
fn cuts(f: &Facts<'_>, r: &RowFacts) -> bool {
    let short = f.is_short(r) && r.bytes < cut_from(f.shape.unit);
    f.natural && r.by_length && r.whole && r.bytes < MOST_DENSE && !short
}

/// Contiguous rows so short that vectors should cross their ends.
fn crosses(f: &Facts<'_>, r: &RowFacts) -> bool {
    let few = match (f.natural, r.by_length) {
        (_, true) => 512,
        (true, false) => 4096,
        (false, false) => MOST_DENSE,
    };
    let natural = f.natural && f.shape.unit < 16;
    let pixels = f.pixels() && (r.by_length || !r.whole);
    (natural || pixels) && r.dense && r.bytes < few
}

/// Rows at any alignment.
fn windows(f: &Facts<'_>, r: &RowFacts) -> bool {
    let natural = f.natural && f.shape.unit < 16;
    (natural || f.pixels()) && r.long && !r.by_length && !f.shape.zero
}

/// Runs of output that pieces of the input are gathered for.
fn gathers(f: &Facts<'_>) -> bool {
    f.granule < 16 && f.shape.run() >= 32 && f.axes() <= FEW + 2
}

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
    choose(plan, &Shape::of(plan), Addresses { src: 0, dst: 0 }, limits, false).kernel
}

/// The same for [`Stream::execute_in_place`](crate::Stream::execute_in_place).
pub fn kernel_in_place(plan: &Plan, limits: &Limits) -> Kernel {
    choose(plan, &Shape::of(plan), Addresses { src: 0, dst: 0 }, limits, true).kernel
}

/// The kernels of the table, in order.
pub fn kernels() -> impl Iterator<Item = Kernel> {
    [PACKED, TABLES, SEGMENTS, UNITS].into_iter().flatten().map(|row| row.kernel)
}

/// The choice for a call; if it is in place, the plan must allow it, and both addresses are the same.
pub(crate) fn choose(
    plan: &Plan,
    shape: &Shape,
    at: Addresses,
    limits: &Limits,
    in_place: bool,
) -> Choice {
    // A whole packed tensor that keeps its order still gets its unused bits cleared.
    let stays = in_place && plan.keeps_order() && !plan.seals_last_byte() && !shape.looks_up;
    if plan.is_empty() || stays {
        return Choice { kernel: Kernel::None, variant: 0, pieces: None, blocks: 1 };
    }
    let table = match plan.unit().grain {
        _ if shape.looks_up => TABLES,
        Grain::Packed { .. } => PACKED,
        Grain::Byte if shape.segments.is_some() => SEGMENTS,
        Grain::Byte => UNITS,
    };
    let facts = Facts::of(plan, shape, at, limits, in_place);
    let (rows, columns) = (facts.row(), facts.columns());
    let applies = |row: &&Row| {
        let calls = if in_place { Calls::InPlace } else { Calls::Apart };
        (row.calls == Calls::Both || row.calls == calls)
            && match row.when {
                When::Always => true,
                When::Call(when) => when(&facts),
                When::Rows(when) => rows.as_ref().is_some_and(|rows| when(&facts, rows)),
                When::Columns(when) => columns.as_ref().is_some_and(|lanes| when(&facts, lanes)),
            }
    };
    let mut found = table.iter().filter(applies);
    let first = found.next();
    let next = first
        .filter(|row| limits.without == Some(row.kernel))
        .and_then(|first| found.find(|row| row.kernel != first.kernel));
    let row = next.or(first).expect("the last rows apply to every call");
    let (variant, pieces) = row.by.moves(&facts);
    let blocks = match (&row.by, &columns) {
        (By::Strips, Some(columns)) if columns.in_step() && columns.far() => 4,
        (By::Strips, Some(columns)) if columns.in_step() => 2,
        _ => 1,
    };
    Choice { kernel: row.kernel, variant, pieces, blocks }
}

impl By {
    /// The variant of a kernel, and the pieces of units that are rows.
    fn moves(&self, facts: &Facts<'_>) -> (u8, Option<u64>) {
        let (unit, granule) = (facts.shape.unit, facts.granule);
        match self {
            By::One => (0, None),
            By::Unit => (unit as u8, None),
            By::Piece | By::Strips => (granule as u8, None),
            By::Pieces => (granule as u8, Some(granule)),
            By::Vectors => (0, Some(16)),
            By::Word => (granule.min(4) as u8, None),
            By::Staged => (staged_variant(facts), None),
        }
    }
}

/// The variants of the kernels that stage rows for unaligned units of two bytes, and for units of
/// other widths.
const LOOSE: u8 = 22;
const OTHER: u8 = 0;

/// Units that divide a vector, pixels, and units of which a few are whole words.
fn staged_variant(facts: &Facts<'_>) -> u8 {
    match facts.shape.unit {
        unit if facts.natural => unit as u8,
        unit if facts.pixels() => unit as u8,
        5 => 5,
        2 => LOOSE,
        _ => OTHER,
    }
}

/// The most dimensions that any kernel supports.
pub(crate) const MOST_DIMS: usize = MANY - 1;
