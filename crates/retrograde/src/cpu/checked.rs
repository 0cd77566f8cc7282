//! A plan whose lengths have been checked, and its pieces.

use super::execute::{Checks, reader_of};
use crate::error::ExecuteError;
use crate::lengths::LengthsMemory;
use crate::plan::Plan;
use crate::table::Table;
use crate::tensor::{Memory, MemoryMut};

/// A plan with lengths that have been checked: the proof that its pieces need.
///
/// A long movement can be cut into pieces, to report progress, to stop in between, or to keep
/// only a part of the output in memory. Nothing may be written if one length is wrong, so all of
/// them are checked before the first piece runs.
///
/// ```
/// use retrograde::{cpu, DType, Layout, Reverse};
///
/// let rows = Layout::dense(DType::U8, &[6])?;
/// let plan = Reverse::all().plan(&rows, &rows)?;
/// let checked = cpu::Checked::new(&plan, None)?;
/// let mut out = *b"......";
/// for piece in checked.pieces(3).take(1) {
///     piece.execute(b"abcdef", &mut out)?;
/// }
/// assert_eq!(&out, b"fed...");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    plan: &'a Plan,
    lengths: Option<LengthsMemory<'a>>,
    table: Option<&'a Table>,
}

/// A piece of a plan, with the lengths that were checked for all of it.
#[derive(Debug, Clone)]
pub struct Piece<'a> {
    plan: Plan,
    lengths: Option<LengthsMemory<'a>>,
    table: Option<&'a Table>,
}

impl<'a> Checked<'a> {
    /// Checks every length that the plan reads, as [`execute`](super::execute) does.
    pub fn new(plan: &'a Plan, lengths: Option<LengthsMemory<'a>>) -> Result<Self, ExecuteError> {
        plan.check_lengths(lengths.map(|given| (given.dtype(), given.memory().len())))?;
        if let Some(reader) = reader_of(plan, lengths) {
            reader.check_all()?;
        }
        Ok(Checked { plan, lengths, table: None })
    }

    /// The same with a table, which was checked.
    pub(crate) fn table(self, table: Option<&'a Table>) -> Self {
        Checked { table, ..self }
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The lengths that were checked.
    pub fn lengths(&self) -> Option<LengthsMemory<'a>> {
        self.lengths
    }

    /// Cuts the plan into pieces that write about this many bytes each, as [`Plan::pieces`]
    /// does. They may run in any order.
    pub fn pieces(&self, bytes: usize) -> impl ExactSizeIterator<Item = Piece<'a>> + use<'a> {
        let (lengths, table) = (self.lengths, self.table);
        self.plan.pieces(bytes).map(move |plan| Piece { plan, lengths, table })
    }

    /// Cuts a plan that [fits in place](Plan::fits_in_place) into pieces that do, as
    /// [`Plan::pieces_in_place`] does.
    pub fn pieces_in_place(&self, bytes: usize) -> impl Iterator<Item = Piece<'a>> + use<'a> {
        let (lengths, table) = (self.lengths, self.table);
        self.plan.pieces_in_place(bytes).map(move |plan| Piece { plan, lengths, table })
    }
}

impl Piece<'_> {
    /// What the piece moves.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the piece. Input and output are those of the whole plan.
    pub fn execute<'m>(
        &self,
        src: impl Into<Memory<'m>>,
        dst: impl Into<MemoryMut<'m>>,
    ) -> Result<(), ExecuteError> {
        Checks::but_lengths(&self.plan, self.table).copy(src.into(), self.lengths, dst.into())
    }

    /// Runs the piece in place, on the memory of the whole plan.
    pub fn execute_in_place<'m>(
        &self,
        memory: impl Into<MemoryMut<'m>>,
    ) -> Result<(), ExecuteError> {
        Checks::but_lengths(&self.plan, self.table).reverse(self.lengths, memory.into())
    }
}
