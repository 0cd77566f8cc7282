//! Which kernel a plan runs on: one place, and it can be asked.

use crate::params::{FEW, MANY};
use crate::shape::{Shape, Site};
use retrograde::{Flow, Grain, Plan};
use std::fmt;

/// A way to move elements, named as in the files of `kernels/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Nothing moves.
    None,
    /// Rows of whole 16-byte vectors, one a thread.
    AlignedRows,
    /// Rows that begin or end anywhere, or of which only the start is reversed.
    Rows,
    /// Rows of 3-byte units, and of 6- and 12-byte ones if they are aligned.
    Pixels,
    /// Short rows without gaps between them.
    DenseRows,
    /// Rows of units of any other width.
    OddRows,
    /// Lanes side by side, staged in shared memory.
    Columns,
    /// Lanes side by side, staged in the shared memory of 16 blocks.
    ClusterColumns,
    /// Lanes side by side that are too long to be staged.
    DirectColumns,
    /// Any order of reading, 16 bytes of output at a time.
    Gather,
    /// Piece by piece.
    Strided,
    /// Elements of 1, 2 or 4 bits.
    Packed,
    /// In place: aligned rows, vectors trade places.
    RowSwaps,
    /// In place: pieces trade places.
    Swaps,
}

impl Kernel {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::None => "none",
            Kernel::AlignedRows => "aligned rows",
            Kernel::Rows => "rows",
            Kernel::Pixels => "pixels",
            Kernel::DenseRows => "dense rows",
            Kernel::OddRows => "odd rows",
            Kernel::Columns => "columns",
            Kernel::ClusterColumns => "cluster columns",
            Kernel::DirectColumns => "direct columns",
            Kernel::Gather => "gather",
            Kernel::Strided => "strided",
            Kernel::Packed => "packed",
            Kernel::RowSwaps => "row swaps",
            Kernel::Swaps => "swaps",
        }
    }

    /// What it does, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Kernel::None => "nothing to move",
            Kernel::AlignedRows => "rows of 16-byte vectors, one a thread",
            Kernel::Rows => "rows by 16-byte windows, wherever they begin and end",
            Kernel::Pixels => "rows of units of three pieces, a vector at a time",
            Kernel::DenseRows => "short rows without gaps, a vector at a time across their ends",
            Kernel::OddRows => "rows of units of any width, piece by piece",
            Kernel::Columns => "lanes side by side, staged in shared memory",
            Kernel::ClusterColumns => {
                "lanes side by side, staged in the shared memory of 16 blocks"
            }
            Kernel::DirectColumns => "lanes side by side, too long to be staged",
            Kernel::Gather => "16 bytes of output at a time, read piece by piece",
            Kernel::Strided => "piece by piece",
            Kernel::Packed => "packed elements, by words where a row allows",
            Kernel::RowSwaps => "in place: vectors of aligned rows trade places",
            Kernel::Swaps => "in place: pieces trade places",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the choice depends on, beside plan and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of shared memory that one block may have.
    pub shared: usize,
    /// Whether 16 blocks can form a cluster.
    pub clusters: bool,
    /// Vectors of a row from which on a thread takes two of them.
    pub pairs_from: u64,
    /// Vectors of a row with a length from which on a thread takes four of them.
    pub fours_from: u64,
}

impl Limits {
    /// With less than a device has.
    pub fn at_most(self, shared: usize, clusters: bool) -> Self {
        Limits { shared: self.shared.min(shared), clusters: self.clusters && clusters, ..self }
    }

    /// By compute capability and shared memory per block.
    pub(crate) fn new(major: u32, shared: usize) -> Self {
        // Clusters of 16 came with 9.0; consumer chips (12.x) form none of that size.
        Limits { shared, clusters: matches!(major, 9 | 10), ..Limits::default() }
    }
}

impl Default for Limits {
    /// Those of the H100 and H200, for questions without a device.
    fn default() -> Self {
        Limits { shared: 227 * 1024, clusters: true, pairs_from: 128, fours_from: 512 }
    }
}

/// A kernel, and the width in bytes of what it moves: a unit of rows, a granule elsewhere; 0 for
/// rows that go forward, and for pixels in rows that are not aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    pub(crate) width: u64,
}

