//! An operator with the arguments of a call, ready to run or to be explained.

use crate::axes::{self, Distinct};
use crate::lengths::Lengths;
use crate::view::{Place, View};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use retrograde::{LengthPolicy, Reverse, ReverseSequence, ReverseSubsequences};

/// A generic callback: the operators have different types, and one call serves them all.
pub(crate) trait Visitor {
    type Output;
    fn visit(self, operator: &(impl retrograde::Reversal + Sync)) -> PyResult<Self::Output>;
}

/// One of the three operators with everything that it needs except the tensor.
pub(crate) enum Operation {
    Reverse(Reverse),
    Sequence(ReverseSequence, Lengths),
    Subsequences(ReverseSubsequences, Lengths),
}

/// A requested operator, without lengths.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// With axes that must be distinct.
    Reverse(Reverse, Distinct),
    Sequence(ReverseSequence),
    /// With its axis.
    Subsequences(ReverseSubsequences, i64),
}

impl Asked {
    pub(crate) fn reverse(
        axes: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
    ) -> PyResult<Self> {
        let (operator, distinct) = axes::reverse(axes, mask, duplicates)?;
        Ok(Asked::Reverse(operator, distinct))
    }

    pub(crate) fn sequence(
        time_axis: &Bound<'_, PyAny>,
        batch_axis: &Bound<'_, PyAny>,
        policy: &str,
    ) -> PyResult<Self> {
        let name = "ReverseSequence";
        let time = axes::single(name, "time_axis", time_axis)?;
        let batch = axes::single(name, "batch_axis", batch_axis)?;
        let operator = ReverseSequence::any_axes(time, batch).policy(parse(name, policy)?);
        Ok(Asked::Sequence(operator))
    }

    pub(crate) fn subsequences(axis: &Bound<'_, PyAny>, policy: &str) -> PyResult<Self> {
        let name = "ReverseSubsequences";
        let axis = axes::single(name, "axis", axis)?;
        let operator = ReverseSubsequences::along(axis).policy(parse(name, policy)?);
        Ok(Asked::Subsequences(operator, axis))
    }

    /// Adds the lengths, and performs the checks of this package that depend on the tensor's shape.
    pub(crate) fn operation(
        &self,
        lengths: Option<&Bound<'_, PyAny>>,
        shape: &[usize],
    ) -> PyResult<Operation> {
        let lengths = |name| match lengths {
            Some(lengths) => Lengths::of(name, lengths),
            None => Err(PyTypeError::new_err(format!("{name}: lengths are missing"))),
        };
        Ok(match self {
            Asked::Reverse(operator, distinct) => {
                distinct.check(shape.len())?;
                Operation::Reverse(operator.clone())
            }
            Asked::Sequence(operator) => {
                Operation::Sequence(operator.clone(), lengths("ReverseSequence")?)
            }
            Asked::Subsequences(operator, axis) => {
                let lengths = lengths("ReverseSubsequences")?.along(*axis, shape)?;
                Operation::Subsequences(operator.clone(), lengths)
            }
        })
    }
}

impl Operation {
    /// The amount of work on such an input in bytes: large calls use several threads.
    pub(crate) fn work_on(&self, input: &View) -> usize {
        let lengths = self.lengths().map_or(0, Lengths::count);
        input.bytes().max(lengths.saturating_mul(size_of::<i64>()))
    }

    pub(crate) fn lengths(&self) -> Option<&Lengths> {
        match self {
            Operation::Reverse(_) => None,
            Operation::Sequence(_, lengths) | Operation::Subsequences(_, lengths) => Some(lengths),
        }
    }

    /// For the CPU: lengths must be readable there.
    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> PyResult<V::Output> {
        match self.lengths().map_or(Place::Host, Lengths::place) {
            Place::Host => self.visit_anywhere(visitor),
            place => Err(PyValueError::new_err(format!(
                "lengths are on {place}, expected them where the input is, on the CPU"
            ))),
        }
    }

    /// For a visitor that does not read lengths, or that checks where they are.
    pub(crate) fn visit_anywhere<V: Visitor>(&self, visitor: V) -> PyResult<V::Output> {
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

fn parse(operator: &str, policy: &str) -> PyResult<LengthPolicy> {
    match policy {
        "strict" => Ok(LengthPolicy::Strict),
        "clamp" => Ok(LengthPolicy::Clamp),
        other => Err(PyValueError::new_err(format!(
            "{operator}: policy {other:?} does not exist, expected \"strict\" or \"clamp\""
        ))),
    }
}
