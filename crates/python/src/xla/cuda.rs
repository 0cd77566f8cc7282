//! Calls on a CUDA device, on the stream that XLA names. Nothing waits for the device.
//!
//! A result of XLA's is fresh memory, so a wrong length cannot leave it as it was: it is clamped.
//! Those of strict calls are reported as well, for `retrograde.cuda.check` to ask for.

use super::abi::{COMMAND_BUFFER_COMPATIBLE, Call, Failure};
use super::place::Place;
use super::tensor::tensor;
use crate::cuda;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::{Reversal, TensorRef};
use retrograde_gpu::{Cuda, CudaLengths, DeviceMut, DeviceRef, Error, Reports, Stream};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A device, for calls that report nothing: one launch, the same for the same buffers, and no
/// memory. So XLA may make it part of a CUDA graph.
pub(super) struct Clamping;

/// A device, for strict calls. Two that report to one place must not run at once, which is certain
/// on a stream; in a graph it would not be.
pub(super) struct Reporting;

impl Place for Clamping {
    const TRAITS: u32 = COMMAND_BUFFER_COMPATIBLE;

    fn prepare(call: &Call<'_>) -> Result<(), Failure> {
        // Kernels cannot be loaded while a graph is recorded.
        device(call).map(drop)
    }

    fn run(
        operator: &(impl Reversal + Sync),
        call: &Call<'_>,
        arguments: usize,
    ) -> Result<(), Failure> {
        let stream = stream(&device(call)?, call.stream()?);
        launch(&stream, operator, call, arguments)
    }
}

impl Place for Reporting {
    const TRAITS: u32 = 0;

    fn prepare(call: &Call<'_>) -> Result<(), Failure> {
        // Allocating waits for the device, so it is done here for the stream that is likely.
        report(&device(call)?, call.stream()?).map(drop).map_err(Failure::internal)
    }

    fn run(
        operator: &(impl Reversal + Sync),
        call: &Call<'_>,
        arguments: usize,
    ) -> Result<(), Failure> {
        let (device, handle) = (device(call)?, call.stream()?);
        let (reports, at) = report(&device, handle).map_err(Failure::internal)?;
        let stream = stream(&device, handle).reporting_to(&reports, at);
        launch(&stream, operator, call, arguments)
    }
}

fn device(call: &Call<'_>) -> Result<Cuda, Failure> {
    cuda::device(call.device()?).map_err(Failure::internal)
}

fn stream(device: &Cuda, handle: usize) -> Stream {
    // SAFETY: XLA says that it works on this stream of this device, and shares its context with
    // everyone. The value is gone when the call is over.
    unsafe { device.borrow_stream_clamping(handle) }
}

fn launch(
    stream: &Stream,
    operator: &impl Reversal,
    call: &Call<'_>,
    arguments: usize,
) -> Result<(), Failure> {
    let source = tensor(call.argument(0, arguments)?)?;
    let target = tensor(call.result()?)?;
    let prepared = operator.prepare(source.layout(), target.layout()).map_err(Failure::argument)?;
    let there = |tensor: &TensorRef<'_>| {
        let memory = tensor.memory();
        // SAFETY: XLA uses its memory in the order of its stream, on which this runs.
        unsafe { DeviceRef::from_raw(memory.as_ptr().addr() as u64, memory.len()) }
    };
    let given = prepared.lengths().map(|tensor| CudaLengths::Device(there(tensor)));
    let memory = target.memory();
    // SAFETY: as above; a result is for the handler alone to write.
    let output = unsafe { DeviceMut::from_raw(memory.as_ptr().addr() as u64, memory.len()) };
    stream.run(&prepared, there(&source), given, output).map_err(Failure::internal)
}

/// Reports allocated at a time.
const REPORTS: usize = 64;

/// Where strict calls on a device report to: every stream has a place of its own.
#[derive(Default)]
struct Notes {
    blocks: Vec<Arc<Reports>>,
    /// How many places are taken.
    taken: usize,
    /// Which of them a stream has, by its handle.
    of_stream: HashMap<usize, usize>,
}

/// By the numbers of devices.
static NOTES: Mutex<Vec<Notes>> = Mutex::new(Vec::new());

fn notes() -> MutexGuard<'static, Vec<Notes>> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of a stream.
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

/// Raises the first wrong length that strict calls found on a device since the last look. Whoever
/// asks has waited for these calls.
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
    // Other calls may be at work there while a block is cleared: the next ones report elsewhere.
    notes.of_stream.clear();
    Err(error.into())
}
