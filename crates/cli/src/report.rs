//! Output of the command: pictures on stdout, everything else as one line on stderr.

use crate::task::Task;
use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;
use retrograde_io::{ElementType, Error, Location};
pub(crate) use retrograde_picture::printable;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The width of a terminal that does not report one.
const COLUMNS: usize = 100;

/// Prints an error.
pub(crate) fn error(error: &anyhow::Error) {
    let style = AnsiColor::Red.on_default().bold();
    // The text of an error includes its causes. If stderr is closed, there is nowhere to report it.
    let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {error}");
}

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
    shape: &[usize],
    size: usize,
    how: &str,
) -> String {
    let (size, style) = (bytes(size), Style::new().bold());
    let name = if location.is_stream() { "stdout".to_owned() } else { location.to_string() };
    format!("{style}{name}{style:#}: {element} {shape:?}, {size} {how}")
}

/// A line about the time on a GPU, compared with a memory copy.
pub(crate) fn took(device: &str, took: Duration, copy: Duration) -> String {
    let (took, copy) = (seconds(took.as_secs_f64()), seconds(copy.as_secs_f64()));
    format!(
        "{device}: {took}, including files and transfers both ways; a copy in host memory takes \
         {copy}"
    )
}

/// Whether only errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, only errors are printed.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether stderr is a terminal and more than errors may be printed there.
pub(crate) fn is_watched() -> bool {
    !QUIET.load(Ordering::Relaxed) && io::stderr().is_terminal()
}

/// Prints a line on stderr, apart from the output.
pub(crate) fn say(text: &str) {
    if QUIET.load(Ordering::Relaxed) {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints where an output of a model was written.
pub(crate) fn wrote(location: &Location, what: &str) {
    let style = Style::new().bold();
    let name = if location.is_stream() { "stdout".to_owned() } else { location.to_string() };
    say(&format!("{style}{name}{style:#}: {what}"));
}

/// Whether the error means that the reader of the output closed the pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(Error::Write { path, source })
            if path.as_os_str() == "-" && source.kind() == io::ErrorKind::BrokenPipe
    )
}

/// Prints styled text from clap to stdout.
pub(crate) fn print_styled(text: &StyledStr) -> Result<(), Error> {
    print(&text.ansi().to_string())
}

/// Prints to stdout. A pipe that the reader closed is not an error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| Error::Write { path: "-".into(), source }),
    }
}

/// The width of a picture: `COLUMNS` if it is set, otherwise that of the terminal.
pub(crate) fn columns() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0));
    set.or_else(terminal).unwrap_or(COLUMNS)
}

/// A file's name without its folders and the tensor's name, escaped for printing.
pub(crate) fn name(location: &Location) -> String {
    let path = &location.path;
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let tensor = location.name.as_ref().map_or(String::new(), |name| format!(":{name}"));
    printable(&format!("{file}{tensor}"))
}

/// What an operator did, for [`saved`].
pub(crate) fn reversed(task: &Task) -> String {
    let along = match task {
        Task::Sequence { time, .. } => format!("axis {time}"),
        _ => task.movement().arguments(),
    };
    format!("reversed along {along}")
}

/// A number of bytes with three digits and a unit.
pub(crate) fn bytes(count: usize) -> String {
    let mut size = count as f64;
    let mut unit = "bytes";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    match (count, unit) {
        (1, _) => "1 byte".to_owned(),
        _ if size < 10.0 && size.fract() >= 0.05 => format!("{size:.1} {unit}"),
        _ => format!("{size:.0} {unit}"),
    }
}

/// A time with two digits and a unit.
pub(crate) fn seconds(time: f64) -> String {
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
    fn sizes_have_few_digits() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1000, "1000 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (256 << 20, "256 MiB"),
            (3 << 30, "3 GiB"),
        ];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(0.0), "0.0 ns");
        assert_eq!(seconds(2.5e-5), "25 us");
        assert_eq!(seconds(0.0042), "4.2 ms");
        assert_eq!(seconds(61.0), "61 s");
    }
}
