//! Errors in a TensorProto.

use crate::external::ExternalError;
use crate::words::{bytes, reason};
use retrograde::{DType, LayoutError};
use std::io;
use std::path::PathBuf;
use thiserror::Error as ThisError;

/// Why a TensorProto was refused.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum TensorError {
    /// It is not a TensorProto.
    #[error("not a TensorProto: {reason}")]
    NotTensor {
        /// The decoder's error.
        reason: String,
    },
    /// It is not the sequence or the optional value that it should be.
    #[error("not {expected}: {reason}")]
    NotContainer {
        /// What it should be.
        expected: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// An unknown or unsupported element type.
    #[error("element type {code} is not supported, expected one of 1 (FLOAT) to 26 (INT2)")]
    Type {
        /// The `data_type`.
        code: i32,
    },
    /// A negative size.
    #[error("axis {axis} has the negative size {size}")]
    NegativeSize {
        /// The axis.
        axis: usize,
        /// The size.
        size: i64,
    },
    /// More axes than any reasonable tensor has.
    #[error("it has {rank} axes, more than the {limit} that are accepted")]
    TooManyAxes {
        /// The number of axes.
        rank: usize,
        /// The most that is accepted.
        limit: usize,
    },
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
    WrongField {
        /// The element type.
        dtype: DType,
        /// Where they are.
        field: &'static str,
        /// Where they should be.
        expected: &'static str,
    },
    /// More or fewer entries than the shape needs.
    #[error(
        "shape {shape:?} of {dtype} takes {expected} entries of {field} but there are {available}"
    )]
    Count {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// The field.
        field: &'static str,
        /// Entries that the shape needs.
        expected: usize,
        /// Entries in the field.
        available: usize,
    },
    /// A number out of range of the element type.
    #[error("{field}[{position}] is {value}, outside [{low}, {high}] of {dtype}")]
    Range {
        /// The field.
        field: &'static str,
        /// Index of the entry.
        position: usize,
        /// The number.
        value: i128,
        /// The lowest value of the type.
        low: i128,
        /// The highest value of the type.
        high: i128,
        /// The element type.
        dtype: DType,
    },
    /// A string that is no text.
    #[error("{field}[{position}] is {text}, expected UTF-8")]
    NotText {
        /// The field.
        field: &'static str,
        /// Index of the entry.
        position: usize,
        /// The string, shortened.
        text: String,
    },
    /// An invalid entry about external data.
    #[error("external data: {key} is {value:?}, expected {expected}")]
    ExternalKey {
        /// The key.
        key: &'static str,
        /// Its value, shortened.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// External data whose size does not match the shape.
    #[error(
        "external data: length is {length} but shape {shape:?} of {dtype} takes {}",
        bytes(*expected as u64)
    )]
    ExternalLength {
        /// The declared length.
        length: u64,
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// The length that the shape needs.
        expected: usize,
    },
    /// There is no space to unpack its elements.
    #[error("no space in {} to unpack its elements: {reason}", folder.display())]
    NoRoom {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The system's error.
        reason: String,
    },
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
