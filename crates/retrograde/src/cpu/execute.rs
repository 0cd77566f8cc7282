//! Runs a plan on memory: everything is checked here, before the first byte moves. The kernels
//! check nothing.

use super::lengths::LengthReader;
use super::memory::release_unused;
use super::program::{InPlace, Program, Route};
use super::run;
use crate::error::ExecuteError;
use crate::lengths::LengthsMemory;
use crate::plan::Plan;
use crate::table::Table;
use crate::tensor::{Memory, MemoryMut};

/// Runs a plan from `src` to `dst`.
///
/// If both are the same memory with the same layout, it runs in place. On success every element
/// of the output has been written; on an error nothing has.
///
/// ```
/// use retrograde::{cpu, DType, Layout, Reverse};
///
/// let rows = Layout::dense(DType::U8, &[2, 3])?;
/// let plan = Reverse::axes([1]).plan(&rows, &rows)?;
/// let mut out = [0u8; 6];
/// for input in [b"abcdef", b"ghijkl"] {
///     cpu::execute(&plan, input.into(), None, (&mut out).into())?;
/// }
/// assert_eq!(&out, b"ihglkj");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn execute(
    plan: &Plan,
    src: Memory<'_>,
    lengths: Option<LengthsMemory<'_>>,
    dst: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    Checks::of(plan).copy(src, lengths, dst)
}

/// Runs a plan whose input and output have the same layout on one memory.
pub fn execute_in_place(
    plan: &Plan,
    lengths: Option<LengthsMemory<'_>>,
    memory: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    Checks::of(plan).reverse(lengths, memory)
}

impl Program {
    /// Runs it from `src` to `dst`, as [`execute`] does.
    pub fn execute(
        &self,
        src: Memory<'_>,
        lengths: Option<LengthsMemory<'_>>,
        dst: MemoryMut<'_>,
    ) -> Result<(), ExecuteError> {
        self.checks().copy(src, lengths, dst)
    }

    /// Runs it on one memory, as [`execute_in_place`] does.
    pub fn execute_in_place(
        &self,
        lengths: Option<LengthsMemory<'_>>,
        memory: MemoryMut<'_>,
    ) -> Result<(), ExecuteError> {
        self.checks().reverse(lengths, memory)
    }

    fn checks(&self) -> Checks<'_> {
        Checks { program: Some(self), table: self.table.as_ref(), ..Checks::of(&self.plan) }
    }
}

/// What is checked before the first byte moves.
pub(super) struct Checks<'a> {
    plan: &'a Plan,
    /// Its program, if it was made before.
    program: Option<&'a Program>,
    /// Whether the lengths have been checked.
    checked: bool,
    /// What is looked up in what is reversed.
    table: Option<&'a Table>,
}

impl<'a> Checks<'a> {
    /// All checks.
    fn of(plan: &'a Plan) -> Self {
        Checks { plan, program: None, checked: false, table: None }
    }

    /// All but those of the lengths, which have been checked.
    pub(super) fn but_lengths(plan: &'a Plan, table: Option<&'a Table>) -> Self {
        Checks { plan, program: None, checked: true, table }
    }

    /// From one memory to another.
    pub(super) fn copy(
        self,
        src: Memory<'_>,
        lengths: Option<LengthsMemory<'_>>,
        mut dst: MemoryMut<'_>,
    ) -> Result<(), ExecuteError> {
        let plan = self.plan;
        release_unused();
        plan.check_sizes(src.len(), dst.len())?;
        let lengths = self.matched(lengths, &dst)?;
        if plan.is_empty() {
            return Ok(());
        }
        let (from, to) = (src.as_ptr().addr(), dst.as_ptr().addr());
        if plan.is_same_view(from, to) {
            // SAFETY: the output's reach was checked by `check_sizes`, the lengths' by `matched`, and
            // `is_same_view` found the plan fit to run in place. The input is initialised, and the
            // same memory.
            unsafe { self.run_in_place(dst.as_mut_ptr(), lengths) };
            return Ok(());
        }
        // Only foreign pointers can overlap: safe Rust does not lend overlapping slices.
        if plan.overlaps(from, to) {
            return Err(ExecuteError::Overlap);
        }
        if plan.merges_bytes() && !dst.is_initialised() {
            return Err(ExecuteError::Uninitialised);
        }
        let (src, dst) = (src.as_ptr(), dst.as_mut_ptr());
        // SAFETY: both reaches were checked by `check_sizes` and the lengths' by `matched`, the two
        // do not overlap, and the output is initialised where the plan merges bytes.
        unsafe {
            match self.program {
                Some(program) => run::copy(plan, &program.route, src, dst, lengths, self.table),
                None => run::copy(plan, &Route::of(plan), src, dst, lengths, self.table),
            }
        }
        Ok(())
    }

    /// On one memory.
    pub(super) fn reverse(
        self,
        lengths: Option<LengthsMemory<'_>>,
        mut memory: MemoryMut<'_>,
    ) -> Result<(), ExecuteError> {
        let plan = self.plan;
        release_unused();
        // The input's reach is the output's, or the plan does not fit in place.
        plan.check_sizes(usize::MAX, memory.len())?;
        let lengths = self.matched(lengths, &memory)?;
        if !plan.fits_in_place() {
            return Err(ExecuteError::NotInPlace);
        }
        if plan.is_empty() {
            return Ok(());
        }
        if !memory.is_initialised() {
            return Err(ExecuteError::Uninitialised);
        }
        // SAFETY: the reach was checked by `check_sizes` and the lengths' by `matched`, the plan fits in
        // place, and the memory is initialised.
        unsafe { self.run_in_place(memory.as_mut_ptr(), lengths) };
        Ok(())
    }

    /// # Safety
    /// As for [`run::reverse`], for a plan that fits in place.
    unsafe fn run_in_place(&self, memory: *mut u8, lengths: Option<LengthReader<'_>>) {
        let made;
        let program = match self.program {
            Some(program) => program.in_place.as_ref(),
            None => {
                made = InPlace::of(self.plan);
                made.as_ref()
            }
        };
        if let Some(program) = program {
            // SAFETY: passed on.
            unsafe { run::reverse(self.plan, program, memory, lengths, self.table) };
        }
    }

    /// Matches the lengths' type and memory to the plan, and checks their values, unless that was done.
    #[inline]
    fn matched<'l>(
        &self,
        lengths: Option<LengthsMemory<'l>>,
        dst: &MemoryMut<'_>,
    ) -> Result<Option<LengthReader<'l>>, ExecuteError>
    where
        'a: 'l,
    {
        let plan = self.plan;
        // Most plans have none, and skip the rest.
        if plan.lengths().is_none() && lengths.is_none() {
            return Ok(None);
        }
        plan.check_lengths(lengths.map(|given| (given.dtype(), given.memory().len())))?;
        let start = lengths.map(|given| given.memory().as_ptr().addr());
        if start.is_some_and(|start| plan.lengths_overlap(start, dst.as_ptr().addr())) {
            return Err(ExecuteError::LengthsOverlap);
        }
        let reader = reader_of(plan, lengths);
        if let Some(reader) = reader.as_ref().filter(|_| !self.checked) {
            reader.check_all()?;
        }
        Ok(reader)
    }
}

/// The lengths of a plan that has any, in memory that holds them.
pub(super) fn reader_of<'a>(
    plan: &'a Plan,
    lengths: Option<LengthsMemory<'a>>,
) -> Option<LengthReader<'a>> {
    plan.lengths().zip(lengths).map(|(plan, given)| LengthReader::new(plan, given.memory()))
}
