//! Which kernel moves the units of a plan of bytes, out of place.

use super::Kernel;
use crate::cpu::kernels::{columns, short_lanes, tiles};
use crate::cpu::nest::{Loop, Loops, Nest, walk_of};
use crate::cpu::schedule::Hint;
use crate::cpu::simd::divides_registers;
use crate::plan::{Dim, Flow, Plan};
use std::fmt;

/// Units from here on move as blocks, in the order of the output.
const WIDE: usize = 64;

/// The most that the column buffers of all threads may take, beside what is behind each column. Longer
/// axes are staged some steps at a time: that is slower, but bounds the memory.
const MOST_STAGED: usize = 128 << 20;
/// What may be behind the columns of a buffer.
const BEHIND: usize = 16 << 10;

/// Units of some bytes along dimensions whose distances are in bytes.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct Units {
    /// The only dimension, of a plan that has none.
    row: Option<Dim>,
    /// Bytes in a unit.
    pub(in crate::cpu) unit: usize,
    /// The first unit, on both sides.
    pub(in crate::cpu) origins: [usize; 2],
    /// How many bytes are written.
    pub(in crate::cpu) bytes: usize,
    pub(in crate::cpu) kernel: UnitsKernel,
    /// All of it as one job for the row kernel, if it is one.
    pub(in crate::cpu) job: Option<RowsJob>,
    /// What the caller says about the output.
    pub(in crate::cpu) hint: Option<Hint>,
}

/// The kernel for units, and the loops around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) enum UnitsKernel {
    /// No lengths.
    Along(Along),
    Blocks,
    ShortLanes,
    Lanes,
    Columns,
    Segments,
    /// Lane by lane (and segment by segment); each of them along its loops.
    Prefixes(Along),
}

/// How units move along nested loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) enum Along {
    /// The innermost loop is a contiguous row; the next one repeats it.
    Rows,
    /// The innermost loop and this one make a plane for the tile kernel.
    Tiles { across: usize },
    /// Units are not contiguous: rows of one unit each.
    Strided,
}

/// Rows of equal length and spacing.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct RowsJob {
    /// Offset of the first unit read.
    pub(in crate::cpu) from: isize,
    pub(in crate::cpu) rows: usize,
    /// From row to row, on both sides.
    pub(in crate::cpu) steps: [isize; 2],
    pub(in crate::cpu) len: usize,
    pub(in crate::cpu) backward: bool,
}

impl Units {
    /// Those of a plan of bytes; a plan that is one block becomes a row of bytes.
    #[inline]
    pub(in crate::cpu) fn of(plan: &Plan) -> Self {
        let (dims, unit) = (plan.dims(), plan.unit().count);
        let (origins, zero) = ([plan.src().origin, plan.dst().origin], plan.zeroes_tail());
        if !dims.is_empty() {
            return Self::new(dims, unit, origins, zero);
        }
        let row = Dim { len: unit, src: 1, dst: 1, lengths: 0, flow: Flow::Keep };
        Units { row: Some(row), ..Self::new(&[row], 1, origins, zero) }
    }

    /// Units along dimensions, of which there is one at least; `zero` says that the rest of a lane
    /// becomes zero.
    #[inline]
    pub(super) fn new(dims: &[Dim], unit: usize, origins: [usize; 2], zero: bool) -> Self {
        let bytes = dims.iter().map(|dim| dim.len).product::<usize>() * unit;
        let job = rows_job(dims, unit, origins[0]);
        let kernel = match job {
            Some(_) => UnitsKernel::Along(Along::Rows),
            None => of_nest(&Nest::whole(dims), unit, zero),
        };
        Units { row: None, unit, origins, bytes, kernel, job, hint: None }
    }

    /// The dimensions, of which these are those of the plan.
    pub(in crate::cpu) fn dims<'a>(&'a self, dims: &'a [Dim]) -> &'a [Dim] {
        self.row.as_ref().map_or(dims, std::slice::from_ref)
    }

    /// Whether threads may share the steps of a dimension. Those of a prefix only where blocks move:
    /// columns and lanes need all of it.
    pub(in crate::cpu) fn may_cut(&self, dim: &Dim) -> bool {
        dim.flow != Flow::FlipPrefix || self.unit >= WIDE
    }
}

impl Units {
    /// What they are, and where lanes along this axis are staged.
    pub(super) fn describe(&self, axis: Option<&Dim>, f: &mut impl fmt::Write) -> fmt::Result {
        let plural = if self.unit == 1 { "" } else { "s" };
        write!(f, "units of {} byte{plural}", self.unit)?;
        match (self.kernel, axis) {
            (UnitsKernel::Columns, Some(axis)) => {
                let room = column_room(axis.len, self.unit, 1, 1).unwrap_or(0);
                write!(f, ", staged in {} KiB a thread", room.div_ceil(1 << 10))
            }
            (UnitsKernel::Prefixes(along), _) => write!(f, ", each by {}", along.named()),
            _ => Ok(()),
        }
    }
}

