//! A plan's dimensions as nested loops, in the order in which the CPU takes them.

mod mirror;
mod walk;

pub(super) use mirror::{mirror, swap_pairs};
pub(super) use walk::{Loop, walk, walk_of};

use super::schedule::Window;
use crate::plan::Dim;
use smallvec::SmallVec;

/// Dimensions of a plan.
pub(super) type Dims = SmallVec<[Dim; 8]>;
/// Loops that advance `K` offsets.
pub(super) type Loops<const K: usize> = SmallVec<[Loop<K>; 8]>;

/// Loops in the order that suits lengths: lanes outside, then the reversed axis, then what moves
/// along with each step of it.
///
/// A `Flip` is a loop that reads backward. A `FlipPrefix` is, lane by lane, a flip of the first
/// `len` steps and a copy of the rest; a `FlipSegments` is a flip of each segment. So one nest of loops with signed steps serves all.
pub(super) struct Nest {
    /// Offsets of the first lane: input, output, lengths.
    pub(super) start: [isize; 3],
    /// One visit per length that applies.
    pub(super) lanes: Loops<3>,
    /// The `FlipPrefix` or `FlipSegments` dimension and the steps of it that are wanted.
    pub(super) prefix: Option<(Dim, Window)>,
    /// Dimensions along which the length stays the same.
    pub(super) inner: Loops<2>,
}

impl Nest {
    pub(super) fn of(dims: &[Dim], window: Window, lengths_origin: isize) -> Self {
        let prefix = dims.iter().position(|dim| dim.flow.reads_lengths());
        let mut nest = Nest {
            start: [0, 0, lengths_origin],
            lanes: Loops::new(),
            prefix: None,
            inner: Loops::new(),
        };
        for (index, dim) in dims.iter().enumerate() {
            let steps = window.steps(index, dim.len);
            if dim.flow.reads_lengths() {
                let wanted = Window { dim: index, start: steps.start, end: steps.end };
                nest.prefix = Some((*dim, wanted));
                continue;
            }
            let (first, step) = walk_of(dim, steps.start);
            for (at, first) in nest.start.iter_mut().zip(first) {
                *at += first;
            }
            if prefix.is_some_and(|prefix| index < prefix || dim.lengths != 0) {
                nest.lanes.push(Loop { len: steps.len(), steps: step });
            } else {
                nest.inner.push(Loop { len: steps.len(), steps: [step[0], step[1]] });
            }
        }
        nest
    }

    /// The loops of all steps; there is one dimension at least.
    pub(super) fn whole(dims: &[Dim]) -> Self {
        Self::of(dims, Window { dim: 0, start: 0, end: dims[0].len }, 0)
    }

    /// The innermost loop of lanes, a single lane if there is none, and the loops around it.
    pub(super) fn innermost_lanes(&self) -> (Loop<3>, &[Loop<3>]) {
        match self.lanes.split_last() {
            Some((row, outer)) => (*row, outer),
            None => (Loop { len: 1, steps: [0; 3] }, &[]),
        }
    }
}
