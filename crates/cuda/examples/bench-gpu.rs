//! Times plans on a CUDA device against a device-to-device copy of the same bytes.
//!
//! `bench-gpu [--list] [--json FILE] [--rounds N] [--only TEXT,TEXT] [--shared BYTES]
//! [--no-clusters] [--no-scratch] [--keep-from BYTES] [--movements] [--without]` prints a table.
//! `bench/gpu/bench.py --native` starts it, times the same cases (`bench/cases.jsonl`) and other
//! libraries from Python, and combines the results. `--movements` times segments, tails that become
//! zero, lengths at the end of rows and tables instead, which no other library has, and what few tensors
//! have: kernels that no case of the list runs on. `--without` times all of these, each with the
//! kernel of the table and, in turns, with the one that the table has without it.

use cudarc::driver::{result, sys};
use retrograde::{
    Align, DType, Layout, LengthsOperator, Plan, Reversal, Reverse, ReverseSegments,
    ReverseSequence, Table, Tail, TensorRef,
};
use retrograde_bench::call::Failure;
use retrograde_bench::cases::{Case, Harness, lengths, noise};
use retrograde_cuda::{Cuda, DeviceBuffer, Kernel, Limits, Route, Stream, kernel, kernel_in_place};
use std::fmt::Write as _;
use std::time::Instant;

type Result<T> = std::result::Result<T, Failure>;

/// More bytes than any cache holds.
const OTHER: usize = 1 << 28;

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
        let noise = noise();
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

