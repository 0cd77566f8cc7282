//! Operators on views and slices: prepare, and run once. The one place where operators meet the
//! CPU backend.

use crate::dtype::DType;
use crate::error::{Error, LayoutError, Operator};
use crate::fresh::vec_with_capacity;
use crate::layout::{Layout, Shape};
use crate::mask::Held;
#[cfg(feature = "ndarray")]
use crate::nd;
use crate::op::sealed::Operands;
use crate::op::{LengthsOperator, Orient, Reverse, WithLengths};
use crate::prepared::{Planned, Prepared};
use crate::table::Table;
use crate::tensor::{Memory, MemoryMut, TensorMut, TensorRef};
use bytemuck::{NoUninit, Zeroable};
#[cfg(feature = "ndarray")]
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// An operator that has everything but the tensor: [`Reverse`], [`Orient`], or one of the others with
/// its lengths bound. Its methods are what operators do; `use retrograde::prelude::*` imports them.
///
/// | from | out of place | in place | into new memory |
/// |---|---|---|---|
/// | slices | [`apply`](Self::apply), [`apply_uninit`](Self::apply_uninit) | [`in_place`](Self::in_place) | [`to_vec`](Self::to_vec), [`to_vec_of`](Self::to_vec_of), [`to_vec_cloned`](Self::to_vec_cloned), [`to_cow`](Self::to_cow) |
/// | views | [`apply_view`](Self::apply_view) | [`in_place_view`](Self::in_place_view) | [`to_bytes`](Self::to_bytes) |
/// | `ndarray` | `apply_array` | `in_place_array` | `to_array` |
///
/// On success every element of the output has been written. On an error nothing has.
///
/// `'a` is how long lengths are borrowed. [`Reverse`] has none.
pub trait Reversal<'a>: sealed::Plans<'a> {
    /// Which operator this is.
    fn operator(&self) -> Operator;

