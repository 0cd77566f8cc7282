//! Errors in the content of a `.npy` file.

use crate::words::bytes;
use retrograde::LayoutError;
use std::io;
use thiserror::Error as ThisError;

/// Why the content of a `.npy` file was refused. Text of the file is shortened and printable.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NpyError {
    /// It begins with other bytes.
    #[error("not a .npy file: it begins with {start}, not with \\x93NUMPY{}", kind_hint(start))]
    NotNpy { start: String },
    /// An unknown version of the format.
    #[error(".npy version {major}.{minor} is unknown, expected 1.0, 2.0 or 3.0")]
    Version { major: u8, minor: u8 },
    /// The file ends inside its header.
    #[error(
        "the file is cut short: its header should have {} but only {available} follow",
        bytes(*declared)
    )]
    HeaderCut { declared: u64, available: u64 },
    /// The declared header length is longer than any reasonable header.
    #[error("the header says it has {declared} bytes, more than the {limit} that are accepted")]
    HeaderTooLong { declared: u64, limit: u64 },
    /// The header is not the expected Python dictionary.
    #[error("malformed header: expected {expected} at byte {position}, found {found}")]
    HeaderSyntax { position: usize, expected: &'static str, found: String },
    /// An unknown key.
    #[error(
        "malformed header: key {key} is unknown, expected 'descr', 'fortran_order' and 'shape'"
    )]
    UnknownKey { key: String },
    /// A key that appears twice.
    #[error("malformed header: key '{key}' appears twice")]
    DuplicateKey { key: &'static str },
    /// A missing key.
    #[error("malformed header: key '{key}' is missing")]
    MissingKey { key: &'static str },
    /// A negative size.
    #[error("axis {axis} has the negative size {size}")]
    NegativeSize { axis: usize, size: String },
    /// A size that does not fit in a `usize`.
    #[error("axis {axis} has size {size}, more than the {} that can be addressed", usize::MAX)]
    SizeTooLarge { axis: usize, size: String },
    /// The shape as a whole is impossible.
    #[error("impossible shape: {0}")]
    Shape(#[from] LayoutError),
    /// Records nested deeper than in any reasonable dtype.
    #[error("its fields are nested more than {limit} deep")]
    FieldsTooDeep { limit: usize },
    /// A record that is too large for memory.
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
    Objects { descr: String },
    /// An unknown element type.
    #[error("unknown dtype {descr:?}, expected one such as '<f4', '>i8', '|u1', '<U5' or '|V16'")]
    UnknownType { descr: String },
    /// Less data than the shape needs.
    #[error(
        "shape {shape:?} of {descr:?} takes {} but the file has {available}: \
         it is cut short",
        bytes(*expected)
    )]
    DataTooShort { shape: Vec<usize>, descr: String, expected: u64, available: u64 },
    /// More data than the shape needs.
    #[error(
        "shape {shape:?} of {descr:?} takes {} but the file has {}: \
         either the shape is wrong or something was appended",
        bytes(*expected),
        available.map_or("more".to_owned(), |bytes| bytes.to_string())
    )]
    DataTooLong {
        shape: Vec<usize>,
        descr: String,
        expected: u64,
        /// Bytes in the file; `None` if it (a pipe) has no size.
        available: Option<u64>,
    },
    /// Memory allocation failed.
    #[error("not enough memory for the {bytes} bytes of the file")]
    OutOfMemory { bytes: u64 },
    /// The elements are not integers.
    #[error("its elements are {descr:?}, expected integers such as '<i8' or '|u1'")]
    NotIntegers { descr: String },
}

/// A guess at what the file is.
fn kind_hint(start: &str) -> &'static str {
    if start.starts_with("\"PK") { " (an .npz archive? name it .npz)" } else { "" }
}

/// An error before it is assigned to a file.
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
