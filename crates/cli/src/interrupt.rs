//! Ctrl-C, and being asked to end: what is not complete must not be left behind.

use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The exit code that shells expect.
const INTERRUPTED: i32 = 130;

static HELD_BACK: AtomicBool = AtomicBool::new(false);
static ENDING: AtomicBool = AtomicBool::new(false);
/// A folder that was made for outputs.
static MADE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From now on, an interruption removes what was begun and ends the process.
pub(crate) fn handle() -> Result<()> {
    ctrlc::set_handler(|| {
        // A progress bar may be on the line.
        let line = if io::stderr().is_terminal() { "\n" } else { "" };
        if HELD_BACK.load(Ordering::SeqCst) {
            let text = "interrupted: finishing, so that the file is not left half reversed";
            let _ = writeln!(io::stderr(), "{line}{text}");
            return;
        }
        ENDING.store(true, Ordering::SeqCst);
        let written = retrograde_io::abandon_outputs();
        if let Some(folder) = MADE.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Only if nothing is in it.
            let _ = std::fs::remove_dir(folder);
        }
        let what = if written { "the output was complete before" } else { "nothing was written" };
        let _ = writeln!(io::stderr(), "{line}interrupted: {what}");
        std::process::exit(INTERRUPTED);
    })?;
    Ok(())
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
