//! What a caller says about outputs (`retrograde.config.hint`): whether they are read soon. Per thread.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::Prepared;
use retrograde::cpu::{Hint, Program};
use std::borrow::Cow;
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

/// The hint of this thread.
pub(crate) fn get() -> Option<Hint> {
    HINT.get()
}

/// A call with the hint of this thread.
pub(crate) fn of(prepared: Prepared<'_>) -> Prepared<'_> {
    match HINT.get() {
        Some(hint) => prepared.hint(hint),
        None => prepared,
    }
}

/// The same of a program that is kept.
pub(crate) fn of_kept(program: &Program) -> Cow<'_, Program> {
    match HINT.get() {
        Some(hint) => Cow::Owned(program.clone().hint(hint)),
        None => Cow::Borrowed(program),
    }
}
