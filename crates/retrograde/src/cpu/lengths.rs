//! Length values: checked once before anything moves, clamped at every read.

use super::isa::Isa;
use super::threads;
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
    #[inline(always)]
    pub(super) unsafe fn fill(&self, offset: isize, stride: isize, heads: &mut [usize]) {
        let first = self.memory.as_ptr().wrapping_offset(offset);
        let limit = self.plan.limit as u64;
        by_type!(self.plan.dtype, T => {
            // SAFETY: the caller's promise. A step that the compiler knows makes vectors of it.
            unsafe {
                if stride == size_of::<T>() as isize {
                    fill::<T>(first, size_of::<T>() as isize, limit, heads);
                } else {
                    fill::<T>(first, stride, limit, heads);
                }
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
    /// Lengths of the plan lie at all these offsets.
    unsafe fn first_bad(
        &self,
        offset: isize,
        stride: isize,
        len: usize,
        most: u64,
    ) -> Option<(usize, i128)> {
        let mut check = Check { reader: *self, offset, stride, len, most, bad: false };
        // SAFETY: the caller's promise. Hardly ever is one bad, so all are looked at first.
        unsafe { Isa::current().check(&mut check) };
        if !check.bad {
            return None;
        }
        let first = self.memory.as_ptr().wrapping_offset(offset);
        by_type!(self.plan.dtype, T => {
            (0..len).find_map(|index| {
                // SAFETY: the caller's promise.
                let value: T = unsafe { read(first.offset(stride * index as isize)) };
                is_bad(value as i128, most).then_some((index, value as i128))
            })
        })
    }
}

/// Lengths that one thread checks at a time.
const SHARE: usize = 1 << 17;

/// Lengths to read, for the vectors of an instruction set.
pub(super) struct Fill<'a> {
    pub(super) reader: LengthReader<'a>,
    /// Where the first one lies.
    pub(super) offset: isize,
    /// From one to the next.
    pub(super) stride: isize,
    /// Where they go.
    pub(super) heads: &'a mut [usize],
}

/// Lengths to check, for the vectors of an instruction set.
pub(super) struct Check<'a> {
    reader: LengthReader<'a>,
    offset: isize,
    stride: isize,
    len: usize,
    most: u64,
    /// Whether one of them is negative or more than `most`.
    bad: bool,
}

/// Reads lengths.
///
/// # Safety
/// As for [`LengthReader::fill`].
#[inline(always)]
pub(super) unsafe fn run(job: &mut Fill<'_>) {
    // SAFETY: the caller's promise.
    unsafe { job.reader.fill(job.offset, job.stride, job.heads) };
}

/// Checks lengths.
///
/// # Safety
/// Lengths of the plan lie at all the offsets.
#[inline(always)]
pub(super) unsafe fn check(job: &mut Check<'_>) {
    let first = job.reader.memory.as_ptr().wrapping_offset(job.offset);
    by_type!(job.reader.plan.dtype, T => {
        // Bad lengths are those above this, and negative ones. No limit excludes no value.
        let most = T::try_from(job.most).unwrap_or(T::MAX);
        // SAFETY: the caller's promise. A step that the compiler knows makes vectors of it.
        job.bad = unsafe {
            if job.stride == size_of::<T>() as isize {
                any_outside::<T>(first, size_of::<T>() as isize, job.len, most)
            } else {
                any_outside::<T>(first, job.stride, job.len, most)
            }
        };
    });
}

/// # Safety
/// Lengths of type `T` lie at `first` and every `stride` bytes further on.
#[inline(always)]
unsafe fn fill<T: Length>(first: *const u8, stride: isize, limit: u64, heads: &mut [usize]) {
    for (index, head) in heads.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        let value: T = unsafe { read(first.offset(stride * index as isize)) };
        *head = value.at_least_zero().min(limit) as usize;
    }
}

/// Whether one of the lengths is negative or more than `most`.
///
/// # Safety
/// As for [`fill`].
#[inline(always)]
unsafe fn any_outside<T: Length>(first: *const u8, stride: isize, len: usize, most: T) -> bool {
    let mut any = false;
    for index in 0..len as isize {
        // SAFETY: the caller's promise.
        let value: T = unsafe { read(first.offset(stride * index)) };
        any |= value < T::default() || value > most;
    }
    any
}

/// Whether a length is negative or more than `most`.
fn is_bad(value: i128, most: u64) -> bool {
    value < 0 || value > i128::from(most)
}

/// A type that lengths have.
trait Length: Copy + PartialOrd + Default {
    /// The value, or zero if it is negative.
    fn at_least_zero(self) -> u64;
}

macro_rules! lengths {
    ($($rust:ty),*) => {$(
        impl Length for $rust {
            #[inline(always)]
            fn at_least_zero(self) -> u64 {
                self.max(0) as u64
            }
        }
    )*};
}
lengths!(i8, i16, i32, i64, u8, u16, u32, u64);

/// # Safety
/// `ptr` is valid for reads of one `T`, an integer.
#[inline(always)]
unsafe fn read<T: Copy>(ptr: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { ptr.cast::<T>().read_unaligned() }
}
