//! The operators as XLA custom calls, for programs that JAX compiled: the package registers these
//! handlers, and no Python runs between XLA and the engine.

mod abi;
mod cuda;
mod place;
mod tensor;

use crate::threads;
use abi::{Call, CallFrame, Failure, ForeignError, Handler, Request};
use cuda::{Clamping, Reporting};
use place::{Input, Place};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use retrograde::{
    Align, LengthPolicy, Reversal, Reverse, ReverseSegments, ReverseSequence, ReverseSubsequences,
    Tail, TensorRef,
};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use tensor::{tensor, tensor_mut};

pub(crate) use cuda::xla_check;

/// The CPU.
struct Host;

impl Place for Host {
    const TRAITS: u32 = 0;

    fn prepare(_: &Call<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn run<'r>(
        operator: &(impl Reversal<'r> + Sync),
        call: &Call<'_>,
        input: Input,
    ) -> Result<(), Failure> {
        let source = input.tensor(call)?;
        let mut target = tensor_mut(call.result()?)?;
        // Elements of less than a byte cost as much as bytes.
        let work = source.memory().len().max(source.layout().len());
        threads::run(work, || operator.apply_view(&source, &mut target)).map_err(Failure::argument)
    }
}

/// The handlers, by XLA's platform names and by the names they are registered under.
///
/// Traits belong to a handler, not to a call. So on a device, calls that report invalid lengths,
/// which cannot be recorded, have separate handlers.
#[pyfunction]
pub(crate) fn xla_handlers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let host: [(&str, Handler); 5] = [
        ("retrograde_reverse", reverse::<Host>),
        ("retrograde_rot90", rot90::<Host>),
        ("retrograde_reverse_sequence", reverse_sequence::<Host>),
        ("retrograde_reverse_subsequences", reverse_subsequences::<Host>),
        ("retrograde_reverse_segments", reverse_segments::<Host>),
    ];
    let device: [(&str, Handler); 8] = [
        ("retrograde_reverse", reverse::<Clamping>),
        ("retrograde_rot90", rot90::<Clamping>),
        ("retrograde_reverse_sequence", reverse_sequence::<Clamping>),
        ("retrograde_reverse_subsequences", reverse_subsequences::<Clamping>),
        ("retrograde_reverse_segments", reverse_segments::<Clamping>),
        ("retrograde_reverse_sequence_strict", reverse_sequence::<Reporting>),
        ("retrograde_reverse_subsequences_strict", reverse_subsequences::<Reporting>),
        ("retrograde_reverse_segments_strict", reverse_segments::<Reporting>),
    ];
    let (cpu, cuda) = (PyDict::new(py), PyDict::new(py));
    for (name, handler) in host {
        cpu.set_item(name, capsule(py, handler)?)?;
    }
    for (name, handler) in device {
        let stages = PyDict::new(py);
        stages.set_item("initialize", capsule(py, handler)?)?;
        stages.set_item("execute", capsule(py, handler)?)?;
        cuda.set_item(name, stages)?;
    }
    let platforms = PyDict::new(py);
    platforms.set_item("cpu", cpu)?;
    platforms.set_item("CUDA", cuda)?;
    Ok(platforms)
}

fn capsule(py: Python<'_>, handler: Handler) -> PyResult<Bound<'_, PyCapsule>> {
    let address = NonNull::new(handler as *mut c_void).expect("a function has an address");
    // SAFETY: a function lives as long as the process.
    unsafe { PyCapsule::new_with_pointer(py, address, c"xla._CUSTOM_CALL_TARGET") }
}

unsafe extern "C" fn reverse<P: Place>(frame: *mut CallFrame) -> *mut ForeignError {
    let work =
        |call: &Call<'_>| P::run(&Reverse::axes(call.integers("axes")?), call, Input::plain(1));
    // SAFETY: XLA calls this with a valid frame.
    unsafe { answer::<P>(frame, work) }
}

/// Swaps two axes, then reverses axes of the result.
unsafe extern "C" fn rot90<P: Place>(frame: *mut CallFrame) -> *mut ForeignError {
    let work = |call: &Call<'_>| {
        let axis = |name| {
            let axis = call.integer(name)?;
            usize::try_from(axis).map_err(|_| Failure::internal(format!("{name} is {axis}")))
        };
        let swapped = Some((axis("first")?, axis("second")?));
        let input = Input { count: 1, swapped };
        P::run(&Reverse::axes(call.integers("axes")?), call, input)
    };
    // SAFETY: as above.
    unsafe { answer::<P>(frame, work) }
}

