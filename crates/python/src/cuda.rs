//! Calls on tensors of a CUDA device: the same operators and plans, asynchronously on the current
//! stream of the tensor's library.

use crate::dlpack::{self, Buffer, Memory};
use crate::errors::raised;
use crate::lengths::Lengths;
use crate::operand::Operand;
use crate::operation::{self, Asked, Visitor};
use crate::view::{Place, View};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use retrograde::{Reversal, Table, TensorRef};
use retrograde_cuda::{
    Cuda, CudaLengths, DeviceBuffer, DeviceMut, DeviceRef, Error, Stream, device_count,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs an operator on a tensor of device number `device`. Without an output, the result is in
/// memory of ours, and complete when this returns. `fresh`: the output is uninitialised.
#[expect(clippy::too_many_arguments, reason = "a call, and what was converted of it")]
pub(crate) fn run<'py>(
    x: &Bound<'py, PyAny>,
    device: usize,
    asked: &Asked,
    mut input: Operand<'py>,
    mut counts: Option<Lengths>,
    lengths: Option<&Bound<'py, PyAny>>,
    out: Option<(&Bound<'py, PyAny>, Operand<'py>)>,
    fresh: bool,
    table: Option<&Table>,
) -> PyResult<Bound<'py, PyAny>> {
    // Convert.
    let (py, name) = (x.py(), asked.operator());
    let place = counts.as_ref().map_or(Place::Host, Lengths::place);
    if let Place::Cuda(other) = place
        && other != device
    {
        let argument = counts.as_ref().map_or("lengths", Lengths::argument);
        return Err(PyValueError::new_err(format!(
            "{argument} are on cuda:{other}, expected them on the input's device, cuda:{device}, or on the CPU"
        )));
    }
    let is_new = out.is_none();
    let (out, mut output) = match out {
        Some((out, given)) => {
            given.check_output(name, &input)?;
            (out.clone(), given)
        }
        None => new_output(&input, &input.view(), py)?,
    };
    let lengths = lengths.filter(|_| place != Place::Host);
    let ready = Call { x, device, lengths, out: &out, fresh: fresh || is_new }.ready()?;
    // Describe.
    input.describe(py)?;
    output.describe(py)?;
    counts.as_mut().map_or(Ok(()), |counts| counts.describe(py))?;
    let (from, to) = (&input.view(), &output.view());
    // Run.
    let operation = asked.operation(counts.as_ref(), &from.shape)?;
    let on_device = place != Place::Host;
    operation.visit_anywhere(Launch { py, ready: &ready, from, to, on_device, table })?;
    Ok(out)
}

/// Reverses axes of a view of a tensor, as `turn` makes it, into a new row-major output.
pub(crate) fn flip<'py, 'r>(
    x: &Bound<'py, PyAny>,
    device: usize,
    operator: &(impl Reversal<'r> + Sync),
    mut input: Operand<'py>,
    turn: impl Fn(View) -> PyResult<View>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let (out, output) = new_output(&input, &turn(input.view())?.in_rows(), py)?;
    let ready = Call { x, device, lengths: None, out: &out, fresh: true }.ready()?;
    input.describe(py)?;
    let (from, to) = (&turn(input.view())?, &output.view());
    Launch { py, ready: &ready, from, to, on_device: false, table: None }.visit(operator)?;
    Ok(out)
}

/// A new tensor on the device of the input.
fn new_output<'py>(
    input: &Operand<'py>,
    view: &View,
    py: Python<'py>,
) -> PyResult<(Bound<'py, PyAny>, Operand<'py>)> {
    let Operand::Tensor(tensor) = input else {
        return Err(PyTypeError::new_err("an array is never on a CUDA device"));
    };
    let Place::Cuda(number) = view.place else { unreachable!("the caller has looked") };
    let (buffer, view) = Buffer::like_in(tensor, view, |bytes, clear| {
        let cuda = device(number).map_err(failed)?;
        let memory = match clear {
            true => DeviceBuffer::from_host(&cuda, &vec![0; bytes]),
            false => DeviceBuffer::allocate(&cuda, bytes),
        };
        memory.map(Memory::Cuda).map_err(failed)
    })?;
    Ok((Bound::new(py, buffer)?.into_any(), Operand::New(view)))
}

