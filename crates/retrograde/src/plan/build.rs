//! From two layouts and a flow per axis to the canonical plan.
//!
//! Each rule of the canonical form (numbered in [`Plan`]'s documentation) is one small
//! function with its own tests.

use super::{Dim, Flow, LengthsPlan, Meaning, Plan, Unit};
use crate::dtype::Grain;
use crate::layout::{Layout, Reach};
use crate::lengths::{Align, LengthPolicy, Tail};
use smallvec::{Array, SmallVec, smallvec};

/// Where lengths come from, already checked against the operator's rules.
pub(crate) struct LengthsSource<'a> {
    /// What they mean.
    pub(crate) meaning: Meaning,
    /// The lengths tensor.
    pub(crate) layout: &'a Layout,
    /// Which of its axes runs along each axis of the data; `None` where it does not vary.
    pub(crate) axis_of: &'a dyn Fn(usize) -> Option<usize>,
    /// Size of the reversed axis.
    pub(crate) limit: usize,
    /// Whether each length is 0 or beyond every axis, so that several may be reversed by it.
    pub(crate) whole: bool,
    /// What to do beyond the limit.
    pub(crate) policy: LengthPolicy,
    /// At which end of the axis sequences are.
    pub(crate) align: Align,
    /// What happens to the rest.
    pub(crate) tail: Tail,
    /// Whether it matters which elements are reversed, even where none moves.
    pub(crate) marks: bool,
}

impl Plan {
    /// Lowers a movement between two layouts of the same shape and type, of which the
    /// output's does not overlap itself.
    pub(crate) fn build(
        src: &Layout,
        dst: &Layout,
        flow_of: impl Fn(usize) -> Flow,
        lengths: Option<LengthsSource<'_>>,
    ) -> Plan {
        debug_assert_eq!(src.shape(), dst.shape());
        let mut lengths_plan = lengths.as_ref().map(lengths_plan);
        let unit = Unit { grain: dst.grain(), count: dst.width() };
        if dst.is_empty() || unit.count == 0 {
            return Plan::of_nothing(unit, lengths_plan);
        }

        let lengths_stride = |axis: usize| match &lengths {
            Some(source) => {
                (source.axis_of)(axis).map_or(0, |axis| source.layout.grain_strides()[axis])
            }
            None => 0,
        };
        let marks =
            lengths.as_ref().is_some_and(|source| source.marks || source.tail == Tail::Zero);
        let align = lengths.as_ref().map_or(Align::Start, |source| source.align);
        let marked = |axis: usize| marks && flow_of(axis).reads_lengths();
        let mut dims: SmallVec<[Dim; 8]> = (0..dst.rank())
            .filter(|&axis| dst.shape()[axis] != 1 || marked(axis))
            .map(|axis| Dim {
                len: dst.shape()[axis],
                src: src.grain_strides()[axis],
                dst: dst.grain_strides()[axis],
                lengths: lengths_stride(axis),
                flow: flow_of(axis),
            })
            .collect();

        let mut origins = Origins {
            src: src.reach().origin,
            dst: dst.reach().origin,
            lengths: lengths_plan.as_ref().map_or(0, |lengths| lengths.reach.origin),
        };
        for dim in &mut dims {
            if dim.flow == Flow::FlipPrefix && align == Align::End {
                // A prefix of the axis walked from its other end.
                walk_backward(&mut dim.dst, &mut origins.dst, dim.len);
                walk_backward(&mut dim.src, &mut origins.src, dim.len);
            }
            point_forward(dim, &mut origins);
            settle_broadcast(dim, marks);
        }
        drop_idle_lengths(&mut dims, &mut lengths_plan, &mut origins);
        sort_by_output_stride(&mut dims);
        let whole = lengths.as_ref().is_some_and(|source| source.whole);
        fuse_neighbours(&mut dims, whole);
        if let Some(plan) = lengths_plan.as_mut().filter(|_| whole) {
            let axis = dims.iter().find(|dim| dim.flow == Flow::FlipPrefix);
            plan.limit = axis.map_or(plan.limit, |axis| axis.len);
        }

        let mut plan = Plan {
            unit,
            dims: SmallVec::from_slice(&dims),
            src: Reach { origin: origins.src, ..src.reach() },
            dst: Reach { origin: origins.dst, ..dst.reach() },
            seals: false,
            lengths: lengths_plan,
        };
        if let Some(lengths) = &mut plan.lengths {
            lengths.reach.origin = origins.lengths;
        }
        plan.widen_unit();
        plan.promote_to_bytes();
        plan.seals = plan.unit.grain != Grain::Byte && dst.owns_last_byte();
        plan
    }

