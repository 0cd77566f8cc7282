//! Invalid calls, each with the variant it must give and the sentence it must print. None
//! may panic, and none may touch the output.
//!
//! Every group of calls is a test, and a failed row does not hide those after it.

mod execution;
mod layouts;
mod operators;
mod rows;

use retrograde::{DType, Layout};
use rows::{groups, refused};

/// More than any size there is.
const HUGE: usize = usize::MAX;

groups! {
    layouts_are_refused: layouts::layouts, 20;
    views_are_refused: layouts::views, 9;
    outputs_are_refused: operators::outputs, 9;
    reverse_is_refused: operators::reverse, 15;
    reverse_sequence_is_refused: operators::reverse_sequence, 28;
    reverse_subsequences_is_refused: operators::reverse_subsequences, 10;
    slices_are_refused: execution::slices, 7;
    plans_are_refused: execution::plans, 15;
    lengths_of_prepared_calls_are_refused: execution::prepared, 7;
    many_offsets_are_refused: execution::many_offsets, 10;
    overlaps_are_refused: execution::overlaps, 2;
    offsets_and_tails_are_refused: operators::offsets_and_tails, 13;
    orientations_are_refused: operators::orient, 18;
    masks_are_refused: operators::masks, 10;
    tables_are_refused: operators::tables, 8;
}

fn dense(dtype: DType, shape: &[usize]) -> Layout {
    Layout::dense(dtype, shape).unwrap()
}
