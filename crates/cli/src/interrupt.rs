//! Ctrl-C, and being asked to end: what is not complete must not be left behind.

use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code that shells expect.
const INTERRUPTED: i32 = 130;

static HELD_BACK: AtomicBool = AtomicBool::new(false);

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
        retrograde_io::abandon_outputs();
        let _ = writeln!(io::stderr(), "{line}interrupted: nothing was written");
        std::process::exit(INTERRUPTED);
    })?;
    Ok(())
}

/// From now on, an interruption is only noted: a file is being changed in place.
pub(crate) fn hold_back() {
    HELD_BACK.store(true, Ordering::SeqCst);
}
