//! Buffers for data that cannot be mapped from its file: small ones in memory, large ones in an
//! unnamed temporary file that is deleted when it is closed.

use crate::map::Mapped;
use crate::save;
#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most memory for all buffers of the process together.
const IN_MEMORY: usize = 64 << 20;
/// The most memory for one buffer.
const IN_MEMORY_EACH: usize = 32 << 20;
/// Bytes that are copied at a time.
const COPIED: usize = 1 << 18;

/// Memory currently in use.
static USED: AtomicUsize = AtomicUsize::new(0);

/// A writable buffer.
#[derive(Debug)]
pub(crate) enum Room {
    Memory(Vec<u8>, Counted),
    File(MmapMut),
}

/// A read-only buffer.
#[derive(Debug)]
pub(crate) enum Map {
    Memory { bytes: Vec<u8>, _counted: Counted },
    Temporary(Mmap),
    File(Mapped),
}

/// A share of the memory budget, returned on drop.
#[derive(Debug)]
pub(crate) struct Counted(usize);

impl Counted {
    /// Reserves `len` bytes, if they are available.
    fn take(len: usize) -> Option<Counted> {
        if len > IN_MEMORY_EACH {
            return None;
        }
        let add = |used: usize| Some(used + len).filter(|&used| used <= IN_MEMORY);
        let taken = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        taken.ok().map(|_| Counted(len))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        USED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Room {
    /// An empty buffer.
    pub(crate) fn none() -> Room {
        Room::Memory(Vec::new(), Counted(0))
    }

    /// Makes the buffer read-only.
    pub(crate) fn freeze(self) -> io::Result<Map> {
        match self {
            Room::Memory(bytes, counted) => Ok(Map::Memory { bytes, _counted: counted }),
            Room::File(map) => Ok(Map::Temporary(map.make_read_only()?)),
        }
    }

    /// Passes advice about a range to the system (`madvise`). A refusal only costs time.
    #[cfg(target_os = "linux")]
    pub(crate) fn advise(&self, advice: Advice, start: usize, len: usize) {
        if let Room::File(map) = self {
            let _ = map.advise_range(advice, start, len);
        }
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Room::Memory(bytes, _) => bytes,
            Room::File(map) => map,
        }
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Memory(bytes, _) => bytes,
            Room::File(map) => map,
        }
    }
}

#[cfg(target_os = "linux")]
impl Map {
    /// As [`Room::advise`].
    pub(crate) fn advise(&self, advice: Advice, start: usize, len: usize) {
        match self {
            Map::Memory { .. } => {}
            Map::Temporary(map) => {
                let _ = map.advise_range(advice, start, len);
            }
            Map::File(map) => map.advise(advice, start, len),
        }
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Map::Memory { bytes, .. } => bytes,
            Map::Temporary(map) => map,
            Map::File(map) => map,
        }
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// The folder for temporary files: that of the output, or the system's if there is none.
pub fn folder_beside(output: Option<&Path>) -> std::path::PathBuf {
    // The folder of a device (/dev) is not suitable for files.
    let device = |path: &&Path| path.metadata().is_ok_and(|found| !found.is_file());
    let output = output.filter(|path| !device(path));
    let beside = output.and_then(|path| path.parent()).map(|parent| {
        if parent.as_os_str().is_empty() { Path::new(".") } else { parent }.to_owned()
    });
    beside.filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// A buffer of zeros with all blocks allocated: a full disk is an error now.
pub(crate) fn zeroed(len: usize, folder: &Path) -> io::Result<Room> {
    if let Some(counted) = Counted::take(len) {
        return Ok(Room::Memory(vec![0; len], counted));
    }
    let file = tempfile::tempfile_in(folder)?;
    save::allocate(&file, len as u64)?;
    // SAFETY: the file has no name, so no other process opens, changes or truncates it.
    Ok(Room::File(unsafe { MmapMut::map_mut(&file) }?))
}

/// The side of a copy that failed.
#[derive(Debug)]
pub(crate) enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

/// Copies everything that a reader returns to an unnamed file.
pub(crate) fn file_of(reader: &mut impl Read, folder: &Path) -> Result<File, CopyError> {
    let mut file = tempfile::tempfile_in(folder).map_err(CopyError::Write)?;
    let mut buffer = vec![0; COPIED];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(file),
            Ok(len) => file.write_all(&buffer[..len]).map_err(CopyError::Write)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CopyError::Read(error)),
        }
    }
}

/// Maps a whole file for reading. `path` identifies it if it belongs to the user.
pub(crate) fn map(file: &File, path: &Path) -> io::Result<Map> {
    Ok(Map::File(Mapped::new(file, path)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_memory_is_bounded_and_given_back() {
        let folder = std::env::temp_dir();
        let large = zeroed(IN_MEMORY_EACH + 1, &folder).unwrap();
        assert!(matches!(large, Room::File(_)) && large.len() == IN_MEMORY_EACH + 1);
        // Other tests use part of the budget at the same time, but never all of it.
        let rooms: Vec<Room> = (0..9).map(|_| zeroed(16 << 20, &folder).unwrap()).collect();
        let in_memory = rooms.iter().filter(|room| matches!(room, Room::Memory(..))).count();
        assert!(in_memory <= IN_MEMORY >> 24, "{in_memory}");
        drop(rooms);
        let mut room = zeroed(8 << 20, &folder).unwrap();
        assert!(matches!(room, Room::Memory(..)));
        room[7] = 9;
        assert_eq!(room.freeze().unwrap()[7], 9);
    }
}
