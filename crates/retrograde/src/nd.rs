//! Operators on `ndarray` views of any dimension.

use crate::dtype::DType;
use crate::element::LengthElement;
use crate::error::{Error, LayoutError};
use crate::layout::Strides;
use crate::lengths::Lengths;
use crate::op::{LengthsOperator, Reverse, WithLengths};
use crate::run::{Reversal, for_any_type};
use crate::tensor::{TensorMut, TensorRef};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};

/// The methods that every operator has for `ndarray`, once it has its lengths.
macro_rules! array_methods {
    (impl [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Runs from an `ndarray` view to a new array.
            ///
            /// ```
            /// use ndarray::{array, s};
            /// use retrograde::ReverseSequence;
            ///
            /// let x = array![[1, 2, 3, 0], [4, 5, 0, 0]];
            /// let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
            /// let y = rows.lengths(&[3, 2]).to_array(x.view())?;
            /// assert_eq!(y, array![[3, 2, 1, 0], [5, 4, 0, 0]]);
            ///
            /// // The view may have any strides: here every other column, from right to left.
            /// let y = rows.lengths(&[2, 1]).to_array(x.slice(s![.., ..;-2]))?;
            /// assert_eq!(y, array![[2, 0], [0, 5]]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn to_array<T: Copy, D: Dimension>(
                &self,
                src: ArrayView<'_, T, D>,
            ) -> Result<Array<T, D>, Error> {
                let mut out = Array::<T, D>::uninit(src.raw_dim());
                let strides = byte_strides::<T>(out.strides(), out.shape())?;
                let (dtype, ptr) = (DType::Bytes(size_of::<T>()), out.as_mut_ptr().cast());
                let shape = src.shape();
                // SAFETY: the array's own shape and strides, over memory that this call owns and
                // that is uninitialised.
                let target = unsafe { TensorMut::from_raw_uninit(dtype, ptr, shape, &strides) };
                run_any(self, &view_of(&src)?, &mut target?)?;
                // SAFETY: `run` succeeded, so it has written every element.
                Ok(unsafe { out.assume_init() })
            }

            /// Runs from an `ndarray` view to another of the same shape.
            pub fn run_array<T: Copy, D: Dimension>(
                &self,
                src: ArrayView<'_, T, D>,
                mut dst: ArrayViewMut<'_, T, D>,
            ) -> Result<(), Error> {
                run_any(self, &view_of(&src)?, &mut view_mut_of(&mut dst)?)
            }

            /// Runs on an `ndarray` view, in place. The elements may be of any type: they are only
            /// swapped.
            ///
            /// ```
            /// use ndarray::array;
            /// use retrograde::Reverse;
            ///
            /// let mut x = array![["a", "b"], ["c", "d"]].mapv(String::from);
            /// Reverse::axes([0]).run_array_in_place(x.view_mut())?;
            /// assert_eq!(x, array![["c", "d"], ["a", "b"]]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn run_array_in_place<T, D: Dimension>(
                &self,
                mut array: ArrayViewMut<'_, T, D>,
            ) -> Result<(), Error> {
                // In place, whole elements are swapped, which is sound for any `T`.
                let mut view = view_mut_of(&mut array)?;
                let prepared = Reversal::prepare(self, view.layout(), view.layout())?;
                for_any_type(prepared)?.run_in_place(view.memory())
            }
        }
    };
}

array_methods!(impl [] Reverse);
array_methods!(impl [O: LengthsOperator] WithLengths<'_, O>);

/// Runs between views of elements of any type.
fn run_any(
    reversal: &impl Reversal,
    src: &TensorRef<'_>,
    dst: &mut TensorMut<'_>,
) -> Result<(), Error> {
    let prepared = reversal.prepare(src.layout(), dst.layout())?;
    for_any_type(prepared)?.run(src.memory(), dst.memory())
}

fn view_of<'v, T, D: Dimension>(view: &'v ArrayView<'_, T, D>) -> Result<TensorRef<'v>, Error> {
    let strides = byte_strides::<T>(view.strides(), view.shape())?;
    let (dtype, ptr) = (DType::Bytes(size_of::<T>()), view.as_ptr().cast());
    // SAFETY: the view's own shape and strides, over memory that it borrows.
    Ok(unsafe { TensorRef::from_raw(dtype, ptr, view.shape(), &strides)? })
}

fn view_mut_of<'v, T, D: Dimension>(
    view: &'v mut ArrayViewMut<'_, T, D>,
) -> Result<TensorMut<'v>, Error> {
    let strides = byte_strides::<T>(view.strides(), view.shape())?;
    let (dtype, ptr) = (DType::Bytes(size_of::<T>()), view.as_mut_ptr().cast());
    // SAFETY: the view's own shape and strides, over initialised memory that it borrows
    // exclusively.
    Ok(unsafe { TensorMut::from_raw(dtype, ptr, view.shape(), &strides)? })
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
