//! The task: an operator with its arguments, checked against the input.

mod call;
mod complement;
mod lengths;
mod lookup;
mod mask;

pub(crate) use call::Call;
pub(crate) use lengths::from_start;

use crate::args::Operation;
use anyhow::{Result, bail};
use clap::Args;
use lengths::explain;
use lookup::Lookup;
use mask::Entries;
use retrograde::{
    Error, ExecuteError, Layout, LengthsOperator, Operator, Prepared, Reversal, Table, WithLengths,
    cpu::Checked,
};
use retrograde_io::FilesRead;
use retrograde_picture::Movement;

/// An operator with everything that it needs except the tensor.
#[derive(Debug)]
pub struct Task {
    pub(crate) call: Call,
    /// What is reversed, if not everything.
    only: Option<Entries>,
    /// What becomes of it, if anything.
    lookup: Option<Lookup>,
    /// Whether --policy may clamp lengths.
    has_policy: bool,
}

impl Task {
    /// Loads lengths, mask and table, if there are any, and checks everything against the input and
    /// its data. Other files that are read for them are added to `read`.
    pub fn prepare<F: Args>(
        operation: &Operation<F>,
        input: &Layout,
        data: &[u8],
        read: &FilesRead,
    ) -> Result<Task> {
        let task = Task::of(operation, input, read)?;
        // Lengths are checked once, before anything is written.
        task.prepared(input, &task.output(input)?, |_| Ok(()))?;
        match operation {
            Operation::ReverseComplement(arguments) if arguments.strict => {
                let stray = task.call(input, input, |prepared| prepared.stray(input, data))?;
                if let Some(stray) = stray {
                    bail!("reverse-complement: x{stray} (without --strict it keeps its value)");
                }
            }
            _ => {}
        }
        Ok(task)
    }

    fn of<F: Args>(operation: &Operation<F>, input: &Layout, read: &FilesRead) -> Result<Task> {
        let call = Call::of(operation, input, read)?;
        let only = operation.mask().map(|mask| call.entries(mask, input.shape(), read));
        let lookup = operation.table().map(|name| Lookup::load(name, read));
        let has_policy = !matches!(operation, Operation::ReverseComplement(_));
        Ok(Task { call, only: only.transpose()?, lookup: lookup.transpose()?, has_policy })
    }

    /// The axes that are swapped, if any.
    pub(crate) fn swapped(&self) -> Option<(usize, usize)> {
        match &self.call {
            Call::Orient { operator, axes: [rows, columns] } => {
                operator.orientation().transposes().then_some((*rows, *columns))
            }
            _ => None,
        }
    }

    /// A layout for the result, with the strides of the input.
    pub fn output(&self, input: &Layout) -> Result<Layout> {
        let Call::Orient { operator, .. } = &self.call else { return Ok(input.clone()) };
        // Checks the axes too.
        let shape = operator.output_shape(input.shape())?;
        Ok(if self.swapped().is_some() {
            Layout::dense(input.dtype(), &shape)?
        } else {
            input.clone()
        })
    }

    /// Which operator it is.
    pub fn operator(&self) -> Operator {
        match &self.call {
            Call::Reverse { .. } => Operator::Reverse,
            Call::Sequence { .. } => Operator::ReverseSequence,
            Call::Subsequences { .. } => Operator::ReverseSubsequences,
            Call::Segments { .. } => Operator::ReverseSegments,
            Call::Orient { .. } => Operator::Orient,
        }
    }

