//! Tensors of other libraries through DLPack: how they are described, and on which streams. Results
//! for these libraries are in [`buffer`].

mod buffer;

use crate::view::{Place, Shape, Strides, View};
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensorVersioned,
    DLPACK_MAJOR_VERSION, DLPackExchangeAPI, DLTensor,
};
use dlpark::python::consumer::stream::{self, no_sync};
use dlpark::python::{DlpackStream, ImportRequest, ImportedDlpack, StreamArg};
use dlpark::{DlpackFlags, TensorRef};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi::PyTypeObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyCapsule, PyTuple, PyType};
use retrograde::{DType, Operator};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;

pub(crate) use buffer::{Buffer, Memory};

/// A tensor borrowed from another library.
pub(crate) struct Imported {
    /// Where its elements were when it was described.
    view: View,
    dtype: DLDataType,
    flags: DlpackFlags,
    /// Keeps the elements alive.
    owner: Owner,
}

enum Owner {
    /// The tensor itself: its library describes it without exporting it, and may move its elements.
    Object(Py<PyAny>),
    /// The library promises that they stay where they are until the loan ends.
    Loan(#[expect(dead_code, reason = "only held")] ImportedDlpack),
}

impl Imported {
    /// Imports a tensor for reading.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(raw) = RawTensor::of_cupy_class(object)? {
            return Self::of_raw(object, &raw);
        }
        match Self::described(object)? {
            // A description orders nothing: without the library's stream, only an export does.
            Some(it) if it.view.place == Place::Host || has_stream(object)? => Ok(it),
            _ => Self::lent(object),
        }
    }

    /// Imports a tensor for writing. Unless all tensors of its class are writable, only an export
    /// says whether it is.
    pub(crate) fn output(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Class { writable, cupy, .. } = class_of(object)?;
        if writable || cupy { Self::of(object) } else { Self::lent(object) }
    }

    /// Whether this object is a tensor.
    pub(crate) fn is_one(object: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(class_of(object)?.describe.is_some()
            || object.hasattr(intern!(object.py(), "__dlpack__"))?)
    }

    /// From a description with strides of its own, such as CuPy's, whose exports of negative strides
    /// are wrong.
    fn of_raw(object: &Bound<'_, PyAny>, raw: &RawTensor<'_>) -> PyResult<Self> {
        let [mut shape, mut strides] = raw.own.as_deref().copied().unwrap_or_default();
        let tensor =
            DLTensor { shape: shape.as_mut_ptr(), strides: strides.as_mut_ptr(), ..raw.tensor };
        // SAFETY: the arrays have an element for each axis, and are alive; the object is too.
        let tensor = unsafe { TensorRef::from_raw(&tensor) }.map_err(invalid)?;
        let flags = DlpackFlags::empty();
        let (view, dtype) = read(tensor, flags)?;
        let owner = Owner::Object(object.clone().unbind());
        Ok(Imported { view, dtype, flags, owner })
    }

    /// Through the C function of libraries that have it: without allocation.
    fn described(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some(describe) = class_of(object)?.describe else { return Ok(None) };
        let mut tensor = DLTensor::default();
        // SAFETY: the function belongs to the object's class, and fills in the struct that it is
        // given.
        if unsafe { describe(object.as_ptr().cast(), &mut tensor) } != 0 {
            // The library may still be able to export it, or give a better error.
            drop(PyErr::take(object.py()));
            return Ok(None);
        }
        // A description has no flags, which types below 8 bits need.
        if tensor.dtype.bits < 8 {
            return Ok(None);
        }
        // SAFETY: the library has just filled it in, and the object is alive.
        let tensor = unsafe { TensorRef::from_raw(&tensor) }.map_err(invalid)?;
        let flags = DlpackFlags::empty();
        let (view, dtype) = read(tensor, flags)?;
        let owner = Owner::Object(object.clone().unbind());
        Ok(Some(Imported { view, dtype, flags, owner }))
    }

    /// Through DLPack's Python protocol.
    fn lent(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let request = ImportRequest::new(object.as_borrowed())?;
        let device = request.device().ok();
        let on_device = device.is_some_and(|device| device.device_type == DLDeviceType::CUDA);
        let stream = if on_device { Some(Ordered::of(object)?) } else { None };
        let loan = match (
            request.import(stream.as_ref().map(|stream| stream as &dyn DlpackStream), None),
            device,
        ) {
            (Err(error), Some(device)) if error.is_instance_of::<PyTypeError>(object.py()) => {
                lent_without_version(object, device, stream, error)?
            }
            (loan, _) => loan?,
        };
        let flags = loan.flags();
        let (view, dtype) = read(loan.validate().map_err(invalid)?, flags)?;
        Ok(Imported { view, dtype, flags, owner: Owner::Loan(loan) })
    }

    /// Asks its library again where the elements are. Runs no Python code.
    pub(crate) fn describe(&mut self, py: Python<'_>) -> PyResult<()> {
        if matches!(self.owner, Owner::Object(_)) {
            *self = self.again(py)?.ok_or_else(|| changed("a tensor"))?;
        }
        Ok(())
    }

    /// The same tensor as its library describes it now. `None` if it does not, but exported it.
    pub(crate) fn again(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let Owner::Object(object) = &self.owner else { return Ok(None) };
        let object = object.bind(py);
        match RawTensor::of_cupy_class(object)? {
            Some(raw) => Self::of_raw(object, &raw).map(Some),
            None => Self::described(object),
        }
    }

    /// Where its elements were when it was [described](Self::describe).
    pub(crate) fn view(&self) -> View {
        self.view.clone()
    }

    /// What its library says about it now, in C.
    pub(crate) fn raw<'a>(&'a self, py: Python<'a>) -> Option<RawTensor<'a>> {
        match &self.owner {
            Owner::Object(object) => RawTensor::at(object.bind(py)),
            Owner::Loan(_) => None,
        }
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

/// Imports from a producer that may predate DLPack 1.0, whose `__dlpack__` takes no `max_version`.
///
/// A `TypeError` does not tell whether the keyword was refused or something else failed, so the
/// call is repeated without it, as in NumPy. An error of the second call is raised with `first` as
/// its context.
fn lent_without_version(
    object: &Bound<'_, PyAny>,
    device: DLDevice,
    stream: Option<Ordered>,
    first: PyErr,
) -> PyResult<ImportedDlpack> {
    let py = object.py();
    let name = intern!(py, "__dlpack__");
    let capsule = match stream {
        Some(stream) => {
            object.call_method(name, (), Some(&[("stream", stream as i32)].into_py_dict(py)?))
        }
        None => object.call_method0(name),
    };
    let capsule = capsule.inspect_err(|second| {
        let (first, second) = (first.value(py), second.value(py));
        let context = intern!(py, "__context__");
        // A producer may raise the same object each time; an exception must not be its own context.
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

/// The most axes of a tensor whose library does not store them as C arrays.
const MOST_AXES: usize = 8;

/// A library's C description of a tensor: nothing has been checked. Small, because it is moved.
#[derive(Clone)]
pub(crate) struct RawTensor<'a> {
    tensor: DLTensor,
    /// Shape and strides, unless the library has them for as long as the object lives.
    own: Option<Box<[[i64; MOST_AXES]; 2]>>,
    /// NumPy's number of the element type, for its arrays, whose strides count bytes.
    numpy: Option<c_int>,
    /// Whether it may be written to.
    pub(crate) writable: bool,
    _object: PhantomData<&'a PyAny>,
}

impl<'a> RawTensor<'a> {
    /// Describes a tensor of a known class, without running Python code. `None` also for tensors that
    /// need more than a description: without strides, or with packed elements.
    pub(crate) fn at(object: &'a Bound<'_, PyAny>) -> Option<Self> {
        let offers = known(object.py(), object.get_type_ptr())?;
        if offers.cupy {
            return Self::of_cupy(object);
        }
        let mut tensor = DLTensor::default();
        // SAFETY: the function belongs to the object's class, and fills in the struct that it is
        // given.
        if unsafe { offers.describe?(object.as_ptr().cast(), &mut tensor) } != 0 {
            drop(PyErr::take(object.py()));
            return None;
        }
        let described = tensor.ndim == 0 || !tensor.shape.is_null() && !tensor.strides.is_null();
        // On a device, only an export is ordered if the library does not tell its stream.
        let on_host = place(tensor.device).is_ok_and(|place| place == Place::Host);
        let ordered = on_host || offers.current_stream.is_some();
        let usable = tensor.ndim >= 0 && described && ordered && tensor.dtype.bits >= 8;
        usable.then_some(RawTensor {
            tensor,
            own: None,
            numpy: None,
            writable: offers.writable,
            _object: PhantomData,
        })
    }

    /// Describes an array of CuPy's own class.
    fn of_cupy_class(object: &'a Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        Ok(if class_of(object)?.cupy { Self::of_cupy(object) } else { None })
    }

    /// Describes a CuPy array by its attributes, which takes less time than an export.
    fn of_cupy(object: &'a Bound<'_, PyAny>) -> Option<Self> {
        let (py, own) = (object.py(), |name| axes_of(object.getattr(name).ok()?));
        let (shape, rank) = own(intern!(py, "shape"))?;
        let (mut strides, _) = own(intern!(py, "strides"))?;
        let dtype = object.getattr(intern!(py, "dtype")).ok()?.cast_into::<PyArrayDescr>().ok()?;
        let code = match dtype.kind() {
            b'b' => DLDataTypeCode::BOOL,
            b'i' => DLDataTypeCode::INT,
            b'u' => DLDataTypeCode::UINT,
            b'f' => DLDataTypeCode::FLOAT,
            b'c' => DLDataTypeCode::COMPLEX,
            _ => return None,
        };
        let width = dtype.itemsize() as i64;
        for stride in &mut strides[..rank] {
            if *stride % width != 0 {
                return None;
            }
            *stride /= width;
        }
        let memory = object.getattr(intern!(py, "data")).ok()?;
        let number = |name| memory.getattr(name).ok()?.extract::<usize>().ok();
        let (data, device) = (number(intern!(py, "ptr"))?, number(intern!(py, "device_id"))?);
        let tensor = DLTensor {
            // An address on the device, which is never read here.
            data: ptr::without_provenance_mut(data),
            device: DLDevice { device_type: DLDeviceType::CUDA, device_id: device as i32 },
            ndim: rank as i32,
            dtype: DLDataType { code, bits: 8 * width as u8, lanes: 1 },
            ..DLTensor::default()
        };
        let (own, writable) = (Some(Box::new([shape, strides])), true);
        Some(RawTensor { tensor, own, numpy: None, writable, _object: PhantomData })
    }

    /// Describes a NumPy array.
    ///
    /// # Safety
    ///
    /// Shape and strides have `rank` elements for as long as the object lives.
    pub(crate) unsafe fn of_array(
        _array: &'a Bound<'_, PyAny>,
        number: c_int,
        width: u8,
        (data, writable): (*mut c_void, bool),
        rank: c_int,
        [shape, strides]: [*mut i64; 2],
    ) -> Self {
        let dtype = DLDataType { code: DLDataTypeCode::OPAQUEHANDLE, bits: 8 * width, lanes: 1 };
        let device = DLDevice::CPU;
        let tensor =
            DLTensor { data, device, ndim: rank, dtype, shape, strides, ..DLTensor::default() };
        RawTensor { tensor, own: None, numpy: Some(number), writable, _object: PhantomData }
    }

    /// NumPy's number of the element type, for its arrays.
    pub(crate) fn numpy(&self) -> Option<c_int> {
        self.numpy
    }

    pub(crate) fn dtype(&self) -> DLDataType {
        self.tensor.dtype
    }

    pub(crate) fn device(&self) -> DLDevice {
        self.tensor.device
    }

    /// `None` for an unsupported device.
    pub(crate) fn place(&self) -> Option<Place> {
        place(self.tensor.device).ok()
    }

    pub(crate) fn shape(&self) -> &[i64] {
        self.axes(0, self.tensor.shape)
    }

    /// In elements; of a NumPy array, in bytes.
    pub(crate) fn strides(&self) -> &[i64] {
        self.axes(1, self.tensor.strides)
    }

    fn axes(&self, number: usize, first: *const i64) -> &[i64] {
        match (self.tensor.ndim, &self.own) {
            (0, _) => &[],
            (rank, Some(own)) => &own[number][..rank as usize],
            // SAFETY: not null, as `at` checked, and the library has one for each axis for as long
            // as the object is alive and unchanged; it is borrowed meanwhile.
            (rank, None) => unsafe { slice::from_raw_parts(first, rank as usize) },
        }
    }

    /// Element `[0, 0, ..]`.
    pub(crate) fn origin(&self) -> *mut u8 {
        self.tensor.data.cast::<u8>().wrapping_add(self.tensor.byte_offset as usize)
    }

    /// Whether it has elements but a null pointer.
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

    /// Whether its elements are in row-major order without gaps.
    pub(crate) fn is_in_rows(&self) -> bool {
        let mut step = 1i64;
        self.shape().iter().zip(self.strides()).rev().all(|(&size, &stride)| {
            let fits = stride == step || size == 1;
            step = step.saturating_mul(size);
            fits
        })
    }

    /// A copy of the integers of a row-major tensor in host memory, if they are fewer bytes than
    /// `most`: their type, and their bytes.
    pub(crate) fn dense_integers(&self, most: usize) -> Option<(DType, Vec<u8>)> {
        let usable = self.is_in_rows() && !self.lacks_memory();
        if !self.is_integer() || self.place() != Some(Place::Host) || !usable {
            return None;
        }
        let dtype = DType::from_dlpack(self.tensor.dtype.code.0, self.tensor.dtype.bits)?;
        let bytes = match self.bytes() {
            0 => Vec::new(),
            bytes if bytes >= most => return None,
            // SAFETY: the tensor is dense, and its elements are so many bytes from its origin on,
            // which is not null. It was described just now.
            bytes => unsafe { slice::from_raw_parts(self.origin(), bytes) }.to_vec(),
        };
        Some((dtype, bytes))
    }

    /// The size of the elements in bytes if they were dense.
    pub(crate) fn bytes(&self) -> usize {
        let width = usize::from(self.tensor.dtype.bits) / 8 * usize::from(self.tensor.dtype.lanes);
        let size = |size: i64| usize::try_from(size).unwrap_or(0);
        self.shape().iter().fold(width, |all, &axis| all.saturating_mul(size(axis)))
    }
}

/// Whether it is a type of which a library has only one: PyTorch's integers below 8 bits are integers
/// of 8 bits to DLPack.
pub(crate) fn is_usual(dtype: DLDataType) -> bool {
    let DLDataType { code, bits, lanes } = dtype;
    let integer = matches!(code, DLDataTypeCode::INT | DLDataTypeCode::UINT);
    lanes == 1 && (code == DLDataTypeCode::FLOAT || integer && bits > 8)
}

/// Sizes or strides from a tuple, and their number.
fn axes_of(tuple: Bound<'_, PyAny>) -> Option<([i64; MOST_AXES], usize)> {
    let tuple = tuple.cast_into::<PyTuple>().ok()?;
    let mut axes = [0; MOST_AXES];
    for (axis, item) in axes.get_mut(..tuple.len())?.iter_mut().zip(tuple.iter_borrowed()) {
        *axis = item.extract().ok()?;
    }
    Some((axes, tuple.len()))
}

/// How an export is ordered with the work of its library, in the numbers of DLPack.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Ordered {
    /// Not at all: it is used on the library's own stream.
    Already = -1,
    /// Before what the legacy default stream does next: the library's stream is not known.
    Legacy = 1,
}

impl Ordered {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(if has_stream(object)? { Ordered::Already } else { Ordered::Legacy })
    }
}

// SAFETY: it names no stream, or one that always exists.
unsafe impl DlpackStream for Ordered {
    fn as_python_arg(&self, _: Python<'_>, _: DLDevice) -> PyResult<StreamArg> {
        Ok(match self {
            Ordered::Already => no_sync(),
            Ordered::Legacy => stream::cuda(ptr::null_mut()),
        })
    }

    unsafe fn wait_for_producer(&self, _: DLDevice, _: *mut c_void) -> PyResult<bool> {
        Ok(*self == Ordered::Already)
    }
}

/// Whether the current stream of a tensor's library is known.
pub(crate) fn has_stream(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let offers = class_of(object)?;
    Ok(offers.cupy || offers.current_stream.is_some() || library_of(object)?.is_some())
}

/// A library whose current stream Python can ask for.
#[derive(Clone, Copy)]
enum Library {
    Torch,
    Cupy,
}

fn library_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Library>> {
    let module = object.get_type().getattr(intern!(object.py(), "__module__"))?;
    let module = module.extract::<String>()?;
    Ok(match module.split('.').next() {
        Some("torch") => Some(Library::Torch),
        Some("cupy") => Some(Library::Cupy),
        _ => None,
    })
}

/// The current stream of a tensor's library on the tensor's device; the legacy default stream if it
/// is not known ([`has_stream`]), for which exports are ordered.
pub(crate) fn current_stream(object: &Bound<'_, PyAny>, device: usize) -> PyResult<usize> {
    let (py, offers) = (object.py(), class_of(object)?);
    if offers.cupy {
        static ASK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let ask = ASK.import(py, "cupy.cuda", "get_current_stream")?;
        return ask.call0()?.getattr(intern!(py, "ptr"))?.extract();
    }
    if let Some(ask) = offers.current_stream {
        let mut stream = ptr::null_mut();
        // SAFETY: the library's own function, called for a device that its tensor is on.
        if unsafe { ask(DLDeviceType::CUDA, device as i32, &mut stream) } == 0 {
            return Ok(stream as usize);
        }
        return Err(PyErr::fetch(py));
    }
    match library_of(object)? {
        Some(Library::Torch) => {
            let cuda = py.import("torch.cuda")?;
            cuda.call_method1("current_stream", (device,))?.getattr("cuda_stream")?.extract()
        }
        Some(Library::Cupy) => {
            let cuda = py.import("cupy.cuda")?;
            cuda.call_method0("get_current_stream")?.getattr("ptr")?.extract()
        }
        None => Ok(0),
    }
}

/// The C function with which a library describes one of its tensors.
type Describe = unsafe extern "C" fn(*mut c_void, *mut DLTensor) -> c_int;
/// The C function that returns its current stream on a device.
type CurrentStream = unsafe extern "C" fn(DLDeviceType, i32, *mut *mut c_void) -> c_int;

/// The C function that makes a tensor of memory that it then owns.
type Adopt = unsafe extern "C" fn(*mut DLManagedTensorVersioned, *mut *mut c_void) -> c_int;

/// The C functions of a class of tensors.
#[derive(Clone, Copy, Default)]
struct Class {
    describe: Option<Describe>,
    adopt: Option<Adopt>,
    current_stream: Option<CurrentStream>,
    /// Whether all of its tensors are writable, as PyTorch's are.
    writable: bool,
    /// Whether it is CuPy's, which has no C functions, but attributes.
    cupy: bool,
}

/// A cache of the first classes with C functions: looking them up takes longer than calling them.
static KNOWN: [PyOnceLock<(Py<PyType>, Class)>; 4] = [const { PyOnceLock::new() }; 4];

/// The functions of a class, if it is cached.
fn known(py: Python<'_>, class: *const PyTypeObject) -> Option<&Class> {
    KNOWN
        .iter()
        .map_while(|known| known.get(py))
        .find_map(|(known, offers)| (known.as_ptr().cast_const() == class.cast()).then_some(offers))
}

/// Adds this class to the cache.
pub(crate) fn know(class: &Bound<'_, PyType>) -> PyResult<()> {
    offers_of(class).map(drop)
}

/// Whether this is a tensor of a cached class.
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
    let module = class.getattr(intern!(py, "__module__"))?;
    let offers = match table_of(class)? {
        Some(table) => {
            // SAFETY: `table_of` checked its version.
            let table = unsafe { table.as_ref() };
            Class {
                describe: table.dltensor_from_py_object_no_sync,
                adopt: table.managed_tensor_to_py_object_no_sync,
                current_stream: table.current_work_stream,
                writable: module.eq(intern!(py, "torch"))?,
                cupy: false,
            }
        }
        // Only the class itself: another one may define these attributes anew.
        None if module.eq(intern!(py, "cupy"))? && class.name()? == "ndarray" => {
            Class { cupy: true, ..Class::default() }
        }
        None => return Ok(Class::default()),
    };
    // If the cache is full, the class is looked up every time.
    let free = KNOWN.iter().find(|known| known.get(py).is_none());
    let _ = free.map(|known| known.set(py, (class.clone().unbind(), offers)));
    Ok(offers)
}