    /// Rule 1: the movement of nothing.
    fn of_nothing(unit: Unit, lengths: Option<LengthsPlan>) -> Plan {
        let none = Reach { origin: 0, start: 0, end: 0 };
        let dims = smallvec![Dim { len: 0, src: 0, dst: 0, lengths: 0, flow: Flow::Keep }];
        Plan { unit, dims, src: none, dst: none, seals: false, lengths }
    }

    /// Rule 6.
    pub(super) fn widen_unit(&mut self) {
        while let Some(&dim) = self.dims.last() {
            if !joins_unit(&dim, self.unit.count) {
                break;
            }
            self.unit.count *= dim.len;
            self.dims.pop();
        }
    }

    /// Rule 7.
    fn promote_to_bytes(&mut self) {
        let per_byte = self.unit.grain.per_byte();
        let step = per_byte as isize;
        let whole = |grains: usize| grains.is_multiple_of(per_byte);
        let in_bytes = per_byte > 1
            && whole(self.unit.count)
            && whole(self.src.origin)
            && whole(self.dst.origin)
            && self.dims.iter().all(|dim| dim.src % step == 0 && dim.dst % step == 0);
        if !in_bytes {
            return;
        }
        self.unit = Unit { grain: Grain::Byte, count: self.unit.count / per_byte };
        for reach in [&mut self.src, &mut self.dst] {
            // Every position is an origin plus whole strides, so start and end divide too.
            reach.origin /= per_byte;
            reach.start /= per_byte;
            reach.end /= per_byte;
        }
        for dim in &mut self.dims {
            dim.src /= step;
            dim.dst /= step;
        }
    }
}

/// Where the first lane begins on each side, while dimensions are being reoriented.
struct Origins {
    src: usize,
    dst: usize,
    lengths: usize,
}

/// Rule 3. A `FlipPrefix` keeps its direction: its prefix is at one end. So does a `FlipSegments`,
/// whose offsets count from one end.
fn point_forward(dim: &mut Dim, origins: &mut Origins) {
    if dim.flow.reads_lengths() {
        return;
    }
    if dim.dst < 0 {
        // Walk the dimension from its other end, on every side.
        walk_backward(&mut dim.dst, &mut origins.dst, dim.len);
        walk_backward(&mut dim.src, &mut origins.src, dim.len);
        walk_backward(&mut dim.lengths, &mut origins.lengths, dim.len);
    }
    if dim.src < 0 {
        walk_backward(&mut dim.src, &mut origins.src, dim.len);
        dim.flow = if dim.flow == Flow::Keep { Flow::Flip } else { Flow::Keep };
    }
}

/// Walks one side of a dimension from its other end.
fn walk_backward(stride: &mut isize, origin: &mut usize, len: usize) {
    // Stays inside the layout's reach (its invariant 3), so it cannot wrap.
    *origin = origin.wrapping_add_signed(*stride * (len as isize - 1));
    *stride = -*stride;
}

/// Rule 4, and its exception, rule 9.
fn settle_broadcast(dim: &mut Dim, marks: bool) {
    if dim.src == 0 && !(marks && dim.flow.reads_lengths()) {
        dim.flow = Flow::Keep;
    }
}

/// Rule 8: lengths that steer nothing are still checked, but no dimension steps through them.
fn drop_idle_lengths(dims: &mut [Dim], lengths: &mut Option<LengthsPlan>, origins: &mut Origins) {
    if dims.iter().any(|dim| dim.flow.reads_lengths()) {
        return;
    }
    dims.iter_mut().for_each(|dim| dim.lengths = 0);
    if let Some(lengths) = lengths {
        origins.lengths = lengths.first;
    }
}

