//! ReverseSubsequences: every lane by its own length, by the rules of DirectML.
//!
//! The descriptor and feature-level rules of the DirectML interface itself are in the
//! crate `retrograde-directml`; this is the operator without them.

use super::sealed::{Lanes, Operands};
use super::{LengthsOperator, WithLengths, check_lengths, check_output, resolve_axis};
use crate::error::{Error, Operator};
use crate::layout::Shape;
use crate::lengths::{Align, LengthPolicy, Lengths, Tail};
use crate::plan::{Flow, LengthsSource, Plan};

const OPERATOR: Operator = Operator::ReverseSubsequences;

/// Reverses the first `len` elements of every lane along one axis, each lane with a `len` of
/// its own (DirectML `ReverseSubsequences`).
///
/// Lengths have the input's shape with 1 at the axis. Beyond the size of the axis they are
/// clamped, unless the policy is [`LengthPolicy::Strict`].
///
/// ```
/// use retrograde::prelude::*;
///
/// let x = [1, 2, 3, 4,
///          5, 6, 7, 8,
///          9, 10, 11, 12];
/// let columns = ReverseSubsequences::along(0).lengths(&[2u32, 3, 1, 0]);
/// assert_eq!(columns.to_vec(&x, &[3, 4])?,
///            [5, 10, 3, 4,
///             1, 6, 7, 8,
///             9, 2, 11, 12]);
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseSubsequences {
    axis: i64,
    policy: LengthPolicy,
    align: Align,
    tail: Tail,
}

impl ReverseSubsequences {
    /// Along this axis, which may count from the end; lengths are clamped.
    pub fn along(axis: i64) -> Self {
        let policy = LengthPolicy::Clamp;
        ReverseSubsequences { axis, policy, align: Align::Start, tail: Tail::Keep }
    }

    /// What to do with lengths beyond the size of the axis.
    #[must_use]
    pub fn policy(mut self, policy: LengthPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// At which end of the axis subsequences are. With [`Align::End`] the last `len` elements of
    /// each lane are reversed.
    #[must_use]
    pub fn align(mut self, align: Align) -> Self {
        self.align = align;
        self
    }

    /// What happens to the elements beyond a length, as in
    /// [`ReverseSequence::tail`](crate::ReverseSequence::tail).
    #[must_use]
    pub fn tail(mut self, tail: Tail) -> Self {
        self.tail = tail;
        self
    }

    /// Binds lengths: one per lane.
    pub fn lengths<'a>(&self, lengths: impl Into<Lengths<'a>>) -> WithLengths<'a, Self> {
        WithLengths::new(self.clone(), lengths.into())
    }

    fn checked_axis(&self, rank: usize) -> Result<usize, Error> {
        resolve_axis(OPERATOR, || "axis".to_owned(), self.axis.into(), rank)
    }
}

impl Lanes for ReverseSubsequences {
    fn lanes(&self, input: &[usize]) -> Result<Shape, Error> {
        let axis = self.checked_axis(input.len())?;
        let mut shape = Shape::from_slice(input);
        shape[axis] = 1;
        Ok(shape)
    }

    fn tail(&self) -> Tail {
        self.tail
    }

    fn lower(&self, on: &Operands<'_>) -> Result<Plan, Error> {
        let Operands { src, lengths, dst, .. } = *on;
        let reversed = self.checked_axis(src.rank())?;
        check_lengths(OPERATOR, lengths, &self.lanes(src.shape())?)?;
        check_output(OPERATOR, src, dst)?;
        let Self { policy, align, tail, .. } = *self;
        let axis_of = |axis| (axis != reversed).then_some(axis);
        let source = on.source(&axis_of, src.shape()[reversed]);
        let source = LengthsSource { policy, align, tail, ..source };
        let flow_of = |axis| if axis == reversed { Flow::FlipPrefix } else { Flow::Keep };
        Ok(Plan::build(src, dst, flow_of, Some(source)))
    }
}

impl LengthsOperator for ReverseSubsequences {
    const OPERATOR: Operator = OPERATOR;
}