impl UnitsKernel {
    pub(super) fn named(self) -> Kernel {
        match self {
            UnitsKernel::Along(along) => along.named(),
            UnitsKernel::Blocks => Kernel::Blocks,
            UnitsKernel::ShortLanes => Kernel::Short,
            UnitsKernel::Lanes => Kernel::Lanes,
            UnitsKernel::Columns => Kernel::Columns,
            UnitsKernel::Segments => Kernel::Segments,
            UnitsKernel::Prefixes(_) => Kernel::Prefixes,
        }
    }
}

impl Along {
    fn named(self) -> Kernel {
        match self {
            Along::Rows => Kernel::Rows,
            Along::Tiles { .. } => Kernel::Tiles,
            Along::Strided => Kernel::Strided,
        }
    }

    /// Chooses for nested loops over units of `unit` bytes.
    pub(super) fn of(loops: &[Loop<2>], unit: usize) -> Self {
        let step = unit as isize;
        let Some((row, rest)) = loops.split_last() else { return Along::Rows };
        if row.steps[1] == step && row.steps[0].abs() == step {
            return Along::Rows;
        }
        let across = rest.iter().position(|l| l.steps[0].abs() == step && l.len > 1);
        let fits = tiles::knows(unit) && row.steps[1] == step && row.len >= 2;
        match across.filter(|_| fits) {
            Some(across) => Along::Tiles { across },
            None => Along::Strided,
        }
    }
}

/// One or two dimensions of contiguous units, which most small calls have.
#[inline]
fn rows_job(dims: &[Dim], unit: usize, origin: usize) -> Option<RowsJob> {
    let one = Dim { len: 1, src: 0, dst: 0, lengths: 0, flow: Flow::Keep };
    let (rows, row) = match *dims {
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
    Some(RowsJob {
        from: origin as isize + row_start[0] + rows_start[0],
        rows: rows.len,
        steps: [rows_step[0], rows_step[1]],
        len: row.len,
        backward: row_step[0] < 0,
    })
}

/// Chooses for a nest of units of `unit` bytes; `zero` says that the rest of a lane becomes zero.
fn of_nest(nest: &Nest, unit: usize, zero: bool) -> UnitsKernel {
    let Some((prefix, _)) = nest.prefix else {
        return UnitsKernel::Along(Along::of(&nest.inner, unit));
    };
    let step = unit as isize;
    let alone = nest.inner.is_empty();
    let contiguous = prefix.src == prefix.dst && prefix.src.abs() == step;
    // One step that is only looked up moves in any way.
    let alone = alone && (prefix.len > 1 || zero || prefix.flow == Flow::FlipSegments);
    match prefix.flow == Flow::FlipSegments {
        true if alone => UnitsKernel::Segments,
        false if alone && unit >= WIDE => UnitsKernel::Blocks,
        false if alone && contiguous && has_short_lanes(nest, prefix, unit) && !zero => {
            UnitsKernel::ShortLanes
        }
        false if alone && contiguous => UnitsKernel::Lanes,
        false if alone && has_columns(nest, unit) => UnitsKernel::Columns,
        _ => {
            let mut loops = Loops::<2>::with_capacity(nest.inner.len() + 1);
            loops.push(Loop { len: prefix.len, steps: [prefix.src, prefix.dst] });
            loops.extend_from_slice(&nest.inner);
            UnitsKernel::Prefixes(Along::of(&loops, unit))
        }
    }
}

/// Whether lanes are short and contiguous in the output.
pub(super) fn has_short_lanes(nest: &Nest, prefix: Dim, unit: usize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    let forward = prefix.src == unit as isize && prefix.dst == unit as isize;
    forward && prefix.len > 1 && short_lanes::are_short(prefix.len, unit, lanes.steps[1])
}

/// Whether lanes are adjacent, on both sides, in units that the column kernel knows.
pub(super) fn has_columns(nest: &Nest, unit: usize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    let adjacent = lanes.steps[0] == unit as isize && lanes.steps[1] == unit as isize;
    adjacent && divides_registers(unit)
}

/// The room that each of `at_once` buffers for columns of this length has, in units that have this many
/// elements. `None` if packed columns are too long for any.
pub(in crate::cpu) fn column_room(
    len: usize,
    unit: usize,
    elements: usize,
    at_once: usize,
) -> Option<usize> {
    columns::room(len, unit, elements, MOST_STAGED / at_once.max(1) + BEHIND)
}