/// How a case that is not in the list moves elements.
#[derive(Clone, Copy)]
enum Movement {
    /// Segments of about this many steps along axis 0.
    Segments(usize),
    /// Rows with a length each.
    Rows(Align, Tail),
    /// Columns with a length each.
    Columns(Tail),
    /// Reversed axes.
    Flip(&'static [i64]),
    /// The same, of an input whose two axes are stored in the other order.
    Transposed(&'static [i64]),
    /// The same, of rows that are so many elements apart.
    Apart(&'static [i64], usize),
}

/// A case that is not in the list.
#[derive(Clone)]
struct Other {
    name: String,
    dtype: DType,
    shape: Vec<usize>,
    movement: Movement,
    in_place: bool,
    table: Option<Table>,
}

impl Other {
    /// All bytes of the tensor, with those between its rows.
    fn bytes(&self) -> Result<usize> {
        let row = match self.movement {
            Movement::Apart(_, step) => step,
            _ => self.shape[1..].iter().product(),
        };
        Ok(Layout::dense(self.dtype, &[self.shape[0], row])?.byte_len())
    }

    /// The plan of a reversal between two tensors of this layout, for the table if there is one.
    fn plan<'a>(&self, reversal: &impl Reversal<'a>, layout: &Layout) -> Result<Plan> {
        let prepared = match &self.table {
            Some(table) => reversal.table(table).prepare(layout, layout)?,
            None => reversal.prepare(layout, layout)?,
        };
        Ok(prepared.plan().clone())
    }
}

/// Segments of contiguous units and of rows, zero tails, and lengths at the end of rows.
fn movements() -> Vec<Other> {
    use Movement::{Rows, Segments};
    let of = |name: &str, dtype: DType, shape: &[usize], movement| {
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let name = format!("{name} {dtype} [{}]", sizes.join(","));
        Other { name, dtype, shape: shape.to_vec(), movement, in_place: false, table: None }
    };
    let words = 1 << 26;
    let mut all = Vec::new();
    for (bytes, name) in
        [(256, "256 B"), (1 << 10, "1 KiB"), (4 << 10, "4 KiB"), (64 << 10, "64 KiB")]
    {
        let name = format!("segments of {name}");
        all.push(of(&name, DType::F32, &[words], Segments(bytes / 4)));
        if bytes == 1 << 10 {
            all.push(of(&name, DType::U8, &[4 * words], Segments(bytes)));
            all.push(of(&name, DType::F16, &[2 * words], Segments(bytes / 2)));
            all.push(of(&name, DType::F64, &[words / 2], Segments(bytes / 8)));
            all.push(of(&name, DType::C128, &[words / 4], Segments(bytes / 16)));
        }
    }
    for rows in [4, 100] {
        let name = format!("segments of {rows} rows");
        all.push(of(&name, DType::F32, &[262_144, 256], Segments(rows)));
        all.push(of(&name, DType::F32, &[262_144, 255], Segments(rows)));
        all.push(of(&name, DType::F32, &[1 << 20, 63], Segments(rows)));
        all.push(of(&name, DType::F32, &[1 << 21, 33], Segments(rows)));
        all.push(of(&name, DType::F64, &[1 << 19, 63], Segments(rows)));
        all.push(of(&name, DType::U8, &[1 << 16, 4095], Segments(rows)));
    }
    for (name, align, tail) in [
        ("kept tail", Align::Start, Tail::Keep),
        ("zero tail", Align::Start, Tail::Zero),
        ("aligned end", Align::End, Tail::Keep),
        ("aligned end, zero tail", Align::End, Tail::Zero),
    ] {
        all.push(of(name, DType::F32, &[8192, 8192], Rows(align, tail)));
        all.push(of(name, DType::F32, &[8192, 8191], Rows(align, tail)));
        all.push(of(name, DType::U8, &[1 << 18, 1000], Rows(align, tail)));
        all.push(of(name, DType::F32, &[512, 512, 256], Rows(align, tail)));
    }
    let transposed = all.len();
    all.push(of("transposed", DType::F32, &[1 << 25, 8], Movement::Transposed(&[1])));
    all.push(of("transposed", DType::U8, &[1 << 26, 15], Movement::Transposed(&[1])));
    let transposed = all.split_off(transposed);
    for (dtype, shape, axes) in [
        (DType::U8, &[1 << 24, 63][..], &[0][..]),
        (DType::F32, &[1 << 22, 61], &[0]),
        (DType::U8, &[8, 1 << 21, 63], &[0, 2]),
        (DType::F32, &[1 << 20, 255], &[0]),
        (DType::U8, &[1 << 27, 7], &[1]),
        (DType::F32, &[1 << 25, 8], &[0]),
        (DType::F32, &[1 << 22, 64], &[1]),
        (DType::F32, &[1 << 20, 256], &[1]),
        (DType::C128, &[1 << 22, 16], &[1]),
        (DType::F32, &[8, 1 << 19, 61], &[0, 2]),
        (DType::F32, &[1 << 21, 127], &[0]),
        (DType::F16, &[1 << 20, 511], &[0]),
        (DType::U8, &[1 << 24, 63], &[1]),
        (DType::F32, &[4096, 16384, 3], &[1]),
        (DType::F16, &[4096, 32768, 3], &[1]),
        (DType::Bytes(5), &[4096, 50_000], &[1]),
        (DType::Bytes(7), &[4096, 40_000], &[1]),
        (DType::F32, &[512, 1024, 511], &[1]),
        (DType::U4, &[32768, 32769], &[1]),
        (DType::U4, &[32768, 32768], &[1]),
    ] {
        all.push(of(&format!("flip {axes:?}"), dtype, shape, Movement::Flip(axes)));
    }
    all.push(of("flip [1], rows 80 apart", DType::F32, &[1 << 21, 64], Movement::Apart(&[1], 80)));
    for tail in [Tail::Keep, Tail::Zero] {
        let keep = if tail == Tail::Keep { "kept" } else { "zero" };
        let rows = format!("rows, {keep} tail");
        for (dtype, shape) in [
            (DType::F32, &[16384, 4096, 3][..]),
            (DType::F16, &[16384, 8192, 3]),
            (DType::U8, &[16384, 16384, 3]),
            (DType::Bytes(5), &[4096, 50_000]),
            (DType::Bytes(7), &[4096, 40_000]),
            (DType::F32, &[512, 1024, 511]),
            (DType::F32, &[512, 8192, 63]),
            (DType::F32, &[512, 4096, 127]),
            (DType::F32, &[512, 2048, 200]),
            (DType::F32, &[512, 2048, 235]),
            (DType::U8, &[1 << 23, 100]),
            (DType::F16, &[1 << 23, 31]),
            (DType::F32, &[1 << 23, 15]),
            (DType::U4, &[32768, 32768]),
        ] {
            all.push(of(&rows, dtype, shape, Rows(Align::Start, tail)));
        }
        let columns = format!("columns, {keep} tail");
        for (dtype, shape) in [
            (DType::U8, &[2048, 1 << 19][..]),
            (DType::F16, &[2048, 1 << 18]),
            (DType::F32, &[2048, 1 << 17]),
            (DType::F32, &[512, 1 << 19]),
            (DType::F64, &[2048, 1 << 16]),
            (DType::F32, &[16384, 16384]),
            (DType::F32, &[100_000, 2688]),
        ] {
            all.push(of(&columns, dtype, shape, Movement::Columns(tail)));
        }
    }
    // Reads, with and without their complements.
    for (rows, bytes) in
        [(1 << 24, 64), (7 << 20, 150), (1 << 20, 1000), (1 << 18, 4096), (1 << 16, 16384)]
    {
        let shape = [rows, bytes];
        let lengths =
            of("reads, rows with lengths", DType::U8, &shape, Rows(Align::Start, Tail::Keep));
        let whole = of("reads, whole rows", DType::U8, &shape, Movement::Flip(&[1]));
        let segments =
            of(&format!("reads, segments of {bytes}"), DType::U8, &[1 << 30], Segments(bytes));
        for plain in [lengths, whole, segments] {
            let name = plain.name.replace("reads", "complements");
            let complement = Other { name, table: Some(Table::dna()), ..plain.clone() };
            all.extend([plain, complement]);
        }
    }
    let in_place = all.iter().map(|other| Other {
        name: format!("in place: {}", other.name),
        in_place: true,
        ..other.clone()
    });
    let in_place: Vec<Other> = in_place.collect();
    all.extend(transposed);
    all.extend(in_place);
    all
}

/// Ascending offsets, 64-bit integers, between which there are `step` steps on average.
fn offsets(size: usize, step: usize) -> Vec<u8> {
    let mut all = vec![0u64];
    let more = lengths(2 * size / step + 2, step);
    let mut last = 0;
    // From half to one and a half times as many steps.
    for bytes in more.as_chunks::<8>().0 {
        last += step as u64 / 2 + u64::from_ne_bytes(*bytes);
        if last >= size as u64 {
            break;
        }
        all.push(last);
    }
    all.push(size as u64);
    all.into_iter().flat_map(u64::to_ne_bytes).collect()
}

/// A case that is ready to run.
struct Ready<'a> {
    plan: Plan,
    memory: &'a Memory,
    lengths: Option<DeviceBuffer>,
    bytes: usize,
    /// The offset of both buffers in bytes.
    offset: u64,
    in_place: bool,
    table: Option<Table>,
}

impl<'a> Ready<'a> {
    fn new(cuda: &Cuda, memory: &'a Memory, case: &Case) -> Result<Self> {
        let (plan, lengths) = case.plan()?;
        let lengths = lengths.map(|lengths| DeviceBuffer::from_host(cuda, &lengths)).transpose()?;
        let (bytes, offset) = (case.dense()?.byte_len(), case.offset_bytes());
        let table = None;
        Ok(Ready { plan, memory, lengths, bytes, offset, in_place: case.in_place, table })
    }

