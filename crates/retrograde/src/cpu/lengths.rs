//! The lengths of a plan in memory: checked once before anything moves, clamped at every read.

use super::dispatch::Isa;
use super::kernels::lengths::{self, Check, Fill, Values};
use super::nest::{Loop, walk};
use super::schedule::Team;
use crate::dtype::DType;
use crate::error::ExecuteError;
use crate::lengths::{LengthPolicy, Tail};
use crate::plan::{LengthsPlan, Meaning};
use crate::tensor::Memory;
use smallvec::SmallVec;
use std::ops::Range;

/// Lengths that one thread checks at a time.
const SHARE: usize = 1 << 17;

/// Offsets read at a time: of many short segments, as many as are worth a call of the kernel.
const GROUP: usize = 512;
/// Offsets read at a time by calls with no more than these.
const FEW: usize = 64;

/// What [`LengthReader::each_bounds`] visits.
pub(super) enum Bounds<'a> {
    /// Adjacent segments: each starts at one bound and ends at the next.
    Segments(&'a [usize]),
    /// The same with a bit for each, whether it is reversed: only of [`LengthReader::each_group`].
    Marked(&'a [usize], &'a [u64]),
    /// Steps which keep their order: segments that are not marked, or what is behind the last one.
    Rest(Range<usize>),
}