    /// Checks the operands and plans the call, to run it often. Lengths are read, and their values
    /// checked, by every run.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout};
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
    fn prepare(&self, src: &Layout, dst: &Layout) -> Result<Prepared<'a>, Error> {
        Ok(self.planned(src, dst)?.prepared())
    }

    /// The same with a [table](Table) that elements are looked up in while they are reversed. For views
    /// and buffers, not for slices of any type: values would be made that may be none of it.
    fn table(&self, table: &Table) -> WithTable<'_, Self>
    where
        Self: Sized,
    {
        WithTable { reversal: self, table: table.clone() }
    }

    /// The shape that the result has for an input of this shape: the same, but for [`Orient`].
    fn output_shape(&self, input: &[usize]) -> Result<Vec<usize>, Error> {
        Ok(self.turned(input)?.to_vec())
    }

    /// From a dense slice of this shape to another.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// #[derive(Clone, Copy, Default, Debug, PartialEq)]
    /// struct Note { pitch: u8, beats: f32 }
    /// let phrase = [Note { pitch: 60, beats: 1.0 }, Note { pitch: 64, beats: 0.5 }];
    /// let mut backwards = [Note::default(); 2];
    /// Reverse::all().apply(&phrase, &mut backwards, &[2])?;
    /// assert_eq!(backwards, [phrase[1], phrase[0]]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn apply<T: Copy>(&self, src: &[T], dst: &mut [T], shape: &[usize]) -> Result<(), Error>
    where
        Self: Sized,
    {
        apply_dense(self, src, MemoryMut::of(dst), shape)
    }

    /// From a dense slice into uninitialised memory, which is filled completely.
    fn apply_uninit<T: Copy>(
        &self,
        src: &[T],
        dst: &mut [MaybeUninit<T>],
        shape: &[usize],
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        apply_dense(self, src, MemoryMut::of_uninit(dst), shape)
    }

    /// On a dense slice, in place. The elements may be of any type, `String` too: they are only
    /// swapped.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let mut words = ["to", "be", "or", "not", "--", "--"].map(String::from);
    /// let batch = ReverseSequence::new().time_axis(1).batch_axis(0);
    /// batch.lengths(&[3, 1]).in_place(&mut words, &[2, 3])?;
    /// assert_eq!(words, ["or", "be", "to", "not", "--", "--"]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn in_place<T>(&self, slice: &mut [T], shape: &[usize]) -> Result<(), Error>
    where
        Self: Sized,
    {
        let layout = dense_of::<T>(self.operator(), slice.len(), shape)?;
        // Sound for any `T`: in place, a plan only swaps whole elements, and no code of
        // the caller runs in between.
        for_any_type(self.planned_in_place(&layout)?)?.run_in_place(MemoryMut::of(slice))
    }

    /// From a dense slice to a new vector.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let y = Reverse::axes([1]).to_vec(&[1, 2, 3, 4, 5, 6], &[2, 3])?;
    /// assert_eq!(y, [3, 2, 1, 6, 5, 4]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_vec<T: Copy>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        // Before allocating: is the shape the slice's?
        dense_of::<T>(self.operator(), src.len(), shape)?;
        let mut out = vec_with_capacity(src.len());
        self.apply_uninit(src, &mut out.spare_capacity_mut()[..src.len()], shape)?;
        // SAFETY: `apply_uninit` succeeded, so it has written every element of the
        // `src.len()` it was given.
        unsafe { out.set_len(src.len()) };
        Ok(out)
    }

    /// From a dense slice of elements for which zero bytes are a value to a new vector. As
    /// [`to_vec`](Self::to_vec), and allowed with [`Tail::Zero`](crate::Tail) too.
    ///
    /// ```
    /// use retrograde::Tail;
    /// use retrograde::prelude::*;
    ///
    /// let rows = ReverseSequence::new().time_axis(1).batch_axis(0).tail(Tail::Zero);
    /// let y = rows.lengths(&[2]).to_vec_of(&[true, false, true], &[1, 3])?;
    /// assert_eq!(y, [false, true, false]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_vec_of<T: NoUninit + Zeroable>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        let operator = self.operator();
        let argument = |source| Error::Argument { operator, argument: "input", source };
        let view = TensorRef::from_slice(src, shape).map_err(argument)?;
        let prepared = self.planned(view.layout(), &dense_like(self, view.layout())?)?;
        if prepared.table.is_some() {
            return Err(Error::TableOfAnyType { operator });
        }
        let mut out = vec_with_capacity(src.len());
        let room = MemoryMut::of_uninit(&mut out.spare_capacity_mut()[..src.len()]);
        prepared.run(view.memory(), room)?;
        // SAFETY: `run` succeeded, so it has written every element of the dense layout, which has
        // `src.len()` of them: with values of `src`, or with zeros, which are one of a `Zeroable`
        // type.
        unsafe { out.set_len(src.len()) };
        Ok(out)
    }

    /// From a dense slice of elements that must be cloned, such as strings, to a new vector.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let words = ["live", "on", "no", "evil"].map(String::from);
    /// let reversed = Reverse::axes([0]).to_vec_cloned(&words, &[2, 2])?;
    /// assert_eq!(reversed, ["no", "evil", "live", "on"]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_vec_cloned<T: Clone>(&self, src: &[T], shape: &[usize]) -> Result<Vec<T>, Error>
    where
        Self: Sized,
    {
        // Before cloning: is the call valid?
        let layout = dense_of::<T>(self.operator(), src.len(), shape)?;
        let planned = for_any_type(self.planned_in_place(&layout)?)?;
        let mut out = src.to_vec();
        planned.run_in_place(MemoryMut::of(&mut out))?;
        Ok(out)
    }

    /// From a dense slice to a new vector, or borrows the slice if nothing moves: no axes to
    /// reverse, or only axes of size 1.
    ///
    /// ```
    /// use retrograde::prelude::*;
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
        let layout = dense_of::<T>(self.operator(), src.len(), shape)?;
        let planned = self.planned(&layout, &dense_like(self, &layout)?)?;
        // Lengths that steer nothing must still be valid. A transpose keeps orders, but not places.
        let (plan, values) = (&planned.plan, planned.lengths.is_some() || planned.table.is_some());
        if plan.keeps_order() && plan.fits_in_place() && !values {
            return Ok(Cow::Borrowed(src));
        }
        Ok(Cow::Owned(self.to_vec(src, shape)?))
    }

    /// From one view to another. If both are the same view, in place.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout, TensorMut, TensorRef};
    ///
    /// // Flip a column-major matrix, straight into a row-major one.
    /// let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    /// let src = Layout::strided(DType::F64, &[2, 3], &[1, 2], 0)?;
    /// let src = TensorRef::new(src, &columns)?;
    /// let mut rows = [0.0; 6];
    /// let mut dst = TensorMut::from_slice(&mut rows, &[2, 3])?;
    /// Reverse::axes([1]).apply_view(&src, &mut dst)?;
    /// assert_eq!(rows, [3.0, 2.0, 1.0,
    ///                   6.0, 5.0, 4.0]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn apply_view(&self, src: &TensorRef<'_>, dst: &mut TensorMut<'_>) -> Result<(), Error> {
        self.planned(src.layout(), dst.layout())?.run(src.memory(), dst.memory())
    }

    /// On a view, in place.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::TensorMut;
    ///
    /// let mut x = [1u16, 2, 3, 4, 5, 6];
    /// let mut view = TensorMut::from_slice(&mut x, &[3, 2])?;
    /// ReverseSequence::new().lengths(&[3, 2]).in_place_view(&mut view)?;
    /// assert_eq!(x, [5, 4, 3, 2, 1, 6]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn in_place_view(&self, tensor: &mut TensorMut<'_>) -> Result<(), Error> {
        self.planned_in_place(tensor.layout())?.run_in_place(tensor.memory())
    }

    /// A view's elements, reversed, as the bytes of a new dense row-major tensor.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, TensorRef};
    ///
    /// // Five 4-bit elements, two to a byte, the first one in the low bits.
    /// let packed = [0x21u8, 0x43, 0x05];
    /// let x = TensorRef::dense(DType::U4, &packed, &[5])?;
    /// assert_eq!(Reverse::all().to_bytes(&x)?, [0x45, 0x23, 0x01]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    fn to_bytes(&self, src: &TensorRef<'_>) -> Result<Vec<u8>, Error> {
        let layout = dense_like(self, src.layout())?;
        let len = layout.byte_len();
        // Before allocating: is the call valid?
        let planned = self.planned(src.layout(), &layout)?;
        let mut out: Vec<u8> = vec_with_capacity(len);
        planned.run(src.memory(), MemoryMut::uninit(&mut out.spare_capacity_mut()[..len]))?;
        // SAFETY: `run` succeeded, so it has written every element, and the elements of a
        // dense layout cover all of its `len` bytes (packed ones to the last bit: the plan
        // seals the last byte).
        unsafe { out.set_len(len) };
        Ok(out)
    }

    /// From an `ndarray` view to another.
    #[cfg(feature = "ndarray")]
    fn apply_array<T: Copy, D: Dimension>(
        &self,
        src: ArrayView<'_, T, D>,
        mut dst: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        apply_any(self, &nd::view_of(&src)?, &mut nd::view_mut_of(&mut dst)?)
    }

    /// On an `ndarray` view, in place. The elements may be of any type: they are only swapped.
    ///
    /// ```
    /// use ndarray::array;
    /// use retrograde::prelude::*;
    ///
    /// let mut x = array![["a", "b"], ["c", "d"]].mapv(String::from);
    /// Reverse::axes([0]).in_place_array(x.view_mut())?;
    /// assert_eq!(x, array![["c", "d"], ["a", "b"]]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    #[cfg(feature = "ndarray")]
    fn in_place_array<T, D: Dimension>(
        &self,
        mut array: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        // In place, whole elements are swapped, which is sound for any `T`.
        let mut view = nd::view_mut_of(&mut array)?;
        let planned = self.planned_in_place(view.layout())?;
        for_any_type(planned)?.run_in_place(view.memory())
    }

    /// From an `ndarray` view to a new array.
    ///
    /// ```
    /// use ndarray::{array, s};
    /// use retrograde::prelude::*;
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
    #[cfg(feature = "ndarray")]
    fn to_array<T: Copy, D: Dimension>(
        &self,
        src: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>, Error>
    where
        Self: Sized,
    {
        let mut dim = src.raw_dim();
        dim.slice_mut().copy_from_slice(&self.turned(src.shape())?);
        let mut out = Array::<T, D>::uninit(dim);
        apply_any(self, &nd::view_of(&src)?, &mut nd::view_of_uninit(&mut out)?)?;
        // SAFETY: the call succeeded, so it has written every element.
        Ok(unsafe { out.assume_init() })
    }
}

