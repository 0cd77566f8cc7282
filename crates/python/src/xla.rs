//! The operators as XLA calls them, for programs that JAX compiled: the package registers these
//! handlers, and no Python runs between XLA and the engine.

mod abi;

use crate::threads;
use abi::{Buffer, Call, CallFrame, Failure, ForeignError, Handler, Request};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use retrograde::{
    DType, Layout, LengthPolicy, Memory, MemoryMut, Reversal, Reverse, ReverseSequence,
    ReverseSubsequences, Shape, TensorMut, TensorRef,
};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// The handlers by the names they are registered under.
#[pyfunction]
pub(crate) fn xla_handlers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let handlers: [(&str, Handler); 3] = [
        ("retrograde_reverse", reverse),
        ("retrograde_reverse_sequence", reverse_sequence),
        ("retrograde_reverse_subsequences", reverse_subsequences),
    ];
    let capsules = PyDict::new(py);
    for (name, handler) in handlers {
        let Some(address) = NonNull::new(handler as *mut c_void) else { continue };
        // SAFETY: a function lives as long as the process.
        let capsule =
            unsafe { PyCapsule::new_with_pointer(py, address, c"xla._CUSTOM_CALL_TARGET")? };
        capsules.set_item(name, capsule)?;
    }
    Ok(capsules)
}

unsafe extern "C" fn reverse(frame: *mut CallFrame) -> *mut ForeignError {
    // SAFETY: XLA calls this, with a frame of its own.
    unsafe { answer(frame, |call| run(&Reverse::axes(call.integers("axes")?), &call, 1)) }
}

unsafe extern "C" fn reverse_sequence(frame: *mut CallFrame) -> *mut ForeignError {
    let work = |call: Call<'_>| {
        let (time, batch) = (call.integer("time_axis")?, call.integer("batch_axis")?);
        let operator = ReverseSequence::any_axes(time, batch).policy(policy(&call)?);
        run(&operator.lengths(lengths(&call)?), &call, 2)
    };
    // SAFETY: as above.
    unsafe { answer(frame, work) }
}

unsafe extern "C" fn reverse_subsequences(frame: *mut CallFrame) -> *mut ForeignError {
    let work = |call: Call<'_>| {
        let operator = ReverseSubsequences::along(call.integer("axis")?).policy(policy(&call)?);
        run(&operator.lengths(lengths(&call)?), &call, 2)
    };
    // SAFETY: as above.
    unsafe { answer(frame, work) }
}

/// Does what XLA asks for, and tells it what went wrong.
///
/// # Safety
/// XLA made the frame.
unsafe fn answer(
    frame: *mut CallFrame,
    work: impl FnOnce(Call<'_>) -> Result<(), Failure>,
) -> *mut ForeignError {
    // SAFETY: the caller's promise.
    let Request::Call(call) = (unsafe { CallFrame::request(frame) }) else {
        return ptr::null_mut();
    };
    // XLA cannot unwind.
    let done = catch_unwind(AssertUnwindSafe(|| call.check().and_then(|()| work(call))));
    match done.unwrap_or_else(|_| Err(Failure::internal("retrograde panicked"))) {
        Ok(()) => ptr::null_mut(),
        Err(failure) => call.error(failure),
    }
}

fn run(
    operator: &(impl Reversal + Sync),
    call: &Call<'_>,
    arguments: usize,
) -> Result<(), Failure> {
    let source = tensor(call.argument(0, arguments)?)?;
    let mut target = tensor_mut(call.result()?)?;
    let bytes = source.memory().len();
    threads::run(bytes, || operator.run(&source, &mut target))
        .map_err(|_| Failure::internal("threads could not start"))?
        .map_err(Failure::argument)
}

fn policy(call: &Call<'_>) -> Result<LengthPolicy, Failure> {
    match call.text("policy")? {
        b"strict" => Ok(LengthPolicy::Strict),
        b"clamp" => Ok(LengthPolicy::Clamp),
        _ => Err(Failure::argument("policy does not exist, expected \"strict\" or \"clamp\"")),
    }
}

fn lengths<'a>(call: &Call<'a>) -> Result<TensorRef<'a>, Failure> {
    tensor(call.argument(1, 2)?)
}

fn tensor(buffer: &Buffer) -> Result<TensorRef<'_>, Failure> {
    let (dtype, shape, data, len) = described(buffer)?;
    // SAFETY: XLA's buffers hold a dense tensor of that type and shape, and stay as they are
    // until the call returns.
    let memory = unsafe { Memory::from_raw(data, len) };
    TensorRef::dense(dtype, memory, &shape).map_err(Failure::internal)
}

fn tensor_mut(buffer: &Buffer) -> Result<TensorMut<'_>, Failure> {
    let (dtype, shape, data, len) = described(buffer)?;
    // SAFETY: as above; a result is for the handler alone to write.
    let memory = unsafe { MemoryMut::from_raw(data, len, false) };
    TensorMut::dense(dtype, memory, &shape).map_err(Failure::internal)
}

fn described(buffer: &Buffer) -> Result<(DType, Shape, *mut u8, usize), Failure> {
    let dtype = element_type(buffer.dtype())?;
    let size = |&size: &i64| {
        usize::try_from(size).map_err(|_| Failure::internal(format!("a size is {size}")))
    };
    let shape = buffer.dims().iter().map(size).collect::<Result<Shape, _>>()?;
    let len = Layout::dense(dtype, &shape).map_err(Failure::internal)?.byte_len();
    match buffer.data() {
        data if !data.is_null() => Ok((dtype, shape, data, len)),
        _ if len == 0 => Ok((dtype, shape, NonNull::dangling().as_ptr(), 0)),
        _ => Err(Failure::internal("a buffer has no memory")),
    }
}

/// By `XLA_FFI_DataType`; types of the same width move the same way.
fn element_type(dtype: i32) -> Result<DType, Failure> {
    Ok(match dtype {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        7 => DType::U16,
        8 => DType::U32,
        9 => DType::U64,
        10 => DType::F16,
        11 => DType::F32,
        12 => DType::F64,
        15 => DType::C64,
        16 => DType::BF16,
        18 => DType::C128,
        // The eight kinds of floats of one byte.
        19 | 20 | 23 | 24 | 25 | 28 | 29 | 33 => DType::Bytes(1),
        21 => DType::I4,
        22 => DType::U4,
        26 => DType::I2,
        27 => DType::U2,
        32 => DType::F4E2M1,
        other => {
            return Err(Failure::argument(format!(
                "elements of XLA's type {other} cannot be moved"
            )));
        }
    })
}
