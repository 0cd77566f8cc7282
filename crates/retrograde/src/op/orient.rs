//! Orient: images in one of the eight orientations.

use super::{check_output, resolve_axis};
use crate::error::{Error, Operator};
use crate::layout::{Layout, Shape};
use crate::orientation::Orientation;
use crate::plan::{Flow, Plan};

const OPERATOR: Operator = Operator::Orient;

/// Gives images the orientation that their EXIF number asks for, in one pass.
///
/// The axes of rows and columns are 0 and 1, as in images of one channel and in images whose channels
/// come last, unless [`axes`](Self::axes) names others.
///
/// ```
/// use retrograde::prelude::*;
/// use retrograde::Orientation;
///
/// let image = [1, 2, 3,
///              4, 5, 6];
/// let upright = Orient::new(Orientation::from_exif(6)?).to_vec(&image, &[2, 3])?;
/// assert_eq!(upright, [4, 1,
///                      5, 2,
///                      6, 3]);
/// let mirrored = Orient::new("mirror".parse()?).to_vec(&image, &[2, 3])?;
/// assert_eq!(mirrored, [3, 2, 1,
///                       6, 5, 4]);
/// # Ok::<(), retrograde::Error>(())
/// ```
///
/// [`OrientEach`](crate::OrientEach) has an orientation for each image of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orient {
    orientation: Orientation,
    axes: [i64; 2],
}

impl Orient {
    /// With the rows along axis 0 and the columns along axis 1.
    pub fn new(orientation: Orientation) -> Self {
        Orient { orientation, axes: [0, 1] }
    }

    /// With rows and columns along these axes, which may count from the end.
    #[must_use]
    pub fn axes(mut self, rows: i64, columns: i64) -> Self {
        self.axes = [rows, columns];
        self
    }

    /// The orientation.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Checks the operands and lowers them to a plan.
    pub fn plan(&self, src: &Layout, dst: &Layout) -> Result<Plan, Error> {
        plan(self.orientation, resolved(self.axes, src.rank())?, src, dst)
    }

    /// The shape that the result has for an input of this shape.
    pub(crate) fn turned(&self, shape: &[usize]) -> Result<Shape, Error> {
        Ok(turned(self.orientation, resolved(self.axes, shape.len())?, shape))
    }
}

/// The axes of rows and columns, from the start.
pub(super) fn resolved(axes: [i64; 2], rank: usize) -> Result<[usize; 2], Error> {
    let resolve =
        |at: usize| resolve_axis(OPERATOR, || format!("axes[{at}]"), i128::from(axes[at]), rank);
    let [rows, columns] = [resolve(0)?, resolve(1)?];
    if rows == columns {
        return Err(Error::SameOrientAxes { argument: "axes[1]", other: "axes[0]", axis: rows });
    }
    Ok([rows, columns])
}

/// The shape of the result.
pub(super) fn turned(orientation: Orientation, axes: [usize; 2], shape: &[usize]) -> Shape {
    let mut shape = Shape::from_slice(shape);
    if orientation.transposes() {
        shape.swap(axes[0], axes[1]);
    }
    shape
}

/// One orientation of these axes.
pub(super) fn plan(
    orientation: Orientation,
    axes: [usize; 2],
    src: &Layout,
    dst: &Layout,
) -> Result<Plan, Error> {
    // The input is read through a view with swapped axes, so elements move once.
    let mut order: Shape = (0..src.rank()).collect();
    let turned;
    let src = if orientation.transposes() {
        order.swap(axes[0], axes[1]);
        turned = src.permuted(&order)?;
        &turned
    } else {
        src
    };
    if src.shape() != dst.shape() {
        let (output, expected) = (dst.shape().to_vec(), src.shape().to_vec());
        return Err(Error::OrientedShape { orientation, output, expected });
    }
    check_output(OPERATOR, src, dst)?;
    let [rows, columns] = orientation.flips();
    let flow_of = |axis: usize| match axis {
        _ if axis == axes[0] && rows => Flow::Flip,
        _ if axis == axes[1] && columns => Flow::Flip,
        _ => Flow::Keep,
    };
    Ok(Plan::build(src, dst, flow_of, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::orientation::Orientation::*;

    #[test]
    fn mirrors_are_the_plans_of_reversals() {
        let image = Layout::dense(DType::U8, &[4, 5, 3]).unwrap();
        for (orientation, axes) in [(FlipUd, &[0][..]), (FlipLr, &[1]), (Rot180, &[0, 1])] {
            let reverse = crate::Reverse::axes(axes.iter().copied());
            let plan = Orient::new(orientation).plan(&image, &image).unwrap();
            assert_eq!(plan, reverse.plan(&image, &image).unwrap());
        }
    }
}
