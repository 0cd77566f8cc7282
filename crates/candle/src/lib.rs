//! Reversals for [candle](candle_core) tensors: whole axes, padded batches of sequences, and the
//! other operators of [`retrograde`]. Each is one pass over the tensor, whatever its strides, and
//! has a gradient.
//!
//! ```
//! use candle_core::{D, Device, Tensor};
//!
//! let x = Tensor::new(&[[1u8, 2, 3, 4], [5, 6, 0, 0]], &Device::Cpu)?;
//! let y = retrograde_candle::flip(&x, &[1])?;
//! assert_eq!(y.to_vec2::<u8>()?, [[4, 3, 2, 1], [0, 0, 6, 5]]);
//! let y = retrograde_candle::reverse_sequence(&x, &[4, 2], D::Minus1, 0)?;
//! assert_eq!(y.to_vec2::<u8>()?, [[4, 3, 2, 1], [6, 5, 0, 0]]);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! Tensors on CUDA devices need the feature `cuda`. There are no Metal kernels; candle returns an
//! error for them.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod layout;
mod ops;

use candle_core::shape::Dim;
use candle_core::{Result, Tensor};
use ops::{Axes, HostLengths, TensorLengths};
use retrograde::{LengthsOperator, Reverse, ReverseSequence};

/// Lengths (or offsets) for [`reverse_by`]: a tensor, or integers in host memory.
///
/// A tensor must be on the same device as the input. On a CUDA device its values are checked there,
/// so the call waits for the device. Integers in host memory are checked before anything is
/// launched, and the call does not wait.
#[derive(Debug, Clone)]
pub enum Lengths {
    /// A tensor of u8, u32, i16, i32 or i64 in the shape that the operator expects.
    Tensor(Tensor),
    /// One value per lane, in row-major order.
    Host(Vec<i64>),
}

impl From<&Tensor> for Lengths {
    fn from(tensor: &Tensor) -> Self {
        Lengths::Tensor(tensor.clone())
    }
}

impl From<&[i64]> for Lengths {
    fn from(values: &[i64]) -> Self {
        Lengths::Host(values.to_vec())
    }
}

impl<const N: usize> From<&[i64; N]> for Lengths {
    fn from(values: &[i64; N]) -> Self {
        Lengths::Host(values.to_vec())
    }
}

impl From<&Vec<i64>> for Lengths {
    fn from(values: &Vec<i64>) -> Self {
        Lengths::Host(values.clone())
    }
}

impl From<Vec<i64>> for Lengths {
    fn from(values: Vec<i64>) -> Self {
        Lengths::Host(values)
    }
}

/// Reverses whole dimensions, as [`Tensor::flip`] does, but in one pass.
///
/// A dimension that is named twice is an error. (`Tensor::flip` reverses it twice.)
pub fn flip(x: &Tensor, dims: &[usize]) -> Result<Tensor> {
    // A dimension beyond i64 is beyond the rank too; the operator says so.
    let axes = dims.iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX));
    reverse(x, &Reverse::axes(axes).distinct())
}

/// Reverses the first `lengths[b]` steps of every sequence `b` of a batch, and keeps the padding
/// behind them: ONNX's `ReverseSequence`, on any two dimensions.
///
/// A length that is negative, or larger than the time dimension, is an error.
pub fn reverse_sequence(
    x: &Tensor,
    lengths: impl Into<Lengths>,
    time_dim: impl Dim,
    batch_dim: impl Dim,
) -> Result<Tensor> {
    let time = time_dim.to_index(x.shape(), "reverse_sequence")? as i64;
    let batch = batch_dim.to_index(x.shape(), "reverse_sequence")? as i64;
    reverse_by(x, lengths, &ReverseSequence::new().time_axis(time).batch_axis(batch))
}

/// Reverses the axes that an operator names; they may count from the end, or be a mask.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use retrograde::Reverse;
///
/// let x = Tensor::new(&[[1f32, 2.], [3., 4.]], &Device::Cpu)?;
/// let y = retrograde_candle::reverse(&x, &Reverse::all())?;
/// assert_eq!(y.to_vec2::<f32>()?, [[4., 3.], [2., 1.]]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn reverse(x: &Tensor, operator: &Reverse) -> Result<Tensor> {
    x.apply_op1(Axes(operator.clone()))
}

/// Runs an operator that needs lengths or offsets: [`ReverseSequence`] with all of its options,
/// [`ReverseSubsequences`](retrograde::ReverseSubsequences) or
/// [`ReverseSegments`](retrograde::ReverseSegments).
///
/// ```
/// use candle_core::{Device, Tensor};
/// use retrograde::{Align, ReverseSegments, ReverseSequence};
///
/// // Left-padded sequences.
/// let x = Tensor::new(&[[0u32, 0, 1, 2], [0, 3, 4, 5]], &Device::Cpu)?;
/// let rows = ReverseSequence::new().time_axis(1).batch_axis(0).align(Align::End);
/// let y = retrograde_candle::reverse_by(&x, &[2, 3], &rows)?;
/// assert_eq!(y.to_vec2::<u32>()?, [[0, 0, 2, 1], [0, 5, 4, 3]]);
///
/// // Sequences behind each other, cut by offsets.
/// let x = Tensor::new(&[1u32, 2, 3, 4, 5], &Device::Cpu)?;
/// let y = retrograde_candle::reverse_by(&x, &[0, 2, 5], &ReverseSegments::along(0))?;
/// assert_eq!(y.to_vec1::<u32>()?, [2, 1, 5, 4, 3]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn reverse_by<O>(x: &Tensor, lengths: impl Into<Lengths>, operator: &O) -> Result<Tensor>
where
    O: LengthsOperator + Clone + Send + Sync + 'static,
{
    match lengths.into() {
        Lengths::Tensor(lengths) => x.apply_op2(&lengths, TensorLengths(operator.clone())),
        Lengths::Host(lengths) => x.apply_op1(HostLengths { operator: operator.clone(), lengths }),
    }
}

/// The examples of the page, which use tract too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/hosts.md")]
struct Page;
