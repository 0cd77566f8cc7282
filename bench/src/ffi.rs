//! The C interface, for Python's ctypes.
//!
//! Functions that can fail return null or 1, and [`rb_error`] then has the message. A handle is
//! used by one thread at a time.

use crate::call::{Call, Failure, Operator, Plans};
use crate::copy;
use crate::overhead::Step;
use retrograde::DType;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::slice;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// The arguments of a call. Pointers are only read while [`rb_call_new`] runs.
#[repr(C)]
#[derive(Debug)]
pub struct CallSpec {
    /// 0 `Reverse`, 1 `ReverseSequence`, 2 `ReverseSubsequences`.
    pub operator: u32,
    /// Number of axes of the input.
    pub rank: u32,
    /// Their sizes.
    pub shape: *const usize,
    /// The input's strides in elements, or null if it is dense.
    pub strides: *const isize,
    /// Name of the element type.
    pub dtype: *const c_char,
    /// The axes of `Reverse`; time and batch; or the one axis.
    pub axes: *const i64,
    /// The number of axes.
    pub axes_len: usize,
    /// The lengths, or null.
    pub lengths: *const u8,
    /// Their size in bytes.
    pub lengths_len: usize,
    /// Name of their type.
    pub lengths_dtype: *const c_char,
}

/// The last error on this thread; valid until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn rb_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// Prepares a call; null on error.
///
/// # Safety
/// Every pointer in the specification is null if that is allowed, or valid for reads of as many
/// entries as stated; names are C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_call_new(spec: &CallSpec) -> *mut Call {
    // SAFETY: every pointer of the specification is valid, as required, for `prepare` too.
    match unsafe { prepare(spec) } {
        Ok(call) => Box::into_raw(Box::new(call)),
        Err(failure) => {
            say(&failure);
            std::ptr::null_mut()
        }
    }
}

/// Frees a call.
///
/// # Safety
/// `call` came from [`rb_call_new`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_call_free(call: *mut Call) {
    // SAFETY: the call came from `rb_call_new`, which leaked a box, and is not used again.
    drop(unsafe { Box::from_raw(call) });
}

/// Runs a call from one buffer to another.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of the call's bytes, and they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_run(
    call: &Call,
    threads: usize,
    src: *const u8,
    dst: *mut u8,
    plan_each_call: bool,
    iterations: usize,
) -> i32 {
    // SAFETY: `src` and `dst` are valid for the call's bytes, as required.
    let (src, dst) = unsafe {
        (slice::from_raw_parts(src, call.bytes()), slice::from_raw_parts_mut(dst, call.bytes()))
    };
    let plans = if plan_each_call { Plans::EachCall } else { Plans::Reused };
    code(call.run(threads, src, dst, plans, iterations))
}

/// Runs a call in place.
///
/// # Safety
/// `memory` is valid for reads and writes of the call's bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_in_place(
    call: &Call,
    threads: usize,
    memory: *mut u8,
    iterations: usize,
) -> i32 {
    // SAFETY: `memory` is valid for the call's bytes, as required.
    let memory = unsafe { slice::from_raw_parts_mut(memory, call.bytes()) };
    code(call.in_place(threads, memory, iterations))
}

/// Runs a call into newly allocated memory, which is freed each time. If `keep` is not null, the
/// last result is copied there.
///
/// # Safety
/// `src` is valid for reads of the call's bytes, and `keep` is null or valid for writes of
/// as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_fresh(
    call: &Call,
    threads: usize,
    src: *const u8,
    keep: *mut u8,
    iterations: usize,
) -> i32 {
    // SAFETY: `src`, and `keep` unless it is null, are valid for the call's bytes, as required.
    let (src, keep) = unsafe {
        let keep = (!keep.is_null()).then(|| slice::from_raw_parts_mut(keep, call.bytes()));
        (slice::from_raw_parts(src, call.bytes()), keep)
    };
    code(call.fresh(threads, src, keep, iterations))
}

/// Copies into memory that was used before.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, and they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_copy(
    threads: usize,
    src: *const u8,
    dst: *mut u8,
    len: usize,
    iterations: usize,
) {
    // SAFETY: `src` and `dst` are valid for `len` bytes, as required.
    unsafe { copy::reused(threads, src, dst, len, iterations) };
}

/// Copies into newly allocated memory, which is freed each time.
///
/// # Safety
/// `src` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rb_copy_fresh(
    threads: usize,
    src: *const u8,
    len: usize,
    iterations: usize,
) {
    // SAFETY: `src` is valid for `len` bytes, as required.
    copy::fresh(threads, unsafe { slice::from_raw_parts(src, len) }, iterations);
}

/// Runs one of the steps of [`Step::ALL`] this many times.
#[unsafe(no_mangle)]
pub extern "C" fn rb_overhead(step: usize, iterations: usize) -> i32 {
    let step = Step::ALL.get(step).copied().ok_or("no such step".into());
    code(step.and_then(|step| step.repeat(iterations)))
}

/// # Safety
/// As for [`rb_call_new`].
unsafe fn prepare(spec: &CallSpec) -> Result<Call, Failure> {
    let rank = spec.rank as usize;
    // SAFETY: shape and strides have `rank` entries and axes `axes_len`, as required.
    let (shape, strides, axes) = unsafe {
        let strides = (!spec.strides.is_null()).then(|| slice::from_raw_parts(spec.strides, rank));
        let axes = slice::from_raw_parts(spec.axes, spec.axes_len);
        (slice::from_raw_parts(spec.shape, rank), strides, axes)
    };
    // SAFETY: names are C strings and lengths have the stated size, as required.
    let (dtype, lengths) = unsafe {
        let lengths = match spec.lengths.is_null() {
            true => None,
            false => Some((
                name(spec.lengths_dtype)?,
                slice::from_raw_parts(spec.lengths, spec.lengths_len),
            )),
        };
        (name(spec.dtype)?, lengths)
    };
    let operator = match (spec.operator, axes) {
        (0, axes) => Operator::Reverse(axes.to_vec()),
        (1, &[time, batch]) => Operator::Sequence { time, batch },
        (2, &[axis]) => Operator::Subsequences(axis),
        (code, axes) => return Err(format!("no operator {code} with axes {axes:?}").into()),
    };
    Call::new(operator, dtype, shape, strides, lengths)
}

/// # Safety
/// `text` is a C string.
unsafe fn name(text: *const c_char) -> Result<DType, Failure> {
    // SAFETY: `text` is a C string, as required.
    Ok(unsafe { CStr::from_ptr(text) }.to_str()?.parse()?)
}

fn code(result: Result<(), Failure>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(failure) => {
            say(&failure);
            1
        }
    }
}

fn say(failure: &Failure) {
    let text = CString::new(failure.to_string()).unwrap_or_default();
    ERROR.with_borrow_mut(|error| *error = text);
}
