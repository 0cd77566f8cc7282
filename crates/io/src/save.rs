//! Writes files atomically: a file is either complete or absent.
//!
//! [`target`] decides where a file is to appear and whether it may. [`temporary`] is the file until
//! then. [`attributes`] copies the metadata of a replaced file to its successor. [`publish`] gives
//! complete files their names.

mod attributes;
mod publish;
mod saving;
mod target;
mod temporary;

pub use publish::abandon_outputs;
pub(crate) use publish::{Pending, publish};
pub use saving::Saving;
pub(crate) use target::{Target, refuse_read_only};
pub(crate) use temporary::has_no_locks;

use crate::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// Allocates all blocks of a file of this size, so that a full disk is an error now and not a
/// signal (SIGBUS) during a write to mapped memory.
pub(crate) fn allocate(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::{Errno, retry_on_intr};
        match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, len)) {
            Ok(()) => return Ok(()),
            // The file system does not support it: write zeros instead.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    write_zeros(file, len)
}

/// Allocates blocks by writing them. What is written to the file next starts at its beginning again.
fn write_zeros(mut file: &File, len: u64) -> io::Result<()> {
    let mut zeros = io::Read::take(io::repeat(0), len);
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    io::copy(&mut zeros, &mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.rewind()
}

/// Lets `fill` write a temporary file next to `path`, which is then renamed to `path`.
///
/// A target that is not a regular file (`/dev/null`, a pipe) is written to directly. A symbolic
/// link is followed.
pub(crate) fn atomically(
    path: &Path,
    saving: &Saving,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let failed = |source| Error::write(path, source);
    match Target::of(path, saving)? {
        Target::Device(device) => fill_buffered(device, fill).map_err(failed),
        Target::File { path: target, replaces } => {
            let pending = Pending::new(target, replaces).map_err(failed)?;
            fill_buffered(pending.file(), fill).map_err(failed)?;
            pending.finish().map_err(failed)
        }
    }
}

/// Writes a text file, which appears under its name only when it is complete.
pub fn write_text(path: impl AsRef<Path>, text: &str, saving: &Saving) -> Result<(), Error> {
    atomically(path.as_ref(), saving, |out| out.write_all(text.as_bytes()))
}

/// Writes several files: none appears before all are complete.
pub fn write_files(files: &[(PathBuf, impl AsRef<[u8]>)], saving: &Saving) -> Result<(), Error> {
    let (mut outputs, mut paths) = (Vec::new(), Vec::new());
    for (path, content) in files {
        let (failed, content) = (|source| Error::write(path, source), content.as_ref());
        match Target::of(path, saving)? {
            Target::Device(mut device) => device.write_all(content).map_err(failed)?,
            Target::File { path: target, replaces } => {
                let pending = Pending::new(target, replaces).map_err(failed)?;
                pending.file().write_all(content).map_err(failed)?;
                pending.complete().map_err(failed)?;
                outputs.push(pending);
                paths.push(path.clone());
            }
        }
    }
    publish(outputs).map_err(|failed| failed.into_error(paths))
}

fn fill_buffered(
    file: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    writer.flush()
}

#[cfg(test)]
mod tests;
