//! Buffers of the host, in the place of Direct3D's resources.

use super::fault::{E_OUTOFMEMORY, Fault, S_OK, hresult};
use super::object::{Body, Buffer, Object};
use super::types::{HRESULT, ID3D12Resource, UINT64};
use crate::pointer::{buffer, write};
use std::alloc::Layout;
use std::ffi::c_void;
use std::sync::Arc;

/// `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`.
pub(crate) const MINIMUM_ALIGNMENT: u64 = 16;
/// The alignment of memory that we allocate: a cache line.
const ALLOCATED_ALIGNMENT: usize = 64;

/// Makes a buffer of memory that the program owns and keeps until the buffer is released. The
/// address must be a multiple of 16.
///
/// # Safety
/// `data` is null or has `size` bytes, until the last release of the buffer; `result` is null or
/// can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_wrap_buffer(
    data: *mut c_void,
    size: UINT64,
    result: *mut *mut ID3D12Resource,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        unsafe { write(result, std::ptr::null_mut(), "result")? };
        let len = in_memory(size)?;
        let start = buffer(data.cast(), len, "data")?;
        if !(start.addr() as u64).is_multiple_of(MINIMUM_ALIGNMENT) {
            let text = format!("data is {start:p}, expected a multiple of {MINIMUM_ALIGNMENT}");
            return Err(Fault::invalid(text));
        }
        // SAFETY: as the caller promises.
        unsafe { give(Buffer { start, len, owned: None }, result) }
    })
}

/// Makes a buffer of zeros.
///
/// # Safety
/// `result` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_allocate_buffer(
    size: UINT64,
    result: *mut *mut ID3D12Resource,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        unsafe { write(result, std::ptr::null_mut(), "result")? };
        let len = in_memory(size)?;
        let short = || Fault::new(E_OUTOFMEMORY, format!("{size} bytes cannot be allocated"));
        let layout = Layout::from_size_align(len, ALLOCATED_ALIGNMENT).map_err(|_| short())?;
        // SAFETY: the size is not 0, as `in_memory` checked.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        if start.is_null() {
            return Err(short());
        }
        // SAFETY: as the caller promises.
        unsafe { give(Buffer { start, len, owned: Some(layout) }, result) }
    })
}

/// `ID3D12Resource::Map`: the address of a buffer's memory.
///
/// # Safety
/// `buffer` is null or valid; `data` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_buffer_data(
    buffer: *mut ID3D12Resource,
    data: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let object = unsafe { Object::behind(buffer)? };
        let start = of(object)?.start;
        // SAFETY: as the caller promises.
        unsafe { write(data, start.cast(), "data")? };
        Ok(S_OK)
    })
}

/// The size of a buffer in bytes; 0 if it is not one.
///
/// # Safety
/// `buffer` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_buffer_size(buffer: *mut ID3D12Resource) -> UINT64 {
    let mut size = 0;
    hresult(|| {
        // SAFETY: as the caller promises.
        size = of(unsafe { Object::behind(buffer)? })?.len as UINT64;
        Ok(S_OK)
    });
    size
}

/// The buffer that an object is.
pub(crate) fn of(object: &Object) -> Result<&Buffer, Fault> {
    match &object.body {
        Body::Buffer(buffer) => Ok(buffer),
        _ => Err(Fault::invalid("the object is not a buffer")),
    }
}

fn in_memory(size: UINT64) -> Result<usize, Fault> {
    let fits = |&len: &usize| len > 0 && isize::try_from(len).is_ok();
    usize::try_from(size).ok().filter(fits).ok_or_else(|| {
        Fault::invalid(format!("the size of the buffer is {size}, outside [1, {}]", isize::MAX))
    })
}

/// # Safety
/// `result` can be written.
unsafe fn give(buffer: Buffer, result: *mut *mut ID3D12Resource) -> Result<HRESULT, Fault> {
    let object = Object::new(None, Body::Buffer(buffer));
    // SAFETY: as the caller promises.
    unsafe { write(result, Arc::into_raw(object).cast_mut().cast(), "result")? };
    Ok(S_OK)
}
