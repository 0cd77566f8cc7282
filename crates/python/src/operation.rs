//! An operator with the arguments of a call, ready to run or to be explained.

use crate::axes;
use crate::lengths::LengthsCopy;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::{LengthPolicy, Reverse, ReverseSequence, ReverseSubsequences};

/// What to do with it: the operators are of different types, and one call serves them all.
pub(crate) trait Visitor {
    type Output;
    fn visit(self, operator: &(impl retrograde::Reversal + Sync)) -> PyResult<Self::Output>;
}

/// One of the three operators and all it needs but the tensor.
pub(crate) enum Operation {
    Reverse(Reverse),
    Sequence(ReverseSequence, LengthsCopy),
    Subsequences(ReverseSubsequences, LengthsCopy),
}

impl Operation {
    pub(crate) fn reverse(
        axes: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        axes::reverse(axes, mask).map(Operation::Reverse)
    }

    pub(crate) fn sequence(
        lengths: &Bound<'_, PyAny>,
        time_axis: i64,
        batch_axis: i64,
        policy: &str,
    ) -> PyResult<Self> {
        let operator = ReverseSequence::any_axes(time_axis, batch_axis).policy(parse(policy)?);
        Ok(Operation::Sequence(operator, LengthsCopy::of("ReverseSequence", lengths)?))
    }

    /// `shape` is the tensor's: lengths may leave out the axis of size 1.
    pub(crate) fn subsequences(
        lengths: &Bound<'_, PyAny>,
        axis: i64,
        policy: &str,
        shape: &[usize],
    ) -> PyResult<Self> {
        let operator = ReverseSubsequences::along(axis).policy(parse(policy)?);
        let lengths = LengthsCopy::of("ReverseSubsequences", lengths)?.along(axis, shape);
        Ok(Operation::Subsequences(operator, lengths))
    }

    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> PyResult<V::Output> {
        match self {
            Operation::Reverse(operator) => visitor.visit(operator),
            Operation::Sequence(operator, lengths) => {
                visitor.visit(&operator.lengths(lengths.tensor()?))
            }
            Operation::Subsequences(operator, lengths) => {
                visitor.visit(&operator.lengths(lengths.tensor()?))
            }
        }
    }
}

fn parse(policy: &str) -> PyResult<LengthPolicy> {
    match policy {
        "strict" => Ok(LengthPolicy::Strict),
        "clamp" => Ok(LengthPolicy::Clamp),
        other => Err(PyValueError::new_err(format!(
            "policy {other:?} does not exist, expected \"strict\" or \"clamp\""
        ))),
    }
}
