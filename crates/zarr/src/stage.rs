//! The output until it is complete: a folder beside its target, which a later run can go on with.
//!
//! ```text
//! .out.zarr.retrograde/
//!     lock      held while a process writes
//!     store     the output, a folder or a file
//!     done/     which chunks are complete, a file for each array
//!     scratch/  files that are being written
//!     boot      since which start of the machine files are written
//!     synced    they are on the disk; written when a run stops in order
//!     job.json  what is being done; written after `store` exists
//! ```
//!
//! The output gets its name by renaming `store`. A job without a store has been completed, and only
//! its folder is left to remove. After a crash of the machine files may be missing or empty, and a
//! missing chunk reads as fill values: such a folder is not used again, and files are on the disk
//! before the output gets its name.

use crate::error::Error;
use crate::journal::Journal;
use crate::store::Local;
use crate::work::Settings;
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
    sync: bool,
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
    Complete(Stage),
}

impl Stage {
    /// Begins the output of a job, or goes on with it if the same job was begun before. If the
    /// target is inside a store, `root` is that store: the folder is beside it.
    pub(crate) fn begin(
        target: &Path,
        root: Option<&Path>,
        job: &str,
        kind: Kind,
        settings: &Settings<'_>,
    ) -> Result<Begun, Error> {
        let force = settings.force;
        let failed = |at: &Path, source| Error::Write { at: at.display().to_string(), source };
        let target = std::path::absolute(target).map_err(|source| failed(target, source))?;
        let exists = target.symlink_metadata().is_ok();
        let root = match root {
            Some(root) => std::path::absolute(root).map_err(|source| failed(root, source))?,
            None => target.clone(),
        };
        let (Some(parent), Some(_)) = (root.parent(), root.file_name()) else {
            return Err(Error::Exists { at: target.display().to_string() });
        };
        let mut hidden = std::ffi::OsString::new();
        for name in target.strip_prefix(parent).unwrap_or(&target) {
            hidden.push(".");
            hidden.push(name);
        }
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
        let mut stage = Stage { resumed: same, folder, target, sync: settings.sync, _lock: lock };
        if same && !stage.store().exists() {
            return Ok(Begun::Complete(stage));
        }
        stage.resumed = same && stage.is_intact();
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
            fs::write(self.folder.join("boot"), boot())?;
        }
        remove(&self.folder.join("synced"))?;
        remove(&scratch)?;
        fs::create_dir_all(&scratch)?;
        fs::create_dir_all(self.done())?;
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

    /// Whether all that was written is still there.
    fn is_intact(&self) -> bool {
        let same = fs::read(self.folder.join("boot")).is_ok_and(|found| found == boot());
        same || self.folder.join("synced").exists()
    }

    /// What becomes the output.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Which chunks are complete.
    pub(crate) fn journal(&self) -> Journal {
        Journal::in_folder(self.done(), self.resumed)
    }

    fn done(&self) -> PathBuf {
        self.folder.join("done")
    }

    /// The output as a store.
    pub(crate) fn local(&self) -> Local {
        Local::writable(self.store(), self.folder.join("scratch"))
    }

    /// Where files are before they are complete.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.folder.join("scratch")
    }

    /// Gives the output its name.
    ///
    /// An output that is replaced has no name for a moment: after a crash just then it is in the
    /// folder beside it, and the next run completes the new one.
    pub(crate) fn publish(&self) -> Result<(), Error> {
        let replaces = self.target.symlink_metadata().is_ok();
        let rename = || {
            if self.sync || replaces {
                sync(&self.folder)?;
            }
            if replaces {
                fs::rename(&self.target, self.folder.join("replaced"))?;
            }
            self.target.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::rename(self.store(), &self.target)
        };
        let at = self.target.display().to_string();
        rename().map_err(|source| Error::Write { at, source })
    }

    /// Leaves the output for the next run.
    pub(crate) fn pause(&self) {
        // Without it, the next run begins anew if the machine was started again meanwhile.
        if self.sync && sync(&self.folder).is_ok() {
            let _ = fs::write(self.folder.join("synced"), "");
        }
    }

    /// Removes everything that is not the output. What cannot be removed does no harm.
    pub(crate) fn discard(&self) {
        // The job first: without a store it would read as complete.
        let _ = fs::remove_file(self.folder.join("job.json"));
        let _ = remove(&self.folder);
    }
}

/// What is different after each start of the machine, where the system tells.
fn boot() -> Vec<u8> {
    fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Waits until the files of a file system are on the disk.
#[cfg(target_os = "linux")]
fn sync(folder: &Path) -> io::Result<()> {
    // One call for all: a chunk is often small, and to wait for each would take longer.
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Waits until the files of a folder are on the disk.
#[cfg(not(target_os = "linux"))]
fn sync(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => sync(&path)?,
            false => File::options().write(true).open(&path)?.sync_all()?,
        }
    }
    Ok(())
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
