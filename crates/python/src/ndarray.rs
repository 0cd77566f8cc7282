//! NumPy arrays: the layout of their elements, and new arrays like them.

use crate::dlpack::RawTensor;
use crate::memory::{self, Filled};
use crate::view::{Place, Shape, Strides, View};
use bytes::Bytes;
use numpy::npyffi::{
    self, NPY_ARRAY_WRITEABLE, NPY_ITEM_REFCOUNT, NPY_ORDER, NPY_TYPES, PY_ARRAY_API,
    PyDataType_ELSIZE, PyDataType_FLAGS, PyDataType_ISLEGACY,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::{PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use retrograde::cpu::Block;
use retrograde::{DType, Operator};
use std::ffi::{c_int, c_void};
use std::{ptr, slice};

/// A view of an array. The type of its elements does not matter, only their width.
pub(crate) fn view(array: &Bound<'_, PyUntypedArray>) -> View {
    // SAFETY: the object is an array, which has this field.
    let origin = unsafe {
        (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const())).data.cast::<u8>()
    };
    View {
        dtype: DType::Bytes(array.dtype().itemsize()),
        origin,
        shape: Shape::from_slice(array.shape()),
        strides: Strides::from_slice(array.strides()),
        place: Place::Host,
    }
}

/// A copy of the elements of a row-major array that has some, but fewer bytes than `most`.
pub(crate) fn dense_bytes(array: &Bound<'_, PyUntypedArray>, most: usize) -> Option<Vec<u8>> {
    let bytes = array.len() * array.dtype().itemsize();
    if bytes == 0 || bytes >= most || !array.is_c_contiguous() {
        return None;
    }
    // SAFETY: the object is an array, which has this field. Its elements are dense, so they are these
    // bytes, and it is alive. No Python code runs before they are copied.
    unsafe {
        let data = (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const())).data;
        Some(slice::from_raw_parts(data.cast(), bytes).to_vec())
    }
}

/// The sizes of the axes.
pub(crate) fn shape(array: &Bound<'_, PyUntypedArray>) -> Vec<usize> {
    array.shape().to_vec()
}

/// The elements of a row-major array, as they are now: a copy of fewer than `least` bytes, or
/// memory that is shared with the array.
///
/// As with any NumPy function, the caller is responsible for other threads that modify or resize the
/// array while the result is used.
pub(crate) fn shared_bytes(array: &Bound<'_, PyUntypedArray>, least: usize) -> PyResult<Bytes> {
    let len = array.len() * array.dtype().itemsize();
    if !array.is_c_contiguous() || holds_references(array) {
        return Err(PyValueError::new_err("an array is not row-major, or has objects"));
    }
    if len < least || len == 0 {
        return Ok(dense_bytes(array, len + 1).unwrap_or_default().into());
    }
    // SAFETY: the object is an array, which has this field.
    let data = unsafe {
        (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const())).data.cast::<u8>()
    };
    Ok(Bytes::from_owner(Elements { _array: array.clone().unbind(), data, len }))
}

/// The elements of a dense array, which is kept alive.
struct Elements {
    _array: Py<PyUntypedArray>,
    data: *const u8,
    len: usize,
}

// SAFETY: the memory is only read, and the reference to the array is never used.
unsafe impl Send for Elements {}
// SAFETY: as above.
unsafe impl Sync for Elements {}

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the array is dense and has this many bytes. It is alive, and the caller is
        // responsible for threads that modify it meanwhile (see `shared_bytes`).
        unsafe { slice::from_raw_parts(self.data, self.len) }
    }
}

/// Describes an array of NumPy's own class whose elements are numbers in native byte order.
pub(crate) fn described<'a>(object: &'a Bound<'_, PyAny>) -> Option<RawTensor<'a>> {
    /// Half precision, which was added after the other numbers.
    const HALF: c_int = NPY_TYPES::NPY_HALF as c_int;
    const LAST: c_int = NPY_TYPES::NPY_CLONGDOUBLE as c_int;
    const WIDEST: usize = 16;
    if !object.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    // SAFETY: the object is an array, which has these fields, and its descriptor is alive. Its
    // shape and strides have as many elements as it has axes.
    unsafe {
        let array = &*npyffi::_PyArray_GET_ITEM_DATA(object.as_ptr().cast_const().cast());
        let descriptor = &*npyffi::_PyDataType_GET_ITEM_DATA(array.descr);
        let (number, order) = (descriptor.type_num, descriptor.byteorder as u8);
        let width = PyDataType_ELSIZE(object.py(), array.descr) as usize;
        let plain = (0..=LAST).contains(&number) || number == HALF;
        if !plain || !matches!(order, b'=' | b'|') || width > WIDEST {
            return None;
        }
        let writable = array.flags & NPY_ARRAY_WRITEABLE != 0;
        let axes = [array.dimensions.cast(), array.strides.cast()];
        let data = (array.data.cast(), writable);
        Some(RawTensor::of_array(object, number, width as u8, data, array.nd, axes))
    }
}

