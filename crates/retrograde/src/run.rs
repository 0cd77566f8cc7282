//! Operators on views and slices: prepare, and run once. The one place where operators meet the
//! CPU backend.

use crate::dtype::DType;
use crate::element::AnyBits;
use crate::error::{Error, LayoutError, Operator};
use crate::fresh::vec_with_capacity;
use crate::layout::Layout;
use crate::op::sealed::Sealed;
use crate::op::{LengthsOperator, Reverse, WithLengths};
use crate::prepared::Prepared;
use crate::tensor::{Memory, MemoryMut, TensorMut, TensorRef};
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// An operator that has everything but the tensor: [`Reverse`], or one of the others with its
/// lengths bound.
///
/// Its methods are inherent methods of those types as well, so that only generic code needs the
/// trait.
pub trait Reversal: Sealed {
    /// Which operator this is.
    fn operator(&self) -> Operator;

    /// Checks the operands and plans the call.
    fn prepare(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'_>, Error>;

    /// Runs from one view to another. If both are the same view, in place.
    fn run(&self, src: &TensorRef<'_>, dst: &mut TensorMut<'_>) -> Result<(), Error> {
        self.prepare(src.layout(), dst.layout())?.run(src.memory(), dst.memory())
    }

    /// Runs on a view, in place.
    fn run_in_place(&self, tensor: &mut TensorMut<'_>) -> Result<(), Error> {
        self.prepare(tensor.layout(), tensor.layout())?.run_in_place(tensor.memory())
    }

    /// A view's elements, reversed, as the bytes of a new dense row-major tensor.
    fn to_bytes(&self, src: &TensorRef<'_>) -> Result<Vec<u8>, Error> {
        let operator = self.operator();
        let layout = Layout::dense(src.layout().dtype(), src.layout().shape())
            .map_err(|source| Error::Argument { operator, argument: "output", source })?;
        let len = layout.byte_len();
        // Before allocating: is the call valid?
        let prepared = self.prepare(src.layout(), &layout)?;
        let mut out: Vec<u8> = vec_with_capacity(len);
        prepared.run(src.memory(), &mut out.spare_capacity_mut()[..len])?;
        // SAFETY: `run` succeeded, so it has written every element, and the elements of a
        // dense layout cover all of its `len` bytes (packed ones to the last bit: the plan
        // seals the last byte).
        unsafe { out.set_len(len) };
        Ok(out)
    }

    /// Runs from a dense slice to another of the same shape.
    fn run_slice<T: Copy>(&self, src: &[T], dst: &mut [T], shape: &[usize]) -> Result<(), Error>
    where
        Self: Sized,
    {
        run_dense(self, src, MemoryMut::of(dst), shape)
    }

    /// Runs from a dense slice into uninitialised memory, which is filled completely.
    fn run_slice_uninit<T: Copy>(
        &self,
        src: &[T],
        dst: &mut [MaybeUninit<T>],
        shape: &[usize],
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        run_dense(self, src, MemoryMut::of_uninit(dst), shape)
    }

    /// Runs on a dense slice of elements of any type, in place.
    fn run_slice_in_place<T>(&self, slice: &mut [T], shape: &[usize]) -> Result<(), Error>
    where
        Self: Sized,
    {
        let layout = dense_of::<T>(self.operator(), slice.len(), shape)?;
        // Sound for any `T`: in place, a plan only swaps whole elements, and no code of
        // the caller runs in between.
        for_any_type(self.prepare(&layout, &layout)?)?.run_in_place(MemoryMut::of(slice))
    }

    /// Runs from a dense slice to a new vector.
    fn to_vec<T: Copy>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        // Before allocating: is the shape the slice's?
        dense_of::<T>(self.operator(), src.len(), shape)?;
        let mut out = vec_with_capacity(src.len());
        self.run_slice_uninit(src, &mut out.spare_capacity_mut()[..src.len()], shape)?;
        // SAFETY: `run_slice_uninit` succeeded, so it has written every element of the
        // `src.len()` it was given.
        unsafe { out.set_len(src.len()) };
        Ok(out)
    }

