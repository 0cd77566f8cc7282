//! `retrograde run`: runs a model on files and writes its outputs to files.

mod files;
mod targets;

use crate::args::{NamedFile, RunArguments};
use crate::report;
use anyhow::{Result, anyhow, bail};
use retrograde_io::graph::{Declared, Graph, GraphError};
use retrograde_io::{FilesRead, Location, Value, folder_beside, read_model_in};
use retrograde_program::progress::Progress;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Instant;
use targets::Targets;

/// Everything is read, checked and run before anything is written.
pub(crate) fn run(arguments: &RunArguments) -> Result<()> {
    let temporary = temporary(arguments);
    let read = FilesRead::default();
    let graph = read_model_in(&arguments.model, &temporary, &read)?;
    for file in &arguments.input {
        read.add(&file.location.path);
    }
    let targets = Targets::choose(&graph, arguments, &read)?;
    let inputs = inputs(&graph, arguments, &temporary, &read)?;
    // How much there is to do is known only when the first part of it is done.
    let (start, progress, mut so_far) = (Instant::now(), OnceCell::new(), 0);
    let mut watch = |done, total| {
        let progress = progress.get_or_init(|| Progress::since(start, total));
        progress.advance(done - so_far);
        so_far = done;
    };
    let results = graph.run_in(inputs, &temporary, Some(&mut watch));
    drop(progress);
    let results = results.map_err(|error| explain(&arguments.model, error))?;
    targets.save(&graph, &results)
}

/// The folder for temporary files: that of the outputs if it can be used, otherwise the system's.
fn temporary(arguments: &RunArguments) -> PathBuf {
    let file = arguments.output.iter().find(|file| !file.location.is_stream());
    match (&arguments.output_dir, file) {
        (Some(folder), _) if folder.is_dir() => folder.clone(),
        (Some(folder), _) => folder_beside(Some(folder)),
        (None, file) => folder_beside(file.map(|file| file.location.path.as_path())),
    }
}

/// Opens the inputs, each as the type that the model declares for it.
fn inputs(
    graph: &Graph,
    arguments: &RunArguments,
    temporary: &Path,
    read: &FilesRead,
) -> Result<Vec<(String, Value)>> {
    let mut inputs = Vec::with_capacity(arguments.input.len());
    for NamedFile { name, location } in &arguments.input {
        let name = match (name, graph.inputs()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.name().to_owned(),
            (None, _) => bail!(
                "--input {location}: the model has {} inputs, name one with --input NAME={location}",
                graph.inputs().len(),
            ),
        };
        let input = graph.inputs().iter().find(|input| input.names.contains(&name));
        let declared = input.map_or_else(Declared::default, |input| input.declared.clone());
        let value = files::load(location, &declared, arguments.from, temporary, read)?;
        inputs.push((name, value));
    }
    Ok(inputs)
}

/// Adds the model's name, and the option that solves the problem if there is one.
fn explain(model: &Path, error: GraphError) -> anyhow::Error {
    let model = report::name(&Location::file(model));
    match &error {
        GraphError::InputMissing { name, .. } => {
            anyhow!("{model}: {error}: give it with --input {name}=FILE")
        }
        _ => anyhow!("{model}: {error}"),
    }
}
