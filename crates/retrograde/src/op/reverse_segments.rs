//! ReverseSegments: one axis cut by offsets, each segment reversed.

use super::sealed::{Lanes, Operands};
use super::{LengthsOperator, WithLengths, check_output, resolve_axis};
use crate::dtype::DType;
use crate::error::{Error, Operator};
use crate::layout::{Layout, Shape};
use crate::lengths::{ANY_INTEGER, Lengths};
use crate::mask::{Held, Mask, offsets_where};
use crate::plan::{Flow, LengthsSource, Meaning, Plan};
use crate::tensor::TensorRef;
use smallvec::smallvec;

const OPERATOR: Operator = Operator::ReverseSegments;

/// Reverses every segment of one axis, for sequences that are packed one behind the other instead
/// of padded: `cu_seqlens` of attention kernels, the offsets of ragged and nested tensors and of
/// Arrow lists.
///
/// Segment `i` is `offsets[i]..offsets[i + 1]`. There is one offset more than segments, of any
/// integer type; the first is 0, they ascend (a segment may be empty), and the last is at most the
/// size of the axis. Elements behind the last offset stay.
///
/// ```
/// use retrograde::prelude::*;
///
/// let x = *b"stressedliveradar..";
/// let words = ReverseSegments::along(0).offsets(&[0, 8, 12, 17]);
/// assert_eq!(&words.to_vec(&x, &[19])?, b"dessertsevilradar..");
///
/// // Offsets must ascend.
/// let error = ReverseSegments::along(0).offsets(&[0, 8, 5]).to_vec(&x, &[19]).unwrap_err();
/// assert_eq!(error.to_string(), "ReverseSegments: offsets[2] is 5, outside [8, 19]");
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseSegments {
    axis: i64,
    marked: bool,
}

impl ReverseSegments {
    /// Along this axis, which may count from the end.
    pub fn along(axis: i64) -> Self {
        ReverseSegments { axis, marked: false }
    }

    /// With offsets that are marked: of type i64, each twice what it would be, and one more where the
    /// segment that it starts is reversed. The others stay. This is what [`where_`](WithLengths::where_)
    /// makes, for callers that make it themselves, such as on a device.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let marked = [1_i64, 3 * 2, 5 * 2];
    /// let y = ReverseSegments::along(0).marked().offsets(&marked).to_vec(b"abcde", &[5])?;
    /// assert_eq!(y, b"cbade");
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    #[must_use]
    pub fn marked(mut self) -> Self {
        self.marked = true;
        self
    }

    /// Binds offsets: one more than segments.
    pub fn offsets<'a>(&self, offsets: impl Into<Lengths<'a>>) -> WithLengths<'a, Self> {
        WithLengths::new(self.clone(), offsets.into())
    }

    fn checked_axis(&self, rank: usize) -> Result<usize, Error> {
        resolve_axis(OPERATOR, || "axis".to_owned(), self.axis.into(), rank)
    }
}

/// What the operator asks of offsets, whatever they are.
fn check_offsets(offsets: &Layout) -> Result<(), Error> {
    if !offsets.dtype().is_integer() {
        return Err(Error::OffsetsType { dtype: offsets.dtype(), allowed: ANY_INTEGER });
    }
    if offsets.rank() != 1 || offsets.is_empty() {
        return Err(Error::OffsetsShape { shape: offsets.shape().to_vec() });
    }
    Ok(())
}

impl Lanes for ReverseSegments {
    /// One segment: two offsets. Any number is allowed.
    fn lanes(&self, input: &[usize]) -> Result<Shape, Error> {
        self.checked_axis(input.len())?;
        Ok(smallvec![2])
    }

    fn lower(&self, on: &Operands<'_>) -> Result<Plan, Error> {
        let Operands { src, lengths: offsets, dst, .. } = *on;
        let cut = self.checked_axis(src.rank())?;
        check_offsets(offsets)?;
        if self.marked && offsets.dtype() != DType::I64 {
            return Err(Error::OffsetsType { dtype: offsets.dtype(), allowed: "i64 if marked" });
        }
        check_output(OPERATOR, src, dst)?;
        let meaning = if self.marked { Meaning::MarkedOffsets } else { Meaning::Offsets };
        let source = LengthsSource { meaning, ..on.source(&|_| None, src.shape()[cut]) };
        let flow_of = |axis| if axis == cut { Flow::FlipSegments } else { Flow::Keep };
        Ok(Plan::build(src, dst, flow_of, Some(source)))
    }

    fn masked<'a>(
        &self,
        offsets: &Lengths<'a>,
        mask: &Mask<'_>,
        input: &[usize],
    ) -> Result<(Self, Held<'a>), Error> {
        let offsets = self.shaped(offsets, input)?;
        check_offsets(offsets.layout())?;
        Ok((self.clone().marked(), offsets_where(OPERATOR, &offsets, mask)?))
    }
}

impl LengthsOperator for ReverseSegments {
    const OPERATOR: Operator = OPERATOR;

    fn shaped<'a>(&self, offsets: &Lengths<'a>, input: &[usize]) -> Result<TensorRef<'a>, Error> {
        self.checked_axis(input.len())?;
        offsets.in_a_row(OPERATOR)
    }
}
