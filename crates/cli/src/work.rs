//! The work itself: runs a plan in pieces, from a mapped input to a mapped output.
//!
//! Pieces limit the resident memory and allow progress to be reported. The pages of a piece are
//! prefaulted before it runs: one system call for a whole piece is several times cheaper than a
//! page fault per page.

use crate::task::{Call, Task};
use anyhow::{Result, bail};
use retrograde::{Error, ExecuteError, Grain, Plan, cpu};
use retrograde_io::{Edit, Output, Tensor};
use retrograde_program::progress::Progress;
use std::ops::Range;
use std::sync::Mutex;

/// Size of a piece of the output in bytes.
pub(crate) const PIECE: usize = 16 << 20;
/// Pages are prefaulted in parts of this size, in parallel.
const PART: usize = 2 << 20;

/// Reverses one tensor into another.
pub(crate) fn reverse(task: &Task, input: &Tensor, output: &mut Output) -> Result<()> {
    let dst = output.layout().clone();
    task.prepared(input.layout(), &dst, |checked| {
        let progress = Progress::of(checked.plan());
        let mut pieces = checked.pieces(PIECE).peekable();
        while let Some(piece) = pieces.next() {
            let plan = piece.plan();
            match compact(plan, plan.dst()) {
                Some(range) => in_parts(range, |part| output.prepare(part)),
                None => output.will_scatter(),
            }
            match compact(plan, plan.src()) {
                Some(range) => in_parts(range, |part| input.fetch(part)),
                None => {
                    input.will_scatter();
                    runs(plan).for_each(|run| input.will_read(run));
                }
            }
            if let Some(range) =
                pieces.peek().and_then(|next| compact(next.plan(), next.plan().src()))
            {
                input.will_read(range);
            }
            piece.execute(input.data(), output.data_mut())?;
            progress.moved(plan);
        }
        Ok(())
    })
}

/// Reverses a tensor in place.
pub(crate) fn reverse_in_place(task: &Task, tensor: &mut Edit) -> Result<()> {
    if let Call::Orient { operator, .. } = &task.call
        && task.swapped().is_some()
    {
        let error = Error::OrientInPlace { orientation: operator.orientation() };
        bail!("{error} (--in-place=copy replaces the input)");
    }
    let layout = tensor.layout().clone();
    task.prepared(&layout, &layout, |checked| {
        if !checked.plan().fits_in_place() {
            return Err(ExecuteError::NotInPlace);
        }
        let progress = Progress::of(checked.plan());
        checked.pieces_in_place(PIECE).try_for_each(|piece| {
            piece.execute_in_place(tensor.data_mut())?;
            progress.moved(piece.plan());
            Ok(())
        })
    })
}

/// The byte range that a piece accesses on one side, if it uses most of it.
fn compact(piece: &Plan, reach: retrograde::Reach) -> Option<Range<usize>> {
    let moved = (piece.bytes_moved() / 2) as usize;
    let per_byte = piece.unit().grain.per_byte();
    let range = reach.start / per_byte..reach.end.div_ceil(per_byte);
    (range.len() <= 2 * moved && range.len() <= 4 * PIECE).then_some(range)
}

/// The byte ranges that a piece reads in each step of its outermost dimension, if they are
/// disjoint.
fn runs(piece: &Plan) -> impl Iterator<Item = Range<usize>> {
    let reach = piece.src();
    let (len, step) = piece.dims().first().map_or((0, 0), |dim| (dim.len, dim.src.unsigned_abs()));
    let run = (reach.end - reach.start).saturating_sub(step * len.saturating_sub(1));
    let apart = piece.unit().grain == Grain::Byte && run <= step;
    (0..if apart { len } else { 0 }).map(move |at| {
        let start = reach.start + at * step;
        start..start + run
    })
}

/// Splits a range among the engine's threads.
pub(crate) fn in_parts(range: Range<usize>, visit: impl Fn(Range<usize>) + Sync + Send) {
    cpu::run_parts(range.len().div_ceil(PART), |part| {
        let start = range.start + part * PART;
        visit(start..(start + PART).min(range.end));
    });
}

/// The same for bytes that are written; `visit` is also told where in them its part starts.
pub(crate) fn in_parts_mut(bytes: &mut [u8], visit: impl Fn(usize, &mut [u8]) + Sync + Send) {
    in_parts_of(PART, bytes, visit);
}

/// The same for any items, in parts of this many.
pub(crate) fn in_parts_of<T: Send>(
    size: usize,
    items: &mut [T],
    visit: impl Fn(usize, &mut [T]) + Sync,
) {
    let parts: Vec<_> = items.chunks_mut(size).map(Mutex::new).collect();
    cpu::run_parts(parts.len(), |part| {
        // Nobody else asks for this part.
        if let Ok(mut items) = parts[part].lock() {
            visit(part * size, &mut items);
        }
    });
}
