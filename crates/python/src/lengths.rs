//! Lengths or offsets as an argument: any Python value that is a list of integers.
//!
//! The engine checks lengths and reads them again while it runs, clamping each: if another Python
//! thread changes them in between, the result may be wrong, but nothing else. Short lists are
//! copied anyway, so that calls of usual sizes see a consistent state. Long ones, and those on a
//! device, are used in place.

use crate::dlpack::{Imported, RawTensor};
use crate::ndarray::{self, integer_type};
use crate::threads;
use crate::view::{Place, View};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use retrograde::{DType, Layout, Operator, Reverse, Shape, Strides, TensorRef};

/// Lengths of one call, or its offsets.
pub(crate) struct Lengths {
    /// What the caller knows them as.
    argument: &'static str,
    dtype: DType,
    shape: Shape,
    values: Values,
}

enum Values {
    /// In row-major order, in memory that belongs to the call.
    Copied(Vec<u8>),
    /// In the caller's memory.
    There { origin: *mut u8, strides: Strides, place: Place, _owner: Owner },
}

/// Keeps lengths alive.
enum Owner {
    Array(#[expect(dead_code, reason = "only held")] Py<PyUntypedArray>),
    /// In a box, because short lengths, which have no owner, are moved too.
    Tensor(#[expect(dead_code, reason = "only held")] Box<Imported>),
}

// SAFETY: the address belongs to the owner, which may be sent to another thread and shared.
// Elements are read without the GIL, as NumPy's own functions do.
unsafe impl Send for Values {}
// SAFETY: as above.
unsafe impl Sync for Values {}

/// Lists of fewer bytes are copied.
const FEW: usize = 1 << 20;

impl Lengths {
    pub(crate) fn of(
        operator: &str,
        argument: &'static str,
        lengths: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        if let Ok(array) = lengths.cast::<PyUntypedArray>() {
            return Self::of_array(operator, argument, array);
        }
        if let Some(numbers) = small_integers(lengths)? {
            let shape = Shape::from_slice(&[numbers.len()]);
            let bytes = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            let values = Values::Copied(bytes);
            return Ok(Lengths { argument, dtype: DType::I64, shape, values });
        }
        if let Some(copied) = RawTensor::at(lengths).and_then(|raw| Self::of_raw(argument, &raw)) {
            return Ok(copied);
        }
        if Imported::is_one(lengths)? {
            return Self::of_tensor(operator, argument, lengths);
        }
        let array = as_array(lengths)?;
        // An empty list has no type; NumPy reads it as float64.
        if array.len() == 0 && array.dtype().kind() == b'f' {
            let shape = Shape::from_slice(array.shape());
            let values = Values::Copied(Vec::new());
            return Ok(Lengths { argument, dtype: DType::I64, shape, values });
        }
        Self::of_array(operator, argument, &array)
    }

    fn of_array(
        operator: &str,
        argument: &'static str,
        array: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<Self> {
        let Some(dtype) = integer_type(&array.dtype()) else {
            let native = match array.dtype().kind() {
                // Foreign byte order: NumPy converts it.
                b'i' | b'u' => array.dtype().call_method1("newbyteorder", ("=",))?,
                // Integers of `ml_dtypes`, one in each byte.
                _ if is_narrow(&array.dtype())? => numpy::dtype::<i8>(array.py()).into_any(),
                _ => return Err(wrong_type(operator, argument, array.dtype().as_any())),
            };
            let native = array.call_method1("astype", (native,))?;
            return Self::of_array(operator, argument, native.cast()?);
        };
        if let Some(bytes) = ndarray::dense_bytes(array).filter(|bytes| bytes.len() < FEW) {
            let shape = Shape::from_slice(array.shape());
            return Ok(Lengths { argument, dtype, shape, values: Values::Copied(bytes.to_vec()) });
        }
        let view = View { dtype, ..ndarray::view(array) };
        if view.bytes() >= FEW {
            return Ok(Self::there(argument, view, Owner::Array(array.clone().unbind())));
        }
        // SAFETY: `array` lives until the copy is made, right below, with the GIL held.
        let tensor = unsafe { view.tensor(Operator::Reverse)? };
        Self::copied(argument, tensor)
    }

    fn there(argument: &'static str, view: View, owner: Owner) -> Self {
        let View { dtype, origin, shape, strides, place } = view;
        let values = Values::There { origin, strides, place, _owner: owner };
        Lengths { argument, dtype, shape, values }
    }

    /// Copies a short list that a library describes in C; `None` for others.
    fn of_raw(argument: &'static str, raw: &RawTensor<'_>) -> Option<Self> {
        let (dtype, bytes) = raw.dense_integers().filter(|(_, bytes)| bytes.len() < FEW)?;
        let size = |&size: &i64| usize::try_from(size).ok();
        let shape = raw.shape().iter().map(size).collect::<Option<Shape>>()?;
        Some(Lengths { argument, dtype, shape, values: Values::Copied(bytes.to_vec()) })
    }

    fn of_tensor(
        operator: &str,
        argument: &'static str,
        lengths: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let imported = Imported::of(lengths)?;
        let view = imported.view();
        if !view.dtype.is_integer() {
            let dtype = lengths.getattr("dtype")?;
            return Err(wrong_type(operator, argument, &dtype));
        }
        if view.place != Place::Host || view.bytes() >= FEW {
            return Ok(Self::there(argument, view, Owner::Tensor(Box::new(imported))));
        }
        // SAFETY: `imported` lives until the copy is made, right below.
        let tensor = unsafe { view.tensor(Operator::Reverse)? };
        Self::copied(argument, tensor)
    }

    fn copied(argument: &'static str, tensor: TensorRef<'_>) -> PyResult<Self> {
        let (dtype, shape) = (tensor.layout().dtype(), Shape::from_slice(tensor.layout().shape()));
        let dense = Layout::dense(dtype, &shape).is_ok_and(|dense| dense == *tensor.layout());
        let bytes = if dense {
            let memory = tensor.memory();
            // SAFETY: a dense layout covers every byte of its memory, which is the tensor's.
            unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) }.to_vec()
        } else {
            let bytes = threads::run(FEW, || Reverse::axes([]).to_bytes(&tensor))?;
            bytes.map_err(crate::errors::raised)?
        };
        Ok(Lengths { argument, dtype, shape, values: Values::Copied(bytes) })
    }

    /// Lengths of the lanes along an axis of a tensor of this shape: they have its shape with 1 at
    /// the axis or without it. An axis out of range is left to the operator.
    pub(crate) fn along(mut self, axis: i64, shape: &[usize]) -> PyResult<Self> {
        let rank = shape.len() as i64;
        let at = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&at) {
            return Ok(self);
        }
        let at = at as usize;
        let (mut with, mut without) = (Shape::from_slice(shape), Shape::from_slice(shape));
        with[at] = 1;
        without.remove(at);
        if self.shape == without {
            self.shape.insert(at, 1);
            if let Values::There { strides, .. } = &mut self.values {
                strides.insert(at, 0);
            }
        }
        if self.shape != with {
            return Err(PyValueError::new_err(format!(
                "ReverseSubsequences: lengths have shape {:?}, expected {with:?} or {without:?}",
                self.shape
            )));
        }
        Ok(self)
    }

