//! What can be wrong with the content of a `.npy` file.

use crate::words::bytes;
use retrograde::LayoutError;
use std::io;
use thiserror::Error as ThisError;

/// What is wrong with the content of a `.npy` file.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum NpyError {
    /// It begins with something else.
    #[error("not a .npy file: it begins with {start}, not with \\x93NUMPY{}", kind_hint(start))]
    NotNpy {
        /// The first bytes, printable.
        start: String,
    },
    /// A version of the format that does not exist yet.
    #[error(".npy version {major}.{minor} is unknown, expected 1.0, 2.0 or 3.0")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The file ends inside its header.
    #[error(
        "the file is cut short: its header should have {} but only {available} follow",
        bytes(*declared)
    )]
    HeaderCut {
        /// Bytes the header should have.
        declared: u64,
        /// Bytes there are.
        available: u64,
    },
    /// The header says it is longer than any sensible header.
    #[error("the header says it has {declared} bytes, more than the {limit} that are accepted")]
    HeaderTooLong {
        /// Bytes the header should have.
        declared: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// The header is not the Python dictionary it should be.
    #[error("malformed header: expected {expected} at byte {position}, found {found}")]
    HeaderSyntax {
        /// Where in the header.
        position: usize,
        /// What should be there.
        expected: &'static str,
        /// What is there, printable and shortened.
        found: String,
    },
    /// A key that a header does not have.
    #[error(
        "malformed header: key {key} is unknown, expected 'descr', 'fortran_order' and 'shape'"
    )]
    UnknownKey {
        /// The key, printable and shortened.
        key: String,
    },
    /// A key that comes twice.
    #[error("malformed header: key '{key}' comes twice")]
    DuplicateKey {
        /// The key.
        key: &'static str,
    },
    /// A key that is not there.
    #[error("malformed header: key '{key}' is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A negative size.
    #[error("axis {axis} has the negative size {size}")]
    NegativeSize {
        /// The axis.
        axis: usize,
        /// The size, shortened.
        size: String,
    },
    /// A size that no memory could have.
    #[error("axis {axis} has size {size}, more than {} that can be addressed", usize::MAX)]
    SizeTooLarge {
        /// The axis.
        axis: usize,
        /// The size, shortened.
        size: String,
    },
    /// The shape as a whole is impossible.
    #[error("impossible shape: {0}")]
    Shape(#[from] LayoutError),
    /// Records within records, deeper than any sensible dtype.
    #[error("its fields are nested more than {limit} deep")]
    FieldsTooDeep {
        /// The most that is accepted.
        limit: usize,
    },
    /// A record that no memory could hold.
    #[error("its fields take more bytes than can be addressed")]
    FieldsTooLarge,
    /// The elements are small arrays.
    #[error("subarray dtype (its dtype is a tuple): save it as an array with more axes")]
    Subarray,
    /// The elements are pickled Python objects.
    #[error(
        "object array ({descr:?}): its elements are pickled Python objects, not fixed-width data; \
         save it with a plain dtype, such as x.astype('U') for strings"
    )]
    Objects {
        /// The `descr` of the header.
        descr: String,
    },
    /// An element type that NumPy does not have.
    #[error("unknown dtype {descr:?}, expected one such as '<f4', '>i8', '|u1', '<U5' or '|V16'")]
    UnknownType {
        /// The `descr` of the header, shortened.
        descr: String,
    },
    /// Less data than the shape says.
    #[error(
        "shape {shape:?} of {descr:?} takes {} but the file has {available}: \
         it is cut short",
        bytes(*expected)
    )]
    DataTooShort {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        descr: String,
        /// Bytes the shape takes.
        expected: u64,
        /// Bytes there are.
        available: u64,
    },
    /// More data than the shape says.
    #[error(
        "shape {shape:?} of {descr:?} takes {} but the file has {}: \
         either the shape is wrong or something was appended",
        bytes(*expected),
        available.map_or("more".to_owned(), |bytes| bytes.to_string())
    )]
    DataTooLong {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        descr: String,
        /// Bytes the shape takes.
        expected: u64,
        /// Bytes there are; `None` if the file (a pipe) does not know its size.
        available: Option<u64>,
    },
    /// The machine does not have the memory.
    #[error("not enough memory for the {bytes} bytes of the file")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// Integers were asked for.
    #[error("its elements are {descr:?}, expected integers such as '<i8' or '|u1'")]
    NotIntegers {
        /// The element type.
        descr: String,
    },
}

/// What else the file might be.
fn kind_hint(start: &str) -> &'static str {
    if start.starts_with("\"PK") { " (an .npz archive? name it .npz)" } else { "" }
}

/// A failure before it is known whose it is.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    Npy(NpyError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<NpyError> for Failure {
    fn from(error: NpyError) -> Self {
        Failure::Npy(error)
    }
}
