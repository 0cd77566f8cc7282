//! Options for writing an output.

use crate::format::Format;
use crate::identity::FilesRead;

/// Options for writing an output, other than its location.
#[derive(Debug, Clone, Default)]
pub struct Saving {
    /// Its format, if the name does not imply it.
    pub format: Option<Format>,
    /// Whether a file that is marked read-only may be replaced.
    pub force: bool,
    /// Files that must not be replaced: the inputs of the output.
    pub keep: FilesRead,
}
