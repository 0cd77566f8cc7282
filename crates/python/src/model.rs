//! ONNX models for `retrograde.onnx_backend`: the interpreter of the command, on NumPy arrays.
//!
//! Python has converted all inputs (step 1 of `call`). Arrays are described and then moved, without
//! the GIL if they are large.

use crate::errors::is_about_types;
use crate::memory::Blocks;
use crate::{ndarray, threads};
use numpy::{PyArray1, PyUntypedArray};
use pyo3::exceptions::{PyMemoryError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString};
use retrograde::DType;
use retrograde_io::graph::{Declared, Graph, GraphError, OperandError};
use retrograde_io::{Elements, ModelError, Value, onnx};
use std::path::PathBuf;

/// A model that can be run.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct OnnxModel {
    graph: Graph,
    constant_bytes: usize,
}

/// An input: its name, the code of its type, and its elements.
type Given<'py> = (String, i32, Bound<'py, PyAny>);
/// An output: the code of its type, its elements, and its shape.
type Returned<'py> = (i32, Bound<'py, PyAny>, Vec<usize>);

#[pymethods]
impl OnnxModel {
    /// The code of a sequence or an optional value, which passes through as any object.
    #[classattr]
    const NO_TENSOR: i32 = -1;

    /// Reads a ModelProto, with external data in this folder. Errors call it by `name`.
    #[new]
    #[pyo3(signature = (content, folder, name, /))]
    fn new(
        py: Python<'_>,
        content: PyBackedBytes,
        folder: PathBuf,
        name: &str,
    ) -> PyResult<OnnxModel> {
        let content = bytes::Bytes::from_owner(content);
        let graph = py.detach(|| onnx::decode_model(content, folder));
        let graph = graph.map_err(|error| refused(name, error))?;
        Ok(OnnxModel { constant_bytes: graph.constant_bytes(), graph })
    }

    /// Raises a ``NotImplementedError`` if the opset of a ModelProto is not supported.
    #[staticmethod]
    #[pyo3(signature = (content, name, /))]
    fn check_opset(content: PyBackedBytes, name: &str) -> PyResult<()> {
        let opset = onnx::decode_opset(bytes::Bytes::from_owner(content));
        opset.map(|_| ()).map_err(|error| refused(name, error))
    }

    /// The name of each input, whether it has a default value, and whether it is declared to be a
    /// tensor.
    #[getter]
    fn inputs(&self) -> Vec<(String, bool, bool)> {
        let described = self.graph.inputs().iter().map(|input| {
            let declared = &input.declared;
            let is_tensor = declared.container.is_none() && *declared != Declared::default();
            (first(&input.names), input.has_default, is_tensor)
        });
        described.collect()
    }

    /// The name of each output.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.graph.outputs().iter().map(|output| first(&output.names)).collect()
    }

    /// Runs it. An input is its name, the code of its type, and its elements: a row-major array in
    /// little-endian order; a list of strings and a shape; or, with code 0, the bytes of a
    /// TensorProto. An output is its code, its elements, and its shape.
    #[pyo3(signature = (inputs, /))]
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<Given<'py>>) -> PyResult<Vec<Returned<'py>>> {
        let mut others = Vec::new();
        let mut converted = Vec::with_capacity(inputs.len());
        for (name, code, object) in inputs {
            let operand = Operand::of(&name, code, object, &mut others)?;
            converted.push((name, operand));
        }
        // From here on, no Python code runs until the elements have moved.
        let mut values = Vec::with_capacity(converted.len());
        let mut work = self.constant_bytes;
        for (name, operand) in converted {
            let value = operand.describe(&name)?;
            if let Elements::Bytes(bytes) = value.elements() {
                work = work.saturating_add(bytes.len());
            }
            values.push((name, value));
        }
        let blocks = Blocks::default();
        let go = || {
            let results = self.graph.run_in(values, &blocks, None)?;
            Ok(results.into_iter().map(|value| Moved::of(value, &blocks)).collect::<Vec<_>>())
        };
        let results = match work < threads::DETACH_FROM {
            true => go(),
            false => py.detach(|| threads::run(work, go)),
        };
        let results = results.map_err(|error| raised(&error, error.to_string()))?;
        let outputs = self.graph.outputs().iter().zip(results);
        outputs.map(|(output, moved)| moved?.returned(py, &output.names, &others)).collect()
    }
}

fn first(names: &[String]) -> String {
    names.first().cloned().unwrap_or_default()
}

/// An input that is converted.
enum Operand<'py> {
    Value(Value),
    Array(DType, Bound<'py, PyUntypedArray>),
}