    /// The name of the argument: lengths or offsets.
    pub(crate) fn argument(&self) -> &'static str {
        self.argument
    }

    /// Their type and shape if the call has a copy of them, which is dense.
    pub(crate) fn copied_as(&self) -> Option<(DType, &[usize])> {
        matches!(self.values, Values::Copied(_)).then_some((self.dtype, &self.shape[..]))
    }

    /// The copy that the call has of them.
    pub(crate) fn copy(&self) -> Option<&[u8]> {
        match &self.values {
            Values::Copied(bytes) => Some(bytes),
            Values::There { .. } => None,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The memory that holds them.
    pub(crate) fn place(&self) -> Place {
        match &self.values {
            Values::Copied(_) => Place::Host,
            Values::There { place, .. } => *place,
        }
    }

    /// For the operator to check and plan with. On a device, the memory is a device address, and
    /// must not be read on the host.
    pub(crate) fn tensor(&self) -> PyResult<TensorRef<'_>> {
        let tensor = match &self.values {
            Values::Copied(bytes) => TensorRef::dense(self.dtype, &bytes[..], &self.shape),
            Values::There { origin, strides, .. } => {
                // SAFETY: the owner lives as long as `self`. Values that change meanwhile are
                // clamped where they are read; lengths on a device are not read here.
                unsafe { TensorRef::from_raw(self.dtype, *origin, &self.shape, strides) }
            }
        };
        tensor.map_err(|error| crate::errors::raised(error.into()))
    }
}

/// The integers of a list or tuple that contains only integers: the common case, without NumPy.
fn small_integers(lengths: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>> {
    let plain = |number: &Bound<'_, PyAny>| {
        number.is_exact_instance_of::<PyInt>().then(|| number.extract().ok()).flatten()
    };
    if let Ok(list) = lengths.cast_exact::<PyList>() {
        return Ok(list.iter().map(|number| plain(&number)).collect());
    }
    if let Ok(tuple) = lengths.cast_exact::<PyTuple>() {
        return Ok(tuple.iter_borrowed().map(|number| plain(&number)).collect());
    }
    Ok(None)
}

fn as_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let numpy = object.py().import("numpy")?;
    Ok(numpy.call_method1("asarray", (object,))?.cast_into()?)
}

/// Whether this is an integer type of less than a byte.
fn is_narrow(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<bool> {
    let name = dtype.getattr("name")?.extract::<String>()?;
    Ok(matches!(&name[..], "int1" | "int2" | "int4" | "uint1" | "uint2" | "uint4"))
}

fn wrong_type(operator: &str, argument: &str, dtype: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{operator}: {argument} have type {dtype}, expected an integer type"
    ))
}
