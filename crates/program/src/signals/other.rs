//! Ctrl-C, on systems without Unix signals.

use anyhow::Result;
use std::path::PathBuf;

/// The number that Ctrl-C has as a signal elsewhere.
const SIGINT: i32 = 2;

/// Calls `end` with its number when the user presses Ctrl-C. Mapped files cannot be truncated here,
/// so `lost` is unused.
pub(crate) fn watch(end: fn(i32), _lost: fn(PathBuf) -> !) -> Result<()> {
    Ok(ctrlc::set_handler(move || end(SIGINT))?)
}