/// The tensors of a call on a device, for which it runs on one stream.
pub(crate) struct Call<'a, 'py> {
    pub(crate) x: &'a Bound<'py, PyAny>,
    pub(crate) device: usize,
    /// If they are on the device.
    pub(crate) lengths: Option<&'a Bound<'py, PyAny>>,
    pub(crate) out: &'a Bound<'py, PyAny>,
    /// Whether the output is uninitialised: then an invalid length does not stop the call.
    pub(crate) fresh: bool,
}

impl Call<'_, '_> {
    /// Asks the libraries for their streams, which may run Python code: tensors are described after
    /// this. Raises the error of an earlier call if there is one.
    pub(crate) fn ready(&self) -> PyResult<Ready> {
        let py = self.x.py();
        let streams = streams_of(self.x, self.device)?;
        let stream = streams.of(self.fresh);
        let blocking =
            is_blocking() && self.lengths.is_some() && !stream.is_capturing().map_err(failed)?;
        let earlier = match blocking {
            false => stream.earlier(),
            true => match py.detach(|| stream.check()) {
                Ok(()) => stream.earlier(),
                Err(Error::Execute(error)) => Ok(Some(error)),
                Err(error) => Err(error),
            },
        };
        if let Some(error) = earlier.map_err(failed)? {
            return Err(PyValueError::new_err(format!(
                "an earlier call on cuda:{} failed: {error}; this call did not run \
                 (retrograde.cuda.set_blocking(True) raises such errors in the call itself)",
                self.device
            )));
        }
        let others = self.others(stream)?;
        Ok(Ready { streams, fresh: self.fresh, blocking, others })
    }

    /// What else the call has to be ordered with. Nothing in a graph: the program that captures it
    /// orders what it waits for.
    fn others(&self, stream: &Stream) -> PyResult<Others> {
        let mut others = Others::default();
        let alike = |other: &Bound<'_, PyAny>| other.get_type_ptr() == self.x.get_type_ptr();
        let operands = [Some(self.x), self.lengths, Some(self.out)];
        let mut all = operands.into_iter().flatten();
        if all.all(alike) && dlpack::has_stream(self.x)? || stream.is_capturing().map_err(failed)? {
            return Ok(others);
        }
        for operand in operands.into_iter().flatten() {
            others.wait |= !dlpack::has_stream(operand)?;
            let other = dlpack::current_stream(operand, self.device)?;
            if !is_same(other, stream.handle()) && !others.streams.contains(&other) {
                others.streams.push(other);
            }
        }
        Ok(others)
    }
}

/// The stream of a call, and what it is ordered with.
pub(crate) struct Ready {
    streams: Rc<Streams>,
    fresh: bool,
    blocking: bool,
    others: Others,
}

impl Ready {
    /// Launches on the current stream of the input's library, after the work of the other tensors'
    /// libraries and before what they do next.
    pub(crate) fn launch(
        &self,
        py: Python<'_>,
        launch: impl FnOnce(&Stream) -> Result<(), Error>,
    ) -> PyResult<Result<(), Error>> {
        let stream = self.streams.of(self.fresh);
        for &other in &self.others.streams {
            // SAFETY: its library reports that this is its current stream.
            unsafe { stream.follow(other) }.map_err(failed)?;
        }
        if let Err(error) = launch(stream) {
            return Ok(Err(error));
        }
        for &other in &self.others.streams {
            // SAFETY: as above.
            unsafe { stream.precede(other) }.map_err(failed)?;
        }
        if self.blocking {
            return Ok(py.detach(|| stream.check()));
        }
        if self.others.wait {
            py.detach(|| stream.synchronize()).map_err(failed)?;
        }
        Ok(Ok(()))
    }
}

/// The current streams of other libraries, and whether one of them cannot be asked for its stream:
/// then nothing but waiting keeps its later work from overtaking the call.
#[derive(Default)]
struct Others {
    streams: Vec<usize>,
    wait: bool,
}

/// Whether two handles are the same stream: 0 and 1 are the legacy default stream.
fn is_same(a: usize, b: usize) -> bool {
    a == b || a <= 1 && b <= 1
}

/// Moves elements between two tensors that were described just now, and are borrowed.
struct Launch<'a, 'py> {
    py: Python<'py>,
    ready: &'a Ready,
    /// The input's elements, in the order in which the operator sees its axes.
    from: &'a View,
    to: &'a View,
    /// Whether lengths are on the device.
    on_device: bool,
    /// What elements are looked up in that are reversed.
    table: Option<&'a Table>,
}

