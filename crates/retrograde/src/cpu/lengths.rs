//! Length values: checked once before anything moves, clamped at every read.

use super::walk::{Loop, walk};
use crate::dtype::DType;
use crate::error::ExecuteError;
use crate::integers;
use crate::lengths::LengthPolicy;
use crate::plan::LengthsPlan;
use crate::tensor::Memory;
use smallvec::SmallVec;

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

    /// The length at a byte offset, as a number of steps along the axis.
    ///
    /// Clamped even after [`check_all`](Self::check_all): whoever changes a length while we
    /// work gets a wrong result, never an access out of bounds.
    ///
    /// # Safety
    /// A length of the plan lies at `offset`.
    #[inline]
    pub(super) unsafe fn at(&self, offset: isize) -> usize {
        // SAFETY: the length lies inside the plan's reach, which the memory covers.
        let value = unsafe {
            let ptr = self.memory.as_ptr().offset(offset);
            // The two types that nearly everyone uses, without a detour through 128 bits.
            match self.plan.dtype {
                DType::I64 => {
                    let value = ptr.cast::<i64>().read_unaligned().max(0);
                    usize::try_from(value).unwrap_or(usize::MAX)
                }
                DType::U32 => ptr.cast::<u32>().read_unaligned() as usize,
                other => {
                    let value = integers::read(other, ptr).max(0);
                    usize::try_from(value).unwrap_or(usize::MAX)
                }
            }
        };
        value.min(self.plan.limit)
    }

    /// Finds the first length that is negative or, under the strict policy, too long.
    pub(super) fn check_all(&self) -> Result<(), ExecuteError> {
        let plan = self.plan;
        if !plan.needs_check() {
            return Ok(());
        }
        let allowed = match plan.policy {
            LengthPolicy::Strict => 0..=plan.limit as i128,
            LengthPolicy::Clamp => 0..=i128::MAX,
        };
        let loops: SmallVec<[Loop<1>; 8]> =
            plan.dims.iter().map(|&(len, stride)| Loop { len, steps: [stride] }).collect();
        let mut ordinal = 0;
        walk(&loops, [plan.first as isize], |[offset]| {
            // SAFETY: the walk visits exactly the offsets of the lengths' layout, all of them
            // inside the reach that the memory was checked to cover.
            let value = unsafe { integers::read(plan.dtype, self.memory.as_ptr().offset(offset)) };
            if !allowed.contains(&value) {
                let limit = plan.limit;
                return Err(ExecuteError::LengthOutOfRange { ordinal, value, limit });
            }
            ordinal += 1;
            Ok(())
        })
    }
}
