//! The output until it is complete: a folder beside its target, which a later run can go on with.
//!
//! ```text
//! .out.zarr.retrograde/
//!     lock      held while a process writes
//!     store     the output, a folder or a file
//!     done      of a file, which chunks are complete
//!     scratch/  files that are being written
//!     job.json  what is being done; written after `store` exists
//! ```
//!
//! The output gets its name by renaming `store`. A job without a store has been completed, and only
//! its folder is left to remove.

use crate::error::Error;
use crate::store::Local;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// An output that is not complete.
#[derive(Debug)]
pub(crate) struct Stage {
    target: PathBuf,
    folder: PathBuf,
    /// Whether an earlier run began it.
    pub(crate) resumed: bool,
    _lock: File,
}

/// What an output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
}

/// What an earlier run has left.
pub(crate) enum Begun {
    /// An output to write.
    Stage(Stage),
    /// The earlier run had completed it, and was stopped before it removed its folder.
    Complete,
}

impl Stage {
    /// Begins the output of a job, or goes on with it if the same job was begun before.
    pub(crate) fn begin(target: &Path, job: &str, kind: Kind, force: bool) -> Result<Begun, Error> {
        let failed = |at: &Path, source| Error::Write { at: at.display().to_string(), source };
        let target = std::path::absolute(target).map_err(|source| failed(target, source))?;
        let exists = target.symlink_metadata().is_ok();
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(Error::Exists { at: target.display().to_string() });
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".retrograde");
        let folder = parent.join(hidden);
        if exists && !force && !folder.exists() {
            return Err(Error::Exists { at: target.display().to_string() });
        }
        let io = |source| failed(&folder, source);
        fs::create_dir_all(&folder).map_err(io)?;
        let lock = File::create(folder.join("lock")).map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { at: target.display().to_string() });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let same = fs::read_to_string(folder.join("job.json")).is_ok_and(|found| found == job);
        let stage = Stage { resumed: same, folder, target, _lock: lock };
        if same && !stage.store().exists() {
            stage.discard();
            return Ok(Begun::Complete);
        }
        if exists && !force {
            // What is in the folder belongs to some other output that had this name.
            stage.discard();
            return Err(Error::Exists { at: stage.target.display().to_string() });
        }
        stage.prepare(job, kind).map_err(|source| failed(&stage.folder, source))?;
        Ok(Begun::Stage(stage))
    }

    fn prepare(&self, job: &str, kind: Kind) -> io::Result<()> {
        let scratch = self.folder.join("scratch");
        if !self.resumed {
            let job = self.folder.join("job.json");
            if job.exists() {
                fs::remove_file(job)?;
            }
            remove(&self.store())?;
            remove(&self.done())?;
        }
        remove(&scratch)?;
        fs::create_dir_all(&scratch)?;
        if !self.resumed {
            match kind {
                Kind::Folder => fs::create_dir_all(self.store())?,
                Kind::File => drop(File::create(self.store())?),
            }
            let written = scratch.join("job");
            fs::write(&written, job)?;
            fs::rename(written, self.folder.join("job.json"))?;
        }
        Ok(())
    }

    /// What becomes the output.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Which chunks of a file are complete.
    pub(crate) fn done(&self) -> PathBuf {
        self.folder.join("done")
    }

    /// The output as a store.
    pub(crate) fn local(&self) -> Local {
        Local::writable(self.store(), self.folder.join("scratch"))
    }

    /// Gives the output its name.
    ///
    /// An output that is replaced has no name for a moment: after a crash just then it is in the
    /// folder beside it, and the next run completes the new one.
    pub(crate) fn publish(self) -> Result<(), Error> {
        let rename = || {
            if self.target.symlink_metadata().is_ok() {
                fs::rename(&self.target, self.folder.join("replaced"))?;
            }
            fs::rename(self.store(), &self.target)
        };
        let at = self.target.display().to_string();
        rename().map_err(|source| Error::Write { at, source })?;
        self.discard();
        Ok(())
    }

    /// Removes everything that is not the output. What cannot be removed does no harm.
    pub(crate) fn discard(&self) {
        // The job first: without a store it would read as complete.
        let _ = fs::remove_file(self.folder.join("job.json"));
        let _ = remove(&self.folder);
    }
}

/// Removes a file or a folder, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    let result = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