/// Whether elements are more than their bytes: objects, and strings stored elsewhere. These can be
/// swapped within one array, but not be copied to another as bytes. The same applies to types that
/// NumPy knows only through user code, because the meaning of their bytes is unknown.
pub(crate) fn holds_references(array: &Bound<'_, PyUntypedArray>) -> bool {
    let dtype = array.dtype();
    // SAFETY: `dtype` is a descriptor, and alive.
    let (flags, legacy) = unsafe {
        let dtype = dtype.as_dtype_ptr();
        (PyDataType_FLAGS(array.py(), dtype), PyDataType_ISLEGACY(dtype))
    };
    flags & NPY_ITEM_REFCOUNT != 0 || !legacy
}

pub(crate) fn is_writeable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: the object is an array, which has this field.
    let flags =
        unsafe { (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const())).flags };
    flags & NPY_ARRAY_WRITEABLE != 0
}

pub(crate) fn check_output(
    operator: Operator,
    input: &Bound<'_, PyUntypedArray>,
    out: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    if !is_writeable(out) {
        return Err(PyValueError::new_err(format!("{operator}: out is read-only")));
    }
    let (expected, dtype) = (input.dtype(), out.dtype());
    if !expected.is(&dtype) && !expected.is_equiv_to(&dtype) {
        return Err(PyTypeError::new_err(format!(
            "{operator}: out has dtype {dtype}, expected the input's dtype {expected}"
        )));
    }
    Ok(())
}

/// A new array of the same class, type and shape, with the same memory order.
pub(crate) fn empty_like<'py>(
    array: &Bound<'py, PyUntypedArray>,
    view: &View,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if view.bytes() >= Block::LEAST { in_block(array, view) } else { small_like(array) }
}

/// The same for an array of so many bytes; it is viewed only if it is large.
pub(crate) fn like<'py>(
    array: &Bound<'py, PyUntypedArray>,
    bytes: usize,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if bytes >= Block::LEAST { in_block(array, &view(array)) } else { small_like(array) }
}

/// From NumPy's allocator.
fn small_like<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    // SAFETY: the arguments are an array and null for "the same type"; the result is a new
    // reference to an array, or null with an exception set.
    unsafe {
        let out = PY_ARRAY_API.PyArray_NewLikeArray(
            py,
            array.as_array_ptr(),
            NPY_ORDER::NPY_KEEPORDER,
            ptr::null_mut(),
            1,
        );
        Ok(Bound::from_owned_ptr_or_err(py, out)?.cast_into_unchecked())
    }
}

/// A new row-major array of the same class and type, of the view's shape. The view is
/// [row-major](View::in_rows).
pub(crate) fn empty_in_rows<'py>(
    array: &Bound<'py, PyUntypedArray>,
    view: &View,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    if view.bytes() >= Block::LEAST {
        return in_block(array, view);
    }
    let mut shape = view.shape.clone();
    // SAFETY: the type is an array's, the call steals the reference to the descriptor, and the
    // shape has one entry per axis. Without strides and data, NumPy allocates a row-major array.
    unsafe {
        let out = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            array.get_type().as_type_ptr(),
            array.dtype().into_dtype_ptr(),
            shape.len() as i32,
            shape.as_mut_ptr().cast(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
            array.as_ptr(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, out)?.cast_into_unchecked())
    }
}

/// A new array of the view's shape and memory order, in memory that we allocate.
fn in_block<'py>(
    array: &Bound<'py, PyUntypedArray>,
    view: &View,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let DType::Bytes(width) = view.dtype else { unreachable!("arrays have elements of bytes") };
    let (mut shape, mut strides) = (view.shape.clone(), view.dense_strides("out", width)?);
    let block = memory::block(view.bytes())?;
    // SAFETY: the block holds a dense array of that shape and type, whose class is an array's.
    unsafe {
        let class = array.get_type().as_type_ptr();
        over_block(block, class, array.dtype(), &mut shape, &mut strides, array.as_ptr())
    }
}

