//! An array in memory, together with its element type as its file spells it.

use super::descr::Descr;
use super::error::NpyError;
use retrograde::{Layout, LayoutError, TensorMut, TensorRef};

/// The content of a `.npy` file.
///
/// Invariant: the data has exactly the size that shape and type imply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyArray {
    descr: Descr,
    fortran_order: bool,
    layout: Layout,
    data: Vec<u8>,
}

impl NpyArray {
    /// An array of these bytes. In Fortran order the first axis is the contiguous one.
    pub fn new(
        descr: &str,
        shape: &[usize],
        fortran_order: bool,
        data: Vec<u8>,
    ) -> Result<Self, NpyError> {
        let descr: Descr = descr.parse()?;
        let layout = layout_of(&descr, shape, fortran_order)?;
        let (expected, available) = (layout.byte_len(), data.len());
        if expected != available {
            let (shape, dtype) = (shape.to_vec(), descr.dtype());
            return Err(LayoutError::SizeMismatch { shape, dtype, expected, available }.into());
        }
        Ok(NpyArray { descr, fortran_order, layout, data })
    }

    /// The element type as the file spells it.
    pub fn descr(&self) -> &Descr {
        &self.descr
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Whether the elements are in column-major order.
    pub fn fortran_order(&self) -> bool {
        self.fortran_order
    }

    /// The elements as bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The elements as bytes, for writing.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    /// The layout of the elements in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The array as a read-only view.
    pub fn view(&self) -> Result<TensorRef<'_>, LayoutError> {
        TensorRef::new(self.layout.clone(), self.data.as_slice())
    }

    /// The array as a mutable view.
    pub fn view_mut(&mut self) -> Result<TensorMut<'_>, LayoutError> {
        TensorMut::new(self.layout.clone(), self.data.as_mut_slice())
    }

    /// The bytes of one element; `None` if the index is out of bounds.
    pub fn element(&self, index: &[usize]) -> Option<&[u8]> {
        let (shape, strides) = (self.shape(), self.layout.grain_strides());
        if index.len() != shape.len() || index.iter().zip(shape).any(|(at, size)| at >= size) {
            return None;
        }
        // In bounds, so nothing overflows; strides of a file are never negative.
        let start: usize = index.iter().zip(strides).map(|(at, step)| at * *step as usize).sum();
        self.data.get(start..start + width(&self.descr))
    }
}

/// Bytes of one element.
fn width(descr: &Descr) -> usize {
    // No type of a file is packed, or wider than `usize` can count.
    descr.dtype().bits().unwrap_or(0) / 8
}

/// The layout of a file's elements.
pub(super) fn layout_of(
    descr: &Descr,
    shape: &[usize],
    fortran_order: bool,
) -> Result<Layout, NpyError> {
    let dtype = descr.dtype();
    let too_large = || LayoutError::TooLarge { shape: shape.to_vec(), dtype };
    if dtype.bits().is_none() {
        return Err(too_large().into());
    }
    let rows = Layout::dense(dtype, shape)?;
    if !fortran_order {
        return Ok(rows);
    }
    let mut strides = Vec::with_capacity(shape.len());
    let mut step = isize::try_from(width(descr)).map_err(|_| too_large())?;
    for &size in shape {
        strides.push(step);
        // Saturates only if some axis is empty: otherwise `dense` has checked that the product
        // fits.
        step = step.saturating_mul(isize::try_from(size).unwrap_or(isize::MAX));
    }
    Ok(Layout::byte_strided(dtype, shape, &strides, 0)?)
}
