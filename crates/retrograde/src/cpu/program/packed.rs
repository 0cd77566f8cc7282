//! How packed elements move, out of place.

use super::Kernel;
use super::units::{Along, Units, column_room};
use crate::cpu::kernels::columns::{LEAST_PACKED, LEAST_STEPS};
use crate::cpu::nest::{Dims, Nest};
use crate::cpu::schedule::Hint;
use crate::cpu::simd::words;
use crate::plan::{Dim, Flow, Plan};
use smallvec::SmallVec;
use std::fmt;

/// Smaller planes are moved element by element.
const LEAST_PLANE: usize = 4096;
/// Fewer elements are not spread: small calls leave the heap alone.
const LEAST_SPREAD: usize = 64 << 10;
/// Nor are more of them: they would take too much memory.
const MOST_SPREAD: usize = 128 << 20;
/// The most bytes of a buffer for rows that do not start on bytes.
const MOST_BUFFERED: usize = 64 << 20;

/// Packed elements along dimensions.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct Packed {
    /// Bits in an element: 1, 2 or 4.
    pub(in crate::cpu) bits: usize,
    /// How many elements move.
    pub(in crate::cpu) elements: usize,
    /// The first element, on both sides.
    pub(in crate::cpu) origins: [usize; 2],
    /// The end of the input, in elements.
    pub(in crate::cpu) end: usize,
    /// Whether unused bits become zero.
    pub(in crate::cpu) seals: bool,
    /// The ways to move them: the first for which there is memory. The last one needs none.
    pub(in crate::cpu) ways: SmallVec<[Way; 3]>,
    /// What the caller says about the output.
    pub(in crate::cpu) hint: Option<Hint>,
}

/// A way to move packed elements.
#[derive(Debug, Clone)]
pub(in crate::cpu) enum Way {
    /// A kernel that writes rows which start on bytes.
    Kernel(PackedKernel),
    /// The same into a buffer where they do, and from there to the output.
    Buffered(PackedKernel, Box<Buffered>),
    /// A byte each.
    Spread(Box<Spread>),
    /// Row by row, in the order of the output.
    Rows,
    /// The same where rows are a few bits that follow each other.
    ShortRows,
}

/// A kernel for elements whose rows are no runs of the input.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) enum PackedKernel {
    /// A length for each column, of so many steps.
    Columns { len: usize },
    /// Transposed planes: the innermost loop and this one.
    Tiles { across: usize },
}

/// The two halves of a movement through a buffer.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct Buffered {
    /// Dimensions into the buffer, from its first element on.
    pub(in crate::cpu) to: Dims,
    /// Bytes of the buffer.
    pub(in crate::cpu) bytes: usize,
    /// Those from there to the output, and how.
    pub(in crate::cpu) from: Dims,
    pub(in crate::cpu) rest: Packed,
}

/// A movement of spread elements.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct Spread {
    /// The bytes of the input that are spread: the first, and the end.
    pub(in crate::cpu) first: usize,
    pub(in crate::cpu) end: usize,
    /// How many elements the output has.
    pub(in crate::cpu) elements: usize,
    pub(in crate::cpu) units: Units,
}

impl Packed {
    /// The elements of a plan of packed elements.
    pub(super) fn of(plan: &Plan) -> Self {
        let unfolded = unfolded(plan);
        let dims = unfolded.as_deref().unwrap_or(plan.dims());
        let origins = [plan.src().origin, plan.dst().origin];
        let (bits, seals) = (plan.unit().grain.bits(), plan.seals_last_byte());
        let mut ways = SmallVec::new();
        // Units of several elements are runs.
        if seals && plan.unit().count == 1 && !plan.dims().is_empty() {
            ways.extend(by_kernel(dims, origins[1], bits));
            ways.extend(by_spreading(plan));
        }
        ways.push(by_rows(dims, plan.zeroes_tail(), bits));
        let elements = plan.units() * plan.unit().count;
        Packed { bits, elements, origins, end: plan.src().end, seals, ways, hint: None }
    }

    /// The same with a hint, which holds for what writes the output, not for buffers.
    pub(super) fn set_hint(&mut self, hint: Hint) {
        self.hint = Some(hint);
        for way in &mut self.ways {
            if let Way::Buffered(_, buffered) = way {
                buffered.rest.set_hint(hint);
            }
        }
    }

    /// The kernel for most of it.
    pub(super) fn kernel(&self) -> Kernel {
        match self.ways[0] {
            Way::Kernel(kernel) | Way::Buffered(kernel, _) => match kernel {
                PackedKernel::Columns { .. } => Kernel::PackedColumns,
                PackedKernel::Tiles { .. } => Kernel::PackedTiles,
            },
            Way::Spread(_) => Kernel::Spread,
            Way::Rows | Way::ShortRows => Kernel::PackedRows,
        }
    }

    /// Elements in a byte.
    pub(in crate::cpu) fn per_byte(&self) -> usize {
        8 / self.bits
    }
}

impl fmt::Display for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ways[0] {
            Way::Kernel(_) | Way::Rows => Ok(()),
            Way::Buffered(_, buffered) => {
                write!(f, ", through a buffer of {} KiB", buffered.bytes.div_ceil(1 << 10))
            }
            Way::Spread(spread) => write!(f, ", as bytes by {}", spread.units.kernel.named()),
            Way::ShortRows => f.write_str(", a word for each row"),
        }
    }
}

