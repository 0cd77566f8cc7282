//! A temporary folder for one input, and the check of every error message.

use retrograde_io::Location;
use std::fmt::Display;
use std::fs;
use tempfile::TempDir;

/// The maximum length of an error message in bytes. Messages are bounded because names are
/// truncated and formats limit the number of axes.
const LONGEST: usize = 64 << 10;

/// A new folder in `TMPDIR`. It is deleted on drop, so inputs do not affect each other.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("cannot create a temporary folder"))
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Location {
        let at = self.at(name);
        fs::write(&at.path, content).expect("cannot write a temporary file");
        at
    }

    pub(crate) fn at(&self, name: &str) -> Location {
        Location::file(self.0.path().join(name))
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }
}

/// Returns the success value, and checks that an error message is one line of bounded length.
pub fn checked<T, E: Display>(result: Result<T, E>) -> Option<T> {
    result
        .inspect_err(|error| {
            let text = error.to_string();
            assert!(text.len() <= LONGEST, "an error message of {} bytes", text.len());
            assert!(!text.contains('\n'), "an error message of several lines: {text}");
        })
        .ok()
}
