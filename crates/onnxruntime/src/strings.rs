//! Tensors of strings. The runtime gives access to single strings only, so the plan moves their
//! positions, and the strings follow one by one.

use crate::ffi::OrtValue;
use crate::runtime::{Failure, Runtime};
use crate::workers::Pool;
use retrograde::cpu::Workers;
use std::ptr;
use std::sync::Mutex;

/// Strings that a thread copies at a time.
const SHARE: usize = 1024;

/// Two tensors of strings of the runtime.
#[derive(Clone, Copy)]
struct Copy {
    runtime: Runtime,
    from: *const OrtValue,
    to: *mut OrtValue,
}

// SAFETY: threads read the input, and each writes other strings of the output.
unsafe impl Sync for Copy {}

impl Copy {
    /// Copies string `from` of the input to string `to` of the output.
    ///
    /// # Safety
    /// Both are tensors of strings that have these positions, not the same one, and no other
    /// thread uses that string of the output.
    unsafe fn one(&self, from: usize, to: usize) -> Result<(), Failure> {
        let api = &self.runtime.api;
        let (mut len, mut buffer) = (0, ptr::null_mut());
        // SAFETY: as required; the buffer has the `len` bytes that are written to it.
        unsafe {
            self.runtime.check(api.string_length(self.from, from, &mut len))?;
            self.runtime.check(api.resized_string(self.to, to, len, &mut buffer))?;
            if len > 0 {
                self.runtime.check(api.string(self.from, len, from, buffer.cast()))?;
            }
        }
        Ok(())
    }
}

/// Copies strings: the output's `i`-th is the input's `order[i]`-th.
///
/// # Safety
/// Both are tensors of strings, not the same one; the output has as many as `order`, which are
/// positions of the input.
pub(crate) unsafe fn copy(
    runtime: Runtime,
    pool: &Pool,
    from: *const OrtValue,
    to: *mut OrtValue,
    order: &[u64],
) -> Result<(), Failure> {
    let copy = Copy { runtime, from, to };
    let failed = Mutex::new(None);
    let part = |number: usize| {
        let copy = &copy;
        let first = number * SHARE;
        for (at, &from) in order.iter().enumerate().skip(first).take(SHARE) {
            // SAFETY: as required; a part writes its own strings.
            if let Err(failure) = unsafe { copy.one(from as usize, at) } {
                let mut failed = failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if let Some(Failure::Foreign(status)) = failed.replace(failure) {
                    runtime.succeeded(status.as_ptr());
                }
                return;
            }
        }
    };
    match order.len().div_ceil(SHARE) {
        0 => {}
        1 => part(0),
        parts => pool.run(parts, &part),
    }
    match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}
