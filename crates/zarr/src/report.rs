//! What the program prints: the plan and what a store holds on stdout, the rest on stderr.

use crate::args::InfoArguments;
use crate::location::Location;
use anyhow::Result;
use retrograde_zarr::{Array, Job, Summary, Tree};
use std::io::Write;
use std::path::Path;

/// Prints an error.
pub(crate) fn error(error: &anyhow::Error) {
    say(&format!("error: {error}"));
}

/// Prints a line on stderr.
pub(crate) fn say(text: &str) {
    // If stderr is closed, there is nowhere to report it.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a line on stdout. A pipe that the reader closed is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Lists what a store or file holds.
pub(crate) fn info(arguments: &InfoArguments) -> Result<()> {
    if arguments.input.is_hdf5() {
        for line in retrograde_zarr::list_hdf5(Path::new(&arguments.input.place))? {
            print(&line)?;
        }
        return Ok(());
    }
    let store = arguments.input.open()?;
    let tree = Tree::read(store.as_ref())?;
    for array in &tree.arrays {
        print(&described(array))?;
    }
    if tree.arrays.is_empty() {
        say("a group without arrays");
    }
    Ok(())
}

/// An array: its type, shape, chunks and names of axes.
fn described(array: &Array) -> String {
    let path = if array.path.is_empty() { "/" } else { &array.path };
    let (shape, chunk) = (array.grid.shape(), array.grid.chunk());
    let known = array.axes.iter().any(Option::is_some);
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    let names: Vec<_> = array.axes.iter().map(name).collect();
    let axes = if known { format!(", axes {}", names.join(",")) } else { String::new() };
    let chunks = array.grid.chunks();
    format!("{path}: {} {shape:?} in {chunks} chunks of {chunk:?}{axes}", array.type_name())
}

/// Prints what a job would do.
pub(crate) fn plan(job: &Job<'_>) -> Result<()> {
    for (array, movement) in job.arrays() {
        print(&format!("{}; {}", described(array), movement.described(&array.grid)))?;
    }
    Ok(())
}

/// A line about what was written.
pub(crate) fn saved(output: &Location, summary: &Summary) -> String {
    if summary.complete {
        return format!("{output}: was complete already");
    }
    let counts = &summary.counts;
    let mut notes = Vec::new();
    for (count, what) in [
        (counts.copied, "copied without decoding"),
        (counts.missing, "missing"),
        (counts.resumed, "complete from an earlier run"),
    ] {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let arrays = match summary.arrays {
        1 => String::new(),
        arrays => format!("{arrays} arrays, "),
    };
    format!("{output}: {arrays}{} chunks{notes}, {}", counts.chunks, bytes(summary.bytes))
}

/// A size for people.
fn bytes(count: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut size, mut unit) = (count as f64, 0);
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} bytes") } else { format!("{size:.1} {}", units[unit]) }
}