    fn other(cuda: &Cuda, memory: &'a Memory, case: &Other) -> Result<Self> {
        let dense = Layout::dense(case.dtype, &case.shape)?;
        let bytes = case.bytes()?;
        let ready = |plan, lengths| {
            let (in_place, table) = (case.in_place, case.table.clone());
            Ok(Ready { plan, memory, lengths, bytes, offset: 0, in_place, table })
        };
        let (plan, given) = match case.movement {
            Movement::Flip(axes) => {
                let flip = Reverse::axes(axes.iter().copied());
                return ready(case.plan(&flip, &dense)?, None);
            }
            Movement::Transposed(axes) => {
                let strides = [1, case.shape[0] as isize];
                let input = Layout::strided(case.dtype, &case.shape, &strides, 0)?;
                return ready(Reverse::axes(axes.iter().copied()).plan(&input, &dense)?, None);
            }
            Movement::Apart(axes, step) => {
                let rows = Layout::strided(case.dtype, &case.shape, &[step as isize, 1], 0)?;
                let plan = Reverse::axes(axes.iter().copied()).plan(&rows, &rows)?;
                return ready(plan, None);
            }
            Movement::Columns(tail) => {
                let given = lengths(case.shape[1], case.shape[0]);
                let of = Layout::dense(DType::I64, &[case.shape[1]])?;
                (ReverseSequence::new().tail(tail).plan(&dense, &of, &dense)?, given)
            }
            Movement::Segments(steps) => {
                let given = offsets(case.shape[0], steps);
                let bounds = TensorRef::dense(DType::I64, &given[..], &[given.len() / 8])?;
                (case.plan(&ReverseSegments::along(0).offsets(bounds), &dense)?, given)
            }
            Movement::Rows(align, tail) => {
                let given = lengths(case.shape[0], case.shape[1]);
                let of = TensorRef::dense(DType::I64, &given[..], &[case.shape[0]])?;
                let rows =
                    ReverseSequence::new().time_axis(1).batch_axis(0).align(align).tail(tail);
                (case.plan(&rows.lengths(of), &dense)?, given)
            }
        };
        ready(plan, Some(DeviceBuffer::from_host(cuda, &given)?))
    }

