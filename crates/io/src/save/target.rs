//! Decides where a file is to appear, and whether it may: read-only files and inputs are refused.

use super::saving::Saving;
use crate::error::Error;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The most symbolic links to follow, to detect cycles. Linux has the same limit.
const MOST_LINKS: usize = 40;

/// Where a file is to appear.
#[derive(Debug)]
pub(crate) enum Target {
    /// A regular file, existing or not. It is written next to this path, which is not a link, and
    /// then renamed.
    File {
        path: PathBuf,
        /// Whether it exists.
        replaces: bool,
    },
    /// A device or a pipe, which must not be replaced by a file: written to directly.
    Device(File),
}

impl Target {
    /// Follows symbolic links, including those to a file that does not exist yet.
    pub(crate) fn of(path: &Path, saving: &Saving) -> Result<Target, Error> {
        let failed = |source| Error::write(path, source);
        match fs::metadata(path) {
            Ok(found) if found.is_file() => {
                if let Some(input) = saving.keep.find(path) {
                    return Err(Error::IsInput { path: path.to_owned(), input });
                }
                if !saving.force {
                    refuse_read_only(path, &found)?;
                }
                let path = fs::canonicalize(path).map_err(failed)?;
                Ok(Target::File { path, replaces: true })
            }
            Ok(found) if found.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(_) => {
                let device = File::options().write(true).open(path).map_err(failed)?;
                // A file that took the name meanwhile would be written over in part.
                if device.metadata().map_err(failed)?.is_file() {
                    let text = "it became a regular file while it was being opened";
                    return Err(failed(io::Error::other(text)));
                }
                Ok(Target::Device(device))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Target::File { path: new_file(path).map_err(failed)?, replaces: false })
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// A rename needs no write permission on the file that it replaces. A user who removed that
/// permission expects to be asked.
pub(crate) fn refuse_read_only(path: &Path, found: &Metadata) -> Result<(), Error> {
    let refused = || Error::ReadOnly { path: path.to_owned() };
    if found.permissions().readonly() {
        return Err(refused());
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        use rustix::io::{Errno, retry_on_intr};
        match retry_on_intr(|| access(path, Access::WRITE_OK)) {
            Err(Errno::ACCESS) => return Err(refused()),
            Err(error) => return Err(Error::write(path, error.into())),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// The path at which a new file is to be created.
fn new_file(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
        }
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if !is_link {
            return Ok(path);
        }
        let leads_to = fs::read_link(&path)?;
        // If the link target is absolute, `join` replaces the whole path.
        path = path.parent().unwrap_or(Path::new("")).join(leads_to);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}