/// Bytes of a strip of columns, at least.
pub(crate) const STRIP: u64 = 64;
/// Blocks of a cluster, and rows that one of them takes at a time.
pub(crate) const CLUSTER: u64 = 16;
pub(crate) const CLUSTER_GROUP: u64 = 32;

/// Rows shorter than this do not get kernels that treat their ends apart, if there is a choice.
const LONG_ROW: u64 = 4096;
/// Rows shorter than this are gathered: they would be all ends; rows of whole vectors have none.
const SHORT_ROW: u64 = 256;
const SHORT_VECTORS: u64 = 32;
/// Units from here on are rows by themselves, if they are not aligned; if they are, 16 will do.
const WIDE_UNIT: u64 = 128;
/// Runs of output shorter than this are written piece by piece.
const SHORT_RUN: u64 = 32;
/// Lanes side by side make up at least so many bytes to be columns.
const NARROW: u64 = 32;

/// The kernel that [`Stream::execute`](crate::Stream::execute) takes for a plan, given buffers
/// that begin at multiples of 16, as allocations do.
///
/// ```
/// use retrograde::{DType, Layout, Reverse};
/// use retrograde_gpu::{Kernel, Limits, kernel};
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
        return Choice { kernel: Kernel::None, width: 0 };
    }
    if plan.unit().grain != Grain::Byte {
        return Choice { kernel: Kernel::Packed, width: 0 };
    }
    let found = rows(shape, at).or_else(|| columns(shape, at, limits, false));
    found.unwrap_or_else(|| any(shape, at))
}

/// In place; the plan fits.
pub(crate) fn choose_in_place(plan: &Plan, shape: &Shape, at: u64, limits: &Limits) -> Choice {
    // A whole packed tensor that stays as it is still gets its unused bits cleared.
    if plan.is_empty() || (plan.keeps_order() && !plan.seals_last_byte()) {
        return Choice { kernel: Kernel::None, width: 0 };
    }
    if plan.unit().grain != Grain::Byte {
        return Choice { kernel: Kernel::Packed, width: 0 };
    }
    let site = Site { src: at, dst: at };
    let found = row_swaps(plan, shape, site).or_else(|| columns(shape, site, limits, true));
    found.unwrap_or_else(|| Choice { kernel: Kernel::Swaps, width: shape.granule(site) })
}

/// Units that lie together on both sides, or wide units.
fn rows(shape: &Shape, at: Site) -> Option<Choice> {
    if let Some((row, outer)) = row_of(shape) {
        let bytes = row.len as u64 * shape.unit;
        let by_length = row.flow == Flow::FlipPrefix;
        let vectors = !by_length && bytes.is_multiple_of(16) && outer_is_aligned(shape, at);
        let long = bytes >= if vectors { SHORT_VECTORS } else { SHORT_ROW };
        let all = bytes * shape.dims[..outer].iter().map(|dim| dim.len as u64).product::<u64>();
        // Rows that run backward in the output lie together as well, but not as `run` sees it.
        let dense = bytes >= 16 && row.dst > 0 && shape.run() == all;
        let granule = shape.granule(at);
        let natural = matches!(shape.unit, 1 | 2 | 4 | 8 | 16) && granule >= shape.unit;
        let kernel = match shape.unit {
            _ if outer > FEW => None,
            _ if natural && vectors && long => Some(Kernel::AlignedRows),
            1 | 2 | 4 | 8 if natural && dense && bytes < LONG_ROW => Some(Kernel::DenseRows),
            3 if dense && !vectors => Some(Kernel::DenseRows),
            _ if !long => None,
            _ if natural => Some(Kernel::Rows),
            // Granules of a unit's third: 1, 2 or 4.
            3 | 6 | 12 if vectors && row.dst > 0 && granule * 3 >= shape.unit => {
                Some(Kernel::Pixels)
            }
            3 => Some(Kernel::Pixels),
            // An odd width of whole vectors is as good as blocks.
            width if width < WIDE_UNIT && granule < 16 => Some(Kernel::OddRows),
            _ => None,
        };
        match kernel {
            Some(kernel @ Kernel::OddRows) => return Some(Choice { kernel, width: granule }),
            Some(kernel @ Kernel::Pixels) if !vectors => return Some(Choice { kernel, width: 0 }),
            Some(kernel) => return Some(Choice { kernel, width: shape.unit }),
            None => {}
        }
    }
    if shape.dims.len() > FEW {
        return None;
    }
    let granule = shape.granule(at);
    if granule == 16 {
        return Some(Choice { kernel: Kernel::AlignedRows, width: 0 });
    }
    (shape.unit >= WIDE_UNIT).then_some(Choice { kernel: Kernel::Rows, width: granule })
}

