//! ReverseBatch: whole axes of those entries of a batch that a mask names.

use super::sealed::{Lanes, Operands};
use super::{LengthsOperator, Reverse, WithLengths, check_lengths, check_output, resolve_axis};
use crate::error::{Error, Operator};
use crate::layout::{Layout, Shape};
use crate::lengths::{LengthPolicy, Lengths};
use crate::mask::{Held, Mask, whole_where};
use crate::plan::{Flow, LengthsSource, Plan};
use smallvec::smallvec;

const OPERATOR: Operator = Operator::Reverse;

/// [`Reverse`] on a batch, of which a mask says which entries are reversed: made by
/// [`Reverse::batch`].
///
/// Axes that are reversed must be neighbours in memory, so that they move as one.
///
/// ```
/// use retrograde::prelude::*;
///
/// // Two images of 2 x 3 pixels, of which the second is mirrored.
/// let x = [1, 2, 3,  4, 5, 6,
///          7, 8, 9,  0, 1, 2];
/// let y = Reverse::axes([2]).batch(0).where_(&[false, true]).to_vec(&x, &[2, 2, 3])?;
/// assert_eq!(y, [1, 2, 3,  4, 5, 6,
///                9, 8, 7,  2, 1, 0]);
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseBatch {
    reverse: Reverse,
    batch_axis: i64,
}

impl ReverseBatch {
    pub(super) fn new(reverse: Reverse, batch_axis: i64) -> Self {
        ReverseBatch { reverse, batch_axis }
    }

    /// Binds a mask: a boolean for each entry of the batch axis.
    pub fn where_<'a>(&self, mask: impl Into<Mask<'a>>) -> WithLengths<'a, Self> {
        WithLengths::new(self.clone(), Lengths::from(&[0u64; 0])).where_(mask)
    }

    fn checked_axis(&self, rank: usize) -> Result<usize, Error> {
        resolve_axis(OPERATOR, || "batch_axis".to_owned(), self.batch_axis.into(), rank)
    }
}

impl Lanes for ReverseBatch {
    fn lanes(&self, input: &[usize]) -> Result<Shape, Error> {
        Ok(smallvec![input[self.checked_axis(input.len())?]])
    }

    fn lower(&self, on: &Operands<'_>) -> Result<Plan, Error> {
        let Operands { src, lengths, dst, .. } = *on;
        let (batch, flips) = (self.checked_axis(src.rank())?, self.reverse.flips(src.rank())?);
        if flips[batch] {
            return Err(Error::WhereReversesBatch { axis: batch });
        }
        check_lengths(OPERATOR, lengths, &self.lanes(src.shape())?)?;
        check_output(OPERATOR, src, dst)?;
        // Without axes nothing moves, and a table still needs an axis that tells which entries it is for.
        let beside = (on.marks && !flips.contains(&true)).then(|| [src, dst].map(Layout::with_one));
        let [src, dst] = beside.as_ref().map_or([src, dst], |[src, dst]| [src, dst]);
        let axis_of = |axis| (axis == batch).then_some(0);
        // The limit is that of the axis which the others become.
        let policy = LengthPolicy::Clamp;
        let source = LengthsSource { whole: true, policy, ..on.source(&axis_of, 0) };
        let is_flipped = |axis: usize| flips.get(axis).is_none_or(|&flip| flip);
        let flow_of = |axis| if is_flipped(axis) { Flow::FlipPrefix } else { Flow::Keep };
        let plan = Plan::build(src, dst, flow_of, Some(source));
        match plan.dims().iter().filter(|dim| dim.flow == Flow::FlipPrefix).count() {
            0 | 1 => Ok(plan),
            _ => Err(Error::WhereAxes),
        }
    }

    fn masked<'a>(
        &self,
        _: &Lengths<'a>,
        mask: &Mask<'_>,
        input: &[usize],
    ) -> Result<(Self, Held<'a>), Error> {
        Ok((self.clone(), whole_where(OPERATOR, self.lanes(input)?[0], mask)?))
    }
}

impl LengthsOperator for ReverseBatch {
    const OPERATOR: Operator = OPERATOR;
}
