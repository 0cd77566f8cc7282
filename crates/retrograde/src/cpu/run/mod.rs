//! Runs a program on memory that was checked: hands parts to threads, each of which calls its kernel.

mod in_place;
mod packed;
mod stage;
mod units;

use super::lengths::LengthReader;
use super::program::{InPlace, Route};

/// Runs a route from `src` to `dst`.
///
/// # Safety
/// `src` is valid for reads over the plan's input reach, `dst` for writes over its output reach (and
/// initialised, if the plan merges bytes), the two do not overlap, and `lengths` is there if the plan
/// reads any.
pub(super) unsafe fn copy(
    route: &Route,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    // SAFETY: passed on.
    unsafe {
        match route {
            Route::Nothing => {}
            Route::Units(units) => units::run(units, src, dst, lengths),
            Route::Packed(packed) => packed::run(packed, src, dst, lengths),
        }
    }
}

/// Runs a program on one memory.
///
/// # Safety
/// `memory` is valid over the plan's reach and initialised, and `lengths` is there if the plan reads any.
pub(super) unsafe fn reverse(
    program: &InPlace,
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    // SAFETY: passed on.
    unsafe { in_place::run(program, memory, lengths) }
}
