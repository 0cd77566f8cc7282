//! Times plans on a CUDA device against a device-to-device copy of the same bytes.
//!
//! `bench-gpu [--list] [--json FILE] [--rounds N] [--only TEXT,TEXT] [--shared BYTES]
//! [--no-clusters] [--pairs-from VECTORS] [--keep-from BYTES]` prints a table. `bench/gpu/bench.py
//! --native` starts it, times the same cases (`bench/cases.jsonl`) and other libraries from Python,
//! and combines the results.

use cudarc::driver::{result, sys};
use retrograde::{
    DType, Layout, LengthPolicy, LengthsOperator, Plan, Reverse, ReverseSequence,
    ReverseSubsequences,
};
use retrograde_bench::call::{Failure, Operator};
use retrograde_bench::cases::{Case, Harness};
use retrograde_gpu::{Cuda, DeviceBuffer, Stream, kernel, kernel_in_place};
use std::fmt::Write as _;
use std::time::Instant;

type Result<T> = std::result::Result<T, Failure>;

/// More bytes than any cache holds.
const OTHER: usize = 1 << 28;

/// Random lengths from 0 to the size of the axis, as 64-bit integers.
fn lengths(count: usize, most: usize) -> Vec<u8> {
    let mut state = 42u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % (most as u64 + 1)
    };
    (0..count).flat_map(|_| next().to_ne_bytes()).collect()
}

/// Buffers for all cases, filled with noise once: allocating and filling them takes longer than the
/// cases themselves.
struct Memory {
    src: DeviceBuffer,
    dst: DeviceBuffer,
}

impl Memory {
    /// `bytes` is the size of the largest tensor.
    fn new(cuda: &Cuda, bytes: usize) -> Result<Self> {
        let mut src = DeviceBuffer::allocate(cuda, bytes + 256)?;
        let dst = DeviceBuffer::allocate(cuda, bytes + 256)?;
        // Not zeros, which may be copied faster than other data.
        let noise: Vec<u8> =
            (0..1usize << 20).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
        let mut full = noise.len().min(src.len());
        src.write(0, &noise[..full])?;
        // SAFETY: source and destination do not overlap, and both are inside the buffers.
        unsafe {
            while full < src.len() {
                let more = full.min(src.len() - full);
                result::memcpy_dtod_sync(src.address() + full as u64, src.address(), more)?;
                full += more;
            }
            result::memcpy_dtod_sync(dst.address(), src.address(), src.len())?;
            // Device-to-device copies are asynchronous, and the stream does not wait for them
            // either.
            result::ctx::synchronize()?;
        }
        Ok(Memory { src, dst })
    }
}

/// A case that is ready to run.
struct Ready<'a> {
    plan: Plan,
    memory: &'a Memory,
    lengths: Option<DeviceBuffer>,
    bytes: usize,
    /// Bytes of an element.
    width: u64,
}

impl<'a> Ready<'a> {
    fn new(cuda: &Cuda, memory: &'a Memory, case: &Case) -> Result<Self> {
        let dense = Layout::dense(case.dtype, &case.shape)?;
        let bytes = dense.byte_len();
        let input = match case.transposed {
            true => {
                let mut strides = vec![1isize; case.shape.len()];
                for axis in (1..strides.len()).rev() {
                    strides[axis - 1] = strides[axis] * case.shape[axis] as isize;
                }
                // In memory, the last two sizes are swapped.
                let last = strides.len() - 1;
                strides[last] = case.shape[last - 1] as isize;
                strides[last - 1] = 1;
                Layout::strided(case.dtype, &case.shape, &strides, 0)?
            }
            false => dense.clone(),
        };
        // Strict, so that the check is part of the time.
        let (plan, lanes) = match case.operator.clone() {
            Operator::Reverse(axes) => (Reverse::axes(axes).plan(&input, &dense)?, None),
            Operator::Sequence { time, batch } => {
                let count = case.shape[batch as usize];
                let lanes = Layout::dense(DType::I64, &[count])?;
                let operator = ReverseSequence::any_axes(time, batch).policy(LengthPolicy::Strict);
                (operator.plan(&input, &lanes, &dense)?, Some((count, case.shape[time as usize])))
            }
            Operator::Subsequences(axis) => {
                let mut shape = case.shape.clone();
                let most = std::mem::replace(&mut shape[axis as usize], 1);
                let lanes = Layout::dense(DType::I64, &shape)?;
                let operator = ReverseSubsequences::along(axis).policy(LengthPolicy::Strict);
                (operator.plan(&input, &lanes, &dense)?, Some((shape.iter().product(), most)))
            }
        };
        let lengths = lanes
            .map(|(count, most)| DeviceBuffer::from_host(cuda, &lengths(count, most)))
            .transpose()?;
        let width = case.dtype.bits().unwrap_or(8) as u64 / 8;
        Ok(Ready { plan, memory, lengths, bytes, width })
    }

