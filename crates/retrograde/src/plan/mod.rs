//! The plan: a movement of elements as pure data.
//!
//! A plan knows widths, sizes, strides and directions. It knows no operator, no memory and no
//! element type but that of the lengths, so one plan serves every backend and any number of runs.

mod build;
mod display;
mod extent;
mod pieces;

pub(crate) use build::LengthsSource;
pub use pieces::Pieces;

use crate::dtype::{DType, Grain};
use crate::layout::Reach;
use crate::lengths::{LengthPolicy, Tail};
use smallvec::SmallVec;

/// What happens along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Elements keep their order.
    Keep,
    /// Elements are reversed.
    Flip,
    /// The first `len` elements are reversed, the rest keep their order (or become zero, see
    /// [`LengthsPlan::tail`]); `len` is read from the lengths at each lane.
    FlipPrefix,
    /// The dimension is cut into segments, each of which is reversed; the offsets at which they
    /// start are read from the lengths' memory. Elements behind the last offset keep their order.
    FlipSegments,
}

impl Flow {
    /// Whether the movement depends on values that are read when the plan runs.
    pub fn reads_lengths(self) -> bool {
        matches!(self, Flow::FlipPrefix | Flow::FlipSegments)
    }
}

/// One dimension of the movement. Strides count the plan's grains, `lengths` counts bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim {
    /// Number of steps.
    pub len: usize,
    /// Step in the input.
    pub src: isize,
    /// Step in the output.
    pub dst: isize,
    /// Step in the lengths, along the output's positions; 0 where they do not vary.
    pub lengths: isize,
    /// Direction.
    pub flow: Flow,
}

/// What moves as one piece: `count` grains that are contiguous in input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Bytes or packed elements.
    pub grain: Grain,
    /// How many of them.
    pub count: usize,
}

impl Unit {
    /// Width in bits.
    pub fn bits(self) -> u128 {
        self.count as u128 * self.grain.bits() as u128
    }
}

/// What the values mean that a plan reads when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// A length per lane, for [`Flow::FlipPrefix`].
    Lengths,
    /// The offsets of [`Flow::FlipSegments`], one more than segments: the first is 0, they ascend,
    /// and the last is at most the size of the dimension.
    Offsets,
    /// The same of type i64, each twice what it would be, and one more where the segment that it starts
    /// is reversed. Other segments keep their order.
    MarkedOffsets,
}

impl Meaning {
    /// What they are called in errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Meaning::Lengths => "lengths",
            Meaning::Offsets | Meaning::MarkedOffsets => "offsets",
        }
    }

    /// Whether they are offsets.
    pub fn is_offsets(self) -> bool {
        self != Meaning::Lengths
    }
}

/// The lengths (or offsets) a plan reads when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LengthsPlan {
    /// What the values mean.
    pub meaning: Meaning,
    /// Their integer type.
    pub dtype: DType,
    pub(crate) dims: SmallVec<[(usize, isize); 4]>,
    /// Byte offset of the first length in that order.
    pub first: usize,
    /// The bytes touched; `origin` is the length of the plan's first lane.
    pub reach: Reach,
    /// Size of the reversed axis: the largest length that means anything.
    pub limit: usize,
    /// What to do beyond the limit. Offsets are always strict.
    pub policy: LengthPolicy,
    /// What happens to the elements beyond a length. Those behind the last offset are kept.
    pub tail: Tail,
    /// Whether it matters which elements are reversed, even where none moves: for a table.
    pub marks: bool,
}

impl LengthsPlan {
    /// Sizes and byte strides of the lengths tensor, in its own order, canonical: this is what
    /// has to be checked before anything moves (in a piece of a plan, what the piece reads).
    pub fn dims(&self) -> &[(usize, isize)] {
        &self.dims
    }

    /// Number of lengths.
    pub fn count(&self) -> usize {
        self.dims.iter().map(|&(len, _)| len).product()
    }

    /// Whether any value could be an error, so that they must be looked at beforehand.
    pub fn needs_check(&self) -> bool {
        use DType::*;
        self.meaning.is_offsets()
            || self.policy == LengthPolicy::Strict
            || matches!(self.dtype, I8 | I16 | I32 | I64)
    }
}

