//! `retrograde-wgpu-bench`: times plans on an adapter beside `copy_buffer_to_buffer` of the same
//! bytes, and prints one JSON object per case. The cases are those of CUDA (`bench/cases.jsonl`).

use retrograde::DType;
use retrograde_bench::call::Failure;
use retrograde_bench::cases::{Case, Harness, noise};
use retrograde_wgpu::{Bound, Gpu, Options, View, kernel, kernel_in_place, wgpu};
use serde_json::json;
use std::time::Instant;

const USAGE: &str = "usage: retrograde-wgpu-bench \
                     [--only TEXT]... [--rounds N] [--most BYTES] [--adapter NUMBER] [--list]";
/// A measurement repeats its work until it takes about this long, in seconds.
const LONG: f64 = 0.02;
/// The longest pause, in seconds, after which a device may have lowered its clocks, and how long it
/// works before it is timed again.
const PAUSE: f64 = 0.1;
const WARM: f64 = 1.0;
/// Room behind the largest tensor, for cases at an offset.
const ROOM: u64 = 256;

struct Arguments {
    /// Cases whose names contain one of these; all, if there is none.
    only: Vec<String>,
    rounds: usize,
    /// Larger tensors are left out: software adapters take minutes for them.
    most: u64,
    adapter: Option<usize>,
    list: bool,
}

fn main() -> Result<(), Failure> {
    let arguments = arguments()?;
    let fits = |case: &Case| bytes_of(case).is_some_and(|bytes| bytes <= arguments.most);
    let is_wanted = |case: &Case| {
        let mut only = arguments.only.iter();
        arguments.only.is_empty() || only.any(|text| case.name.contains(text))
    };
    let cases: Vec<Case> =
        Harness::Cuda.cases()?.into_iter().filter(|case| is_wanted(case) && fits(case)).collect();
    if arguments.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    let options = Options { number: arguments.adapter, ..Options::default() };
    let gpu = pollster::block_on(Gpu::open(options))?;
    let largest = cases.iter().filter_map(bytes_of).max().unwrap_or(0);
    let memory = Memory { src: filled(&gpu, largest + ROOM)?, dst: filled(&gpu, largest + ROOM)? };
    for case in &cases {
        println!("{}", measure(&gpu, &memory, case, arguments.rounds)?);
    }
    Ok(())
}

fn arguments() -> Result<Arguments, Failure> {
    let mut given =
        Arguments { only: Vec::new(), rounds: 9, most: u64::MAX, adapter: None, list: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--only" => given.only.push(value()?),
            "--rounds" => given.rounds = value()?.parse::<usize>()?.max(1),
            "--most" => given.most = value()?.parse()?,
            "--adapter" => given.adapter = Some(value()?.parse()?),
            "--list" => given.list = true,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(given)
}

struct Memory {
    src: wgpu::Buffer,
    dst: wgpu::Buffer,
}

fn bytes_of(case: &Case) -> Option<u64> {
    Some(case.dense().ok()?.byte_len() as u64)
}

/// A buffer of noise.
fn filled(gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer, Failure> {
    let part = gpu.upload(&noise())?;
    let buffer = gpu.allocate(bytes)?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut at = 0;
    while at < buffer.size() {
        let len = part.size().min(buffer.size() - at);
        encoder.copy_buffer_to_buffer(&part, 0, &buffer, at, len);
        at += len;
    }
    gpu.queue().submit([encoder.finish()]);
    Ok(buffer)
}

fn measure(
    gpu: &Gpu,
    memory: &Memory,
    case: &Case,
    rounds: usize,
) -> Result<serde_json::Value, Failure> {
    let start = Instant::now();
    let (plan, lengths) = case.plan()?;
    let bytes = bytes_of(case).unwrap_or(0);
    let lengths = lengths.map(|lengths| gpu.upload(&lengths)).transpose()?;
    let lengths = lengths.as_ref().map(|lengths| (DType::I64, View::whole(lengths)).into());
    let view = |buffer| View::new(buffer, case.offset_bytes(), bytes);
    let src = if case.in_place { &memory.dst } else { &memory.src };
    let bound = gpu.bind(&plan, view(src), lengths, view(&memory.dst))?;
    let kernel = if case.in_place { kernel_in_place(&plan) } else { kernel(&plan) };
    let ours = |encoder: &mut wgpu::CommandEncoder| Bound::encode(&bound, encoder);
    let copy = |encoder: &mut wgpu::CommandEncoder| {
        let len = bytes.next_multiple_of(4);
        encoder.copy_buffer_to_buffer(&memory.src, 0, &memory.dst, 0, len);
    };
    if start.elapsed().as_secs_f64() > PAUSE {
        let warming = Instant::now();
        while warming.elapsed().as_secs_f64() < WARM {
            time(gpu, &copy, 1)?;
        }
    }
    let (our_times, copy_times) = (repeats(gpu, &ours)?, repeats(gpu, &copy)?);
    let (mut our_seconds, mut copy_seconds) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        our_seconds.push(time(gpu, &ours, our_times)?);
        copy_seconds.push(time(gpu, &copy, copy_times)?);
    }
    pollster::block_on(gpu.check())?;
    let (ours, copy) = (median(our_seconds), median(copy_seconds));
    Ok(json!({
        "case": case.name,
        "group": case.group,
        "adapter": gpu.name(),
        "kernel": kernel.to_string(),
        "bytes": bytes,
        "microseconds": ours * 1e6,
        "copy_microseconds": copy * 1e6,
        "of_copy": copy / ours,
    }))
}

/// How often to repeat work so that it takes long enough to be timed.
fn repeats(gpu: &Gpu, work: &dyn Fn(&mut wgpu::CommandEncoder)) -> Result<u32, Failure> {
    // The first time compiles the kernel.
    time(gpu, work, 1)?;
    let once = time(gpu, work, 1)?;
    Ok((LONG / once).clamp(1.0, 1000.0) as u32)
}

/// Seconds for one of so many repetitions, in one submission.
fn time(gpu: &Gpu, work: &dyn Fn(&mut wgpu::CommandEncoder), repeats: u32) -> Result<f64, Failure> {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    (0..repeats).for_each(|_| work(&mut encoder));
    let commands = encoder.finish();
    gpu.wait()?;
    let start = Instant::now();
    gpu.queue().submit([commands]);
    gpu.wait()?;
    Ok(start.elapsed().as_secs_f64() / f64::from(repeats))
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