/// Visits adjacent segments, of which a bit says whether it is reversed.
pub(super) fn visit_marked(
    bounds: &[usize],
    marks: &[u64],
    steps: &Range<usize>,
    visit: &mut dyn FnMut(Bounds<'_>),
) {
    let moves = |segment: usize| marks[segment / 64] >> (segment % 64) & 1 == 1;
    let mut first = 0;
    while first + 1 < bounds.len() {
        let end = (first + 1..bounds.len() - 1).find(|&at| moves(at) != moves(first));
        let end = end.unwrap_or(bounds.len() - 1);
        let rest = bounds[first].max(steps.start)..bounds[end].min(steps.end);
        match moves(first) {
            true => visit(Bounds::Segments(&bounds[first..=end])),
            false if rest.is_empty() => {}
            false => visit(Bounds::Rest(rest)),
        }
        first = end;
    }
}

/// The type of bounds that have been read.
const BOUNDS: DType = if usize::BITS == 64 { DType::U64 } else { DType::U32 };

/// Whether one of `len` values is smaller than the one before it.
///
/// # Safety
/// That many values are valid for reads.
unsafe fn descends(values: Values, len: usize) -> bool {
    let mut check = Check { values, len, most: None, bad: false };
    // SAFETY: passed on.
    unsafe { Isa::current().check(&mut check) };
    check.bad
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
        // Marked offsets are clamped when their marks have been taken off.
        let marked = self.plan.meaning == Meaning::MarkedOffsets;
        let limit = if marked { u64::MAX } else { self.plan.limit as u64 };
        Fill { values: self.values(offset, stride), limit, prefix_lens }
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
        match plan.meaning {
            Meaning::Lengths => {}
            Meaning::Offsets => return self.check_offsets(),
            Meaning::MarkedOffsets => return self.check_marked(),
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
        let first = self.plan.first as isize;
        let team = Team::new(count * size_of::<i64>());
        let descends = |part: usize| {
            let start = part * SHARE;
            // With the last offset of the part before.
            let range = start.saturating_sub(1)..(start + SHARE).min(count);
            let values = self.values(first + stride * range.start as isize, stride);
            // SAFETY: these are the plan's offsets, inside the reach that the memory covers.
            unsafe { descends(values, range.len()) }.then_some(())
        };
        let descends = team.first(count.div_ceil(SHARE), descends).is_some();
        // Offsets that ascend from 0 are in range if the last one is.
        let values = |at: usize| self.values(first + stride * at as isize, stride);
        // SAFETY: as above: the first one, and the last one.
        let outside = |at: usize, most: usize| unsafe {
            lengths::first_bad(values(at), 1.min(count), most as u64).is_some()
        };
        if !descends && !outside(0, 0) && !outside(count.saturating_sub(1), self.plan.limit) {
            return Ok(());
        }
        // SAFETY: as above. Bad offsets are rare, so that the first one is looked for only now.
        let bad = unsafe { lengths::first_descent(values(0), count, self.plan.limit) };
        bad.map_or(Ok(()), |(ordinal, value, low)| {
            let high = if ordinal == 0 { 0 } else { self.plan.limit };
            Err(ExecuteError::OffsetOutOfRange { ordinal, value, low, high })
        })
    }

    /// The same of marked offsets.
    fn check_marked(&self) -> Result<(), ExecuteError> {
        let mut low = 0;
        for ordinal in 0..self.row().0 {
            let value = self.marked(ordinal) >> 1;
            let high = if ordinal == 0 { 0 } else { self.plan.limit };
            if value < low as i64 || value as u64 > high as u64 {
                let value = i128::from(value);
                return Err(ExecuteError::OffsetOutOfRange { ordinal, value, low, high });
            }
            low = value as usize;
        }
        Ok(())
    }

    /// A marked offset as it is.
    fn marked(&self, at: usize) -> i64 {
        let (count, stride) = self.row();
        debug_assert!(at < count);
        let values = self.values(self.plan.first as isize + stride * at as isize, stride);
        // SAFETY: one of the plan's offsets, inside the reach that the memory covers.
        unsafe { lengths::marked(values) }
    }

    /// The number of offsets and the bytes from one to the next.
    fn row(&self) -> (usize, isize) {
        self.plan.dims.last().copied().unwrap_or((1, 0))
    }

    /// The offsets of segments that have a step in `steps`: visits them in groups, each as the
    /// ascending bounds of adjacent segments, and finally what is behind the last one as a range
    /// of its own. So are segments that are not marked, if offsets are. Bounds may lie outside `steps`.
    /// All of them are clamped to the axis and ascend, even if another thread changes them.
    pub(super) fn each_bounds(&self, steps: Range<usize>, mut visit: impl FnMut(Bounds<'_>)) {
        self.each_group(steps.clone(), |bounds| match bounds {
            Bounds::Marked(bounds, marks) => visit_marked(bounds, marks, &steps, &mut visit),
            bounds => visit(bounds),
        });
    }

    /// The same, with all segments of a group together if offsets are marked.
    pub(super) fn each_group(&self, steps: Range<usize>, mut visit: impl FnMut(Bounds<'_>)) {
        // Compiled once: what is called is called for many bounds at a time.
        self.visit_bounds(steps, &mut visit);
    }

    fn visit_bounds(&self, steps: Range<usize>, visit: &mut dyn FnMut(Bounds<'_>)) {
        if steps.is_empty() {
            return;
        }
        let (count, stride) = self.row();
        let first = self.plan.first as isize;
        let (limit, marked) = (self.plan.limit, self.plan.meaning == Meaning::MarkedOffsets);
        let value = |at: usize| match marked {
            true => ((self.marked(at).max(0) as usize) >> 1).min(limit),
            // SAFETY: `at` is below the number of offsets.
            false => unsafe { self.at(first + stride * at as isize) },
        };
        // The last offset that is not beyond the first step: by bisection.
        let (mut low, mut high) = (0, count);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if value(middle) <= steps.start { low = middle } else { high = middle }
        }
        // Zeroing room for many would take longer than a small call.
        let (mut few, mut many);
        let bounds: &mut [usize] = if count <= FEW {
            few = [0; FEW + 1];
            &mut few
        } else {
            many = [0; GROUP + 1];
            &mut many
        };
        let mut marks = [0u64; GROUP / 64 + 1];
        let mut last = value(low).min(steps.start);
        bounds[0] = last;
        let mut moves = !marked || self.marked(low) & 1 == 1;
        let mut next = low + 1;
        while next < count && last < steps.end {
            let group = (bounds.len() - 1).min(count - next);
            let read = &mut bounds[1..=group];
            // SAFETY: offsets `next..next + group` are the plan's.
            unsafe {
                self.fill_with(Isa::current(), first + stride * next as isize, stride, read);
            }
            if marked {
                let all = &mut bounds[..=group];
                all[0] = 2 * all[0] + usize::from(moves);
                for (word, some) in marks.iter_mut().zip(all.chunks(64)) {
                    *word = (0..)
                        .zip(some)
                        .fold(0, |word, (at, &bound)| word | (bound as u64 & 1) << at);
                }
                for bound in all {
                    *bound = (*bound >> 1).min(limit);
                }
                moves = marks[group / 64] >> (group % 64) & 1 == 1;
            }
            // SAFETY: `bounds` are initialised.
            let descends = unsafe {
                let (first, stride) = (bounds.as_ptr().cast(), size_of::<usize>() as isize);
                descends(Values { first, stride, dtype: BOUNDS }, group + 1)
            };
            if descends {
                // Another thread has changed them since they were checked.
                for index in 1..=group {
                    bounds[index] = bounds[index].max(bounds[index - 1]);
                }
            }
            last = bounds[group];
            match marked {
                true => visit(Bounds::Marked(&bounds[..=group], &marks)),
                false => visit(Bounds::Segments(&bounds[..=group])),
            }
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
        let mut check = Check { values, len, most: Some(most), bad: false };
        // SAFETY: the lengths are inside the memory, as required. Bad lengths are rare, so one
        // vectorised pass looks for any before a slower one finds the first.
        unsafe {
            Isa::current().check(&mut check);
            if check.bad { lengths::first_bad(values, len, most) } else { None }
        }
    }
}
