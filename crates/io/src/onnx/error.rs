//! What can be wrong with a TensorProto.

use crate::external::ExternalError;
use crate::words::{bytes, reason};
use retrograde::{DType, LayoutError};
use std::io;
use std::path::PathBuf;
use thiserror::Error as ThisError;

/// What is wrong with a TensorProto.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum TensorError {
    /// It is none.
    #[error("not a TensorProto: {reason}")]
    NotTensor {
        /// What the decoder says.
        reason: String,
    },
    /// An element type that is unknown, or none of ours.
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
    /// More axes than any sensible tensor has.
    #[error("it has {rank} axes, more than the {limit} that are accepted")]
    TooManyAxes {
        /// Axes.
        rank: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// The shape as a whole is impossible, or the raw data has another size.
    #[error("{0}")]
    Shape(#[from] LayoutError),
    /// It is in pieces.
    #[error("it is one segment of a tensor, expected a whole one")]
    Segment,
    /// It says where its elements are more than once.
    #[error("its elements are in both {0} and {1}, expected one of them")]
    Twice(&'static str, &'static str),
    /// Elements in a field that is not for their type.
    #[error("elements of {dtype} are in {field}, expected {expected}")]
    WrongField {
        /// The element type.
        dtype: DType,
        /// Where they are.
        field: &'static str,
        /// Where they should be.
        expected: &'static str,
    },
    /// More or fewer numbers than the shape says.
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
        /// Entries the shape takes.
        expected: usize,
        /// Entries there are.
        available: usize,
    },
    /// A number that the type does not have.
    #[error("{field}[{position}] is {value}, outside [{low}, {high}] of {dtype}")]
    Range {
        /// The field.
        field: &'static str,
        /// Which entry.
        position: usize,
        /// The number.
        value: i128,
        /// The lowest number of the type.
        low: i128,
        /// The highest number of the type.
        high: i128,
        /// The element type.
        dtype: DType,
    },
    /// External data that does not say where.
    #[error("external data: {key} is {value:?}, expected {expected}")]
    ExternalKey {
        /// The key.
        key: &'static str,
        /// Its value, shortened.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// External data of another size.
    #[error(
        "external data: length is {length} but shape {shape:?} of {dtype} takes {}",
        bytes(*expected as u64)
    )]
    ExternalLength {
        /// What it says.
        length: u64,
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// What it should say.
        expected: usize,
    },
    /// Its elements have to be unpacked, and there is no room for that.
    #[error("no room in {} to unpack its elements: {reason}", folder.display())]
    NoRoom {
        /// Where.
        folder: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// External data that cannot be had.
    #[error(transparent)]
    External(#[from] ExternalError),
}

impl From<String> for TensorError {
    fn from(reason: String) -> Self {
        TensorError::NotTensor { reason }
    }
}

/// Of a temporary file, where elements are unpacked.
impl From<io::Error> for TensorError {
    fn from(error: io::Error) -> Self {
        let folder = PathBuf::from("memory");
        TensorError::NoRoom { folder, reason: reason(&error) }
    }
}
