//! An array in memory together with how its file spells it.

use super::descr::{Descr, Kind};
use super::error::NpyError;
use retrograde::{Layout, LayoutError, Strides, TensorMut, TensorRef};

/// The content of a `.npy` file.
///
/// The data always has exactly the bytes that shape and type take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyArray {
    descr: Descr,
    fortran_order: bool,
    layout: Layout,
    data: Vec<u8>,
}

impl NpyArray {
    /// An array of these bytes. In Fortran order the first axis is the one without gaps.
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

    /// An array of the same shape, type and order, all zeros.
    pub fn zeros_like(&self) -> NpyArray {
        let data = vec![0; self.data.len()];
        NpyArray { data, descr: self.descr.clone(), layout: self.layout.clone(), ..*self }
    }

    /// The element type as the file spells it.
    pub fn descr(&self) -> &Descr {
        &self.descr
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Whether the elements lie in column-major order.
    pub fn fortran_order(&self) -> bool {
        self.fortran_order
    }

    /// The elements, byte for byte.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The elements, to be changed.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    /// Where the elements lie in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The array as retrograde reads it.
    pub fn view(&self) -> Result<TensorRef<'_>, LayoutError> {
        TensorRef::new(self.layout.clone(), self.data.as_slice())
    }

    /// The array as retrograde writes it.
    pub fn view_mut(&mut self) -> Result<TensorMut<'_>, LayoutError> {
        TensorMut::new(self.layout.clone(), self.data.as_mut_slice())
    }

    /// The bytes of one element; `None` if there is no such index.
    pub fn element(&self, index: &[usize]) -> Option<&[u8]> {
        let (shape, strides) = (self.shape(), self.layout.grain_strides());
        if index.len() != shape.len() || index.iter().zip(shape).any(|(at, size)| at >= size) {
            return None;
        }
        // Inside the layout, so nothing overflows; strides of a file are never negative.
        let start: usize = index.iter().zip(strides).map(|(at, step)| at * *step as usize).sum();
        self.data.get(start..start + width(&self.descr))
    }

    /// One element as a number, if the elements are integers.
    pub fn integer(&self, index: &[usize]) -> Option<i128> {
        if !self.descr.dtype().is_integer() {
            return None;
        }
        let mut bytes = self.element(index)?.to_vec();
        if !self.descr.is_big_endian() {
            bytes.reverse();
        }
        let signed = self.descr.kind() == Kind::Int;
        let negative = signed && bytes.first().is_some_and(|first| *first >= 0x80);
        let fill = if negative { -1 } else { 0 };
        Some(bytes.iter().fold(fill, |number, byte| number << 8 | i128::from(*byte)))
    }

    /// The same integers in the byte order of this machine, so that they can be read as
    /// numbers: lengths are. Everything but integers is refused.
    pub fn to_native_integers(&self) -> Result<NpyArray, NpyError> {
        if !self.descr.dtype().is_integer() {
            return Err(NpyError::NotIntegers { descr: self.descr.to_string() });
        }
        let mut native = self.clone();
        native.descr = self.descr.to_native();
        if native.descr != self.descr {
            native.data.chunks_exact_mut(width(&self.descr)).for_each(<[u8]>::reverse);
        }
        Ok(native)
    }
}

/// Bytes of one element.
fn width(descr: &Descr) -> usize {
    // None of a file's types is packed, or wider than an address can count.
    descr.dtype().bits().unwrap_or(0) / 8
}

/// Where the elements of a file's data lie.
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
    let mut strides = Strides::with_capacity(shape.len());
    let mut step = isize::try_from(width(descr)).map_err(|_| too_large())?;
    for &size in shape {
        strides.push(step);
        // Saturates only if some axis is empty: otherwise `dense` has found the product to fit.
        step = step.saturating_mul(isize::try_from(size).unwrap_or(isize::MAX));
    }
    Ok(Layout::byte_strided(dtype, shape, &strides, 0)?)
}
