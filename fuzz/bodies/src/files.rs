//! A folder for one input, and what is checked of every error.

use retrograde_io::Location;
use std::fmt::Display;
use std::fs;
use tempfile::TempDir;

/// Characters that the message of an error may have. A name in it is shortened, a shape has at
/// most as many axes as the format allows.
const LONGEST: usize = 64 << 10;

/// A new folder, in `TMPDIR`; gone when it is dropped, so that inputs do not see each other.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder for temporary files"))
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Location {
        let at = self.at(name);
        fs::write(&at.path, content).expect("room for temporary files");
        at
    }

    pub(crate) fn at(&self, name: &str) -> Location {
        Location::file(self.0.path().join(name))
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }
}

/// The result, whose error must be one line of bounded length.
pub(crate) fn checked<T, E: Display>(result: Result<T, E>) -> Option<T> {
    result
        .inspect_err(|error| {
            let text = error.to_string();
            assert!(text.len() <= LONGEST, "a message of {} bytes", text.len());
            assert!(!text.contains('\n'), "a message of several lines: {text}");
        })
        .ok()
}
