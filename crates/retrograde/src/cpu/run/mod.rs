//! Runs a program on memory that was checked: hands parts to threads, each of which calls its kernel.

mod in_place;
mod look_up;
mod packed;
mod segments_in_place;
mod stage;
mod units;

use super::lengths::LengthReader;
use super::program::{InPlace, Route, unfolded};
use crate::dtype::Grain;
use crate::plan::Plan;
use crate::table::Table;

/// Runs the route of a plan from `src` to `dst`.
///
/// # Safety
/// `src` is valid for reads over the plan's input reach, `dst` for writes over its output reach (and
/// initialised, if the plan merges bytes), the two do not overlap, and `lengths` is there if the plan
/// reads any.
pub(super) unsafe fn copy(
    plan: &Plan,
    route: &Route,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
    table: Option<&Table>,
) {
    // SAFETY: passed on.
    unsafe {
        match route {
            Route::Nothing => {}
            Route::Units(units) => {
                units::run(units, units.dims(plan.dims()), src, dst, lengths, table);
            }
            Route::Packed(packed) => {
                let unfolded = unfolded(plan);
                let dims = unfolded.as_deref().unwrap_or(plan.dims());
                packed::run(packed, dims, src, dst, lengths);
                let bits = plan.unit().grain.bits();
                look_up::after(table, bits, dims, plan.dst().origin, dst, lengths);
            }
        }
    }
}

/// Runs the program of a plan on one memory.
///
/// # Safety
/// `memory` is valid over the plan's reach and initialised, and `lengths` is there if the plan reads any.
pub(super) unsafe fn reverse(
    plan: &Plan,
    program: &InPlace,
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
    table: Option<&Table>,
) {
    // SAFETY: passed on.
    unsafe {
        match program.grain {
            Grain::Byte => in_place::run(program, plan.dims(), memory, lengths, table),
            Grain::Packed { .. } => {
                let unfolded = unfolded(plan);
                let dims = unfolded.as_deref().unwrap_or(plan.dims());
                in_place::run(program, dims, memory, lengths, table);
            }
        }
    }
}
