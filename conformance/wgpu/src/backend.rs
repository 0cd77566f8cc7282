//! The wgpu backend under test. Calls are batched: one upload, all their dispatches in one
//! submission, one download. Lengths are on the device, and sometimes on the host. Each thread of the
//! runner has a device of its own: threads that share one wait for its locks.

use retrograde_suite::backend::{
    Backend, Call, Outcome, has_mask, layout, run_as_batch, with_operator,
};
use retrograde_suite::case::Case;
use retrograde_wgpu::{Error, Gpu, Options, Reports, View, wgpu};
use std::sync::{Mutex, PoisonError};

/// Calls in a batch.
const BATCH: usize = 1024;
/// One call in this many has its lengths on the host.
const HOST_LENGTHS: usize = 17;
/// One call in this many has its input in the buffer of its output.
const ONE_BUFFER: usize = 7;
/// Half of the calls run as if a binding took so few bytes, or this part of the output if that is
/// more, so that they are cut into pieces.
const SMALL_BINDING: u64 = 1024;
const PART: u64 = 6;

/// One call in this many runs as if it were small: the others take the kernels of large tensors.
const SMALL: usize = 5;

/// The adapter, if there is one.
pub(crate) struct Wgpu {
    options: Options,
    /// Devices that no thread uses at the moment.
    idle: Mutex<Vec<Gpu>>,
    name: String,
    missing: Option<String>,
}

impl Wgpu {
    /// Opens it.
    pub(crate) fn new(options: Options) -> Self {
        let (name, missing, idle) = match pollster::block_on(Gpu::open(options)) {
            Ok(gpu) => (format!("wgpu {}", gpu.name()), None, vec![gpu]),
            Err(error) => ("wgpu".to_owned(), Some(error.to_string()), Vec::new()),
        };
        Wgpu { options, idle: Mutex::new(idle), name, missing }
    }

    fn try_batch(&self, calls: &[Call<'_>], memory: &mut [u8]) -> Result<Vec<Outcome>, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let gpu = match idle {
            Some(gpu) => gpu,
            None => pollster::block_on(Gpu::open(self.options))?,
        };
        let outcomes = try_batch_on(&gpu, calls, memory);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(gpu);
        outcomes
    }
}

fn try_batch_on(gpu: &Gpu, calls: &[Call<'_>], memory: &mut [u8]) -> Result<Vec<Outcome>, Error> {
    let mut lengths = Vec::new();
    let lengths_at: Vec<usize> = calls
        .iter()
        .map(|call| {
            let at = lengths.len();
            lengths.extend(call.case.lengths.iter().flat_map(|lengths| &lengths.buffer));
            at
        })
        .collect();
    let buffers = Buffers {
        input: gpu.upload(memory)?,
        memory: gpu.upload(memory)?,
        lengths: gpu.upload(&lengths)?,
    };
    let reports = Reports::new(gpu, calls.len());
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut outcomes = Vec::with_capacity(calls.len());
    for (at, call) in calls.iter().enumerate() {
        let small = SMALL_BINDING.max(call.output.len() as u64 / PART);
        let bindings = if at % 2 == 0 { u64::MAX } else { small };
        let gpu = gpu.with_bindings_of(bindings).reporting_to(&reports, at);
        let gpu = if at % SMALL == 0 { gpu } else { gpu.testing_small() };
        outcomes.push(start(&gpu, &buffers, call, at, lengths_at[at], &mut encoder));
    }
    gpu.queue().submit([encoder.finish()]);
    let found = pollster::block_on(gpu.read(&reports))?;
    let bytes = 0..memory.len() as u64;
    memory.copy_from_slice(&pollster::block_on(gpu.download(&buffers.memory, bytes))?);
    for ((outcome, report), call) in outcomes.iter_mut().zip(found).zip(calls) {
        if let (Outcome::Done, Some(error)) = (&outcome, report) {
            *outcome = Outcome::of(call.case, error);
        }
    }
    Ok(outcomes)
}

struct Buffers {
    input: wgpu::Buffer,
    memory: wgpu::Buffer,
    lengths: wgpu::Buffer,
}

impl Buffers {
    /// The input, unless a call runs in place, and the output.
    fn views(&self, call: &Call<'_>, turn: usize) -> (Option<View<'_>>, View<'_>) {
        let view = |buffer, range: &std::ops::Range<usize>| {
            View::new(buffer, range.start as u64, range.len() as u64)
        };
        let from = if turn.is_multiple_of(ONE_BUFFER) { &self.memory } else { &self.input };
        let src = call.input.as_ref().map(|input| view(from, input));
        (src, view(&self.memory, &call.output))
    }
}

/// Records one call; its report says whether its lengths were valid. Those of a mask are on the host.
fn start(
    gpu: &Gpu,
    buffers: &Buffers,
    call: &Call<'_>,
    turn: usize,
    lengths_at: usize,
    encoder: &mut wgpu::CommandEncoder,
) -> Outcome {
    let there = call.case.lengths.as_deref().filter(|_| !turn.is_multiple_of(HOST_LENGTHS));
    let lengths = there.filter(|_| !has_mask(&call.case.operation)).map(|lengths| {
        let len = lengths.buffer.len() as u64;
        (lengths.dtype, View::new(&buffers.lengths, lengths_at as u64, len)).into()
    });
    let mut failed = None;
    let outcome = with_operator(call.case, |operator| {
        let (src, dst) = (layout(&call.case.input)?, layout(call.case.target())?);
        let prepared = operator.prepare(&src, &dst)?;
        let (src, dst) = buffers.views(call, turn);
        match gpu.bind(&prepared, src.unwrap_or(dst), lengths, dst) {
            Ok(bound) => bound.encode(encoder),
            Err(Error::Call(error)) => return Err(error),
            Err(error) => failed = Some(Outcome::Refused(error.to_string())),
        }
        Ok(())
    });
    failed.unwrap_or(outcome)
}

impl Backend for Wgpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn unavailable(&self) -> Option<String> {
        self.missing.clone()
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        run_as_batch(self, case, input, output)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn run_batch(&self, calls: &[Call<'_>], arena: &mut [u8]) -> Vec<Outcome> {
        self.try_batch(calls, arena)
            .unwrap_or_else(|error| vec![Outcome::Refused(error.to_string()); calls.len()])
    }
}
