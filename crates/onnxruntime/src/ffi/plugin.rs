//! The structs of functions that a plugin fills in, up to the members of version 1.24. The runtime
//! reads only those that `version` says are there.

use super::{
    OrtEpDevice, OrtEpGraphSupportInfo, OrtGraph, OrtHardwareDevice, OrtKernelContext,
    OrtKernelRegistry, OrtLogger, OrtNode, OrtSessionOptions, OrtStatus,
};
use core::ffi::{c_char, c_int, c_void};

/// A member that is not used: null.
pub(crate) type Unused = *const c_void;

/// For members that are not used.
pub(crate) const fn unused() -> Unused {
    core::ptr::null()
}

/// Creates providers; one per library.
#[repr(C)]
#[derive(Debug)]
pub struct OrtEpFactory {
    pub(crate) version: u32,
    pub(crate) get_name: unsafe extern "system" fn(*const OrtEpFactory) -> *const c_char,
    pub(crate) get_vendor: unsafe extern "system" fn(*const OrtEpFactory) -> *const c_char,
    pub(crate) get_supported_devices: unsafe extern "system" fn(
        this: *mut OrtEpFactory,
        devices: *const *const OrtHardwareDevice,
        count: usize,
        out: *mut *mut OrtEpDevice,
        most: usize,
        out_count: *mut usize,
    ) -> *mut OrtStatus,
    pub(crate) create_ep: unsafe extern "system" fn(
        this: *mut OrtEpFactory,
        devices: *const *const OrtHardwareDevice,
        metadata: *const *const c_void,
        count: usize,
        options: *const OrtSessionOptions,
        logger: *const OrtLogger,
        out: *mut *mut OrtEp,
    ) -> *mut OrtStatus,
    pub(crate) release_ep: unsafe extern "system" fn(this: *mut OrtEpFactory, ep: *mut OrtEp),
    pub(crate) get_vendor_id: unsafe extern "system" fn(*const OrtEpFactory) -> u32,
    pub(crate) get_version: unsafe extern "system" fn(*const OrtEpFactory) -> *const c_char,
    pub(crate) validate_compiled_model_compatibility_info: Unused,
    pub(crate) create_allocator: unsafe extern "system" fn(
        this: *mut OrtEpFactory,
        memory: *const c_void,
        options: *const c_void,
        out: *mut *mut c_void,
    ) -> *mut OrtStatus,
    pub(crate) release_allocator:
        unsafe extern "system" fn(this: *mut OrtEpFactory, allocator: *mut c_void),
    pub(crate) create_data_transfer:
        unsafe extern "system" fn(this: *mut OrtEpFactory, out: *mut *mut c_void) -> *mut OrtStatus,
    pub(crate) is_stream_aware: unsafe extern "system" fn(*const OrtEpFactory) -> bool,
    pub(crate) create_sync_stream_for_device: Unused,
    pub(crate) get_hardware_device_incompatibility_details: Unused,
    pub(crate) create_external_resource_importer_for_device: Unused,
    pub(crate) get_num_custom_op_domains: Unused,
    pub(crate) get_custom_op_domains: Unused,
}

/// A provider; one per session.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OrtEp {
    pub(crate) version: u32,
    pub(crate) get_name: unsafe extern "system" fn(*const OrtEp) -> *const c_char,
    pub(crate) get_capability: unsafe extern "system" fn(
        this: *mut OrtEp,
        graph: *const OrtGraph,
        info: *mut OrtEpGraphSupportInfo,
    ) -> *mut OrtStatus,
    pub(crate) compile: Option<
        unsafe extern "system" fn(
            this: *mut OrtEp,
            graphs: *const *const OrtGraph,
            fused: *const *const OrtNode,
            count: usize,
            infos: *mut *mut OrtNodeComputeInfo,
            contexts: *mut *mut OrtNode,
        ) -> *mut OrtStatus,
    >,
    pub(crate) release_node_compute_infos: Option<
        unsafe extern "system" fn(
            this: *mut OrtEp,
            infos: *mut *mut OrtNodeComputeInfo,
            count: usize,
        ),
    >,
    pub(crate) get_preferred_data_layout:
        unsafe extern "system" fn(this: *mut OrtEp, out: *mut c_int) -> *mut OrtStatus,
    pub(crate) should_convert_data_layout_for_op: Unused,
    pub(crate) set_dynamic_options: Unused,
    pub(crate) on_run_start: Unused,
    pub(crate) on_run_end: Unused,
    pub(crate) create_allocator: Unused,
    pub(crate) create_sync_stream_for_device: Unused,
    pub(crate) get_compiled_model_compatibility_info: Unused,
    pub(crate) get_kernel_registry: Option<
        unsafe extern "system" fn(
            this: *mut OrtEp,
            out: *mut *const OrtKernelRegistry,
        ) -> *mut OrtStatus,
    >,
    pub(crate) is_concurrent_run_supported: Unused,
}

/// How nodes are fused.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OrtNodeFusionOptions {
    pub(crate) version: u32,
    pub(crate) drop_constant_initializers: bool,
}

/// A fused node, compiled.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OrtNodeComputeInfo {
    pub(crate) version: u32,
    pub(crate) create_state: unsafe extern "system" fn(
        this: *mut OrtNodeComputeInfo,
        context: *mut c_void,
        out: *mut *mut c_void,
    ) -> *mut OrtStatus,
    pub(crate) compute: unsafe extern "system" fn(
        this: *mut OrtNodeComputeInfo,
        state: *mut c_void,
        context: *mut OrtKernelContext,
    ) -> *mut OrtStatus,
    pub(crate) release_state:
        unsafe extern "system" fn(this: *mut OrtNodeComputeInfo, state: *mut c_void),
}

/// A kernel of the registry.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OrtKernelImpl {
    pub(crate) version: u32,
    pub(crate) flags: u32,
    pub(crate) compute: unsafe extern "system" fn(
        this: *mut OrtKernelImpl,
        context: *mut OrtKernelContext,
    ) -> *mut OrtStatus,
    pub(crate) release: unsafe extern "system" fn(this: *mut OrtKernelImpl),
    pub(crate) pre_pack_weight: Unused,
    pub(crate) set_shared_pre_packed_weight: Unused,
}
