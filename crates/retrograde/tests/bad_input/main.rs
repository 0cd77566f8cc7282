//! Invalid calls, each with the variant it must give and the sentence it must print. None
//! may panic, and none may touch the output.
//!
//! Every group of calls is a test, and a failed row does not hide those after it.

mod directml;
mod execution;
mod layouts;
mod operators;

use retrograde::{DType, Layout};
use std::cell::RefCell;

/// More than any size there is.
const HUGE: usize = usize::MAX;

thread_local! {
    /// How many rows of this test ran, and what was wrong.
    static ROWS: RefCell<(usize, Vec<String>)> = const { RefCell::new((0, Vec::new())) };
}

/// One row of the table: a call, its variant, its text.
macro_rules! refused {
    ($call:expr, $variant:pat, $text:expr) => {{
        let (result, call) = ($call.map(|_| ()), stringify!($call));
        crate::row(match result {
            Ok(()) => Some(format!("{call} was accepted")),
            Err(error) if !matches!(error, $variant) => {
                Some(format!("{call}: {error:?} is not {}", stringify!($variant)))
            }
            Err(error) => (error.to_string() != $text)
                .then(|| format!("{call}:\n  {error}\nis not\n  {}", $text)),
        });
    }};
}
pub(crate) use refused;

/// Counts a row, and keeps what was wrong with it.
fn row(wrong: Option<String>) {
    ROWS.with_borrow_mut(|(count, all)| {
        *count += 1;
        all.extend(wrong);
    });
}

/// A test for each group, with the number of its rows: one that did not run is a failure too.
macro_rules! groups {
    ($($name:ident: $group:path, $rows:literal;)*) => {$(
        #[test]
        fn $name() {
            $group();
            let (count, wrong) = ROWS.take();
            assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
            assert_eq!(count, $rows, "rows of the group");
        }
    )*};
}

groups! {
    layouts_are_refused: layouts::layouts, 20;
    views_are_refused: layouts::views, 9;
    outputs_are_refused: operators::outputs, 9;
    reverse_is_refused: operators::reverse, 15;
    reverse_sequence_is_refused: operators::reverse_sequence, 28;
    reverse_subsequences_is_refused: operators::reverse_subsequences, 10;
    slices_are_refused: execution::slices, 7;
    plans_are_refused: execution::plans, 15;
    lengths_of_prepared_calls_are_refused: execution::prepared, 6;
    many_offsets_are_refused: execution::many_offsets, 10;
    overlaps_are_refused: execution::overlaps, 2;
    descriptors_are_refused: directml::descriptors, 20;
    descriptors_together_are_refused: directml::descriptors_together, 8;
    bindings_are_refused: directml::bindings, 7;
    offsets_and_tails_are_refused: operators::offsets_and_tails, 13;
}

fn dense(dtype: DType, shape: &[usize]) -> Layout {
    Layout::dense(dtype, shape).unwrap()
}
