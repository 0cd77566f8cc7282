//! Runs a plan on memory: everything is checked here, before the first byte moves. The kernels
//! check nothing.

use super::lengths::LengthReader;
use super::{copy, in_place, scattered};
use crate::dtype::Grain;
use crate::error::ExecuteError;
use crate::lengths::LengthsMemory;
use crate::plan::Plan;
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
    plan.check_sizes(src.len(), dst.len())?;
    let lengths = matched(plan, lengths, &dst)?;
    if let Some(lengths) = &lengths {
        lengths.check_all()?;
    }
    run(plan, src, lengths, dst)
}

/// Runs a plan whose input and output have the same layout on one memory.
pub fn execute_in_place(
    plan: &Plan,
    lengths: Option<LengthsMemory<'_>>,
    memory: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    // The input's reach is the output's, or the plan does not fit in place.
    plan.check_sizes(usize::MAX, memory.len())?;
    let lengths = matched(plan, lengths, &memory)?;
    if let Some(lengths) = &lengths {
        lengths.check_all()?;
    }
    run_in_place(plan, lengths, memory)
}

/// Runs a plan whose lengths have been checked, as [`execute`] does.
pub(super) fn execute_checked(
    plan: &Plan,
    src: Memory<'_>,
    lengths: Option<LengthsMemory<'_>>,
    dst: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    plan.check_sizes(src.len(), dst.len())?;
    let lengths = matched(plan, lengths, &dst)?;
    run(plan, src, lengths, dst)
}

/// Runs a plan whose lengths have been checked, as [`execute_in_place`] does.
pub(super) fn execute_checked_in_place(
    plan: &Plan,
    lengths: Option<LengthsMemory<'_>>,
    memory: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    plan.check_sizes(usize::MAX, memory.len())?;
    let lengths = matched(plan, lengths, &memory)?;
    run_in_place(plan, lengths, memory)
}

/// The last checks, and the movement. Sizes and lengths have been checked.
fn run(
    plan: &Plan,
    src: Memory<'_>,
    lengths: Option<LengthReader<'_>>,
    mut dst: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    if plan.is_empty() {
        return Ok(());
    }
    let (from, to) = (src.as_ptr().addr(), dst.as_ptr().addr());
    if plan.is_same_view(from, to) {
        // SAFETY: the output's reach was checked by `check_sizes`, the lengths' by `matched`, and
        // `is_same_view` found the plan fit to run in place.
        unsafe { in_place::run(plan, dst.as_mut_ptr(), lengths) };
        return Ok(());
    }
    // Only foreign pointers can overlap: safe Rust does not lend overlapping slices.
    if plan.overlaps(from, to) {
        return Err(ExecuteError::Overlap);
    }
    if plan.merges_bytes() && !dst.is_initialised() {
        return Err(ExecuteError::Uninitialised);
    }
    // SAFETY: both reaches were checked by `check_sizes` and the lengths' by `matched`, the two
    // do not overlap, and the output is initialised where the plan merges bytes.
    unsafe {
        match plan.unit().grain {
            Grain::Byte => copy::run(plan, src.as_ptr(), dst.as_mut_ptr(), lengths),
            Grain::Packed { .. } => {
                scattered::copy_packed(plan, src.as_ptr(), dst.as_mut_ptr(), lengths);
            }
        }
    }
    Ok(())
}

/// The same in place.
fn run_in_place(
    plan: &Plan,
    lengths: Option<LengthReader<'_>>,
    mut memory: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    if !plan.fits_in_place() {
        return Err(ExecuteError::NotInPlace);
    }
    if plan.is_empty() {
        return Ok(());
    }
    if !memory.is_initialised() {
        return Err(ExecuteError::Uninitialised);
    }
    // SAFETY: the reach was checked by `check_sizes` and the lengths' by `matched`, and the plan
    // fits in place.
    unsafe { in_place::run(plan, memory.as_mut_ptr(), lengths) };
    Ok(())
}

/// Matches the lengths' type and memory to the plan, without a look at the values.
#[inline]
fn matched<'a>(
    plan: &'a Plan,
    lengths: Option<LengthsMemory<'a>>,
    dst: &MemoryMut<'_>,
) -> Result<Option<LengthReader<'a>>, ExecuteError> {
    // Most plans have none, and skip the rest.
    if plan.lengths().is_none() && lengths.is_none() {
        return Ok(None);
    }
    plan.check_lengths(lengths.map(|given| (given.dtype(), given.memory().len())))?;
    let start = lengths.map(|given| given.memory().as_ptr().addr());
    if start.is_some_and(|start| plan.lengths_overlap(start, dst.as_ptr().addr())) {
        return Err(ExecuteError::LengthsOverlap);
    }
    Ok(reader_of(plan, lengths))
}

/// The lengths of a plan that has any, in memory that holds them.
pub(super) fn reader_of<'a>(
    plan: &'a Plan,
    lengths: Option<LengthsMemory<'a>>,
) -> Option<LengthReader<'a>> {
    plan.lengths().zip(lengths).map(|(plan, given)| LengthReader::new(plan, given.memory()))
}
