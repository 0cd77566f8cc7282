//! Candle's types and layouts in the engine's words.

use candle_core::{DType, Error, Layout, Result};
use std::fmt::Display;

/// An error of the engine, with its text.
pub(crate) fn refused(error: impl Display + Send + Sync + 'static) -> Error {
    Error::wrap(error)
}

/// The engine's name of an element type.
pub(crate) fn dtype(of: DType) -> Result<retrograde::DType> {
    use retrograde::DType as Ours;
    Ok(match of {
        DType::U8 => Ours::U8,
        DType::U32 => Ours::U32,
        DType::I16 => Ours::I16,
        DType::I32 => Ours::I32,
        DType::I64 => Ours::I64,
        DType::BF16 => Ours::BF16,
        DType::F16 => Ours::F16,
        DType::F32 => Ours::F32,
        DType::F64 => Ours::F64,
        DType::F8E4M3 => Ours::F8E4M3FN,
        DType::F8E8M0 => Ours::F8E8M0,
        // Several elements share a byte, and candle does not define in which order.
        other => candle_core::bail!("retrograde: tensors of {} cannot be reversed", other.as_str()),
    })
}

/// Where a tensor's elements are in its storage.
pub(crate) fn strided(of: DType, at: &Layout) -> Result<retrograde::Layout> {
    // A stride beyond isize is beyond any storage; the engine refuses the largest one.
    let strides = at.stride().iter().map(|&stride| isize::try_from(stride).unwrap_or(isize::MAX));
    let strides: Vec<isize> = strides.collect();
    let (of, offset) = (dtype(of)?, at.start_offset());
    retrograde::Layout::strided(of, at.dims(), &strides, offset).map_err(refused)
}

/// A new tensor of the same shape, row-major.
pub(crate) fn dense(of: DType, at: &Layout) -> Result<retrograde::Layout> {
    retrograde::Layout::dense(dtype(of)?, at.dims()).map_err(refused)
}
