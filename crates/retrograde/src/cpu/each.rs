//! Runs the plans of a batch, each of which writes another part of one output.

use super::execute::{execute, execute_in_place};
use super::schedule::Team;
use super::schedule::threads::with_threads;
use crate::error::ExecuteError;
use crate::plan::Plan;
use crate::tensor::{Memory, MemoryMut};

/// Runs plans without lengths from `src` to `dst`. If all are the same view, in place. Everything is
/// checked before the first one runs, and threads share the plans if there are enough.
///
/// # Safety
/// No two plans write the same element.
pub(crate) unsafe fn execute_each(
    plans: &[Plan],
    src: Memory<'_>,
    mut dst: MemoryMut<'_>,
) -> Result<(), ExecuteError> {
    let (from, to) = (src.as_ptr().addr(), dst.as_ptr().addr());
    let in_place = !plans.is_empty() && plans.iter().all(|plan| plan.is_same_view(from, to));
    for plan in plans {
        plan.check_sizes(src.len(), dst.len())?;
        // One may write what another one reads, so all of both memories must be apart.
        let meet = from < to + dst.len() && to < from + src.len();
        if !in_place && meet && !plan.is_empty() {
            return Err(ExecuteError::Overlap);
        }
        if plan.merges_bytes() && !dst.is_initialised() {
            return Err(ExecuteError::Uninitialised);
        }
    }
    let run = |plan: &Plan, dst: MemoryMut<'_>| match in_place {
        true => execute_in_place(plan, None, dst),
        false => execute(plan, src, None, dst),
    };
    let bytes = plans.iter().map(|plan| plan.bytes_moved() / 2).sum::<u128>();
    let team = Team::new(usize::try_from(bytes).unwrap_or(usize::MAX));
    // Threads must not write bits of the same byte.
    let shared = plans.len() >= team.threads() && !plans.iter().any(Plan::merges_bytes);
    if team.threads() == 1 || !shared {
        return plans.iter().try_for_each(|plan| run(plan, dst.reborrow()));
    }
    let (dst, initialised) = (&dst, dst.is_initialised());
    let failed = team.first(plans.len(), |at| {
        // SAFETY: the memory of `dst`, which is borrowed for this call. Plans write whole bytes, and by
        // the caller's promise no byte is written by two.
        let dst = unsafe { MemoryMut::from_raw(dst.as_ptr().cast_mut(), dst.len(), initialised) };
        with_threads(1, || run(&plans[at], dst)).err()
    });
    failed.map_or(Ok(()), Err)
}
