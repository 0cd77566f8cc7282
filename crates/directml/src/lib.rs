//! The DirectML interface of ReverseSubsequences: descriptors, feature levels, bindings.
//!
//! Values are those of `directml.h`, so that a caller can pass them through. Every rule that they
//! can violate is one variant of [`DescError`] or [`BindError`].

mod bind;
mod desc;
mod error;
mod level;
mod role;

pub use bind::{BufferBinding, BufferBindingMut, CompiledOperator};
pub use desc::{TensorDesc, minimum_total_size};
pub use error::{BindError, DescError};
pub use level::FeatureLevel;
pub use role::Role;

use retrograde::{DType, Layout, LengthsOperator, ReverseSubsequences};

/// `DML_OPERATOR_REVERSE_SUBSEQUENCES`.
pub const OPERATOR_REVERSE_SUBSEQUENCES: u32 = 106;
/// `DML_TENSOR_TYPE_BUFFER`.
pub const TENSOR_TYPE_BUFFER: u32 = 1;
/// `DML_TENSOR_FLAG_NONE`.
pub const TENSOR_FLAG_NONE: u32 = 0;
/// `DML_TENSOR_FLAG_OWNED_BY_DML`.
pub const TENSOR_FLAG_OWNED_BY_DML: u32 = 1;

/// `DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC`.
///
/// ```
/// use retrograde::DType;
/// use retrograde_directml::*;
///
/// let desc = ReverseSubsequencesDesc {
///     input: TensorDesc::packed(DType::F32, &[1, 1, 3, 4]),
///     sequence_lengths: TensorDesc::packed(DType::U32, &[1, 1, 1, 4]),
///     output: TensorDesc::packed(DType::F32, &[1, 1, 3, 4]),
///     axis: 2,
/// };
/// let operator = desc.compile(FeatureLevel::L2_1)?;
///
/// let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<u8>>();
/// let input = bytes(&[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.]);
/// let lengths: Vec<u8> = [2u32, 3, 1, 0].iter().flat_map(|v| v.to_ne_bytes()).collect();
/// let mut output = vec![0; 48];
/// operator.execute(
///     BufferBinding::whole(&input),
///     BufferBinding::whole(&lengths),
///     BufferBindingMut::whole(&mut output),
/// )?;
/// assert_eq!(output, bytes(&[5., 10., 3., 4., 1., 6., 7., 8., 9., 2., 11., 12.]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseSubsequencesDesc<'a> {
    /// `InputTensor`.
    pub input: TensorDesc<'a>,
    /// `SequenceLengthsTensor`.
    pub sequence_lengths: TensorDesc<'a>,
    /// `OutputTensor`.
    pub output: TensorDesc<'a>,
    /// `Axis`.
    pub axis: u32,
}

impl ReverseSubsequencesDesc<'_> {
    /// Checks every rule of a feature level.
    pub fn validate(&self, level: FeatureLevel) -> Result<(), DescError> {
        self.checked(level).map(|_| ())
    }

    /// Checks every rule of a feature level and makes the plan.
    pub fn compile(&self, level: FeatureLevel) -> Result<CompiledOperator, DescError> {
        let [input, lengths, output] = self.checked(level)?;
        let operator = ReverseSubsequences::along(self.axis.into());
        let plan = operator.plan(&input, &lengths, &output).map_err(DescError::Plan)?;
        Ok(CompiledOperator::new(plan, self))
    }

    /// The layouts of input, lengths and output, in that order.
    fn checked(&self, level: FeatureLevel) -> Result<[Layout; 3], DescError> {
        let input = self.input.checked(Role::Input, level)?;
        let lengths = self.sequence_lengths.checked(Role::SequenceLengths, level)?;
        let output = self.output.checked(Role::Output, level)?;
        self.check_together()?;
        if output.may_overlap_itself() {
            let strides = self.output.strides.unwrap_or_default().to_vec();
            return Err(DescError::OutputOverlapsItself {
                sizes: self.output.sizes.to_vec(),
                strides,
            });
        }
        Ok([input, lengths, output])
    }

    /// The rules that relate the three tensors and the axis.
    fn check_together(&self) -> Result<(), DescError> {
        let rank = self.input.sizes.len();
        let others =
            [(Role::SequenceLengths, &self.sequence_lengths), (Role::Output, &self.output)];
        for (tensor, desc) in others {
            if desc.sizes.len() != rank {
                let (count, input) = (desc.sizes.len(), rank);
                return Err(DescError::DimensionCountMismatch { tensor, count, input });
            }
        }
        let axis = self.axis as usize;
        if axis >= rank {
            return Err(DescError::AxisOutOfRange { axis: self.axis, dimension_count: rank });
        }
        if self.output.data_type != self.input.data_type {
            let (input, output) = (self.input.data_type, self.output.data_type);
            return Err(DescError::OutputDataType { input, output });
        }
        if self.output.sizes != self.input.sizes {
            let (input, output) = (self.input.sizes.to_vec(), self.output.sizes.to_vec());
            return Err(DescError::OutputSizes { input, output });
        }
        let mut expected = self.input.sizes.to_vec();
        expected[axis] = 1;
        if self.sequence_lengths.sizes != expected {
            let got = self.sequence_lengths.sizes.to_vec();
            return Err(DescError::LengthsSizes { got, expected });
        }
        Ok(())
    }
}

/// The name of a data type value in `directml.h`.
fn type_name(value: u32) -> &'static str {
    let row = DType::from_directml(value).and_then(DType::names);
    row.and_then(|row| row.directml).map_or("UNKNOWN", |(_, name)| name)
}
