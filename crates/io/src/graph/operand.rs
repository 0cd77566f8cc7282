//! Errors of a node's operands.

use crate::words::bytes;
use retrograde::{DType, Error, LayoutError};
use thiserror::Error as ThisError;

/// Why a node cannot run on its operands.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum OperandError {
    /// An element type that the operator does not accept.
    #[error("{argument} has type {dtype}, expected {allowed}")]
    Type {
        /// The operand.
        argument: &'static str,
        /// Its type.
        dtype: DType,
        /// The accepted types.
        allowed: &'static str,
    },
    /// Numbers that are never computed with or converted.
    #[error("{argument} has type {dtype}, expected {allowed}")]
    Arithmetic {
        /// The operand.
        argument: &'static str,
        /// Its type.
        dtype: DType,
        /// The accepted types.
        allowed: &'static str,
    },
    /// A sequence or an optional value.
    #[error("input {position} is a sequence or an optional value, expected a tensor")]
    NoTensor {
        /// Which input.
        position: usize,
    },
    /// A shape that the operator does not accept.
    #[error("{argument} has shape {shape:?}, expected {expected}")]
    Shape {
        /// The operand.
        argument: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// What was expected.
        expected: &'static str,
    },
    /// A tensor where a list is expected.
    #[error("{argument} has {rank} axes, expected a list")]
    NoList {
        /// The operand.
        argument: &'static str,
        /// The number of its axes.
        rank: usize,
    },
    /// Lists of different lengths.
    #[error("{argument} has {count} entries but {other} has {expected}")]
    Count {
        /// The operand.
        argument: &'static str,
        /// Its entries.
        count: usize,
        /// The operand that it must match.
        other: &'static str,
        /// Entries of that one.
        expected: usize,
    },
    /// An axis or an index out of range.
    #[error("{} is {value}, outside [{low}, {high}]", entry(argument, *position))]
    Outside {
        /// The operand.
        argument: &'static str,
        /// Index of the entry.
        position: usize,
        /// The entry.
        value: i128,
        /// The lowest accepted value.
        low: i128,
        /// The highest accepted value.
        high: i128,
    },
    /// An axis of a tensor without axes, or an index into an empty one.
    #[error("{} is {value}, but {what}", entry(argument, *position))]
    Nothing {
        /// The operand.
        argument: &'static str,
        /// Index of the entry.
        position: usize,
        /// The entry.
        value: i128,
        /// What there is nothing of.
        what: &'static str,
    },
    /// An axis that is given twice.
    #[error("{argument}[{position}] is {value}, the same axis as {argument}[{first}]")]
    Twice {
        /// The operand.
        argument: &'static str,
        /// Index of the entry.
        position: usize,
        /// The entry.
        value: i128,
        /// Index of the other entry.
        first: usize,
    },
    /// A step of zero.
    #[error("{argument}[{position}] is 0, expected a positive or a negative step")]
    ZeroStep {
        /// The operand.
        argument: &'static str,
        /// Index of the entry.
        position: usize,
    },
    /// A number that should be an integer.
    #[error("{argument}[{position}] is {value}, expected a whole number")]
    Fraction {
        /// The operand.
        argument: &'static str,
        /// Index of the entry.
        position: usize,
        /// The entry.
        value: f64,
    },
    /// An axis that cannot be removed.
    #[error("{argument}[{position}] is axis {axis}, which has size {size}, expected 1")]
    NotOne {
        /// The operand.
        argument: &'static str,
        /// Index of the entry.
        position: usize,
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
    },
    /// Tensors that cannot be joined.
    #[error(
        "input {position} has shape {shape:?}, expected {first:?} as input 0, except on axis {axis}"
    )]
    Join {
        /// Which input.
        position: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// The shape of the first input.
        first: Vec<usize>,
        /// The axis along which they are joined.
        axis: usize,
    },
    /// Tensors whose types should be equal.
    #[error("input {position} has type {dtype}, expected {expected} as input {other}")]
    OtherType {
        /// Which input.
        position: usize,
        /// Its type.
        dtype: DType,
        /// The input that it must match.
        other: usize,
        /// The type of that one.
        expected: DType,
    },
    /// A shape that does not match another one.
    #[error("{argument} is {shape:?}, to which shape {input:?} cannot be repeated")]
    Repeat {
        /// The operand.
        argument: &'static str,
        /// Its shape, or the shape that it names.
        shape: Vec<usize>,
        /// The shape of the input.
        input: Vec<usize>,
    },
    /// A shape with another number of elements.
    #[error("shape is {shape:?}, which does not fit shape {input:?} of the input")]
    Reshape {
        /// The shape that is asked for.
        shape: Vec<i128>,
        /// The shape of the input.
        input: Vec<usize>,
    },
    /// More integers than arguments of an operator have.
    #[error("{argument} has {count} entries, more than the {limit} that are accepted")]
    TooMany {
        /// The operand.
        argument: &'static str,
        /// Its entries.
        count: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// A result that is much larger than everything it is made from.
    #[error("the result has {}, more than the {limit} that are accepted", bytes(*len))]
    TooLarge {
        /// Its size in bytes.
        len: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// There is no space for the result.
    #[error("no space for a result of {}", bytes(*len as u64))]
    NoRoom {
        /// Its size in bytes.
        len: usize,
    },
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
