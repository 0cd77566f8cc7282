//! ReverseSequence: padded batches of sequences, by the rules of ONNX.

use super::sealed::{Lanes, Operands};
use super::{LengthsOperator, WithLengths, check_lengths_type, check_output, resolve_axis};
use crate::dtype::DType;
use crate::error::{Error, Operator};
use crate::layout::Shape;
use crate::lengths::{Align, LengthPolicy, Lengths, Tail};
use crate::plan::{Flow, LengthsSource, Plan};
use smallvec::smallvec;

const OPERATOR: Operator = Operator::ReverseSequence;

/// Reverses the first `lengths[b]` steps of every sequence `b` in a batch and keeps the
/// padding where it is (ONNX `ReverseSequence`).
///
/// By default time is axis 0 and the batch is axis 1. Lengths beyond the time axis
/// are errors, unless the policy is [`LengthPolicy::Clamp`].
///
/// ```
/// use retrograde::prelude::*;
///
/// let batch_major = ReverseSequence::new().time_axis(1).batch_axis(0);
/// let x = *b"stressed\
///            live....\
///            radar...";
/// let y = batch_major.lengths(&[8, 4, 5]).to_vec(&x, &[3, 8])?;
/// assert_eq!(&y, b"desserts\
///                  evil....\
///                  radar...");
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseSequence {
    time_axis: i64,
    batch_axis: i64,
    policy: LengthPolicy,
    align: Align,
    tail: Tail,
    rules: Rules,
}

/// Whose rules beyond the movement itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// Any two axes, any element type.
    Ours,
    /// Axes 0 and 1; the element types of an opset, if one is given.
    Onnx { opset: Option<u32> },
}

impl Default for ReverseSequence {
    fn default() -> Self {
        Self::new()
    }
}

impl ReverseSequence {
    /// Time on axis 0, batch on axis 1, or any other two axes; strict about lengths. Any element
    /// type, and lengths of any integer type.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// // Two channels of two sequences each: time is the last axis, the batch the first.
    /// let x = [1, 2, 3,  4, 5, 6,
    ///          7, 8, 0,  9, 10, 0];
    /// let last = ReverseSequence::new().time_axis(-1).batch_axis(0);
    /// assert_eq!(last.lengths(&[3, 2]).to_vec(&x, &[2, 2, 3])?,
    ///            [3, 2, 1,  6, 5, 4,
    ///             8, 7, 0,  10, 9, 0]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn new() -> Self {
        ReverseSequence {
            time_axis: 0,
            batch_axis: 1,
            policy: LengthPolicy::Strict,
            align: Align::Start,
            tail: Tail::Keep,
            rules: Rules::Ours,
        }
    }

    /// The same by the rules of ONNX for the axes: 0 and 1, in either order.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let last = ReverseSequence::onnx().time_axis(-1).batch_axis(0);
    /// let error = last.lengths(&[1]).to_vec(&[1, 2], &[1, 2]).unwrap_err();
    /// assert_eq!(error.to_string(), "ReverseSequence: time_axis is -1, expected 0 or 1");
    /// ```
    pub fn onnx() -> Self {
        ReverseSequence { rules: Rules::Onnx { opset: None }, ..Self::new() }
    }

    /// The rules of [`onnx`](Self::onnx), and only what this opset allows: its element types
    /// (bfloat16 came with opset 28) and int64 lengths.
    #[must_use]
    pub fn opset(mut self, opset: u32) -> Self {
        self.rules = Rules::Onnx { opset: Some(opset) };
        self
    }

    /// The axis that is reversed. A negative one counts from the end.
    #[must_use]
    pub fn time_axis(mut self, axis: i64) -> Self {
        self.time_axis = axis;
        self
    }

    /// The axis that lengths run along. A negative one counts from the end.
    #[must_use]
    pub fn batch_axis(mut self, axis: i64) -> Self {
        self.batch_axis = axis;
        self
    }

    /// What to do with lengths beyond the time axis.
    #[must_use]
    pub fn policy(mut self, policy: LengthPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// At which end of the time axis sequences are. With [`Align::End`] the last `len` steps are
    /// reversed, and the padding in front of them stays.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::Align;
    ///
    /// let left_padded = ReverseSequence::new().time_axis(1).batch_axis(0).align(Align::End);
    /// let x = [0, 0, 1, 2,
    ///          0, 3, 4, 5];
    /// assert_eq!(left_padded.lengths(&[2, 3]).to_vec(&x, &[2, 4])?,
    ///            [0, 0, 2, 1,
    ///             0, 5, 4, 3]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    #[must_use]
    pub fn align(mut self, align: Align) -> Self {
        self.align = align;
        self
    }

    /// What happens to the steps beyond a length. [`Tail::Zero`] needs elements of a known type:
    /// use [`to_vec_of`](crate::Reversal::to_vec_of), or views.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::Tail;
    ///
    /// let masked = ReverseSequence::new().time_axis(1).batch_axis(0).tail(Tail::Zero);
    /// let x = [1, 2, 9, 9,
    ///          3, 4, 5, 9];
    /// assert_eq!(masked.lengths(&[2, 3]).to_vec_of(&x, &[2, 4])?,
    ///            [2, 1, 0, 0,
    ///             5, 4, 3, 0]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    #[must_use]
    pub fn tail(mut self, tail: Tail) -> Self {
        self.tail = tail;
        self
    }

    /// Binds lengths: one per entry of the batch axis.
    pub fn lengths<'a>(&self, lengths: impl Into<Lengths<'a>>) -> WithLengths<'a, Self> {
        WithLengths::new(self.clone(), lengths.into())
    }

    /// Time and batch axis, checked.
    fn checked_axes(&self, rank: usize) -> Result<(usize, usize), Error> {
        let too_small = || Error::RankTooSmall { operator: OPERATOR, rank, least: 2 };
        let checked = |argument: &'static str, value: i64| match (self.rules, value) {
            (Rules::Ours, _) if rank < 2 => Err(too_small()),
            (_, 0 | 1) => Ok(value as usize),
            (Rules::Ours, value) => {
                resolve_axis(OPERATOR, || argument.to_owned(), value.into(), rank)
            }
            (Rules::Onnx { .. }, value) => Err(Error::SequenceAxis { argument, value }),
        };
        let time = checked("time_axis", self.time_axis)?;
        let batch = checked("batch_axis", self.batch_axis)?;
        if time == batch {
            return Err(Error::SameSequenceAxes { value: time });
        }
        if rank < 2 {
            return Err(too_small());
        }
        Ok((time, batch))
    }

    fn check_opset(&self, input: DType, lengths: DType) -> Result<(), Error> {
        let Rules::Onnx { opset: Some(opset) } = self.rules else { return Ok(()) };
        if opset < 10 {
            return Err(Error::Opset { opset });
        }
        if !allowed_at(opset, input) {
            let level = format!("opset {opset}");
            return Err(Error::InputType { operator: OPERATOR, dtype: input, level });
        }
        if lengths != DType::I64 {
            return Err(Error::LengthsType { operator: OPERATOR, dtype: lengths, allowed: "i64" });
        }
        Ok(())
    }
}

