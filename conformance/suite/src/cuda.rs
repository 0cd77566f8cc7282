//! The CUDA backend under test. Calls are batched: one copy to the device, all their launches on a
//! stream, one copy back. Lengths are on the device, and sometimes on the host.

use crate::backend::{Backend, Call, Outcome, has_mask, layout, run_as_batch, with_operator};
use crate::case::Case;
use retrograde_cuda::{CudaLengths, DeviceBuffer, DeviceMut, DeviceRef, Reports, Stream};
use std::sync::{Arc, Mutex, PoisonError};

/// Calls in a batch.
const BATCH: usize = 4096;
/// One call in this many has its lengths on the host.
const HOST_LENGTHS: usize = 17;

/// Device 0, if there is one.
pub struct Cuda {
    device: Result<retrograde_cuda::Cuda, retrograde_cuda::Error>,
    name: String,
    lanes: Mutex<Vec<Lane>>,
    /// Whether every buffer is a separate allocation.
    tight: bool,
}

/// The resources with which one thread runs batches.
struct Lane {
    stream: Stream,
    /// The same for a device of one multiprocessor, on which small tensors use the kernels of large
    /// ones.
    small: Stream,
    arena: DeviceBuffer,
    reports: Arc<Reports>,
}

impl Cuda {
    /// Opens the device.
    pub fn open() -> Self {
        Self::on(retrograde_cuda::Cuda::device(0), "cuda")
    }

    /// The same with kernels that the driver compiles from PTX, as on chips without embedded
    /// machine code.
    pub fn from_ptx() -> Self {
        Self::on(retrograde_cuda::Cuda::device_from_ptx(0), "cuda from PTX")
    }

    fn on(device: Result<retrograde_cuda::Cuda, retrograde_cuda::Error>, kind: &str) -> Self {
        let name = match &device {
            Ok(device) => format!("{kind} {}", device.name()),
            Err(_) => kind.to_owned(),
        };
        Cuda { device, name, lanes: Mutex::default(), tight: false }
    }

    /// The same with every call run separately, in buffers that end where their allocation ends, so
    /// that `compute-sanitizer` detects accesses outside.
    pub fn tight() -> Self {
        Cuda { tight: true, ..Self::open() }
    }

    /// Runs one call in its own buffers.
    fn try_alone(
        &self,
        case: &Case,
        input: Option<&[u8]>,
        output: &mut [u8],
    ) -> Result<Outcome, retrograde_cuda::Error> {
        let device = self.device.as_ref().map_err(Clone::clone)?;
        let stream = device.stream()?;
        let lengths = case.lengths.as_deref();
        let dtype = lengths.map(|lengths| lengths.dtype);
        let lengths = lengths.map(|lengths| DeviceBuffer::from_host(device, &lengths.buffer));
        let lengths = lengths.transpose()?;
        let lengths = dtype.zip(lengths.as_ref()).map(|(dtype, at)| (dtype, at.view()).into());
        let input = input.map(|input| DeviceBuffer::from_host(device, input)).transpose()?;
        let mut memory = DeviceBuffer::from_host(device, output)?;
        let src = input.as_ref().map(DeviceBuffer::view);
        let outcome = launch(&stream, case, src, lengths, memory.view_mut());
        if outcome == Outcome::Done {
            stream.check()?;
            memory.read(0, output)?;
        }
        Ok(outcome)
    }

    fn lane(&self, bytes: usize) -> Result<Lane, retrograde_cuda::Error> {
        let device = self.device.as_ref().map_err(Clone::clone)?;
        let spare = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let arena = |bytes: usize| DeviceBuffer::allocate(device, bytes.next_power_of_two());
        match spare {
            Some(lane) if lane.arena.len() >= bytes => Ok(lane),
            Some(lane) => Ok(Lane { arena: arena(bytes)?, ..lane }),
            None => {
                let stream = device.stream()?;
                let mut limits = device.limits();
                limits.multiprocessors = 1;
                // SAFETY: the stream lives in the same lane.
                let small = unsafe { device.limited(limits).borrow_stream(stream.handle())? };
                Ok(Lane {
                    stream,
                    small,
                    arena: arena(bytes.max(1 << 20))?,
                    reports: Arc::new(Reports::allocate(device, BATCH)?),
                })
            }
        }
    }

