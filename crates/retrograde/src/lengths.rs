//! Sequence lengths as an argument: a tensor, or a flat slice with one length per lane.

use crate::dtype::DType;
use crate::element::LengthElement;
use crate::error::{Error, LayoutError, Operator};
use crate::layout::Layout;
use crate::tensor::{Memory, TensorRef};

/// What to do with a length beyond the size of the axis.
///
/// A negative length is an error under either policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LengthPolicy {
    /// It is an error, and nothing is written.
    Strict,
    /// It means the whole axis.
    Clamp,
}

/// Lengths given to an operator.
///
/// Made from a [`TensorRef`] of the shape the operator asks for, or from a slice with one
/// length per lane in row-major order, which takes that shape by itself.
#[derive(Debug, Clone)]
pub struct Lengths<'a> {
    values: Values<'a>,
}

#[derive(Debug, Clone)]
enum Values<'a> {
    Tensor(TensorRef<'a>),
    Flat { dtype: DType, memory: Memory<'a>, count: usize },
}

impl<'a> Lengths<'a> {
    /// The lengths as a tensor of the shape that `operator` expects.
    ///
    /// A tensor is passed on as it is: whether its shape is right is for the operator to say.
    pub(crate) fn shaped(
        &self,
        operator: Operator,
        expected: &[usize],
    ) -> Result<TensorRef<'a>, Error> {
        match &self.values {
            Values::Tensor(tensor) => Ok(tensor.clone()),
            &Values::Flat { dtype, memory, count } => {
                let argument =
                    |source: LayoutError| Error::Argument { operator, argument: "lengths", source };
                let layout = Layout::dense(dtype, expected).map_err(argument)?;
                if layout.len() != count {
                    return Err(Error::LengthsCount {
                        operator,
                        got: count,
                        expected: layout.len(),
                        lanes: expected.to_vec(),
                    });
                }
                TensorRef::new(layout, memory).map_err(argument)
            }
        }
    }
}

impl<'a, L: LengthElement> From<&'a [L]> for Lengths<'a> {
    fn from(slice: &'a [L]) -> Self {
        let values =
            Values::Flat { dtype: L::DTYPE, memory: Memory::from(slice), count: slice.len() };
        Lengths { values }
    }
}

impl<'a, L: LengthElement, const N: usize> From<&'a [L; N]> for Lengths<'a> {
    fn from(array: &'a [L; N]) -> Self {
        Lengths::from(array.as_slice())
    }
}

impl<'a, L: LengthElement> From<&'a Vec<L>> for Lengths<'a> {
    fn from(vec: &'a Vec<L>) -> Self {
        Lengths::from(vec.as_slice())
    }
}

impl<'a> From<TensorRef<'a>> for Lengths<'a> {
    fn from(tensor: TensorRef<'a>) -> Self {
        Lengths { values: Values::Tensor(tensor) }
    }
}

impl<'a> From<&TensorRef<'a>> for Lengths<'a> {
    fn from(tensor: &TensorRef<'a>) -> Self {
        Lengths::from(tensor.clone())
    }
}
