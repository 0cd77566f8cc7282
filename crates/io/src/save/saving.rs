//! How an output is to be written.

use crate::format::Format;
use crate::identity::FilesRead;

/// How an output is to be written, besides its name.
#[derive(Debug, Clone, Default)]
pub struct Saving {
    /// Its format, if the name does not say it.
    pub format: Option<Format>,
    /// Whether a file that is marked read-only may be replaced.
    pub force: bool,
    /// Files that must stay: what the output is made from.
    pub keep: FilesRead,
}
