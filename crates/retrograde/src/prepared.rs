//! A prepared call: checked and planned once, run on any memory of the same layout.

use crate::cpu::{self, Checked, Hint, Program};
use crate::dtype::DType;
use crate::error::{Error, ExecuteError, Operator};
use crate::layout::Layout;
use crate::lengths::{ANY_INTEGER, Lengths, LengthsMemory};
use crate::mask::Held;
use crate::plan::{Meaning, Plan};
use crate::table::Table;
use crate::tensor::{Memory, MemoryMut, TensorRef};

/// An operator between two layouts, checked and planned: made by `prepare`, run often.
///
/// ```
/// use retrograde::prelude::*;
/// use retrograde::{DType, Layout};
///
/// let rows = Layout::dense(DType::F32, &[2, 3])?;
/// let flip = Reverse::axes([1]).prepare(&rows, &rows)?;
///
/// let mut y = [0f32; 6];
/// flip.run(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &mut y)?;
/// assert_eq!(y, [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
/// flip.run_in_place(&mut y)?;
/// assert_eq!(y, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), retrograde::Error>(())
/// ```
///
/// Errors are as complete as those of a call that is not prepared. On an error nothing has been
/// written.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    operator: Operator,
    program: Program,
    lengths: Option<Held<'a>>,
}

/// A call that is checked and planned, and runs once: how it moves is chosen for that run alone, which
/// takes a fifth of a small call less than a program that is kept.
pub struct Planned<'a> {
    pub(crate) operator: Operator,
    pub(crate) plan: Plan,
    pub(crate) lengths: Option<Held<'a>>,
    pub(crate) table: Option<Table>,
}

impl<'a> Planned<'a> {
    /// The same, to run often.
    pub(crate) fn prepared(self) -> Prepared<'a> {
        let Planned { operator, plan, lengths, table } = self;
        Prepared { operator, program: Program::new(plan).table(table), lengths }
    }

    /// Runs it from one memory to another. If both are the same, in place.
    pub(crate) fn run(&self, input: Memory<'_>, output: MemoryMut<'_>) -> Result<(), Error> {
        match &self.table {
            None => cpu::execute(&self.plan, input, self.lengths_memory(), output),
            Some(_) => self.program().execute(input, self.lengths_memory(), output),
        }
        .map_err(|source| self.explain(source))
    }

    /// Runs it on one memory, in place.
    pub(crate) fn run_in_place(&self, data: MemoryMut<'_>) -> Result<(), Error> {
        match &self.table {
            None => cpu::execute_in_place(&self.plan, self.lengths_memory(), data),
            Some(_) => self.program().execute_in_place(self.lengths_memory(), data),
        }
        .map_err(|source| self.explain(source))
    }

    fn program(&self) -> Program {
        Program::new(self.plan.clone()).table(self.table.clone())
    }

    fn lengths_memory(&self) -> Option<LengthsMemory<'_>> {
        self.lengths.as_ref().map(Held::memory)
    }

    fn explain(&self, source: ExecuteError) -> Error {
        source.explained(self.operator, self.lengths.as_ref().map(Held::layout))
    }
}

impl<'a> Prepared<'a> {
    /// The call that a plan was made for, with its lengths, if the operator has any. For callers
    /// that keep plans.
    #[inline]
    pub fn from_plan(operator: Operator, plan: Plan, lengths: Option<TensorRef<'a>>) -> Self {
        Prepared { operator, program: Program::new(plan), lengths: lengths.map(Held::Given) }
    }

    /// The same with what is known about its output: whether it is read soon. Without a hint, the
    /// size of the output decides. [Pieces](Checked::pieces) and calls in place follow none.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout, cpu::Hint};
    ///
    /// let rows = Layout::dense(DType::U8, &[2, 3])?;
    /// let flip = Reverse::axes([1]).prepare(&rows, &rows)?.hint(Hint::ReadSoon);
    /// let mut y = [0; 6];
    /// flip.run(b"abcdef", &mut y)?;
    /// assert_eq!(&y, b"cbafed");
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    #[must_use]
    pub fn hint(self, hint: Hint) -> Self {
        Prepared { program: self.program.hint(hint), ..self }
    }

    /// Which operator it is.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// What it moves.
    pub fn plan(&self) -> &Plan {
        self.program.plan()
    }

    /// How it moves on the CPU.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What elements are looked up in, if in anything. The plan alone does not know it.
    pub fn table(&self) -> Option<&Table> {
        self.program.looked_up_in()
    }

    /// The same with another table, if it has one, for elements of this type.
    pub(crate) fn with_table(&self, table: Table, dtype: DType) -> Result<Self, Error> {
        table.check(self.operator, dtype)?;
        let table = self.table().map(|_| table);
        Ok(Prepared { program: self.program.clone().table(table), ..self.clone() })
    }

