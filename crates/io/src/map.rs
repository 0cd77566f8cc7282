//! Memory-mapped files: pages that are not accessed take no memory, and slices share the map.
//!
//! If a mapped file is truncated or its disk fails, access raises a signal (SIGBUS) instead of an
//! error. [`mapped_at`] tells a signal handler which file it was.

use bytes::Bytes;
use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The address range and the name of each mapped file.
static MAPPED: Mutex<Vec<(Range<usize>, PathBuf)>> = Mutex::new(Vec::new());

/// The file that is mapped at this address.
pub fn mapped_at(address: usize) -> Option<PathBuf> {
    let mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    mapped.iter().find(|(range, _)| range.contains(&address)).map(|(_, path)| path.clone())
}

/// A mapped file, registered for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Registered(usize);

impl Registered {
    /// Registers this memory, which maps the file at this path.
    pub(crate) fn new(memory: &[u8], path: &Path) -> Registered {
        let start = memory.as_ptr().addr();
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.push((start..start + memory.len(), path.to_owned()));
        Registered(start)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.retain(|(range, _)| range.start != self.0);
    }
}

/// A file mapped for reading.
#[derive(Debug)]
pub(crate) struct Mapped {
    // Declared before the map, so dropped first: the addresses may be reused once the map is gone.
    _registered: Registered,
    map: Mmap,
}

impl Mapped {
    /// Maps the whole file.
    pub(crate) fn new(file: &File, path: &Path) -> io::Result<Mapped> {
        // SAFETY: the mapping is only read, as bytes, for which every pattern is valid. A process
        // that changes the file meanwhile changes the data that is moved; text and numbers that
        // control anything are copied before they are checked. A process that truncates it stops
        // this one (see above), before any output has got its name.
        let map = unsafe { Mmap::map(file)? };
        Ok(Mapped { _registered: Registered::new(&map, path), map })
    }

    /// Passes advice about a range to the system (`madvise`). A refusal only costs time.
    #[cfg(target_os = "linux")]
    pub(crate) fn advise(&self, advice: memmap2::Advice, start: usize, len: usize) {
        let _ = self.map.advise_range(advice, start, len);
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// The content of a file. Regular files only: reading a pipe could block.
pub(crate) fn file(path: &Path) -> io::Result<Bytes> {
    content(&open(path)?, path)
}

/// Opens a file for reading. Does not wait for a writer if it is a pipe, which [`content`] refuses.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    }
    // Some systems do not open folders and sockets, for reasons that say less.
    options.open(path).map_err(|error| {
        let found = std::fs::metadata(path).map(|found| check_regular(&found));
        found.ok().and_then(Result::err).unwrap_or(error)
    })
}

/// The content of an open file. It is checked here, and not by its name before: another file may
/// have taken that meanwhile.
pub(crate) fn content(file: &File, path: &Path) -> io::Result<Bytes> {
    let found = file.metadata()?;
    check_regular(&found)?;
    if found.len() == 0 {
        return Ok(Bytes::new());
    }
    Ok(Bytes::from_owner(Mapped::new(file, path)?))
}

/// The content of an open regular file, in memory. What is appended meanwhile is not read.
pub(crate) fn copy(file: File) -> io::Result<Bytes> {
    let found = file.metadata()?;
    check_regular(&found)?;
    let mut content = Vec::new();
    content.try_reserve_exact(usize::try_from(found.len()).unwrap_or(usize::MAX))?;
    file.take(found.len()).read_to_end(&mut content)?;
    Ok(content.into())
}

fn check_regular(found: &Metadata) -> io::Result<()> {
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_are_known_by_their_addresses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, [7; 5000]).unwrap();
        let mapped = Mapped::new(&File::open(&path).unwrap(), &path).unwrap();
        let address = mapped.as_ptr().addr();
        assert_eq!(mapped_at(address), Some(path.clone()));
        assert_eq!(mapped_at(address + 4999), Some(path));
        assert_eq!(mapped_at(address + 5000), None);
        drop(mapped);
        assert_eq!(mapped_at(address), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read_and_pipes_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        let socket = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [pipe.as_path(), &socket, Path::new("/dev/zero")] {
            let error = file(path).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{}", path.display());
        }
        assert_eq!(file(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}