    /// Runs from a dense slice of elements that must be cloned to a new vector.
    fn to_vec_cloned<T: Clone>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        // Before cloning: is the call valid?
        let layout = dense_of::<T>(self.operator(), src.len(), shape)?;
        for_any_type(self.prepare(&layout, &layout)?)?;
        let mut out = src.to_vec();
        self.run_slice_in_place(&mut out, shape)?;
        Ok(out)
    }

    /// Runs from a dense slice to a new vector, or borrows the slice if nothing moves.
    fn to_cow<'x, T: Copy>(&self, src: &'x [T], shape: &[usize]) -> Result<Cow<'x, [T]>, Error>
    where
        Self: Sized,
    {
        let layout = dense_of::<T>(self.operator(), src.len(), shape)?;
        let prepared = self.prepare(&layout, &layout)?;
        // Lengths that steer nothing must still be valid.
        if prepared.plan().keeps_order() && prepared.lengths().is_none() {
            return Ok(Cow::Borrowed(src));
        }
        Ok(Cow::Owned(self.to_vec(src, shape)?))
    }
}

impl Sealed for Reverse {}

impl Reversal for Reverse {
    fn operator(&self) -> Operator {
        Operator::Reverse
    }

    fn prepare(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'_>, Error> {
        Ok(Prepared::from_plan(Operator::Reverse, self.plan(src, dst)?, None))
    }
}

impl<O: LengthsOperator> Sealed for WithLengths<'_, O> {}

impl<O: LengthsOperator> Reversal for WithLengths<'_, O> {
    fn operator(&self) -> Operator {
        O::OPERATOR
    }

    fn prepare(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'_>, Error> {
        self.prepared(src, dst)
    }
}

impl<'a, O: LengthsOperator> WithLengths<'a, O> {
    /// Borrows the lengths, not the operator.
    fn prepared(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'a>, Error> {
        let lengths = self.operator.shaped(&self.lengths, src.shape())?;
        let plan = self.operator.plan(src, lengths.layout(), dst)?;
        Ok(Prepared::from_plan(O::OPERATOR, plan, Some(lengths)))
    }
}

impl Reverse {
    /// Checks the operands and plans the call, to run it often.
    ///
    /// ```
    /// use retrograde::{DType, Layout, Reverse};
    ///
    /// let image = Layout::dense(DType::U8, &[2, 2, 3])?;
    /// let mirror = Reverse::axes([1]).prepare(&image, &image)?;
    /// let mut out = [0u8; 12];
    /// for frame in [b"rgbRGB......", b"......rgbRGB"] {
    ///     mirror.run(frame, &mut out)?;
    /// }
    /// assert_eq!(&out, b"......RGBrgb");
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn prepare(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'static>, Error> {
        Ok(Prepared::from_plan(Operator::Reverse, self.plan(src, dst)?, None))
    }
}

impl<O: LengthsOperator> WithLengths<'_, O> {
    /// Runs from a dense slice of elements of a known type to a new vector. As
    /// [`to_vec`](Self::to_vec), and allowed with [`Tail::Zero`](crate::Tail) too.
    pub fn to_vec_of<T: AnyBits>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error> {
        let argument =
            |source| Error::Argument { operator: O::OPERATOR, argument: "input", source };
        let view = TensorRef::from_slice(src, shape).map_err(argument)?;
        let prepared = self.prepare(view.layout(), view.layout())?;
        let mut out = vec_with_capacity(src.len());
        prepared.run(view.memory(), &mut out.spare_capacity_mut()[..src.len()])?;
        // SAFETY: `run` succeeded, so it has written every element of the dense layout, which has
        // `src.len()` of them.
        unsafe { out.set_len(src.len()) };
        Ok(out)
    }
}

impl<'a, O: LengthsOperator> WithLengths<'a, O> {
    /// Checks the operands and plans the call, to run it often. The lengths are read, and their
    /// values checked, by every run.
    pub fn prepare(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'a>, Error> {
        self.prepared(src, dst)
    }
}

