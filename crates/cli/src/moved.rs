//! Which elements changed places, found by reversing a tensor of positions.

use crate::task::Task;
use anyhow::Result;
use retrograde::{TensorMut, TensorRef};

/// Beyond this many elements, positions would take as much memory as the tensor; a picture
/// of it has no colours then.
const MOST: usize = 1 << 26;

/// Where the element that is now at each position came from.
#[derive(Debug)]
pub(crate) struct Moved {
    shape: Vec<usize>,
    origins: Option<Vec<u32>>,
}

impl Moved {
    /// Runs the task on positions instead of elements, if it is `wanted` at all.
    pub(crate) fn find(task: &Task, shape: &[usize], wanted: bool) -> Result<Moved> {
        let count = shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
        let Some(count) = count.filter(|&count| wanted && count <= MOST) else {
            return Ok(Moved { shape: shape.to_vec(), origins: None });
        };
        // Fits: `MOST` is far below what a `u32` holds.
        let positions: Vec<u32> = (0..count as u32).collect();
        let mut origins = vec![0; count];
        task.run(
            &TensorRef::from_slice(&positions, shape)?,
            &mut TensorMut::from_slice(&mut origins, shape)?,
        )?;
        Ok(Moved { shape: shape.to_vec(), origins: Some(origins) })
    }

    /// Whether the element at this index of the output came from elsewhere.
    pub(crate) fn to(&self, index: &[usize]) -> bool {
        let position = index.iter().zip(&self.shape).fold(0, |sum, (at, size)| sum * size + at);
        let origin = self.origins.as_ref().and_then(|origins| origins.get(position));
        origin.is_some_and(|&origin| origin as usize != position)
    }
}
