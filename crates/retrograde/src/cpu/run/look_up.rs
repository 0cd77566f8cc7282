//! A table is a second look at what was reversed, part by part, while it is in a cache.

use crate::cpu::dispatch::Isa;
use crate::cpu::kernels::look_up::LookUp;
use crate::cpu::lengths::{Bounds, LengthReader};
use crate::cpu::nest::{Loop, Loops, Nest, walk};
use crate::cpu::schedule::{Team, Window};
use crate::plan::{Dim, Flow};
use crate::table::Table;
use std::convert::Infallible;
use std::ops::Range;

/// Bytes of a part: as many as stay in a second-level cache, with what they were read from.
const PART: usize = 128 << 10;
/// The largest part that is put together aside.
pub(super) const MOST_ASIDE: usize = 2 * PART;

/// How many parts a call of so many bytes is cut into, if it is looked up.
pub(super) fn parts(team: &Team<'_>, bytes: usize, looks_up: bool) -> usize {
    let parts = team.parts(bytes);
    // Lent threads run as many parts at once as there are.
    if looks_up && !team.is_lent() { parts.max(bytes.div_ceil(PART)) } else { parts }
}

/// What is looked up, and where.
#[derive(Clone, Copy)]
pub(super) struct LookUps<'a> {
    pub(super) table: &'a Table,
    pub(super) isa: Isa,
    /// Where the offsets of the dimensions count from: the first unit, or, of packed elements, the memory.
    pub(super) memory: *mut u8,
    /// Grains in a unit.
    pub(super) unit: usize,
    /// Bits in a grain.
    pub(super) bits: usize,
    pub(super) lengths: Option<LengthReader<'a>>,
    /// Whether segments belong to the part in which they start.
    pub(super) whole_segments: bool,
}

// SAFETY: threads look up separate bytes.
unsafe impl Send for LookUps<'_> {}
// SAFETY: as above.
unsafe impl Sync for LookUps<'_> {}

/// Looks up what is reversed along all of the dimensions of packed elements, after they have moved: parts
/// may share bytes.
///
/// # Safety
/// As for [`LookUps::part`].
pub(super) unsafe fn after(
    table: Option<&Table>,
    bits: usize,
    dims: &[Dim],
    origin: usize,
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let Some(table) = table else { return };
    let (isa, whole_segments) = (Isa::current(), false);
    let all = LookUps { table, isa, memory, unit: 1, bits, lengths, whole_segments };
    let window = Window { dim: 0, start: 0, end: dims.first().map_or(1, |dim| dim.len) };
    // SAFETY: passed on.
    unsafe { all.part(dims, origin as isize, window) };
}

impl LookUps<'_> {
    /// Looks up what is reversed in a window of the dimensions, from grain `origin` on.
    ///
    /// # Safety
    /// The memory is valid over the reach of the dimensions and initialised, `lengths` is there if one of
    /// them reads any, and no other thread uses the window.
    pub(super) unsafe fn part(&self, dims: &[Dim], origin: isize, window: Window) {
        let nest = Nest::of(dims, window, self.lengths.map_or(0, |lengths| lengths.origin()));
        let [_, first, _] = nest.start;
        let mut loops = Loops::<2>::with_capacity(nest.inner.len() + 1);
        let Some(((axis, steps), lengths)) = nest.prefix.zip(self.lengths) else {
            // Lengths that no dimension reads reverse nothing.
            if self.lengths.is_none() {
                // SAFETY: passed on.
                unsafe { self.loops(&nest.inner, origin + first) };
            }
            return;
        };
        loops.push(Loop { len: 0, steps: [0, axis.dst] });
        loops.extend_from_slice(&nest.inner);
        let Ok(()) = walk(&nest.lanes, nest.start, |[_, lane, length_at]| {
            let mut span = |steps: Range<usize>| {
                loops[0].len = steps.len();
                let start = origin + lane + axis.dst * steps.start as isize;
                // SAFETY: lengths and bounds are clamped to the axis, so the steps are inside the lane.
                unsafe { self.loops(&loops, start) };
            };
            if axis.flow == Flow::FlipSegments {
                let wanted = steps.start..steps.end;
                lengths.each_bounds(wanted.clone(), |bounds| {
                    let Bounds::Segments(bounds) = bounds else { return };
                    span(self.reversed(bounds, &wanted));
                });
            } else {
                // SAFETY: the nest visits lengths of the plan.
                let len = unsafe { lengths.at(length_at) };
                span(steps.start..len.clamp(steps.start, steps.end));
            }
            Ok::<(), Infallible>(())
        });
    }

    /// The steps of adjacent segments that belong to a window.
    fn reversed(&self, bounds: &[usize], wanted: &Range<usize>) -> Range<usize> {
        let (first, last) = (bounds[0], bounds[bounds.len() - 1]);
        if !self.whole_segments {
            let start = first.max(wanted.start);
            return start..last.min(wanted.end).max(start);
        }
        let starts = |bound: &&usize| wanted.contains(bound);
        let from = bounds[..bounds.len() - 1].iter().position(|bound| wanted.contains(bound));
        let Some(from) = from else { return first..first };
        let count = bounds[from..bounds.len() - 1].iter().take_while(starts).count();
        bounds[from]..bounds[from + count]
    }

    /// Looks up along nested loops, whose second steps count.
    ///
    /// # Safety
    /// As for [`part`](Self::part): every combination of steps is inside the memory.
    unsafe fn loops(&self, loops: &[Loop<2>], mut start: isize) {
        if loops.iter().any(|l| l.len == 0) || self.unit == 0 {
            return;
        }
        let (mut run, mut outer) = (self.unit, loops);
        // Contiguous loops are one run, from its lowest grain.
        while let Some((inner, rest)) = outer.split_last()
            && inner.steps[1].unsigned_abs() == run
        {
            if inner.steps[1] < 0 {
                start += inner.steps[1] * (inner.len as isize - 1);
            }
            (run, outer) = (run * inner.len, rest);
        }
        let Ok(()) = walk(outer, [0, start], |[_, at]| {
            // SAFETY: as required.
            unsafe { self.run(at, run) };
            Ok::<(), Infallible>(())
        });
    }

    /// # Safety
    /// As for [`part`](Self::part), for so many grains from one on.
    unsafe fn run(&self, at: isize, len: usize) {
        if self.bits == 8 {
            // Offsets are negative where steps are counted from the end.
            // SAFETY: as required.
            unsafe {
                let at = self.memory.offset(at);
                return self.isa.look_up(&LookUp { at, len, table: self.table });
            }
        }
        // Of packed elements they count from the start of the memory.
        let at = at as usize;
        let per_byte = 8 / self.bits;
        let end = at + len;
        let (first, last) = (at.next_multiple_of(per_byte).min(end), end - end % per_byte);
        // SAFETY: as required.
        unsafe {
            for grain in at..first {
                self.one(grain);
            }
            if first < last {
                let (at, len) = (self.memory.add(first / per_byte), (last - first) / per_byte);
                self.isa.look_up(&LookUp { at, len, table: self.table });
            }
            for grain in last.max(first)..end {
                self.one(grain);
            }
        }
    }

    /// One packed element, which shares its byte with others.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn one(&self, grain: usize) {
        let (per_byte, mask) = (8 / self.bits, (1u8 << self.bits) - 1);
        let shift = grain % per_byte * self.bits;
        // SAFETY: as required.
        unsafe {
            let byte = self.memory.add(grain / per_byte);
            let old = byte.read();
            let entry = self.table.byte_entries()[usize::from(old)] & mask << shift;
            byte.write(old & !(mask << shift) | entry);
        }
    }
}
