//! Being asked to end (Ctrl-C, SIGTERM and the like), and losing a file that is being read: what
//! is not complete must not be left behind.

use crate::signals;
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// The exit code that shells expect.
const INTERRUPTED: i32 = 130;

static HELD_BACK: AtomicBool = AtomicBool::new(false);
static ENDING: AtomicBool = AtomicBool::new(false);
/// A folder that was made for outputs.
static MADE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From now on, an interruption removes what was begun and ends the process.
pub(crate) fn handle() -> Result<()> {
    static HANDLED: Once = Once::new();
    let mut result = Ok(());
    HANDLED.call_once(|| result = signals::watch(end, lost));
    result
}

/// Ends the process, or says why not yet.
fn end() {
    if HELD_BACK.load(Ordering::SeqCst) {
        say("interrupted: finishing, so that the file is not left half reversed");
        return;
    }
    let written = leave_nothing();
    let what = if written { "the output was complete before" } else { "nothing was written" };
    say(&format!("interrupted: {what}"));
    std::process::exit(INTERRUPTED);
}

/// Ends the process because a mapped file is not what it was.
fn lost(path: PathBuf) -> ! {
    let half = match HELD_BACK.load(Ordering::SeqCst) {
        true => ": it may be half reversed",
        false => "",
    };
    leave_nothing();
    let path = path.display();
    let why = "it became shorter, or its disk failed, while it was being read";
    say(&format!("error: cannot read {path}: {why}{half}"));
    end_at_once()
}

/// Without running what libraries do at the end: some of it waits for the thread that is here.
fn end_at_once() -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(1);
    #[cfg(not(unix))]
    std::process::exit(1);
}

/// Removes what was begun. Says whether an output was complete before.
fn leave_nothing() -> bool {
    ENDING.store(true, Ordering::SeqCst);
    let written = retrograde_io::abandon_outputs();
    if let Some(folder) = MADE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Only if nothing is in it.
        let _ = std::fs::remove_dir(folder);
    }
    written
}

fn say(text: &str) {
    // A progress bar may be on the line.
    let line = if io::stderr().is_terminal() { "\n" } else { "" };
    let _ = writeln!(io::stderr(), "{line}{text}");
}

/// Stays here for good if the process is ending: libraries that end with it, such as a GPU's
/// driver, wait for the work that they are given.
pub(crate) fn stop_here() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// An interruption takes this folder along if it is empty.
pub(crate) fn made(folder: &Path) {
    *MADE.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
}

/// From now on, an interruption is only noted: a file is being changed in place.
pub(crate) fn hold_back() {
    HELD_BACK.store(true, Ordering::SeqCst);
}