impl<'a> Reversal<'a> for Reverse {
    fn operator(&self) -> Operator {
        Operator::Reverse
    }
}

impl<'a> sealed::Plans<'a> for Reverse {
    fn lowered(&self, src: &Layout, dst: &Layout, _: bool) -> Result<Planned<'a>, Error> {
        let plan = self.plan(src, dst)?;
        Ok(Planned { operator: Operator::Reverse, plan, lengths: None, table: None })
    }
}

/// A reversal that looks elements up in a table: made by [`Reversal::table`].
#[derive(Debug, Clone)]
pub struct WithTable<'o, R> {
    reversal: &'o R,
    table: Table,
}

impl<'a, R: Reversal<'a>> Reversal<'a> for WithTable<'_, R> {
    fn operator(&self) -> Operator {
        self.reversal.operator()
    }
}

impl<'a, R: Reversal<'a>> sealed::Plans<'a> for WithTable<'_, R> {
    fn lowered(&self, src: &Layout, dst: &Layout, _: bool) -> Result<Planned<'a>, Error> {
        self.table.check(self.operator(), src.dtype())?;
        let planned = self.reversal.lowered(src, dst, true)?;
        Ok(Planned { table: Some(self.table.clone()), ..planned })
    }

    fn turned(&self, shape: &[usize]) -> Result<Shape, Error> {
        self.reversal.turned(shape)
    }

    fn check_in_place(&self, layout: &Layout) -> Result<(), Error> {
        self.reversal.check_in_place(layout)
    }
}

