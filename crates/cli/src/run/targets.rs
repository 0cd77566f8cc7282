//! Where the outputs of a model go.

use super::files;
use crate::args::{NamedFile, RunArguments};
use crate::report;
use anyhow::{Context, Result, anyhow, bail};
use retrograde_io::graph::{Graph, Output};
use retrograde_io::{Elements, Error, FileId, FilesRead, Location, Saving, Value};
use retrograde_program::interrupt;
use retrograde_program::progress::Progress;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Their destinations, and the format if one was given.
#[derive(Debug)]
pub(super) struct Targets {
    places: Places,
    saving: Saving,
}

/// One file per output, or a folder for all of them, or nothing.
#[derive(Debug)]
enum Places {
    Files(Vec<(usize, Location)>),
    Folder(PathBuf, Vec<String>),
    None,
}

impl Targets {
    /// Checks the requested destinations against the outputs of the model.
    pub(super) fn choose(
        graph: &Graph,
        arguments: &RunArguments,
        read: &FilesRead,
    ) -> Result<Targets> {
        let to = arguments.to;
        let places = match (&arguments.output[..], arguments.output_dir.as_deref()) {
            ([], None) if to.is_some() => {
                bail!("--to FORMAT needs a destination: -o FILE or -d DIR")
            }
            ([], None) => Places::None,
            ([], Some(folder)) => Places::Folder(folder.to_owned(), stems(graph)?),
            (files, None) => {
                let mut chosen: Vec<(usize, Location)> = Vec::new();
                for NamedFile { name, location } in files {
                    files::check_target(location, to)?;
                    let path = &location.path;
                    // A file is written as a whole, so two tensors for one file are refused too.
                    if chosen.iter().any(|(_, other)| same_file(&other.path, path)) {
                        bail!("--output {}: given for two outputs", path.display());
                    }
                    // Checked now, and not after all the work is done.
                    if let Some(input) = read.find(path) {
                        return Err(Error::IsInput { path: path.clone(), input }.into());
                    }
                    let output = output_called(graph, name.as_deref(), location)?;
                    chosen.push((output, location.clone()));
                }
                Places::Files(chosen)
            }
            (_, Some(_)) => bail!("--output-dir and --output exclude each other"),
        };
        let (format, force, keep) = (to, arguments.force, read.clone());
        Ok(Targets { places, saving: Saving { format, force, keep } })
    }

    /// Writes the outputs. None gets its name before all of them are complete.
    pub(super) fn save(&self, graph: &Graph, results: &[Value]) -> Result<()> {
        let named = |at: usize| graph.outputs()[at].name();
        let saving = &self.saving;
        let progress = Progress::until(results.iter().map(|value| size(value) as u64).sum());
        let watch = &mut |bytes| progress.advance(bytes as u64);
        match &self.places {
            Places::None => {
                let lines = results.iter().enumerate().map(|(at, value)| {
                    format!("{}: {}\n", report::printable(named(at)), described(value))
                });
                report::print(&lines.collect::<String>())?;
            }
            Places::Files(files) => {
                let begun = files.iter().map(|(at, location)| {
                    Ok((files::begin(location, named(*at), &results[*at], saving, watch)?, *at))
                });
                finish(begun.collect::<Result<_>>()?, results)?;
            }
            Places::Folder(folder, stems) => {
                let new = !folder.exists();
                std::fs::create_dir_all(folder)
                    .map_err(|error| anyhow!("cannot make {}: {error}", folder.display()))?;
                if new {
                    interrupt::made(folder);
                }
                let begun = results.iter().enumerate().map(|(at, value)| {
                    Ok((files::begin_in(folder, &stems[at], named(at), value, saving, watch)?, at))
                });
                let done = begun.collect::<Result<_>>().and_then(|begun| finish(begun, results));
                if done.is_err() && new {
                    // Removed only if it is empty.
                    let _ = std::fs::remove_dir(folder);
                }
                done?;
            }
        }
        Ok(())
    }
}

/// Gives the outputs their names.
fn finish(begun: Vec<(retrograde_io::Output, usize)>, results: &[Value]) -> Result<()> {
    let (outputs, places): (Vec<_>, Vec<_>) = begun.into_iter().unzip();
    let locations: Vec<Location> = outputs.iter().map(|own| own.location().clone()).collect();
    for (at, location) in locations.iter().enumerate() {
        // In a folder, links may make two names one file.
        if locations[..at].iter().any(|other| same_file(&other.path, &location.path)) {
            bail!("{}: is the file of two outputs", location.path.display());
        }
    }
    retrograde_io::Output::finish_all(outputs)?;
    for (location, at) in locations.iter().zip(places) {
        report::say(&report::written(location, &described(&results[at])));
    }
    Ok(())
}

/// Whether both paths are, or would be, the same regular file.
fn same_file(one: &Path, other: &Path) -> bool {
    if one == other {
        // Writing to a device twice is allowed.
        return !one.metadata().is_ok_and(|found| !found.is_file());
    }
    match (one.metadata(), other.metadata()) {
        (Ok(_), Ok(_)) => FileId::of(one).is_some_and(|own| FileId::of(other) == Some(own)),
        (Err(_), Err(_)) => {
            let place = |path: &Path| Some((folder_of(path)?, path.file_name()?.to_owned()));
            place(one).is_some_and(|own| place(other).is_some_and(|its| its == own))
        }
        _ => false,
    }
}

/// The canonical path of a file's folder.
fn folder_of(path: &Path) -> Option<PathBuf> {
    match path.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new(".").canonicalize().ok(),
        parent => parent.canonicalize().ok(),
    }
}

fn size(value: &Value) -> usize {
    match value.elements() {
        Elements::Bytes(bytes) => bytes.len(),
        Elements::Strings(strings) => strings.byte_len(),
    }
}

fn described(value: &Value) -> String {
    let size = report::bytes(size(value) as u64);
    match value.is_message() {
        true => format!("a sequence or an optional value, {size}"),
        false => format!("{} {:?}, {size}", value.dtype(), value.shape()),
    }
}

/// The index of the output with this name.
fn output_called(graph: &Graph, name: Option<&str>, location: &Location) -> Result<usize> {
    let usual = || {
        let names = graph.outputs().iter().filter_map(|output| output.names.first());
        names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ")
    };
    match (name, graph.outputs()) {
        (None, [_]) => Ok(0),
        (None, outputs) => bail!(
            "--output {location}: the model has {} outputs: name one of them, {}, as in \
             -o NAME={location}, or write all of them to a folder with -d DIR",
            outputs.len(),
            usual()
        ),
        (Some(name), outputs) => {
            // Preferred names take precedence over the others, which outputs may share.
            let first = |output: &Output| output.name() == name;
            let any = |output: &Output| output.names.iter().any(|n| n == name);
            let found = outputs.iter().position(first).or_else(|| outputs.iter().position(any));
            found.with_context(|| format!("there is no output {name:?}, expected {}", usual()))
        }
    }
}

/// A file name for every output: its own name, without anything that could lead out of the folder.
fn stems(graph: &Graph) -> Result<Vec<String>> {
    let mut owners = HashMap::new();
    let mut stems = Vec::new();
    for output in graph.outputs() {
        let name = output.name();
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
    // Neither hidden, nor `..`, nor empty.
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
