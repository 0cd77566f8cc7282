//! One error for all of this crate. It carries the store, the chunk or the argument, and prints a
//! sentence that a user can act on.

use std::io;

/// What can go wrong. Whatever it is, the output does not have its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Zarr metadata here.
    #[error("{at}: not a Zarr array or group: found neither zarr.json nor .zarray nor .zgroup")]
    NotZarr {
        /// The store and the path in it.
        at: String,
    },
    /// The metadata cannot be used.
    #[error("{at}: {why}")]
    Metadata {
        /// The metadata file.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// A chunk cannot be used.
    #[error("{at}: chunk {index:?}: {why}")]
    Chunk {
        /// The file or object that holds the chunk.
        at: String,
        /// The position of the chunk in its grid.
        index: Vec<u64>,
        /// What is wrong with it.
        why: String,
    },
    /// The operator refuses its arguments.
    #[error("{at}: {source}")]
    Operator {
        /// The array.
        at: String,
        /// Why.
        source: Box<retrograde::Error>,
    },
    /// An axis has a name that no array has.
    #[error("Reverse: axes[{position}] is {name:?}, {}", names_of(known))]
    AxisName {
        /// The position in the list of axes.
        position: usize,
        /// The name.
        name: String,
        /// The names that the arrays have.
        known: Vec<String>,
    },
    /// The mask has the wrong number of entries.
    #[error("{at}: Reverse: the mask has {got} entries, expected {rank}, one per axis")]
    Mask {
        /// The array.
        at: String,
        /// How many entries it has.
        got: usize,
        /// How many axes the array has.
        rank: usize,
    },
    /// One chunk needs more memory than is allowed.
    #[error(
        "{at}: one chunk needs {need} bytes of memory, --memory allows {limit}; \
         the least that works is --memory {need}"
    )]
    Memory {
        /// The array.
        at: String,
        /// What one chunk needs, in bytes.
        need: u64,
        /// What is allowed, in bytes.
        limit: u64,
    },
    /// The output exists.
    #[error("{at}: exists already; remove it, or replace it with --force")]
    Exists {
        /// The output.
        at: String,
    },
    /// Another job has begun to write the same output.
    #[error(
        "{at}: holds the incomplete output of another command (named by {marker}); if that is not \
         running, remove it, or replace it with --force"
    )]
    Unfinished {
        /// The output.
        at: String,
        /// The object that names the other job.
        marker: String,
    },
    /// Input and output are the same, or one is inside the other.
    #[error("{output}: the output may not be the input {input}, inside it or around it")]
    Overlap {
        /// The input.
        input: String,
        /// The output.
        output: String,
    },
    /// Another process is writing the same output.
    #[error("{at}: another process is writing this output")]
    Locked {
        /// The output.
        at: String,
    },
    /// Something that this crate does not do.
    #[error("{at}: {what}")]
    Unsupported {
        /// The array or the option.
        at: String,
        /// What is not supported, and what is.
        what: String,
    },
    /// Reading failed.
    #[error("cannot read {at}: {source}")]
    Read {
        /// The file or object.
        at: String,
        /// Why.
        source: io::Error,
    },
    /// Writing failed. What is complete stays for the next run.
    #[error("cannot write {at}: {source}")]
    Write {
        /// The file or object.
        at: String,
        /// Why.
        source: io::Error,
    },
    /// The caller asked to stop. What is complete stays for the next run.
    #[error(
        "interrupted: {done} of {total} chunks are complete; the same command goes on from here"
    )]
    Interrupted {
        /// Chunks that are complete.
        done: u64,
        /// All chunks.
        total: u64,
    },
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