/// The types that ONNX lists: 15 from opset 10, bfloat16 as well from opset 28.
fn allowed_at(opset: u32, dtype: DType) -> bool {
    use DType::*;
    match dtype {
        U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => true,
        F16 | F32 | F64 | String | Bool | C64 | C128 => true,
        BF16 => opset >= 28,
        _ => false,
    }
}

impl Lanes for ReverseSequence {
    fn lanes(&self, input: &[usize]) -> Result<Shape, Error> {
        let (_, batch) = self.checked_axes(input.len())?;
        Ok(smallvec![input[batch]])
    }

    fn tail(&self) -> Tail {
        self.tail
    }

    fn lower(&self, on: &Operands<'_>) -> Result<Plan, Error> {
        let Operands { src, lengths, dst, .. } = *on;
        let (time, batch) = self.checked_axes(src.rank())?;
        self.check_opset(src.dtype(), lengths.dtype())?;
        check_lengths_type(OPERATOR, lengths)?;
        let (time_size, batch_size) = (src.shape()[time], src.shape()[batch]);
        if lengths.shape() != [batch_size] {
            let (got, time_axis, batch_axis) = (lengths.shape().to_vec(), time, batch);
            return Err(Error::SequenceLengthsShape {
                got,
                time_axis,
                time_size,
                batch_axis,
                batch_size,
            });
        }
        check_output(OPERATOR, src, dst)?;
        let Self { policy, align, tail, .. } = *self;
        let axis_of = |axis| (axis == batch).then_some(0);
        let source = LengthsSource { policy, align, tail, ..on.source(&axis_of, time_size) };
        let flow_of = |axis| if axis == time { Flow::FlipPrefix } else { Flow::Keep };
        Ok(Plan::build(src, dst, flow_of, Some(source)))
    }
}

impl LengthsOperator for ReverseSequence {
    const OPERATOR: Operator = OPERATOR;
}