/// The methods that every operator has, once it has its lengths.
macro_rules! everyday_methods {
    (impl [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Runs from one view to another. If both are the same view, in place.
            ///
            /// On success every element of the output has been written; on an error nothing has.
            ///
            /// ```
            /// use retrograde::{DType, Layout, Reverse, TensorMut, TensorRef};
            ///
            /// // Flip a column-major matrix, straight into a row-major one.
            /// let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
            /// let src = Layout::strided(DType::F64, &[2, 3], &[1, 2], 0)?;
            /// let src = TensorRef::new(src, &columns)?;
            /// let mut rows = [0.0; 6];
            /// let mut dst = TensorMut::from_slice(&mut rows, &[2, 3])?;
            /// Reverse::axes([1]).run(&src, &mut dst)?;
            /// assert_eq!(rows, [3.0, 2.0, 1.0,
            ///                   6.0, 5.0, 4.0]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn run(&self, src: &TensorRef<'_>, dst: &mut TensorMut<'_>) -> Result<(), Error> {
                Reversal::run(self, src, dst)
            }

            /// Runs on a view, in place.
            ///
            /// ```
            /// use retrograde::{ReverseSequence, TensorMut};
            ///
            /// let mut x = [1u16, 2, 3, 4, 5, 6];
            /// let mut view = TensorMut::from_slice(&mut x, &[3, 2])?;
            /// ReverseSequence::new().lengths(&[3, 2]).run_in_place(&mut view)?;
            /// assert_eq!(x, [5, 4, 3, 2, 1, 6]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn run_in_place(&self, tensor: &mut TensorMut<'_>) -> Result<(), Error> {
                Reversal::run_in_place(self, tensor)
            }

            /// Runs from a dense slice to another of the same shape.
            ///
            /// ```
            /// use retrograde::Reverse;
            ///
            /// #[derive(Clone, Copy, Default, Debug, PartialEq)]
            /// struct Note { pitch: u8, beats: f32 }
            /// let phrase = [Note { pitch: 60, beats: 1.0 }, Note { pitch: 64, beats: 0.5 }];
            /// let mut backwards = [Note::default(); 2];
            /// Reverse::all().run_slice(&phrase, &mut backwards, &[2])?;
            /// assert_eq!(backwards, [phrase[1], phrase[0]]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn run_slice<T: Copy>(
                &self,
                src: &[T],
                dst: &mut [T],
                shape: &[usize],
            ) -> Result<(), Error> {
                Reversal::run_slice(self, src, dst, shape)
            }

            /// Runs from a dense slice into uninitialised memory, which is filled completely.
            pub fn run_slice_uninit<T: Copy>(
                &self,
                src: &[T],
                dst: &mut [MaybeUninit<T>],
                shape: &[usize],
            ) -> Result<(), Error> {
                Reversal::run_slice_uninit(self, src, dst, shape)
            }

            /// Runs on a dense slice, in place. The elements may be of any type, `String` too:
            /// they are only swapped.
            ///
            /// ```
            /// use retrograde::ReverseSequence;
            ///
            /// let mut words = ["to", "be", "or", "not", "--", "--"].map(String::from);
            /// let batch = ReverseSequence::new().time_axis(1).batch_axis(0);
            /// batch.lengths(&[3, 1]).run_slice_in_place(&mut words, &[2, 3])?;
            /// assert_eq!(words, ["or", "be", "to", "not", "--", "--"]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn run_slice_in_place<T>(
                &self,
                slice: &mut [T],
                shape: &[usize],
            ) -> Result<(), Error> {
                Reversal::run_slice_in_place(self, slice, shape)
            }

            /// Runs from a dense slice to a new vector.
            pub fn to_vec<T: Copy>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error> {
                Reversal::to_vec(self, src, shape)
            }

            /// Runs from a dense slice of elements that must be cloned, such as strings, to a new
            /// vector.
            ///
            /// ```
            /// use retrograde::Reverse;
            ///
            /// let words = ["live", "on", "no", "evil"].map(String::from);
            /// let reversed = Reverse::axes([0]).to_vec_cloned(&words, &[2, 2])?;
            /// assert_eq!(reversed, ["no", "evil", "live", "on"]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn to_vec_cloned<T: Clone>(
                &self,
                src: &[T],
                shape: &[usize],
            ) -> Result<Vec<T>, Error> {
                Reversal::to_vec_cloned(self, src, shape)
            }

            /// Runs from a dense slice to a new vector, or borrows the slice if nothing moves: no
            /// axes to reverse, or only axes of size 1.
            ///
            /// ```
            /// use retrograde::Reverse;
            /// use std::borrow::Cow;
            ///
            /// let x = [1, 2, 3];
            /// assert!(matches!(Reverse::axes([]).to_cow(&x, &[3])?, Cow::Borrowed(_)));
            /// assert!(matches!(Reverse::axes([0]).to_cow(&x, &[3])?, Cow::Owned(_)));
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn to_cow<'x, T: Copy>(
                &self,
                src: &'x [T],
                shape: &[usize],
            ) -> Result<Cow<'x, [T]>, Error> {
                Reversal::to_cow(self, src, shape)
            }

            /// A view's elements, reversed, as the bytes of a new dense row-major tensor.
            ///
            /// ```
            /// use retrograde::{DType, Reverse, TensorRef};
            ///
            /// // Five 4-bit elements, two to a byte, the first one in the low bits.
            /// let packed = [0x21u8, 0x43, 0x05];
            /// let x = TensorRef::dense(DType::U4, &packed, &[5])?;
            /// assert_eq!(Reverse::all().to_bytes(&x)?, [0x45, 0x23, 0x01]);
            /// # Ok::<(), retrograde::Error>(())
            /// ```
            pub fn to_bytes(&self, src: &TensorRef<'_>) -> Result<Vec<u8>, Error> {
                Reversal::to_bytes(self, src)
            }
        }
    };
}