/// A movement of elements, canonical, reusable and independent of any memory.
///
/// Two calls that move the same grains in the same way have equal plans, whatever operator
/// they came from. The canonical form:
/// 1. no dimension of length 1; a movement of nothing is one `Keep` dimension of length 0;
/// 2. dimensions run from the largest output stride to the smallest;
/// 3. `Keep` and `Flip` dimensions have a positive output stride and an input stride that is
///    not negative: a view that runs backwards is a `Flip`;
/// 4. a dimension along which the input does not step is a `Keep`;
/// 5. neighbours of the same flow that step as one dimension are one, if the flow is `Keep` or
///    `Flip`;
/// 6. an innermost `Keep` that is contiguous on both sides is part of the unit;
/// 7. packed elements that only ever move in whole bytes are bytes;
/// 8. there is at most one `FlipPrefix` or `FlipSegments`; without a `FlipPrefix`, no dimension has
///    a lengths stride;
/// 9. if the tail becomes zero, or elements are looked up in a table, rules 1 and 4 do not apply to
///    the `FlipPrefix` or `FlipSegments`.
///
/// ```
/// use retrograde::{DType, Flow, Layout, Reverse};
///
/// let image = Layout::dense(DType::U8, &[480, 640, 3])?;
/// let plan = Reverse::axes([0, 1]).plan(&image, &image)?;
/// // Rows and columns fuse into one flip of 307,200 pixels of three bytes.
/// assert_eq!(plan.dims().len(), 1);
/// assert_eq!((plan.dims()[0].len, plan.dims()[0].flow), (480 * 640, Flow::Flip));
/// assert_eq!(plan.unit().count, 3);
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    unit: Unit,
    // Few plans have more, and a plan moves often before it runs.
    dims: SmallVec<[Dim; 4]>,
    src: Reach,
    dst: Reach,
    seals: bool,
    lengths: Option<LengthsPlan>,
}

impl Plan {
    /// What moves as one piece.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// The grains of the input that are read.
    pub fn src(&self) -> Reach {
        self.src
    }

    /// The grains of the output that are written.
    pub fn dst(&self) -> Reach {
        self.dst
    }

    /// The lengths the plan reads, if it has any.
    pub fn lengths(&self) -> Option<&LengthsPlan> {
        self.lengths.as_ref()
    }

    /// The same with lengths of another type, at the same places counted in elements: their distances
    /// are in bytes.
    pub(crate) fn with_lengths_type(mut self, dtype: DType) -> Plan {
        let Some(lengths) = &mut self.lengths else { return self };
        let width = |dtype: DType| dtype.grains().unwrap_or(1) as isize;
        let (old, new) = (width(lengths.dtype), width(dtype));
        // Exact: all are distances between elements of the old type, laid out as those of the new one.
        let scaled = |distance: isize| (distance as i128 * new as i128 / old as i128) as isize;
        let place = |place: usize| scaled(place as isize) as usize;
        lengths.dtype = dtype;
        lengths.first = place(lengths.first);
        lengths.dims.iter_mut().for_each(|(_, stride)| *stride = scaled(*stride));
        let Reach { origin, start, end } = lengths.reach;
        let end = if end == start { end } else { place(end - old as usize) + new as usize };
        lengths.reach = Reach { origin: place(origin), start: place(start), end };
        self.dims.iter_mut().for_each(|dim| dim.lengths = scaled(dim.lengths));
        self
    }

    /// Whether the output is a whole packed tensor, so that every byte is written whole and
    /// the unused bits of the last one become zero.
    pub fn seals_last_byte(&self) -> bool {
        self.seals
    }

    /// Whether the output must be initialised because packed elements share bytes with
    /// neighbours that are kept.
    pub fn merges_bytes(&self) -> bool {
        self.unit.grain != Grain::Byte && !self.seals && !self.is_empty()
    }

    /// Whether elements beyond a length become zero.
    pub fn zeroes_tail(&self) -> bool {
        self.lengths.as_ref().is_some_and(|lengths| lengths.tail == Tail::Zero)
    }

    /// Number of units moved.
    pub fn units(&self) -> usize {
        self.dims.iter().map(|dim| dim.len).product()
    }

    /// Whether nothing moves.
    pub fn is_empty(&self) -> bool {
        self.units() == 0
    }

    /// Whether every element keeps its position, so that input and output may be shared.
    pub fn keeps_order(&self) -> bool {
        self.dims.iter().all(|dim| dim.flow == Flow::Keep)
    }

    /// Whether the plan can run in place: input and output are laid out alike, and elements
    /// are only swapped with their mirror images.
    pub fn fits_in_place(&self) -> bool {
        let any = |flow| self.dims.iter().any(|dim| dim.flow == flow);
        self.src == self.dst
            && self.dims.iter().all(|dim| dim.src == dim.dst)
            // If lanes move and their lengths do not, no two of them are mirror images.
            && !((any(Flow::FlipPrefix) || any(Flow::FlipSegments)) && any(Flow::Flip))
    }

    /// Bytes read plus bytes written, rounded up.
    pub fn bytes_moved(&self) -> u128 {
        2 * (self.units() as u128 * self.unit.bits()).div_ceil(8)
    }
}
