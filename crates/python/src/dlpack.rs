//! Tensors of other libraries, through DLPack: theirs coming in, ours going out.

use crate::memory::Block;
use crate::view::{Place, View};
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned,
    DLPACK_MAJOR_VERSION, DLPackExchangeAPI, DLTensor,
};
use dlpark::metadata::Dynamic;
use dlpark::python::consumer::stream::no_sync;
use dlpark::python::{
    DlpackExporter, DlpackStream, ExportRequest, ImportRequest, ImportedDlpack, StreamArg,
    export_dlpack,
};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase, TensorRef};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi::PyTypeObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyCapsule, PyType};
use retrograde::{DType, Operator, Shape, Strides};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

/// A tensor that another library lends.
pub(crate) struct Imported {
    view: View,
    dtype: DLDataType,
    flags: DlpackFlags,
    /// Keeps the elements alive.
    _owner: Owner,
}

enum Owner {
    /// The tensor itself: its library described it without lending it.
    Object(#[expect(dead_code, reason = "only held")] Py<PyAny>),
    Loan(#[expect(dead_code, reason = "only held")] ImportedDlpack),
}

impl Imported {
    /// One to be read.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match Self::described(object)? {
            Some(imported) => Ok(imported),
            None => Self::lent(object),
        }
    }

    /// One to be written to: only a loan says whether that is allowed, where not all are.
    pub(crate) fn output(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if class_of(object)?.writable { Self::of(object) } else { Self::lent(object) }
    }

    /// Whether this is a tensor at all.
    pub(crate) fn is_one(object: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(class_of(object)?.describe.is_some()
            || object.hasattr(intern!(object.py(), "__dlpack__"))?)
    }

    /// Through the C function of libraries that have it: nothing is allocated.
    fn described(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some(describe) = class_of(object)?.describe else { return Ok(None) };
        let mut tensor = DLTensor::default();
        // SAFETY: the function is the one of the object's class, and fills in what it is given.
        if unsafe { describe(object.as_ptr().cast(), &mut tensor) } != 0 {
            // What it cannot describe, it may still lend, or say better why not.
            drop(PyErr::take(object.py()));
            return Ok(None);
        }
        // Flags are not part of a description, and small types need one.
        if tensor.dtype.bits < 8 {
            return Ok(None);
        }
        // SAFETY: the library has just filled it in, and the object is alive.
        let tensor = unsafe { TensorRef::from_raw(&tensor) }.map_err(invalid)?;
        let flags = DlpackFlags::empty();
        let (view, dtype) = read(tensor, flags)?;
        let _owner = Owner::Object(object.clone().unbind());
        Ok(Some(Imported { view, dtype, flags, _owner }))
    }

    /// Through DLPack's own protocol.
    fn lent(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let request = ImportRequest::new(object.as_borrowed())?;
        // Work on a device goes to the stream that its library uses: there is nothing to wait for.
        let device = request.device().ok();
        let on_device = device.is_some_and(|device| device.device_type == DLDeviceType::CUDA);
        let loan = match (request.import(on_device.then_some(&SameStream), None), device) {
            (Err(error), Some(device)) if error.is_instance_of::<PyTypeError>(object.py()) => {
                lent_without_version(object, device, error)?
            }
            (loan, _) => loan?,
        };
        let flags = loan.flags();
        let (view, dtype) = read(loan.validate().map_err(invalid)?, flags)?;
        Ok(Imported { view, dtype, flags, _owner: Owner::Loan(loan) })
    }

    pub(crate) fn view(&self) -> View {
        self.view.clone()
    }

    pub(crate) fn check_output(&self, operator: Operator, input: &Imported) -> PyResult<()> {
        if self.flags.contains(DlpackFlags::READ_ONLY) {
            return Err(PyValueError::new_err(format!("{operator}: out is read-only")));
        }
        let (expected, got) = (input.dtype, self.dtype);
        if self.view.place != input.view.place {
            return Err(PyValueError::new_err(format!(
                "{operator}: out is on {}, expected the input's device, {}",
                self.view.place, input.view.place
            )));
        }
        if expected != got {
            return Err(PyTypeError::new_err(format!(
                "{operator}: out has type {}, expected the input's type {}",
                in_words(got),
                in_words(expected)
            )));
        }
        Ok(())
    }
}