    /// The lengths, if the operator has any; with a mask, those that were made from both.
    pub fn lengths(&self) -> Option<TensorRef<'_>> {
        self.lengths.as_ref().and_then(Held::tensor)
    }

    /// The lengths in memory, as backends read them.
    pub fn lengths_memory(&self) -> Option<LengthsMemory<'_>> {
        self.lengths.as_ref().map(Held::memory)
    }

    /// The same with other lengths: those of the next batch, of any integer type, which they keep.
    /// Another layout is refused, because the plan reads them in its own way.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout};
    ///
    /// let batch = Layout::dense(DType::U8, &[2, 4])?;
    /// let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
    /// let mut y = [0u8; 8];
    /// let prepared = rows.lengths(&[4, 2]).prepare(&batch, &batch)?;
    /// prepared.run(b"abcdefgh", &mut y)?;
    /// assert_eq!(&y, b"dcbafegh");
    /// let prepared = prepared.with_lengths(&[1u8, 3])?;
    /// prepared.run(b"abcdefgh", &mut y)?;
    /// assert_eq!(&y, b"abcdgfeh");
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn with_lengths<'b>(self, lengths: impl Into<Lengths<'b>>) -> Result<Prepared<'b>, Error> {
        let (operator, lengths) = (self.operator, lengths.into());
        let Some((known, plan)) = self.lengths.as_ref().zip(self.plan().lengths()) else {
            let source = ExecuteError::LengthsUnexpected;
            return Err(Error::Execute { operator, source });
        };
        let (known, meaning) = (known.layout(), plan.meaning);
        let lengths = match meaning {
            Meaning::Lengths => lengths.shaped(operator, known.shape())?,
            Meaning::Offsets | Meaning::MarkedOffsets => lengths.in_a_row(operator)?,
        };
        let dtype = lengths.layout().dtype();
        if !dtype.is_integer() {
            return Err(match meaning {
                Meaning::Lengths => Error::LengthsType { operator, dtype, allowed: ANY_INTEGER },
                _ => Error::OffsetsType { dtype, allowed: ANY_INTEGER },
            });
        }
        if meaning == Meaning::MarkedOffsets && dtype != DType::I64 {
            return Err(Error::OffsetsType { dtype, allowed: "i64 if marked" });
        }
        if !known.is_same_in_elements(lengths.layout()) {
            let (values, given) = (meaning.name(), in_words(lengths.layout()));
            return Err(Error::PreparedLengths {
                operator,
                values,
                given,
                prepared: in_words(known),
            });
        }
        let program = match dtype == plan.dtype {
            true => self.program,
            false => self.program.with_lengths_type(dtype),
        };
        Ok(Prepared { operator, program, lengths: Some(Held::Given(lengths)) })
    }

    /// Runs it from one memory to another. If both are the same, in place.
    pub fn run<'m>(
        &self,
        input: impl Into<Memory<'m>>,
        output: impl Into<MemoryMut<'m>>,
    ) -> Result<(), Error> {
        self.program
            .execute(input.into(), self.lengths_memory(), output.into())
            .map_err(|source| self.explain(source))
    }

    /// Runs it on one memory, in place.
    pub fn run_in_place<'m>(&self, data: impl Into<MemoryMut<'m>>) -> Result<(), Error> {
        self.program
            .execute_in_place(self.lengths_memory(), data.into())
            .map_err(|source| self.explain(source))
    }

    /// Checks all lengths, and gives the proof with which the plan can run in
    /// [pieces](Checked::pieces).
    pub fn check(&self) -> Result<Checked<'_>, Error> {
        Checked::new(self.plan(), self.lengths_memory())
            .map(|checked| checked.table(self.table()))
            .map_err(|source| self.explain(source))
    }

    /// Adds to an error of a backend what the plan does not know: see [`ExecuteError::explained`].
    pub fn explain(&self, source: ExecuteError) -> Error {
        source.explained(self.operator, self.lengths.as_ref().map(Held::layout))
    }
}

impl ExecuteError {
    /// Adds what a plan does not know: the operator, and the index of a wrong length in the lengths'
    /// shape.
    pub fn explained(self, operator: Operator, lengths: Option<&Layout>) -> Error {
        match (self, lengths) {
            (ExecuteError::LengthOutOfRange { ordinal, value, limit }, Some(lengths)) => {
                let index = unravel(ordinal, lengths.shape());
                Error::LengthOutOfRange { operator, index, value, limit }
            }
            (ExecuteError::OffsetOutOfRange { ordinal: index, value, low, high }, _) => {
                Error::OffsetOutOfRange { operator, index, value, low, high }
            }
            (source, _) => Error::Execute { operator, source },
        }
    }
}

/// How lengths are laid out, for errors.
fn in_words(layout: &Layout) -> String {
    let (shape, strides, offset) = (layout.shape(), layout.grain_strides(), layout.reach().origin);
    format!("shape {shape:?}, strides {strides:?} and offset {offset} (in bytes)")
}

/// The index of the `ordinal`-th element in row-major order.
pub(crate) fn unravel(mut ordinal: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        *at = ordinal % size.max(1);
        ordinal /= size.max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unravel_counts_in_row_major_order() {
        assert_eq!(unravel(0, &[2, 1, 3]), [0, 0, 0]);
        assert_eq!(unravel(4, &[2, 1, 3]), [1, 0, 1]);
        assert_eq!(unravel(0, &[]), [0usize; 0]);
    }
}
