//! What a caller says about outputs (`retrograde.config.hint`): whether they are read soon. Per thread.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::cpu::{self, Hint};
use std::cell::Cell;

thread_local! {
    static HINT: Cell<Option<Hint>> = const { Cell::new(None) };
}

/// Sets the hint of this thread, and returns the previous one.
#[pyfunction]
#[pyo3(signature = (outputs, /))]
pub(crate) fn set_hint(outputs: Option<&str>) -> PyResult<Option<&'static str>> {
    let hint = match outputs {
        None => None,
        Some("read-soon") => Some(Hint::ReadSoon),
        Some("read-later") => Some(Hint::ReadLater),
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "config.hint is {other:?}, expected \"read-soon\", \"read-later\" or None"
            )));
        }
    };
    Ok(name(HINT.replace(hint)))
}

/// The hint of this thread.
#[pyfunction]
pub(crate) fn hint() -> Option<&'static str> {
    name(HINT.get())
}

fn name(hint: Option<Hint>) -> Option<&'static str> {
    match hint {
        Some(Hint::ReadSoon) => Some("read-soon"),
        Some(Hint::ReadLater) => Some("read-later"),
        _ => None,
    }
}

/// Runs work with the hint of this thread.
pub(crate) fn apply<T>(work: impl FnOnce() -> T) -> T {
    match HINT.get() {
        Some(hint) => cpu::with_hint(hint, work),
        None => work(),
    }
}
