//! Views of `ndarray` arrays of any dimension.

use crate::dtype::DType;
use crate::element::LengthElement;
use crate::error::{Error, LayoutError};
use crate::layout::Strides;
use crate::lengths::Lengths;
use crate::tensor::{TensorMut, TensorRef};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};
use std::mem::MaybeUninit;

/// An `ndarray` view as elements of its width.
pub(crate) fn view_of<'v, T, D: Dimension>(
    view: &'v ArrayView<'_, T, D>,
) -> Result<TensorRef<'v>, Error> {
    let strides = byte_strides::<T>(view.strides(), view.shape())?;
    let (dtype, ptr) = (DType::Bytes(size_of::<T>()), view.as_ptr().cast());
    // SAFETY: the view's own shape and strides, over memory that it borrows.
    Ok(unsafe { TensorRef::from_raw(dtype, ptr, view.shape(), &strides)? })
}

/// The same of one that is written.
pub(crate) fn view_mut_of<'v, T, D: Dimension>(
    view: &'v mut ArrayViewMut<'_, T, D>,
) -> Result<TensorMut<'v>, Error> {
    let strides = byte_strides::<T>(view.strides(), view.shape())?;
    let (dtype, ptr) = (DType::Bytes(size_of::<T>()), view.as_mut_ptr().cast());
    // SAFETY: the view's own shape and strides, over initialised memory that it borrows
    // exclusively.
    Ok(unsafe { TensorMut::from_raw(dtype, ptr, view.shape(), &strides)? })
}

/// The same of a new array.
pub(crate) fn view_of_uninit<T, D: Dimension>(
    array: &mut Array<MaybeUninit<T>, D>,
) -> Result<TensorMut<'_>, Error> {
    let strides = byte_strides::<T>(array.strides(), array.shape())?;
    let (dtype, ptr) = (DType::Bytes(size_of::<T>()), array.as_mut_ptr().cast());
    // SAFETY: the array's own shape and strides, over memory that it owns.
    Ok(unsafe { TensorMut::from_raw_uninit(dtype, ptr, array.shape(), &strides)? })
}

/// `ndarray` counts strides in elements.
fn byte_strides<T>(strides: &[isize], shape: &[usize]) -> Result<Strides, LayoutError> {
    let width = size_of::<T>() as isize;
    let scaled = strides.iter().zip(shape).enumerate().map(|(axis, (&stride, &size))| {
        stride.checked_mul(width).ok_or(LayoutError::StrideOverflow { axis, size, stride })
    });
    scaled.collect()
}

/// Lengths from a view of the shape the operator asks for.
impl<'a, L: LengthElement, D: Dimension> TryFrom<ArrayView<'a, L, D>> for Lengths<'a> {
    type Error = Error;

    fn try_from(view: ArrayView<'a, L, D>) -> Result<Self, Error> {
        let strides = byte_strides::<L>(view.strides(), view.shape())?;
        // SAFETY: the view's own shape and strides over memory borrowed for `'a`.
        let tensor =
            unsafe { TensorRef::from_raw(L::DTYPE, view.as_ptr().cast(), view.shape(), &strides)? };
        Ok(Lengths::from(tensor))
    }
}
