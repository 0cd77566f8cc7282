//! The CPU backend: runs any plan on the caller's memory.
//!
//! Everything is checked here, before the first byte moves; the kernels behind it, for
//! bytes and for bits, check nothing.

mod bits;
mod blocks;
mod bytes;
mod caches;
mod columns;
mod isa;
mod kernel;
mod lanes;
mod lengths;
mod mirror;
mod parts;
mod rows;
mod short;
mod squares;
mod stream;
mod strided;
mod swaps;
mod threads;
mod tiles;
mod tuning;
mod vector;
mod walk;
mod words;

pub use isa::Isa;
pub use kernel::{Kernel, kernel};
pub use tuning::Tuning;

use crate::dtype::Grain;
use crate::error::ExecuteError;
use crate::layout::Reach;
use crate::plan::Plan;
use crate::tensor::{Memory, MemoryMut};
use lengths::LengthReader;
use std::ops::Range;

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
    let grain = plan.unit().grain;
    check_buffer("input", plan.src(), grain, src.len())?;
    check_buffer("output", plan.dst(), grain, dst.len())?;
    let lengths = checked_lengths(plan, lengths, &dst)?;
    if plan.is_empty() {
        return Ok(());
    }
    if is_same_view(plan, &src, &dst) {
        // SAFETY: the output's reach was checked above, the lengths' by `checked_lengths`, and
        // `is_same_view` found the plan fit to run in place.
        unsafe { reverse_in_place(plan, dst.as_mut_ptr(), lengths) };
        return Ok(());
    }
    if overlap(plan, &src, &dst) {
        return Err(ExecuteError::Overlap);
    }
    if plan.merges_bytes() && !dst.is_initialised() {
        return Err(ExecuteError::Uninitialised);
    }
    // SAFETY: both reaches and the lengths were checked above, the two do not overlap, and
    // the output is initialised where the plan merges bytes.
    unsafe {
        match grain {
            Grain::Byte => bytes::copy(plan, src.as_ptr(), dst.as_mut_ptr(), lengths),
            Grain::Packed { .. } => bits::copy(plan, src.as_ptr(), dst.as_mut_ptr(), lengths),
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
    check_buffer("output", plan.dst(), plan.unit().grain, memory.len())?;
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
    unsafe { reverse_in_place(plan, memory.as_mut_ptr(), lengths) };
    Ok(())
}

/// Checks the lengths of a plan as [`execute`] does, without moving anything.
///
/// For plans that run in [pieces](Plan::pieces), which do not check theirs.
pub fn check_lengths(plan: &Plan, lengths: Option<Memory<'_>>) -> Result<(), ExecuteError> {
    match lengths_of(plan, lengths)? {
        Some(lengths) => lengths.check_all(),
        None => Ok(()),
    }
}

/// # Safety
/// The plan fits in place, `memory` is valid and initialised over its reach, and `lengths` is
/// valid for it.
unsafe fn reverse_in_place(plan: &Plan, memory: *mut u8, lengths: Option<LengthReader<'_>>) {
    // SAFETY: the caller's promises.
    unsafe {
        match plan.unit().grain {
            Grain::Byte => bytes::reverse_in_place(plan, memory, lengths),
            Grain::Packed { .. } => bits::reverse_in_place(plan, memory, lengths),
        }
    }
}

fn check_buffer(
    buffer: &'static str,
    reach: Reach,
    grain: Grain,
    available: usize,
) -> Result<(), ExecuteError> {
    let needed = grain.bytes_for(reach.end);
    if needed > available {
        return Err(ExecuteError::BufferTooSmall { buffer, needed, available });
    }
    Ok(())
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
    let reader = lengths_of(plan, memory)?;
    if let (Some(lengths), Some(memory), Some(reader)) = (plan.lengths(), memory, &reader) {
        let written = touched(dst.as_ptr(), plan.dst(), plan.unit().grain);
        if meet(&touched(memory.as_ptr(), lengths.reach, Grain::Byte), &written) {
            return Err(ExecuteError::LengthsOverlap);
        }
        reader.check_all()?;
    }
    Ok(reader)
}

/// Matches the lengths to the plan, without a look at their values.
fn lengths_of<'a>(
    plan: &'a Plan,
    memory: Option<Memory<'a>>,
) -> Result<Option<LengthReader<'a>>, ExecuteError> {
    match (plan.lengths(), memory) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ExecuteError::LengthsUnexpected),
        (Some(_), None) => Err(ExecuteError::LengthsMissing),
        (Some(lengths), Some(memory)) => {
            check_buffer("lengths", lengths.reach, Grain::Byte, memory.len())?;
            Ok(Some(LengthReader::new(lengths, memory)))
        }
    }
}

/// Whether both sides are the same bytes in the same order.
fn is_same_view(plan: &Plan, src: &Memory<'_>, dst: &MemoryMut<'_>) -> bool {
    std::ptr::eq(src.as_ptr(), dst.as_ptr()) && plan.fits_in_place()
}

/// The addresses between the first and the last byte of a reach.
fn touched(base: *const u8, reach: Reach, grain: Grain) -> Range<usize> {
    base.addr() + grain.byte_of(reach.start)..base.addr() + grain.bytes_for(reach.end)
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}

/// Whether a byte that is read may also be written.
///
/// Only foreign pointers can get here: safe Rust does not lend overlapping slices.
fn overlap(plan: &Plan, src: &Memory<'_>, dst: &MemoryMut<'_>) -> bool {
    let grain = plan.unit().grain;
    let read = touched(src.as_ptr(), plan.src(), grain);
    let written = touched(dst.as_ptr(), plan.dst(), grain);
    meet(&read, &written) && !interleave(plan, src.as_ptr().addr(), dst.as_ptr().addr())
}

/// Whether all strides share a period in which input and output take separate places, as two
/// columns of one table do.
fn interleave(plan: &Plan, src: usize, dst: usize) -> bool {
    if plan.unit().grain != Grain::Byte {
        return false;
    }
    let strides = plan.dims().iter().flat_map(|dim| [dim.src, dim.dst]);
    let period = strides.map(isize::unsigned_abs).fold(0, gcd);
    if period == 0 {
        return false;
    }
    let (src, dst) = (src + plan.src().origin, dst + plan.dst().origin);
    let gap = (dst as i128 - src as i128).rem_euclid(period as i128) as usize;
    let unit = plan.unit().count;
    gap >= unit && period - gap >= unit
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
