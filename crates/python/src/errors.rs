//! The engine's errors as Python exceptions: a wrong type is a `TypeError`, anything else a
//! `ValueError`.

use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use retrograde::Error;

pub(crate) fn raised(error: Error) -> PyErr {
    let text = format!("{error}{}", hint(&error));
    if is_about_types(&error) { PyTypeError::new_err(text) } else { PyValueError::new_err(text) }
}

/// The arguments that solve the problem, if they are known: the engine does not know the names of Python's.
fn hint(error: &Error) -> String {
    match error {
        Error::SequenceLengthsShape { got, time_axis, time_size, batch_axis, .. }
            if got[..] == [*time_size] =>
        {
            let axes = format!("time_axis={batch_axis}, batch_axis={time_axis}");
            match (time_axis, batch_axis) {
                (0, 1) => format!(": did you mean batch_first=True ({axes})?"),
                (1, 0) => format!(": did you mean batch_first=False ({axes})?"),
                _ => format!(": did you mean {axes}?"),
            }
        }
        // Masks of tokenizers are integers.
        Error::SequenceLengthsShape { got, time_size, batch_size, .. }
            if got[..] == [*batch_size, *time_size] =>
        {
            ": a mask of kept steps is boolean, as mask != 0 is".to_string()
        }
        _ => String::new(),
    }
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