/// The plan's dimensions with a unit of several elements spelled out as one more; `None` if its units are
/// single elements. Of packed elements; the last one is the row.
pub(in crate::cpu) fn unfolded(plan: &Plan) -> Option<Dims> {
    let count = plan.unit().count;
    (count > 1 || plan.dims().is_empty()).then(|| {
        let mut dims: Dims = plan.dims().into();
        dims.push(Dim { len: count, src: 1, dst: 1, lengths: 0, flow: Flow::Keep });
        dims
    })
}

/// Row by row: rows of a few bits that follow each other are taken several at a time.
fn by_rows(dims: &[Dim], zero: bool, bits: usize) -> Way {
    let Some((row, outer)) = dims.split_last() else { return Way::Rows };
    let plain = !zero && row.flow != Flow::FlipSegments;
    let fits = row.len <= words::MOST / bits && row.src == 1 && row.dst == 1;
    let follow = outer.last().is_some_and(|rows| rows.dst == row.len as isize);
    // Which row comes next must not depend on a length.
    match plain && fits && follow && !outer.iter().any(|dim| dim.flow.reads_lengths()) {
        true => Way::ShortRows,
        false => Way::Rows,
    }
}

/// The kernels for scattered elements, into rows that start on bytes.
fn by_kernel(dims: &[Dim], origin: usize, bits: usize) -> Option<Way> {
    let per_byte = 8 / bits;
    let (row, outer) = dims.split_last().filter(|(row, _)| row.dst == 1)?;
    let nest = Nest::whole(dims);
    let kernel = columns(&nest, per_byte).or_else(|| tiles(&nest, per_byte))?;
    let on_bytes = |at: isize| at % per_byte as isize == 0;
    let rows_on_bytes = outer.iter().all(|dim| on_bytes(dim.dst))
        && on_bytes(origin as isize)
        && on_bytes(row.len as isize);
    if rows_on_bytes {
        return Some(Way::Kernel(kernel));
    }
    let buffered = Buffered::of(dims, origin, bits);
    (buffered.bytes <= MOST_BUFFERED).then(|| Way::Buffered(kernel, Box::new(buffered)))
}

/// A length for each of the lanes that lie side by side.
fn columns(nest: &Nest, per_byte: usize) -> Option<PackedKernel> {
    let (axis, _) = nest.prefix.filter(|_| nest.inner.is_empty())?;
    let (lanes, _) = nest.innermost_lanes();
    let side_by_side = lanes.steps[0] == 1 && lanes.steps[1] == 1;
    let large = axis.len >= LEAST_STEPS && lanes.len.div_ceil(per_byte) >= LEAST_PACKED;
    let fits = axis.flow == Flow::FlipPrefix && side_by_side && large;
    let room = column_room(axis.len, 1, per_byte, 1);
    (fits && room.is_some()).then_some(PackedKernel::Columns { len: axis.len })
}

/// A plane that is contiguous one way in the input and the other way in the output.
fn tiles(nest: &Nest, per_byte: usize) -> Option<PackedKernel> {
    let (row, rest) = nest.inner.split_last().filter(|_| nest.prefix.is_none())?;
    let Along::Tiles { across } = Along::of(&nest.inner, 1) else { return None };
    let large = row.len * rest[across].len >= LEAST_PLANE && row.len >= per_byte;
    large.then_some(PackedKernel::Tiles { across })
}

/// What has no kernel of its own and is scattered: three passes, but none of them element by element.
fn by_spreading(plan: &Plan) -> Option<Way> {
    let (elements, reach) = (plan.units(), plan.src());
    let scattered = |row: &Dim| {
        let apart = row.src.unsigned_abs() != 1;
        row.len > 1 && (apart || (row.lengths != 0 && !row.flow.reads_lengths()))
    };
    let applies = plan.dims().last().is_some_and(scattered)
        && (LEAST_SPREAD..=MOST_SPREAD).contains(&elements)
        // A slice of a larger tensor would be spread with all that is between its elements.
        && reach.end - reach.start <= 2 * elements;
    applies.then(|| {
        let per_byte = plan.unit().grain.per_byte();
        let (first, end) = (reach.start / per_byte, reach.end.div_ceil(per_byte));
        let origins = [reach.origin - first * per_byte, plan.dst().origin];
        let units = Units::new(plan.dims(), 1, origins, plan.zeroes_tail());
        Way::Spread(Box::new(Spread { first, end, elements: plan.dst().end, units }))
    })
}

impl Buffered {
    /// Into a buffer in which each row starts on a byte, and from there to the output, which goes
    /// forward in it: steps that are counted from the end (`Align::End`) go backward.
    fn of(dims: &[Dim], origin: usize, bits: usize) -> Self {
        let per_byte = 8 / bits;
        let (mut to, mut from): (Dims, Dims) = (dims.into(), dims.into());
        let (mut step, mut origins) = (1, [0, origin]);
        for (to, from) in to.iter_mut().zip(&mut from).rev() {
            to.dst = step as isize;
            *from = Dim { src: to.dst, flow: Flow::Keep, lengths: 0, ..*from };
            if from.dst < 0 {
                let last = from.len.saturating_sub(1);
                origins[0] += last * step;
                origins[1] -= last * from.dst.unsigned_abs();
                (from.src, from.dst) = (-from.src, -from.dst);
            }
            step = (step * to.len).next_multiple_of(per_byte);
        }
        let end = to.iter().fold(1, |end, dim| end.max(dim.len * dim.dst as usize));
        let ways = SmallVec::from_iter([by_rows(&from, false, bits)]);
        let elements = dims.iter().map(|dim| dim.len).product();
        let rest = Packed { bits, elements, origins, end, seals: true, ways, hint: None };
        Buffered { to, bytes: end.div_ceil(per_byte), from, rest }
    }
}
