//! The factory: says which devices the provider is for, and makes providers for sessions.

use crate::ffi::{
    DEVICE_CPU, OrtEp, OrtEpDevice, OrtEpFactory, OrtHardwareDevice, OrtLogger, OrtSessionOptions,
    OrtStatus, unused,
};
use crate::live;
use crate::options::Options;
use crate::provider::{NAME, Provider};
use crate::registry::Registry;
use crate::runtime::{Failure, Runtime};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

const VENDOR: &CStr = c"Retrograde";
const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("the version has no zero byte"),
    };

/// The factory as the runtime holds it. The runtime's struct is first, so that both have one
/// address.
#[repr(C)]
pub(crate) struct Factory {
    table: OrtEpFactory,
    runtime: Runtime,
    registry: Option<Registry>,
}

impl Factory {
    /// A factory on the heap; [`release`](Self::release) releases it.
    pub(crate) fn create(runtime: Runtime) -> Result<*mut OrtEpFactory, Failure> {
        let registry = if runtime.has_registries() {
            // SAFETY: the runtime has them. The kernels are for our providers.
            Some(unsafe { Registry::new(runtime, NAME, Provider::options_of)? })
        } else {
            None
        };
        let table = OrtEpFactory {
            version: runtime.version,
            get_name,
            get_vendor,
            get_supported_devices,
            create_ep,
            release_ep,
            get_vendor_id,
            get_version,
            validate_compiled_model_compatibility_info: unused(),
            create_allocator,
            release_allocator,
            create_data_transfer,
            is_stream_aware,
            create_sync_stream_for_device: unused(),
            get_hardware_device_incompatibility_details: unused(),
            create_external_resource_importer_for_device: unused(),
            get_num_custom_op_domains: unused(),
            get_custom_op_domains: unused(),
        };
        Ok(Box::into_raw(Box::new(Factory { table, runtime, registry })).cast())
    }

    /// Releases a factory, unless sessions live. The runtime requires that there are none, but
    /// checks nothing and unloads the library whatever this returns. Sessions need the factory and
    /// the code until they are released, so both stay: a few hundred bytes, and the library.
    ///
    /// # Safety
    /// Made by [`create`](Self::create), and released once.
    pub(crate) unsafe fn release(factory: *mut OrtEpFactory) {
        if live::count() > 0 {
            live::keep_loaded();
            return;
        }
        // SAFETY: as required.
        drop(unsafe { Box::from_raw(factory.cast::<Factory>()) });
    }
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn get_name(_: *const OrtEpFactory) -> *const c_char {
    NAME.as_ptr()
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn get_vendor(_: *const OrtEpFactory) -> *const c_char {
    VENDOR.as_ptr()
}

/// No vendor of hardware.
///
/// # Safety
/// The runtime calls it.
unsafe extern "system" fn get_vendor_id(_: *const OrtEpFactory) -> u32 {
    0
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn get_version(_: *const OrtEpFactory) -> *const c_char {
    VERSION.as_ptr()
}

/// The CPU, and nothing else.
///
/// # Safety
/// The runtime calls it, with a factory that was made here and its own devices.
unsafe extern "system" fn get_supported_devices(
    this: *mut OrtEpFactory,
    devices: *const *const OrtHardwareDevice,
    count: usize,
    out: *mut *mut OrtEpDevice,
    most: usize,
    out_count: *mut usize,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released.
    let runtime = unsafe { (*this.cast::<Factory>()).runtime };
    // SAFETY: there are `count` devices, and room for `most` of ours.
    runtime.answer(|| unsafe {
        *out_count = 0;
        for at in 0..count {
            let device = *devices.add(at);
            if runtime.api.device_type(device) == DEVICE_CPU && *out_count < most {
                let place = out.add(*out_count);
                let status =
                    runtime.ep.create_device(this, device, ptr::null(), ptr::null(), place);
                runtime.check(status)?;
                *out_count += 1;
            }
        }
        Ok(())
    })
}

/// # Safety
/// The runtime calls it, with a factory that was made here and a session's options and logger.
unsafe extern "system" fn create_ep(
    this: *mut OrtEpFactory,
    _: *const *const OrtHardwareDevice,
    _: *const *const c_void,
    _: usize,
    options: *const OrtSessionOptions,
    logger: *const OrtLogger,
    out: *mut *mut OrtEp,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released.
    let factory = unsafe { &*this.cast::<Factory>() };
    let runtime = factory.runtime;
    // SAFETY: the session's own options and logger; the registry lives as long as the factory,
    // which outlives its providers.
    runtime.answer(|| unsafe {
        let options = Options::of_session(&runtime, options);
        let registry = factory.registry.as_ref().map_or(ptr::null(), Registry::as_ptr);
        *out = Provider::create(runtime, options, logger, registry);
        Ok(())
    })
}

/// # Safety
/// The runtime calls it, with a provider of this factory.
unsafe extern "system" fn release_ep(_: *mut OrtEpFactory, ep: *mut OrtEp) {
    if !ep.is_null() {
        // SAFETY: made by `create_ep`, and released once.
        unsafe { Provider::release(ep) };
    }
}

/// Outputs come from the runtime's allocator for the CPU.
///
/// # Safety
/// The runtime calls it.
unsafe extern "system" fn create_allocator(
    _: *mut OrtEpFactory,
    _: *const c_void,
    _: *const c_void,
    out: *mut *mut c_void,
) -> *mut OrtStatus {
    // SAFETY: for the allocator, of which there is none.
    unsafe { *out = ptr::null_mut() };
    ptr::null_mut()
}

/// # Safety
/// The runtime calls it; there is nothing to release.
unsafe extern "system" fn release_allocator(_: *mut OrtEpFactory, _: *mut c_void) {}

/// Nothing has to be copied: the memory is the CPU's. The function must be there nevertheless.
///
/// # Safety
/// The runtime calls it.
unsafe extern "system" fn create_data_transfer(
    _: *mut OrtEpFactory,
    out: *mut *mut c_void,
) -> *mut OrtStatus {
    // SAFETY: for the transfer, of which there is none.
    unsafe { *out = ptr::null_mut() };
    ptr::null_mut()
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn is_stream_aware(_: *const OrtEpFactory) -> bool {
    false
}