/// From a producer that may be older than DLPack 1.0, whose `__dlpack__` takes no `max_version`.
///
/// A `TypeError` does not say whether the keyword was refused or something inside went wrong, so
/// the call is made again without it, as NumPy does it. What went wrong then is raised, with
/// `first` as its context.
fn lent_without_version(
    object: &Bound<'_, PyAny>,
    device: DLDevice,
    first: PyErr,
) -> PyResult<ImportedDlpack> {
    let py = object.py();
    let name = intern!(py, "__dlpack__");
    let capsule = if device.device_type == DLDeviceType::CUDA {
        // No waiting, as in the first call.
        object.call_method(name, (), Some(&[("stream", -1)].into_py_dict(py)?))
    } else {
        object.call_method0(name)
    };
    let capsule = capsule.inspect_err(|second| {
        let (first, second) = (first.value(py), second.value(py));
        let context = intern!(py, "__context__");
        // A producer may raise one and the same object each time: no exception is its own context.
        if !first.is(second) && second.getattr(context).is_ok_and(|context| context.is_none()) {
            second.setattr(context, first).ok();
        }
    })?;
    let loan = ImportRequest::new(capsule.as_borrowed())?.import(None, None)?;
    let lent = loan.validate().map_err(invalid)?.device();
    if lent != device {
        return Err(PyValueError::new_err(format!(
            "__dlpack_device__ says {}:{}, but __dlpack__ gave a tensor on {}:{}",
            device.device_type.0, device.device_id, lent.device_type.0, lent.device_id
        )));
    }
    Ok(loan)
}

/// What a library says of a tensor in C: nothing is allocated, and nothing is checked yet.
#[derive(Clone, Copy)]
pub(crate) struct Glance<'a> {
    tensor: DLTensor,
    /// Whether it may be written to.
    pub(crate) writable: bool,
    _object: PhantomData<&'a PyAny>,
}

impl<'a> Glance<'a> {
    /// At a tensor of a class that is known. None also for what takes more than a description:
    /// strides that are left out, and elements of less than a byte.
    pub(crate) fn at(object: &'a Bound<'_, PyAny>) -> Option<Self> {
        let offers = known(object.py(), object.get_type_ptr())?;
        let mut tensor = DLTensor::default();
        // SAFETY: the function is the one of the object's class, and fills in what it is given.
        if unsafe { offers.describe?(object.as_ptr().cast(), &mut tensor) } != 0 {
            drop(PyErr::take(object.py()));
            return None;
        }
        let described = tensor.ndim == 0 || !tensor.shape.is_null() && !tensor.strides.is_null();
        (tensor.ndim >= 0 && described && tensor.dtype.bits >= 8).then_some(Glance {
            tensor,
            writable: offers.writable,
            _object: PhantomData,
        })
    }

    pub(crate) fn dtype(&self) -> DLDataType {
        self.tensor.dtype
    }

    pub(crate) fn device(&self) -> DLDevice {
        self.tensor.device
    }

    /// None for a device that nothing here runs on.
    pub(crate) fn place(&self) -> Option<Place> {
        place(self.tensor.device).ok()
    }

    pub(crate) fn shape(&self) -> &[i64] {
        self.axes(self.tensor.shape)
    }

    /// In elements.
    pub(crate) fn strides(&self) -> &[i64] {
        self.axes(self.tensor.strides)
    }

    fn axes(&self, first: *const i64) -> &[i64] {
        match self.tensor.ndim {
            0 => &[],
            // SAFETY: not null, as `at` found, and the library has one for each axis, for as long
            // as the object lives and nothing changes it; that is borrowed meanwhile.
            rank => unsafe { slice::from_raw_parts(first, rank as usize) },
        }
    }

    /// Element `[0, 0, ..]`.
    pub(crate) fn origin(&self) -> *mut u8 {
        self.tensor.data.cast::<u8>().wrapping_add(self.tensor.byte_offset as usize)
    }

    /// Whether there are elements, but nothing that holds them.
    pub(crate) fn lacks_memory(&self) -> bool {
        self.tensor.data.is_null() && !self.shape().contains(&0)
    }

    pub(crate) fn is_complex(&self) -> bool {
        self.tensor.dtype.code == DLDataTypeCode::COMPLEX
    }

