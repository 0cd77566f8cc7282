//! Files as memory: mapped, so that what is not looked at takes no room, and slices of them are
//! shared and not copied.

use bytes::Bytes;
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// The content of a file. Only regular files: a pipe would have to be waited for.
pub(crate) fn file(path: &Path) -> io::Result<Bytes> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the mapping is only read, as bytes, of which every pattern is valid. Someone who
    // changes the file meanwhile changes what is moved; text and numbers that decide anything
    // are copied out before they are checked.
    let map = unsafe { Mmap::map(&file)? };
    Ok(Bytes::from_owner(map))
}
