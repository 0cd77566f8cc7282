//! The engine's errors as Python exceptions: a wrong type is a `TypeError`, anything else a
//! `ValueError`.

use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use retrograde::Error;

pub(crate) fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    if is_about_types(&error) { PyTypeError::new_err(text) } else { PyValueError::new_err(text) }
}

/// Whether a wrong type is the reason.
pub(crate) fn is_about_types(error: &Error) -> bool {
    matches!(
        error,
        Error::OutputType { .. }
            | Error::AxesType { .. }
            | Error::MaskType { .. }
            | Error::InputType { .. }
            | Error::LengthsType { .. }
            | Error::OffsetsType { .. }
    )
}
