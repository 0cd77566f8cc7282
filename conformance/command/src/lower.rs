//! `retrograde lower`: a model of reversals in another language.

mod args;

pub(crate) use args::Arguments;

use anyhow::{Result, anyhow, bail};
use args::LowerTo;
use retrograde::DType;
use retrograde_io::graph::{self, Graph};
use retrograde_io::{Elements, FilesRead, Location, Saving, Value, read_model_in, write_files};
use retrograde_kit::lower::{self, Chain, Dim, Lengths, Operand, Refused, Step};
use retrograde_program::report;
use retrograde_truth::tensor::{Data, Tensor};
use retrograde_truth::types::Type;
use std::path::{Path, PathBuf};

/// Everything is written, or nothing.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let read = FilesRead::default();
    let graph = read_model_in(&arguments.model, std::env::temp_dir(), &read)?;
    let name = report::name(&Location::file(&arguments.model));
    let chain = chain(&graph).map_err(|reason| anyhow!("lower: {name}: {reason}"))?;
    let options = lower::Options { opset: arguments.opset, trust_lengths: arguments.trust_lengths };
    let files = lower::lower(&chain, arguments.to.into(), options).map_err(|refused| {
        let hint = match refused {
            Refused::Lengths(_) => " (--trust-lengths promises that there are none)",
            Refused::Inexact(_) => "",
        };
        anyhow!("lower: {name}: {refused}{hint}")
    })?;
    let Some(output) = &arguments.output else {
        let text = matches!(arguments.to, LowerTo::Stablehlo | LowerTo::Directml);
        let [(_, content)] = &files[..] else {
            bail!("lower: an IR is two files: give -o FILE.xml")
        };
        if !text {
            bail!("lower: an ONNX model is not text: give -o FILE.onnx");
        }
        return Ok(report::print(&String::from_utf8_lossy(content))?);
    };
    let files: Vec<(PathBuf, Vec<u8>)> = files
        .into_iter()
        .enumerate()
        .map(|(at, (extension, content))| (place(output, at, extension), content))
        .collect();
    // The model may not be replaced: its weights are mapped.
    let saving = Saving { force: arguments.force, keep: read, ..Saving::default() };
    write_files(&files, &saving)?;
    let written: Vec<_> =
        files.iter().map(|(path, _)| report::name(&Location::file(path))).collect();
    report::say(&format!("{}: {} steps", written.join(", "), chain.steps.len()));
    Ok(())
}

/// The first file has the name that was given, others the same with their own extension.
fn place(output: &Path, at: usize, extension: &str) -> PathBuf {
    if at == 0 { output.to_owned() } else { output.with_extension(extension) }
}

/// The model as the kit has it.
fn chain(graph: &Graph) -> Result<Chain> {
    let found = graph.chain()?;
    let mut inputs: Vec<&graph::Input> = Vec::new();
    let mut steps = Vec::new();
    for step in &found.steps {
        steps.push(match step {
            graph::Step::Axes(axes) => Step::Axes(axes.clone()),
            graph::Step::Sequence { time, batch, lengths } => {
                let lengths = match lengths {
                    graph::ChainLengths::Constant(value) => Lengths::Constant(constant(value)?),
                    graph::ChainLengths::Input(input) => {
                        let known = inputs.iter().position(|one| one.names == input.names);
                        Lengths::Input(known.unwrap_or_else(|| {
                            inputs.push(input);
                            inputs.len() - 1
                        }))
                    }
                };
                Step::Sequence { time: *time, batch: *batch, lengths }
            }
        });
    }
    let unused = graph.inputs().iter().find(|input| {
        input.names != found.input.names && !inputs.iter().any(|one| one.names == input.names)
    });
    if let Some(input) = unused {
        bail!("input {:?} is not used by a reversal", input.name());
    }
    let lengths = inputs.into_iter().map(operand).collect::<Result<_>>()?;
    let output = found.output.name().to_owned();
    Ok(Chain { input: operand(found.input)?, lengths, steps, output })
}

fn operand(input: &graph::Input) -> Result<Operand> {
    let (name, declared) = (input.name().to_owned(), &input.declared);
    let (Some(dtype), Some(dims)) = (declared.dtype, &declared.dims) else {
        bail!("input {name:?} is declared as {declared}, expected a tensor of known type and rank");
    };
    let dim = |dim: &graph::Dim| match dim {
        graph::Dim::Fixed(size) => Dim::Fixed(*size),
        graph::Dim::Named(name) => Dim::Open(Some(name.clone())),
        graph::Dim::Any | graph::Dim::Between(..) => Dim::Open(None),
    };
    Ok(Operand { name, dtype: kind(dtype)?, dims: dims.iter().map(dim).collect() })
}

fn constant(value: &Value) -> Result<Tensor> {
    let Elements::Bytes(bytes) = value.elements() else { bail!("lengths are strings") };
    let (dtype, shape) = (kind(value.dtype())?, value.shape().to_vec());
    Ok(Tensor { dtype, shape, data: Data::Bytes(bytes.to_vec()) })
}

/// The kit's type of the same name.
fn kind(dtype: DType) -> Result<&'static Type> {
    let known = dtype.names().and_then(|names| Type::named(names.name));
    known.ok_or_else(|| anyhow!("the type {dtype} has no name in other languages"))
}