everyday_methods!(impl [] Reverse);
everyday_methods!(impl [O: LengthsOperator] WithLengths<'_, O>);

/// From a dense slice to memory for as many elements of the same type.
fn run_dense<T: Copy>(
    reversal: &impl Reversal,
    src: &[T],
    dst: MemoryMut<'_>,
    shape: &[usize],
) -> Result<(), Error> {
    let operator = reversal.operator();
    let layout = dense_of::<T>(operator, src.len(), shape)?;
    let (expected, available) = (layout.byte_len(), dst.len());
    if available != expected {
        let (shape, dtype) = (shape.to_vec(), layout.dtype());
        let source = LayoutError::SizeMismatch { shape, dtype, expected, available };
        return Err(Error::Argument { operator, argument: "output", source });
    }
    for_any_type(reversal.prepare(&layout, &layout)?)?.run(Memory::of(src), dst)
}

/// Lets a call run on elements of any type, references among them: not if it writes zeros, which
/// may be no value of the type.
pub(crate) fn for_any_type(prepared: Prepared<'_>) -> Result<Prepared<'_>, Error> {
    if prepared.plan().zeroes_tail() {
        return Err(Error::TailOfAnyType { operator: prepared.operator() });
    }
    Ok(prepared)
}

/// The dense layout of a slice of any type, if the shape is the slice's.
fn dense_of<T>(operator: Operator, len: usize, shape: &[usize]) -> Result<Layout, Error> {
    let wrap = |source| Error::Argument { operator, argument: "input", source };
    let layout = Layout::dense(DType::Bytes(size_of::<T>()), shape).map_err(wrap)?;
    if layout.len() != len {
        let (shape, expected, available) = (shape.to_vec(), layout.len(), len);
        return Err(wrap(LayoutError::ElementCount { shape, expected, available }));
    }
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_and_operators_cross_threads() {
        fn crosses<T: Send + Sync>() {}
        crosses::<crate::Plan>();
        crosses::<Prepared<'_>>();
        crosses::<Reverse>();
        crosses::<TensorRef<'_>>();
        crosses::<WithLengths<'_, crate::ReverseSequence>>();
    }
}