/// The innermost dimension, if it is a row, and how many there are beside it.
pub(crate) fn row_of(shape: &Shape) -> Option<(retrograde::Dim, usize)> {
    let (&row, outer) = shape.dims.split_last()?;
    let adjacent = |stride: isize| stride.unsigned_abs() as u64 == shape.unit;
    let is_row = adjacent(row.src) && adjacent(row.dst) && row.lengths == 0;
    is_row.then_some((row, outer.len()))
}

/// Whether rows, not counting the steps inside them, begin at multiples of 16.
fn outer_is_aligned(shape: &Shape, at: Site) -> bool {
    let Some((&row, outer)) = shape.dims.split_last() else { return false };
    let low = |stride: isize| (stride as i64 * (row.len as i64 - 1)).min(0);
    let whole = |number: i64| number % 16 == 0;
    whole(at.src as i64 + shape.src + low(row.src))
        && whole(at.dst as i64 + shape.dst + low(row.dst))
        && outer.iter().all(|dim| whole(dim.src as i64) && whole(dim.dst as i64))
}

/// Lanes side by side, each with its length.
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
    if steps * STRIP <= limits.shared as u64 {
        return Some(Choice { kernel: Kernel::Columns, width: granule });
    }
    let vectors = width.is_multiple_of(16)
        && [at.src as i64 + shape.src, at.dst as i64 + shape.dst].iter().all(|a| a % 16 == 0)
        && outer.iter().all(|dim| dim.src % 16 == 0 && dim.dst % 16 == 0);
    if limits.clusters && vectors && cluster_shared(steps) <= limits.shared as u64 {
        return Some(Choice { kernel: Kernel::ClusterColumns, width: granule.min(4) });
    }
    (!in_place).then_some(Choice { kernel: Kernel::DirectColumns, width: granule })
}

/// Rows that each block of a cluster holds.
pub(crate) fn cluster_rows(steps: u64) -> u64 {
    steps.div_ceil(CLUSTER * CLUSTER_GROUP) * CLUSTER_GROUP
}

/// Words from one column of a cluster's block to the next: the four vectors of a row that a warp
/// writes, eight rows at a time, go to separate banks.
pub(crate) fn cluster_pitch(steps: u64) -> u64 {
    cluster_rows(steps) + 2
}

/// Bytes of shared memory that a block of a cluster takes.
pub(crate) fn cluster_shared(steps: u64) -> u64 {
    cluster_pitch(steps) * STRIP
}

fn any(shape: &Shape, at: Site) -> Choice {
    let granule = shape.granule(at);
    // The granules of a unit are a dimension too; the two innermost are not among the outer ones.
    let axes = shape.dims.len() + usize::from(shape.unit > granule);
    let gathers = granule < 16 && shape.run() >= SHORT_RUN && axes <= FEW + 2;
    match gathers {
        true => Choice { kernel: Kernel::Gather, width: granule },
        false => Choice { kernel: Kernel::Strided, width: granule },
    }
}

/// One flipped dimension, innermost, of aligned rows.
fn row_swaps(plan: &Plan, shape: &Shape, at: Site) -> Option<Choice> {
    let (row, outer) = row_of(shape)?;
    let flips = plan.dims().iter().filter(|dim| dim.flow == Flow::Flip).count();
    let natural = matches!(shape.unit, 1 | 2 | 4 | 8 | 16);
    let whole = (row.len as u64 * shape.unit).is_multiple_of(16) && outer_is_aligned(shape, at);
    let is_it = shape.prefix.is_none() && flips == 1 && row.src < 0;
    (is_it && natural && whole && outer <= FEW)
        .then_some(Choice { kernel: Kernel::RowSwaps, width: shape.unit })
}

/// How many dimensions any kernel takes.
pub(crate) const MOST_DIMS: usize = MANY - 1;
