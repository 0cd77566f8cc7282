//! `retrograde run`: runs a model on files, and writes what it gives back to files.

mod arguments;
mod files;
mod targets;

pub(crate) use arguments::RunArguments;

use crate::report;
use anyhow::{Result, anyhow, bail};
use arguments::NamedFile;
use retrograde_io::graph::{Graph, GraphError};
use retrograde_io::{Value, onnx, openvino};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use targets::Targets;

/// Everything is read, checked and run before anything is written.
pub(crate) fn run(arguments: &RunArguments) -> Result<()> {
    let graph = model(&arguments.model)?;
    let targets = Targets::choose(&graph, &arguments.output, arguments.output_dir.as_deref())?;
    let inputs = inputs(&graph, &arguments.input)?;
    let results = graph.run(inputs).map_err(|error| explain(&arguments.model, error))?;
    targets.save(&graph, &results)
}

/// The model in a file: an IR is XML, whatever its name; everything else is taken for ONNX.
fn model(path: &Path) -> Result<Graph> {
    let is_xml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    if is_xml || begins_like_xml(path) {
        Ok(openvino::read_model(path)?)
    } else {
        Ok(onnx::read_model(path)?)
    }
}

/// Whether the first byte is `<`. In a ModelProto it would be an unknown field.
fn begins_like_xml(path: &Path) -> bool {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let mut first = [0; 1];
    is_file
        && File::open(path)
            .is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first == *b"<")
}

/// The tensors in files, each as what the model declares for its input.
fn inputs(graph: &Graph, given: &[NamedFile]) -> Result<Vec<(String, Value)>> {
    let mut inputs = Vec::with_capacity(given.len());
    for NamedFile { name, path } in given {
        let name = match (name, graph.inputs()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.names.first().cloned().unwrap_or_default(),
            (None, _) => bail!(
                "--input {}: the model has {} inputs, say which one with --input NAME={}",
                path.display(),
                graph.inputs().len(),
                path.display()
            ),
        };
        let input = graph.inputs().iter().find(|input| input.names.contains(&name));
        let declared = input.and_then(|input| input.declared.dtype);
        let value = files::load(path, declared)?;
        inputs.push((name, value));
    }
    Ok(inputs)
}

/// Adds the model's name, and what to do where there is an option for it.
fn explain(model: &Path, error: GraphError) -> anyhow::Error {
    let model = report::file_name(model);
    match &error {
        GraphError::InputMissing { name, .. } => {
            anyhow!("{model}: {error}: give it with --input {name}=FILE")
        }
        _ => anyhow!("{model}: {error}"),
    }
}
