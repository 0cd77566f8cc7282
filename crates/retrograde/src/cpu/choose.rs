//! Which kernel takes a plan of bytes. The one place that chooses: running and explaining both
//! ask here.

use super::kernels::{columns, rows::Rows, short_lanes};
use super::nest::{Dims, Loop, Nest, walk_of};
use super::schedule::Window;
use crate::dtype::Grain;
use crate::plan::{Dim, Flow, Plan};
use std::fmt;

/// Units from here on move as blocks, in the order of the output.
pub(super) const WIDE: usize = 64;

/// The most that the column buffers of all threads may take, beside what is behind each column. Longer
/// axes are staged some steps at a time: that is slower, but bounds the memory.
const MOST_STAGED: usize = 128 << 20;
/// What may be behind the columns of a buffer.
const BEHIND: usize = 16 << 10;

/// A kernel, named as in the documentation of the CPU backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Nothing moves.
    None,
    /// Contiguous runs of units, forward or backward.
    Rows,
    /// Contiguous runs of which only a prefix is reversed.
    Lanes,
    /// Lanes of a few elements that are contiguous in the output.
    Short,
    /// Wide units, in the order of the output.
    Blocks,
    /// Adjacent lanes, transposed through a staging buffer.
    Columns,
    /// Segments of one axis.
    Segments,
    /// Transposed planes, in tiles.
    Tiles,
    /// Lanes of any other shape, one by one.
    Prefixes,
    /// Units one by one.
    Strided,
    /// Packed elements, by vectors of bytes.
    Bits,
}

impl Kernel {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::None => "none",
            Kernel::Rows => "rows",
            Kernel::Lanes => "lanes",
            Kernel::Short => "short lanes",
            Kernel::Blocks => "blocks",
            Kernel::Columns => "columns",
            Kernel::Segments => "segments",
            Kernel::Tiles => "tiles",
            Kernel::Prefixes => "prefixes",
            Kernel::Strided => "strided",
            Kernel::Bits => "bits",
        }
    }

    /// What it does, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Kernel::None => "nothing to move",
            Kernel::Rows => "contiguous runs of units, forward or backward",
            Kernel::Lanes => "contiguous runs of which only a prefix is reversed",
            Kernel::Short => "lanes of a few elements, several at a time",
            Kernel::Blocks => "wide units, in the order of the output",
            Kernel::Columns => "adjacent lanes, transposed through a staging buffer",
            Kernel::Segments => "segments of one axis, one behind the other",
            Kernel::Tiles => "transposed planes, in tiles",
            Kernel::Prefixes => "lanes one by one",
            Kernel::Strided => "units one by one",
            Kernel::Bits => "packed elements, by vectors of bytes; ends by words",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The kernel that [`execute`](super::execute) takes for most of a plan, out of place.
///
/// ```
/// use retrograde::cpu::{self, Kernel};
/// use retrograde::{DType, Layout, Reverse};
///
/// let rows = Layout::dense(DType::F32, &[64, 64])?;
/// assert_eq!(cpu::kernel(&Reverse::axes([1]).plan(&rows, &rows)?), Kernel::Rows);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn kernel(plan: &Plan) -> Kernel {
    match plan.unit().grain {
        _ if plan.is_empty() => Kernel::None,
        Grain::Packed { .. } => Kernel::Bits,
        Grain::Byte => {
            let (dims, unit) = dims_of(plan);
            let window = Window { dim: 0, start: 0, end: dims[0].len };
            let nest = Nest::of(&dims, window, 0);
            match of_nest(&nest, unit, plan.zeroes_tail()) {
                NestChoice::Loops => of_loops(&nest.inner, unit).kernel(),
                NestChoice::Blocks => Kernel::Blocks,
                NestChoice::ShortLanes => Kernel::Short,
                NestChoice::Lanes => Kernel::Lanes,
                NestChoice::Columns => Kernel::Columns,
                NestChoice::Segments => Kernel::Segments,
                NestChoice::Prefixes => Kernel::Prefixes,
            }
        }
    }
}

/// The plan's dimensions and unit; a plan that is one block becomes a row of bytes.
pub(super) fn dims_of(plan: &Plan) -> (Dims, usize) {
    let (dims, count) = (plan.dims(), plan.unit().count);
    if !dims.is_empty() {
        return (dims.into(), count);
    }
    let row = Dim { len: count, src: 1, dst: 1, lengths: 0, flow: Flow::Keep };
    (Dims::from_slice(&[row]), 1)
}

/// The plans that most small calls have, without a nest: one block, or one or two dimensions of
/// contiguous units. They are one job for the row kernel, as [`of_loops`] would choose too.
#[inline]
pub(super) fn of_simple(plan: &Plan) -> Option<Simple> {
    let unit = plan.unit().count;
    let one = Dim { len: 1, src: 0, dst: 0, lengths: 0, flow: Flow::Keep };
    let (rows, row) = match *plan.dims() {
        [] => (one, Dim { src: unit as isize, dst: unit as isize, ..one }),
        [row] => (one, row),
        [rows, row] => (rows, row),
        _ => return None,
    };
    let contiguous = row.src == unit as isize && row.dst == unit as isize;
    if !contiguous || row.flow.reads_lengths() || rows.flow.reads_lengths() {
        return None;
    }
    let (row_start, row_step) = walk_of(&row, 0);
    let (rows_start, rows_step) = walk_of(&rows, 0);
    Some(Simple {
        from: plan.src().origin as isize + row_start[0] + rows_start[0],
        rows: rows.len,
        steps: [rows_step[0], rows_step[1]],
        len: row.len,
        backward: row_step[0] < 0,
    })
}

