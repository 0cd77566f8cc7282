//! Host arrays through any GPU, as C functions: what `retrograde.wgpu` of the Python package loads
//! by ctypes. Arrays are dense; Python makes them so.
//!
//! Every function returns a status, and [`retrograde_wgpu_message`] says what went wrong.

mod call;

use call::{Call, Status};
use retrograde_wgpu::{Error, Gpu, Options};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The layout of arguments; changes with any change of the functions or of [`Call`].
const VERSION: u32 = 3;

/// The version of this interface, so that a library of another build is not called.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_wgpu_version() -> u32 {
    VERSION
}

/// The message of this thread's latest error, until its next call.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_wgpu_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// Opens an adapter, by its number or, if that is negative, the fastest.
///
/// # Safety
/// `gpu` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_wgpu_open(number: i64, gpu: *mut *mut Gpu) -> Status {
    guarded(|| {
        let options = Options { number: usize::try_from(number).ok(), ..Options::default() };
        let opened = pollster::block_on(Gpu::open(options))?;
        // SAFETY: valid for a write, as required.
        unsafe { gpu.write(Box::into_raw(Box::new(opened))) };
        Ok(())
    })
}

/// Closes what [`retrograde_wgpu_open`] opened.
///
/// # Safety
/// `gpu` came from there, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_wgpu_close(gpu: *mut Gpu) {
    if !gpu.is_null() {
        // SAFETY: from `Box::into_raw`, and closed once, as required.
        drop(unsafe { Box::from_raw(gpu) });
    }
}

/// The adapter's name, as text of this thread that is valid until its next call.
///
/// # Safety
/// `gpu` came from [`retrograde_wgpu_open`] and is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_wgpu_name(gpu: *const Gpu) -> *const c_char {
    // SAFETY: an open adapter, as required.
    say(unsafe { &*gpu }.name());
    retrograde_wgpu_message()
}

/// Reverses an array into another; both are `call.bytes` long.
///
/// # Safety
/// `gpu` is open, every pointer of `call` is valid for as many values as it says, and `input` and
/// `output` are separate arrays that are valid for reads and writes of that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_wgpu_run(
    gpu: *const Gpu,
    call: *const Call,
    input: *const u8,
    output: *mut u8,
) -> Status {
    guarded(|| {
        // SAFETY: an open adapter and a valid call, as required.
        let (gpu, call) = unsafe { (&*gpu, &*call) };
        // SAFETY: valid for that many bytes and separate, as required; an empty array may have a
        // null pointer, for which `bytes` is not asked.
        let (input, output) =
            unsafe { (call::slice(input, call.bytes), call::slice_mut(output, call.bytes)) };
        // SAFETY: the pointers of the call are valid, as required.
        unsafe { call.run(gpu, input, output) }
    })
}

/// Runs a body, and turns errors and panics into a status and a message.
fn guarded(body: impl FnOnce() -> Result<(), Error>) -> Status {
    let (status, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Done,
        Ok(Err(error)) => (Status::of(&error), error.to_string()),
        Err(_) => (Status::Failed, "a defect in Retrograde: it panicked".to_owned()),
    };
    say(message);
    status
}

fn say(text: String) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    MESSAGE.with_borrow_mut(|message| *message = text);
}
