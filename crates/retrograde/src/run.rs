//! The one place where operators meet the CPU backend: run them on views and slices.

use crate::cpu;
use crate::dtype::DType;
use crate::error::{Error, ExecuteError, LayoutError, Operator};
use crate::fresh::vec_with_room;
use crate::layout::{Layout, Shape};
use crate::op::sealed::Sealed;
use crate::op::{LengthsOperator, Reverse, WithLengths};
use crate::plan::Plan;
use crate::tensor::{Memory, MemoryMut, TensorMut, TensorRef};
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// An operator that has all it needs but the tensor: [`Reverse`], or one of the others with
/// its lengths bound.
///
/// On success every element of the output has been written. On an error nothing has.
/// `&dyn Reversal` works for whatever is not generic over the element type.
pub trait Reversal: Sealed {
    /// Which operator this is.
    fn operator(&self) -> Operator;

    /// Checks the operands and lowers them to a plan; the lengths with it, if there are any.
    fn bind(&self, src: &Layout, dst: &Layout) -> Result<(Plan, Option<TensorRef<'_>>), Error>;

    /// From one view to another. If both are the very same view, in place.
    ///
    /// ```
    /// use retrograde::{DType, Layout, Reversal, Reverse, TensorMut, TensorRef};
    ///
    /// // Turn a column-major matrix over, straight into a row-major one.
    /// let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    /// let src = TensorRef::new(Layout::strided(DType::F64, &[2, 3], &[1, 2], 0)?, &columns[..])?;
    /// let mut rows = [0.0; 6];
    /// let mut dst = TensorMut::from_slice(&mut rows, &[2, 3])?;
    /// Reverse::axes([1]).run(&src, &mut dst)?;
    /// assert_eq!(rows, [3.0, 2.0, 1.0,
    ///                   6.0, 5.0, 4.0]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn run(&self, src: &TensorRef<'_>, dst: &mut TensorMut<'_>) -> Result<(), Error> {
        let (plan, lengths) = self.bind(src.layout(), dst.layout())?;
        cpu::execute(&plan, src.memory(), memory_of(&lengths), dst.memory())
            .map_err(|source| self.explain(source, &lengths))
    }

