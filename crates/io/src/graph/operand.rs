//! Errors of a node's operands.

use crate::words::bytes;
use retrograde::{DType, Error, LayoutError};
use thiserror::Error as ThisError;

/// Why a node cannot run on its operands.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum OperandError {
    /// An element type that the operator does not accept.
    #[error("{argument} has type {dtype}, expected {allowed}")]
    Type { argument: &'static str, dtype: DType, allowed: &'static str },
    /// Numbers that are never computed with or converted.
    #[error("{argument} has type {dtype}, expected {allowed}")]
    Arithmetic { argument: &'static str, dtype: DType, allowed: &'static str },
    /// A sequence or an optional value.
    #[error("input {position} is a sequence or an optional value, expected a tensor")]
    NoTensor { position: usize },
    /// A shape that the operator does not accept.
    #[error("{argument} has shape {shape:?}, expected {expected}")]
    Shape { argument: &'static str, shape: Vec<usize>, expected: &'static str },
    /// A tensor where a list is expected.
    #[error("{argument} has {rank} axes, expected a list")]
    NoList { argument: &'static str, rank: usize },
    /// Lists of different lengths.
    #[error("{argument} has {count} entries but {other} has {expected}")]
    Count { argument: &'static str, count: usize, other: &'static str, expected: usize },
    /// An axis or an index out of range.
    #[error("{} is {value}, outside [{low}, {high}]", entry(argument, *position))]
    Outside { argument: &'static str, position: usize, value: i128, low: i128, high: i128 },
    /// An axis of a tensor without axes, or an index into an empty one.
    #[error("{} is {value}, but {what}", entry(argument, *position))]
    Nothing { argument: &'static str, position: usize, value: i128, what: &'static str },
    /// An axis that is given twice.
    #[error("{argument}[{position}] is {value}, the same axis as {argument}[{first}]")]
    Twice { argument: &'static str, position: usize, value: i128, first: usize },
    /// A step of zero.
    #[error("{argument}[{position}] is 0, expected a positive or a negative step")]
    ZeroStep { argument: &'static str, position: usize },
    /// A number that should be an integer.
    #[error("{argument}[{position}] is {value}, expected a whole number")]
    Fraction { argument: &'static str, position: usize, value: f64 },
    /// An axis that cannot be removed.
    #[error("{argument}[{position}] is axis {axis}, which has size {size}, expected 1")]
    NotOne { argument: &'static str, position: usize, axis: usize, size: usize },
    /// Tensors that cannot be joined.
    #[error(
        "input {position} has shape {shape:?}, expected {first:?} as input 0, except on axis {axis}"
    )]
    Join { position: usize, shape: Vec<usize>, first: Vec<usize>, axis: usize },
    /// Tensors whose types should be equal.
    #[error("input {position} has type {dtype}, expected {expected} as input {other}")]
    OtherType { position: usize, dtype: DType, other: usize, expected: DType },
    /// A shape that does not match another one.
    #[error("{argument} is {shape:?}, to which shape {input:?} cannot be repeated")]
    Repeat { argument: &'static str, shape: Vec<usize>, input: Vec<usize> },
    /// A shape with another number of elements.
    #[error("shape is {shape:?}, which does not fit shape {input:?} of the input")]
    Reshape { shape: Vec<i128>, input: Vec<usize> },
    /// More integers than arguments of an operator have.
    #[error("{argument} has {count} entries, more than the {limit} that are accepted")]
    TooMany { argument: &'static str, count: usize, limit: usize },
    /// A result that is much larger than everything it is made from.
    #[error("the result has {}, more than the {limit} that are accepted", bytes(*len))]
    TooLarge { len: u64, limit: u64 },
    /// There is no space for the result.
    #[error("no space for a result of {}", bytes(*len as u64))]
    NoRoom { len: usize },
    /// An error of the reversal.
    #[error(transparent)]
    Reversal(#[from] Error),
}

impl From<LayoutError> for OperandError {
    fn from(error: LayoutError) -> Self {
        OperandError::Reversal(error.into())
    }
}

/// An entry of a list. `axis` is one number.
fn entry(argument: &str, position: usize) -> String {
    if argument == "axis" { argument.to_owned() } else { format!("{argument}[{position}]") }
}
