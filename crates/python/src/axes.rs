//! `axes`, `mask` and `duplicates` of `reverse`: any Python value that is a list of axes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyTuple};
use retrograde::Reverse;
use smallvec::SmallVec;

/// Several axes, as the caller counts them.
type Indices = SmallVec<[i64; 8]>;

/// All axes if neither is given.
pub(crate) fn reverse(
    axes: Option<&Bound<'_, PyAny>>,
    mask: Option<&Bound<'_, PyAny>>,
    duplicates: &str,
) -> PyResult<Reverse> {
    let distinct = parse(duplicates)?;
    match (axes, mask) {
        (None, None) => Ok(Reverse::all()),
        (Some(axes), None) => {
            let operator = Reverse::axes(indices(axes)?);
            Ok(if distinct { operator.distinct() } else { operator })
        }
        (None, Some(mask)) => Ok(Reverse::mask(booleans(mask)?)),
        (Some(_), Some(_)) => Err(PyValueError::new_err(
            "Reverse: axes and mask are both given: expected only one of them",
        )),
    }
}

/// Whether duplicates are errors.
fn parse(duplicates: &str) -> PyResult<bool> {
    match duplicates {
        "set" => Ok(false),
        "error" => Ok(true),
        other => Err(PyValueError::new_err(format!(
            "Reverse: duplicates {other:?} does not exist, expected \"set\" or \"error\""
        ))),
    }
}

/// One integer, or any iterable of them.
fn indices(axes: &Bound<'_, PyAny>) -> PyResult<Indices> {
    if axes.is_exact_instance_of::<PyInt>() {
        return Ok(SmallVec::from_iter([index(0, axes)?]));
    }
    if let Ok(axes) = axes.cast_exact::<PyTuple>() {
        return axes.iter_borrowed().enumerate().map(|(at, axis)| index(at, &axis)).collect();
    }
    if let Ok(axes) = axes.cast_exact::<PyList>() {
        return axes.iter().enumerate().map(|(at, axis)| index(at, &axis)).collect();
    }
    if let Ok(axis) = index(0, axes) {
        return Ok(SmallVec::from_iter([axis]));
    }
    let Ok(iterator) = axes.try_iter() else {
        return Err(PyTypeError::new_err(format!(
            "Reverse: axes is {}, expected an integer, several of them, or None for all axes",
            described(axes)
        )));
    };
    iterator.enumerate().map(|(at, axis)| index(at, &axis?)).collect()
}

fn index(at: usize, axis: &Bound<'_, PyAny>) -> PyResult<i64> {
    let hint = " (a boolean per axis is a mask: mask=...)";
    integer(axis, || format!("Reverse: axes[{at}]"), hint)
}

/// An axis argument that is a single integer.
pub(crate) fn single(operator: &str, argument: &str, axis: &Bound<'_, PyAny>) -> PyResult<i64> {
    integer(axis, || format!("{operator}: {argument}"), "")
}

fn integer(value: &Bound<'_, PyAny>, argument: impl Fn() -> String, hint: &str) -> PyResult<i64> {
    if value.is_exact_instance_of::<PyInt>()
        && let Ok(number) = value.extract()
    {
        return Ok(number);
    }
    let refused = || {
        let (argument, value) = (argument(), described(value));
        PyTypeError::new_err(format!("{argument} is {value}, expected an integer{hint}"))
    };
    if is_boolean(value)? {
        return Err(refused());
    }
    // Integers of NumPy and of other libraries have `__index__`, and so do arrays of one element.
    let number = value.call_method0("__index__").map_err(|_| refused())?;
    number.extract().map_err(|_| {
        let argument = argument();
        PyValueError::new_err(format!("{argument} is {number}, an axis that no tensor has"))
    })
}

fn booleans(mask: &Bound<'_, PyAny>) -> PyResult<SmallVec<[bool; 8]>> {
    let expected = "expected one boolean (or 0 or 1) per axis";
    if let Some(rank) = rank(mask)
        && rank != 1
    {
        let mask = described(mask);
        return Err(PyValueError::new_err(format!(
            "Reverse: mask is {mask}, of rank {rank}, {expected}: rank 1"
        )));
    }
    let Ok(iterator) = mask.try_iter() else {
        return Err(PyTypeError::new_err(format!(
            "Reverse: mask is {}, {expected}",
            described(mask)
        )));
    };
    iterator.enumerate().map(|(at, entry)| boolean(at, &entry?)).collect()
}

/// A boolean, or an integer that is 0 or 1.
fn boolean(at: usize, entry: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_boolean(entry)? {
        return entry.is_truthy();
    }
    let expected = "expected a boolean, 0 or 1 (axes by number: axes=...)";
    let number = entry.call_method0("__index__").map_err(|_| {
        let entry = described(entry);
        PyTypeError::new_err(format!("Reverse: mask[{at}] is {entry}, {expected}"))
    })?;
    match number.extract() {
        Ok(0) => Ok(false),
        Ok(1) => Ok(true),
        _ => Err(PyValueError::new_err(format!("Reverse: mask[{at}] is {number}, {expected}"))),
    }
}

/// A boolean of Python or NumPy, or another library's scalar of that type.
fn is_boolean(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyBool>() {
        return Ok(true);
    }
    if value.is_exact_instance_of::<PyInt>() {
        return Ok(false);
    }
    let Ok(dtype) = value.getattr("dtype") else { return Ok(false) };
    if rank(value).is_some_and(|rank| rank != 0) {
        return Ok(false);
    }
    // TensorFlow's prints as <dtype: 'bool'>.
    let name = dtype.getattr("name").and_then(|name| name.str()).or_else(|_| dtype.str())?;
    Ok(name.to_string().rsplit('.').next().is_some_and(|name| name.starts_with("bool")))
}

/// The rank of an array or tensor; none for other values.
fn rank(value: &Bound<'_, PyAny>) -> Option<usize> {
    value.getattr("ndim").ok()?.extract().ok()
}

/// A value as an error shows it: abbreviated, with its type.
fn described(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type();
    let kind = kind.name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let text = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short}{dots} ({kind})")
}
