//! ReverseSequence: padded batches of sequences, by the rules of ONNX.

use super::{LengthsOperator, WithLengths, check_lengths, check_output, sealed};
use crate::dtype::DType;
use crate::error::{Error, Operator};
use crate::layout::{Layout, Shape};
use crate::lengths::{LengthPolicy, Lengths};
use crate::plan::{Flow, LengthsSource, Plan};
use smallvec::smallvec;

const OPERATOR: Operator = Operator::ReverseSequence;

/// Reverses the first `lengths[b]` steps of every sequence `b` in a batch and keeps the
/// padding where it is (ONNX `ReverseSequence`).
///
/// Time is axis 0 and the batch axis 1 unless said otherwise; lengths beyond the time axis
/// are errors unless the policy is [`LengthPolicy::Clamp`].
///
/// ```
/// use retrograde::{Reversal, ReverseSequence};
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
    opset: Option<u32>,
}

impl Default for ReverseSequence {
    fn default() -> Self {
        Self::new()
    }
}

impl ReverseSequence {
    /// Time on axis 0, batch on axis 1, strict about lengths; any element type, and lengths of
    /// any integer type.
    pub fn new() -> Self {
        ReverseSequence { time_axis: 0, batch_axis: 1, policy: LengthPolicy::Strict, opset: None }
    }

    /// The same, but only what this ONNX opset allows: its element types (bfloat16 came with
    /// opset 28) and int64 lengths.
    pub fn onnx(opset: u32) -> Self {
        ReverseSequence { opset: Some(opset), ..Self::new() }
    }

    /// The axis that is reversed: 0 or 1.
    #[must_use]
    pub fn time_axis(mut self, axis: i64) -> Self {
        self.time_axis = axis;
        self
    }

    /// The axis that lengths run along: 0 or 1.
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

    /// Binds lengths: one per entry of the batch axis.
    pub fn lengths<'a>(&self, lengths: impl Into<Lengths<'a>>) -> WithLengths<'a, Self> {
        WithLengths { operator: self.clone(), lengths: lengths.into() }
    }

    /// Time and batch axis, checked.
    fn checked_axes(&self, rank: usize) -> Result<(usize, usize), Error> {
        let one_of_two = |argument, value| match value {
            0 | 1 => Ok(value as usize),
            value => Err(Error::SequenceAxis { argument, value }),
        };
        let time = one_of_two("time_axis", self.time_axis)?;
        let batch = one_of_two("batch_axis", self.batch_axis)?;
        if time == batch {
            return Err(Error::SameSequenceAxes { value: self.time_axis });
        }
        if rank < 2 {
            return Err(Error::RankTooSmall { operator: OPERATOR, rank, least: 2 });
        }
        Ok((time, batch))
    }

    fn check_opset(&self, input: DType, lengths: DType) -> Result<(), Error> {
        let Some(opset) = self.opset else { return Ok(()) };
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

impl sealed::Sealed for ReverseSequence {}

impl LengthsOperator for ReverseSequence {
    const OPERATOR: Operator = OPERATOR;

    fn lengths_shape(&self, input: &[usize]) -> Result<Shape, Error> {
        let (_, batch) = self.checked_axes(input.len())?;
        Ok(smallvec![input[batch]])
    }

    fn plan(&self, src: &Layout, lengths: &Layout, dst: &Layout) -> Result<Plan, Error> {
        let (time, batch) = self.checked_axes(src.rank())?;
        self.check_opset(src.dtype(), lengths.dtype())?;
        check_lengths(OPERATOR, lengths, &[src.shape()[batch]])?;
        check_output(OPERATOR, src, dst)?;
        let source = LengthsSource {
            layout: lengths,
            axis_of: &|axis| (axis == batch).then_some(0),
            limit: src.shape()[time],
            policy: self.policy,
        };
        let flow_of = |axis| if axis == time { Flow::FlipPrefix } else { Flow::Keep };
        Ok(Plan::build(src, dst, flow_of, Some(source)))
    }
}