/// A plan as one job for the row kernel.
pub(super) struct Simple {
    /// Offset of the first unit read.
    from: isize,
    rows: usize,
    steps: [isize; 2],
    len: usize,
    backward: bool,
}

impl Simple {
    /// The job on memory; `stream` and `prefetch` are those of [`Rows`].
    ///
    /// # Safety
    /// `src` and `dst` are valid over the reaches of the plan.
    #[inline]
    pub(super) unsafe fn job(
        &self,
        plan: &Plan,
        src: *const u8,
        dst: *mut u8,
        stream: bool,
        prefetch: bool,
    ) -> Rows {
        // SAFETY: the first unit read and the first one written are inside the reaches.
        let (src, dst) = unsafe { (src.offset(self.from), dst.add(plan.dst().origin)) };
        Rows {
            src,
            dst,
            count: self.rows,
            src_step: self.steps[0],
            dst_step: self.steps[1],
            len: self.len,
            unit: plan.unit().count,
            backward: self.backward,
            stream,
            prefetch,
        }
    }
}

/// How a nest is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NestChoice {
    /// No lengths: see [`of_loops`].
    Loops,
    Blocks,
    ShortLanes,
    Lanes,
    Columns,
    Segments,
    /// Lane by lane (and segment by segment); each is loops again.
    Prefixes,
}

/// Chooses for a nest of units of `unit` bytes; `zero` says that the rest of a lane becomes zero.
pub(super) fn of_nest(nest: &Nest, unit: usize, zero: bool) -> NestChoice {
    let Some((prefix, steps)) = nest.prefix else { return NestChoice::Loops };
    if prefix.flow == Flow::FlipSegments {
        return if nest.inner.is_empty() { NestChoice::Segments } else { NestChoice::Prefixes };
    }
    let step = unit as isize;
    let contiguous = prefix.src == prefix.dst && prefix.src.abs() == step;
    let whole = steps.start == 0 && steps.end == prefix.len;
    if unit >= WIDE && nest.inner.is_empty() {
        NestChoice::Blocks
    } else if contiguous && whole && nest.inner.is_empty() {
        match has_short_lanes(nest, prefix, unit) && !zero {
            true => NestChoice::ShortLanes,
            false => NestChoice::Lanes,
        }
    } else if whole && nest.inner.is_empty() && has_columns(nest, step) {
        NestChoice::Columns
    } else {
        NestChoice::Prefixes
    }
}

/// Whether lanes are short and contiguous in the output.
pub(super) fn has_short_lanes(nest: &Nest, prefix: Dim, unit: usize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    let forward = prefix.src == unit as isize && prefix.dst == unit as isize;
    forward && short_lanes::are_short(prefix.len, unit, lanes.steps[1])
}

/// Whether lanes are adjacent, on both sides, in units that the column kernel knows.
fn has_columns(nest: &Nest, unit: isize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    let adjacent = lanes.steps[0] == unit && lanes.steps[1] == unit;
    adjacent && matches!(unit, 1 | 2 | 4 | 8 | 16)
}

/// The room that each of `at_once` buffers for columns of this length has, in units that have this many
/// elements. `None` if packed columns are too long for any.
pub(super) fn column_room(
    len: usize,
    unit: usize,
    elements: usize,
    at_once: usize,
) -> Option<usize> {
    columns::room(len, unit, elements, MOST_STAGED / at_once.max(1) + BEHIND)
}

/// How nested loops are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopsChoice {
    /// The innermost loop is a contiguous row; the next one repeats it.
    Rows,
    /// The innermost loop and this one make a plane for the tile kernel.
    Tiles { across: usize },
    /// Units are not contiguous: rows of one unit each.
    Strided,
}

impl LoopsChoice {
    fn kernel(self) -> Kernel {
        match self {
            LoopsChoice::Rows => Kernel::Rows,
            LoopsChoice::Tiles { .. } => Kernel::Tiles,
            LoopsChoice::Strided => Kernel::Strided,
        }
    }
}

/// Chooses for nested loops over units of `unit` bytes.
pub(super) fn of_loops(loops: &[Loop<2>], unit: usize) -> LoopsChoice {
    let step = unit as isize;
    let Some((row, rest)) = loops.split_last() else { return LoopsChoice::Rows };
    if row.steps[1] == step && row.steps[0].abs() == step {
        return LoopsChoice::Rows;
    }
    match plane_of(row, rest, step) {
        Some(across) => LoopsChoice::Tiles { across },
        None => LoopsChoice::Strided,
    }
}

/// The loop that makes a plane for the tile kernel together with the innermost one.
fn plane_of(inner: &Loop<2>, rest: &[Loop<2>], unit: isize) -> Option<usize> {
    let across = rest.iter().position(|l| l.steps[0].abs() == unit && l.len > 1)?;
    let fits = matches!(unit, 1 | 2 | 4 | 8 | 16) && inner.steps[1] == unit && inner.len >= 2;
    (fits && rest.iter().all(|l| l.len > 0)).then_some(across)
}
