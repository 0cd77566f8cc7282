//! Calls on tensors of a CUDA device: the same operators and plans, asynchronously on the current
//! stream of the tensor's library.

use crate::dlpack;
use crate::errors::raised;
use crate::operand::Operand;
use crate::operation::{Operation, Visitor};
use crate::view::{Place, View};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use retrograde::{Reversal, TensorRef};
use retrograde_gpu::{Cuda, CudaLengths, DeviceMut, DeviceRef, Error, Stream, device_count};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// Runs an operator on a tensor of device number `device`.
pub(crate) fn run<'py>(
    x: &Bound<'py, PyAny>,
    device: usize,
    operation: &Operation,
    input: &Operand<'py>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    // Only its library can allocate a tensor whose memory is freed in stream order.
    let Some(out) = out else {
        return Err(PyTypeError::new_err("x is on a CUDA device: out is needed"));
    };
    let lengths = operation.lengths().map_or(Place::Host, |lengths| lengths.place());
    if let Place::Cuda(other) = lengths
        && other != device
    {
        let argument = operation.lengths().map_or("lengths", |lengths| lengths.argument());
        return Err(PyValueError::new_err(format!(
            "{argument} are on cuda:{other}, expected them on the input's device, cuda:{device}, or on the CPU"
        )));
    }
    let stream = stream_of(x, device)?;
    operation.visit_anywhere(Launch { stream, input, out, lengths })
}

struct Launch<'a, 'py> {
    stream: Rc<Stream>,
    input: &'a Operand<'py>,
    out: &'a Bound<'py, PyAny>,
    lengths: Place,
}

impl<'py> Visitor for Launch<'_, 'py> {
    type Output = Bound<'py, PyAny>;

    fn visit(self, operator: &(impl Reversal + Sync)) -> PyResult<Self::Output> {
        let name = operator.operator();
        let output = Operand::output(name, self.out)?;
        output.check_output(name, self.input)?;
        let tensor = |view: &View| {
            // SAFETY: the operands are borrowed for the whole call, and the addresses are passed
            // only to the device.
            unsafe { view.tensor(name) }
        };
        let (from, to) = (tensor(&self.input.view())?, tensor(&output.view())?);
        let prepared = operator.prepare(from.layout(), to.layout()).map_err(raised)?;
        let there = |tensor: &TensorRef<'_>| {
            let memory = tensor.memory();
            // SAFETY: the library that owns it frees it in the order of its stream, on which this
            // runs.
            unsafe { DeviceRef::from_raw(memory.as_ptr().addr() as u64, memory.len()) }
        };
        let given = prepared.lengths().map(|tensor| match self.lengths {
            Place::Cuda(_) => CudaLengths::Device(tensor.layout().dtype(), there(tensor)),
            Place::Host => CudaLengths::Host(tensor.into()),
        });
        let memory = to.memory();
        // SAFETY: as above; `check_output` found it writable.
        let target = unsafe { DeviceMut::from_raw(memory.as_ptr().addr() as u64, memory.len()) };
        match self.stream.run(&prepared, there(&from), given, target) {
            Ok(()) => Ok(self.out.clone()),
            Err(Error::Call(error)) => Err(raised(error)),
            Err(error) => Err(failed(error)),
        }
    }
}

/// The number of CUDA devices: 0 without a driver.
#[pyfunction]
pub(crate) fn cuda_device_count() -> usize {
    device_count().unwrap_or(0)
}

/// Waits for the calls on a tensor's current stream, and raises an error for invalid lengths.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub(crate) fn cuda_check(x: &Bound<'_, PyAny>) -> PyResult<()> {
    let Place::Cuda(device) = Operand::of(x)?.view().place else { return Ok(()) };
    let stream = &*stream_of(x, device)?;
    match x.py().detach(|| stream.check()) {
        Ok(()) => Ok(()),
        Err(Error::Execute(error)) => Err(PyValueError::new_err(error.to_string())),
        Err(error) => Err(failed(error)),
    }
}

/// Devices opened so far, by number. Opening one loads the kernels.
static DEVICES: Mutex<Vec<Option<Cuda>>> = Mutex::new(Vec::new());

thread_local! {
    /// The stream of this thread's latest call, with its device number and its handle.
    static LATEST: RefCell<Option<(usize, usize, Rc<Stream>)>> = const { RefCell::new(None) };
}

/// The current stream of a tensor's library.
pub(crate) fn stream_of(x: &Bound<'_, PyAny>, device: usize) -> PyResult<Rc<Stream>> {
    let handle = dlpack::current_stream(x, device)?;
    let latest = LATEST.with_borrow(|latest| match latest {
        Some((number, known, stream)) if (*number, *known) == (device, handle) => {
            Some(Rc::clone(stream))
        }
        _ => None,
    });
    if let Some(stream) = latest {
        return Ok(stream);
    }
    let stream = Rc::new(stream(device, handle)?);
    LATEST.set(Some((device, handle, Rc::clone(&stream))));
    Ok(stream)
}

/// A device by its number, opened once.
pub(crate) fn device(ordinal: usize) -> Result<Cuda, Error> {
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Some(cuda)) = devices.get(ordinal) {
        return Ok(cuda.clone());
    }
    let cuda = Cuda::device(ordinal)?;
    if devices.len() <= ordinal {
        devices.resize_with(ordinal + 1, || None);
    }
    devices[ordinal] = Some(cuda.clone());
    Ok(cuda)
}

fn stream(ordinal: usize, handle: usize) -> PyResult<Stream> {
    let cuda = device(ordinal).map_err(failed)?;
    // SAFETY: the library reports that this is its current stream, on the shared primary context.
    unsafe { cuda.borrow_stream(handle) }.map_err(failed)
}

pub(crate) fn failed(error: Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