unsafe extern "C" fn reverse_sequence<P: Place>(frame: *mut CallFrame) -> *mut ForeignError {
    let work = |call: &Call<'_>| {
        let (time, batch) = (call.integer("time_axis")?, call.integer("batch_axis")?);
        let operator =
            ReverseSequence::new().time_axis(time).batch_axis(batch).policy(policy(call)?);
        let operator = operator.align(align(call)?).tail(tail(call)?);
        P::run(&operator.lengths(lengths(call)?), call, Input::plain(2))
    };
    // SAFETY: as above.
    unsafe { answer::<P>(frame, work) }
}

unsafe extern "C" fn reverse_subsequences<P: Place>(frame: *mut CallFrame) -> *mut ForeignError {
    let work = |call: &Call<'_>| {
        let operator = ReverseSubsequences::along(call.integer("axis")?).policy(policy(call)?);
        let operator = operator.align(align(call)?).tail(tail(call)?);
        P::run(&operator.lengths(lengths(call)?), call, Input::plain(2))
    };
    // SAFETY: as above.
    unsafe { answer::<P>(frame, work) }
}

/// Offsets are always strict. The policy of the call chooses the handler.
unsafe extern "C" fn reverse_segments<P: Place>(frame: *mut CallFrame) -> *mut ForeignError {
    let work = |call: &Call<'_>| {
        let operator = ReverseSegments::along(call.integer("axis")?);
        P::run(&operator.offsets(lengths(call)?), call, Input::plain(2))
    };
    // SAFETY: as above.
    unsafe { answer::<P>(frame, work) }
}

/// Handles a request from XLA, and returns errors to it.
///
/// # Safety
/// XLA created the frame.
unsafe fn answer<P: Place>(
    frame: *mut CallFrame,
    work: impl FnOnce(&Call<'_>) -> Result<(), Failure>,
) -> *mut ForeignError {
    // SAFETY: XLA created the frame, as required, and it lives until the handler returns.
    let (call, prepares) = match unsafe { CallFrame::request(frame, P::TRAITS) } {
        Request::Nothing => return ptr::null_mut(),
        Request::Initialize(call) => (call, true),
        Request::Call(call) => (call, false),
    };
    let task = || {
        call.check()?;
        if prepares { P::prepare(&call) } else { work(&call) }
    };
    // Unwinding into XLA would be undefined behaviour.
    let done = catch_unwind(AssertUnwindSafe(task));
    match done.unwrap_or_else(|_| Err(Failure::internal("retrograde panicked"))) {
        Ok(()) => ptr::null_mut(),
        Err(failure) => call.error(failure),
    }
}

fn policy(call: &Call<'_>) -> Result<LengthPolicy, Failure> {
    match call.text("policy")? {
        b"strict" => Ok(LengthPolicy::Strict),
        b"clamp" => Ok(LengthPolicy::Clamp),
        _ => Err(Failure::argument("policy is unknown, expected \"strict\" or \"clamp\"")),
    }
}

fn align(call: &Call<'_>) -> Result<Align, Failure> {
    match call.text("align")? {
        b"start" => Ok(Align::Start),
        b"end" => Ok(Align::End),
        _ => Err(Failure::argument("align is unknown, expected \"start\" or \"end\"")),
    }
}

fn tail(call: &Call<'_>) -> Result<Tail, Failure> {
    match call.text("tail")? {
        b"keep" => Ok(Tail::Keep),
        b"zero" => Ok(Tail::Zero),
        _ => Err(Failure::argument("tail is unknown, expected \"keep\" or \"zero\"")),
    }
}

/// The second operand: lengths or offsets.
fn lengths<'a>(call: &Call<'a>) -> Result<TensorRef<'a>, Failure> {
    tensor(call.argument(1, 2)?)
}