    fn run(&self, stream: &Stream, case: &Case) -> Result<()> {
        let lengths = self.lengths.as_ref().map(|lengths| lengths.view().into());
        let (src, dst) = (self.memory.src.address(), self.memory.dst.address());
        let offset = case.offset as u64 * self.width;
        // SAFETY: the buffers are 256 bytes longer than the largest tensor.
        let (from, to) = unsafe {
            (
                retrograde_gpu::DeviceRef::from_raw(src + offset, self.bytes),
                retrograde_gpu::DeviceMut::from_raw(dst + offset, self.bytes),
            )
        };
        match case.in_place {
            true => stream.execute_in_place(&self.plan, lengths, to)?,
            false => stream.execute(&self.plan, from, lengths, to)?,
        }
        Ok(())
    }

    fn copy(&self, stream: &Stream) -> Result<()> {
        let raw = stream.handle() as sys::CUstream;
        let (to, from) = (self.memory.dst.address(), self.memory.src.address());
        // SAFETY: both buffers hold that many bytes.
        unsafe { result::memcpy_dtod_async(to, from, self.bytes, raw)? };
        Ok(())
    }
}

/// Device time in microseconds.
struct Clock {
    start: sys::CUevent,
    end: sys::CUevent,
    /// Overwritten before every measurement, so that no part of the tensors is in the cache.
    other: DeviceBuffer,
}

impl Clock {
    fn new(cuda: &Cuda) -> Result<Self> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
        let (start, end) = (result::event::create(flags)?, result::event::create(flags)?);
        Ok(Clock { start, end, other: DeviceBuffer::allocate(cuda, OTHER)? })
    }

    fn time(&self, stream: &Stream, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        let raw = stream.handle() as sys::CUstream;
        // SAFETY: events and stream are alive, and the buffer has that many bytes. The end event is
        // waited for before the times are read.
        unsafe {
            sys::cuCtxResetPersistingL2Cache().result()?;
            result::memset_d8_async(self.other.address(), 0, OTHER, raw)?;
            result::event::record(self.start, raw)?;
            work()?;
            result::event::record(self.end, raw)?;
            result::event::synchronize(self.end)?;
            Ok(f64::from(result::event::elapsed(self.start, self.end)?) * 1000.0)
        }
    }
}

/// The median and the quartiles around it.
fn quartiles(times: &mut [f64]) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    [times.len() / 4, times.len() / 2, times.len() * 3 / 4].map(|at| times[at])
}

