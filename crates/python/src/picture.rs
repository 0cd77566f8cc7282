//! Pictures of calls: Python callbacks supply the elements, and `retrograde_picture` draws them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use retrograde_picture::{Elements, Movement, Padding, Source, plain};
use std::cell::RefCell;

/// The content of a picture. It does not keep the tensor.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Scene(retrograde_picture::Scene);

#[pymethods]
impl Scene {
    /// `axes` are non-negative: the reversed axes, the time and batch axes, or the axis of the
    /// lanes. `kind` is what elements are: numbers, text or bytes. `text` returns the element at an index as text, and `length` the length at an index
    /// of the lengths. `padding` says whether it is in front, and whether it becomes zero.
    #[new]
    #[pyo3(signature = (
        operator, axes, shape, what, kind, text, length, /, padding=(false, false), offsets=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "called in one place, from Python")]
    fn new(
        operator: &str,
        axes: Vec<usize>,
        shape: Vec<usize>,
        what: &str,
        kind: &str,
        text: &Bound<'_, PyAny>,
        length: Option<&Bound<'_, PyAny>>,
        padding: (bool, bool),
        offsets: Option<Vec<usize>>,
    ) -> PyResult<Self> {
        let padding = Padding { in_front: padding.0, zero: padding.1 };
        if let Some(axis) = axes.iter().find(|&&axis| axis >= shape.len()) {
            return Err(PyValueError::new_err(format!("axis {axis} of {shape:?}")));
        }
        let movement = match (operator, &axes[..]) {
            ("reverse", _) => Movement::Axes(axes),
            ("reverse_sequence", &[time, batch]) => Movement::Sequence { time, batch, padding },
            ("reverse_subsequences", &[axis]) => Movement::Lanes { axis, padding },
            ("reverse_segments", &[axis]) => {
                Movement::Segments { axis, offsets: offsets.unwrap_or_default() }
            }
            _ => return Err(PyValueError::new_err(format!("{operator} along {axes:?}"))),
        };
        let elements = match kind {
            "numbers" => Elements::Numbers,
            "text" => Elements::Text,
            "bytes" => Elements::Bytes,
            _ => return Err(PyValueError::new_err(format!("elements are {kind:?}"))),
        };
        let source = Asked { text, length };
        retrograde_picture::Scene::of(&source, &movement, &shape, what, elements).map(Scene)
    }

    /// The picture as text, within this many columns if possible, without the final newline.
    #[pyo3(signature = (columns, /))]
    fn text(&self, columns: isize) -> String {
        let mut text = self.0.text(columns.max(0) as usize, &plain);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    fn svg(&self) -> String {
        self.0.svg()
    }

    fn html(&self) -> String {
        self.0.html()
    }

    fn page(&self) -> String {
        self.0.page()
    }
}

/// Python callbacks that read the tensor and its lengths.
struct Asked<'a, 'py> {
    text: &'a Bound<'py, PyAny>,
    length: Option<&'a Bound<'py, PyAny>>,
}

impl Source for Asked<'_, '_> {
    type Error = PyErr;

    fn text(&self, index: &[usize]) -> PyResult<String> {
        self.text.call1((PyTuple::new(self.text.py(), index)?,))?.extract()
    }

    fn length(&self, at: &[usize]) -> PyResult<i128> {
        let length = self.length.ok_or_else(|| PyValueError::new_err("no lengths"))?;
        // Lengths have at most 64 bits.
        let value = length.call1((PyTuple::new(length.py(), at)?,))?;
        value.extract::<i64>().map(i128::from).or_else(|_| value.extract::<u64>().map(i128::from))
    }
}

/// A float as text. `is_same` says whether a shorter one means the same value of its type.
#[pyfunction]
#[pyo3(signature = (value, is_same, /))]
pub(crate) fn number_text(value: f64, is_same: &Bound<'_, PyAny>) -> PyResult<String> {
    let failed = RefCell::new(None);
    let asked = |short: f64| match is_same.call1((short,)).and_then(|same| same.extract()) {
        Ok(same) => same,
        Err(error) => {
            failed.borrow_mut().get_or_insert(error);
            true
        }
    };
    let text = retrograde_picture::number(value, asked);
    failed.into_inner().map_or(Ok(text), Err)
}

/// Text with everything escaped that could control a terminal.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn printable(text: &str) -> String {
    retrograde_picture::printable(text)
}
