//! What the program prints: the plan and what a store holds on stdout, the rest on stderr.

use super::args::InfoArguments;
use super::open;
use crate::{Array, Job, Summary, Tree};
use anyhow::Result;
use retrograde_program::place::Place;
use retrograde_program::report::{bytes, print, say};
use std::path::Path;

/// Prints a line on stdout.
pub(crate) fn print_line(text: &str) -> Result<()> {
    Ok(print(&format!("{text}\n"))?)
}

/// Lists what a store or file holds.
pub(crate) fn info(arguments: &InfoArguments) -> Result<()> {
    if open::is_hdf5(&arguments.input) {
        for line in crate::list_hdf5(Path::new(&arguments.input.place))? {
            print_line(&line)?;
        }
        return Ok(());
    }
    let store = open::store(&arguments.input)?;
    let tree = Tree::read(store.as_ref())?;
    for array in &tree.arrays {
        print_line(&described(array))?;
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
        print_line(&format!("{}; {}", described(array), movement.described(&array.grid)))?;
    }
    Ok(())
}

/// A line about what was written.
pub(crate) fn saved(output: &Place, summary: &Summary) -> String {
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