    /// On a view, in place.
    ///
    /// ```
    /// use retrograde::{Reversal, ReverseSequence, TensorMut};
    ///
    /// let mut x = [1u16, 2, 3, 4, 5, 6];
    /// let mut view = TensorMut::from_slice(&mut x, &[3, 2])?;
    /// ReverseSequence::new().lengths(&[3, 2]).run_in_place(&mut view)?;
    /// assert_eq!(x, [5, 4, 3, 2, 1, 6]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn run_in_place(&self, tensor: &mut TensorMut<'_>) -> Result<(), Error> {
        let (plan, lengths) = self.bind(tensor.layout(), tensor.layout())?;
        cpu::execute_in_place(&plan, memory_of(&lengths), tensor.memory())
            .map_err(|source| self.explain(source, &lengths))
    }

    /// From a dense slice to another of the same shape.
    ///
    /// ```
    /// use retrograde::{Reversal, Reverse};
    ///
    /// #[derive(Clone, Copy, Default, Debug, PartialEq)]
    /// struct Note { pitch: u8, beats: f32 }
    /// let phrase = [Note { pitch: 60, beats: 1.0 }, Note { pitch: 64, beats: 0.5 }];
    /// let mut backwards = [Note::default(); 2];
    /// Reverse::all().run_slice(&phrase, &mut backwards, &[2])?;
    /// assert_eq!(backwards, [phrase[1], phrase[0]]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn run_slice<T: Copy>(&self, src: &[T], dst: &mut [T], shape: &[usize]) -> Result<(), Error>
    where
        Self: Sized,
    {
        let memory = MemoryMut::of(dst);
        self.run_dense::<T>(src, memory, shape)
    }

    /// From a dense slice into uninitialised memory, which is filled completely.
    fn run_slice_uninit<T: Copy>(
        &self,
        src: &[T],
        dst: &mut [MaybeUninit<T>],
        shape: &[usize],
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        let memory = MemoryMut::of_uninit(dst);
        self.run_dense::<T>(src, memory, shape)
    }

    /// On a dense slice, in place. Any element type will do, `String` too: elements only
    /// change places.
    ///
    /// ```
    /// use retrograde::{Reversal, ReverseSequence};
    ///
    /// let mut words = ["to", "be", "or", "not", "--", "--"].map(String::from);
    /// let batch = ReverseSequence::new().time_axis(1).batch_axis(0);
    /// batch.lengths(&[3, 1]).run_slice_in_place(&mut words, &[2, 3])?;
    /// assert_eq!(words, ["or", "be", "to", "not", "--", "--"]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn run_slice_in_place<T>(&self, slice: &mut [T], shape: &[usize]) -> Result<(), Error>
    where
        Self: Sized,
    {
        let layout = self.dense_of::<T>("input", slice.len(), shape)?;
        let (plan, lengths) = self.bind(&layout, &layout)?;
        // Sound for any `T`: in place, a plan only swaps whole elements, and no code of the
        // caller's runs in between.
        cpu::execute_in_place(&plan, memory_of(&lengths), MemoryMut::of(slice))
            .map_err(|source| self.explain(source, &lengths))
    }

    /// From a dense slice to a new vector.
    fn to_vec<T: Copy>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        // Before allocating: is the shape the slice's at all?
        self.dense_of::<T>("input", src.len(), shape)?;
        let mut out = vec_with_room(src.len());
        self.run_slice_uninit(src, &mut out.spare_capacity_mut()[..src.len()], shape)?;
        // SAFETY: `run_slice_uninit` succeeded, so it has written every element of the
        // `src.len()` it was given.
        unsafe { out.set_len(src.len()) };
        Ok(out)
    }

    /// From a dense slice of elements that must be cloned, such as strings, to a new vector.
    ///
    /// ```
    /// use retrograde::{Reversal, Reverse};
    ///
    /// let words = ["live", "on", "no", "evil"].map(String::from);
    /// assert_eq!(Reverse::axes([0]).to_vec_cloned(&words, &[2, 2])?, ["no", "evil", "live", "on"]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_vec_cloned<T: Clone>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        // Before cloning: would it work at all?
        let layout = self.dense_of::<T>("input", src.len(), shape)?;
        self.bind(&layout, &layout)?;
        let mut out = src.to_vec();
        self.run_slice_in_place(&mut out, shape)?;
        Ok(out)
    }

    /// From a dense slice to a new vector, or to the slice itself if nothing moves: no axes
    /// to reverse, or only axes of size 1.
    ///
    /// ```
    /// use retrograde::{Reversal, Reverse};
    /// use std::borrow::Cow;
    ///
    /// let x = [1, 2, 3];
    /// assert!(matches!(Reverse::axes([]).to_cow(&x, &[3])?, Cow::Borrowed(_)));
    /// assert!(matches!(Reverse::axes([0]).to_cow(&x, &[3])?, Cow::Owned(_)));
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_cow<'x, T: Copy>(&self, src: &'x [T], shape: &[usize]) -> Result<Cow<'x, [T]>, Error>
    where
        Self: Sized,
    {
        let layout = self.dense_of::<T>("input", src.len(), shape)?;
        let (plan, lengths) = self.bind(&layout, &layout)?;
        // Lengths that steer nothing must still be valid.
        if plan.keeps_order() && lengths.is_none() {
            return Ok(Cow::Borrowed(src));
        }
        Ok(Cow::Owned(self.to_vec(src, shape)?))
    }

    /// A view's elements, reversed, as the bytes of a new dense row-major tensor.
    ///
    /// ```
    /// use retrograde::{DType, Reversal, Reverse, TensorRef};
    ///
    /// // Five 4-bit elements, two to a byte, the first one in the low bits.
    /// let packed = [0x21u8, 0x43, 0x05];
    /// let x = TensorRef::dense(DType::U4, &packed[..], &[5])?;
    /// assert_eq!(Reverse::all().to_bytes(&x)?, [0x45, 0x23, 0x01]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_bytes(&self, src: &TensorRef<'_>) -> Result<Vec<u8>, Error> {
        let operator = self.operator();
        let layout = Layout::dense(src.layout().dtype(), src.layout().shape())
            .map_err(|source| Error::Argument { operator, argument: "output", source })?;
        let len = layout.byte_len();
        // Before allocating: is the call valid at all?
        self.bind(src.layout(), &layout)?;
        let mut out: Vec<u8> = vec_with_room(len);
        let mut dst = TensorMut::new(layout, &mut out.spare_capacity_mut()[..len])?;
        self.run(src, &mut dst)?;
        // SAFETY: `run` succeeded, so it has written every element, and the elements of a
        // dense layout cover all of its `len` bytes (packed ones to the last bit: the plan
        // seals the last byte).
        unsafe { out.set_len(len) };
        Ok(out)
    }

    #[doc(hidden)]
    fn run_dense<T: Copy>(
        &self,
        src: &[T],
        dst: MemoryMut<'_>,
        shape: &[usize],
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        let layout = self.dense_of::<T>("input", src.len(), shape)?;
        let available = dst.len();
        if available != layout.byte_len() {
            let (operator, dtype, expected) = (self.operator(), layout.dtype(), layout.byte_len());
            let shape = shape.to_vec();
            let source = LayoutError::SizeMismatch { shape, dtype, expected, available };
            return Err(Error::Argument { operator, argument: "output", source });
        }
        let (plan, lengths) = self.bind(&layout, &layout)?;
        cpu::execute(&plan, Memory::of(src), memory_of(&lengths), dst)
            .map_err(|source| self.explain(source, &lengths))
    }

    /// The dense layout of a slice of any type, if the shape is the slice's.
    #[doc(hidden)]
    fn dense_of<T>(
        &self,
        argument: &'static str,
        len: usize,
        shape: &[usize],
    ) -> Result<Layout, Error>
    where
        Self: Sized,
    {
        let operator = self.operator();
        let dtype = DType::Bytes(size_of::<T>());
        let wrap = |source| Error::Argument { operator, argument, source };
        let layout = Layout::dense(dtype, shape).map_err(wrap)?;
        if layout.len() != len {
            let (expected, available) = (layout.len(), len);
            return Err(wrap(LayoutError::ElementCount {
                shape: shape.to_vec(),
                expected,
                available,
            }));
        }
        Ok(layout)
    }

    /// Adds what the plan does not know: the operator, and the index in the lengths' shape.
    #[doc(hidden)]
    fn explain(&self, source: ExecuteError, lengths: &Option<TensorRef<'_>>) -> Error {
        let operator = self.operator();
        match (source, lengths) {
            (ExecuteError::LengthOutOfRange { ordinal, value, limit }, Some(lengths)) => {
                let index = unravel(ordinal, lengths.layout().shape());
                Error::LengthOutOfRange { operator, index, value, limit }
            }
            (source, _) => Error::Execute { operator, source },
        }
    }
}

