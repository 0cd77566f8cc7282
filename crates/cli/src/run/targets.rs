//! Where the outputs of a model go.

use super::arguments::NamedFile;
use super::files;
use crate::report;
use anyhow::{Context, Result, anyhow, bail};
use retrograde_io::graph::{Graph, Output};
use retrograde_io::{Elements, Location, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files by output, or a folder for all of them, or nothing.
#[derive(Debug)]
pub(super) enum Targets {
    Files(Vec<(usize, Location)>),
    Folder(PathBuf, Vec<String>),
    None,
}

impl Targets {
    /// Checks what was asked for against what the model has.
    pub(super) fn choose(
        graph: &Graph,
        files: &[NamedFile],
        folder: Option<&Path>,
    ) -> Result<Targets> {
        match (files, folder) {
            ([], None) => Ok(Targets::None),
            ([], Some(folder)) => Ok(Targets::Folder(folder.to_owned(), stems(graph)?)),
            (files, None) => {
                let mut chosen = Vec::new();
                for NamedFile { name, location } in files {
                    files::check_target(location)?;
                    // A file is written whole, so two tensors of one are refused too.
                    let same = |(_, other): &(usize, Location)| other.path == location.path;
                    if chosen.iter().any(same) {
                        bail!("--output {}: given for two outputs", location.path.display());
                    }
                    let output = output_called(graph, name.as_deref(), location)?;
                    chosen.push((output, location.clone()));
                }
                Ok(Targets::Files(chosen))
            }
            (_, Some(_)) => bail!("--output-dir and --output exclude each other"),
        }
    }

    /// Writes the outputs. None gets its name before all of them are complete.
    pub(super) fn save(&self, graph: &Graph, results: &[Value]) -> Result<()> {
        let named = |at: usize| graph.outputs()[at].names.first().map_or("", String::as_str);
        match self {
            Targets::None => {
                let lines = results.iter().enumerate().map(|(at, value)| {
                    format!("{}: {}\n", report::printable(named(at)), described(value))
                });
                report::print(&lines.collect::<String>())?;
            }
            Targets::Files(files) => {
                let begun = files.iter().map(|(at, location)| {
                    Ok((files::begin(location, named(*at), &results[*at])?, *at))
                });
                finish(begun.collect::<Result<_>>()?, results)?;
            }
            Targets::Folder(folder, stems) => {
                std::fs::create_dir_all(folder)
                    .map_err(|error| anyhow!("cannot make {}: {error}", folder.display()))?;
                let begun = results.iter().enumerate().map(|(at, value)| {
                    Ok((files::begin_in(folder, &stems[at], named(at), value)?, at))
                });
                finish(begun.collect::<Result<_>>()?, results)?;
            }
        }
        Ok(())
    }
}

/// Gives the outputs their names.
fn finish(begun: Vec<(retrograde_io::Output, usize)>, results: &[Value]) -> Result<()> {
    for (output, at) in begun {
        let location = output.location().clone();
        output.finish()?;
        report::wrote(&location, &described(&results[at]));
    }
    Ok(())
}

fn described(value: &Value) -> String {
    let bytes = match value.elements() {
        Elements::Bytes(bytes) => bytes.len(),
        Elements::Strings(strings) => strings.byte_len(),
    };
    format!("{} {:?}, {}", value.dtype(), value.shape(), report::bytes(bytes))
}

/// Which output a name means.
fn output_called(graph: &Graph, name: Option<&str>, location: &Location) -> Result<usize> {
    let usual = || {
        let names = graph.outputs().iter().filter_map(|output| output.names.first());
        names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ")
    };
    match (name, graph.outputs()) {
        (None, [_]) => Ok(0),
        (None, outputs) => bail!(
            "--output {location}: the model has {} outputs, say which one: {}",
            outputs.len(),
            usual()
        ),
        (Some(name), outputs) => {
            // A usual name goes before the others, which outputs may share.
            let first = |output: &Output| output.names.first().is_some_and(|usual| usual == name);
            let any = |output: &Output| output.names.iter().any(|n| n == name);
            let found = outputs.iter().position(first).or_else(|| outputs.iter().position(any));
            found.with_context(|| format!("there is no output {name:?}, expected {}", usual()))
        }
    }
}

/// A file name for every output: its own name, without what could lead elsewhere.
fn stems(graph: &Graph) -> Result<Vec<String>> {
    let mut owners = HashMap::new();
    let mut stems = Vec::new();
    for output in graph.outputs() {
        let name = output.names.first().map_or("", String::as_str);
        let stem = stem(name);
        if let Some(other) = owners.insert(stem.to_lowercase(), name) {
            bail!("outputs {other:?} and {name:?} would both be {stem}: name files with --output");
        }
        stems.push(stem);
    }
    Ok(stems)
}

fn stem(name: &str) -> String {
    const MOST: usize = 100;
    let plain = |letter: char| match letter {
        letter if letter.is_alphanumeric() => letter,
        '-' | '_' | '.' => letter,
        _ => '_',
    };
    let stem: String = name.chars().map(plain).take(MOST).collect();
    // Neither hidden, nor `..`, nor nothing.
    match stem.trim_start_matches('.') {
        "" => "output".to_owned(),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_lead_nowhere_else() {
        let cases = [
            ("y", "y"),
            ("/net/y:0", "_net_y_0"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("..", "output"),
            ("", "output"),
            (".hidden", "hidden"),
            ("a\0b\n", "a_b_"),
            ("größe", "größe"),
        ];
        for (name, expected) in cases {
            assert_eq!(stem(name), expected);
        }
        assert_eq!(stem(&"x".repeat(5000)).len(), 100);
    }
}
