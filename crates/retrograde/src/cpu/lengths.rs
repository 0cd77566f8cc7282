//! The lengths of a plan in memory: checked once before anything moves, clamped at every read.

use super::dispatch::Isa;
use super::kernels::lengths::{self, Check, Fill, Values};
use super::nest::{Loop, walk};
use super::schedule::Team;
use crate::error::ExecuteError;
use crate::lengths::{LengthPolicy, Tail};
use crate::plan::{LengthsPlan, Meaning};
use crate::tensor::Memory;
use smallvec::SmallVec;
use std::ops::Range;

/// Lengths that one thread checks at a time.
const SHARE: usize = 1 << 17;

/// Offsets read at a time.
const GROUP: usize = 256;

/// What [`LengthReader::each_bounds`] visits.
pub(super) enum Bounds<'a> {
    /// Adjacent segments: each starts at one bound and ends at the next.
    Segments(&'a [usize]),
    /// Steps behind the last segment, which keep their order.
    Rest(Range<usize>),
}

/// Lengths in memory that has been checked to hold them.
#[derive(Clone, Copy)]
pub(super) struct LengthReader<'a> {
    plan: &'a LengthsPlan,
    memory: Memory<'a>,
}

impl<'a> LengthReader<'a> {
    /// The memory must cover the plan's reach.
    pub(super) fn new(plan: &'a LengthsPlan, memory: Memory<'a>) -> Self {
        debug_assert!(plan.reach.end <= memory.len());
        LengthReader { plan, memory }
    }

    /// Whether elements beyond a length become zero.
    pub(super) fn zeroes_tail(&self) -> bool {
        self.plan.tail == Tail::Zero
    }

    /// Offset of the first lane's length.
    pub(super) fn origin(&self) -> isize {
        self.plan.reach.origin as isize
    }

    /// The length at a byte offset, as [`fill`](Self::fill) gives it.
    ///
    /// # Safety
    /// `offset` is that of a length of the plan.
    pub(super) unsafe fn at(&self, offset: isize) -> usize {
        let mut prefix_len = [0];
        // SAFETY: one length at `offset`, which is inside the memory, as `new` requires.
        unsafe { lengths::fill(&mut self.fill_job(offset, 0, &mut prefix_len)) };
        prefix_len[0]
    }

    /// The lengths from a byte offset on, `stride` bytes apart, as numbers of steps along the
    /// axis.
    ///
    /// Clamped even after [`check_all`](Self::check_all): if another thread or process changes a
    /// length during the call, the result is wrong, but no access is out of bounds.
    ///
    /// # Safety
    /// All these offsets are those of lengths of the plan.
    #[inline(never)]
    pub(super) unsafe fn fill(&self, offset: isize, stride: isize, prefix_lens: &mut [usize]) {
        // SAFETY: the lengths are inside the memory, which `new` requires to cover the reach.
        unsafe { lengths::fill(&mut self.fill_job(offset, stride, prefix_lens)) };
    }

    /// The same with the vectors of an instruction set, for many lengths.
    ///
    /// # Safety
    /// As for [`fill`](Self::fill).
    #[inline(always)]
    pub(super) unsafe fn fill_with(
        &self,
        isa: Isa,
        offset: isize,
        stride: isize,
        prefix_lens: &mut [usize],
    ) {
        // SAFETY: as in `fill`.
        unsafe { isa.fill(&mut self.fill_job(offset, stride, prefix_lens)) };
    }

