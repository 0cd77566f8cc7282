//! The two tables of functions, by position. A runtime that supports version N has all entries that
//! were published up to N at the same positions.

use super::{
    OrtDataType, OrtEp, OrtEpDevice, OrtEpFactory, OrtEpGraphSupportInfo, OrtGraph,
    OrtHardwareDevice, OrtKernelContext, OrtKernelDef, OrtKernelDefBuilder, OrtKernelImpl,
    OrtKernelInfo, OrtKernelRegistry, OrtKeyValuePairs, OrtLogger, OrtNode, OrtNodeFusionOptions,
    OrtOpAttr, OrtSessionOptions, OrtStatus, OrtTensorTypeAndShapeInfo, OrtTypeInfo, OrtValue,
    OrtValueInfo,
};
use core::ffi::{c_char, c_int, c_void};

/// A file name of `Logger_LogMessage`: `ORTCHAR_T` is wide on Windows.
#[cfg(windows)]
pub(crate) type PathChar = u16;
#[cfg(not(windows))]
pub(crate) type PathChar = c_char;

/// Creates a kernel, as `KernelRegistry_AddKernel` takes it.
pub(crate) type OrtKernelCreateFunc = unsafe extern "system" fn(
    state: *mut c_void,
    info: *const OrtKernelInfo,
    out: *mut *mut OrtKernelImpl,
) -> *mut OrtStatus;

/// A table as a type with a method for each entry: `[position] published name => method`.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident: $(
        [$index:literal] $published:ident => $method:ident($($argument:ident: $type:ty),* $(,)?)
            $(-> $result:ty)?;
    )*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $table(*const *const c_void);

        // SAFETY: the table is constant, and the runtime allows calls from any thread.
        unsafe impl Send for $table {}
        // SAFETY: as above.
        unsafe impl Sync for $table {}

        impl $table {
            /// # Safety
            /// The table is the runtime's, of a version that has the entries that are called.
            pub(crate) unsafe fn new(table: *const c_void) -> Self {
                $table(table.cast())
            }

            $(
                #[doc = concat!("`", stringify!($published), "`")]
                ///
                /// # Safety
                /// As the published header asks.
                #[inline]
                pub(crate) unsafe fn $method(self, $($argument: $type),*) $(-> $result)? {
                    type Entry = unsafe extern "system" fn($($type),*) $(-> $result)?;
                    // SAFETY: the entry at this position has this type in every version that has
                    // it (`scripts/check onnxruntime-api`), and `new` requires such a version. The
                    // arguments are the caller's promise.
                    unsafe {
                        let entry = *self.0.add($index);
                        core::mem::transmute::<*const c_void, Entry>(entry)($($argument),*)
                    }
                }
            )*
        }
    };
}

type Status = *mut OrtStatus;

