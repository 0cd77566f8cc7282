//! The functions that the library exports: two that the runtime looks up, and one for programs.

use crate::factory::Factory;
use crate::ffi::{OrtApiBase, OrtEpFactory, OrtLogger, OrtStatus};
use crate::live;
use crate::runtime::{Failure, Runtime};
use std::ffi::c_char;
use std::ptr;

/// Creates the factory of the provider.
///
/// A runtime that is too old gets none, and says that the library has no factory.
///
/// # Safety
/// The runtime calls it, with room for `most` factories.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the runtime looks it up by this name")]
pub unsafe extern "C" fn CreateEpFactories(
    _registered_name: *const c_char,
    base: *const OrtApiBase,
    _logger: *const OrtLogger,
    factories: *mut *mut OrtEpFactory,
    most: usize,
    count: *mut usize,
) -> *mut OrtStatus {
    // SAFETY: `count` is for the number, and `base` the runtime's.
    let runtime = unsafe {
        *count = 0;
        Runtime::from_base(base)
    };
    let Some(runtime) = runtime else { return ptr::null_mut() };
    runtime.answer(|| {
        if most == 0 {
            return Err(Failure::argument("there is no room for a factory"));
        }
        let factory = Factory::create(runtime)?;
        // SAFETY: there is room for one.
        unsafe {
            *factories = factory;
            *count = 1;
        }
        Ok(())
    })
}

/// Releases the factory.
///
/// # Safety
/// The runtime calls it once, with a factory of [`CreateEpFactories`].
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the runtime looks it up by this name")]
pub unsafe extern "C" fn ReleaseEpFactory(factory: *mut OrtEpFactory) -> *mut OrtStatus {
    if !factory.is_null() {
        // SAFETY: made by `CreateEpFactories`, and released once.
        unsafe { Factory::release(factory) };
    }
    ptr::null_mut()
}

/// How many sessions use the library. It must be 0 when the library is unregistered.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "named like the functions beside it")]
pub extern "C" fn RetrogradeLiveSessions() -> usize {
    live::count()
}
