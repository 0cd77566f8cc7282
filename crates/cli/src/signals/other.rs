//! Ctrl-C, where there are no other signals.

use anyhow::Result;
use std::path::PathBuf;

/// Has `end` called when the user asks for the end. Files that become shorter while they are
/// mapped do not exist here.
pub(crate) fn watch(end: fn(), _lost: fn(PathBuf) -> !) -> Result<()> {
    Ok(ctrlc::set_handler(end)?)
}
