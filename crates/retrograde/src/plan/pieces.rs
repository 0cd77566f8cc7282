//! Pieces of a plan: smaller plans that together do what it does.
//!
//! For reporting the progress of a long movement, stopping between two pieces, or keeping only a
//! part of the output in memory at a time.

use super::{Flow, Plan, Unit};
use crate::dtype::Grain;
use crate::layout::Reach;
use smallvec::SmallVec;
use std::ops::Range;

/// Output bytes that pieces start on multiples of, where they can: a page.
const ALIGNED: usize = 4 << 10;
/// Where every piece reaches from one end of the output to the other (an axis with lengths is
/// outermost), it takes at least this much of each row: less would waste pages and lines.
const LEAST_RUN: usize = 8 << 10;

/// The pieces of a plan, in the order of its output; made by [`Plan::pieces`].
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    plan: &'a Plan,
    /// Dimensions outside the one that is cut: each piece has one step of each.
    single: SmallVec<[usize; 8]>,
    /// The dimension that is cut (the unit, if it is one past the last) and its length.
    cut: usize,
    len: usize,
    /// Steps of it in a piece.
    step: usize,
    range: Range<usize>,
}

impl Plan {
    /// Cuts the plan into plans that write about this many bytes each.
    ///
    /// Pieces may run in any order, at any time. An axis whose lanes have lengths of their own
    /// is never cut, and packed elements only where a byte of the output ends (not at all, where
    /// bytes are shared with others), so a piece may be larger than asked for.
    /// A piece checks the lengths that it reads itself. To check all of them once, before
    /// anything is written, use [`cpu::Checked`](crate::cpu::Checked).
    pub fn pieces(&self, bytes: usize) -> Pieces<'_> {
        let whole = Pieces {
            plan: self,
            single: SmallVec::new(),
            cut: 0,
            len: self.dims.first().map_or(1, |dim| dim.len),
            step: usize::MAX,
            range: 0..1,
        };
        // All that follows is in grains.
        let per_byte = self.unit.grain.per_byte();
        let starts_bytes = |grains: usize| grains.is_multiple_of(per_byte);
        if self.merges_bytes() || !starts_bytes(self.dst.origin) || self.is_empty() {
            return whole;
        }
        let bytes = bytes.saturating_mul(per_byte);
        let (aligned, least_run) = (ALIGNED * per_byte, LEAST_RUN * per_byte);
        let mut rest = self.units() * self.unit.count;
        let (mut single, mut prefix_outside) = (SmallVec::new(), false);
        let unit = (self.dims.len(), self.unit.count, 1, Flow::Keep);
        let dims = self.dims.iter().enumerate();
        let dims = dims.map(|(index, dim)| (index, dim.len, dim.dst.unsigned_abs(), dim.flow));
        for (index, len, stride, flow) in dims.chain([unit]) {
            if flow.reads_lengths() {
                if !starts_bytes(stride) {
                    return whole;
                }
                prefix_outside = true;
                continue;
            }
            let per_step = rest / len;
            let is_last = index == self.dims.len();
            let too_narrow = prefix_outside && stride <= least_run;
            if per_step > bytes && !is_last && !too_narrow && starts_bytes(stride) {
                single.push(index);
                rest = per_step;
                continue;
            }
            let mut step = (bytes / per_step.max(1)).max(1);
            if prefix_outside {
                step = step.max(least_run / stride.max(1));
            }
            let page = aligned / gcd(aligned, stride);
            if step > page {
                step -= step % page;
            } else {
                step = step.next_multiple_of(per_byte / gcd(per_byte, stride));
            }
            let outside: usize = single.iter().map(|&dim: &usize| self.dims[dim].len).product();
            let count = outside * len.div_ceil(step);
            return Pieces { plan: self, single, cut: index, len, step, range: 0..count };
        }
        whole
    }

    /// Cuts a plan that [fits in place](Plan::fits_in_place) into plans that do, about this many
    /// bytes each, which may run in any order.
    ///
    /// Elements that are swapped must stay together: an outermost flip is cut into ranges with their
    /// mirror images, anything else only around what moves. Packed flips are not cut.
    pub fn pieces_in_place(&self, bytes: usize) -> impl Iterator<Item = Plan> + use<'_> {
        let flip = self.dims.first().filter(|dim| dim.flow == Flow::Flip && dim.len > 3);
        let mirrored = flip.filter(|_| self.unit.grain == Grain::Byte && self.lengths.is_none());
        // Only kept dimensions can be cut as if there were two buffers.
        let apart = mirrored.is_none() && self.pieces(bytes).all(|piece| piece.fits_in_place());
        let whole = (mirrored.is_none() && !apart).then(|| self.clone());
        let plain = self.pieces(bytes).take(if apart { usize::MAX } else { 0 });
        whole.into_iter().chain(plain).chain(self.mirrored(bytes, mirrored.map(|dim| dim.len)))
    }

    /// The same plan for buffers that start this many bytes later, such as a window of a file
    /// that holds only what a piece needs.
    ///
    /// # Panics
    /// If the plan reaches bytes before the new start.
    pub fn without_start(&self, src: usize, dst: usize) -> Plan {
        let per_byte = self.unit.grain.per_byte();
        let later = |reach: Reach, bytes: usize| {
            let grains = bytes.checked_mul(per_byte).filter(|&grains| grains <= reach.start);
            let grains = grains.expect("the plan reaches no byte before the new start");
            Reach {
                origin: reach.origin - grains,
                start: reach.start - grains,
                end: reach.end - grains,
            }
        };
        Plan { src: later(self.src, src), dst: later(self.dst, dst), ..self.clone() }
    }

    /// Ranges of the outermost dimension, a flip, each with its mirror image; and finally the
    /// middle one.
    fn mirrored(&self, bytes: usize, len: Option<usize>) -> impl Iterator<Item = Plan> + use<'_> {
        let len = len.unwrap_or(0);
        let per_step = (self.units() * self.unit.count / len.max(1)).max(1);
        let step = (bytes / 2 / per_step).max(1);
        // A wide unit is cut too: its parts are swapped with the same parts of others.
        let part = match self.dims.len() {
            1 if per_step > bytes => bytes.max(1),
            _ => self.unit.count,
        };
        let parts = self.unit.count.div_ceil(part.max(1));
        let pairs = (0..len / 2).step_by(step).flat_map(move |start| {
            let end = (start + step).min(len / 2);
            (0..parts).map(move |at| (start..end, at * part..(at + 1) * part))
        });
        // What keeps its place is looked up too, if there is a table.
        let middle = (0..if len % 2 == 1 { parts } else { 0 }).map(move |at| {
            let (index, part) =
                (len / 2..len / 2 + 1, at * part..self.unit.count.min((at + 1) * part));
            self.window(&[(0, index), (self.dims.len(), part)])
        });
        let pair = move |(range, unit): (Range<usize>, Range<usize>)| {
            let unit = unit.start..unit.end.min(self.unit.count);
            let mut plan = self.clone();
            let outer = self.dims[0];
            // From the start of the range to that of its image.
            let apart = (len - range.start - range.end) as isize;
            let first = (outer.dst * range.start as isize) as usize + unit.start;
            plan.src.origin += first;
            plan.dst.origin += first;
            plan.unit = Unit { count: unit.len(), ..plan.unit };
            plan.dims[0].len = range.len();
            let (src, dst) = (outer.src * apart, outer.dst * apart);
            plan.dims.insert(0, super::Dim { len: 2, src, dst, ..outer });
            plan.tidy();
            plan
        };
        pairs.map(pair).chain(middle)
    }

    /// The plan of these steps of these dimensions, and of all steps of the others.
    fn window(&self, windows: &[(usize, Range<usize>)]) -> Plan {
        let mut plan = self.clone();
        for (index, range) in windows {
            let start = range.start as isize;
            let Some(dim) = plan.dims.get_mut(*index) else {
                plan.unit = Unit { count: range.len(), ..plan.unit };
                plan.src.origin += range.start;
                plan.dst.origin += range.start;
                continue;
            };
            // Every position is one of the whole plan's, so nothing wraps.
            let read = if dim.flow == Flow::Flip { dim.len - range.end } else { range.start };
            let shift = |origin: &mut usize, by: isize| *origin = origin.wrapping_add_signed(by);
            shift(&mut plan.src.origin, dim.src * read as isize);
            shift(&mut plan.dst.origin, dim.dst * start);
            if let Some(lengths) = &mut plan.lengths {
                shift(&mut lengths.reach.origin, dim.lengths * start);
            }
            dim.len = range.len();
        }
        plan.tidy();
        plan
    }

    /// The canonical form of a piece.
    fn tidy(&mut self) {
        let marks =
            self.zeroes_tail() || self.lengths.as_ref().is_some_and(|lengths| lengths.marks);
        self.dims.retain(|dim| dim.len != 1 || (marks && dim.flow.reads_lengths()));
        super::build::fuse_neighbours(&mut self.dims, false);
        self.widen_unit();
        self.src = self.reach(self.src.origin, |dim| dim.src);
        self.dst = self.reach(self.dst.origin, |dim| dim.dst);
        if let Some(lengths) = &mut self.lengths {
            // The piece checks what it reads; lengths that steer nothing are all checked.
            if self.dims.iter().any(|dim| dim.flow == Flow::FlipPrefix) {
                let read = self.dims.iter().filter(|dim| dim.lengths != 0);
                lengths.dims = read.map(|dim| (dim.len, dim.lengths)).collect();
                lengths.first = lengths.reach.origin;
            }
        }
    }

    /// The grains that the dimensions reach from an origin.
    fn reach(&self, origin: usize, stride: impl Fn(&super::Dim) -> isize) -> Reach {
        let (mut start, mut end) = (origin, origin + self.unit.count);
        for dim in &self.dims {
            let span = stride(dim) * (dim.len as isize - 1);
            if span < 0 {
                start = start.wrapping_add_signed(span);
            } else {
                end = end.wrapping_add_signed(span);
            }
        }
        Reach { origin, start, end }
    }
}

impl Pieces<'_> {
    fn get(&self, number: usize) -> Plan {
        if self.step == usize::MAX {
            return self.plan.clone();
        }
        let cuts = self.len.div_ceil(self.step);
        let start = number % cuts * self.step;
        let mut windows: SmallVec<[(usize, Range<usize>); 8]> = SmallVec::new();
        windows.push((self.cut, start..(start + self.step).min(self.len)));
        let mut outside = number / cuts;
        for &dim in self.single.iter().rev() {
            let len = self.plan.dims[dim].len;
            windows.push((dim, outside % len..outside % len + 1));
            outside /= len;
        }
        self.plan.window(&windows)
    }
}

impl Iterator for Pieces<'_> {
    type Item = Plan;

    fn next(&mut self) -> Option<Plan> {
        let number = self.range.next()?;
        Some(self.get(number))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl ExactSizeIterator for Pieces<'_> {}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