    pub(crate) fn is_integer(&self) -> bool {
        let DLDataType { code, lanes, .. } = self.tensor.dtype;
        matches!(code, DLDataTypeCode::INT | DLDataTypeCode::UINT) && lanes == 1
    }

    /// Bytes of the elements, were they dense.
    pub(crate) fn bytes(&self) -> usize {
        let width = usize::from(self.tensor.dtype.bits) / 8 * usize::from(self.tensor.dtype.lanes);
        let size = |size: i64| usize::try_from(size).unwrap_or(0);
        self.shape().iter().fold(width, |all, &axis| all.saturating_mul(size(axis)))
    }
}

/// Says that a loan will be used on its library's own stream.
struct SameStream;

// SAFETY: asking for no synchronisation names no stream at all.
unsafe impl DlpackStream for SameStream {
    fn as_python_arg(&self, _: Python<'_>, _: DLDevice) -> PyResult<StreamArg> {
        Ok(no_sync())
    }

    unsafe fn wait_for_producer(&self, _: DLDevice, _: *mut c_void) -> PyResult<bool> {
        Ok(true)
    }
}

/// The stream that a tensor's library works on now, on the tensor's device.
pub(crate) fn current_stream(object: &Bound<'_, PyAny>, device: usize) -> PyResult<usize> {
    let (py, class) = (object.py(), object.get_type());
    if let Some(ask) = class_of(object)?.current_stream {
        let mut stream = ptr::null_mut();
        // SAFETY: the library's own function, asked about a device that its tensor is on.
        if unsafe { ask(DLDeviceType::CUDA, device as i32, &mut stream) } == 0 {
            return Ok(stream as usize);
        }
        return Err(PyErr::fetch(py));
    }
    let module = class.getattr(intern!(py, "__module__"))?;
    let module = module.extract::<String>()?;
    match module.split('.').next() {
        Some("torch") => {
            let cuda = py.import("torch.cuda")?;
            cuda.call_method1("current_stream", (device,))?.getattr("cuda_stream")?.extract()
        }
        Some("cupy") => {
            let cuda = py.import("cupy.cuda")?;
            cuda.call_method0("get_current_stream")?.getattr("ptr")?.extract()
        }
        // The stream that others wait for, unless they were told not to.
        _ => Ok(0),
    }
}

/// How a library describes a tensor of its own.
type Describe = unsafe extern "C" fn(*mut c_void, *mut DLTensor) -> c_int;
/// How it says which stream it uses on a device.
type CurrentStream = unsafe extern "C" fn(DLDeviceType, i32, *mut *mut c_void) -> c_int;

/// What a class of tensors offers.
#[derive(Clone, Copy, Default)]
struct Class {
    describe: Option<Describe>,
    current_stream: Option<CurrentStream>,
    /// Whether all of its tensors may be written to. PyTorch's may.
    writable: bool,
}

/// The first classes that offered anything: asking them again takes longer than what they offer.
static KNOWN: [PyOnceLock<(Py<PyType>, Class)>; 4] = [const { PyOnceLock::new() }; 4];

/// What a class offers, if it is known.
fn known(py: Python<'_>, class: *const PyTypeObject) -> Option<&Class> {
    KNOWN
        .iter()
        .map_while(|known| known.get(py))
        .find_map(|(known, offers)| (known.as_ptr().cast_const() == class.cast()).then_some(offers))
}

/// Makes this class known.
pub(crate) fn know(class: &Bound<'_, PyType>) -> PyResult<()> {
    offers_of(class).map(drop)
}

/// Whether this is a tensor of a class that is known.
pub(crate) fn is_known(object: &Bound<'_, PyAny>) -> bool {
    known(object.py(), object.get_type_ptr()).is_some()
}

fn class_of(object: &Bound<'_, PyAny>) -> PyResult<Class> {
    offers_of(&object.get_type())
}

fn offers_of(class: &Bound<'_, PyType>) -> PyResult<Class> {
    let py = class.py();
    if let Some(offers) = known(py, class.as_type_ptr()) {
        return Ok(*offers);
    }
    let Some(table) = table_of(class)? else { return Ok(Class::default()) };
    let module = class.getattr(intern!(py, "__module__"))?;
    // SAFETY: `table_of` checked its version.
    let table = unsafe { table.as_ref() };
    let offers = Class {
        describe: table.dltensor_from_py_object_no_sync,
        current_stream: table.current_work_stream,
        writable: module.eq(intern!(py, "torch"))?,
    };
    // Whoever comes too late keeps asking.
    let free = KNOWN.iter().find(|known| known.get(py).is_none());
    let _ = free.map(|known| known.set(py, (class.clone().unbind(), offers)));
    Ok(offers)
}

