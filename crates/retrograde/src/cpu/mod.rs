//! The CPU backend: runs any plan on the caller's memory.
//!
//! Everything is checked here, before the first byte moves; the kernels behind it, for
//! bytes and for bits, check nothing.

mod choose;
mod copy;
mod dispatch;
mod in_place;
mod kernels;
mod lengths;
mod nest;
mod packed;
mod schedule;
mod simd;

pub use choose::{Kernel, kernel};
pub use dispatch::Isa;
pub use schedule::threads::max_threads;
pub use schedule::tuning::Tuning;

use crate::dtype::Grain;
use crate::error::ExecuteError;
use crate::plan::Plan;
use crate::tensor::{Memory, MemoryMut};
use lengths::LengthReader;

/// Runs a plan from `src` to `dst`.
///
/// If both are the very same memory, laid out alike, it runs in place. On success every
/// element of the output has been written; on an error nothing has.
///
/// ```
/// use retrograde::{cpu, DType, Layout, Reverse};
///
/// let rows = Layout::dense(DType::U8, &[2, 3])?;
/// let plan = Reverse::axes([1]).plan(&rows, &rows)?;
/// let mut out = [0u8; 6];
/// for input in [b"abcdef", b"ghijkl"] {
///     cpu::execute(&plan, input[..].into(), None, out[..].as_mut().into())?;
/// }
/// assert_eq!(&out, b"ihglkj");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn execute(
    plan: &Plan,
    src: Memory<'_>,
    lengths: Option<Memory<'_>>,
    mut dst: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    plan.check_sizes(src.len(), dst.len())?;
    let lengths = checked_lengths(plan, lengths, &dst)?;
    if plan.is_empty() {
        return Ok(());
    }
    let (from, to) = (src.as_ptr().addr(), dst.as_ptr().addr());
    if plan.is_same_view(from, to) {
        // SAFETY: the output's reach was checked above, the lengths' by `checked_lengths`, and
        // `is_same_view` found the plan fit to run in place.
        unsafe { in_place::run(plan, dst.as_mut_ptr(), lengths) };
        return Ok(());
    }
    // Only foreign pointers can do that: safe Rust does not lend overlapping slices.
    if plan.overlaps(from, to) {
        return Err(ExecuteError::Overlap);
    }
    if plan.merges_bytes() && !dst.is_initialised() {
        return Err(ExecuteError::Uninitialised);
    }
    // SAFETY: both reaches and the lengths were checked above, the two do not overlap, and
    // the output is initialised where the plan merges bytes.
    unsafe {
        match plan.unit().grain {
            Grain::Byte => copy::run(plan, src.as_ptr(), dst.as_mut_ptr(), lengths),
            Grain::Packed { .. } => packed::copy(plan, src.as_ptr(), dst.as_mut_ptr(), lengths),
        }
    }
    Ok(())
}

/// Runs a plan whose input and output are laid out alike on one piece of memory.
pub fn execute_in_place(
    plan: &Plan,
    lengths: Option<Memory<'_>>,
    mut memory: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    // The input's reach is the output's, or the plan does not fit in place.
    plan.check_sizes(usize::MAX, memory.len())?;
    let lengths = checked_lengths(plan, lengths, &memory)?;
    if !plan.fits_in_place() {
        return Err(ExecuteError::NotInPlace);
    }
    if plan.is_empty() {
        return Ok(());
    }
    if !memory.is_initialised() {
        return Err(ExecuteError::Uninitialised);
    }
    // SAFETY: the reach and the lengths were checked above, and the plan fits in place.
    unsafe { in_place::run(plan, memory.as_mut_ptr(), lengths) };
    Ok(())
}

/// Checks the lengths of a plan as [`execute`] does, without moving anything.
///
/// For plans that run in [pieces](Plan::pieces), which do not check theirs.
pub fn check_lengths(plan: &Plan, lengths: Option<Memory<'_>>) -> Result<(), ExecuteError> {
    plan.check_lengths_size(lengths.map(|memory| memory.len()))?;
    reader_of(plan, lengths).map_or(Ok(()), |lengths| lengths.check_all())
}

/// Matches the lengths to the plan and checks every value that could be an error.
#[inline]
fn checked_lengths<'a>(
    plan: &'a Plan,
    memory: Option<Memory<'a>>,
    dst: &MemoryMut<'_>,
) -> Result<Option<LengthReader<'a>>, ExecuteError> {
    // Most plans have none: they are spared the call.
    match (plan.lengths(), memory) {
        (None, None) => Ok(None),
        (_, memory) => matched_lengths(plan, memory, dst),
    }
}

fn matched_lengths<'a>(
    plan: &'a Plan,
    memory: Option<Memory<'a>>,
    dst: &MemoryMut<'_>,
) -> Result<Option<LengthReader<'a>>, ExecuteError> {
    plan.check_lengths_size(memory.map(|memory| memory.len()))?;
    if memory.is_some_and(|m| plan.lengths_overlap(m.as_ptr().addr(), dst.as_ptr().addr())) {
        return Err(ExecuteError::LengthsOverlap);
    }
    let reader = reader_of(plan, memory);
    if let Some(reader) = &reader {
        reader.check_all()?;
    }
    Ok(reader)
}

/// The lengths of a plan that has any, in memory that holds them.
fn reader_of<'a>(plan: &'a Plan, memory: Option<Memory<'a>>) -> Option<LengthReader<'a>> {
    plan.lengths().zip(memory).map(|(lengths, memory)| LengthReader::new(lengths, memory))
}