/// The texts of a list; commas inside brackets belong to a shape.
fn texts(list: &str) -> Vec<String> {
    let mut depth = 0i32;
    list.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    })
    .map(|text| text.trim().to_owned())
    .collect()
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut json, mut rounds, mut only) = (None, 15usize, vec![String::new()]);
    let (mut shared, mut clusters, mut pairs_from, mut keep_from) = (usize::MAX, true, None, None);
    let mut list = false;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--json" => json = Some(value()?),
            "--rounds" => rounds = value()?.parse()?,
            "--only" => only = texts(&value()?),
            "--list" => list = true,
            // As on a smaller device.
            "--shared" => shared = value()?.parse()?,
            "--no-clusters" => clusters = false,
            "--pairs-from" => pairs_from = Some(value()?.parse()?),
            "--keep-from" => keep_from = Some(value()?.parse()?),
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let wanted = |case: &Case| only.iter().any(|text| case.name.contains(text.as_str()));
    let cases = Harness::Cuda.cases()?.into_iter().filter(wanted);
    let (small, large): (Vec<Case>, Vec<Case>) = cases.partition(|case| case.group == "small");
    if list {
        large.iter().chain(&small).for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    let cuda = match Cuda::device(0) {
        Ok(cuda) => {
            let mut limits = cuda.limits().at_most(shared, clusters);
            limits.pairs_from = pairs_from.unwrap_or(limits.pairs_from);
            limits.keep_from = keep_from.unwrap_or(limits.keep_from);
            cuda.limited(limits)
        }
        Err(error) => {
            println!("CUDA: SKIPPED, {error}");
            return Ok(());
        }
    };
    let stream = cuda.stream()?;
    let (major, minor) = cuda.driver_version();
    println!("{}, driver for CUDA {major}.{minor}, {rounds} rounds", cuda.name());
    println!("{:48} {:16} {:>9} {:>7} {:>6}  spread", "case", "kernel", "us", "GB/s", "copy=1");
    // The context has to be current for the events.
    // SAFETY: the default stream outlives everything.
    unsafe { cuda.borrow_stream(0)? }.synchronize()?;
    let mut lines = String::new();
    let device = result::device::get(0)?;
    // SAFETY: the device exists; the context is retained by `cuda` meanwhile.
    unsafe { result::ctx::set_current(result::primary_ctx::retain(device)?)? };
    let clock = Clock::new(&cuda)?;
    let mut most = 0;
    for case in large.iter().chain(&small) {
        most = most.max(Layout::dense(case.dtype, &case.shape)?.byte_len());
    }
    let memory = Memory::new(&cuda, most)?;
    for case in &large {
        let ready = Ready::new(&cuda, &memory, case)?;
        for _ in 0..2 {
            ready.copy(&stream)?;
            ready.run(&stream, case)?;
        }
        stream.check()?;
        let (mut copies, mut times) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            copies.push(clock.time(&stream, || ready.copy(&stream))?);
            times.push(clock.time(&stream, || ready.run(&stream, case))?);
        }
        stream.check()?;
        let (copy, time) = (quartiles(&mut copies), quartiles(&mut times));
        let ratio = [copy[1] / time[2], copy[1] / time[1], copy[1] / time[0]];
        let limits = cuda.limits();
        let kernel = match case.in_place {
            true => kernel_in_place(&ready.plan, &limits),
            false => kernel(&ready.plan, &limits),
        };
        let rate = 2.0 * ready.bytes as f64 / time[1] / 1000.0;
        println!(
            "{:48} {:16} {:9.1} {:7.0} {:6.3}  {:.3}-{:.3}",
            case.name, kernel, time[1], rate, ratio[1], ratio[0], ratio[2]
        );
        writeln!(
            lines,
            "{{\"case\": \"{}\", \"kernel\": \"{kernel}\", \"bytes\": {}, \"us\": {time:?}, \"copy_us\": {copy:?}, \"ratio\": {ratio:?}}}",
            case.name, ready.bytes
        )?;
    }
    println!("{:48} {:16} {:>9} {:>12}", "small tensors", "kernel", "us a call", "us on device");
    for case in &small {
        let ready = Ready::new(&cuda, &memory, case)?;
        let mut host = Vec::new();
        let mut device = Vec::new();
        for _ in 0..rounds {
            let calls = 2000;
            let started = Instant::now();
            device.push(
                clock.time(&stream, || (0..calls).try_for_each(|_| ready.run(&stream, case)))?
                    / f64::from(calls),
            );
            host.push(started.elapsed().as_secs_f64() * 1e6 / f64::from(calls));
        }
        stream.check()?;
        let (host, device) = (quartiles(&mut host), quartiles(&mut device));
        let kernel = kernel(&ready.plan, &cuda.limits());
        println!("{:48} {:16} {:9.2} {:12.2}", case.name, kernel, host[1], device[1]);
        writeln!(
            lines,
            "{{\"case\": \"{}\", \"kernel\": \"{kernel}\", \"call_us\": {host:?}, \"device_us\": {device:?}}}",
            case.name
        )?;
    }
    if let Some(path) = json {
        std::fs::write(path, lines)?;
    }
    Ok(())
}