/// The function table that classes publish since DLPack 1.3, if its version is supported.
fn table_of(class: &Bound<'_, PyType>) -> PyResult<Option<NonNull<DLPackExchangeAPI>>> {
    let Some(capsule) = class.getattr_opt(intern!(class.py(), "__dlpack_c_exchange_api__"))? else {
        return Ok(None);
    };
    let Ok(capsule) = capsule.cast_into::<PyCapsule>() else { return Ok(None) };
    let table = capsule.pointer_checked(Some(c"dlpack_exchange_api"))?.cast::<DLPackExchangeAPI>();
    // SAFETY: a capsule of this name holds such a table, for the lifetime of the process. The
    // header is the same in all versions, and says whether the rest has the declared layout.
    let major = unsafe { (*table.as_ptr()).header.version.major };
    Ok((major == DLPACK_MAJOR_VERSION).then_some(table))
}

/// The memory of a DLPack device.
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

/// The location and the type of a tensor.
fn read(tensor: TensorRef<'_>, flags: DlpackFlags) -> PyResult<(View, DLDataType)> {
    let place = place(tensor.device())?;
    let dtype = element_type(tensor.dtype(), flags)?;
    let size = |&size: &i64| usize::try_from(size).map_err(|_| negative(size));
    let shape = tensor.shape().iter().map(size).collect::<PyResult<Shape>>()?;
    let scale = if dtype.is_packed() { 1 } else { dtype.bits().unwrap_or(8) as i64 / 8 };
    let strides = tensor.strides_or_compact().map_err(invalid)?;
    let step = |(axis, &stride): (usize, &i64)| {
        let step = stride.checked_mul(scale).and_then(|step| isize::try_from(step).ok());
        // A stride that is never used may have any value.
        step.or(Some(0).filter(|_| shape[axis] <= 1 || shape.contains(&0))).ok_or_else(|| {
            PyValueError::new_err(format!("stride {stride} of axis {axis} is too large"))
        })
    };
    let strides = strides.iter().enumerate().map(step).collect::<PyResult<Strides>>()?;
    // SAFETY: the tensor was validated, and its library guarantees the offset.
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
    Err(PyTypeError::new_err(format!("elements of type {} are not supported", in_words(dtype))))
}