    /// Prepares the call between these layouts, checks all lengths, and gives it to `body`.
    pub fn prepared<R>(
        &self,
        src: &Layout,
        dst: &Layout,
        body: impl FnOnce(Checked<'_>) -> Result<R, ExecuteError>,
    ) -> Result<R> {
        self.call(src, dst, |prepared| {
            body(prepared.check()?).map_err(|source| prepared.explain(source))
        })
    }

    /// Prepares the call between these layouts and gives it to `body`.
    pub(crate) fn call<R>(
        &self,
        src: &Layout,
        dst: &Layout,
        body: impl FnOnce(&Prepared<'_>) -> Result<R, Error>,
    ) -> Result<R> {
        let only = self.only.as_ref();
        match &self.call {
            Call::Reverse { operator, batch, .. } => match only {
                Some(only) => {
                    let batch = operator.clone().batch(*batch);
                    self.bound(&batch.where_(only.flags()), src, dst, body)
                }
                None => self.bound(operator, src, dst, body),
            },
            Call::Sequence { operator, lengths, .. } => {
                self.bound(&masked(operator.lengths(lengths.view()?), only), src, dst, body)
            }
            Call::Subsequences { operator, lengths, .. } => {
                self.bound(&masked(operator.lengths(lengths.view()?), only), src, dst, body)
            }
            Call::Segments { operator, offsets, .. } => {
                self.bound(&masked(operator.offsets(offsets.view()?), only), src, dst, body)
            }
            Call::Orient { operator, .. } => self.bound(operator, src, dst, body),
        }
    }

    fn bound<'a, R>(
        &self,
        reversal: &impl Reversal<'a>,
        src: &Layout,
        dst: &Layout,
        body: impl FnOnce(&Prepared<'_>) -> Result<R, Error>,
    ) -> Result<R> {
        let prepared = match self.table() {
            Some(table) => reversal.table(table).prepare(src, dst),
            None => reversal.prepare(src, dst),
        };
        let explain = |error| match &error {
            Error::LengthOutOfRange { .. } if !self.has_policy => error.into(),
            _ => explain(error),
        };
        body(&prepared.map_err(explain)?).map_err(explain)
    }

    /// What moves, for headlines and pictures.
    pub fn movement(&self) -> Movement {
        match &self.call {
            Call::Reverse { axes, .. } => Movement::Axes(axes.clone()),
            &Call::Sequence { time, batch, padding, .. } => {
                Movement::Sequence { time, batch, padding }
            }
            &Call::Subsequences { axis, padding, .. } => Movement::Lanes { axis, padding },
            Call::Segments { axis, offsets, .. } => {
                // The operator has accepted the offsets, so each is a number of steps.
                let offset = |at| offsets.integer(&[at]).and_then(|value| value.try_into().ok());
                let offsets = (0..offsets.shape()[0]).filter_map(offset).collect();
                Movement::Segments { axis: *axis, offsets }
            }
            Call::Orient { operator, axes } => {
                let orientation = operator.orientation();
                let (transposes, flips) = (orientation.transposes(), orientation.flips());
                let name = format!("orientation {orientation}");
                Movement::Orient { name, axes: *axes, transposes, flips }
            }
        }
    }

    /// One of the lengths, by its index among them: 0 where a mask is false.
    pub fn length(&self, at: &[usize]) -> i128 {
        match &self.call {
            Call::Reverse { .. } | Call::Segments { .. } | Call::Orient { .. } => 0,
            Call::Sequence { .. } | Call::Subsequences { .. } if !self.has(at) => 0,
            // The operator has accepted the lengths, so there is one.
            Call::Sequence { lengths, .. } | Call::Subsequences { lengths, .. } => {
                lengths.integer(at).unwrap_or(0)
            }
        }
    }

    /// Whether the mask is true at this index of it, or there is none.
    fn has(&self, index: &[usize]) -> bool {
        self.only.as_ref().is_none_or(|only| only.has(index))
    }

    /// Whether a mask of segments or of a batch lets the element at this index stay.
    pub(crate) fn stays(&self, movement: &Movement, index: &[usize]) -> bool {
        match &self.call {
            _ if self.only.is_none() => false,
            Call::Reverse { batch, .. } => !self.has(&[index[from_start(*batch, index.len())]]),
            Call::Segments { .. } => movement.segment(index).is_some_and(|at| !self.has(&[at])),
            _ => false,
        }
    }

    /// The table, if there is one.
    pub(crate) fn table(&self) -> Option<&Table> {
        self.lookup.as_ref().map(|lookup| &lookup.table)
    }

    /// What the table is called.
    pub(crate) fn table_name(&self) -> Option<&str> {
        self.lookup.as_ref().map(|lookup| &*lookup.name)
    }

    /// Replaces an element that is reversed by its entry in the table.
    pub(crate) fn look_up(&self, element: &mut [u8]) {
        if let Some(lookup) = &self.lookup {
            lookup.apply(element);
        }
    }

    /// What headlines say about mask and table; empty without them.
    pub fn note(&self) -> String {
        let only = self.only.as_ref().map(Entries::note).unwrap_or_default();
        let table = self.table_name().map(|name| format!(", table {name}")).unwrap_or_default();
        only + &table
    }
}

/// The operator with its lengths and a mask, if there is one.
fn masked<'a, O: LengthsOperator>(
    bound: WithLengths<'a, O>,
    only: Option<&'a Entries>,
) -> WithLengths<'a, O> {
    match only {
        Some(only) => bound.where_(only.flags()),
        None => bound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;
    use retrograde::DType;

    /// Runs the task of this command line on a tensor of indices; the result must match `origin`.
    fn agrees(command: &str, shape: &[usize]) {
        let words = ["retrograde"].into_iter().chain(command.split(' '));
        let Command::Operate(operation) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("{command} is not an operator");
        };
        let layout = Layout::dense(DType::U32, shape).unwrap();
        let task = Task::prepare(&operation, &layout, &[], &FilesRead::default()).unwrap();
        let positions: Vec<u32> = (0..layout.len() as u32).collect();
        let mut moved = vec![0u32; layout.len()];
        let output = task.output(&layout).unwrap();
        task.prepared(&layout, &output, |checked| {
            let mut pieces = checked.pieces(usize::MAX);
            pieces.try_for_each(|piece| piece.execute(&positions, &mut moved))
        })
        .unwrap();
        for (position, &came_from) in moved.iter().enumerate() {
            let mut index = vec![0; shape.len()];
            let mut rest = position;
            for (at, size) in index.iter_mut().zip(output.shape()).rev() {
                (*at, rest) = (rest % size, rest / size);
            }
            let length = task.movement().length_at(&index).map(|at| task.length(&at));
            let origin = match task.stays(&task.movement(), &index) {
                true => index.clone(),
                false => task.movement().origin(&index, shape, length),
            };
            let number = origin.iter().zip(shape).fold(0, |sum, (at, size)| sum * size + at);
            assert_eq!(number as u32, came_from, "{command} at {index:?}");
        }
    }

