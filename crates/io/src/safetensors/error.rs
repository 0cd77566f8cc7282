//! What can be wrong with a `.safetensors` file.

use crate::words::bytes;
use retrograde::{DType, LayoutError};
use thiserror::Error as ThisError;

/// What is wrong with a `.safetensors` file.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// Too short to say how long its header is.
    #[error(
        "not a .safetensors file: it has {}, fewer than the 8 that say how long its header is",
        bytes(*available)
    )]
    NoLength {
        /// Bytes there are.
        available: u64,
    },
    /// The header says it is longer than any sensible header.
    #[error(
        "the header says it has {declared} bytes, more than the {limit} that are accepted (is this a .safetensors file?)"
    )]
    HeaderTooLong {
        /// Bytes the header should have.
        declared: u64,
        /// The most that is accepted.
        limit: u64,
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
    /// The header is not the JSON it should be.
    #[error("malformed header: {reason}")]
    Json {
        /// What the parser says.
        reason: String,
    },
    /// An element type that is not known.
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
    /// The tensor's place is not the size of the tensor.
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
        /// Bytes that takes.
        expected: u64,
        /// Where it says its data starts.
        start: u64,
        /// Where it says its data ends.
        end: u64,
    },
    /// The tensor's place is outside the file.
    #[error(
        "tensor {name:?}: its data_offsets are [{start}, {end}] but the file has {} of data: it is cut short, or the header is wrong",
        bytes(*available)
    )]
    Outside {
        /// The tensor.
        name: String,
        /// Where it says its data starts.
        start: u64,
        /// Where it says its data ends.
        end: u64,
        /// Bytes of data there are.
        available: u64,
    },
    /// Two tensors, or a tensor and a gap, where the format wants one after the other.
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
    /// Data behind the last tensor.
    #[error(
        "{} follow{} the last tensor: either the header is wrong or something was appended",
        bytes(*extra),
        if *extra == 1 { "s" } else { "" }
    )]
    Trailing {
        /// How many.
        extra: u64,
    },
}

fn known() -> String {
    let names = DType::ALL.iter().filter_map(|dtype| dtype.names()?.safetensors);
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}
