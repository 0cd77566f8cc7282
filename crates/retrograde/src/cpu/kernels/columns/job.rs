//! Columns as a job, and the staging buffer that they need.

use crate::cpu::kernels::stream::LINE;
use crate::cpu::simd::{SIXTEEN, WIDEST};

/// Adjacent columns.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Columns<'a> {
    /// Step 0 of the first column in the input; of packed elements, the first byte of the input.
    pub(in crate::cpu) src: *const u8,
    /// Of packed elements, where in the input step 0 of the first column is; otherwise 0.
    pub(in crate::cpu) first: usize,
    /// Of packed elements, the end of the input.
    pub(in crate::cpu) end: *const u8,
    /// Step 0 of the first column in the output.
    pub(in crate::cpu) dst: *mut u8,
    /// How many steps of each column are reversed.
    pub(in crate::cpu) prefix_lens: &'a [usize],
    /// From row to row: input (in elements, if they are packed), output (in bytes).
    pub(in crate::cpu) pitches: [isize; 2],
    /// Steps along the axis.
    pub(in crate::cpu) len: usize,
    /// Bytes in a unit: 1, 2, 4, 8 or 16.
    pub(in crate::cpu) unit: usize,
    /// Elements in a unit: 2, 4 or 8 packed ones in a unit of 1 byte, or else 1.
    pub(in crate::cpu) elements: usize,
    /// Room for [`stage_bytes`] of `room`.
    pub(in crate::cpu) stage: *mut u8,
    /// Bytes that staged columns may take.
    pub(in crate::cpu) room: usize,
    /// Whether steps behind the reversed ones become zero.
    pub(in crate::cpu) zero: bool,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
}

/// Room for staged columns, unless a single strip needs more. Strips are as wide as it allows, since
/// every row of a strip may be in another page and cost a TLB entry.
const STAGE: usize = 9 << 17;

/// The room that columns of this length want, at most `most` or a little: for strips of a vector, or
/// for narrower ones, or else (if they are bytes) for some steps at a time.
pub(in crate::cpu) fn room(len: usize, unit: usize, elements: usize, most: usize) -> Option<usize> {
    let column = len.checked_mul(unit)?.checked_add(behind(elements))?;
    let strips = [WIDEST, 2 * SIXTEEN, SIXTEEN].map(|wide| column.checked_mul(wide / unit));
    let room = strips
        .into_iter()
        .flatten()
        .map(|room| room.max(STAGE))
        .find(|&room| room <= most.max(STAGE));
    room.or_else(|| (elements == 1).then_some(STAGE))
}

/// Bytes of the staging buffer, the way to its first line included.
pub(in crate::cpu) fn stage_bytes(room: usize) -> usize {
    room + WIDEST + LINE
}

/// The narrowest rows, in bytes, of packed elements that this kernel takes.
pub(in crate::cpu) const LEAST_PACKED: usize = SIXTEEN;
/// The fewest steps of packed elements that it takes.
pub(in crate::cpu) const LEAST_STEPS: usize = SIXTEEN;

/// Bytes behind a staged column: room for the pieces in which prefixes end, and enough that columns
/// do not all meet in the same places of the cache.
#[inline(always)]
pub(super) fn behind(elements: usize) -> usize {
    (elements * SIXTEEN).max(WIDEST)
}

/// The most columns a strip has.
pub(super) const MOST_COLUMNS: usize = 2048;
