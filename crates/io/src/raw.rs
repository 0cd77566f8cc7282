//! Raw bytes: elements without a header; type and shape come from the caller.

use crate::words::bytes;
use retrograde::{DType, Layout, LayoutError};
use thiserror::Error as ThisError;

/// Why raw bytes were refused.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum RawError {
    /// Neither type nor shape was given.
    #[error("raw bytes have no header: give a type (such as f32) and a shape (such as 480,640,3)")]
    NoType,
    /// The shape is impossible.
    #[error("impossible shape: {0}")]
    Shape(#[from] LayoutError),
    /// The size does not match the shape.
    #[error(
        "shape {shape:?} of {dtype} takes {} but the file has {}",
        bytes(*expected),
        available.map_or("more".to_owned(), |bytes| bytes.to_string())
    )]
    Size {
        shape: Vec<usize>,
        dtype: DType,
        expected: u64,
        /// Bytes in the file; `None` if a pipe or a device has more, and may never end.
        available: Option<u64>,
    },
    /// Not a whole number of elements.
    #[error("the file has {}, not a whole number of {dtype} elements", bytes(*available))]
    Rest { dtype: DType, available: u64 },
}

/// The layout, if both type and shape were given.
pub(crate) fn said(
    dtype: Option<DType>,
    shape: Option<&[usize]>,
) -> Result<Option<Layout>, RawError> {
    let Some(dtype) = dtype else { return Err(RawError::NoType) };
    shape.map(|shape| Ok(Layout::dense(dtype, shape)?)).transpose()
}

/// The layout of `available` raw bytes: the given shape, or a single axis.
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
