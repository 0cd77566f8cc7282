//! Errors in `.safetensors` files.

use crate::words::bytes;
use retrograde::{DType, LayoutError};
use thiserror::Error as ThisError;

/// Why a `.safetensors` file was refused.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// Too short to hold the header's length.
    #[error(
        "not a .safetensors file: it has {}, fewer than the 8 that say how long its header is",
        bytes(*available)
    )]
    NoLength {
        /// Bytes in the file.
        available: u64,
    },
    /// The declared header length is longer than any reasonable header.
    #[error(
        "the header says it has {declared} bytes, more than the {limit} that are accepted (is this a .safetensors file?)"
    )]
    HeaderTooLong {
        /// The declared length in bytes.
        declared: u64,
        /// The longest accepted length.
        limit: u64,
    },
    /// The file ends inside its header.
    #[error(
        "the file is cut short: its header should have {} but only {available} follow",
        bytes(*declared)
    )]
    HeaderCut {
        /// Bytes that the header should have.
        declared: u64,
        /// Bytes that follow.
        available: u64,
    },
    /// The header is not the expected JSON.
    #[error("malformed header: {reason}")]
    Json {
        /// The parser's error.
        reason: String,
    },
    /// An unknown element type.
    #[error("tensor {name:?} has dtype {dtype:?}, which is not supported; {}", known())]
    UnknownType {
        /// The tensor.
        name: String,
        /// Its type, shortened.
        dtype: String,
    },
    /// The shape is impossible.
    #[error("tensor {name:?}: impossible shape: {source}")]
    Shape {
        /// The tensor.
        name: String,
        /// Why.
        source: LayoutError,
    },
    /// The offsets of the data do not match the size of the tensor.
    #[error(
        "tensor {name:?}: shape {shape:?} of {dtype} takes {} but its data_offsets are [{start}, {end}]",
        bytes(*expected)
    )]
    Size {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Its type.
        dtype: DType,
        /// Bytes that the shape needs.
        expected: u64,
        /// The declared start of its data.
        start: u64,
        /// The declared end of its data.
        end: u64,
    },
    /// The data is outside the file.
    #[error(
        "tensor {name:?}: its data_offsets are [{start}, {end}] but the file has {} of data: it is cut short, or the header is wrong",
        bytes(*available)
    )]
    Outside {
        /// The tensor.
        name: String,
        /// The declared start of its data.
        start: u64,
        /// The declared end of its data.
        end: u64,
        /// Bytes of data in the file.
        available: u64,
    },
    /// Tensors that overlap or leave gaps, which the format does not allow.
    #[error(
        "tensor {name:?}: its data starts at {start}, expected {expected}: tensors must follow each other without gaps"
    )]
    Gap {
        /// The tensor.
        name: String,
        /// Where its data starts.
        start: u64,
        /// Where the tensor before it ends.
        expected: u64,
    },
    /// Data after the last tensor.
    #[error(
        "{} follow{} the last tensor: either the header is wrong or something was appended",
        bytes(*extra),
        if *extra == 1 { "s" } else { "" }
    )]
    Trailing {
        /// How many bytes.
        extra: u64,
    },
}

fn known() -> String {
    let names = DType::ALL.iter().filter_map(|dtype| dtype.names()?.safetensors);
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}
