//! `retrograde explain`: how an operator would run on this machine, without running it.

use crate::args::{Device, ExplainArguments};
use crate::bench::copy_speed;
use crate::cuda;
use crate::device;
use crate::load;
use crate::report::{self, bytes, seconds};
use crate::task::Task;
use anstyle::Style;
use anyhow::{Result, bail};
use retrograde::cpu::{self, Isa, Program};
use retrograde::{Flow, Grain, Plan, Table};
use retrograde_cuda::{Cuda, Error, Limits, Route};
use retrograde_io::FilesRead;
use serde::Serialize;
use std::fmt::Write;

/// The complete result, as JSON.
#[derive(Serialize)]
struct Record {
    operator: String,
    tensor: String,
    dtype: String,
    shape: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    plan: PlanRecord,
    kernel: &'static str,
    instructions: &'static str,
    threads: usize,
    bytes_read: u64,
    bytes_written: u64,
    copy_bytes_per_second: f64,
    least_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cuda: Option<CudaRecord>,
}

/// How a GPU would run it. Without a GPU, the fields that depend on one are null.
#[derive(Serialize)]
struct CudaRecord {
    device: usize,
    name: Option<String>,
    /// Why there is no device.
    missing: Option<String>,
    kernel: &'static str,
    #[serde(skip)]
    about: &'static str,
    pieces: usize,
    overlapped: bool,
    device_bytes: usize,
    bytes_per_second_there: Option<f64>,
    bytes_per_second_back: Option<f64>,
    least_seconds: Option<f64>,
}

#[derive(Serialize)]
struct PlanRecord {
    unit_bits: u64,
    /// The unit of strides.
    strides_in: &'static str,
    dims: Vec<DimRecord>,
    lengths: Option<LengthsRecord>,
}

#[derive(Serialize)]
struct DimRecord {
    len: usize,
    flow: &'static str,
    src: isize,
    dst: isize,
    lengths: isize,
}

#[derive(Serialize)]
struct LengthsRecord {
    dtype: String,
    count: usize,
    limit: usize,
}

/// Prints how the operator would run.
pub(crate) fn run(arguments: &ExplainArguments) -> Result<()> {
    let input = arguments.operation.files();
    let read = FilesRead::default();
    let before = load::tensor(&input.input, &input.opening(None, &read))?;
    let layout = before.layout();
    let task = Task::prepare(&arguments.operation, layout, before.data(), &read)?;
    let plan =
        task.prepared(layout, &task.output(layout)?, |checked| Ok(checked.plan().clone()))?;
    let program = match task.table() {
        Some(table) => {
            Program::new(plan.clone()).looking_up(table, task.operator(), layout.dtype())?
        }
        None => Program::new(plan.clone()),
    };

    let cuda = match arguments.device {
        Device::Cpu => None,
        Device::Cuda(number) => {
            device::check(arguments.device, before.element_type(), &task)?;
            Some(cuda_record(number, &plan, task.table())?)
        }
        Device::Gpu(_) => bail!("explain: --device gpu is not supported, expected cpu or cuda"),
    };

    let written = u64::try_from(plan.bytes_moved() / 2).unwrap_or(u64::MAX);
    let speed = copy_speed(usize::try_from(written).unwrap_or(usize::MAX))?;
    let record = Record {
        operator: task.operator().to_string(),
        tensor: report::name(&input.input),
        dtype: before.element_type().to_string(),
        shape: before.shape().to_vec(),
        table: task.table_name().map(str::to_owned),
        plan: plan_record(&plan),
        kernel: program.kernel().name(),
        instructions: Isa::current().name(),
        threads: cpu::num_threads(),
        bytes_read: written,
        bytes_written: written,
        copy_bytes_per_second: speed,
        least_seconds: written as f64 / speed,
        cuda,
    };
    if arguments.json {
        return Ok(report::print(&(serde_json::to_string_pretty(&record)? + "\n"))?);
    }
    Ok(report::print(&words(&record, &task, &program))?)
}

