//! Sequence lengths as an argument: a tensor, or a flat slice with one length per lane; and in
//! memory with their type, as backends read them.

use crate::dtype::DType;
use crate::element::LengthElement;
use crate::error::{Error, LayoutError, Operator};
use crate::layout::Layout;
use crate::tensor::{Memory, TensorRef};

/// The allowed types of lengths, for errors.
pub(crate) const ANY_INTEGER: &str = "an integer type (i8 ... u64)";

/// What to do with a length beyond the size of the axis.
///
/// A negative length is an error under either policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LengthPolicy {
    /// It is an error, and nothing is written.
    Strict,
    /// It is clamped to the size of the axis.
    Clamp,
}

/// At which end of the axis each sequence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Align {
    /// Sequences start at step 0, and padding follows them: the first `len` steps are reversed.
    #[default]
    Start,
    /// Sequences end at the last step, and padding precedes them, as in left-padded batches of
    /// language models: the last `len` steps are reversed.
    End,
}

/// What happens to the padding: the steps of the axis beyond a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tail {
    /// It stays as it is.
    #[default]
    Keep,
    /// It becomes zero bytes. For element types that are known to have such a value: not for
    /// slices of arbitrary types, where zero bytes may be invalid.
    Zero,
}

/// Lengths given to an operator.
///
/// Created from a [`TensorRef`] of the shape that the operator expects, or from a slice with one
/// length per lane in row-major order, which is reshaped to it.
#[derive(Debug, Clone)]
pub struct Lengths<'a> {
    values: Values<'a>,
}

#[derive(Debug, Clone)]
enum Values<'a> {
    Tensor(TensorRef<'a>),
    Flat { dtype: DType, memory: Memory<'a> },
}

/// Lengths (or offsets) in memory with their integer type: what a plan is run with.
///
/// Created from a slice of integers, or from a [`TensorRef`]. A backend refuses a type other than the
/// one that its plan was made for.
///
/// ```
/// use retrograde::{DType, Layout, LengthsOperator, ReverseSequence, cpu};
///
/// let rows = Layout::dense(DType::U8, &[2, 4])?;
/// let lengths = Layout::dense(DType::I64, &[2])?;
/// let plan = ReverseSequence::new().time_axis(1).batch_axis(0).plan(&rows, &lengths, &rows)?;
/// let (x, mut y) = (b"abcdefgh", [0u8; 8]);
/// cpu::execute(&plan, x.into(), Some((&[4i64, 2]).into()), (&mut y).into())?;
/// assert_eq!(&y, b"dcbafegh");
/// let error = cpu::execute(&plan, x.into(), Some((&[4i32, 2, 0, 0]).into()), (&mut y).into());
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "the lengths are of type i32, but the plan was made for i64: convert them to i64, or plan for i32",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LengthsMemory<'a> {
    dtype: DType,
    memory: Memory<'a>,
}

impl<'a> LengthsMemory<'a> {
    /// Bytes that hold values of this type.
    pub fn new(dtype: DType, memory: impl Into<Memory<'a>>) -> Self {
        LengthsMemory { dtype, memory: memory.into() }
    }

    /// The type of the values.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The bytes.
    pub fn memory(&self) -> Memory<'a> {
        self.memory
    }
}

impl<'a, L: LengthElement> From<&'a [L]> for LengthsMemory<'a> {
    fn from(slice: &'a [L]) -> Self {
        LengthsMemory::new(L::DTYPE, slice)
    }
}

impl<'a, L: LengthElement, const N: usize> From<&'a [L; N]> for LengthsMemory<'a> {
    fn from(array: &'a [L; N]) -> Self {
        LengthsMemory::from(array.as_slice())
    }
}

impl<'a, L: LengthElement> From<&'a Vec<L>> for LengthsMemory<'a> {
    fn from(vec: &'a Vec<L>) -> Self {
        LengthsMemory::from(vec.as_slice())
    }
}

impl<'a> From<&TensorRef<'a>> for LengthsMemory<'a> {
    fn from(tensor: &TensorRef<'a>) -> Self {
        LengthsMemory::new(tensor.layout().dtype(), tensor.memory())
    }
}

impl<'a> Lengths<'a> {
    /// One length per lane in row-major order, of a type known only at run time.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Lengths};
    ///
    /// let bytes = [3u8, 0, 2, 0]; // two little-endian 16-bit integers
    /// # if cfg!(target_endian = "big") { return Ok(()) }
    /// let lengths = Lengths::flat(DType::U16, &bytes[..]);
    /// let y = ReverseSequence::new().lengths(lengths).to_vec(&[1, 2, 3, 4, 5, 6], &[3, 2])?;
    /// assert_eq!(y, [5, 4, 3, 2, 1, 6]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn flat(dtype: DType, memory: impl Into<Memory<'a>>) -> Self {
        Lengths { values: Values::Flat { dtype, memory: memory.into() } }
    }

    /// The values as a 1-D tensor, if they are a flat slice; a tensor is returned unchanged.
    pub(crate) fn in_a_row(&self, operator: Operator) -> Result<TensorRef<'a>, Error> {
        match &self.values {
            Values::Tensor(tensor) => Ok(tensor.clone()),
            Values::Flat { dtype, .. } if !dtype.is_integer() => {
                Err(Error::OffsetsType { dtype: *dtype, allowed: ANY_INTEGER })
            }
            Values::Flat { dtype, memory } => {
                let argument = |source| Error::Argument { operator, argument: "offsets", source };
                let width = Layout::dense(*dtype, &[]).map_err(argument)?.width();
                let layout = Layout::dense(*dtype, &[memory.len() / width]).map_err(argument)?;
                let (expected, available) = (layout.byte_len(), memory.len());
                if expected != available {
                    let (shape, dtype) = (layout.shape().to_vec(), *dtype);
                    let source = LayoutError::SizeMismatch { shape, dtype, expected, available };
                    return Err(argument(source));
                }
                TensorRef::new(layout, *memory).map_err(argument)
            }
        }
    }

    /// The lengths as a tensor of the shape that `operator` expects.
    ///
    /// A tensor is returned unchanged; the operator checks its shape.
    pub(crate) fn shaped(
        &self,
        operator: Operator,
        expected: &[usize],
    ) -> Result<TensorRef<'a>, Error> {
        match &self.values {
            Values::Tensor(tensor) => Ok(tensor.clone()),
            &Values::Flat { dtype, memory } => {
                if !dtype.is_integer() {
                    return Err(Error::LengthsType { operator, dtype, allowed: ANY_INTEGER });
                }
                let argument =
                    |source: LayoutError| Error::Argument { operator, argument: "lengths", source };
                let layout = Layout::dense(dtype, expected).map_err(argument)?;
                let (count, rest) = (memory.len() / layout.width(), memory.len() % layout.width());
                if rest != 0 {
                    let (shape, available) = (expected.to_vec(), memory.len());
                    let expected = layout.byte_len();
                    let source = LayoutError::SizeMismatch { shape, dtype, expected, available };
                    return Err(argument(source));
                }
                if count != layout.len() {
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
        Lengths::flat(L::DTYPE, slice)
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
