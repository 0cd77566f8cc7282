//! The lengths of a plan in memory: checked once before anything moves, clamped at every read.

use super::dispatch::Isa;
use super::kernels::lengths::{self, Check, Fill, Values};
use super::nest::{Loop, walk};
use super::schedule::threads;
use crate::error::ExecuteError;
use crate::lengths::LengthPolicy;
use crate::plan::LengthsPlan;
use crate::tensor::Memory;
use smallvec::SmallVec;

/// Lengths that one thread checks at a time.
const SHARE: usize = 1 << 17;

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

    /// Offset of the first lane's length.
    pub(super) fn origin(&self) -> isize {
        self.plan.reach.origin as isize
    }

    /// The length at a byte offset, as [`fill`](Self::fill) gives it.
    ///
    /// # Safety
    /// `offset` is that of a length of the plan.
    pub(super) unsafe fn at(&self, offset: isize) -> usize {
        let mut head = [0];
        // SAFETY: passed on: one length at `offset`.
        unsafe { self.fill(offset, 0, &mut head) };
        head[0]
    }

    /// The lengths from a byte offset on, `stride` bytes apart, as numbers of steps along the
    /// axis.
    ///
    /// Clamped even after [`check_all`](Self::check_all): if another thread or process changes a
    /// length during the call, the result is wrong, but no access is out of bounds.
    ///
    /// # Safety
    /// All these offsets are those of lengths of the plan.
    #[inline(always)]
    pub(super) unsafe fn fill(&self, offset: isize, stride: isize, heads: &mut [usize]) {
        // SAFETY: the lengths are inside the memory, which `new` requires to cover the reach.
        unsafe { lengths::fill(&mut self.fill_job(offset, stride, heads)) };
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
        heads: &mut [usize],
    ) {
        // SAFETY: as in `fill`.
        unsafe { isa.fill(&mut self.fill_job(offset, stride, heads)) };
    }

    #[inline(always)]
    fn fill_job<'h>(&self, offset: isize, stride: isize, heads: &'h mut [usize]) -> Fill<'h> {
        Fill { values: self.values(offset, stride), limit: self.plan.limit as u64, heads }
    }

    #[inline(always)]
    fn values(&self, offset: isize, stride: isize) -> Values {
        let first = self.memory.as_ptr().wrapping_offset(offset);
        Values { first, stride, dtype: self.plan.dtype }
    }

    /// Finds the first length that is negative or, under the strict policy, too long.
    pub(super) fn check_all(&self) -> Result<(), ExecuteError> {
        let plan = self.plan;
        if !plan.needs_check() {
            return Ok(());
        }
        let most = match plan.policy {
            LengthPolicy::Strict => plan.limit as u64,
            LengthPolicy::Clamp => u64::MAX,
        };
        let one = (1, 0);
        let (&(len, stride), outer) = plan.dims.split_last().unwrap_or((&one, &[]));
        let loops: SmallVec<[Loop<1>; 8]> =
            outer.iter().map(|&(len, stride)| Loop { len, steps: [stride] }).collect();
        let mut ordinal = 0;
        walk(&loops, [plan.first as isize], |[offset]| {
            let share = SHARE.min(len.max(1));
            let bad = threads::first(len.div_ceil(share), |part| {
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
