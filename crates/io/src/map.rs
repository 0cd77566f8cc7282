//! Files as memory: mapped, so that what is not looked at takes no room, and slices of them are
//! shared and not copied.
//!
//! A mapped file that becomes shorter, or whose disk fails, is a signal (SIGBUS) and not an error.
//! [`mapped_at`] tells whoever handles the signal which file it was.

use bytes::Bytes;
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where in memory each mapped file is, and its name.
static MAPPED: Mutex<Vec<(Range<usize>, PathBuf)>> = Mutex::new(Vec::new());

/// The file that is mapped at this address.
pub fn mapped_at(address: usize) -> Option<PathBuf> {
    let mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    mapped.iter().find(|(range, _)| range.contains(&address)).map(|(_, path)| path.clone())
}

/// A mapped file, in the list for as long as this lives.
#[derive(Debug)]
pub(crate) struct Registered(usize);

impl Registered {
    /// Adds these bytes of memory, which are the file at this path.
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

/// A mapped file, to be read.
#[derive(Debug)]
pub(crate) struct Mapped {
    // Before the map: the memory may be somebody else's as soon as that is gone.
    _registered: Registered,
    map: Mmap,
}

impl Mapped {
    /// Maps the whole file.
    pub(crate) fn new(file: &File, path: &Path) -> io::Result<Mapped> {
        // SAFETY: the mapping is only read, as bytes, of which every pattern is valid. Someone
        // who changes the file meanwhile changes what is moved; text and numbers that decide
        // anything are copied out before they are checked. Someone who shortens it stops the
        // process (see above), which has given no output its name yet.
        let map = unsafe { Mmap::map(file)? };
        Ok(Mapped { _registered: Registered::new(&map, path), map })
    }

    /// Tells the system what will happen to a part of it. It may refuse; then nothing is lost
    /// but time.
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

/// The content of a file. Only regular files: a pipe would have to be waited for.
pub(crate) fn file(path: &Path) -> io::Result<Bytes> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    Ok(Bytes::from_owner(Mapped::new(&file, path)?))
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
}
