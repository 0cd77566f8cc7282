//! Lengths or offsets as an argument: any Python value that is a list of integers.
//!
//! The engine checks lengths and reads them again while it runs, clamping each: if another Python
//! thread changes them in between, the result may be wrong, but nothing else. Short lists are
//! copied anyway, so that calls of usual sizes see a consistent state. Long ones, and those on a
//! device, are used in place, where they are once all arguments of the call are converted.

use crate::dlpack::{Imported, RawTensor, changed};
use crate::mask::{self, Steps};
use crate::ndarray::{self, integer_type};
use crate::threads;
use crate::view::{Place, Shape, Strides, View};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use retrograde::{DType, Layout, Operator, Reversal, Reverse, TensorRef};

/// Lengths of one call, or its offsets.
pub(crate) struct Lengths {
    /// What the caller knows them as.
    argument: &'static str,
    dtype: DType,
    shape: Shape,
    values: Values,
    /// The shape of the mask that they were counted in.
    mask: Option<Shape>,
}

enum Values {
    /// In row-major order, in memory that belongs to the call.
    Copied(Vec<u8>),
    /// In the caller's memory, as it was when they were [described](Lengths::describe).
    There { origin: *mut u8, strides: Strides, place: Place, owner: Owner },
}

/// Keeps lengths alive.
enum Owner {
    Array(Py<PyUntypedArray>),
    /// In a box, because short lengths, which have no owner, are moved too.
    Tensor(Box<Imported>),
}

// SAFETY: the address belongs to the owner, which may be sent to another thread and shared.
// Elements are read while other Python threads run, as NumPy's own functions do.
unsafe impl Send for Values {}
// SAFETY: as above.
unsafe impl Sync for Values {}

/// Lists of fewer bytes are copied.
const FEW: usize = 1 << 20;

impl Lengths {
    /// Reads lengths or offsets. With `steps`, a boolean mask of kept steps stands for lengths.
    pub(crate) fn of(
        operator: &str,
        argument: &'static str,
        lengths: &Bound<'_, PyAny>,
        steps: Option<Steps>,
    ) -> PyResult<Self> {
        if let Ok(array) = lengths.cast::<PyUntypedArray>() {
            refuse_masked(operator, argument, array)?;
            return Self::of_array(operator, argument, array, steps);
        }
        if let Some(numbers) = small_integers(lengths)? {
            let shape = Shape::from_slice(&[numbers.len()]);
            let bytes = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            let values = Values::Copied(bytes);
            return Ok(Lengths { argument, dtype: DType::I64, shape, values, mask: None });
        }
        if let Some(copied) = RawTensor::at(lengths).and_then(|raw| Self::of_raw(argument, &raw)) {
            return Ok(copied);
        }
        if Imported::is_one(lengths)? {
            return Self::of_tensor(operator, argument, lengths, steps);
        }
        let array = as_array(lengths)?;
        // An empty list has no type; NumPy reads it as float64.
        if array.len() == 0 && array.dtype().kind() == b'f' {
            let shape = Shape::from_slice(array.shape());
            let values = Values::Copied(Vec::new());
            return Ok(Lengths { argument, dtype: DType::I64, shape, values, mask: None });
        }
        Self::of_array(operator, argument, &array, steps)
    }

    fn of_array(
        operator: &str,
        argument: &'static str,
        array: &Bound<'_, PyUntypedArray>,
        steps: Option<Steps>,
    ) -> PyResult<Self> {
        let Some(dtype) = integer_type(&array.dtype()) else {
            let native = match (array.dtype().kind(), steps) {
                (b'b', Some(steps)) => {
                    let view = View { dtype: DType::U8, ..ndarray::view(array) };
                    // SAFETY: `array` lives until the mask is read, and no Python code runs before.
                    let mask = unsafe { view.tensor(Operator::Reverse)? };
                    return Self::in_mask(operator, argument, mask, steps);
                }
                // Foreign byte order: NumPy converts it.
                (b'i' | b'u', _) => array.dtype().call_method1("newbyteorder", ("=",))?,
                // Integers of `ml_dtypes`, one in each byte.
                _ if is_narrow(&array.dtype())? => numpy::dtype::<i8>(array.py()).into_any(),
                _ => return Err(wrong_type(operator, argument, array.dtype().as_any())),
            };
            let native = array.call_method1("astype", (native,))?;
            return Self::of_array(operator, argument, native.cast()?, None);
        };
        if let Some(bytes) = ndarray::dense_bytes(array, FEW) {
            let shape = Shape::from_slice(array.shape());
            return Ok(Lengths {
                argument,
                dtype,
                shape,
                values: Values::Copied(bytes),
                mask: None,
            });
        }
        let view = View { dtype, ..ndarray::view(array) };
        if view.bytes() >= FEW {
            return Ok(Self::there(argument, view, Owner::Array(array.clone().unbind())));
        }
        // SAFETY: `array` lives until the copy is made, right below, and no Python code runs before.
        let tensor = unsafe { view.tensor(Operator::Reverse)? };
        Self::copied(argument, tensor)
    }