    fn kernel(&self, limits: &Limits) -> Kernel {
        if let Some(table) = &self.table {
            let route =
                Route::of(&self.plan, usize::MAX).map(|route| route.looking_up(Some(table)));
            return route.map_or(Kernel::None, |route| route.kernel(limits));
        }
        match self.in_place {
            true => kernel_in_place(&self.plan, limits),
            false => kernel(&self.plan, limits),
        }
    }

    /// The kernel that runs without the one of the table, and a stream for it; `None` if the table has
    /// no other.
    fn without(&self, cuda: &Cuda) -> Result<Option<(Kernel, Stream)>> {
        let mut limits = cuda.limits();
        let chosen = self.kernel(&limits);
        limits.without = Some(chosen);
        let other = self.kernel(&limits);
        Ok((other != chosen)
            .then(|| cuda.limited(limits).stream().map(|stream| (other, stream)))
            .transpose()?)
    }

    fn run(&self, stream: &Stream) -> Result<()> {
        let lengths = self.lengths.as_ref().map(|lengths| (DType::I64, lengths.view()).into());
        let (src, dst) = (self.memory.src.address(), self.memory.dst.address());
        // SAFETY: the buffers are 256 bytes longer than the largest tensor.
        let (from, to) = unsafe {
            (
                retrograde_cuda::DeviceRef::from_raw(src + self.offset, self.bytes),
                retrograde_cuda::DeviceMut::from_raw(dst + self.offset, self.bytes),
            )
        };
        match self.in_place {
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
    let (mut shared, mut clusters, mut scratch) = (usize::MAX, true, true);
    let mut keep_from = None;
    let (mut list, mut others, mut without) = (false, false, false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--json" => json = Some(value()?),
            "--rounds" => rounds = value()?.parse()?,
            "--only" => only = texts(&value()?),
            "--list" => list = true,
            "--movements" => others = true,
            "--without" => without = true,
            // As on a smaller device.
            "--shared" => shared = value()?.parse()?,
            "--no-clusters" => clusters = false,
            "--no-scratch" => scratch = false,
            "--keep-from" => keep_from = Some(value()?.parse()?),
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let wanted = |name: &str| only.iter().any(|text| name.contains(text.as_str()));
    let cases = if others && !without { Vec::new() } else { Harness::Cuda.cases()? };
    let cases = cases.into_iter().filter(|case| wanted(&case.name));
    let (small, large): (Vec<Case>, Vec<Case>) = cases.partition(|case| case.group == "small");
    let others = if others || without { movements() } else { Vec::new() };
    let others: Vec<Other> = others.into_iter().filter(|case| wanted(&case.name)).collect();
    if list {
        let names = large.iter().chain(&small).map(|case| &case.name);
        names.chain(others.iter().map(|case| &case.name)).for_each(|name| println!("{name}"));
        return Ok(());
    }
    let cuda = match Cuda::device(0) {
        Ok(cuda) => {
            let mut limits = cuda.limits().at_most(shared, clusters);
            limits.scratch = scratch;
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
    println!("{:48} {:22} {:>9} {:>7} {:>6}  spread", "case", "kernel", "us", "GB/s", "copy=1");
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
        most = most.max(case.dense()?.byte_len());
    }
    for case in &others {
        most = most.max(case.bytes()?);
    }
    let memory = Memory::new(&cuda, most)?;
    // Made one by one: the lengths of all cases together take much memory.
    let made = large.iter().map(|case| (&case.name, Ready::new(&cuda, &memory, case)));
    let made_others = others.iter().map(|case| (&case.name, Ready::other(&cuda, &memory, case)));
    for (name, ready) in made.chain(made_others) {
        let ready = ready?;
        let stream = stream.looking_up(ready.table.as_ref());
        for _ in 0..2 {
            ready.copy(&stream)?;
            ready.run(&stream)?;
        }
        stream.check()?;
        let limits = cuda.limits();
        let (mut copies, mut times, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let left_out = without.then(|| ready.without(&cuda)).transpose()?.flatten();
        if let Some((_, other)) = &left_out {
            ready.run(other)?;
            other.check()?;
        }
        for _ in 0..rounds {
            copies.push(clock.time(&stream, || ready.copy(&stream))?);
            times.push(clock.time(&stream, || ready.run(&stream))?);
            if let Some((_, other)) = &left_out {
                others.push(clock.time(other, || ready.run(other))?);
            }
        }
        stream.check()?;
        if let Some((kernel, _)) = left_out {
            let (time, other) = (quartiles(&mut times)[1], quartiles(&mut others)[1]);
            let (copy, cost) = (quartiles(&mut copies)[1], (other / time - 1.0) * 100.0);
            println!(
                "{name:48} {:22} {time:9.1} {:6.3}  {kernel:22} {other:9.1} {:6.3} {cost:+7.1} %",
                ready.kernel(&limits),
                copy / time,
                copy / other,
            );
            continue;
        }
        let (copy, time) = (quartiles(&mut copies), quartiles(&mut times));
        let ratio = [copy[1] / time[2], copy[1] / time[1], copy[1] / time[0]];
        let kernel = ready.kernel(&limits);
        let rate = 2.0 * ready.bytes as f64 / time[1] / 1000.0;
        println!(
            "{:48} {:22} {:9.1} {:7.0} {:6.3}  {:.3}-{:.3}",
            name, kernel, time[1], rate, ratio[1], ratio[0], ratio[2]
        );
        writeln!(
            lines,
            "{{\"case\": \"{name}\", \"kernel\": \"{kernel}\", \"bytes\": {}, \"us\": {time:?}, \"copy_us\": {copy:?}, \"ratio\": {ratio:?}}}",
            ready.bytes
        )?;
    }
    if !small.is_empty() {
        let columns = ["small tensors", "kernel", "us a call", "us on device"];
        println!("{:48} {:16} {:>9} {:>12}", columns[0], columns[1], columns[2], columns[3]);
    }
    for case in &small {
        let ready = Ready::new(&cuda, &memory, case)?;
        let mut host = Vec::new();
        let mut device = Vec::new();
        for _ in 0..rounds {
            let calls = 2000;
            let started = Instant::now();
            device.push(
                clock.time(&stream, || (0..calls).try_for_each(|_| ready.run(&stream)))?
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