fn in_words(dtype: DLDataType) -> String {
    match DType::from_dlpack(dtype.code.0, dtype.bits) {
        Some(named) if dtype.lanes == 1 => named.to_string(),
        _ => format!("code {}, {} bits, {} lanes", dtype.code.0, dtype.bits, dtype.lanes),
    }
}

/// The error for a tensor or lengths that code of another argument replaced.
pub(crate) fn changed(what: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{what} changed while the other arguments of the call were read, expected arguments that \
         leave it as it is"
    ))
}

fn invalid(error: dlpark::tensor::Error) -> PyErr {
    PyBufferError::new_err(format!("not a valid DLPack tensor: {error}"))
}

fn negative(size: i64) -> PyErr {
    PyBufferError::new_err(format!("not a valid DLPack tensor: a size is {size}"))
}

/// A new tensor of the same class, type and shape, row-major in memory of ours. `None` if its library
/// has no C function that makes one.
pub(crate) fn own_in_rows<'py>(
    object: &Bound<'py, PyAny>,
    tensor: &RawTensor<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let Some(adopt) = known(py, object.get_type_ptr()).and_then(|offers| offers.adopt) else {
        return Ok(None);
    };
    let memory = Buffer::in_rows(tensor)?.managed::<DLManagedTensorVersioned>()?;
    let mut made = ptr::null_mut();
    // SAFETY: the function belongs to the class of the object, and takes a tensor that is valid and
    // has an owner; it returns a new reference, or sets an error.
    unsafe {
        if adopt(memory.into_raw(), &mut made) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(Some(Bound::from_owned_ptr(py, made.cast())))
    }
}