    fn there(argument: &'static str, view: View, owner: Owner) -> Self {
        let View { dtype, origin, shape, strides, place } = view;
        let values = Values::There { origin, strides, place, owner };
        Lengths { argument, dtype, shape, values, mask: None }
    }

    /// Copies a short list that a library describes in C; `None` for others.
    fn of_raw(argument: &'static str, raw: &RawTensor<'_>) -> Option<Self> {
        let (dtype, bytes) = raw.dense_integers(FEW)?;
        let size = |&size: &i64| usize::try_from(size).ok();
        let shape = raw.shape().iter().map(size).collect::<Option<Shape>>()?;
        Some(Lengths { argument, dtype, shape, values: Values::Copied(bytes), mask: None })
    }

    fn of_tensor(
        operator: &str,
        argument: &'static str,
        lengths: &Bound<'_, PyAny>,
        steps: Option<Steps>,
    ) -> PyResult<Self> {
        let imported = Imported::of(lengths)?;
        let view = imported.view();
        if view.dtype == DType::Bool
            && let Some(steps) = steps
        {
            if view.place != Place::Host {
                return Err(PyValueError::new_err(format!(
                    "{operator}: {argument} is a mask on {}, expected one on the CPU, or the numbers \
                     of its kept steps: mask.sum(...)",
                    view.place
                )));
            }
            let view = View { dtype: DType::U8, ..view };
            // SAFETY: `imported` lives until the mask is read, right below.
            let mask = unsafe { view.tensor(Operator::Reverse)? };
            return Self::in_mask(operator, argument, mask, steps);
        }
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
        let values = Values::Copied(bytes_of(tensor)?);
        Ok(Lengths { argument, dtype, shape, values, mask: None })
    }

    /// Counts the kept steps of a mask, one in each byte.
    fn in_mask(
        operator: &str,
        argument: &'static str,
        mask: TensorRef<'_>,
        steps: Steps,
    ) -> PyResult<Self> {
        let shape = Shape::from_slice(mask.layout().shape());
        let (left, counts) = mask::count(operator, &shape, &bytes_of(mask)?, steps)?;
        let values = Values::Copied(counts.iter().flat_map(|count| count.to_ne_bytes()).collect());
        Ok(Lengths { argument, dtype: DType::I64, shape: left, values, mask: Some(shape) })
    }

    /// Reads again where those in the caller's memory are. No Python code may run from here until
    /// they are used.
    pub(crate) fn describe(&mut self, py: Python<'_>) -> PyResult<()> {
        let Values::There { origin, strides, owner, .. } = &mut self.values else { return Ok(()) };
        let now = match owner {
            Owner::Array(array) => {
                let array = array.bind(py);
                let dtype = integer_type(&array.dtype()).ok_or_else(|| changed(self.argument))?;
                View { dtype, ..ndarray::view(array) }
            }
            Owner::Tensor(tensor) => {
                tensor.describe(py)?;
                tensor.view()
            }
        };
        if now.dtype != self.dtype || now.shape != self.shape {
            return Err(changed(self.argument));
        }
        (*origin, *strides) = (now.origin, now.strides);
        Ok(())
    }

    /// The same tensor, described now. `None` if they are no tensor that is described in C.
    pub(crate) fn again(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let Values::There { owner: Owner::Tensor(tensor), .. } = &self.values else {
            return Ok(None);
        };
        let Some(tensor) = tensor.again(py)? else { return Ok(None) };
        Ok(Some(Self::there(self.argument, tensor.view(), Owner::Tensor(Box::new(tensor)))))
    }

    /// The same in memory of their own, unless they are on a device.
    pub(crate) fn kept(mut self) -> PyResult<Self> {
        match self.place() {
            Place::Host if self.copy().is_none() => {
                let copy = Self::copied(self.argument, self.tensor(None)?)?;
                self = copy;
            }
            _ => {}
        }
        Ok(self)
    }