    #[test]
    fn origins_are_where_the_engine_takes_elements_from() {
        agrees("reverse x", &[2, 3, 4]);
        agrees("reverse x --axes -1,0,0", &[2, 3, 4]);
        agrees("reverse x --mask 0,1,0", &[2, 3, 4]);
        agrees("reverse-sequence x --lengths 0,3,1,2", &[3, 4, 2]);
        agrees(
            "reverse-sequence x --lengths 9,1,4 --time-axis=1 --batch-axis=0 --policy=clamp",
            &[3, 4, 2],
        );
        agrees("reverse-sequence x --lengths 2,0 --time-axis=-1 --batch-axis=0", &[2, 4, 3]);
        agrees("reverse-sequence x --lengths 2,0,1,3 --time-axis 2 --batch-axis 1", &[2, 4, 3]);
        agrees("reverse-subsequences x --axis 1 --lengths 0,1,2,3,9,2", &[2, 3, 3]);
        agrees("reverse-subsequences x --axis=-3 --lengths 0,1,2,3", &[3, 2, 2]);
        agrees("reverse-sequence x --lengths 0,3,1,2 --align end", &[3, 4, 2]);
        agrees("reverse-subsequences x --axis=-3 --lengths 0,1,2,3 --align end", &[3, 2, 2]);
        agrees("reverse-segments x --offsets 0,2,2,5", &[6, 2]);
        agrees("reverse-segments x --offsets 0,2,5 --axis=-1", &[2, 5]);
        agrees("reverse x --axes 1,2 --where 1,0", &[2, 3, 4]);
        agrees("reverse x --axes 0 --where 0,1,1 --batch-axis=-2", &[2, 3, 4]);
        agrees("reverse-sequence x --lengths 9,3,-1,2 --where 0,1,0,1", &[3, 4, 2]);
        agrees(
            "reverse-subsequences x --axis 1 --lengths 0,1,2,3,9,2 --where 1,1,0,0,1,1",
            &[2, 3, 3],
        );
        agrees("reverse-segments x --offsets 0,2,2,5 --where 1,0,0", &[6, 2]);
        agrees("reverse-segments x --offsets 0 --where=", &[2]);
        for exif in 1..=8 {
            agrees(&format!("orient x --exif {exif}"), &[3, 4]);
            agrees(&format!("orient x --orientation {exif} --axes=-1,0"), &[3, 2, 4]);
        }
        agrees("orient x --orientation mirror", &[3, 4, 2]);
        agrees("rot90 x -k -3 --axes 1,2", &[3, 4, 2]);
    }
}
