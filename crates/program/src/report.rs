//! What programs print: results on stdout, everything else as one line on stderr.

use anstyle::AnsiColor;
use clap::builder::StyledStr;
use retrograde_io::{Error, Location};
pub use retrograde_picture::printable;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints an error.
pub fn error(error: &anyhow::Error) {
    let style = AnsiColor::Red.on_default().bold();
    // The text of an error includes its causes. If stderr is closed, there is nowhere to report it.
    let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {error}");
}

/// Whether only errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, only errors are printed.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether stderr is a terminal and more than errors may be printed there.
pub fn is_watched() -> bool {
    !QUIET.load(Ordering::Relaxed) && io::stderr().is_terminal()
}

/// Prints a line on stderr, apart from the output.
pub fn say(text: &str) {
    if QUIET.load(Ordering::Relaxed) {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Whether the error means that the reader of the output closed the pipe.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(Error::Write { path, source })
            if path.as_os_str() == "-" && source.kind() == io::ErrorKind::BrokenPipe
    )
}

/// Prints styled text from clap to stdout.
pub fn print_styled(text: &StyledStr) -> Result<(), Error> {
    print(&text.ansi().to_string())
}

/// Prints to stdout. A pipe that the reader closed is not an error.
pub fn print(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| Error::Write { path: "-".into(), source }),
    }
}

/// A file's name without its folders and the tensor's name, escaped for printing.
pub fn name(location: &Location) -> String {
    let path = &location.path;
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let tensor = location.name.as_ref().map_or(String::new(), |name| format!(":{name}"));
    printable(&format!("{file}{tensor}"))
}

/// A number of bytes with three digits and a unit.
pub fn bytes(count: u64) -> String {
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
pub fn seconds(time: f64) -> String {
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