    /// For lengths of the lanes along an axis of a tensor of this shape, which have its shape with 1
    /// at the axis or without it: the axis, if they lack it. One out of range is left to the operator.
    pub(crate) fn lack(&self, axis: i64, shape: &[usize]) -> PyResult<Option<usize>> {
        let rank = shape.len() as i64;
        let at = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&at) {
            return Ok(None);
        }
        let at = at as usize;
        let (mut with, mut without) = (Shape::from_slice(shape), Shape::from_slice(shape));
        with[at] = 1;
        without.remove(at);
        if self.shape == without {
            return Ok(Some(at));
        }
        if self.shape == with {
            return Ok(None);
        }
        Err(PyValueError::new_err(format!(
            "ReverseSubsequences: lengths have shape {:?}, expected {with:?} or {without:?}",
            self.shape
        )))
    }

    /// The name of the argument: lengths or offsets.
    pub(crate) fn argument(&self) -> &'static str {
        self.argument
    }

    /// Their type and shape if the call has a copy of them, which is dense.
    pub(crate) fn copied_as(&self) -> Option<(DType, &[usize])> {
        matches!(self.values, Values::Copied(_)).then_some((self.dtype, &self.shape[..]))
    }

    /// The shape of the mask that they were counted in, if they were.
    pub(crate) fn mask(&self) -> Option<&[usize]> {
        self.mask.as_deref()
    }

    /// Those that were counted in a mask, and their shape.
    pub(crate) fn counted(&self) -> Option<(Vec<i64>, Vec<usize>)> {
        let counts = self.mask().and(self.copy())?.as_chunks().0.iter();
        Some((counts.map(|bytes| i64::from_ne_bytes(*bytes)).collect(), self.shape.to_vec()))
    }

    /// The copy that the call has of them.
    pub(crate) fn copy(&self) -> Option<&[u8]> {
        match &self.values {
            Values::Copied(bytes) => Some(bytes),
            Values::There { .. } => None,
        }
    }

    /// What their library says about those that are not copied, in C.
    pub(crate) fn raw<'a>(&'a self, py: Python<'a>) -> Option<RawTensor<'a>> {
        match &self.values {
            Values::There { owner: Owner::Tensor(tensor), .. } => tensor.raw(py),
            _ => None,
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

    /// For the operator to check and plan with, with the axis that they [lack](Self::lack). On a
    /// device, the memory is a device address, and must not be read on the host.
    pub(crate) fn tensor(&self, lacking: Option<usize>) -> PyResult<TensorRef<'_>> {
        let mut shape = self.shape.clone();
        if let Some(axis) = lacking {
            shape.insert(axis, 1);
        }
        let tensor = match &self.values {
            Values::Copied(bytes) => TensorRef::dense(self.dtype, &bytes[..], &shape),
            Values::There { origin, strides, .. } => {
                let mut strides = strides.clone();
                if let Some(axis) = lacking {
                    strides.insert(axis, 0);
                }
                // SAFETY: the owner lives as long as `self`, and was described after the last Python
                // code of the call. Values that change meanwhile are clamped where they are read;
                // lengths on a device are not read here.
                unsafe { TensorRef::from_raw(self.dtype, *origin, &shape, &strides) }
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

/// The elements of a tensor in host memory, in row-major order.
fn bytes_of(tensor: TensorRef<'_>) -> PyResult<Vec<u8>> {
    let layout = tensor.layout();
    if Layout::dense(layout.dtype(), layout.shape()).is_ok_and(|dense| dense == *layout) {
        let memory = tensor.memory();
        // SAFETY: a dense layout covers every byte of its memory, which is the tensor's.
        return Ok(unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) }.to_vec());
    }
    let bytes = threads::run(FEW, || Reverse::axes([]).to_bytes(&tensor));
    bytes.map_err(crate::errors::raised)
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

/// Refuses lengths or offsets of which some are masked: the values under a mask mean nothing.
#[pyfunction]
#[pyo3(signature = (operator, argument, lengths, /))]
pub(crate) fn refuse_masked(
    operator: &str,
    argument: &str,
    lengths: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    if lengths.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(());
    }
    let masked = lengths.py().import("numpy.ma")?;
    if !lengths.is_instance(&masked.getattr("MaskedArray")?)? {
        return Ok(());
    }
    let mask = masked.call_method1("getmaskarray", (lengths,))?;
    let hidden = lengths.py().import("numpy")?.call_method1("argwhere", (mask,))?;
    if hidden.len()? == 0 {
        return Ok(());
    }
    let place = hidden.get_item(0)?.try_iter()?.map(|index| index?.extract::<usize>());
    let place = place.collect::<PyResult<Vec<_>>>()?;
    let place = place.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    Err(PyValueError::new_err(format!(
        "{operator}: {argument}[{place}] is masked, expected a value everywhere \
         ({argument}.filled(0) has one)"
    )))
}

fn wrong_type(operator: &str, argument: &str, dtype: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{operator}: {argument} have type {dtype}, expected an integer type"
    ))
}
