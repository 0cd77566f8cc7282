//! Memory for what cannot be mapped where it is: a little of it in memory, more of it in a
//! temporary file that has no name and goes when it is closed.

use crate::save;
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Up to here it is memory.
const IN_MEMORY: usize = 32 << 20;

/// The folder for temporary files that belong to this output, or to none.
pub(crate) fn folder_beside(output: Option<&Path>) -> std::path::PathBuf {
    let beside = output.and_then(|path| path.parent()).map(|parent| {
        if parent.as_os_str().is_empty() { Path::new(".") } else { parent }.to_owned()
    });
    beside.filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// So many zero bytes to write to, all of them there: a full disk shows now.
pub(crate) fn zeroed(len: usize, folder: &Path) -> io::Result<MmapMut> {
    if len <= IN_MEMORY {
        return MmapMut::map_anon(len);
    }
    let file = tempfile::tempfile_in(folder)?;
    save::allocate(&file, len as u64)?;
    // SAFETY: the file has no name, so nobody else opens, changes or shortens it.
    unsafe { MmapMut::map_mut(&file) }
}

/// Everything that a reader gives, in a file without a name.
pub(crate) fn file_of(reader: &mut impl Read, folder: &Path) -> io::Result<File> {
    let mut file = tempfile::tempfile_in(folder)?;
    io::copy(reader, &mut file)?;
    file.flush()?;
    Ok(file)
}

/// Maps a whole file for reading.
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the memory is only read, as bytes of any value. Whoever changes the file
    // meanwhile changes what is read; whoever shortens it stops this process (SIGBUS), which
    // then has written nothing under the output's name. No lock could prevent either.
    unsafe { Mmap::map(file) }
}
