//! The output in an object store until it is complete. There are no folders to rename: chunks are
//! written where they belong, and the metadata last, so that the store cannot be opened before.
//!
//! ```text
//! s3://bucket/.out.zarr.retrograde.json    what is being done; removed at the end
//! s3://bucket/.out.zarr.retrograde/...     which chunks are complete; removed before that
//! s3://bucket/out.zarr/...                 chunks, then metadata
//! ```

use crate::error::Error;
use crate::journal::Journal;
use crate::store::{Extent, Remote, Store};

/// The most bytes of the text that names a job, which holds the metadata of all arrays.
const JOB: u64 = 1 << 30;

/// An output that is not complete.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) store: Remote,
    /// The folder around the store, and the object in it that names the job.
    around: Remote,
    marker: String,
    /// Where the journal is.
    notes: Remote,
    job: String,
    /// Whether an earlier run began it.
    pub(crate) resumed: bool,
}

impl Upload {
    /// Begins the output of a job, or goes on with it if the same job was begun before.
    pub(crate) fn begin(store: &Remote, job: &str, force: bool) -> Result<Upload, Error> {
        let at = store.name("");
        if !store.is_writable() {
            let what = "HTTP servers are only read; outputs are folders or s3:// URLs".to_owned();
            return Err(Error::Unsupported { at, what });
        }
        let (around, name) = store.split();
        if name.is_empty() {
            let what = "an output needs a path in its bucket: s3://BUCKET/PATH".to_owned();
            return Err(Error::Unsupported { at, what });
        }
        let marker = format!(".{name}.retrograde.json");
        let notes = around.inside(&format!(".{name}.retrograde"));
        let job = job.to_owned();
        let mut upload =
            Upload { store: store.clone(), around, marker, notes, job, resumed: false };
        match upload.found()? {
            Some(found) if found == upload.job => {
                upload.resumed = true;
                return Ok(upload);
            }
            // Another process may be writing it now. Nothing could tell.
            Some(_) if !force => {
                let marker = upload.around.name(&upload.marker);
                return Err(Error::Unfinished { at, marker });
            }
            _ => {}
        }
        let exists = store.has_objects();
        if exists.map_err(|source| Error::Read { at: at.clone(), source })? {
            if !force {
                return Err(Error::Exists { at });
            }
            store.remove_all().map_err(|source| Error::Write { at, source })?;
        }
        upload.forget()?;
        let written = upload.around.write(&upload.marker, upload.job.clone().into_bytes());
        written.map_err(|source| upload.failed(source))?;
        Ok(upload)
    }

    /// The job that the marker names, if there is one.
    fn found(&self) -> Result<Option<String>, Error> {
        let mut bytes = Vec::new();
        let read = self.around.read(&self.marker, Extent::AtMost(JOB), &mut bytes);
        let at = || self.around.name(&self.marker);
        let read = read.map_err(|source| Error::Read { at: at(), source })?;
        Ok(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Which chunks are complete.
    pub(crate) fn journal(&self) -> Result<Journal, Error> {
        let journal = Journal::in_objects(self.notes.clone(), self.resumed);
        journal.map_err(|source| Error::Read { at: self.notes.name(""), source })
    }

    /// Removes the journal.
    fn forget(&self) -> Result<(), Error> {
        let removed = self.notes.remove_all();
        removed.map_err(|source| Error::Write { at: self.notes.name(""), source })
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Write { at: self.around.name(&self.marker), source }
    }

    /// Fails if another job has begun to write the same output meanwhile.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.found()? == Some(self.job.clone()) {
            true => Ok(()),
            false => Err(Error::Locked { at: self.store.name("") }),
        }
    }

    /// The output is complete: only the name of the job has to go.
    pub(crate) fn publish(&self) -> Result<(), Error> {
        self.forget()?;
        self.around.remove(&self.marker).map_err(|source| self.failed(source))
    }

    /// Removes what was written. What cannot be removed has no metadata.
    pub(crate) fn discard(&self) {
        if self.store.remove_all().is_ok() && self.forget().is_ok() {
            let _ = self.around.remove(&self.marker);
        }
    }
}