table! {
    /// `OrtApi`.
    Api:
    [0] CreateStatus => create_status(code: i32, message: *const c_char) -> Status;
    [51] GetTensorMutableData => tensor_mutable_data(value: *mut OrtValue, out: *mut *mut c_void) -> Status;
    [52] FillStringTensor => fill_strings(value: *mut OrtValue, strings: *const *const c_char, count: usize) -> Status;
    [53] GetStringTensorDataLength => strings_length(value: *const OrtValue, out: *mut usize) -> Status;
    [54] GetStringTensorContent => strings_content(value: *const OrtValue, out: *mut c_void, len: usize, offsets: *mut usize, count: usize) -> Status;
    [55] CastTypeInfoToTensorInfo => tensor_info(info: *const OrtTypeInfo, out: *mut *const OrtTensorTypeAndShapeInfo) -> Status;
    [60] GetTensorElementType => element_type(info: *const OrtTensorTypeAndShapeInfo, out: *mut i32) -> Status;
    [61] GetDimensionsCount => dimensions_count(info: *const OrtTensorTypeAndShapeInfo, out: *mut usize) -> Status;
    [62] GetDimensions => dimensions(info: *const OrtTensorTypeAndShapeInfo, out: *mut i64, count: usize) -> Status;
    [65] GetTensorTypeAndShape => tensor_type_and_shape(value: *const OrtValue, out: *mut *mut OrtTensorTypeAndShapeInfo) -> Status;
    [86] KernelInfoGetAttribute_int64 => kernel_attribute(info: *const OrtKernelInfo, name: *const c_char, out: *mut i64) -> Status;
    [90] KernelContext_GetInput => context_input(context: *const OrtKernelContext, index: usize, out: *mut *const OrtValue) -> Status;
    [91] KernelContext_GetOutput => context_output(context: *mut OrtKernelContext, index: usize, dims: *const i64, count: usize, out: *mut *mut OrtValue) -> Status;
    [93] ReleaseStatus => release_status(status: *mut OrtStatus);
    [99] ReleaseTensorTypeAndShapeInfo => release_tensor_type_and_shape(info: *mut OrtTensorTypeAndShapeInfo);
    [230] KernelInfo_GetInputCount => kernel_input_count(info: *const OrtKernelInfo, out: *mut usize) -> Status;
    [247] Logger_LogMessage => log(logger: *const OrtLogger, level: i32, message: *const c_char, file: *const PathChar, line: c_int, function: *const c_char) -> Status;
    [249] KernelInfoGetConstantInput_tensor => kernel_constant(info: *const OrtKernelInfo, index: usize, is_constant: *mut c_int, out: *mut *const OrtValue) -> Status;
    [252] GetResizedStringTensorElementBuffer => resized_string(value: *mut OrtValue, index: usize, len: usize, out: *mut *mut c_char) -> Status;
    [272] ReadOpAttr => read_attribute(attribute: *const OrtOpAttr, kind: i32, data: *mut c_void, len: usize, out: *mut usize) -> Status;
    [274] KernelContext_ParallelFor => parallel_for(context: *const OrtKernelContext, part: unsafe extern "C" fn(*mut c_void, usize), parts: usize, batches: usize, data: *mut c_void) -> Status;
    [289] GetValueInfoName => value_name(value: *const OrtValueInfo, out: *mut *const c_char) -> Status;
    [290] GetValueInfoTypeInfo => value_type(value: *const OrtValueInfo, out: *mut *const OrtTypeInfo) -> Status;
    [298] GetKeyValuePairs => key_value_pairs(pairs: *const OrtKeyValuePairs, keys: *mut *const *const c_char, values: *mut *const *const c_char, count: *mut usize);
    [300] ReleaseKeyValuePairs => release_key_value_pairs(pairs: *mut OrtKeyValuePairs);
    [307] HardwareDevice_Type => device_type(device: *const OrtHardwareDevice) -> i32;
    [317] GetEpApi => ep_api() -> *const c_void;
    [326] ValueInfo_GetInitializerValue => initializer(value: *const OrtValueInfo, out: *mut *const OrtValue) -> Status;
    [331] ValueInfo_IsConstantInitializer => is_constant(value: *const OrtValueInfo, out: *mut bool) -> Status;
    [333] Graph_GetName => graph_name(graph: *const OrtGraph, out: *mut *const c_char) -> Status;
    [344] Graph_GetNumNodes => node_count(graph: *const OrtGraph, out: *mut usize) -> Status;
    [345] Graph_GetNodes => nodes(graph: *const OrtGraph, out: *mut *const OrtNode, count: usize) -> Status;
    [346] Graph_GetParentNode => parent_node(graph: *const OrtGraph, out: *mut *const OrtNode) -> Status;
    [349] Node_GetName => node_name(node: *const OrtNode, out: *mut *const c_char) -> Status;
    [350] Node_GetOperatorType => node_operator(node: *const OrtNode, out: *mut *const c_char) -> Status;
    [351] Node_GetDomain => node_domain(node: *const OrtNode, out: *mut *const c_char) -> Status;
    [352] Node_GetSinceVersion => node_since(node: *const OrtNode, out: *mut c_int) -> Status;
    [353] Node_GetNumInputs => node_input_count(node: *const OrtNode, out: *mut usize) -> Status;
    [354] Node_GetInputs => node_inputs(node: *const OrtNode, out: *mut *const OrtValueInfo, count: usize) -> Status;
    [355] Node_GetNumOutputs => node_output_count(node: *const OrtNode, out: *mut usize) -> Status;
    [356] Node_GetOutputs => node_outputs(node: *const OrtNode, out: *mut *const OrtValueInfo, count: usize) -> Status;
    [361] Node_GetAttributeByName => node_attribute(node: *const OrtNode, name: *const c_char, out: *mut *const OrtOpAttr) -> Status;
    [378] GetTensorData => tensor_data(value: *const OrtValue, out: *mut *const c_void) -> Status;
    [379] GetSessionOptionsConfigEntries => config_entries(options: *const OrtSessionOptions, out: *mut *mut OrtKeyValuePairs) -> Status;
    [414] GetTensorElementTypeAndShapeDataReference => tensor_reference(value: *const OrtValue, element: *mut i32, dims: *mut *const i64, count: *mut usize) -> Status;
}

