//! Ctrl-C, on systems without Unix signals.

use anyhow::Result;
use std::path::PathBuf;

/// Calls `end` when the user presses Ctrl-C. Mapped files cannot be truncated here, so `lost` is
/// unused.
pub(crate) fn watch(end: fn(), _lost: fn(PathBuf) -> !) -> Result<()> {
    Ok(ctrlc::set_handler(end)?)
}
