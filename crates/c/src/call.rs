//! Prepared calls: checked and planned once, then run on any memory of the same layout.

use crate::guard::guarded;
use crate::operator::Operator;
use crate::pointer::{Tag, Tagged, destroy, handle, memory, memory_mut, slice, write};
use crate::status::{
    Failure, RETROGRADE_BUFFER_TOO_SMALL, RETROGRADE_MISMATCH, Status, position_of,
};
use crate::tensor::{Tensor, layout};
use retrograde::cpu::Program;
use retrograde::{DType, ExecuteError, Layout, LengthsMemory, Plan, Reverse};
use std::ffi::{c_char, c_void};

/// A prepared call. It is immutable: any number of threads may run it at the same time.
// The tag comes first, as `Tagged` promises. `cfg_attr` hides that from cbindgen, which would write
// the fields into the header.
#[cfg_attr(true, repr(C))]
#[derive(Debug)]
pub struct Call {
    tag: Tag,
    operator: retrograde::Operator,
    program: Program,
    lengths: Option<Layout>,
}

// SAFETY: `repr(C)`, begins with a tag, and is only made with its own (`retrograde_prepare`).
unsafe impl Tagged for Call {
    const TAG: u64 = u64::from_ne_bytes(*b"rgCall\0\x01");
    const NAME: &'static str = "call";
}

impl Call {
    /// What it moves.
    pub(crate) fn plan(&self) -> &Plan {
        self.program.plan()
    }

    /// How it moves it on the host.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Adds the operator and the index of a wrong length to an error of a backend.
    pub(crate) fn explain(&self, error: ExecuteError) -> Failure {
        let position = position_of(&error);
        let explained = error.explained(self.operator, self.lengths.as_ref());
        Failure { position, ..Failure::from(explained) }
    }

    /// The type of the lengths, if the call has any and they can be in a buffer of so many bytes.
    ///
    /// A pointer of C has no type. But lengths without gaps have an exact size, so that values of
    /// another width are noticed in either direction.
    pub(crate) fn lengths_type(
        &self,
        lengths: *const u8,
        bytes: usize,
    ) -> Result<Option<DType>, Failure> {
        let Some(layout) = &self.lengths else {
            let none = lengths.is_null() && bytes == 0;
            let unexpected = || self.explain(ExecuteError::LengthsUnexpected);
            return if none { Ok(None) } else { Err(unexpected()) };
        };
        let (needed, dtype, count) = (layout.byte_len(), layout.dtype(), layout.len());
        let gapless = dtype.bits().is_some_and(|bits| bits / 8 * count == needed);
        if bytes < needed || (gapless && bytes > needed) {
            let (small, large) = (RETROGRADE_BUFFER_TOO_SMALL, RETROGRADE_MISMATCH);
            let text = format!(
                "{}: lengths have {bytes} bytes, but the call was prepared for {count} of type {dtype}, which take {needed}: pass these, or prepare the call for the type and number that you have",
                self.operator
            );
            return Err(Failure::new(if bytes < needed { small } else { large }, text));
        }
        Ok(Some(dtype))
    }

    /// The lengths in memory of the host, if the call has any.
    ///
    /// # Safety
    /// As for [`memory`].
    pub(crate) unsafe fn lengths_memory<'a>(
        &self,
        lengths: *const u8,
        bytes: usize,
    ) -> Result<Option<LengthsMemory<'a>>, Failure> {
        let Some(dtype) = self.lengths_type(lengths, bytes)? else { return Ok(None) };
        // SAFETY: passed on.
        let memory = unsafe { memory(lengths, bytes, "lengths")? };
        Ok(Some(LengthsMemory::new(dtype, memory)))
    }
}

/// Checks tensors against an operator and plans the call.
///
/// `lengths` describes the lengths of ReverseSequence (one per batch entry) and of
/// ReverseSubsequences (the input's shape with 1 at the axis), and the offsets of ReverseSegments
/// (one more than segments), of any integer type. It is null for Reverse. The descriptions are not
/// kept. Destroy the result with `retrograde_call_destroy`.
///
/// # Safety
/// `op` is null or valid; the descriptions are null or structs of `struct_bytes` bytes, whose
/// arrays have `rank` entries; `result` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_prepare(
    op: *const Operator,
    input: *const Tensor,
    lengths: *const Tensor,
    output: *const Tensor,
    result: *mut *mut Call,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises. Null until the call succeeds.
        unsafe { write(result, std::ptr::null_mut(), "result")? };
        // SAFETY: as the caller promises.
        let operator = unsafe { handle(op)? };
        // SAFETY: as the caller promises.
        let input = unsafe { layout(input, "input")? };
        let lengths = match lengths.is_null() {
            true => None,
            // SAFETY: as the caller promises.
            false => Some(unsafe { layout(lengths, "lengths")? }),
        };
        // SAFETY: as the caller promises.
        let output = unsafe { layout(output, "output")? };
        let program = operator.program(&input, lengths.as_ref(), &output)?;
        let call = Call { tag: Tag::of::<Call>(), operator: operator.name(), program, lengths };
        // SAFETY: as the caller promises.
        unsafe { write(result, Box::into_raw(Box::new(call)), "result") }
    })
}

/// Destroys a prepared call. Null is ignored. Work that it launched on a CUDA stream goes on.
///
/// # Safety
/// `call` is null or came from `retrograde_prepare`, is destroyed once, and no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_call_destroy(call: *mut Call) {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy(call) });
}