    fn try_batch(
        &self,
        calls: &[Call<'_>],
        memory: &mut [u8],
    ) -> Result<Vec<Outcome>, retrograde_cuda::Error> {
        // Lengths follow everything else.
        let mut sent = memory.to_vec();
        let lengths_at: Vec<usize> = calls
            .iter()
            .map(|call| {
                let at = sent.len().next_multiple_of(8);
                sent.resize(at, 0xEE);
                sent.extend(call.case.lengths.iter().flat_map(|lengths| &lengths.buffer));
                at
            })
            .collect();
        let mut lane = self.lane(sent.len())?;
        lane.arena.write(0, &sent)?;
        let mut outcomes = Vec::with_capacity(calls.len());
        for (at, call) in calls.iter().enumerate() {
            let stream = if at % 2 == 0 { &lane.stream } else { &lane.small };
            let stream = stream.reporting_to(&lane.reports, at);
            outcomes.push(start(&stream, &lane.arena, call, at, lengths_at[at]));
        }
        let reports = lane.stream.read(&lane.reports)?;
        lane.arena.read(0, memory)?;
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
        for ((outcome, report), call) in outcomes.iter_mut().zip(reports).zip(calls) {
            if let (Outcome::Done, Some(error)) = (&outcome, report) {
                *outcome = outcome_of(call.case, error.into());
            }
        }
        Ok(outcomes)
    }
}

impl Backend for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn unavailable(&self) -> Option<String> {
        self.device.as_ref().err().map(ToString::to_string)
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        if !self.tight {
            return run_as_batch(self, case, input, output);
        }
        self.try_alone(case, input, output).unwrap_or_else(|error| outcome_of(case, error))
    }

    fn batch(&self) -> usize {
        if self.tight { 1 } else { BATCH }
    }

    fn run_batch(&self, calls: &[Call<'_>], arena: &mut [u8]) -> Vec<Outcome> {
        self.try_batch(calls, arena)
            .unwrap_or_else(|error| vec![Outcome::Refused(error.to_string()); calls.len()])
    }
}

/// Launches one call; its report says whether its lengths were valid.
fn start(
    stream: &Stream,
    arena: &DeviceBuffer,
    call: &Call<'_>,
    turn: usize,
    lengths_at: usize,
) -> Outcome {
    let from = arena.address();
    let there = call.case.lengths.as_deref().filter(|_| !turn.is_multiple_of(HOST_LENGTHS));
    let lengths = there.map(|lengths| {
        let (at, len) = (from + lengths_at as u64, lengths.buffer.len());
        // SAFETY: inside the arena, which lives until the stream was synchronized.
        (lengths.dtype, unsafe { DeviceRef::from_raw(at, len) }).into()
    });
    // SAFETY: as above.
    let dst = unsafe { DeviceMut::from_raw(from + call.output.start as u64, call.output.len()) };
    let src = call.input.as_ref().map(|input| {
        // SAFETY: as above.
        unsafe { DeviceRef::from_raw(from + input.start as u64, input.len()) }
    });
    launch(stream, call.case, src, lengths, dst)
}

/// Launches the operator of a case; without an input, in place. Lengths that are not on the device are
/// on the host, as are those that were made from a mask.
fn launch(
    stream: &Stream,
    case: &Case,
    src: Option<DeviceRef<'_>>,
    lengths: Option<CudaLengths<'_>>,
    dst: DeviceMut<'_>,
) -> Outcome {
    let mut failed = None;
    let outcome = with_operator(case, |operator| {
        let prepared = operator.prepare(&layout(&case.input)?, &layout(case.target())?)?;
        let lengths = lengths.filter(|_| !has_mask(&case.operation));
        let lengths = lengths.or_else(|| prepared.lengths_memory().map(CudaLengths::Host));
        let looking_up = prepared.table().map(|table| stream.looking_up(Some(table)));
        let stream = looking_up.as_ref().unwrap_or(stream);
        let started = match src {
            Some(src) => stream.execute(prepared.plan(), src, lengths, dst),
            None => stream.execute_in_place(prepared.plan(), lengths, dst),
        };
        match started {
            Ok(()) => Ok(()),
            Err(retrograde_cuda::Error::Execute(error)) => Err(prepared.explain(error)),
            Err(error) => {
                failed = Some(Outcome::Refused(error.to_string()));
                Ok(())
            }
        }
    });
    failed.unwrap_or(outcome)
}

pub(crate) fn outcome_of(case: &Case, error: retrograde_cuda::Error) -> Outcome {
    match error {
        retrograde_cuda::Error::Execute(error) => Outcome::of(case, error),
        error => Outcome::Refused(error.to_string()),
    }
}
