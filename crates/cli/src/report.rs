//! What the command says about its work, beside what all programs print.

use crate::task::{Call, Task};
use anstyle::Style;
use retrograde::Layout;
use retrograde_io::{ElementType, Location};
pub(crate) use retrograde_program::report::*;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// The width of a terminal that does not report one.
const COLUMNS: usize = 100;

/// Refuses to write the bytes of a tensor to a terminal.
pub(crate) fn check_stdout(output: &Location) -> anyhow::Result<()> {
    if output.is_stream() && io::stdout().is_terminal() {
        anyhow::bail!("-o - writes bytes, and stdout is a terminal: redirect it, or use -o FILE");
    }
    Ok(())
}

/// A line about what was written: `how` says what was done.
pub(crate) fn saved(
    location: &Location,
    element: &ElementType,
    layout: &Layout,
    size: usize,
    how: &str,
) -> String {
    let shape = layout.shape();
    written(location, &format!("{element} {shape:?}, {} {how}", bytes(size as u64)))
}

/// A line about the time on a GPU, compared with a memory copy.
pub(crate) fn took(device: &str, took: Duration, copy: Duration) -> String {
    let (took, copy) = (seconds(took.as_secs_f64()), seconds(copy.as_secs_f64()));
    format!(
        "{device}: {took}, including files and transfers both ways; a copy in host memory takes \
         {copy}"
    )
}

/// A line about where something was written.
pub(crate) fn written(location: &Location, what: &str) -> String {
    let style = Style::new().bold();
    let name = if location.is_stream() { "stdout".to_owned() } else { location.to_string() };
    format!("{style}{name}{style:#}: {what}")
}

/// A number of threads.
pub(crate) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// The width of a picture: `COLUMNS` if it is set, otherwise that of the terminal.
pub(crate) fn columns() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0));
    set.or_else(terminal).unwrap_or(COLUMNS)
}

/// What an operator did, for [`saved`].
pub(crate) fn reversed(task: &Task) -> String {
    let note = task.note();
    let along = match &task.call {
        Call::Orient { operator, .. } => {
            return format!("oriented as {}{note}", operator.orientation());
        }
        Call::Sequence { time, .. } => format!("axis {time}"),
        _ => task.movement().arguments(),
    };
    format!("reversed along {along}{note}")
}
