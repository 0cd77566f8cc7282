//! The operators: each checks operands by its own specification and lowers to a plan.
//!
//! An operator moves no data and names no backend. The one that reads any is
//! [`Reverse::from_tensor`], for the axes.

mod orient;
mod orient_each;
mod reverse;
mod reverse_batch;
mod reverse_segments;
mod reverse_sequence;
mod reverse_subsequences;

pub use orient::Orient;
pub use orient_each::OrientEach;
pub use reverse::{Reverse, ReverseMode};
pub use reverse_batch::ReverseBatch;
pub use reverse_segments::ReverseSegments;
pub use reverse_sequence::ReverseSequence;
pub use reverse_subsequences::ReverseSubsequences;

use crate::error::{Error, Operator};
use crate::layout::Layout;
use crate::lengths::{ANY_INTEGER, Align, LengthPolicy, Lengths, Tail};
use crate::mask::Mask;
use crate::plan::{LengthsSource, Meaning, Plan};
use crate::tensor::TensorRef;
use sealed::Operands;

/// Only operators of this crate take lengths.
pub(crate) mod sealed {
    use super::{LengthsOperator, check_lengths};
    use crate::error::Error;
    use crate::layout::{Layout, Shape};
    use crate::lengths::{Lengths, Tail};
    use crate::mask::{Held, Mask, lengths_where};
    use crate::plan::Plan;

    /// The layouts that a call is planned for.
    #[derive(Debug, Clone, Copy)]
    pub struct Operands<'a> {
        pub src: &'a Layout,
        pub lengths: &'a Layout,
        pub dst: &'a Layout,
        /// Whether it matters which elements are reversed, even where none moves: for a table.
        pub marks: bool,
    }

    pub trait Lanes: Clone {
        /// The shape that lengths must have for an input of this shape.
        fn lanes(&self, input: &[usize]) -> Result<Shape, Error>;

        /// What happens beyond a length.
        fn tail(&self) -> Tail {
            Tail::Keep
        }

        /// Checks the operands and lowers them to a plan.
        fn lower(&self, on: &Operands<'_>) -> Result<Plan, Error>;

        /// The operator and its lengths with a mask folded into them.
        fn masked<'a>(
            &self,
            lengths: &Lengths<'a>,
            mask: &Mask<'_>,
            input: &[usize],
        ) -> Result<(Self, Held<'a>), Error>
        where
            Self: LengthsOperator,
        {
            let operator = Self::OPERATOR;
            if self.tail() == Tail::Zero {
                return Err(Error::WhereTail { operator });
            }
            let lengths = self.shaped(lengths, input)?;
            check_lengths(operator, lengths.layout(), &self.lanes(input)?)?;
            Ok((self.clone(), lengths_where(operator, &lengths, mask)?))
        }
    }
}

/// An operator that needs lengths or offsets as well as its input.
///
/// Bind them with `lengths(..)` or `offsets(..)`, then [`prepare`](crate::Reversal::prepare) or
/// [`apply`](crate::Reversal::apply) it.
pub trait LengthsOperator: sealed::Lanes {
    /// Which operator this is.
    const OPERATOR: Operator;

    /// The shape that lengths must have for an input of this shape.
    fn lengths_shape(&self, input: &[usize]) -> Result<Vec<usize>, Error> {
        Ok(self.lanes(input)?.to_vec())
    }

    /// The lengths as the tensor that they are for an input of this shape: a flat slice is
    /// reshaped, a tensor is returned unchanged.
    fn shaped<'a>(&self, lengths: &Lengths<'a>, input: &[usize]) -> Result<TensorRef<'a>, Error> {
        lengths.shaped(Self::OPERATOR, &self.lanes(input)?)
    }

    /// Checks the operands and lowers them to a plan.
    fn plan(&self, src: &Layout, lengths: &Layout, dst: &Layout) -> Result<Plan, Error> {
        self.lower(&Operands { src, lengths, dst, marks: false })
    }

    /// The same for a program that [looks elements up](crate::cpu::Program::looking_up).
    fn plan_for_table(&self, src: &Layout, lengths: &Layout, dst: &Layout) -> Result<Plan, Error> {
        self.lower(&Operands { src, lengths, dst, marks: true })
    }
}

