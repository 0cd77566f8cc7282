//! What is known about a value before the model runs: from declarations, from constants, and from
//! the operators that produce it.

use super::declared::{Declared, Dim};
use super::numbers;
use super::operand::OperandError;
use crate::value::Value;
use retrograde::DType;

/// The most axes whose sizes are kept.
const MOST_KEPT: usize = 64;

/// Type, sizes and elements, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(super) dtype: Option<DType>,
    /// One entry per axis.
    pub(super) dims: Option<Vec<Option<usize>>>,
    /// The elements, if the value is constant.
    pub(super) value: Option<Value>,
    /// Whether it is a sequence or an optional value, and not a tensor.
    pub(super) is_message: bool,
}

impl Known {
    pub(super) fn new(dtype: Option<DType>, dims: Option<Vec<Option<usize>>>) -> Known {
        Known { dtype, dims, ..Known::default() }
    }

    /// A type and a shape.
    pub(super) fn of_shape(dtype: DType, shape: &[usize]) -> Known {
        Known::new(Some(dtype), Some(shape.iter().copied().map(Some).collect()))
    }

    pub(super) fn of_value(value: &Value) -> Known {
        let known = Known::of_shape(value.dtype(), value.shape());
        Known { value: Some(value.clone()), ..known }
    }

    pub(super) fn of_declared(declared: &Declared) -> Known {
        let size = |dim: &Dim| if let Dim::Fixed(size) = dim { Some(*size) } else { None };
        // A model may declare many sizes, and they are kept for each value.
        let dims = declared.dims.as_ref().filter(|dims| dims.len() <= MOST_KEPT);
        let known = Known::new(declared.dtype, dims.map(|dims| dims.iter().map(size).collect()));
        Known { is_message: declared.container.is_some(), ..known }
    }

    pub(super) fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// The sizes, if all are known.
    pub(super) fn shape(&self) -> Option<Vec<usize>> {
        self.dims.as_ref()?.iter().copied().collect()
    }

    /// The sizes, with 1 for those that are not known.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let dims = self.dims.as_deref().unwrap_or(&[]);
        dims.iter().map(|size| size.unwrap_or(1)).collect()
    }

    /// Fills in what is declared and not known otherwise.
    pub(super) fn or_declared(mut self, declared: &Declared) -> Known {
        let declared = Known::of_declared(declared);
        self.dtype = self.dtype.or(declared.dtype);
        self.dims = match (self.dims.take(), declared.dims) {
            (Some(own), Some(other)) if own.len() == other.len() => {
                Some(own.into_iter().zip(other).map(|(own, other)| own.or(other)).collect())
            }
            (own, other) => own.or(other),
        };
        self
    }

    /// The entries of a list of integers, if they are constant.
    pub(super) fn list(&self, argument: &'static str) -> Result<Option<Vec<i128>>, OperandError> {
        numbers::check_list(argument, self.dtype, self.rank())?;
        self.value.as_ref().map(|value| numbers::list(argument, value)).transpose()
    }

    /// How many entries a list has.
    pub(super) fn count(&self) -> Option<usize> {
        match self.dims.as_deref()? {
            [] => Some(1),
            [count] => *count,
            _ => None,
        }
    }
}
