//! Where a result goes: a folder or file, a path inside a store, or a URL. It has its name, or can be
//! opened, when it is complete.

use crate::error::Error;
use crate::inside;
use crate::journal::Journal;
use crate::stage::{Begun, Kind, Stage};
use crate::store::{Local, Remote, Store};
use crate::upload::Upload;
use crate::work::{Counts, Settings};
use std::path::{Path, PathBuf};

/// Where a result goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// A folder, or a file.
    Path(PathBuf),
    /// An array or group of a store in a folder, by its path.
    Inside(PathBuf, String),
    /// A store behind a URL.
    Remote(Remote),
}

impl<P: AsRef<Path>> From<P> for Target {
    fn from(path: P) -> Self {
        Target::Path(path.as_ref().to_owned())
    }
}

/// An output that is not complete.
pub(crate) enum Output {
    Stage { stage: Stage, store: Local, inside: Option<Inside>, journal: Journal },
    Upload { upload: Upload, journal: Journal },
}

/// A path inside a store.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    root: PathBuf,
    path: String,
    version: u8,
}

impl Target {
    /// Whether it is an `.npy` file.
    pub(crate) fn is_npy(&self) -> bool {
        let Target::Path(path) = self else { return false };
        path.extension().is_some_and(|found| found.eq_ignore_ascii_case("npy"))
    }

    /// Refuses an output that is the input, or inside it, or around it.
    pub(crate) fn refuse_overlap(
        &self,
        input: Option<&Path>,
        store: Option<&Remote>,
    ) -> Result<(), Error> {
        let (input, output) = match (self, input, store) {
            (Target::Path(path), Some(input), _) if overlap(input, path) => {
                (input.display().to_string(), path.display().to_string())
            }
            (Target::Inside(root, path), Some(input), _) if overlap(input, &root.join(path)) => {
                (input.display().to_string(), root.join(path).display().to_string())
            }
            (Target::Remote(output), _, Some(input)) if input.overlaps(output) => {
                (input.name(""), output.name(""))
            }
            _ => return Ok(()),
        };
        Err(Error::Overlap { input, output })
    }

    /// Begins the output of a job, or goes on with it; `None` if an earlier run has completed it.
    /// `version` is that of the Zarr store to be written.
    pub(crate) fn begin(
        &self,
        job: &str,
        version: u8,
        settings: &Settings<'_>,
    ) -> Result<Option<Output>, Error> {
        let kind = if self.is_npy() { Kind::File } else { Kind::Folder };
        let (begun, inside) = match self {
            Target::Remote(store) => {
                let upload = Upload::begin(store, job, settings.force)?;
                let journal = upload.journal()?;
                return Ok(Some(Output::Upload { upload, journal }));
            }
            Target::Path(path) => (Stage::begin(path, None, job, kind, settings)?, None),
            Target::Inside(root, path) => {
                let inside = Inside { root: root.clone(), path: path.clone(), version };
                inside::check(&Local::new(root), path, version)?;
                let target = root.join(path);
                (Stage::begin(&target, Some(root), job, kind, settings)?, Some(inside))
            }
        };
        match begun {
            Begun::Stage(stage) => {
                let (store, journal) = (stage.local(), stage.journal());
                Ok(Some(Output::Stage { stage, store, inside, journal }))
            }
            Begun::Complete(stage) => {
                adopt(&stage, inside.as_ref())?;
                stage.discard();
                Ok(None)
            }
        }
    }
}

/// Makes an output known to the store that it is inside of.
fn adopt(stage: &Stage, inside: Option<&Inside>) -> Result<(), Error> {
    let Some(Inside { root, path, version }) = inside else { return Ok(()) };
    inside::adopt(&Local::writable(root, stage.scratch()), path, *version)
}

impl Output {
    /// The output as a store.
    pub(crate) fn store(&self) -> &dyn Store {
        match self {
            Output::Stage { store, .. } => store,
            Output::Upload { upload, .. } => &upload.store,
        }
    }

    /// Which chunks are complete.
    pub(crate) fn journal(&self) -> &Journal {
        match self {
            Output::Stage { journal, .. } | Output::Upload { journal, .. } => journal,
        }
    }

    /// To be called before metadata is written.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            // A lock keeps others away.
            Output::Stage { .. } => Ok(()),
            Output::Upload { upload, .. } => upload.check(),
        }
    }

    /// Gives a complete output its name. What failed is removed, unless a later run can go on.
    pub(crate) fn finish(self, filled: Result<Counts, Error>) -> Result<Counts, Error> {
        match (filled, self) {
            (Ok(counts), Output::Stage { stage, inside, .. }) => {
                stage.publish()?;
                adopt(&stage, inside.as_ref())?;
                stage.discard();
                Ok(counts)
            }
            (Ok(counts), Output::Upload { upload, .. }) => upload.publish().map(|()| counts),
            (Err(error), output) => {
                match output {
                    Output::Stage { stage, .. } if error.can_resume() => stage.pause(),
                    Output::Stage { stage, .. } => stage.discard(),
                    Output::Upload { upload, .. } if !error.can_resume() => upload.discard(),
                    // What is lost is done again.
                    Output::Upload { journal, .. } => drop(journal.flush()),
                }
                Err(error)
            }
        }
    }
}

/// Whether one path is the other, or inside it.
fn overlap(input: &Path, target: &Path) -> bool {
    let canonical = |path: &Path| {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // The output need not exist, nor the folder that it is in.
        let mut found = whole.as_path();
        let mut rest = Vec::new();
        loop {
            match (found.canonicalize(), found.parent(), found.file_name()) {
                (Ok(found), ..) => {
                    return rest.iter().rev().fold(found, |path, name| path.join(name));
                }
                (_, Some(parent), Some(name)) => {
                    rest.push(name.to_owned());
                    found = parent;
                }
                _ => return whole,
            }
        }
    };
    let (from, to) = (canonical(input), canonical(target));
    from.starts_with(&to) || to.starts_with(&from)
}
