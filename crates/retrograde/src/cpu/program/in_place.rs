//! How a plan is run in place: every flip is pairs of steps that are swapped.

use super::Kernel;
use super::units::{has_columns, has_short_lanes};
use crate::cpu::nest::Nest;
use crate::cpu::simd::{SIXTEEN, WIDEST};
use crate::dtype::Grain;
use crate::plan::{Dim, Flow, LengthsPlan, Plan};

/// Units, or packed elements, along the dimensions of one memory.
#[derive(Debug, Clone)]
pub(in crate::cpu) struct InPlace {
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
    /// The same of units side by side, in segments that are short on average: many of them are reversed
    /// into a buffer, and moved back from there.
    ShortSegments,
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
        let swapped = match plan.is_empty() || plan.keeps_order() {
            true => Swapped::Nothing,
            false => swapped(plan),
        };
        let bytes = plan.units() * plan.unit().count / grain.per_byte();
        let sealed =
            (packed && plan.seals_last_byte() && !plan.is_empty()).then_some(plan.dst().end);
        Some(InPlace { grain, unit, origin, bytes, sealed, swapped })
    }

    /// Its name.
    pub(super) fn kernel(&self) -> Kernel {
        match self.swapped {
            Swapped::Nothing => Kernel::None,
            Swapped::ShortLanes => Kernel::Short,
            Swapped::Columns => Kernel::Columns,
            Swapped::ShortSegments => Kernel::Segments,
            Swapped::Flips | Swapped::Prefixes | Swapped::Segments => Kernel::Swaps,
        }
    }

    /// Whether threads may share the steps of a dimension. Segments are swapped within themselves; those of
    /// packed elements may share a byte.
    pub(in crate::cpu) fn may_cut(&self, dim: &Dim) -> bool {
        dim.flow == Flow::Keep || (dim.flow == Flow::FlipSegments && self.grain == Grain::Byte)
    }
}

/// Chooses for a plan that moves something.
fn swapped(plan: &Plan) -> Swapped {
    let (dims, unit) = (plan.dims(), plan.unit());
    let Some(axis) = dims.iter().find(|dim| dim.flow.reads_lengths()) else {
        return Swapped::Flips;
    };
    let (nest, unit) = (Nest::whole(dims), unit.count);
    if axis.flow == Flow::FlipSegments {
        let bytes = axis.len * unit / plan.lengths().map_or(1, LengthsPlan::count).max(1);
        let together = nest.inner.is_empty() && axis.dst == unit as isize;
        let short = plan.unit().grain == Grain::Byte && together && bytes <= SHORT;
        return if short { Swapped::ShortSegments } else { Swapped::Segments };
    }
    if plan.unit().grain != Grain::Byte || !nest.inner.is_empty() {
        Swapped::Prefixes
    } else if !plan.zeroes_tail() && has_short_lanes(&nest, *axis, unit) {
        Swapped::ShortLanes
    } else if has_columns(&nest, unit) && is_worth_it(&nest, *axis, unit) {
        Swapped::Columns
    } else {
        Swapped::Prefixes
    }
}

/// Whether columns are faster moved aside: narrow units, beyond the first cache, in columns of which a
/// vector of them fits the second.
fn is_worth_it(nest: &Nest, axis: Dim, unit: usize) -> bool {
    let (lanes, _) = nest.innermost_lanes();
    let least = match unit {
        1 | 2 => 64 << 10,
        4 => 256 << 10,
        _ => return false,
    };
    let large = axis.len * lanes.len * unit >= least && lanes.len * unit >= WIDEST;
    large && (SIXTEEN..=MOST_STEPS).contains(&axis.len)
}

/// The lanes that are put aside at a time: as many as stay in L2.
pub(in crate::cpu) fn lanes_aside(len: usize, unit: usize) -> usize {
    (ASIDE / (len * unit)).max(WIDEST / unit)
}

/// Segments of so many bytes on average are faster moved aside.
const SHORT: usize = 4 << 10;
/// Bytes of columns that are put aside at a time.
const ASIDE: usize = 256 << 10;
/// The most steps of columns that are.
const MOST_STEPS: usize = 8 << 10;