/// An operator with its lengths.
#[derive(Debug, Clone)]
pub struct WithLengths<'a, O> {
    pub(crate) operator: O,
    pub(crate) lengths: Lengths<'a>,
    pub(crate) mask: Option<Mask<'a>>,
}

impl<'a, O: LengthsOperator> WithLengths<'a, O> {
    fn new(operator: O, lengths: Lengths<'a>) -> Self {
        WithLengths { operator, lengths, mask: None }
    }

    /// Reverses only those sequences, lanes or segments whose entry is true. The others stay as they
    /// are, and their lengths are not looked at; offsets are all checked.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let x = *b"stressedliveradar";
    /// let words = ReverseSegments::along(0).offsets(&[0, 8, 12, 17]).where_(&[true, false, true]);
    /// assert_eq!(&words.to_vec(&x, &[17])?, b"dessertsliveradar");
    ///
    /// let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
    /// let y = rows.lengths(&[3, 2]).where_(&[false, true]).to_vec(&[1, 2, 3, 4, 5, 6], &[2, 3])?;
    /// assert_eq!(y, [1, 2, 3, 5, 4, 6]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    #[must_use]
    pub fn where_(mut self, mask: impl Into<Mask<'a>>) -> Self {
        self.mask = Some(mask.into());
        self
    }
}

/// What every operator asks of its output.
fn check_output(operator: Operator, src: &Layout, dst: &Layout) -> Result<(), Error> {
    if src.shape() != dst.shape() {
        let (input, output) = (src.shape().to_vec(), dst.shape().to_vec());
        return Err(Error::OutputShape { operator, input, output });
    }
    check_output_memory(operator, src, dst)
}

/// The same but for the shape.
fn check_output_memory(operator: Operator, src: &Layout, dst: &Layout) -> Result<(), Error> {
    if src.dtype() != dst.dtype() {
        return Err(Error::OutputType { operator, input: src.dtype(), output: dst.dtype() });
    }
    if dst.may_overlap_itself() {
        return Err(Error::OutputOverlapsItself {
            operator,
            shape: dst.shape().to_vec(),
            strides: dst.grain_strides().to_vec(),
            packed: dst.dtype().is_packed(),
        });
    }
    Ok(())
}

/// What every operator with lengths asks of their shape and type.
fn check_lengths(operator: Operator, lengths: &Layout, expected: &[usize]) -> Result<(), Error> {
    check_lengths_type(operator, lengths)?;
    if lengths.shape() != expected {
        let (got, expected) = (lengths.shape().to_vec(), expected.to_vec());
        return Err(Error::LengthsShape { operator, got, expected });
    }
    Ok(())
}

/// What every operator with lengths asks of their type.
fn check_lengths_type(operator: Operator, lengths: &Layout) -> Result<(), Error> {
    if lengths.dtype().is_integer() {
        return Ok(());
    }
    Err(Error::LengthsType { operator, dtype: lengths.dtype(), allowed: ANY_INTEGER })
}

impl<'a> Operands<'a> {
    /// Strict lengths of sequences at the start of an axis of this size, whose tails stay.
    fn source(
        &self,
        axis_of: &'a dyn Fn(usize) -> Option<usize>,
        limit: usize,
    ) -> LengthsSource<'a> {
        LengthsSource {
            meaning: Meaning::Lengths,
            layout: self.lengths,
            axis_of,
            limit,
            whole: false,
            policy: LengthPolicy::Strict,
            align: Align::Start,
            tail: Tail::Keep,
            marks: self.marks,
        }
    }
}

/// Resolves an axis that may count from the end.
fn resolve_axis(
    operator: Operator,
    argument: impl FnOnce() -> String,
    value: i128,
    rank: usize,
) -> Result<usize, Error> {
    let bound = rank as i128;
    if rank == 0 {
        return Err(Error::ScalarHasNoAxes { operator, argument: argument(), value });
    }
    if !(-bound..bound).contains(&value) {
        let argument = argument();
        let (low, high) = (-bound, bound - 1);
        return Err(Error::AxisOutOfRange { operator, argument, value, low, high, rank });
    }
    Ok(if value < 0 { (value + bound) as usize } else { value as usize })
}
