//! Invalid calls, each with the variant it must give and the sentence it must print. None
//! may panic, and none may touch the output.

mod directml;
mod execution;
mod layouts;
mod operators;

use retrograde::{DType, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// More than any size there is.
const HUGE: usize = usize::MAX;

/// One row of the table: a call, its variant, its text.
macro_rules! refused {
    ($call:expr, $variant:pat, $text:expr) => {{
        crate::CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let error = $call.map(|_| ()).expect_err(stringify!($call));
        assert!(matches!(error, $variant), "{error:?} is not {}", stringify!($variant));
        assert_eq!(error.to_string(), $text);
    }};
}
pub(crate) use refused;

/// All groups in one test, so that the count means something.
#[test]
fn every_bad_call_is_refused_in_words() {
    layouts::layouts();
    layouts::views();
    operators::outputs();
    operators::reverse();
    operators::reverse_sequence();
    operators::reverse_subsequences();
    execution::slices();
    execution::plans();
    execution::overlaps();
    directml::descriptors();
    directml::descriptors_together();
    directml::bindings();
    let calls = CALLS.load(Ordering::Relaxed);
    println!("{calls} bad calls refused");
    assert!(calls >= 130, "only {calls} rows ran");
}

fn dense(dtype: DType, shape: &[usize]) -> Layout {
    Layout::dense(dtype, shape).unwrap()
}
