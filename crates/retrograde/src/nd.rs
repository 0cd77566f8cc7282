//! Operators on `ndarray` views of any dimension.

use crate::dtype::DType;
use crate::element::LengthElement;
use crate::error::{Error, LayoutError};
use crate::layout::Strides;
use crate::lengths::Lengths;
use crate::run::Reversal;
use crate::tensor::{TensorMut, TensorRef};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, RawArrayView, RawArrayViewMut};

/// The methods of [`Reversal`] for `ndarray`.
///
/// ```
/// use ndarray::{array, s};
/// use retrograde::{ArrayReversal, ReverseSequence};
///
/// let x = array![[1, 2, 3, 0], [4, 5, 0, 0]];
/// let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
/// let y = rows.lengths(&[3, 2]).to_array(x.view())?;
/// assert_eq!(y, array![[3, 2, 1, 0], [5, 4, 0, 0]]);
///
/// // Any view will do: here every other column, from right to left.
/// let y = rows.lengths(&[2, 1]).to_array(x.slice(s![.., ..;-2]))?;
/// assert_eq!(y, array![[2, 0], [0, 5]]);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub trait ArrayReversal: Reversal {
    /// From a view to a new array.
    fn to_array<T: Copy, D: Dimension>(
        &self,
        src: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>, Error> {
        let mut out = Array::<T, D>::uninit(src.raw_dim());
        {
            let target = out.raw_view_mut().cast::<T>();
            // SAFETY: the array is ours, and `run_raw` only writes to it.
            unsafe { run_raw(self, src.raw_view(), target)? };
        }
        // SAFETY: `run_raw` succeeded, so it has written every element.
        Ok(unsafe { out.assume_init() })
    }

    /// From a view to another of the same shape.
    fn run_array<T: Copy, D: Dimension>(
        &self,
        src: ArrayView<'_, T, D>,
        mut dst: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error> {
        // SAFETY: both views are borrowed for the call, and of the same element type.
        unsafe { run_raw(self, src.raw_view(), dst.raw_view_mut()) }
    }

    /// On a view, in place. Any element type will do: elements only change places.
    ///
    /// ```
    /// use ndarray::array;
    /// use retrograde::{ArrayReversal, Reverse};
    ///
    /// let mut x = array![["a", "b"], ["c", "d"]].mapv(String::from);
    /// Reverse::axes([0]).run_array_in_place(x.view_mut())?;
    /// assert_eq!(x, array![["c", "d"], ["a", "b"]]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn run_array_in_place<T, D: Dimension>(
        &self,
        mut array: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error> {
        let strides = byte_strides::<T>(array.strides(), array.shape())?;
        let dtype = DType::Bytes(size_of::<T>());
        let (ptr, shape) = (array.as_mut_ptr().cast(), array.shape());
        // SAFETY: the view's own shape and strides over memory it borrows exclusively; swapping
        // whole elements is sound for any `T`.
        let mut tensor = unsafe { TensorMut::from_raw(dtype, ptr, shape, &strides)? };
        self.run_in_place(&mut tensor)
    }
}

impl<R: Reversal + ?Sized> ArrayReversal for R {}

/// # Safety
/// `src` is valid for reads and `dst` for writes; afterwards `dst` holds `T`s of `src`.
unsafe fn run_raw<R: Reversal + ?Sized, T: Copy, D: Dimension>(
    reversal: &R,
    src: RawArrayView<T, D>,
    mut dst: RawArrayViewMut<T, D>,
) -> Result<(), Error> {
    let dtype = DType::Bytes(size_of::<T>());
    let src_strides = byte_strides::<T>(src.strides(), src.shape())?;
    let dst_strides = byte_strides::<T>(dst.strides(), dst.shape())?;
    let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
    // SAFETY: the caller's promise, with the views' own shapes and strides. The output may be
    // uninitialised: whole bytes are never read before they are written.
    unsafe {
        let src = TensorRef::from_raw(dtype, from, src.shape(), &src_strides)?;
        let mut dst = TensorMut::from_raw(dtype, to, dst.shape(), &dst_strides)?;
        reversal.run(&src, &mut dst)
    }
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
