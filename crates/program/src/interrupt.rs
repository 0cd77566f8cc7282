//! Termination by a signal (Ctrl-C, SIGTERM and others), and loss of a mapped input: incomplete
//! outputs must not be left behind. A program whose work can go on later stops between two steps.

use crate::signals;
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Added to the number of the signal, this is the exit code that shells expect: 130 after Ctrl-C, 143
/// after SIGTERM.
const INTERRUPTED: i32 = 128;

static HELD_BACK: AtomicBool = AtomicBool::new(false);
/// Whether a signal only sets [`STOP`].
static GENTLE: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);
/// The exit code for the signal that came first.
static CODE: AtomicU8 = AtomicU8::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);
/// A folder that was created for outputs.
static MADE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Installs the handlers: from now on, an interruption removes incomplete outputs and ends the
/// process.
pub fn handle() -> Result<()> {
    static HANDLED: Once = Once::new();
    let mut result = Ok(());
    HANDLED.call_once(|| result = signals::watch(end, lost));
    result
}

/// From now on, the first signal only sets this flag, for work that stops between two steps and can
/// go on later. The second ends the process.
pub fn stop_between_steps() -> &'static AtomicBool {
    GENTLE.store(true, Ordering::SeqCst);
    &STOP
}

/// The exit code after the flag of [`stop_between_steps`] was set.
pub fn code() -> u8 {
    CODE.load(Ordering::SeqCst)
}

/// Ends the process because of this signal, or prints why not yet.
fn end(signal: i32) {
    if GENTLE.load(Ordering::SeqCst) {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED + signal);
        }
        CODE.store((INTERRUPTED + signal) as u8, Ordering::SeqCst);
        return;
    }
    if HELD_BACK.load(Ordering::SeqCst) {
        say("interrupted: finishing, so that the file is not left half reversed");
        return;
    }
    let written = leave_nothing();
    let what = if written { "the output was already complete" } else { "nothing was written" };
    say(&format!("interrupted: {what}"));
    std::process::exit(INTERRUPTED + signal);
}

/// Ends the process because a mapped file was truncated or its disk failed.
fn lost(path: PathBuf) -> ! {
    let half = match HELD_BACK.load(Ordering::SeqCst) {
        true => ": it may be half reversed",
        false => "",
    };
    leave_nothing();
    let path = path.display();
    let why = "it was truncated, or its disk failed, while it was being read";
    say(&format!("error: cannot read {path}: {why}{half}"));
    end_at_once()
}

/// Skips the exit handlers of libraries, some of which would wait for the current thread.
fn end_at_once() -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(1);
    #[cfg(not(unix))]
    std::process::exit(1);
}

/// Removes incomplete outputs. Returns whether an output was already complete.
fn leave_nothing() -> bool {
    ENDING.store(true, Ordering::SeqCst);
    let written = retrograde_io::abandon_outputs();
    if let Some(folder) = MADE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Removed only if it is empty.
        let _ = std::fs::remove_dir(folder);
    }
    written
}

fn say(text: &str) {
    // A progress bar may be on the line.
    let line = if io::stderr().is_terminal() { "\n" } else { "" };
    let _ = writeln!(io::stderr(), "{line}{text}");
}

/// Blocks forever if the process is ending: the exit handlers of some libraries, such as a GPU
/// driver, wait for the work that was submitted to them.
pub fn stop_here() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// An interruption removes this folder if it is empty.
pub fn made(folder: &Path) {
    *MADE.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
}

/// From now on, an interruption is deferred: a file is being changed in place.
pub fn hold_back() {
    HELD_BACK.store(true, Ordering::SeqCst);
}
