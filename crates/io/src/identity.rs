//! Identity of files: symbolic links, hard links and different spellings of one path are one file.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An existing regular file, independent of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileId(Id);

/// Device and inode.
#[cfg(unix)]
type Id = (u64, u64);
/// The canonical path. Hard links count as different files.
#[cfg(not(unix))]
type Id = PathBuf;

impl FileId {
    /// The file that this path leads to, if there is one and it is a regular file.
    ///
    /// ```
    /// use retrograde_io::FileId;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    /// std::fs::write(&one, "x")?;
    /// std::fs::hard_link(&one, &other)?;
    /// # #[cfg(unix)]
    /// assert_eq!(FileId::of(&one), FileId::of(&other));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of(path: impl AsRef<Path>) -> Option<FileId> {
        let path = path.as_ref();
        FileId::with(path, &path.metadata().ok()?)
    }

    /// The file at this path that has this metadata, if it is a regular file.
    pub(crate) fn with(path: &Path, found: &Metadata) -> Option<FileId> {
        if !found.is_file() {
            return None;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let _ = path;
            Some(FileId((found.dev(), found.ino())))
        }
        #[cfg(not(unix))]
        {
            path.canonicalize().ok().map(FileId)
        }
    }
}

/// The files that were read, so that no output replaces one of them.
///
/// Clones share one list.
#[derive(Debug, Clone, Default)]
pub struct FilesRead(Arc<Mutex<Vec<(PathBuf, FileId)>>>);

impl FilesRead {
    /// Adds a file. Anything but a regular file (a pipe, `-`) cannot be replaced and is ignored.
    pub fn add(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        if let Ok(found) = path.metadata() {
            self.push(path, &found);
        }
    }

    /// Adds a file that was opened under this path, whichever the path leads to by now.
    pub(crate) fn add_open(&self, path: &Path, file: &File) {
        if let Ok(found) = file.metadata() {
            self.push(path, &found);
        }
    }

    fn push(&self, path: &Path, found: &Metadata) {
        if let Some(id) = FileId::with(path, found) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), id));
        }
    }

    /// If this path leads to a file in the list, the path that it was read under.
    pub fn find(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        self.find_id(&FileId::of(path)?)
    }

    /// The same for a file that was found already, whichever its path leads to by now.
    pub(crate) fn find_id(&self, id: &FileId) -> Option<PathBuf> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().find(|(_, other)| other == id).map(|(path, _)| path.clone())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_of_both_kinds_lead_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("x"), b"x").unwrap();
        fs::write(at("y"), b"x").unwrap();
        fs::hard_link(at("x"), at("hard")).unwrap();
        symlink("hard", at("soft")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        let read = FilesRead::default();
        read.add(at("x"));
        read.add(folder.path());
        read.add("/dev/null");
        for name in ["x", "hard", "soft", "./soft"] {
            assert_eq!(read.clone().find(at(name)), Some(at("x")), "{name}");
        }
        for name in ["y", "dangling", "none", "."] {
            assert_eq!(read.find(at(name)), None, "{name}");
        }
        assert_eq!(read.find("/dev/null"), None);
    }
}