/// A new array of the bytes of a block.
pub(crate) fn of_block<'py>(
    py: Python<'py>,
    filled: Filled,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let (block, len) = filled.into_parts();
    // SAFETY: the block has these bytes, and the class is NumPy's own.
    unsafe {
        let class = PyUntypedArray::type_object_raw(py);
        over_block(block, class, numpy::dtype::<u8>(py), &mut [len], &mut [1], ptr::null_mut())
    }
}

/// A new array in memory that we allocated, which belongs to it.
///
/// # Safety
/// The class is that of arrays or derived from it; shape and strides have one entry per axis and
/// stay inside the block; `like` is an array, or null if the class is NumPy's own.
unsafe fn over_block<'py>(
    block: Block,
    class: *mut PyTypeObject,
    dtype: Bound<'py, PyArrayDescr>,
    shape: &mut [usize],
    strides: &mut [isize],
    like: *mut PyObject,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = dtype.py();
    let data = block.as_ptr().cast::<c_void>();
    // Frees the block, or keeps it for another array, when the array is freed.
    let owner = PyCapsule::new_with_value(py, block, c"retrograde.memory")?;
    // SAFETY: as required above; the call steals the reference to the descriptor. The second call
    // steals the owner's reference as well, also on failure.
    unsafe {
        let out = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            dtype.into_dtype_ptr(),
            shape.len() as i32,
            shape.as_mut_ptr().cast(),
            strides.as_mut_ptr(),
            data,
            NPY_ARRAY_WRITEABLE,
            like,
        );
        let out = Bound::from_owned_ptr_or_err(py, out)?.cast_into_unchecked::<PyUntypedArray>();
        if PY_ARRAY_API.PyArray_SetBaseObject(py, out.as_array_ptr(), owner.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(out)
    }
}

/// A copy made by NumPy, element by element if necessary.
pub(crate) fn copied<'py>(
    array: &Bound<'py, PyUntypedArray>,
    order: NPY_ORDER,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    // SAFETY: the argument is an array; the result is a new reference to one, or null with an
    // exception set.
    unsafe {
        let copy = PY_ARRAY_API.PyArray_NewCopy(array.py(), array.as_array_ptr(), order);
        Ok(Bound::from_owned_ptr_or_err(array.py(), copy)?.cast_into_unchecked())
    }
}

/// A view with two axes swapped, which exist.
pub(crate) fn swapped<'py>(
    array: &Bound<'py, PyUntypedArray>,
    (first, second): (usize, usize),
) -> PyResult<Bound<'py, PyUntypedArray>> {
    // SAFETY: as above; NumPy checks the axes as well.
    unsafe {
        let (py, array) = (array.py(), array.as_array_ptr());
        let view = PY_ARRAY_API.PyArray_SwapAxes(py, array, first as c_int, second as c_int);
        Ok(Bound::from_owned_ptr_or_err(py, view)?.cast_into_unchecked())
    }
}

/// Assigns one array's elements to another's, using NumPy.
pub(crate) fn assign(
    from: &Bound<'_, PyUntypedArray>,
    to: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    // SAFETY: both are arrays.
    let done =
        unsafe { PY_ARRAY_API.PyArray_CopyInto(from.py(), to.as_array_ptr(), from.as_array_ptr()) };
    if done == 0 { Ok(()) } else { Err(PyErr::fetch(from.py())) }
}

/// The integer type of an array, if it is an integer type in native byte order.
pub(crate) fn integer_type(dtype: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let native = matches!(dtype.byteorder(), b'=' | b'|');
    match (dtype.kind(), dtype.itemsize()) {
        _ if !native => None,
        (b'i', 1) => Some(DType::I8),
        (b'i', 2) => Some(DType::I16),
        (b'i', 4) => Some(DType::I32),
        (b'i', 8) => Some(DType::I64),
        (b'u', 1) => Some(DType::U8),
        (b'u', 2) => Some(DType::U16),
        (b'u', 4) => Some(DType::U32),
        (b'u', 8) => Some(DType::U64),
        _ => None,
    }
}