    #[inline(always)]
    fn fill_job<'h>(&self, offset: isize, stride: isize, prefix_lens: &'h mut [usize]) -> Fill<'h> {
        Fill { values: self.values(offset, stride), limit: self.plan.limit as u64, prefix_lens }
    }

    #[inline(always)]
    fn values(&self, offset: isize, stride: isize) -> Values {
        let first = self.memory.as_ptr().wrapping_offset(offset);
        Values { first, stride, dtype: self.plan.dtype }
    }

    /// Finds the first length that is negative or, under the strict policy, too long; or the
    /// first offset out of order.
    pub(super) fn check_all(&self) -> Result<(), ExecuteError> {
        let plan = self.plan;
        if !plan.needs_check() {
            return Ok(());
        }
        if plan.meaning == Meaning::Offsets {
            return self.check_offsets();
        }
        let most = match plan.policy {
            LengthPolicy::Strict => plan.limit as u64,
            LengthPolicy::Clamp => u64::MAX,
        };
        let one = (1, 0);
        let (&(len, stride), outer) = plan.dims.split_last().unwrap_or((&one, &[]));
        let loops: SmallVec<[Loop<1>; 8]> =
            outer.iter().map(|&(len, stride)| Loop { len, steps: [stride] }).collect();
        let team = Team::new(len * size_of::<i64>());
        let mut ordinal = 0;
        walk(&loops, [plan.first as isize], |[offset]| {
            let share = SHARE.min(len.max(1));
            let bad = team.first(len.div_ceil(share), |part| {
                let start = part * share;
                let (offset, len) = (offset + stride * start as isize, share.min(len - start));
                // SAFETY: the walk visits exactly the offsets of the lengths' layout, all of
                // them inside the reach that the memory was checked to cover.
                let bad = unsafe { self.first_bad(offset, stride, len, most) };
                bad.map(|(at, value)| (start + at, value))
            });
            if let Some((at, value)) = bad {
                let (ordinal, limit) = (ordinal + at, plan.limit);
                return Err(ExecuteError::LengthOutOfRange { ordinal, value, limit });
            }
            ordinal += len;
            Ok(())
        })
    }

    /// Finds the first offset that descends or is beyond the axis, or a first one other than 0.
    fn check_offsets(&self) -> Result<(), ExecuteError> {
        let (count, stride) = self.row();
        let values = self.values(self.plan.first as isize, stride);
        // SAFETY: these are the plan's offsets, inside the reach that the memory covers.
        let bad = unsafe { lengths::first_descent(values, count, self.plan.limit) };
        bad.map_or(Ok(()), |(ordinal, value, low)| {
            let high = if ordinal == 0 { 0 } else { self.plan.limit };
            Err(ExecuteError::OffsetOutOfRange { ordinal, value, low, high })
        })
    }

    /// The number of offsets and the bytes from one to the next.
    fn row(&self) -> (usize, isize) {
        self.plan.dims.last().copied().unwrap_or((1, 0))
    }

    /// The offsets of segments that have a step in `steps`: visits them in groups, each as the
    /// ascending bounds of adjacent segments, and finally what is behind the last one as a range
    /// of its own. Bounds may lie outside `steps`. All of them are clamped to the axis and ascend, even if another thread changes
    /// them.
    pub(super) fn each_bounds(&self, steps: Range<usize>, mut visit: impl FnMut(Bounds<'_>)) {
        // Compiled once: what is called is called for many bounds at a time.
        self.visit_bounds(steps, &mut visit);
    }

    fn visit_bounds(&self, steps: Range<usize>, visit: &mut dyn FnMut(Bounds<'_>)) {
        if steps.is_empty() {
            return;
        }
        let (count, stride) = self.row();
        let first = self.plan.first as isize;
        // SAFETY: `at` is below the number of offsets.
        let value = |at: usize| unsafe { self.at(first + stride * at as isize) };
        // The last offset that is not beyond the first step: by bisection.
        let (mut low, mut high) = (0, count);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if value(middle) <= steps.start { low = middle } else { high = middle }
        }
        let mut bounds = [0; GROUP + 1];
        let mut last = value(low).min(steps.start);
        bounds[0] = last;
        let mut next = low + 1;
        while next < count && last < steps.end {
            let group = GROUP.min(count - next);
            let read = &mut bounds[1..=group];
            // SAFETY: offsets `next..next + group` are the plan's.
            unsafe { self.fill(first + stride * next as isize, stride, read) };
            for bound in read {
                *bound = last.max(*bound);
                last = *bound;
            }
            visit(Bounds::Segments(&bounds[..=group]));
            bounds[0] = last;
            next += group;
        }
        let rest = last.max(steps.start)..steps.end;
        if !rest.is_empty() {
            visit(Bounds::Rest(rest));
        }
    }

    /// The step of the input that becomes step `at` of the output.
    pub(super) fn segment_source(&self, at: usize) -> usize {
        let mut source = at;
        self.each_bounds(at..at + 1, |bounds| {
            let Bounds::Segments(bounds) = bounds else { return };
            if let Some(pair) = bounds.windows(2).find(|pair| (pair[0]..pair[1]).contains(&at)) {
                source = pair[0] + pair[1] - 1 - at;
            }
        });
        source
    }

    /// The first of `len` lengths that is negative or more than `most`.
    ///
    /// # Safety
    /// All these offsets are those of lengths of the plan.
    unsafe fn first_bad(
        &self,
        offset: isize,
        stride: isize,
        len: usize,
        most: u64,
    ) -> Option<(usize, i128)> {
        let values = self.values(offset, stride);
        let mut check = Check { values, len, most, bad: false };
        // SAFETY: the lengths are inside the memory, as required. Bad lengths are rare, so one
        // vectorised pass looks for any before a slower one finds the first.
        unsafe {
            Isa::current().check(&mut check);
            if check.bad { lengths::first_bad(values, len, most) } else { None }
        }
    }
}
