//! What is to be done, before arrays are known.

use crate::axes::Axes;
use crate::error::Error;
use crate::movement::Movement;
use crate::sequences::Padded;
use crate::subject::Subject;

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
    /// What becomes of each array of a store or file.
    pub(crate) fn resolve(&self, at: &str, arrays: &[Subject<'_>]) -> Result<Vec<Movement>, Error> {
        match (self, arrays) {
            (Operation::Reverse(axes), arrays) => {
                Ok(axes.resolve(arrays)?.into_iter().map(Movement::Flip).collect())
            }
            (Operation::Sequences(padded), [only]) if only.path.is_empty() => {
                Ok(vec![Movement::Sequences(padded.of(only.name, only.grid)?)])
            }
            (Operation::Sequences(_), arrays) => {
                let count = arrays.len();
                let what = format!(
                    "has {count} arrays; name the one to reverse: STORE:PATH or FILE:DATASET"
                );
                Err(Error::Unsupported { at: at.to_owned(), what })
            }
        }
    }
}
