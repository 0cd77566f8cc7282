//! The staging buffer of a thread, which it keeps for its next call: pages that are faulted in again by
//! every call would cost more than the work.

use crate::cpu::kernels::columns::stage_bytes;
use crate::cpu::kernels::stream::to_line;
use std::cell::Cell;

/// The largest buffer that a thread keeps.
const MOST_KEPT: usize = 4 << 20;

thread_local! {
    /// This thread's buffer, while nothing uses it.
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The buffer of this thread, on loan.
pub(super) struct Stage(Vec<u8>);

impl Stage {
    /// A buffer with this room for columns, and what the column kernel needs besides. `None` if
    /// there is no memory for it.
    pub(super) fn take(room: usize) -> Option<Self> {
        let mut bytes = KEPT.take();
        bytes.clear();
        bytes.try_reserve_exact(stage_bytes(room)).ok()?;
        Some(Stage(bytes))
    }

    /// Its first cache line.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr();
        start.wrapping_add(to_line(start))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.0.capacity() <= stage_bytes(MOST_KEPT) {
            KEPT.set(std::mem::take(&mut self.0));
        }
    }
}
