//! What can be wrong with an `.npz` archive.

use crate::npy::error::NpyError;
use std::io;
use thiserror::Error as ThisError;

/// What is wrong with an `.npz` archive.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum NpzError {
    /// It cannot be read as an archive.
    #[error("not a readable .npz archive: {reason}")]
    Archive {
        /// What the archive's reader says.
        reason: String,
    },
    /// More entries than any sensible archive has.
    #[error("the archive says it has {count} members, more than the {limit} that are accepted")]
    TooMany {
        /// Members.
        count: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// A member that cannot be read.
    #[error("member {member:?}: {reason}")]
    Member {
        /// The member.
        member: String,
        /// Why not.
        reason: String,
    },
    /// A member that is no `.npy` file.
    #[error("member {member:?}: {source}")]
    Npy {
        /// The member.
        member: String,
        /// What is wrong with it.
        source: NpyError,
    },
}

/// What can go wrong besides the content.
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
