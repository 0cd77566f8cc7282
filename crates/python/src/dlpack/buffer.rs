//! Results in memory of ours, for libraries that import tensors through DLPack.

use super::{Imported, RawTensor};
use crate::memory;
use crate::view::View;
use dlpark::ffi::{DLDataType, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::python::{DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use retrograde::cpu::Block;
use retrograde_cuda::DeviceBuffer;
use std::ptr;
use std::sync::Arc;

/// A result for a library that imports tensors through DLPack.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Buffer {
    /// Shared by exports, which may outlive the object.
    memory: Arc<Memory>,
    dtype: DLDataType,
    flags: DlpackFlags,
    shape: Vec<i64>,
    /// In elements.
    strides: Vec<i64>,
}

/// The memory of a result.
pub(crate) enum Memory {
    Host(Block),
    Cuda(DeviceBuffer),
}

impl Memory {
    /// So many bytes of the host, all zero if `clear` is set.
    fn on_host(bytes: usize, clear: bool) -> PyResult<Self> {
        let block = memory::block(bytes)?;
        if clear {
            // SAFETY: the block has that many bytes, and nothing else uses it.
            unsafe { block.as_ptr().write_bytes(0, bytes) };
        }
        Ok(Memory::Host(block))
    }

    fn as_ptr(&self) -> *mut u8 {
        match self {
            Memory::Host(block) => block.as_ptr(),
            // An address on the device, which is never read here.
            Memory::Cuda(buffer) => ptr::without_provenance_mut(buffer.address() as usize),
        }
    }

    fn device(&self) -> DLDevice {
        match self {
            Memory::Host(_) => DLDevice::CPU,
            Memory::Cuda(buffer) => DLDevice {
                device_type: DLDeviceType::CUDA,
                device_id: buffer.cuda().ordinal() as i32,
            },
        }
    }
}

impl Buffer {
    /// For a tensor of the same type and shape, with the same memory order.
    pub(crate) fn like(tensor: &Imported, view: &View) -> PyResult<(Self, View)> {
        Self::like_in(tensor, view, Memory::on_host)
    }

    /// The same in other memory where the view is: of so many bytes, and zero if it says so.
    pub(crate) fn like_in(
        tensor: &Imported,
        view: &View,
        allocate: impl FnOnce(usize, bool) -> PyResult<Memory>,
    ) -> PyResult<(Self, View)> {
        let dtype = tensor.dtype;
        let flags = tensor.flags & DlpackFlags::IS_SUBBYTE_TYPE_PADDED;
        let width = match view.dtype.bits() {
            Some(bits) if !view.dtype.is_packed() => bits / 8,
            _ => 1,
        };
        let strides = if view.dtype.is_packed() {
            // Packed elements are in row-major order, whatever the input's was.
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
        // Shared bytes of packed elements are read before they are written, and unused bits of the
        // last byte are zero.
        let memory = Arc::new(allocate(view.bytes(), view.dtype.is_packed())?);
        let out = View {
            dtype: view.dtype,
            origin: memory.as_ptr(),
            shape: view.shape.clone(),
            strides: strides.clone(),
            place: view.place,
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

    /// For the elements of a tensor in row-major order.
    pub(super) fn in_rows(tensor: &RawTensor<'_>) -> PyResult<Self> {
        let (shape, mut step) = (tensor.shape().to_vec(), 1);
        let mut strides = shape.clone();
        for (stride, &size) in strides.iter_mut().zip(&shape).rev() {
            (*stride, step) = (step, step * size.max(1));
        }
        let memory = Arc::new(Memory::on_host(tensor.bytes(), false)?);
        let dtype = tensor.dtype();
        Ok(Buffer { memory, dtype, flags: DlpackFlags::empty(), shape, strides })
    }

    pub(super) fn managed<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let failed = |error: &dyn std::fmt::Display| PyBufferError::new_err(error.to_string());
        let metadata = Dynamic::new(self.shape.as_slice(), self.strides.as_slice());
        let mut tensor = metadata
            .initialize_as::<M>(Arc::clone(&self.memory))
            .map_err(|error| failed(&error))?;
        tensor.set_data(self.memory.as_ptr().cast());
        tensor.set_dtype(self.dtype);
        tensor.set_device(self.memory.device());
        // SAFETY: the memory is the tensor's context and lives as long. It holds a dense tensor of
        // that shape and type, and is not read-only.
        Ok(unsafe { tensor.finish() })
    }
}

impl DlpackExporter for Buffer {
    fn device(&self) -> DLDevice {
        self.memory.device()
    }

    fn flags(&self) -> DlpackFlags {
        self.flags
    }

    /// Nothing to order: what is on a device was waited for before this was returned.
    fn prepare_export(&self, _: Python<'_>, _: &ExportRequest<'_>) -> PyResult<()> {
        Ok(())
    }

    fn export_legacy(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.managed()
    }

    fn export_versioned(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        let mut tensor = self.managed::<DLManagedTensorVersioned>()?;
        // SAFETY: the flag for padding is that of the input of this type.
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
        let DLDevice { device_type, device_id } = self.memory.device();
        (device_type.0, device_id)
    }
}
