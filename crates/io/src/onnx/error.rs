//! Errors in a TensorProto.

use crate::external::ExternalError;
use crate::words::{bytes, reason};
use retrograde::{DType, LayoutError};
use std::io;
use std::path::PathBuf;
use thiserror::Error as ThisError;

/// Why a TensorProto was refused. Text of the file is shortened and printable.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum TensorError {
    /// It is not a TensorProto.
    #[error("not a TensorProto: {reason}")]
    NotTensor { reason: String },
    /// It is not the sequence or the optional value that it should be.
    #[error("not {expected}: {reason}")]
    NotContainer { expected: &'static str, reason: String },
    /// An unknown or unsupported element type.
    #[error("element type {code} is not supported, expected one of 1 (FLOAT) to 26 (INT2)")]
    Type { code: i32 },
    /// A negative size.
    #[error("axis {axis} has the negative size {size}")]
    NegativeSize { axis: usize, size: i64 },
    /// More axes than any reasonable tensor has.
    #[error("it has {rank} axes, more than the {limit} that are accepted")]
    TooManyAxes { rank: usize, limit: usize },
    /// The shape as a whole is impossible, or the raw data has a different size.
    #[error("{0}")]
    Shape(#[from] LayoutError),
    /// It is one segment of a tensor.
    #[error("it is one segment of a tensor, expected a whole one")]
    Segment,
    /// Two fields hold elements.
    #[error("its elements are in both {0} and {1}, expected one of them")]
    Twice(&'static str, &'static str),
    /// Elements in a field that does not match their type.
    #[error("elements of {dtype} are in {field}, expected {expected}")]
    WrongField { dtype: DType, field: &'static str, expected: &'static str },
    /// More or fewer entries than the shape needs.
    #[error(
        "shape {shape:?} of {dtype} takes {expected} entries of {field} but there are {available}"
    )]
    Count {
        shape: Vec<usize>,
        dtype: DType,
        field: &'static str,
        expected: usize,
        available: usize,
    },
    /// A number out of range of the element type.
    #[error("{field}[{position}] is {value}, outside [{low}, {high}] of {dtype}")]
    Range { field: &'static str, position: usize, value: i128, low: i128, high: i128, dtype: DType },
    /// A string that is no text.
    #[error("{field}[{position}] is {text}, expected UTF-8")]
    NotText { field: &'static str, position: usize, text: String },
    /// An invalid entry about external data.
    #[error("external data: {key} is {value:?}, expected {expected}")]
    ExternalKey { key: &'static str, value: String, expected: &'static str },
    /// External data whose size does not match the shape.
    #[error(
        "external data: length is {length} but shape {shape:?} of {dtype} takes {}",
        bytes(*expected as u64)
    )]
    ExternalLength { length: u64, shape: Vec<usize>, dtype: DType, expected: usize },
    /// There is no space to unpack its elements.
    #[error("no space in {} to unpack its elements: {reason}", folder.display())]
    NoRoom { folder: PathBuf, reason: String },
    /// External data that cannot be read.
    #[error(transparent)]
    External(#[from] ExternalError),
}

impl From<String> for TensorError {
    fn from(reason: String) -> Self {
        TensorError::NotTensor { reason }
    }
}

/// An error of the temporary file to which elements are unpacked.
impl From<io::Error> for TensorError {
    fn from(error: io::Error) -> Self {
        let folder = PathBuf::from("memory");
        TensorError::NoRoom { folder, reason: reason(&error) }
    }
}
