//! External data files of a model: which names are allowed, and the byte ranges that tensors name.

use crate::beneath::{Found, Refusal};
use crate::identity::FilesRead;
use crate::map;
use crate::words::short;
use bytes::Bytes;
use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use thiserror::Error as ThisError;

/// An external data file that cannot be used, or not the requested part of it.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum ExternalError {
    /// The name leads out of the model's folder.
    #[error(
        "external data in {location:?}: {why}, expected a file in the model's own folder or below it"
    )]
    Location { location: String, why: &'static str },
    /// It cannot be read.
    #[error("external data in {location:?}: cannot read it: {reason}")]
    Read { location: String, reason: String },
    /// A byte range that the file does not have.
    #[error(
        "external data in {location:?}: bytes {offset} to {offset} + {length} are needed but the file has {available} bytes"
    )]
    Outside { location: String, offset: u64, length: u64, available: u64 },
}

/// The folder of a model, and the files in it that were opened.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Where temporary files go.
    spool: PathBuf,
    /// By name, and by path without symbolic links.
    open: HashMap<PathBuf, Bytes>,
    read: FilesRead,
    in_memory: bool,
}

impl Folder {
    /// The folder that this file is in.
    pub(crate) fn of(file: &Path) -> Folder {
        Folder::at(file.parent().unwrap_or(Path::new("")))
    }

    /// This folder; the current one, if the path is empty.
    pub(crate) fn at(path: &Path) -> Folder {
        let here = path.as_os_str().is_empty();
        let path = if here { Path::new(".") } else { path }.to_owned();
        let (spool, read) = (std::env::temp_dir(), FilesRead::default());
        Folder { path, spool, open: HashMap::new(), read, in_memory: false }
    }

    /// The same folder, whose files are read into memory and not mapped.
    pub(crate) fn in_memory(self) -> Folder {
        Folder { in_memory: true, ..self }
    }

    /// The same folder, with another folder for temporary files.
    pub(crate) fn spooling_in(self, spool: &Path) -> Folder {
        Folder { spool: spool.to_owned(), ..self }
    }

    /// The same folder; every file that is read in it is added to this list.
    pub(crate) fn noting(self, read: &FilesRead) -> Folder {
        Folder { read: read.clone(), ..self }
    }

    /// Where temporary files go.
    pub(crate) fn spool(&self) -> &Path {
        &self.spool
    }

    /// Bytes `offset..offset + length` of a file in the folder.
    pub(crate) fn bytes(
        &mut self,
        location: &str,
        offset: u64,
        length: u64,
    ) -> Result<Bytes, ExternalError> {
        let file = match self.open.get(Path::new(location)) {
            Some(file) => file.clone(),
            None => {
                let file = self.open_file(location)?;
                self.open.insert(location.into(), file.clone());
                file
            }
        };
        let available = file.len() as u64;
        match offset.checked_add(length) {
            // Inside the file, which is mapped, so both fit in a `usize`.
            Some(end) if end <= available => Ok(file.slice(offset as usize..end as usize)),
            _ => {
                let location = short(location);
                Err(ExternalError::Outside { location, offset, length, available })
            }
        }
    }

    fn open_file(&mut self, location: &str) -> Result<Bytes, ExternalError> {
        let refused = |why| ExternalError::Location { location: short(location), why };
        let unreadable = |error: io::Error| ExternalError::Read {
            location: short(location),
            reason: crate::words::reason(&error),
        };
        if location.is_empty() {
            return Err(refused("no file is named"));
        }
        for component in Path::new(location).components() {
            match component {
                Component::Normal(_) | Component::CurDir => {}
                Component::ParentDir => return Err(refused("it contains `..`")),
                Component::RootDir | Component::Prefix(_) => {
                    return Err(refused("it is an absolute path"));
                }
            }
        }
        let explained = |refusal| match refusal {
            Refusal::Outside => refused("a symbolic link leads out of the model's folder"),
            Refusal::Replaced => refused("a symbolic link took its place while it was opened"),
            Refusal::Failed(error) => unreadable(error),
        };
        let found = Found::of(&self.path, Path::new(location)).map_err(explained)?;
        if let Some(file) = self.open.get(found.path()) {
            return Ok(file.clone());
        }
        let file = found.open().map_err(explained)?;
        self.read.add_open(found.path(), &file);
        let content =
            if self.in_memory { map::copy(file) } else { map::content(&file, found.path()) };
        let content = content.map_err(unreadable)?;
        self.open.insert(found.path().to_owned(), content.clone());
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_below_the_folder_and_no_others() {
        let root = tempfile::tempdir().unwrap();
        let models = root.path().join("models");
        fs::create_dir_all(models.join("data")).unwrap();
        fs::write(root.path().join("secret"), b"secret").unwrap();
        for name in ["data/w", "data/changed"] {
            fs::write(models.join(name), b"0123456789").unwrap();
        }
        let mut folder = Folder::of(&models.join("m.onnx"));
        assert_eq!(folder.bytes("data/w", 2, 3).unwrap(), &b"234"[..]);
        assert_eq!(folder.bytes("./data/w", 10, 0).unwrap(), &b""[..]);
        let mut copied = Folder::at(&models).in_memory();
        assert_eq!(copied.bytes("data/changed", 2, 3).unwrap(), &b"234"[..]);
        // Windows would refuse this for `data/w`, which is mapped.
        fs::write(models.join("data/changed"), b"abcdefghij").unwrap();
        assert_eq!(copied.bytes("./data/changed", 2, 3).unwrap(), &b"234"[..]);
        let secret = root.path().join("secret");
        let bad = ["", "../secret", "data/../../secret", secret.to_str().unwrap()];
        let links: &[&str] = if cfg!(unix) { &["link", "up/secret", "/dev/zero"] } else { &[] };
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, models.join("link")).unwrap();
            std::os::unix::fs::symlink(root.path(), models.join("up")).unwrap();
        }
        for &location in bad.iter().chain(links) {
            let error = folder.bytes(location, 0, 1).unwrap_err();
            assert!(matches!(error, ExternalError::Location { .. }), "{location}: {error}");
        }
        for location in ["none", "data", "data/w/x"] {
            let error = folder.bytes(location, 0, 1).unwrap_err();
            assert!(matches!(error, ExternalError::Read { .. }), "{location}: {error}");
        }
        for (offset, length) in [(0, 11), (11, 0), (10, 1), (u64::MAX, 1), (1, u64::MAX)] {
            let error = folder.bytes("data/w", offset, length).unwrap_err();
            assert!(matches!(error, ExternalError::Outside { .. }), "{error}");
        }
    }
}