impl Visitor for Launch<'_, '_> {
    type Output = ();

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<()> {
        let name = operator.operator();
        let tensor = |view: &View| {
            // SAFETY: the operands are borrowed for the whole call, and the addresses are passed
            // only to the device.
            unsafe { view.tensor(name) }
        };
        let (from, to) = (tensor(self.from)?, tensor(self.to)?);
        let (src, dst) = (from.layout(), to.layout());
        let prepared = operation::prepare(operator, self.table, src, dst).map_err(raised)?;
        let there = |tensor: &TensorRef<'_>| {
            let memory = tensor.memory();
            // SAFETY: the library that owns it frees it in the order of its stream, with which
            // `Ready` orders this, or after the call, which then waits.
            unsafe { DeviceRef::from_raw(memory.as_ptr().addr() as u64, memory.len()) }
        };
        let lengths = prepared.lengths();
        let given = lengths.as_ref().map(|tensor| match self.on_device {
            true => CudaLengths::Device(tensor.layout().dtype(), there(tensor)),
            false => CudaLengths::Host(tensor.into()),
        });
        let memory = to.memory();
        // SAFETY: as above; `check_output` found it writable, or it was made for this call.
        let target = unsafe { DeviceMut::from_raw(memory.as_ptr().addr() as u64, memory.len()) };
        let launch = |stream: &Stream| stream.run(&prepared, there(&from), given, target);
        match self.ready.launch(self.py, launch)? {
            Ok(()) => Ok(()),
            Err(Error::Call(error)) => Err(raised(error)),
            // Of a blocking call.
            Err(Error::Execute(error)) => Err(raised(prepared.explain(error))),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Whether calls with lengths on a device wait for it, to raise their own errors.
static BLOCKING: AtomicBool = AtomicBool::new(false);

/// Sets whether calls with lengths on a device wait for it.
#[pyfunction]
#[pyo3(signature = (blocking, /))]
pub(crate) fn cuda_set_blocking(blocking: bool) {
    BLOCKING.store(blocking, Ordering::Relaxed);
}

/// With `CUDA_LAUNCH_BLOCKING`, every launch of the process waits, so ours may too.
pub(crate) fn follow_environment() {
    let set = std::env::var("CUDA_LAUNCH_BLOCKING").ok();
    let blocking = set.and_then(|value| value.trim().parse::<i64>().ok()).is_some_and(|n| n != 0);
    cuda_set_blocking(blocking);
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
    let stream = &streams_of(x, device)?.stopping;
    match x.py().detach(|| stream.check()) {
        Ok(()) => Ok(()),
        Err(Error::Execute(error)) => Err(PyValueError::new_err(error.to_string())),
        Err(error) => Err(failed(error)),
    }
}

/// A stream, for outputs with contents and for uninitialised ones.
struct Streams {
    stopping: Stream,
    clamping: Stream,
}

impl Streams {
    fn of(&self, fresh: bool) -> &Stream {
        if fresh { &self.clamping } else { &self.stopping }
    }
}

thread_local! {
    /// The streams of this thread's latest call, with their device number and handle.
    static LATEST: RefCell<Option<(usize, usize, Rc<Streams>)>> = const { RefCell::new(None) };
}

/// The current stream of a tensor's library.
fn streams_of(x: &Bound<'_, PyAny>, device: usize) -> PyResult<Rc<Streams>> {
    let handle = dlpack::current_stream(x, device)?;
    let latest = LATEST.with_borrow(|latest| match latest {
        Some((number, known, streams)) if (*number, *known) == (device, handle) => {
            Some(Rc::clone(streams))
        }
        _ => None,
    });
    if let Some(streams) = latest {
        return Ok(streams);
    }
    let stopping = stream(device, handle)?;
    let streams = Rc::new(Streams { clamping: stopping.clamping(), stopping });
    LATEST.set(Some((device, handle, Rc::clone(&streams))));
    Ok(streams)
}

/// A device by its number, opened once in the process: the C interface reports to the same streams.
pub(crate) fn device(ordinal: usize) -> Result<Cuda, Error> {
    retrograde_c::cuda::opened(ordinal)
}

/// Whether calls with lengths on a device wait for it.
pub(crate) fn is_blocking() -> bool {
    BLOCKING.load(Ordering::Relaxed)
}

fn stream(ordinal: usize, handle: usize) -> PyResult<Stream> {
    let cuda = device(ordinal).map_err(failed)?;
    // SAFETY: the library reports that this is its current stream, on the shared primary context.
    unsafe { cuda.borrow_stream(handle) }.map_err(failed)
}

pub(crate) fn failed(error: Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
