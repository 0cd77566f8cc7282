//! Length values: checked once before anything moves, clamped at every read.

use super::walk::{Loop, walk};
use crate::dtype::DType;
use crate::error::ExecuteError;
use crate::lengths::LengthPolicy;
use crate::plan::LengthsPlan;
use crate::tensor::Memory;
use smallvec::SmallVec;

/// Runs a block with `T` as the Rust type of a length's type.
macro_rules! by_type {
    ($dtype:expr, $T:ident => $block:block) => {
        by_type!($dtype, $T => $block, I8 i8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64)
    };
    ($dtype:expr, $T:ident => $block:block, $($dtype_name:ident $rust:ty),*) => {
        match $dtype {
            $(DType::$dtype_name => {
                type $T = $rust;
                $block
            })*
            // U8; every type has at least this one byte.
            _ => {
                type $T = u8;
                $block
            }
        }
    };
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

    /// Offset of the first lane's length.
    pub(super) fn origin(&self) -> isize {
        self.plan.reach.origin as isize
    }

    /// The length at a byte offset, as [`fill`](Self::fill) gives it.
    ///
    /// # Safety
    /// A length of the plan lies at `offset`.
    pub(super) unsafe fn at(&self, offset: isize) -> usize {
        let mut head = [0];
        // SAFETY: the caller's promise.
        unsafe { self.fill(offset, 0, &mut head) };
        head[0]
    }

    /// The lengths from a byte offset on, `stride` bytes apart, as numbers of steps along the
    /// axis.
    ///
    /// Clamped even after [`check_all`](Self::check_all): whoever changes a length while we
    /// work gets a wrong result, never an access out of bounds.
    ///
    /// # Safety
    /// Lengths of the plan lie at all these offsets.
    pub(super) unsafe fn fill(&self, offset: isize, stride: isize, heads: &mut [usize]) {
        let first = self.memory.as_ptr().wrapping_offset(offset);
        let limit = self.plan.limit as u64;
        by_type!(self.plan.dtype, T => {
            for (index, head) in heads.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                let value: T = unsafe { read(first.offset(stride * index as isize)) };
                *head = (if is_negative(value) { 0 } else { value as u64 }).min(limit) as usize;
            }
        });
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
            // SAFETY: the walk visits exactly the offsets of the lengths' layout, all of them
            // inside the reach that the memory was checked to cover.
            if let Some((at, value)) = unsafe { self.first_bad(offset, stride, len, most) } {
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
    /// Lengths of the plan lie at all these offsets.
    unsafe fn first_bad(
        &self,
        offset: isize,
        stride: isize,
        len: usize,
        most: u64,
    ) -> Option<(usize, i128)> {
        let first = self.memory.as_ptr().wrapping_offset(offset);
        by_type!(self.plan.dtype, T => {
            let at = |index: usize| {
                // SAFETY: the caller's promise.
                let value: T = unsafe { read(first.offset(stride * index as isize)) };
                (value, is_negative(value) || value as u64 > most)
            };
            // Hardly ever is one bad, so look at all of them first, without branches.
            if !(0..len).fold(false, |any, index| any | at(index).1) {
                return None;
            }
            let bad = (0..len).find(|&index| at(index).1);
            bad.map(|index| (index, at(index).0 as i128))
        })
    }
}

/// # Safety
/// `ptr` is valid for reads of one `T`, an integer.
#[inline(always)]
unsafe fn read<T: Copy>(ptr: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { ptr.cast::<T>().read_unaligned() }
}

/// Whether an integer of any type is below zero.
#[inline(always)]
fn is_negative<T: Copy + PartialOrd + Default>(value: T) -> bool {
    value < T::default()
}