impl<'py> Operand<'py> {
    /// Objects that are no tensors are added to `others`.
    fn of(
        name: &str,
        code: i32,
        object: Bound<'py, PyAny>,
        others: &mut Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Operand<'py>> {
        let wrong = |text: String| PyValueError::new_err(format!("input {name:?}: {text}"));
        if code == OnnxModel::NO_TENSOR {
            others.push(object);
            let at = (others.len() - 1).to_le_bytes();
            return Ok(Operand::Value(Value::message(at.to_vec())));
        }
        if let Ok(message) = object.cast::<PyBytes>() {
            let tensor = onnx::decode_tensor(message.as_bytes().to_vec());
            return Ok(Operand::Value(tensor.map_err(|error| wrong(error.to_string()))?.value));
        }
        match DType::from_onnx(code) {
            Some(DType::String) => {
                let (list, shape): (Bound<'py, PyList>, Vec<usize>) = object.extract()?;
                let strings = list.iter().enumerate().map(|(at, item)| text(name, at, &item));
                let strings = strings.collect::<PyResult<Vec<_>>>()?.into_iter().collect();
                let value = Value::strings(&shape, strings);
                Ok(Operand::Value(value.map_err(|error| wrong(error.to_string()))?))
            }
            Some(dtype) => Ok(Operand::Array(dtype, object.cast_into()?)),
            None => Err(wrong(format!("its type has code {code}, expected one of 1 to 26"))),
        }
    }

    fn describe(self, name: &str) -> PyResult<Value> {
        let (dtype, array) = match self {
            Operand::Value(value) => return Ok(value),
            Operand::Array(dtype, array) => (dtype, array),
        };
        let shape = ndarray::shape(&array);
        let value = match dtype.is_packed() {
            true => Value::of_bytes(dtype, &shape, &ndarray::shared_bytes(&array, 0)?),
            false => {
                Value::new(dtype, &shape, ndarray::shared_bytes(&array, threads::DETACH_FROM)?)
            }
        };
        value.map_err(|error| PyValueError::new_err(format!("input {name:?}: {error}")))
    }
}

/// A string of an input.
fn text(name: &str, at: usize, item: &Bound<'_, PyAny>) -> PyResult<bytes::Bytes> {
    if let Ok(text) = item.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned().into_bytes().into());
    }
    let Ok(bytes) = item.cast::<PyBytes>() else {
        let kind = item.get_type();
        let kind = kind.name()?;
        let text = format!("input {name:?}: element {at} is of type {kind}, expected a string");
        return Err(PyTypeError::new_err(text));
    };
    std::str::from_utf8(bytes.as_bytes()).map_err(|_| not_text("input", name, at))?;
    Ok(bytes.as_bytes().to_vec().into())
}

fn not_text(what: &str, name: &str, at: usize) -> PyErr {
    PyValueError::new_err(format!("{what} {name:?}: string {at} is not valid UTF-8"))
}

/// An output whose elements nothing else refers to.
enum Moved {
    Block(DType, Vec<usize>, crate::memory::Filled),
    /// Packed elements as a byte each, strings, or an index of another object.
    Value(Value),
}

impl Moved {
    fn of(value: Value, blocks: &Blocks) -> PyResult<Moved> {
        let (dtype, shape) = (value.dtype(), value.shape().to_vec());
        match value.elements() {
            Elements::Bytes(bytes) if !value.is_message() && !dtype.is_packed() => {
                let bytes = bytes.clone();
                drop(value);
                Ok(Moved::Block(dtype, shape, blocks.take(bytes)?))
            }
            _ => Ok(Moved::Value(value)),
        }
    }

    fn returned<'py>(
        self,
        py: Python<'py>,
        names: &[String],
        others: &[Bound<'py, PyAny>],
    ) -> PyResult<Returned<'py>> {
        let code = |dtype: DType| dtype.names().and_then(|names| names.onnx).map_or(0, |one| one.0);
        let value = match self {
            Moved::Block(dtype, shape, filled) => {
                return Ok((code(dtype), ndarray::of_block(py, filled)?.into_any(), shape));
            }
            Moved::Value(value) => value,
        };
        let (dtype, shape) = (value.dtype(), value.shape().to_vec());
        if let Some(bytes) = value.unpacked() {
            return Ok((code(dtype), PyArray1::from_vec(py, bytes).into_any(), shape));
        }
        match value.elements() {
            Elements::Strings(strings) => {
                let list = PyList::empty(py);
                for (at, string) in strings.iter().enumerate() {
                    let wrong = |_| not_text("output", &first(names), at);
                    list.append(PyString::new(py, std::str::from_utf8(string).map_err(wrong)?))?;
                }
                Ok((code(dtype), list.into_any(), shape))
            }
            Elements::Bytes(at) => {
                let at = at.as_ref().try_into().map(usize::from_le_bytes);
                let other = at.ok().and_then(|at| others.get(at)).cloned();
                Ok((OnnxModel::NO_TENSOR, other.unwrap_or_else(|| py.None().into_bound(py)), shape))
            }
        }
    }
}

/// Why a model cannot be used.
fn refused(name: &str, error: ModelError) -> PyErr {
    let text = format!("{name}: {error}");
    match error {
        ModelError::Opset { .. } | ModelError::Sparse { .. } | ModelError::NoTensor { .. } => {
            PyNotImplementedError::new_err(text)
        }
        ModelError::Graph(error) => raised(&error, text),
        _ => PyValueError::new_err(text),
    }
}

/// An error of a graph as an exception: as for errors of the engine.
fn raised(error: &GraphError, text: String) -> PyErr {
    let source = match error {
        GraphError::CannotRun { .. } => return PyNotImplementedError::new_err(text),
        GraphError::OtherType { .. } | GraphError::OtherKind { .. } => {
            return PyTypeError::new_err(text);
        }
        GraphError::Node { source, .. } | GraphError::Result { source, .. } => source,
        _ => return PyValueError::new_err(text),
    };
    match &**source {
        OperandError::Type { .. }
        | OperandError::Arithmetic { .. }
        | OperandError::OtherType { .. }
        | OperandError::NoTensor { .. } => PyTypeError::new_err(text),
        OperandError::NoRoom { .. } => PyMemoryError::new_err(text),
        OperandError::Reversal(error) if is_about_types(error) => PyTypeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