/// Queries the device or, without one, uses the limits of a typical one.
fn cuda_record(number: usize, plan: &Plan, table: Option<&Table>) -> Result<CudaRecord> {
    let (cuda, missing) = match Cuda::device(number) {
        Ok(cuda) => (Some(cuda), None),
        Err(error @ Error::NoDevice { .. }) => (None, Some(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    let route = Route::of(plan, cuda::piece())?.looking_up(table);
    let limits = cuda.as_ref().map_or_else(Limits::default, Cuda::limits);
    let kernel = route.kernel(&limits);
    let speed = cuda.as_ref().map(retrograde_cuda::bus_speed).transpose()?;
    let moved = (plan.bytes_moved() / 2) as f64;
    Ok(CudaRecord {
        device: number,
        name: cuda.map(|cuda| cuda.name().to_owned()),
        missing,
        kernel: kernel.name(),
        about: kernel.about(),
        pieces: route.pieces(),
        overlapped: route.overlaps(),
        device_bytes: route.device_bytes(),
        bytes_per_second_there: speed.map(|(there, _)| there),
        bytes_per_second_back: speed.map(|(_, back)| back),
        least_seconds: speed.map(|(there, back)| match route.overlaps() {
            true => moved / there.min(back),
            false => moved / there + moved / back,
        }),
    })
}

fn plan_record(plan: &Plan) -> PlanRecord {
    let flow = |flow| match flow {
        Flow::Keep => "keep",
        Flow::Flip => "flip",
        Flow::FlipPrefix => "flip prefix",
        Flow::FlipSegments => "flip segments",
    };
    PlanRecord {
        unit_bits: u64::try_from(plan.unit().bits()).unwrap_or(u64::MAX),
        strides_in: match plan.unit().grain {
            Grain::Byte => "bytes",
            Grain::Packed { .. } => "elements",
        },
        dims: plan
            .dims()
            .iter()
            .map(|dim| DimRecord {
                len: dim.len,
                flow: flow(dim.flow),
                src: dim.src,
                dst: dim.dst,
                lengths: dim.lengths,
            })
            .collect(),
        lengths: plan.lengths().map(|lengths| LengthsRecord {
            dtype: lengths.dtype.to_string(),
            count: lengths.count(),
            limit: lengths.limit,
        }),
    }
}

fn words(record: &Record, task: &Task, program: &Program) -> String {
    let bold = Style::new().bold();
    let Record { operator, tensor, dtype, shape, .. } = record;
    let arguments = task.movement().arguments() + &task.note();
    let mut text =
        format!("{bold}{operator}{bold:#}  {tensor}  {dtype} {shape:?}  {arguments}\n\n");
    let indented = program.plan().to_string().replace('\n', "\n        ");
    let threads = report::threads(record.threads);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{bold}plan{bold:#}    {indented}");
    if let Some(cuda) = &record.cuda {
        cuda_words(&mut text, record, cuda);
        return text;
    }
    let _ = writeln!(text, "{bold}kernel{bold:#}  {program}, with {}", record.instructions);
    let (read, written) = (bytes(record.bytes_read), bytes(record.bytes_written));
    let _ = writeln!(text, "{bold}moves{bold:#}   {read} read, {written} written");
    let _ = writeln!(
        text,
        "{bold}bound{bold:#}   {} at least: memory is copied at {:.1} GB/s here, on {threads}; \
         disk time is not included",
        seconds(record.least_seconds),
        record.copy_bytes_per_second / 1e9,
    );
    text
}

/// The lines about a GPU.
fn cuda_words(text: &mut String, record: &Record, cuda: &CudaRecord) {
    let bold = Style::new().bold();
    let CudaRecord { device, kernel, about, .. } = cuda;
    let (name, missing) = (cuda.name.as_deref(), cuda.missing.as_deref());
    let found = match name {
        Some(name) => format!("cuda:{device}, {name}"),
        None => format!("{}; the following is for an H200", missing.unwrap_or("no CUDA device")),
    };
    let how = match (cuda.pieces, cuda.overlapped) {
        (0, _) => "nothing to transfer".to_owned(),
        (1, _) => "in one piece".to_owned(),
        (count, true) => format!("in {count} pieces, copies and kernels overlapped"),
        (count, false) => format!("in {count} pieces, one after the other"),
    };
    let moved = bytes(record.bytes_written);
    let held = bytes(cuda.device_bytes as u64);
    let cpu = seconds(record.least_seconds);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{bold}device{bold:#}  {found}");
    let _ = writeln!(text, "{bold}kernel{bold:#}  {kernel}: {about}");
    let _ = writeln!(
        text,
        "{bold}moves{bold:#}   {moved} to the device, {moved} back, {how}; {held} of its memory"
    );
    let gpu = match (cuda.least_seconds, cuda.bytes_per_second_there, cuda.bytes_per_second_back) {
        (Some(least), Some(there), Some(back)) => format!(
            "{} at least: the bus takes {:.1} GB/s there, {:.1} GB/s back",
            seconds(least),
            there / 1e9,
            back / 1e9
        ),
        _ => "unknown without a device: the tensor crosses the bus twice".to_owned(),
    };
    let _ = writeln!(
        text,
        "{bold}bound{bold:#}   {gpu}; the CPU's is {cpu}; disk time is not included"
    );
}
