//! The runtime that loaded this library: its tables, and errors in both directions.

use crate::ffi::{Api, EpApi, LOG_INFO, OrtApiBase, OrtLogger, OrtStatus, PathChar, code};
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// The oldest version that plugins can work with: nodes are compiled.
const COMPILED: u32 = 23;
/// The version that added kernel registries.
const REGISTRIES: u32 = 24;

/// The runtime's functions, and the version of the interface that they were requested for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runtime {
    pub(crate) api: Api,
    pub(crate) ep: EpApi,
    pub(crate) version: u32,
}

/// Why a request of the runtime failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The runtime's own error, passed on.
    Foreign(NonNull<OrtStatus>),
    /// Ours: an error code and a sentence.
    Ours(i32, String),
}

// SAFETY: a status is memory of the runtime, which any thread may read and release.
unsafe impl Send for Failure {}

impl Failure {
    /// The user's model or input is wrong.
    pub(crate) fn argument(text: impl Display) -> Self {
        Failure::Ours(code::INVALID_ARGUMENT, text.to_string())
    }

    /// Gives up an error that has no consequences.
    pub(crate) fn release(self, runtime: &Runtime) {
        if let Failure::Foreign(status) = self {
            runtime.succeeded(status.as_ptr());
        }
    }

    /// Something else went wrong.
    pub(crate) fn other(text: impl Display) -> Self {
        Failure::Ours(code::FAIL, text.to_string())
    }
}

impl Runtime {
    /// The newest interface that both sides know; none if the runtime is too old.
    ///
    /// # Safety
    /// `base` is what the runtime passed to this library.
    pub(crate) unsafe fn from_base(base: *const OrtApiBase) -> Option<Self> {
        // SAFETY: the runtime's own struct, as required; the text lives as long as the runtime.
        let text = unsafe { CStr::from_ptr(((*base).version)()) };
        // Not by trial: a runtime that is asked for a newer version prints an error.
        let version = supported(text.to_str().ok()?)?;
        // SAFETY: as above.
        let table = NonNull::new(unsafe { ((*base).get_api)(version) }.cast_mut())?;
        // SAFETY: a table of this version, which is at least 1.23, so it has `GetEpApi`. The
        // entries of 1.24 are used only if `version` says so (`has_registries`).
        unsafe {
            let api = Api::new(table.as_ptr());
            let ep = NonNull::new(api.ep_api().cast_mut())?;
            Some(Runtime { api, ep: EpApi::new(ep.as_ptr()), version })
        }
    }

    /// Whether the runtime takes kernels from a registry; otherwise nodes are compiled.
    pub(crate) fn has_registries(&self) -> bool {
        self.version >= REGISTRIES
    }

    /// Turns a status that the runtime returned into a result.
    #[inline]
    pub(crate) fn check(&self, status: *mut OrtStatus) -> Result<(), Failure> {
        match NonNull::new(status) {
            None => Ok(()),
            Some(status) => Err(Failure::Foreign(status)),
        }
    }

    /// Releases a status, and says whether it was none.
    pub(crate) fn succeeded(&self, status: *mut OrtStatus) -> bool {
        if status.is_null() {
            return true;
        }
        // SAFETY: a status that the runtime returned, released once.
        unsafe { self.api.release_status(status) };
        false
    }

    /// Handles a request of the runtime: errors and panics become a status.
    pub(crate) fn answer(&self, work: impl FnOnce() -> Result<(), Failure>) -> *mut OrtStatus {
        // Unwinding into the runtime would be undefined behaviour.
        let done = catch_unwind(AssertUnwindSafe(work));
        match done.unwrap_or_else(|_| Err(Failure::other("retrograde panicked"))) {
            Ok(()) => ptr::null_mut(),
            Err(Failure::Foreign(status)) => status.as_ptr(),
            Err(Failure::Ours(code, text)) => self.status(code, text),
        }
    }

    fn status(&self, code: i32, text: String) -> *mut OrtStatus {
        let text = without_zeros(text);
        // SAFETY: the text ends with a zero byte, and the runtime copies it.
        unsafe { self.api.create_status(code, text.as_ptr()) }
    }

    /// Writes to the runtime's log, at the level of information.
    ///
    /// # Safety
    /// The logger is null or one of the runtime's.
    pub(crate) unsafe fn log(&self, logger: *const OrtLogger, text: String) {
        if logger.is_null() {
            return;
        }
        let text = without_zeros(text);
        const FILE: &[PathChar] = &[b'r' as PathChar, b'e' as PathChar, b't' as PathChar, 0];
        // SAFETY: the logger is the runtime's, as required, and all texts end with a zero.
        let status = unsafe {
            self.api.log(logger, LOG_INFO, text.as_ptr(), FILE.as_ptr(), 0, c"retrograde".as_ptr())
        };
        self.succeeded(status);
    }
}

/// The interface to ask a runtime of this version for: "1.25.1" is 24.
fn supported(version: &str) -> Option<u32> {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (numbers.next()??, numbers.next()??);
    if major > 1 {
        return Some(REGISTRIES);
    }
    (minor >= COMPILED).then_some(minor.min(REGISTRIES))
}

fn without_zeros(text: String) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Text of the runtime; empty if it is null or no UTF-8.
///
/// # Safety
/// `text` is null or ends with a zero byte, and lives for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: as required.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_the_newest_that_both_sides_know() {
        let cases = [
            ("1.22.1", None),
            ("1.23.2", Some(23)),
            ("1.24.0", Some(24)),
            ("1.31.1", Some(24)),
            ("2.0.0", Some(24)),
            ("1", None),
            ("one", None),
        ];
        for (version, wanted) in cases {
            assert_eq!(supported(version), wanted, "{version}");
        }
    }
}
