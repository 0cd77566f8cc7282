//! What is to be done, before arrays are known.

use crate::array::Array;
use crate::axes::Axes;
use crate::error::Error;
use crate::grid::Grid;
use crate::movement::Movement;
use crate::sequences::Padded;

/// An operator and its arguments.
#[derive(Debug, Clone)]
pub enum Operation {
    /// Whole axes of all arrays.
    Reverse(Axes),
    /// The sequences of one array.
    Sequences(Padded),
}

impl From<Axes> for Operation {
    fn from(axes: Axes) -> Self {
        Operation::Reverse(axes)
    }
}

impl Operation {
    /// What becomes of each array of a store.
    pub(crate) fn resolve(&self, at: &str, arrays: &[Array]) -> Result<Vec<Movement>, Error> {
        match (self, arrays) {
            (Operation::Reverse(axes), arrays) => {
                Ok(axes.resolve(arrays)?.into_iter().map(Movement::Flip).collect())
            }
            (Operation::Sequences(padded), [only]) if only.path.is_empty() => {
                Ok(vec![Movement::Sequences(padded.of(&only.name, &only.grid)?)])
            }
            (Operation::Sequences(_), arrays) => {
                let count = arrays.len();
                let what =
                    format!("a group of {count} arrays; name the one to reverse: STORE:PATH");
                Err(Error::Unsupported { at: at.to_owned(), what })
            }
        }
    }

    /// What becomes of one array; `axes` are the names of its axes.
    pub(crate) fn of(
        &self,
        at: &str,
        grid: &Grid,
        axes: &[Option<String>],
    ) -> Result<Movement, Error> {
        match self {
            Operation::Reverse(list) => {
                list.check_names(axes.iter().flatten())?;
                list.of(at, false, axes).map(Movement::Flip)
            }
            Operation::Sequences(padded) => padded.of(at, grid).map(Movement::Sequences),
        }
    }
}
