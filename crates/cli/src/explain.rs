//! `retrograde explain`: how an operator would run on this machine, without running it.

use crate::args::ExplainArguments;
use crate::bench::copy_speed;
use crate::report;
use crate::task::Task;
use anstyle::Style;
use anyhow::Result;
use retrograde::cpu::{self, Isa};
use retrograde::{Flow, Grain, Plan};
use retrograde_io::open;
use serde::Serialize;
use std::fmt::Write;

/// All of it, as JSON.
#[derive(Serialize)]
struct Record {
    operator: String,
    tensor: String,
    dtype: String,
    shape: Vec<usize>,
    plan: PlanRecord,
    kernel: &'static str,
    instructions: &'static str,
    threads: usize,
    bytes_read: u64,
    bytes_written: u64,
    copy_bytes_per_second: f64,
    least_seconds: f64,
}

#[derive(Serialize)]
struct PlanRecord {
    unit_bits: u64,
    /// What strides count.
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
    let before = open(&input.input, &input.opening(None))?;
    let layout = before.layout();
    let task = Task::prepare(&arguments.operation, layout)?;
    let plan = task.with_plan(layout, layout, |plan, _| Ok(plan.clone()))?;

    let written = u64::try_from(plan.bytes_moved() / 2).unwrap_or(u64::MAX);
    let speed = copy_speed(usize::try_from(written).unwrap_or(usize::MAX))?;
    let record = Record {
        operator: task.operator().to_string(),
        tensor: report::name(&input.input),
        dtype: before.element_type().to_string(),
        shape: before.shape().to_vec(),
        plan: plan_record(&plan),
        kernel: cpu::kernel(&plan).name(),
        instructions: Isa::current().name(),
        threads: rayon::current_num_threads(),
        bytes_read: written,
        bytes_written: written,
        copy_bytes_per_second: speed,
        least_seconds: written as f64 / speed,
    };
    if arguments.json {
        return Ok(report::print(&(serde_json::to_string_pretty(&record)? + "\n"))?);
    }
    Ok(report::print(&words(&record, &task, &plan))?)
}

fn plan_record(plan: &Plan) -> PlanRecord {
    let flow = |flow| match flow {
        Flow::Keep => "keep",
        Flow::Flip => "flip",
        Flow::FlipPrefix => "flip prefix",
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

fn words(record: &Record, task: &Task, plan: &Plan) -> String {
    let bold = Style::new().bold();
    let Record { operator, tensor, dtype, shape, .. } = record;
    let arguments = report::arguments(task);
    let mut text =
        format!("{bold}{operator}{bold:#}  {tensor}  {dtype} {shape:?}  {arguments}\n\n");
    let indented = plan.to_string().replace('\n', "\n        ");
    let kernel = cpu::kernel(plan);
    let bytes = |count: u64| report::bytes(usize::try_from(count).unwrap_or(usize::MAX));
    let threads = match record.threads {
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "{bold}plan{bold:#}    {indented}");
    let about = kernel.about();
    let _ = writeln!(text, "{bold}kernel{bold:#}  {kernel}: {about}, with {}", record.instructions);
    let (read, written) = (bytes(record.bytes_read), bytes(record.bytes_written));
    let _ = writeln!(text, "{bold}moves{bold:#}   {read} read, {written} written");
    let _ = writeln!(
        text,
        "{bold}bound{bold:#}   {} at least: memory is copied at {:.1} GB/s here, on {threads}; \
         a disk adds its own time",
        seconds(record.least_seconds),
        record.copy_bytes_per_second / 1e9,
    );
    text
}

/// A time with two digits and a unit.
fn seconds(time: f64) -> String {
    let (value, unit) = match time {
        t if t < 1e-6 => (t * 1e9, "ns"),
        t if t < 1e-3 => (t * 1e6, "us"),
        t if t < 1.0 => (t * 1e3, "ms"),
        t => (t, "s"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(0.0), "0.0 ns");
        assert_eq!(seconds(2.5e-5), "25 us");
        assert_eq!(seconds(0.0042), "4.2 ms");
        assert_eq!(seconds(61.0), "61 s");
    }
}
