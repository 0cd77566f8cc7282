//! The engine's errors as Python exceptions: a wrong type is a `TypeError`, anything else a
//! `ValueError`.

use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use retrograde::Error;

pub(crate) fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutputType { .. }
        | Error::AxesType { .. }
        | Error::MaskType { .. }
        | Error::InputType { .. }
        | Error::LengthsType { .. }
        | Error::OffsetsType { .. } => PyTypeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
