//! Errors in `.npz` archives.

use crate::npy::error::NpyError;
use std::io;
use thiserror::Error as ThisError;

/// Why an `.npz` archive was refused.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NpzError {
    /// It cannot be read as an archive.
    #[error("not a readable .npz archive: {reason}")]
    Archive { reason: String },
    /// More members than any reasonable archive has.
    #[error("the archive says it has {count} members, more than the {limit} that are accepted")]
    TooMany { count: usize, limit: usize },
    /// A member that cannot be read.
    #[error("member {member:?}: {reason}")]
    Member { member: String, reason: String },
    /// A member that is not a valid `.npy` file.
    #[error("member {member:?}: {source}")]
    Npy { member: String, source: NpyError },
}

/// Errors in the content, and I/O errors.
pub(crate) enum NpzFailure {
    Io(io::Error),
    Npz(NpzError),
}

impl From<io::Error> for NpzFailure {
    fn from(error: io::Error) -> Self {
        NpzFailure::Io(error)
    }
}

impl From<NpzError> for NpzFailure {
    fn from(error: NpzError) -> Self {
        NpzFailure::Npz(error)
    }
}
