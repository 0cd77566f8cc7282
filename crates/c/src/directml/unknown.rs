//! What every object has: counted references, interfaces, a name, data of the program, a device.

use super::fault::{
    DXGI_ERROR_MORE_DATA, DXGI_ERROR_NOT_FOUND, E_NOINTERFACE, Fault, S_OK, hresult,
};
use super::object::{Object, Private, locked};
use super::types::{GUID, HRESULT, UINT, ULONG, WCHAR};
use crate::guard::guarded;
use crate::pointer::{buffer, reference, slice, write};
use std::ffi::c_void;
use std::sync::Arc;

/// `IUnknown::QueryInterface`, of any object.
///
/// # Safety
/// `object` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_query_interface(
    object: *mut c_void,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        unsafe {
            write(ppv, std::ptr::null_mut(), "ppv")?;
            Object::shared(object)?.give(riid, ppv)
        }
    })
}

/// `IUnknown::AddRef`, of any object. Returns the new number of references, for tests.
///
/// # Safety
/// `object` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_add_ref(object: *mut c_void) -> ULONG {
    let mut count = 0;
    guarded(|| {
        // SAFETY: as the caller promises.
        if let Ok(object) = unsafe { Object::shared(object) } {
            count = Arc::strong_count(&object) as ULONG;
            // This reference is the program's.
            std::mem::forget(object);
        }
        Ok(())
    });
    count
}

/// `IUnknown::Release`, of any object. Returns the new number of references, for tests.
///
/// # Safety
/// `object` is null or valid, with a reference that the program gives back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_release(object: *mut c_void) -> ULONG {
    let mut count = 0;
    guarded(|| {
        // SAFETY: as the caller promises.
        if unsafe { Object::behind(object) }.is_ok() {
            // SAFETY: made by `Arc::into_raw`, and the program gives this reference back. Its own
            // pointer, because one from a shared reference may not free the object.
            let object = unsafe { Arc::from_raw(object.cast_const().cast::<Object>()) };
            count = Arc::strong_count(&object) as ULONG - 1;
        }
        Ok(())
    });
    count
}

/// `IDMLObject::SetName`: the name begins messages about the object.
///
/// # Safety
/// `object` is null or valid; `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_set_name(
    object: *mut c_void,
    name: *const WCHAR,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let object = unsafe { Object::behind(object)? };
        object.alive()?;
        let mut letters = Vec::new();
        if !name.is_null() {
            for at in 0.. {
                // SAFETY: the string has not ended before this letter.
                match *unsafe { reference(name.wrapping_add(at), "name")? } {
                    0 => break,
                    letter => letters.push(letter),
                }
            }
        }
        *locked(&object.name) = text_of(&letters);
        Ok(S_OK)
    })
}

#[cfg(windows)]
fn text_of(letters: &[WCHAR]) -> String {
    String::from_utf16_lossy(letters)
}

#[cfg(not(windows))]
fn text_of(letters: &[WCHAR]) -> String {
    letters.iter().map(|&letter| char::from_u32(letter).unwrap_or('\u{FFFD}')).collect()
}

/// `IDMLObject::GetPrivateData`.
///
/// # Safety
/// `object` is null or valid; `guid` is null or an identifier; `size` is null or can be read and
/// written; `data` is null or has `*size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_get_private_data(
    object: *mut c_void,
    guid: *const GUID,
    size: *mut UINT,
    data: *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (object, guid, room) = unsafe {
            (Object::behind(object)?, reference(guid, "guid")?, *reference(size, "size")?)
        };
        object.alive()?;
        let private = locked(&object.private);
        let Some((_, found)) = private.iter().find(|(known, _)| known == guid) else {
            return Err(Fault::new(DXGI_ERROR_NOT_FOUND, "the object has no such private data"));
        };
        let len = match found {
            Private::Bytes(bytes) => bytes.len(),
            Private::Object(_) => size_of::<*const Object>(),
        };
        // SAFETY: as the caller promises.
        unsafe { write(size, len as UINT, "size")? };
        if data.is_null() {
            return Ok(S_OK);
        }
        if (room as usize) < len {
            let text = format!("the private data has {len} bytes, size is {room}");
            return Err(Fault::new(DXGI_ERROR_MORE_DATA, text));
        }
        let data = buffer(data.cast(), len, "data")?;
        match found {
            // SAFETY: `data` has room for as many bytes, as just checked.
            Private::Bytes(bytes) => unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, len);
            },
            // The program gets a reference of its own, as a pointer: its bytes alone would give no
            // right to use the object.
            Private::Object(object) => {
                let object = Arc::into_raw(Arc::clone(object));
                // SAFETY: as above.
                unsafe { data.cast::<*const Object>().write_unaligned(object) };
            }
        }
        Ok(S_OK)
    })
}

/// `IDMLObject::SetPrivateData`. Null data of size 0 removes it.
///
/// # Safety
/// `object` is null or valid; `guid` is null or an identifier; `data` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_set_private_data(
    object: *mut c_void,
    guid: *const GUID,
    size: UINT,
    data: *const c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (object, guid, bytes) = unsafe {
            let bytes = slice(data.cast::<u8>(), size as usize, "data")?;
            (Object::behind(object)?, reference(guid, "guid")?, bytes)
        };
        object.alive()?;
        let given = (size > 0).then(|| Private::Bytes(bytes.to_vec()));
        Ok(attach(object, guid, given))
    })
}

/// `IDMLObject::SetPrivateDataInterface`, for objects of this library. Null removes it.
///
/// # Safety
/// `object` and `data` are null or valid; `guid` is null or an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_set_private_data_interface(
    object: *mut c_void,
    guid: *const GUID,
    data: *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (object, guid) = unsafe { (Object::behind(object)?, reference(guid, "guid")?) };
        object.alive()?;
        let given = match data.is_null() {
            true => None,
            // SAFETY: as the caller promises.
            false => Some(Private::Object(unsafe { Object::shared(data)? })),
        };
        Ok(attach(object, guid, given))
    })
}

fn attach(object: &Object, guid: &GUID, given: Option<Private>) -> HRESULT {
    let mut private = locked(&object.private);
    private.retain(|(known, _)| known != guid);
    private.extend(given.map(|given| (*guid, given)));
    S_OK
}

/// `IDMLDeviceChild::GetDevice`, of any object but devices and buffers.
///
/// # Safety
/// `child` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_get_device(
    child: *mut c_void,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let child = unsafe {
            write(ppv, std::ptr::null_mut(), "ppv")?;
            Object::behind(child)?
        };
        match child.parent() {
            // SAFETY: as the caller promises.
            Some(device) => unsafe { Arc::clone(device).give(riid, ppv) },
            None => Err(Fault::new(E_NOINTERFACE, "the object is not the child of a device")),
        }
    })
}
