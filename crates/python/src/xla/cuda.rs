//! Calls on a CUDA device, asynchronously on XLA's stream.
//!
//! A result of XLA is uninitialised memory, so an invalid length cannot leave it unchanged: it is
//! clamped. Invalid lengths of strict calls are reported as well, for `retrograde.cuda.check`.

use super::abi::{COMMAND_BUFFER_COMPATIBLE, Call, Failure};
use super::place::{Input, Place};
use super::tensor::tensor;
use crate::cuda;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::{Reversal, TensorRef};
use retrograde_cuda::{Cuda, CudaLengths, DeviceMut, DeviceRef, Error, Reports, Stream};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A device, for calls that report nothing: one launch, the same for the same buffers, without
/// allocation. So XLA may record it into a CUDA graph.
pub(super) struct Clamping;

/// A device, for strict calls. Two calls with the same report must not run concurrently. A stream
/// guarantees that; a graph would not.
pub(super) struct Reporting;

impl Place for Clamping {
    const TRAITS: u32 = COMMAND_BUFFER_COMPATIBLE;

    fn prepare(call: &Call<'_>) -> Result<(), Failure> {
        // Kernels cannot be loaded while a graph is being recorded.
        device(call).map(drop)
    }

    fn run<'r>(
        operator: &(impl Reversal<'r> + Sync),
        call: &Call<'_>,
        input: Input,
    ) -> Result<(), Failure> {
        let stream = stream(&device(call)?, call.stream()?);
        launch(&stream, operator, call, input)
    }
}

impl Place for Reporting {
    const TRAITS: u32 = 0;

    fn prepare(call: &Call<'_>) -> Result<(), Failure> {
        // Allocation waits for the device, so it is done here, for the stream that will probably be
        // used.
        report(&device(call)?, call.stream()?).map(drop).map_err(Failure::internal)
    }

    fn run<'r>(
        operator: &(impl Reversal<'r> + Sync),
        call: &Call<'_>,
        input: Input,
    ) -> Result<(), Failure> {
        let (device, handle) = (device(call)?, call.stream()?);
        let (reports, at) = report(&device, handle).map_err(Failure::internal)?;
        let stream = stream(&device, handle).reporting_to(&reports, at);
        launch(&stream, operator, call, input)
    }
}

fn device(call: &Call<'_>) -> Result<Cuda, Failure> {
    cuda::device(call.device()?).map_err(Failure::internal)
}

fn stream(device: &Cuda, handle: usize) -> Stream {
    // SAFETY: XLA works on this stream of this device, in the shared primary context. The value
    // does not outlive the call.
    unsafe { device.borrow_stream_clamping(handle) }
}

fn launch<'r>(
    stream: &Stream,
    operator: &impl Reversal<'r>,
    call: &Call<'_>,
    input: Input,
) -> Result<(), Failure> {
    let source = input.tensor(call)?;
    let target = tensor(call.result()?)?;
    let prepared = operator.prepare(source.layout(), target.layout()).map_err(Failure::argument)?;
    let there = |tensor: &TensorRef<'_>| {
        let memory = tensor.memory();
        // SAFETY: XLA uses its memory in the order of its stream, on which this runs.
        unsafe { DeviceRef::from_raw(memory.as_ptr().addr() as u64, memory.len()) }
    };
    let given = prepared
        .lengths()
        .map(|tensor| CudaLengths::Device(tensor.layout().dtype(), there(&tensor)));
    let memory = target.memory();
    // SAFETY: as above; only the handler writes to a result.
    let output = unsafe { DeviceMut::from_raw(memory.as_ptr().addr() as u64, memory.len()) };
    stream.run(&prepared, there(&source), given, output).map_err(Failure::internal)
}

/// Reports allocated at a time.
const REPORTS: usize = 64;

/// Reports of strict calls on a device: every stream has its own.
#[derive(Default)]
struct Notes {
    blocks: Vec<Arc<Reports>>,
    /// The number of reports in use.
    taken: usize,
    /// The index of a stream's report, by its handle.
    of_stream: HashMap<usize, usize>,
}

/// By device number.
static NOTES: Mutex<Vec<Notes>> = Mutex::new(Vec::new());

fn notes() -> MutexGuard<'static, Vec<Notes>> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The report of a stream.
fn report(device: &Cuda, handle: usize) -> Result<(Arc<Reports>, usize), Error> {
    let (mut notes, ordinal) = (notes(), device.ordinal());
    if notes.len() <= ordinal {
        notes.resize_with(ordinal + 1, Notes::default);
    }
    let notes = &mut notes[ordinal];
    let at = match notes.of_stream.get(&handle) {
        Some(&at) => at,
        None => {
            let at = notes.taken;
            if at / REPORTS == notes.blocks.len() {
                notes.blocks.push(Arc::new(Reports::allocate(device, REPORTS)?));
            }
            notes.taken += 1;
            notes.of_stream.insert(handle, at);
            at
        }
    };
    Ok((notes.blocks[at / REPORTS].clone(), at % REPORTS))
}

/// Raises an error for the first invalid length of strict calls on a device since the last check.
/// The caller has waited for these calls.
#[pyfunction]
#[pyo3(signature = (device, /))]
pub(crate) fn xla_check(py: Python<'_>, device: usize) -> PyResult<()> {
    match py.detach(|| look(device)) {
        Ok(()) => Ok(()),
        Err(Error::Execute(error)) => Err(PyValueError::new_err(error.to_string())),
        Err(error) => Err(cuda::failed(error)),
    }
}

fn look(ordinal: usize) -> Result<(), Error> {
    let mut notes = notes();
    let Some(notes) = notes.get_mut(ordinal).filter(|notes| notes.taken > 0) else { return Ok(()) };
    let stream = cuda::device(ordinal)?.stream()?;
    let mut found = None;
    for block in &notes.blocks {
        let first = stream.read(block)?.into_iter().flatten().next();
        found = found.or(first);
    }
    let Some(error) = found else { return Ok(()) };
    // Other calls may be running while a block is cleared: later ones use other reports.
    notes.of_stream.clear();
    Err(error.into())
}
