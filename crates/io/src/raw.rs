//! Raw bytes: elements and nothing else, of a type and a shape that somebody says.

use crate::words::bytes;
use retrograde::{DType, Layout, LayoutError};
use thiserror::Error as ThisError;

/// What is wrong with raw bytes.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum RawError {
    /// Nobody said what they are.
    #[error(
        "raw bytes: say what they are, by a type (such as f32) and a shape (such as 480,640,3)"
    )]
    NoType,
    /// The shape is impossible.
    #[error("impossible shape: {0}")]
    Shape(#[from] LayoutError),
    /// Not the number of bytes that the shape takes.
    #[error(
        "shape {shape:?} of {dtype} takes {} but the file has {}",
        bytes(*expected),
        available.map_or("more".to_owned(), |bytes| bytes.to_string())
    )]
    Size {
        /// The shape.
        shape: Vec<usize>,
        /// The type.
        dtype: DType,
        /// Bytes that takes.
        expected: u64,
        /// Bytes there are; `None` if a pipe or a device has more, and may go on for ever.
        available: Option<u64>,
    },
    /// Not a whole number of elements.
    #[error("the file has {}, which is no whole number of {dtype} elements", bytes(*available))]
    Rest {
        /// The type.
        dtype: DType,
        /// Bytes there are.
        available: u64,
    },
}

/// What raw bytes are, if both type and shape were said.
pub(crate) fn said(
    dtype: Option<DType>,
    shape: Option<&[usize]>,
) -> Result<Option<Layout>, RawError> {
    let Some(dtype) = dtype else { return Err(RawError::NoType) };
    shape.map(|shape| Ok(Layout::dense(dtype, shape)?)).transpose()
}

/// What so many raw bytes are: the shape that was said, or one axis of all there is.
pub(crate) fn layout(
    dtype: Option<DType>,
    shape: Option<&[usize]>,
    available: u64,
    goes_on: bool,
) -> Result<Layout, RawError> {
    let said = said(dtype, shape)?;
    let Some(dtype) = dtype else { return Err(RawError::NoType) };
    if let Some(layout) = said {
        let expected = layout.byte_len() as u64;
        let (shape, available) = (layout.shape().to_vec(), (!goes_on).then_some(available));
        return match available == Some(expected) {
            true => Ok(layout),
            false => Err(RawError::Size { shape, dtype, expected, available }),
        };
    }
    let bits = dtype.bits().filter(|&bits| bits > 0).unwrap_or(8) as u128;
    let count = u128::from(available) * 8 / bits;
    let layout = Layout::dense(dtype, &[usize::try_from(count).unwrap_or(usize::MAX)])?;
    match layout.byte_len() as u64 == available {
        true => Ok(layout),
        false => Err(RawError::Rest { dtype, available }),
    }
}