/// The table of functions that DLPack 1.3 has classes publish, if it is one we know.
fn table_of(class: &Bound<'_, PyType>) -> PyResult<Option<NonNull<DLPackExchangeAPI>>> {
    let Some(capsule) = class.getattr_opt(intern!(class.py(), "__dlpack_c_exchange_api__"))? else {
        return Ok(None);
    };
    let Ok(capsule) = capsule.cast_into::<PyCapsule>() else { return Ok(None) };
    let table = capsule.pointer_checked(Some(c"dlpack_exchange_api"))?.cast::<DLPackExchangeAPI>();
    // SAFETY: a capsule of this name holds such a table, for as long as the process lives. The
    // header is the same in all versions, and tells whether the rest is as declared.
    let major = unsafe { (*table.as_ptr()).header.version.major };
    Ok((major == DLPACK_MAJOR_VERSION).then_some(table))
}

/// The memory that a device of DLPack's has.
fn place(device: DLDevice) -> PyResult<Place> {
    match (device.device_type, usize::try_from(device.device_id)) {
        (DLDeviceType::CPU | DLDeviceType::CUDAHOST | DLDeviceType::ROCMHOST, _) => Ok(Place::Host),
        (DLDeviceType::CUDA, Ok(number)) => Ok(Place::Cuda(number)),
        (DLDeviceType(kind), _) => Err(PyValueError::new_err(format!(
            "the tensor is on device {kind}:{} of DLPack, expected the CPU (1) or CUDA (2)",
            device.device_id
        ))),
    }
}

/// Where a tensor lies, and of what type it is.
fn read(tensor: TensorRef<'_>, flags: DlpackFlags) -> PyResult<(View, DLDataType)> {
    let place = place(tensor.device())?;
    let dtype = element_type(tensor.dtype(), flags)?;
    let size = |&size: &i64| usize::try_from(size).map_err(|_| negative(size));
    let shape = tensor.shape().iter().map(size).collect::<PyResult<Shape>>()?;
    let scale = if dtype.is_packed() { 1 } else { dtype.bits().unwrap_or(8) as i64 / 8 };
    let strides = tensor.strides_or_compact().map_err(invalid)?;
    let step = |(axis, &stride): (usize, &i64)| {
        let step = stride.checked_mul(scale).and_then(|step| isize::try_from(step).ok());
        // A stride that is never taken may be anything.
        step.or(Some(0).filter(|_| shape[axis] <= 1 || shape.contains(&0))).ok_or_else(|| {
            PyValueError::new_err(format!("stride {stride} of axis {axis} is too large"))
        })
    };
    let strides = strides.iter().enumerate().map(step).collect::<PyResult<Strides>>()?;
    // SAFETY: the tensor was validated, and its library says that the offset is its own.
    let origin = unsafe { tensor.offset_bytes_ptr() }.map_err(invalid)?.cast_mut();
    Ok((View { dtype, origin, shape, strides, place }, tensor.dtype()))
}

/// The engine's type of the same width and packing.
fn element_type(dtype: DLDataType, flags: DlpackFlags) -> PyResult<DType> {
    let bits = usize::from(dtype.bits) * usize::from(dtype.lanes);
    if dtype.bits < 8 && flags.contains(DlpackFlags::IS_SUBBYTE_TYPE_PADDED) {
        return Ok(DType::Bytes(usize::from(dtype.lanes)));
    }
    if dtype.lanes == 1
        && let Some(named) = DType::from_dlpack(dtype.code.0, dtype.bits)
    {
        return Ok(named);
    }
    if bits % 8 == 0 && bits > 0 {
        return Ok(DType::Bytes(bits / 8));
    }
    Err(PyTypeError::new_err(format!("elements of {} cannot be moved", in_words(dtype))))
}