impl Sealed for Reverse {}

impl Reversal for Reverse {
    fn operator(&self) -> Operator {
        Operator::Reverse
    }

    fn bind(&self, src: &Layout, dst: &Layout) -> Result<(Plan, Option<TensorRef<'_>>), Error> {
        Ok((self.plan(src, dst)?, None))
    }
}

impl<O: LengthsOperator> Sealed for WithLengths<'_, O> {}

impl<O: LengthsOperator> Reversal for WithLengths<'_, O> {
    fn operator(&self) -> Operator {
        O::OPERATOR
    }

    fn bind(&self, src: &Layout, dst: &Layout) -> Result<(Plan, Option<TensorRef<'_>>), Error> {
        let expected: Shape = self.operator.lengths_shape(src.shape())?;
        let lengths = self.lengths.shaped(O::OPERATOR, &expected)?;
        let plan = self.operator.plan(src, lengths.layout(), dst)?;
        Ok((plan, Some(lengths)))
    }
}

fn memory_of<'a>(lengths: &Option<TensorRef<'a>>) -> Option<Memory<'a>> {
    lengths.as_ref().map(TensorRef::memory)
}

/// The index of the `ordinal`-th element in row-major order.
fn unravel(mut ordinal: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        *at = ordinal % size.max(1);
        ordinal /= size.max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unravel_counts_in_row_major_order() {
        assert_eq!(unravel(0, &[2, 1, 3]), [0, 0, 0]);
        assert_eq!(unravel(4, &[2, 1, 3]), [1, 0, 1]);
        assert_eq!(unravel(0, &[]), [0usize; 0]);
    }

    #[test]
    fn plans_and_operators_cross_threads() {
        fn crosses<T: Send + Sync>() {}
        crosses::<Plan>();
        crosses::<Reverse>();
        crosses::<TensorRef<'_>>();
        crosses::<WithLengths<'_, crate::ReverseSequence>>();
    }
}
