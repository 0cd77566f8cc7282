//! The rules of the DirectML interface, with one variant for each that can be violated.

use crate::level::FeatureLevel;
use crate::role::Role;
use crate::type_name;
use retrograde::{DType, Error, ExecuteError};
use std::fmt;
use thiserror::Error as ThisError;

/// A number with its noun, in the singular or plural.
struct Count<N>(N, &'static str, &'static str);

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count(number, one, several) = self;
        write!(f, "{number} {}", if *number == N::from(1) { one } else { several })
    }
}

fn bytes(number: u64) -> Count<u64> {
    Count(number, "byte", "bytes")
}

/// A descriptor that violates a rule of DirectML.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum DescError {
    /// The tensor is not a buffer tensor.
    #[error(
        "ReverseSubsequences: {tensor}.Type is {tensor_type}, expected 1 (DML_TENSOR_TYPE_BUFFER)"
    )]
    NotABuffer { tensor: Role, tensor_type: u32 },
    /// Unknown flags.
    #[error(
        "ReverseSubsequences: {tensor}.Flags is {flags:#x}, expected 0 (NONE) or 1 (OWNED_BY_DML)"
    )]
    UnknownFlags { tensor: Role, flags: u32 },
    /// Only inputs can be owned by DML.
    #[error("ReverseSubsequences: OutputTensor.Flags is OWNED_BY_DML, which only inputs may have")]
    OutputOwnedByDml,
    /// The feature level does not allow this data type for this tensor.
    #[error(
        "ReverseSubsequences: {tensor}.DataType is {data_type} ({}), feature level {level} allows {}",
        type_name(*data_type),
        TypeList(level.data_types(*tensor))
    )]
    DataType { tensor: Role, level: FeatureLevel, data_type: u32 },
    /// The feature level does not allow this dimension count.
    #[error(
        "ReverseSubsequences: {tensor}.DimensionCount is {count}, feature level {level} allows {} to {}",
        level.dimension_counts().start(),
        level.dimension_counts().end()
    )]
    DimensionCount { tensor: Role, level: FeatureLevel, count: usize },
    /// The number of strides differs from the number of dimensions.
    #[error(
        "ReverseSubsequences: {tensor} has {} for {}",
        Count(*strides, "stride", "strides"),
        Count(*count, "dimension", "dimensions")
    )]
    StrideCount { tensor: Role, strides: usize, count: usize },
    /// DirectML has no empty tensors.
    #[error("ReverseSubsequences: {tensor}.Sizes[{dimension}] is 0, expected at least 1")]
    ZeroSize { tensor: Role, dimension: usize },
    /// More elements than DirectML addresses.
    #[error("ReverseSubsequences: {tensor}.Sizes {sizes:?} have more than {} elements", u32::MAX)]
    TooManyElements { tensor: Role, sizes: Vec<u32> },
    /// An alignment that is not a power of two, or is less than an element.
    #[error(
        "ReverseSubsequences: {tensor}.GuaranteedBaseOffsetAlignment is {alignment}, expected 0 or a power of two of at least {element_size}"
    )]
    Alignment { tensor: Role, alignment: u32, element_size: usize },
    /// Sizes times strides do not fit in 64 bits.
    #[error("ReverseSubsequences: {tensor}: sizes and strides reach past what an address can hold")]
    SizeOverflow { tensor: Role },
    /// The buffer would end before the last element.
    #[error(
        "ReverseSubsequences: {tensor}.TotalTensorSizeInBytes is {total}, sizes and strides need at least {minimum}"
    )]
    TotalSizeTooSmall { tensor: Role, total: u64, minimum: u64 },
    /// The tensors have different ranks.
    #[error(
        "ReverseSubsequences: {tensor}.DimensionCount is {count}, expected that of InputTensor, {input}"
    )]
    DimensionCountMismatch { tensor: Role, count: usize, input: usize },
    /// An axis that the input does not have.
    #[error(
        "ReverseSubsequences: Axis is {axis}, expected less than DimensionCount {dimension_count}"
    )]
    AxisOutOfRange { axis: u32, dimension_count: usize },
    /// Input and output have different data types.
    #[error(
        "ReverseSubsequences: OutputTensor.DataType is {} but InputTensor.DataType is {}",
        type_name(*output),
        type_name(*input)
    )]
    OutputDataType { input: u32, output: u32 },
    /// Input and output have different sizes.
    #[error(
        "ReverseSubsequences: OutputTensor.Sizes are {output:?}, expected the input's {input:?}"
    )]
    OutputSizes { input: Vec<u32>, output: Vec<u32> },
    /// The lengths' sizes are not the input's with 1 at the axis.
    #[error("ReverseSubsequences: SequenceLengthsTensor.Sizes are {got:?}, expected {expected:?}")]
    LengthsSizes { got: Vec<u32>, expected: Vec<u32> },
    /// Two output elements share memory.
    #[error(
        "ReverseSubsequences: OutputTensor with sizes {sizes:?} and strides {strides:?} places two elements on the same memory"
    )]
    OutputOverlapsItself { sizes: Vec<u32>, strides: Vec<u32> },
    /// The operator refused the operands.
    #[error(transparent)]
    Plan(Error),
}

/// Data types by their `directml.h` names.
struct TypeList(&'static [DType]);

impl fmt::Display for TypeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().filter_map(|dtype| dtype.names()?.directml);
        for (position, (_, name)) in names.enumerate() {
            write!(f, "{}{name}", if position > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// Buffers that do not fit the descriptors. Nothing has been written.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum BindError {
    /// The bound range leaves its buffer.
    #[error(
        "ReverseSubsequences: {tensor} is bound to {} at offset {offset} of a buffer of {}",
        bytes(*size),
        bytes(*buffer as u64)
    )]
    OutsideBuffer { tensor: Role, offset: u64, size: u64, buffer: usize },
    /// The bound range is smaller than the tensor.
    #[error(
        "ReverseSubsequences: {tensor} is bound to {}, its TotalTensorSizeInBytes is {total}",
        bytes(*size)
    )]
    TooSmall { tensor: Role, size: u64, total: u64 },
    /// The offset violates the guaranteed alignment.
    #[error(
        "ReverseSubsequences: {tensor} is bound at offset {offset}, its GuaranteedBaseOffsetAlignment is {alignment}"
    )]
    Misaligned { tensor: Role, offset: u64, alignment: u32 },
    /// The plan could not run on these buffers.
    #[error("ReverseSubsequences: {0}")]
    Execute(#[from] ExecuteError),
}