table! {
    /// `OrtEpApi`.
    EpApi:
    [0] CreateEpDevice => create_device(factory: *mut OrtEpFactory, device: *const OrtHardwareDevice, metadata: *const c_void, options: *const c_void, out: *mut *mut OrtEpDevice) -> Status;
    [2] EpGraphSupportInfo_AddNodesToFuse => add_nodes_to_fuse(info: *mut OrtEpGraphSupportInfo, nodes: *const *const OrtNode, count: usize, options: *const OrtNodeFusionOptions) -> Status;
    [3] EpGraphSupportInfo_AddSingleNode => add_single_node(info: *mut OrtEpGraphSupportInfo, node: *const OrtNode) -> Status;
    [18] CreateKernelRegistry => create_registry(out: *mut *mut OrtKernelRegistry) -> Status;
    [19] ReleaseKernelRegistry => release_registry(registry: *mut OrtKernelRegistry);
    [20] KernelRegistry_AddKernel => add_kernel(registry: *mut OrtKernelRegistry, definition: *const OrtKernelDef, create: OrtKernelCreateFunc, state: *mut c_void) -> Status;
    [21] CreateKernelDefBuilder => create_builder(out: *mut *mut OrtKernelDefBuilder) -> Status;
    [22] ReleaseKernelDefBuilder => release_builder(builder: *mut OrtKernelDefBuilder);
    [23] KernelDefBuilder_SetOperatorType => set_operator(builder: *mut OrtKernelDefBuilder, name: *const c_char) -> Status;
    [24] KernelDefBuilder_SetDomain => set_domain(builder: *mut OrtKernelDefBuilder, domain: *const c_char) -> Status;
    [25] KernelDefBuilder_SetSinceVersion => set_versions(builder: *mut OrtKernelDefBuilder, first: c_int, last: c_int) -> Status;
    [26] KernelDefBuilder_SetExecutionProvider => set_provider(builder: *mut OrtKernelDefBuilder, name: *const c_char) -> Status;
    [29] KernelDefBuilder_AddTypeConstraint => add_types(builder: *mut OrtKernelDefBuilder, argument: *const c_char, types: *const *const OrtDataType, count: usize) -> Status;
    [31] KernelDefBuilder_AddInputOutputMutableAliases => add_mutable_aliases(builder: *mut OrtKernelDefBuilder, inputs: *const c_int, outputs: *const c_int, count: usize) -> Status;
    [32] KernelDefBuilder_Build => build(builder: *mut OrtKernelDefBuilder, out: *mut *mut OrtKernelDef) -> Status;
    [33] ReleaseKernelDef => release_definition(definition: *mut OrtKernelDef);
    [40] GetTensorDataType => tensor_data_type(element: i32, out: *mut *const OrtDataType) -> Status;
    [41] EpGraphSupportInfo_LookUpKernel => look_up_kernel(info: *mut OrtEpGraphSupportInfo, node: *const OrtNode, out: *mut *const OrtKernelDef) -> Status;
    [43] KernelInfo_GetEp => kernel_provider(info: *const OrtKernelInfo, out: *mut *const OrtEp) -> Status;
}
