//! Which axes are reversed: numbers, names or a mask, resolved for each array of a store.

use crate::error::Error;
use crate::subject::Subject;
use retrograde::{DType, Layout, Reverse};
use std::collections::BTreeSet;

/// The axes to reverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axes {
    /// All of them.
    All,
    /// By number or by name. Naming an axis twice reverses it once, or is an error if `distinct`.
    List {
        /// The axes.
        axes: Vec<Axis>,
        /// Whether each may be named only once.
        distinct: bool,
    },
    /// One boolean per axis.
    Mask(Vec<bool>),
}

/// An axis. Numbers may be negative and count from the end then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// By its number.
    Number(i64),
    /// By its name.
    Name(String),
}

impl Axes {
    /// For each array, which of its axes are reversed.
    ///
    /// A name applies to the arrays that have it; one of them must. Numbers and masks apply to all
    /// arrays except scalars.
    pub(crate) fn resolve(&self, arrays: &[Subject<'_>]) -> Result<Vec<Vec<bool>>, Error> {
        self.check_names(arrays.iter().flat_map(|array| array.axes.iter().flatten()))?;
        let of = |array: &Subject<'_>| self.of(array.name, !array.path.is_empty(), array.axes);
        arrays.iter().map(of).collect()
    }

    /// Refuses a name that is not among the known ones.
    fn check_names<'n>(&self, known: impl Iterator<Item = &'n String>) -> Result<(), Error> {
        let Axes::List { axes, .. } = self else { return Ok(()) };
        let known: BTreeSet<&String> = known.collect();
        for (position, axis) in axes.iter().enumerate() {
            if let Axis::Name(name) = axis
                && !known.contains(name)
            {
                let (name, known) = (name.clone(), known.into_iter().cloned().collect());
                return Err(Error::AxisName { position, name, known });
            }
        }
        Ok(())
    }

    /// Which axes of one array are reversed; `axes` are their names. A scalar has no axes, but is
    /// accepted as part of a group.
    fn of(&self, at: &str, in_group: bool, axes: &[Option<String>]) -> Result<Vec<bool>, Error> {
        let rank = axes.len();
        let mut flipped = vec![false; rank];
        match self {
            Axes::All => flipped.fill(true),
            _ if rank == 0 && in_group => {}
            Axes::Mask(mask) if mask.len() == rank => flipped.clone_from(mask),
            Axes::Mask(mask) => {
                return Err(Error::Mask { at: at.to_owned(), got: mask.len(), rank });
            }
            Axes::List { axes: list, distinct } => {
                let numbers: Vec<i64> = list.iter().filter_map(|axis| number(axes, axis)).collect();
                let operator = Reverse::axes(numbers.iter().copied());
                let operator = if *distinct { operator.distinct() } else { operator };
                // The operator checks its axes against a tensor of the same rank.
                let refused =
                    |source| Error::Operator { at: at.to_owned(), source: Box::new(source) };
                let any = Layout::dense(DType::U8, &vec![1; rank]);
                let any = any.map_err(|error| refused(error.into()))?;
                operator.plan(&any, &any).map_err(refused)?;
                for number in numbers {
                    flipped[number.rem_euclid(rank as i64) as usize] = true;
                }
            }
        }
        Ok(flipped)
    }
}

/// The number of an axis of this array; none for a name that it does not have.
fn number(names: &[Option<String>], axis: &Axis) -> Option<i64> {
    match axis {
        Axis::Number(number) => Some(*number),
        Axis::Name(name) => {
            let found = names.iter().position(|known| known.as_ref() == Some(name))?;
            i64::try_from(found).ok()
        }
    }
}
