//! Giving complete files their names: all of them or, as far as the system allows, none.

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
/// Whether an output has its name.
static APPEARED: AtomicBool = AtomicBool::new(false);

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what has been begun and not finished: for whoever ends the process early.
///
/// Outputs that are being written then never appear, and no other is begun: whoever tries waits
/// for the end of the process, which may take a while. Says whether one had appeared before.
pub fn abandon_outputs() -> bool {
    let mut paths = unfinished();
    for path in paths.drain(..) {
        // If it cannot be removed, nothing is left to do about it.
        let _ = fs::remove_file(path);
    }
    // Never unlocked.
    std::mem::forget(paths);
    APPEARED.load(Ordering::SeqCst)
}

/// A file that is being written, in the folder where it will appear.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Taken when it gets its name.
    temporary: Option<Temporary>,
    /// What is written.
    file: File,
    target: PathBuf,
    replaces: bool,
}

impl Pending {
    /// Begins one.
    pub(crate) fn new(target: PathBuf, replaces: bool) -> io::Result<Pending> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut unfinished = unfinished();
        // Nobody else may read what replaces a file that nobody else may read.
        let temporary = Temporary::new(folder, replaces)?;
        unfinished.extend(temporary.name().map(Path::to_owned));
        let file = temporary.file.try_clone()?;
        Ok(Pending { temporary: Some(temporary), file, target, replaces })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Has everything ready, so that only its name is missing.
    pub(crate) fn complete(&self) -> io::Result<()> {
        if self.replaces {
            attributes::inherit(&self.target, &self.file)?;
            // Before the old file goes, the new one must have arrived: the two may be the same.
            self.file.sync_all()?;
        }
        // Some file systems say only when a file is closed that it did not arrive.
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

/// Closes a file, and says so if that fails.
#[cfg(unix)]
fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the descriptor was this file's own, which has given it up.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        // Linux has closed it all the same.
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
    }
}

#[cfg(not(unix))]
fn close(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// Files of which one could not get its name.
#[derive(Debug)]
pub(crate) struct Unpublished {
    /// Which one.
    pub(crate) at: usize,
    pub(crate) source: io::Error,
    /// Those before it that were new, and are gone again.
    pub(crate) removed: Vec<PathBuf>,
    /// Those before it that have replaced others, or could not be removed.
    pub(crate) kept: Vec<PathBuf>,
}

impl Unpublished {
    /// As an error of the file, by the paths that the files were asked for under.
    pub(crate) fn into_error(self, mut paths: Vec<PathBuf>) -> Error {
        let Unpublished { at, source, removed, kept } = self;
        let path = paths.swap_remove(at);
        match removed.is_empty() && kept.is_empty() {
            true => Error::Write { path, source },
            false => Error::Together { path, source, removed, kept },
        }
    }
}

/// A file that has its name, and the way back.
enum Published {
    New(PathBuf),
    /// The old file has the temporary name until all files have theirs.
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
        // For one file the plain way will do: it works everywhere and cannot stop halfway.
        if !alone && temporary.trade(&target)?.is_some() {
            return Ok(Published::Traded(temporary, target));
        }
        temporary.replace(&target).map(|()| Published::Replaced(target))
    }

    /// Takes the name away again; the path of a new file that is gone, or of one that stays.
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

/// Gives complete files their names: all of them, or (as far as the system allows) none.
pub(crate) fn publish(mut files: Vec<Pending>) -> Result<(), Unpublished> {
    // Held to the end, so that an interruption finds all of them or none.
    let mut unfinished = unfinished();
    let alone = files.len() == 1;
    let mut published = Vec::new();
    let mut failed = None;
    for (at, file) in files.iter_mut().enumerate() {
        let Some(temporary) = file.temporary.take() else { continue };
        unfinished.retain(|other| Some(other.as_path()) != temporary.name());
        if failed.is_some() {
            // Dropping it removes it.
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
