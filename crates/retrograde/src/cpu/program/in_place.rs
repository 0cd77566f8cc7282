//! How a plan is run in place: every flip is pairs of steps that are swapped.

use super::Kernel;
use super::packed::unfolded;
use super::units::{has_columns, has_short_lanes};
use crate::cpu::nest::{Dims, Nest};
use crate::cpu::schedule::Window;
use crate::cpu::simd::{PART, WIDEST};
use crate::dtype::Grain;
use crate::plan::{Dim, Flow, Plan};

/// Units, or packed elements, along the dimensions of one memory.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct InPlace {
    pub(in crate::cpu) dims: Dims,
    pub(in crate::cpu) grain: Grain,
    /// Grains that move together.
    pub(in crate::cpu) unit: usize,
    /// The first grain.
    pub(in crate::cpu) origin: usize,
    /// About how many bytes there are.
    pub(in crate::cpu) bytes: usize,
    /// Where packed elements end, if the bits behind the last one become zero.
    pub(in crate::cpu) sealed: Option<usize>,
    pub(in crate::cpu) swapped: Swapped,
}

/// What is swapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) enum Swapped {
    Nothing,
    /// All flips at once.
    Flips,
    /// The reversed steps of each lane.
    Prefixes,
    /// The same in lanes of a few units, for which there is a kernel.
    ShortLanes,
    /// The same in lanes that lie side by side: some of them are put aside, and moved back from there.
    Columns,
    Segments,
}

impl InPlace {
    /// That of a plan, if it fits in place.
    pub(in crate::cpu) fn of(plan: &Plan) -> Option<Self> {
        if !plan.fits_in_place() {
            return None;
        }
        let (grain, unit) = (plan.unit().grain, plan.unit().count);
        let origin = plan.dst().origin;
        let packed = grain != Grain::Byte;
        // Packed units are runs of elements.
        let (dims, unit) = if packed { (unfolded(plan), 1) } else { (plan.dims().into(), unit) };
        let swapped = match plan.is_empty() || plan.keeps_order() {
            true => Swapped::Nothing,
            false if packed => swapped(&dims, 0, true),
            false => swapped(&dims, unit, plan.zeroes_tail()),
        };
        let bytes = plan.units() * plan.unit().count / grain.per_byte();
        let sealed =
            (packed && plan.seals_last_byte() && !plan.is_empty()).then_some(plan.dst().end);
        Some(InPlace { dims, grain, unit, origin, bytes, sealed, swapped })
    }

    /// Its name.
    pub(super) fn kernel(&self) -> Kernel {
        match self.swapped {
            Swapped::Nothing => Kernel::None,
            Swapped::ShortLanes => Kernel::Short,
            Swapped::Columns => Kernel::Columns,
            Swapped::Flips | Swapped::Prefixes | Swapped::Segments => Kernel::Swaps,
        }
    }

    /// Whether threads may share the steps of a dimension. Segments are swapped within themselves; those of
    /// packed elements may share a byte.
    pub(in crate::cpu) fn may_cut(&self, dim: &Dim) -> bool {
        dim.flow == Flow::Keep || (dim.flow == Flow::FlipSegments && self.grain == Grain::Byte)
    }
}

/// Chooses for units of `unit` bytes; packed elements have none. `zero` says that the rest of a lane
/// becomes zero.
fn swapped(dims: &Dims, unit: usize, zero: bool) -> Swapped {
    let nest = Nest::of(dims, Window { dim: 0, start: 0, end: dims[0].len }, 0);
    match nest.prefix {
        None => Swapped::Flips,
        Some((axis, _)) if axis.flow == Flow::FlipSegments => Swapped::Segments,
        Some(_) if !nest.inner.is_empty() => Swapped::Prefixes,
        Some((axis, _)) if !zero && has_short_lanes(&nest, axis, unit) => Swapped::ShortLanes,
        Some((axis, _)) if has_columns(&nest, unit) && is_worth_it(&nest, axis, unit) => {
            Swapped::Columns
        }
        Some(_) => Swapped::Prefixes,
    }
}

/// Whether columns are enough to be moved aside, and short enough for some of them to fit.
fn is_worth_it(nest: &Nest, axis: Dim, unit: usize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    lanes.len * unit >= PART && (PART / unit..=MOST_ASIDE / WIDEST).contains(&axis.len)
}

/// The lanes that are put aside at a time: as many as stay in L2.
pub(in crate::cpu) fn lanes_aside(len: usize, unit: usize) -> usize {
    (ASIDE / (len * unit)).max(WIDEST / unit)
}

/// Bytes of columns that are put aside at a time.
const ASIDE: usize = 256 << 10;
/// The most bytes of them, where columns are long.
const MOST_ASIDE: usize = 16 << 20;
