//! Errors of the DirectML functions: an `HRESULT`, and the message for `retrograde_last_error`.

use super::types::HRESULT;
use crate::guard::{caught, keep};
use crate::status::{
    Failure, RETROGRADE_BAD_ARGUMENT, RETROGRADE_BAD_HANDLE, RETROGRADE_BAD_POINTER,
    RETROGRADE_INTERNAL,
};
use std::fmt;

/// Success.
pub const S_OK: HRESULT = 0;
/// Success, but nothing was returned.
pub const S_FALSE: HRESULT = 1;
/// Not implemented here.
pub const E_NOTIMPL: HRESULT = 0x8000_4001_u32 as i32;
/// The object does not have this interface.
pub const E_NOINTERFACE: HRESULT = 0x8000_4002_u32 as i32;
/// A null pointer.
pub const E_POINTER: HRESULT = 0x8000_4003_u32 as i32;
/// An error inside the library.
pub const E_UNEXPECTED: HRESULT = 0x8000_FFFF_u32 as i32;
/// Not an object of this library.
pub const E_HANDLE: HRESULT = 0x8007_0006_u32 as i32;
/// Not enough memory.
pub const E_OUTOFMEMORY: HRESULT = 0x8007_000E_u32 as i32;
/// An argument violates a rule.
pub const E_INVALIDARG: HRESULT = 0x8007_0057_u32 as i32;
/// There is no such data.
pub const DXGI_ERROR_NOT_FOUND: HRESULT = 0x887A_0002_u32 as i32;
/// The buffer for the data is too small.
pub const DXGI_ERROR_MORE_DATA: HRESULT = 0x887A_0003_u32 as i32;
/// The feature level is not supported.
pub const DXGI_ERROR_UNSUPPORTED: HRESULT = 0x887A_0004_u32 as i32;
/// The device was removed by an earlier error.
pub const DXGI_ERROR_DEVICE_REMOVED: HRESULT = 0x887A_0005_u32 as i32;

/// Why a method failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: HRESULT,
    pub(crate) text: String,
}

impl Fault {
    pub(crate) fn new(code: HRESULT, text: impl fmt::Display) -> Self {
        Fault { code, text: text.to_string() }
    }

    /// An argument that violates a rule.
    pub(crate) fn invalid(text: impl fmt::Display) -> Self {
        Fault::new(E_INVALIDARG, text)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let code = match failure.status {
            RETROGRADE_BAD_POINTER => E_POINTER,
            RETROGRADE_BAD_HANDLE => E_HANDLE,
            RETROGRADE_INTERNAL => E_UNEXPECTED,
            _ => E_INVALIDARG,
        };
        Fault { code, text: failure.text }
    }
}

/// Runs the body of a method; a panic becomes `E_UNEXPECTED`.
pub(crate) fn contained<T>(body: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    // The outer result is the panic's.
    match caught(|| Ok(body())) {
        Ok(result) => result,
        Err(failure) => Err(failure.into()),
    }
}

/// Keeps the message of an error for the thread, and returns its code.
pub(crate) fn report(fault: Fault) -> HRESULT {
    keep(Failure::new(RETROGRADE_BAD_ARGUMENT, fault.text));
    fault.code
}

/// Runs the body of a method that returns an `HRESULT`.
pub(crate) fn hresult(body: impl FnOnce() -> Result<HRESULT, Fault>) -> HRESULT {
    contained(body).unwrap_or_else(report)
}
