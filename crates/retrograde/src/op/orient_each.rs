//! OrientEach: a batch of images with an orientation for each.

use super::orient;
use super::resolve_axis;
use crate::error::{Error, Operator};
use crate::layout::{Layout, Shape};
use crate::orientation::Orientation;
use crate::plan::Plan;

const OPERATOR: Operator = Operator::Orient;

/// Orients each image of a batch in its own way. The results must have one shape.
///
/// ```
/// use retrograde::{OrientEach, Orientation};
///
/// let images = [1, 2, 3, 4,  1, 2, 3, 4];
/// let each = OrientEach::new([Orientation::FlipLr, Orientation::Rot90]);
/// assert_eq!(each.to_vec(&images, &[2, 2, 2])?, [2, 1, 4, 3,  2, 4, 1, 3]);
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrientEach {
    orientations: Vec<Orientation>,
    axes: Option<[i64; 2]>,
    batch_axis: i64,
}

impl OrientEach {
    /// One for each entry of axis 0. Rows and columns are the next two axes.
    pub fn new(orientations: impl IntoIterator<Item = Orientation>) -> Self {
        OrientEach { orientations: orientations.into_iter().collect(), axes: None, batch_axis: 0 }
    }

    /// With rows and columns along these axes of the batch, which may count from the end. Without,
    /// they are the first two that are not the batch axis.
    #[must_use]
    pub fn axes(mut self, rows: i64, columns: i64) -> Self {
        self.axes = Some([rows, columns]);
        self
    }

    /// With the images along this axis, which may count from the end.
    #[must_use]
    pub fn batch_axis(mut self, axis: i64) -> Self {
        self.batch_axis = axis;
        self
    }

    /// The orientations.
    pub fn orientations(&self) -> &[Orientation] {
        &self.orientations
    }

    /// The shape that the result has for a batch of this shape.
    pub fn output_shape(&self, input: &[usize]) -> Result<Vec<usize>, Error> {
        Ok(self.turned(input)?.1.to_vec())
    }

    /// Checks the operands and lowers each image to a plan on the memory of the batch.
    pub fn plans(&self, src: &Layout, dst: &Layout) -> Result<Vec<Plan>, Error> {
        let ([batch, rows, columns], expected) = self.turned(src.shape())?;
        if dst.shape() != &expected[..] {
            let (output, expected) = (dst.shape().to_vec(), expected.to_vec());
            let orientation = self.orientations.first().copied().unwrap_or(Orientation::Identity);
            return Err(Error::OrientedShape { orientation, output, expected });
        }
        // Of the whole: images of a layout that may overlap itself could be written twice.
        super::check_output_memory(OPERATOR, src, dst)?;
        let each = self.orientations.iter().enumerate();
        each.map(|(at, &orientation)| {
            let (src, dst) = (src.sliced(batch, at, 1, 1)?, dst.sliced(batch, at, 1, 1)?);
            orient::plan(orientation, [rows, columns], &src, &dst)
        })
        .collect()
    }

    /// The axes of images, rows and columns, and the shape of the result.
    fn turned(&self, input: &[usize]) -> Result<([usize; 3], Shape), Error> {
        let rank = input.len();
        let batch = || "batch_axis".to_owned();
        let batch = resolve_axis(OPERATOR, batch, i128::from(self.batch_axis), rank)?;
        let others = self.axes.unwrap_or(match batch {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        });
        let [rows, columns] = orient::resolved(others, rank)?;
        for (other, axis) in [("axes[0]", rows), ("axes[1]", columns)] {
            if axis == batch {
                return Err(Error::SameOrientAxes { argument: "batch_axis", other, axis });
            }
        }
        let (got, expected) = (self.orientations.len(), input[batch]);
        if got != expected {
            return Err(Error::OrientationCount { got, expected, batch_axis: batch });
        }
        let first = self.orientations.first().copied().unwrap_or(Orientation::Identity);
        let shape = orient::turned(first, [rows, columns], input);
        let differs = |other: &Orientation| other.transposes() != first.transposes();
        if let Some(position) = self.orientations.iter().position(differs)
            && input[rows] != input[columns]
        {
            let orientation = self.orientations[position];
            let [rows, columns] = [shape[rows], shape[columns]];
            return Err(Error::OrientationsDiffer { position, orientation, first, rows, columns });
        }
        Ok(([batch, rows, columns], shape))
    }
}
