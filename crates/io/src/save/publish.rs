//! Gives complete files their names: all of them or, as far as the system allows, none.

use super::attributes;
use super::temporary::Temporary;
use crate::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary names of files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Whether any output has got its name.
static APPEARED: AtomicBool = AtomicBool::new(false);

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes unfinished outputs, for a process that ends early.
///
/// Outputs that are being written then never appear. A thread that tries to begin or to finish
/// another one blocks until the process ends, which may take a while. Returns whether an output had
/// already appeared.
pub fn abandon_outputs() -> bool {
    let mut paths = unfinished();
    for path in paths.drain(..) {
        // If it cannot be removed, there is nothing else to try.
        let _ = fs::remove_file(path);
    }
    // Never unlocked, so other threads stay blocked.
    std::mem::forget(paths);
    APPEARED.load(Ordering::SeqCst)
}

/// A file that is being written, in the folder where it will appear.
#[derive(Debug)]
pub(crate) struct Pending {
    /// `None` once it has its name.
    temporary: Option<Temporary>,
    /// The file to write to.
    file: File,
    target: PathBuf,
    replaces: bool,
}

impl Pending {
    /// Begins a file.
    pub(crate) fn new(target: PathBuf, replaces: bool) -> io::Result<Pending> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut unfinished = unfinished();
        // Private: the replaced file may not have been readable by others.
        let temporary = Temporary::new(folder, replaces)?;
        unfinished.extend(temporary.name().map(Path::to_owned));
        let file = temporary.file.try_clone()?;
        Ok(Pending { temporary: Some(temporary), file, target, replaces })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Completes the file except for its name.
    pub(crate) fn complete(&self) -> io::Result<()> {
        if self.replaces {
            attributes::inherit(&self.target, &self.file)?;
            // The new file must be on disk before the old one is replaced, because the old one may
            // be its input.
            self.file.sync_all()?;
        }
        // Some file systems report a failed write only when the file is closed.
        close(self.file.try_clone()?)
    }

    /// Gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.complete()?;
        publish(vec![self]).map_err(|failed| failed.source)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(name) = self.temporary.as_ref().and_then(Temporary::name) {
            unfinished().retain(|other| other != name);
        }
    }
}

/// Closes a file and returns errors.
#[cfg(unix)]
fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: `into_raw_fd` transferred ownership of the descriptor, so nobody else closes it.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        // Linux has closed it even so.
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
    }
}

#[cfg(not(unix))]
fn close(_file: File) -> io::Result<()> {
    Ok(())
}

/// The result of a failed `publish`: one of the files could not get its name.
#[derive(Debug)]
pub(crate) struct Unpublished {
    /// Index of that file.
    pub(crate) at: usize,
    pub(crate) source: io::Error,
    /// New files before it, which were removed again.
    pub(crate) removed: Vec<PathBuf>,
    /// Files before it that replaced others, or could not be removed.
    pub(crate) kept: Vec<PathBuf>,
}

impl Unpublished {
    /// Converts it to an error that names the requested paths.
    pub(crate) fn into_error(self, mut paths: Vec<PathBuf>) -> Error {
        let Unpublished { at, source, removed, kept } = self;
        let path = paths.swap_remove(at);
        match removed.is_empty() && kept.is_empty() {
            true => Error::Write { path, source },
            false => Error::Together { path, source, removed, kept },
        }
    }
}

/// A file that has its name, with what is needed to undo that.
enum Published {
    New(PathBuf),
    /// The old file keeps the temporary name until all files have theirs.
    Traded(Temporary, PathBuf),
    Replaced(PathBuf),
}

impl Published {
    /// Gives the file its name.
    fn of(mut temporary: Temporary, file: &Pending, alone: bool) -> io::Result<Published> {
        let target = file.target.clone();
        if !file.replaces {
            return temporary.appear(&target).map(|()| Published::New(target));
        }
        // A single file is simply renamed: that works everywhere and is atomic.
        if !alone && temporary.trade(&target)?.is_some() {
            return Ok(Published::Traded(temporary, target));
        }
        temporary.replace(&target).map(|()| Published::Replaced(target))
    }

    /// Undoes it; returns the paths of new files that were removed and of files that were kept.
    fn undo(self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        match self {
            Published::New(path) if fs::remove_file(&path).is_ok() => (vec![path], vec![]),
            Published::Traded(mut temporary, path) => match temporary.trade(&path) {
                Ok(Some(())) => (vec![], vec![]),
                _ => (vec![], vec![path]),
            },
            Published::New(path) | Published::Replaced(path) => (vec![], vec![path]),
        }
    }
}

/// Gives complete files their names: all of them or, as far as the system allows, none.
pub(crate) fn publish(mut files: Vec<Pending>) -> Result<(), Unpublished> {
    // Held until the end, so that an interruption sees all of them or none.
    let mut unfinished = unfinished();
    let alone = files.len() == 1;
    let mut published = Vec::new();
    let mut failed = None;
    for (at, file) in files.iter_mut().enumerate() {
        let Some(temporary) = file.temporary.take() else { continue };
        unfinished.retain(|other| Some(other.as_path()) != temporary.name());
        if failed.is_some() {
            // Dropping it removes the temporary file.
            continue;
        }
        match Published::of(temporary, file, alone) {
            Ok(done) => published.push(done),
            Err(error) => failed = Some((at, error)),
        }
    }
    let Some((at, source)) = failed else {
        APPEARED.fetch_or(!published.is_empty(), Ordering::SeqCst);
        return Ok(());
    };
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for (gone, stays) in published.into_iter().map(Published::undo) {
        removed.extend(gone);
        kept.extend(stays);
    }
    Err(Unpublished { at, source, removed, kept })
}
