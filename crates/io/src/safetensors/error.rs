//! Errors in `.safetensors` files.

use crate::words::bytes;
use retrograde::{DType, LayoutError};
use thiserror::Error as ThisError;

/// Why a `.safetensors` file was refused. Text of the file is shortened and printable.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum SafetensorsError {
    /// Too short to hold the header's length.
    #[error(
        "not a .safetensors file: it has {}, fewer than the 8 that say how long its header is",
        bytes(*available)
    )]
    NoLength { available: u64 },
    /// The declared header length is longer than any reasonable header.
    #[error(
        "the header says it has {declared} bytes, more than the {limit} that are accepted (is this a .safetensors file?)"
    )]
    HeaderTooLong { declared: u64, limit: u64 },
    /// The file ends inside its header.
    #[error(
        "the file is cut short: its header should have {} but only {available} follow",
        bytes(*declared)
    )]
    HeaderCut { declared: u64, available: u64 },
    /// The header is not the expected JSON.
    #[error("malformed header: {reason}")]
    Json { reason: String },
    /// An unknown element type.
    #[error("tensor {name:?} has dtype {dtype:?}, which is not supported; {}", known())]
    UnknownType { name: String, dtype: String },
    /// The shape is impossible.
    #[error("tensor {name:?}: impossible shape: {source}")]
    Shape { name: String, source: LayoutError },
    /// The offsets of the data do not match the size of the tensor.
    #[error(
        "tensor {name:?}: shape {shape:?} of {dtype} takes {} but its data_offsets are [{start}, {end}]",
        bytes(*expected)
    )]
    Size { name: String, shape: Vec<usize>, dtype: DType, expected: u64, start: u64, end: u64 },
    /// The data is outside the file.
    #[error(
        "tensor {name:?}: its data_offsets are [{start}, {end}] but the file has {} of data: it is cut short, or the header is wrong",
        bytes(*available)
    )]
    Outside { name: String, start: u64, end: u64, available: u64 },
    /// Tensors that overlap or leave gaps, which the format does not allow.
    #[error(
        "tensor {name:?}: its data starts at {start}, expected {expected}: tensors must follow each other without gaps"
    )]
    Gap { name: String, start: u64, expected: u64 },
    /// Data after the last tensor.
    #[error(
        "{} follow{} the last tensor: either the header is wrong or something was appended",
        bytes(*extra),
        if *extra == 1 { "s" } else { "" }
    )]
    Trailing { extra: u64 },
}

fn known() -> String {
    let names = DType::ALL.iter().filter_map(|dtype| dtype.names()?.safetensors);
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}
