//! One error for all of this crate. It carries the store, the chunk or the argument, and prints a
//! sentence that a user can act on.

use std::io;

/// What can go wrong. Whatever it is, the output does not have its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// There is no Zarr metadata here.
    #[error("{at}: not a Zarr array or group: found neither zarr.json nor .zarray nor .zgroup")]
    NotZarr { at: String },
    /// The metadata cannot be used.
    #[error("{at}: {why}")]
    Metadata { at: String, why: String },
    /// A chunk cannot be used.
    #[error("{at}: chunk {index:?}: {why}")]
    Chunk {
        /// The file or object that holds the chunk.
        at: String,
        /// The position of the chunk in its grid.
        index: Vec<u64>,
        why: String,
    },
    /// The operator refuses its arguments.
    #[error("{at}: {source}")]
    Operator { at: String, source: Box<retrograde::Error> },
    /// An axis has a name that no array has.
    #[error("Reverse: axes[{position}] is {name:?}, {}", names_of(known))]
    AxisName { position: usize, name: String, known: Vec<String> },
    /// The mask has the wrong number of entries.
    #[error("{at}: Reverse: the mask has {got} entries, expected {rank}, one per axis")]
    Mask { at: String, got: usize, rank: usize },
    /// One chunk needs more memory than is allowed.
    #[error(
        "{at}: one chunk needs {need} bytes of memory, --memory allows {limit}; \
         the least that works is --memory {need}"
    )]
    Memory { at: String, need: u64, limit: u64 },
    /// The output exists.
    #[error("{at}: exists already; remove it, or replace it with --force")]
    Exists { at: String },
    /// Another job has begun to write the same output.
    #[error(
        "{at}: holds the incomplete output of another command (named by {marker}); if that is not \
         running, remove it, or replace it with --force"
    )]
    Unfinished { at: String, marker: String },
    /// Input and output are the same, or one is inside the other.
    #[error("{output}: the output may not be the input {input}, inside it or around it")]
    Overlap { input: String, output: String },
    /// Another process is writing the same output.
    #[error("{at}: another process is writing this output")]
    Locked { at: String },
    /// Something that this crate does not do.
    #[error("{at}: {what}")]
    Unsupported { at: String, what: String },
    /// Reading failed.
    #[error("cannot read {at}: {source}")]
    Read { at: String, source: io::Error },
    /// Writing failed. What is complete stays for the next run.
    #[error("cannot write {at}: {source}")]
    Write { at: String, source: io::Error },
    /// The caller asked to stop. What is complete stays for the next run.
    #[error(
        "interrupted: {done} of {total} chunks are complete; the same command goes on from here"
    )]
    Interrupted { done: u64, total: u64 },
}

impl Error {
    /// Whether the next run can use what is complete: an interruption, a full disk or a lost
    /// connection, but not bad data.
    pub fn can_resume(&self) -> bool {
        matches!(self, Error::Interrupted { .. } | Error::Read { .. } | Error::Write { .. })
    }
}

fn names_of(known: &[String]) -> String {
    match known {
        [] => "and no array has names for its axes; use numbers".to_owned(),
        known => format!("expected one of {}", known.join(", ")),
    }
}
