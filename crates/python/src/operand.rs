//! A tensor of the caller as the engine sees it, independent of its library.

use crate::dlpack::{Buffer, Imported};
use crate::ndarray;
use crate::view::{Place, View};
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use retrograde::Operator;

/// A tensor borrowed from Python for a call.
pub(crate) enum Operand<'py> {
    Array(Bound<'py, PyUntypedArray>),
    Tensor(Imported),
    /// A new output in memory of ours.
    New(View),
}

impl<'py> Operand<'py> {
    /// Converts an object. A library that exports its tensors may run any Python code.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyUntypedArray>() {
            Ok(array) => Ok(Operand::Array(array.clone())),
            Err(_) => Ok(Operand::Tensor(Imported::of(object)?)),
        }
    }

    /// The same, as an output.
    pub(crate) fn output(operator: Operator, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            return Ok(Operand::Array(array.clone()));
        }
        if Imported::is_one(object)? {
            return Ok(Operand::Tensor(Imported::output(object)?));
        }
        let kind = object.get_type();
        let kind = kind.name()?;
        Err(PyTypeError::new_err(format!(
            "{operator}: out is of type {kind}, expected an array or a tensor"
        )))
    }

    /// Reads where its elements are now. No Python code may run from here until they have moved: it
    /// could resize the tensor.
    pub(crate) fn describe(&mut self, py: Python<'_>) -> PyResult<()> {
        match self {
            // Read by `view`.
            Operand::Array(_) => Ok(()),
            Operand::Tensor(tensor) => tensor.describe(py),
            // Nobody else knows it.
            Operand::New(_) => Ok(()),
        }
    }

    /// Where its elements were when it was [described](Self::describe); those of an array are
    /// described each time.
    pub(crate) fn view(&self) -> View {
        match self {
            Operand::Array(array) => ndarray::view(array),
            Operand::Tensor(tensor) => tensor.view(),
            Operand::New(view) => view.clone(),
        }
    }

    /// Checks it as an output of the same type as the input.
    pub(crate) fn check_output(&self, operator: Operator, input: &Operand<'py>) -> PyResult<()> {
        match (input, self) {
            (Operand::Array(input), Operand::Array(out)) => {
                ndarray::check_output(operator, input, out)
            }
            (Operand::Tensor(input), Operand::Tensor(out)) => out.check_output(operator, input),
            _ => Err(PyTypeError::new_err(format!(
                "{operator}: out and the input must come from the same library"
            ))),
        }
    }
}

/// Allocates a tensor with an operand's shape and type: the object, and its operand. Classes that
/// derive from NumPy's arrays may run Python code.
pub(crate) fn empty_like<'py>(
    input: &Operand<'py>,
    view: &View,
    py: Python<'py>,
) -> PyResult<(Bound<'py, PyAny>, Operand<'py>)> {
    on_host("x", view)?;
    match input {
        Operand::Array(array) => Ok(of_array(ndarray::empty_like(array, view)?)),
        Operand::Tensor(tensor) => {
            let (buffer, view) = Buffer::like(tensor, view)?;
            Ok((Bound::new(py, buffer)?.into_any(), Operand::New(view)))
        }
        Operand::New(_) => unreachable!("inputs belong to the caller"),
    }
}

fn of_array<'py>(array: Bound<'py, PyUntypedArray>) -> (Bound<'py, PyAny>, Operand<'py>) {
    (array.clone().into_any(), Operand::Array(array))
}

/// The same in row-major order. The shape is the view's, which may have swapped axes.
pub(crate) fn empty_in_rows<'py>(
    input: &Operand<'py>,
    view: &View,
    py: Python<'py>,
) -> PyResult<(Bound<'py, PyAny>, Operand<'py>)> {
    on_host("x", view)?;
    let rows = view.in_rows();
    match input {
        Operand::Array(array) => Ok(of_array(ndarray::empty_in_rows(array, &rows)?)),
        _ => empty_like(input, &rows, py),
    }
}

/// Refuses tensors that the CPU cannot access.
pub(crate) fn on_host(argument: &str, view: &View) -> PyResult<()> {
    match view.place {
        Place::Host => Ok(()),
        place => {
            Err(PyValueError::new_err(format!("{argument} is on {place}, expected it on the CPU")))
        }
    }
}
