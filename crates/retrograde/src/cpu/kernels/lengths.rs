//! Length values: read and clamped, or checked, many at a time.

use crate::dtype::DType;

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

/// Lengths in memory, `stride` bytes apart.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Values {
    pub(in crate::cpu) first: *const u8,
    pub(in crate::cpu) stride: isize,
    /// An integer type.
    pub(in crate::cpu) dtype: DType,
}

/// Lengths to read.
#[derive(Debug)]
pub(in crate::cpu) struct Fill<'a> {
    pub(in crate::cpu) values: Values,
    /// Size of the reversed axis.
    pub(in crate::cpu) limit: u64,
    /// Where they go: the number of steps along the axis, at most `limit`.
    pub(in crate::cpu) prefix_lens: &'a mut [usize],
}

/// Lengths to check, or offsets.
#[derive(Debug)]
pub(in crate::cpu) struct Check {
    pub(in crate::cpu) values: Values,
    pub(in crate::cpu) len: usize,
    /// The largest value allowed; `None` for offsets.
    pub(in crate::cpu) most: Option<u64>,
    /// The answer: whether one of them is negative or more than `most`, or an offset is smaller than the
    /// one before it.
    pub(in crate::cpu) bad: bool,
}

/// Reads lengths.
///
/// # Safety
/// As many lengths as `prefix_lens` has entries are valid for reads.
#[inline(always)]
pub(in crate::cpu) unsafe fn fill(job: &mut Fill<'_>) {
    let Values { first, stride, dtype } = job.values;
    by_type!(dtype, T => {
        // SAFETY: the lengths are valid, as required. With a stride that is a constant the
        // compiler vectorises the loop.
        unsafe {
            if stride == size_of::<T>() as isize {
                fill_as::<T>(first, size_of::<T>() as isize, job.limit, job.prefix_lens);
            } else {
                fill_as::<T>(first, stride, job.limit, job.prefix_lens);
            }
        }
    });
}

/// Checks lengths.
///
/// # Safety
/// `len` lengths are valid for reads.
#[inline(always)]
pub(in crate::cpu) unsafe fn check(job: &mut Check) {
    let Values { first, stride, dtype } = job.values;
    by_type!(dtype, T => {
        let own = size_of::<T>() as isize;
        // SAFETY: as in [`fill`].
        job.bad = unsafe {
            match job.most {
                None if stride == own => any_descent::<T>(first, own, job.len),
                None => any_descent::<T>(first, stride, job.len),
                Some(most) => {
                    // A limit beyond the type's range excludes no value but negative ones.
                    let most = T::try_from(most).unwrap_or(T::MAX);
                    if stride == own {
                        any_outside::<T>(first, own, job.len, most)
                    } else {
                        any_outside::<T>(first, stride, job.len, most)
                    }
                }
            }
        };
    });
}

/// The first value, a marked offset.
///
/// # Safety
/// It is valid for reads, of type i64.
#[inline(always)]
pub(in crate::cpu) unsafe fn marked(values: Values) -> i64 {
    // SAFETY: valid, as required.
    unsafe { read(values.first) }
}

/// The first of `len` lengths that is negative or more than `most`, with its index.
///
/// # Safety
/// `len` lengths are valid for reads.
pub(in crate::cpu) unsafe fn first_bad(
    values: Values,
    len: usize,
    most: u64,
) -> Option<(usize, i128)> {
    let Values { first, stride, dtype } = values;
    by_type!(dtype, T => {
        (0..len).find_map(|index| {
            // SAFETY: the length is valid, as required.
            let value: T = unsafe { read(first.offset(stride * index as isize)) };
            let value = i128::from(value);
            (value < 0 || value > i128::from(most)).then_some((index, value))
        })
    })
}

/// The first of `len` offsets that is smaller than the one before it or more than `limit`, or a
/// first one that is not 0: its index, its value, and the least value allowed.
///
/// # Safety
/// `len` offsets are valid for reads.
pub(in crate::cpu) unsafe fn first_descent(
    values: Values,
    len: usize,
    limit: usize,
) -> Option<(usize, i128, usize)> {
    let Values { first, stride, dtype } = values;
    by_type!(dtype, T => {
        let mut least: T = 0;
        for index in 0..len {
            // SAFETY: the offset is valid, as required.
            let value: T = unsafe { read(first.offset(stride * index as isize)) };
            let beyond = value.at_least_zero() > limit as u64;
            if value < least || beyond || (index == 0 && value != 0) {
                return Some((index, i128::from(value), least as usize));
            }
            least = value;
        }
        None
    })
}

/// # Safety
/// As many lengths of type `T` as `prefix_lens` has entries are valid for reads.
#[inline(always)]
unsafe fn fill_as<T: Length>(
    first: *const u8,
    stride: isize,
    limit: u64,
    prefix_lens: &mut [usize],
) {
    for (index, prefix_len) in prefix_lens.iter_mut().enumerate() {
        // SAFETY: the length is valid, as required.
        let value: T = unsafe { read(first.offset(stride * index as isize)) };
        *prefix_len = value.at_least_zero().min(limit) as usize;
    }
}

/// Whether one of the lengths is negative or more than `most`.
///
/// # Safety
/// `len` lengths of type `T` are valid for reads.
#[inline(always)]
unsafe fn any_outside<T: Length>(first: *const u8, stride: isize, len: usize, most: T) -> bool {
    let mut any = false;
    for index in 0..len as isize {
        // SAFETY: the length is valid, as required.
        let value: T = unsafe { read(first.offset(stride * index)) };
        any |= value < T::default() || value > most;
    }
    any
}

/// Whether one of the offsets is smaller than the one before it.
///
/// # Safety
/// `len` offsets of type `T` are valid for reads.
#[inline(always)]
unsafe fn any_descent<T: Length>(first: *const u8, stride: isize, len: usize) -> bool {
    let mut any = false;
    for index in 1..len as isize {
        // SAFETY: both offsets are valid, as required.
        let [before, value]: [T; 2] = unsafe {
            [read(first.offset(stride * (index - 1))), read(first.offset(stride * index))]
        };
        any |= value < before;
    }
    any
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
    // SAFETY: valid, as required.
    unsafe { ptr.cast::<T>().read_unaligned() }
}