/// Runs a call from one buffer to another.
///
/// Sizes are checked against the tensors, all lengths against the policy, and buffers for overlap,
/// before anything is written: on an error the output is unchanged. If input and output are the
/// same tensor in the same memory, it runs in place. `lengths` is null and `lengths_bytes` 0 for
/// Reverse. A buffer of 0 bytes may be null.
///
/// `lengths` are values of the type that was described to `retrograde_prepare`. If they have no gaps,
/// `lengths_bytes` is exactly their size, so that values of another width are refused.
///
/// Packed elements of a tensor that is not dense share bytes with their neighbours, which are kept:
/// such an output must be initialised.
///
/// # Safety
/// `call` is null or valid; each buffer has as many bytes as stated, and no other thread writes to
/// them, or reads the output, during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_run(
    call: *const Call,
    input: *const c_void,
    input_bytes: usize,
    lengths: *const c_void,
    lengths_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
) -> Status {
    // SAFETY: passed on.
    unsafe {
        run_inside(call, input, input_bytes, lengths, lengths_bytes, output, output_bytes, |go| {
            go(None)
        })
    }
}

/// What runs a call, with its own program or another one of the same plan.
pub type Go<'a> = &'a mut (dyn FnMut(Option<&Program>) -> Result<(), ExecuteError> + Send);

/// `retrograde_run` for runtimes with settings of their own: `around` calls what it is given, once.
///
/// # Safety
/// As for `retrograde_run`.
#[expect(clippy::too_many_arguments, reason = "those of retrograde_run")]
pub unsafe fn run_inside(
    call: *const Call,
    input: *const c_void,
    input_bytes: usize,
    lengths: *const c_void,
    lengths_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    around: impl FnOnce(Go<'_>) -> Result<(), ExecuteError>,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let call = unsafe { handle(call)? };
        // SAFETY: as the caller promises.
        let src = unsafe { memory(input.cast(), input_bytes, "input")? };
        // SAFETY: as the caller promises.
        let lengths = unsafe { call.lengths_memory(lengths.cast(), lengths_bytes)? };
        // SAFETY: as the caller promises.
        let mut dst = Some(unsafe { memory_mut(output.cast(), output_bytes, "output")? });
        let mut go = |other: Option<&Program>| match dst.take() {
            Some(dst) => other.unwrap_or(&call.program).execute(src, lengths, dst),
            None => Ok(()),
        };
        around(&mut go).map_err(|error| call.explain(error))
    })
}

/// Reverses axes of a tensor, from one buffer to another that is described the same: Reverse in one
/// call, for a program that does not run it often. Negative axes count from the end; none at all
/// copies the tensor. If both buffers are one, it runs in place.
///
/// # Safety
/// `tensor` is null or a struct of `struct_bytes` bytes, whose arrays have `rank` entries; `axes` is
/// null or has `count` values; buffers are as for `retrograde_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_flip(
    tensor: *const Tensor,
    axes: *const i64,
    count: usize,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let layout = unsafe { layout(tensor, "tensor")? };
        // SAFETY: as the caller promises.
        let axes = unsafe { slice(axes, count, "axes")? };
        let program = Program::new(Reverse::axes(axes.iter().copied()).plan(&layout, &layout)?);
        let operator = retrograde::Operator::Reverse;
        let call = Call { tag: Tag::of::<Call>(), operator, program, lengths: None };
        // SAFETY: as the caller promises.
        let src = unsafe { memory(input.cast(), input_bytes, "input")? };
        // SAFETY: as the caller promises.
        let dst = unsafe { memory_mut(output.cast(), output_bytes, "output")? };
        call.program.execute(src, None, dst).map_err(|error| call.explain(error))
    })
}

/// Runs a call whose input and output have the same layout on one buffer.
///
/// # Safety
/// As for `retrograde_run`, for `data` as for its output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_run_in_place(
    call: *const Call,
    lengths: *const c_void,
    lengths_bytes: usize,
    data: *mut c_void,
    data_bytes: usize,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let call = unsafe { handle(call)? };
        // SAFETY: as the caller promises.
        let lengths = unsafe { call.lengths_memory(lengths.cast(), lengths_bytes)? };
        // SAFETY: as the caller promises.
        let data = unsafe { memory_mut(data.cast(), data_bytes, "data")? };
        call.program.execute_in_place(lengths, data).map_err(|error| call.explain(error))
    })
}

/// Writes what a call moves, as text for people, into `text`: at most `capacity` bytes including
/// the final zero. `needed`, which may be null, receives the bytes of the whole text, so that a
/// call with a null `text` and capacity 0 tells how much to allocate.
///
/// # Safety
/// `call` is null or valid; `text` is null or has `capacity` bytes; `needed` is null or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_call_describe(
    call: *const Call,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let call = unsafe { handle(call)? };
        let described = format!("{}\n{}", call.operator, call.plan());
        if !needed.is_null() {
            // SAFETY: as the caller promises.
            unsafe { write(needed, described.len() + 1, "needed")? };
        }
        if capacity == 0 {
            return Ok(());
        }
        let text = crate::pointer::buffer(text.cast(), capacity, "text")?;
        // Text of a plan is ASCII, so that any byte is a place to cut.
        let len = described.len().min(capacity - 1);
        // SAFETY: `len + 1` is at most `capacity`, which the caller promises, and the text is ours.
        unsafe {
            std::ptr::copy_nonoverlapping(described.as_ptr(), text, len);
            text.add(len).write(0);
        }
        Ok(())
    })
}
