//! Pictures of calls: what Python says of a tensor, drawn by `retrograde_picture`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use retrograde_picture::{Movement, Source, plain};

/// What a picture shows of a call; the tensor is not kept.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Scene(retrograde_picture::Scene);

#[pymethods]
impl Scene {
    /// `axes` count from the first: those that are reversed; time and batch; or the axis of lanes.
    /// `text` gives the element at an index, `length` the length at an index of the lengths.
    #[new]
    #[pyo3(signature = (operator, axes, shape, what, is_text, text, length, /))]
    fn new(
        operator: &str,
        axes: Vec<usize>,
        shape: Vec<usize>,
        what: &str,
        is_text: bool,
        text: &Bound<'_, PyAny>,
        length: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if let Some(axis) = axes.iter().find(|&&axis| axis >= shape.len()) {
            return Err(PyValueError::new_err(format!("axis {axis} of {shape:?}")));
        }
        let movement = match (operator, &axes[..]) {
            ("reverse", _) => Movement::Axes(axes),
            ("reverse_sequence", &[time, batch]) => Movement::Sequence { time, batch },
            ("reverse_subsequences", &[axis]) => Movement::Lanes(axis),
            _ => return Err(PyValueError::new_err(format!("{operator} along {axes:?}"))),
        };
        let source = Asked { text, length };
        retrograde_picture::Scene::of(&source, &movement, &shape, what, is_text).map(Scene)
    }

    /// Within this many columns if possible, without the end of the last line.
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

/// Functions of Python that know the tensor.
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
        // No type of lengths goes beyond 64 bits.
        let value = length.call1((PyTuple::new(length.py(), at)?,))?;
        value.extract::<i64>().map(i128::from).or_else(|_| value.extract::<u64>().map(i128::from))
    }
}
