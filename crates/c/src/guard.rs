//! The entry of every function: panics stop here, and failures leave their message for the thread.

use crate::status::{Failure, RETROGRADE_INTERNAL, RETROGRADE_OK, Status};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The latest failure of a thread.
#[derive(Default)]
struct Latest {
    text: CString,
    position: Option<usize>,
}

thread_local! {
    static LATEST: RefCell<Latest> = RefCell::default();
}

/// Runs the body of a function of the interface.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    match caught(body) {
        Ok(()) => RETROGRADE_OK,
        Err(failure) => {
            let status = failure.status;
            keep(failure);
            status
        }
    }
}

/// Runs a body; a panic becomes a failure.
///
/// `AssertUnwindSafe`: objects of the interface are not changed by a body that can panic, except
/// behind locks, whose poison is ignored because each write is complete.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let known = payload.downcast::<&str>().map(|text| (*text).to_owned());
        let known = known.or_else(|payload| payload.downcast::<String>().map(|text| *text));
        let text = known.unwrap_or_else(|payload| {
            // Dropping a payload of another type may panic in turn.
            std::mem::forget(payload);
            "unknown".to_owned()
        });
        let text = format!("internal error: {text}");
        Err(Failure::new(RETROGRADE_INTERNAL, text))
    })
}

/// Keeps a failure as the latest one of this thread.
pub(crate) fn keep(failure: Failure) {
    let text = CString::new(failure.text.replace('\0', "\\0")).unwrap_or_default();
    // An error means that the thread is ending: then nobody reads the message.
    let _ = LATEST.try_with(|latest| {
        *latest.borrow_mut() = Latest { text, position: failure.position };
    });
}

/// The message of the latest call on this thread that failed; "" if none did. It names the
/// operator, the argument, its value and the allowed range.
///
/// The pointer is valid until another call fails on this thread, or the thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_last_error() -> *const c_char {
    LATEST.try_with(|latest| latest.borrow().text.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Which length or offset the latest failure on this thread was about, counted in row-major order;
/// -1 if it was about something else.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_last_error_position() -> i64 {
    let position = LATEST.try_with(|latest| latest.borrow().position).ok().flatten();
    position.and_then(|position| i64::try_from(position).ok()).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn panics_become_a_status_with_their_message() {
        let status = guarded(|| panic!("the {} is wrong\0!", "kernel"));
        assert_eq!(status, RETROGRADE_INTERNAL);
        // SAFETY: a string of this thread, until its next failure.
        let text = unsafe { CStr::from_ptr(retrograde_last_error()) };
        assert_eq!(text.to_str(), Ok("internal error: the kernel is wrong\\0!"));
        assert_eq!(retrograde_last_error_position(), -1);
    }
}