fn in_words(dtype: DLDataType) -> String {
    match DType::from_dlpack(dtype.code.0, dtype.bits) {
        Some(named) if dtype.lanes == 1 => named.to_string(),
        _ => format!("code {}, {} bits, {} lanes", dtype.code.0, dtype.bits, dtype.lanes),
    }
}

fn invalid(error: dlpark::tensor::Error) -> PyErr {
    PyBufferError::new_err(format!("not a valid DLPack tensor: {error}"))
}

fn negative(size: i64) -> PyErr {
    PyBufferError::new_err(format!("not a valid DLPack tensor: a size is {size}"))
}

/// A result for a library that takes tensors through DLPack.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Buffer {
    /// Exports share it, and outlive the object.
    memory: Arc<Block>,
    dtype: DLDataType,
    flags: DlpackFlags,
    shape: Vec<i64>,
    /// In elements.
    strides: Vec<i64>,
}

impl Buffer {
    /// For a tensor of the same type and shape, axes in the same order in memory.
    pub(crate) fn like(tensor: &Imported, view: &View) -> PyResult<(Self, View)> {
        let dtype = tensor.dtype;
        let flags = tensor.flags & DlpackFlags::IS_SUBBYTE_TYPE_PADDED;
        let width = match view.dtype.bits() {
            Some(bits) if !view.dtype.is_packed() => bits / 8,
            _ => 1,
        };
        let strides = if view.dtype.is_packed() {
            // Packed elements lie in row-major order, whatever theirs was.
            let mut rows = view.dense_strides("out", 1)?;
            let mut step = 1;
            for (stride, &size) in rows.iter_mut().zip(&view.shape).rev() {
                *stride = step;
                step *= size.max(1) as isize;
            }
            rows
        } else {
            view.dense_strides("out", width)?
        };
        let memory = Arc::new(Block::new(view.bytes())?);
        if view.dtype.is_packed() {
            // Bytes that elements share are read before they are written, and what is left over
            // in the last one is zero.
            // SAFETY: the block has as many bytes, and nobody else has it.
            unsafe { memory.as_ptr().write_bytes(0, view.bytes()) };
        }
        let out = View {
            dtype: view.dtype,
            origin: memory.as_ptr(),
            shape: view.shape.clone(),
            strides: strides.clone(),
            place: Place::Host,
        };
        let in_elements = |&stride: &isize| stride as i64 / width.max(1) as i64;
        let buffer = Buffer {
            memory,
            dtype,
            flags,
            shape: view.shape.iter().map(|&size| size as i64).collect(),
            strides: strides.iter().map(in_elements).collect(),
        };
        Ok((buffer, out))
    }

    fn managed<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let failed = |error: &dyn std::fmt::Display| PyBufferError::new_err(error.to_string());
        let metadata = Dynamic::new(self.shape.as_slice(), self.strides.as_slice());
        let mut tensor = metadata
            .initialize_as::<M>(Arc::clone(&self.memory))
            .map_err(|error| failed(&error))?;
        tensor.set_data(self.memory.as_ptr().cast());
        tensor.set_dtype(self.dtype);
        tensor.set_device(DLDevice { device_type: DLDeviceType::CPU, device_id: 0 });
        // SAFETY: the memory is the tensor's context and lives as long, holds a dense tensor of
        // that shape and type, and is not read-only.
        Ok(unsafe { tensor.finish() })
    }
}

impl DlpackExporter for Buffer {
    fn device(&self) -> DLDevice {
        DLDevice { device_type: DLDeviceType::CPU, device_id: 0 }
    }

    fn flags(&self) -> DlpackFlags {
        self.flags
    }

    fn prepare_export(&self, _: Python<'_>, _: &ExportRequest<'_>) -> PyResult<()> {
        Ok(())
    }

    fn export_legacy(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.managed()
    }

    fn export_versioned(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        let mut tensor = self.managed::<DLManagedTensorVersioned>()?;
        // SAFETY: padding is what the input of this type had.
        *unsafe { tensor.flags_mut() } |= self.flags;
        Ok(tensor)
    }
}

#[pymethods]
impl Buffer {
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let request = ExportRequest::parse(stream.as_ref(), max_version, dl_device, copy)?;
        export_dlpack(self, py, request)
    }

    fn __dlpack_device__(&self) -> (u32, i32) {
        (DLDeviceType::CPU.0, 0)
    }
}