/// Rule 2. Insertion sort: ranks are small, and it allocates nothing.
fn sort_by_output_stride(dims: &mut [Dim]) {
    for sorted in 1..dims.len() {
        let mut at = sorted;
        while at > 0 && dims[at - 1].dst.abs() < dims[at].dst.abs() {
            dims.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Rule 5. `whole` says that every prefix is nothing or all of its dimension.
pub(super) fn fuse_neighbours(dims: &mut SmallVec<impl Array<Item = Dim>>, whole: bool) {
    let mut kept = 0;
    for at in 0..dims.len() {
        let inner = dims[at];
        if kept > 0 && fuse(&dims[kept - 1], &inner, whole) {
            let outer_len = dims[kept - 1].len;
            dims[kept - 1] = Dim { len: outer_len * inner.len, ..inner };
        } else {
            dims[kept] = inner;
            kept += 1;
        }
    }
    dims.truncate(kept);
}

/// Whether two neighbouring dimensions step as one on every side.
fn fuse(outer: &Dim, inner: &Dim, whole: bool) -> bool {
    // A product that overflows is not a stride of any layout.
    let continues = |outer: isize, step: isize| step.checked_mul(inner.len as isize) == Some(outer);
    outer.flow == inner.flow
        && (!outer.flow.reads_lengths() || whole)
        && continues(outer.src, inner.src)
        && continues(outer.dst, inner.dst)
        && continues(outer.lengths, inner.lengths)
}

/// Whether an innermost dimension is part of a unit of `count` grains.
fn joins_unit(dim: &Dim, count: usize) -> bool {
    dim.flow == Flow::Keep
        && dim.lengths == 0
        && dim.src == count as isize
        && dim.dst == count as isize
}

/// The lengths tensor on its own: drop sizes of 1 and fuse, keeping its order.
fn lengths_plan(source: &LengthsSource<'_>) -> LengthsPlan {
    let layout = source.layout;
    let mut dims: SmallVec<[(usize, isize); 4]> = SmallVec::new();
    if layout.is_empty() {
        dims.push((0, 0));
    } else {
        for (&len, &stride) in layout.shape().iter().zip(layout.grain_strides()) {
            match dims.last_mut() {
                _ if len == 1 => {}
                Some(outer) if stride.checked_mul(len as isize) == Some(outer.1) => {
                    *outer = (outer.0 * len, stride);
                }
                _ => dims.push((len, stride)),
            }
        }
    }
    LengthsPlan {
        meaning: source.meaning,
        dtype: layout.dtype(),
        dims,
        first: layout.reach().origin,
        reach: layout.reach(),
        limit: source.limit,
        policy: source.policy,
        tail: source.tail,
        marks: source.marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(len: usize, src: isize, dst: isize, flow: Flow) -> Dim {
        Dim { len, src, dst, lengths: 0, flow }
    }

    fn fuses(outer: &Dim, inner: &Dim) -> bool {
        fuse(outer, inner, false)
    }

    #[test]
    fn dims_fuse_when_flow_and_every_stride_agree() {
        use Flow::*;
        let inner = dim(4, 2, 2, Keep);
        assert!(fuses(&dim(3, 8, 8, Keep), &inner));
        assert!(!fuses(&dim(3, 8, 10, Keep), &inner), "padded output rows");
        assert!(!fuses(&dim(3, 10, 8, Keep), &inner), "padded input rows");
        assert!(!fuses(&dim(3, 8, 8, Flip), &inner), "different flows");
        assert!(fuses(&dim(3, 8, 8, Flip), &dim(4, 2, 2, Flip)));
        assert!(!fuses(&dim(3, 8, 8, FlipPrefix), &dim(4, 2, 2, FlipPrefix)));
        assert!(fuse(&dim(3, 8, 8, FlipPrefix), &dim(4, 2, 2, FlipPrefix), true));
        assert!(fuses(&dim(3, 0, 8, Keep), &dim(4, 0, 2, Keep)), "a broadcast scalar");
        let varying = |lengths, dim| Dim { lengths, ..dim };
        assert!(fuses(&varying(16, dim(3, 8, 8, Keep)), &varying(4, inner)));
        assert!(!fuses(&varying(4, dim(3, 8, 8, Keep)), &inner));
    }

    #[test]
    fn a_contiguous_keep_without_lengths_joins_the_unit() {
        assert!(joins_unit(&dim(5, 4, 4, Flow::Keep), 4));
        assert!(!joins_unit(&dim(5, 4, 4, Flow::Flip), 4));
        assert!(!joins_unit(&dim(5, 8, 4, Flow::Keep), 4));
        assert!(!joins_unit(&Dim { lengths: 4, ..dim(5, 4, 4, Flow::Keep) }, 4));
    }

    #[test]
    fn reorienting_a_backward_view_toggles_its_flow_and_moves_its_origin() {
        let mut origins = Origins { src: 30, dst: 0, lengths: 0 };
        let mut backwards = dim(4, -10, 1, Flow::Keep);
        point_forward(&mut backwards, &mut origins);
        assert_eq!((backwards, origins.src), (dim(4, 10, 1, Flow::Flip), 0));

        let mut origins = Origins { src: 0, dst: 30, lengths: 0 };
        let mut both = dim(4, 10, -10, Flow::Flip);
        point_forward(&mut both, &mut origins);
        assert_eq!((both, origins.src, origins.dst), (dim(4, 10, 10, Flow::Keep), 0, 0));

        let mut origins = Origins { src: 30, dst: 30, lengths: 0 };
        let mut prefix = dim(4, -10, -10, Flow::FlipPrefix);
        point_forward(&mut prefix, &mut origins);
        assert_eq!((prefix, origins.src), (dim(4, -10, -10, Flow::FlipPrefix), 30));
    }

    #[test]
    fn dims_sort_from_the_largest_output_stride() {
        let mut dims =
            [dim(2, 1, 4, Flow::Keep), dim(3, 2, -12, Flow::FlipPrefix), dim(5, 3, 36, Flow::Keep)];
        sort_by_output_stride(&mut dims);
        assert_eq!(dims.map(|dim| dim.len), [5, 3, 2]);
    }
}