impl<'a> Reversal<'a> for Orient {
    fn operator(&self) -> Operator {
        Operator::Orient
    }
}

impl<'a> sealed::Plans<'a> for Orient {
    fn lowered(&self, src: &Layout, dst: &Layout, _: bool) -> Result<Planned<'a>, Error> {
        let plan = self.plan(src, dst)?;
        Ok(Planned { operator: Operator::Orient, plan, lengths: None, table: None })
    }

    fn turned(&self, shape: &[usize]) -> Result<Shape, Error> {
        Orient::turned(self, shape)
    }

    fn check_in_place(&self, layout: &Layout) -> Result<(), Error> {
        let fits = Orient::turned(self, layout.shape())?[..] == *layout.shape()
            && self.plan(layout, layout)?.fits_in_place();
        let orientation = self.orientation();
        if fits { Ok(()) } else { Err(Error::OrientInPlace { orientation }) }
    }
}

impl<'a, O: LengthsOperator> Reversal<'a> for WithLengths<'a, O> {
    fn operator(&self) -> Operator {
        O::OPERATOR
    }
}

impl<'a, O: LengthsOperator> sealed::Plans<'a> for WithLengths<'a, O> {
    fn lowered(&self, src: &Layout, dst: &Layout, marks: bool) -> Result<Planned<'a>, Error> {
        let Some(mask) = &self.mask else {
            let lengths = self.operator.shaped(&self.lengths, src.shape())?;
            let on = Operands { src, lengths: lengths.layout(), dst, marks };
            let plan = self.operator.lower(&on)?;
            let lengths = Some(Held::Given(lengths));
            return Ok(Planned { operator: O::OPERATOR, plan, lengths, table: None });
        };
        let (operator, lengths) = self.operator.masked(&self.lengths, mask, src.shape())?;
        let plan = operator.lower(&Operands { src, lengths: lengths.layout(), dst, marks })?;
        Ok(Planned { operator: O::OPERATOR, plan, lengths: Some(lengths), table: None })
    }
}

mod sealed {
    use super::{Error, Layout, Planned, Shape};

    /// What operators do for their methods. Slices rely on plans that write exactly the layout they
    /// were made from, so nothing else may implement it.
    pub trait Plans<'a> {
        /// Checks the operands and plans the call; with `marks`, for a table.
        fn lowered(&self, src: &Layout, dst: &Layout, marks: bool) -> Result<Planned<'a>, Error>;

        /// The same without a table.
        fn planned(&self, src: &Layout, dst: &Layout) -> Result<Planned<'a>, Error> {
            self.lowered(src, dst, false)
        }

        /// The same on one memory.
        fn planned_in_place(&self, layout: &Layout) -> Result<Planned<'a>, Error> {
            self.check_in_place(layout)?;
            self.planned(layout, layout)
        }

        /// Whether the call can run on one memory.
        fn check_in_place(&self, _: &Layout) -> Result<(), Error> {
            Ok(())
        }

        /// The shape that the result has for an input of this shape.
        fn turned(&self, shape: &[usize]) -> Result<Shape, Error> {
            Ok(shape.into())
        }
    }
}

/// From a dense slice to memory for as many elements of the same type.
fn apply_dense<'a, T: Copy>(
    reversal: &impl Reversal<'a>,
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
    let output = dense_like(reversal, &layout)?;
    for_any_type(reversal.planned(&layout, &output)?)?.run(Memory::of(src), dst)
}

/// A dense layout for the result.
fn dense_like<'a>(
    reversal: &(impl Reversal<'a> + ?Sized),
    input: &Layout,
) -> Result<Layout, Error> {
    let operator = reversal.operator();
    Layout::dense(input.dtype(), &reversal.turned(input.shape())?)
        .map_err(|source| Error::Argument { operator, argument: "output", source })
}

/// Between views of elements of any type.
#[cfg(feature = "ndarray")]
fn apply_any<'a>(
    reversal: &impl Reversal<'a>,
    src: &TensorRef<'_>,
    dst: &mut TensorMut<'_>,
) -> Result<(), Error> {
    let planned = reversal.planned(src.layout(), dst.layout())?;
    for_any_type(planned)?.run(src.memory(), dst.memory())
}

/// Lets a call run on elements of any type, references among them: not if it writes zeros, which
/// may be no value of the type.
fn for_any_type(planned: Planned<'_>) -> Result<Planned<'_>, Error> {
    if planned.plan.zeroes_tail() {
        return Err(Error::TailOfAnyType { operator: planned.operator });
    }
    if planned.table.is_some() {
        return Err(Error::TableOfAnyType { operator: planned.operator });
    }
    Ok(planned)
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
