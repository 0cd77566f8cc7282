//! Declarations of ONNX Runtime's C interface: only what the provider uses.
//!
//! The interface is two tables of functions that only grow ([`api`]), and structs of functions that
//! a plugin fills in ([`plugin`]). `scripts/check onnxruntime-api` compares both with the published
//! headers.

mod api;
mod plugin;

pub(crate) use api::{Api, EpApi, OrtKernelCreateFunc, PathChar};
pub use plugin::OrtEpFactory;
pub(crate) use plugin::{OrtEp, OrtKernelImpl, OrtNodeComputeInfo, OrtNodeFusionOptions, unused};

/// Opaque types of the runtime.
macro_rules! opaque {
    ($($visibility:vis $name:ident),* $(,)?) => {
        $(
            /// Opaque: only the runtime looks into it.
            #[repr(C)]
            #[derive(Debug)]
            $visibility struct $name {
                opaque: [u8; 0],
            }
        )*
    };
}

opaque!(
    pub OrtLogger,
    pub OrtStatus,
    pub(crate) OrtDataType,
    pub(crate) OrtEpDevice,
    pub(crate) OrtEpGraphSupportInfo,
    pub(crate) OrtGraph,
    pub(crate) OrtHardwareDevice,
    pub(crate) OrtKernelContext,
    pub(crate) OrtKernelDef,
    pub(crate) OrtKernelDefBuilder,
    pub(crate) OrtKernelInfo,
    pub(crate) OrtKernelRegistry,
    pub(crate) OrtKeyValuePairs,
    pub(crate) OrtNode,
    pub(crate) OrtOpAttr,
    pub(crate) OrtSessionOptions,
    pub(crate) OrtTensorTypeAndShapeInfo,
    pub(crate) OrtTypeInfo,
    pub(crate) OrtValue,
    pub(crate) OrtValueInfo,
);

/// What the runtime passes to a library that it loads.
#[repr(C)]
#[derive(Debug)]
pub struct OrtApiBase {
    /// The table of this version, or null if the runtime is older.
    pub(crate) get_api: unsafe extern "system" fn(version: u32) -> *const core::ffi::c_void,
    /// The version of the runtime as text.
    pub(crate) version: unsafe extern "system" fn() -> *const core::ffi::c_char,
}

/// `OrtErrorCode`.
pub(crate) mod code {
    pub(crate) const FAIL: i32 = 1;
    pub(crate) const INVALID_ARGUMENT: i32 = 2;
}

/// `OrtLoggingLevel`.
pub(crate) const LOG_INFO: i32 = 1;
/// `OrtHardwareDeviceType`.
pub(crate) const DEVICE_CPU: i32 = 0;
/// `OrtOpAttrType`.
pub(crate) const ATTRIBUTE_INT: i32 = 1;
