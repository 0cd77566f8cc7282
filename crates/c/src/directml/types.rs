//! The structs of `DirectML.h` that this operator needs, with its field names, order and types.
//! Enums are integers here: a program can pass any value. The header declares them as enums.
#![expect(non_camel_case_types, non_snake_case, reason = "the names of DirectML.h")]

use std::ffi::c_void;

/// `UINT`.
pub type UINT = u32;
/// `UINT64`.
pub type UINT64 = u64;
/// `SIZE_T`.
pub type SIZE_T = usize;
/// `BOOL`.
pub type BOOL = i32;
/// `ULONG`.
pub type ULONG = u32;
/// `HRESULT`.
pub type HRESULT = i32;
/// `WCHAR`, which is `wchar_t`.
#[cfg(windows)]
pub type WCHAR = u16;
/// `WCHAR`, which is `wchar_t`.
#[cfg(not(windows))]
pub type WCHAR = u32;
/// `DML_TENSOR_DATA_TYPE`.
pub type DML_TENSOR_DATA_TYPE = u32;
/// `DML_TENSOR_TYPE`.
pub type DML_TENSOR_TYPE = u32;
/// `DML_TENSOR_FLAGS`.
pub type DML_TENSOR_FLAGS = u32;
/// `DML_OPERATOR_TYPE`.
pub type DML_OPERATOR_TYPE = u32;
/// `DML_BINDING_TYPE`.
pub type DML_BINDING_TYPE = u32;
/// `DML_FEATURE`.
pub type DML_FEATURE = u32;
/// `DML_FEATURE_LEVEL`.
pub type DML_FEATURE_LEVEL = u32;
/// `DML_EXECUTION_FLAGS`.
pub type DML_EXECUTION_FLAGS = u32;
/// `DML_CREATE_DEVICE_FLAGS`.
pub type DML_CREATE_DEVICE_FLAGS = u32;

/// `DML_BINDING_TYPE_NONE`.
pub const BINDING_TYPE_NONE: DML_BINDING_TYPE = 0;
/// `DML_BINDING_TYPE_BUFFER`.
pub const BINDING_TYPE_BUFFER: DML_BINDING_TYPE = 1;
/// `DML_BINDING_TYPE_BUFFER_ARRAY`.
pub const BINDING_TYPE_BUFFER_ARRAY: DML_BINDING_TYPE = 2;
/// `DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT`.
pub const FEATURE_TENSOR_DATA_TYPE_SUPPORT: DML_FEATURE = 0;
/// `DML_FEATURE_FEATURE_LEVELS`.
pub const FEATURE_FEATURE_LEVELS: DML_FEATURE = 1;
/// Every flag of `DML_EXECUTION_FLAGS`.
pub const EXECUTION_FLAGS_ALL: DML_EXECUTION_FLAGS = 7;
/// Every flag of `DML_CREATE_DEVICE_FLAGS`.
pub const CREATE_DEVICE_FLAGS_ALL: DML_CREATE_DEVICE_FLAGS = 1;
/// The levels of `DML_FEATURE_LEVEL`.
pub const FEATURE_LEVELS: [DML_FEATURE_LEVEL; 15] = [
    0x1000, 0x2000, 0x2100, 0x3000, 0x3100, 0x4000, 0x4100, 0x5000, 0x5100, 0x5200, 0x6000, 0x6100,
    0x6200, 0x6300, 0x6400,
];

/// `GUID`, which names an interface.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GUID {
    /// The first field of its text form.
    pub Data1: u32,
    /// The second field.
    pub Data2: u16,
    /// The third field.
    pub Data3: u16,
    /// The rest.
    pub Data4: [u8; 8],
}

/// Describes a tensor in a buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_BUFFER_TENSOR_DESC {
    /// The element type.
    pub DataType: DML_TENSOR_DATA_TYPE,
    /// NONE, or OWNED_BY_DML for inputs that are bound at initialisation.
    pub Flags: DML_TENSOR_FLAGS,
    /// The number of dimensions.
    pub DimensionCount: UINT,
    /// The size of each dimension in elements.
    pub Sizes: *const UINT,
    /// The stride of each dimension in elements; null for a packed tensor.
    pub Strides: *const UINT,
    /// The least size of a bound range.
    pub TotalTensorSizeInBytes: UINT64,
    /// 0, or a power of two that divides the offset of every bound range.
    pub GuaranteedBaseOffsetAlignment: UINT,
}

/// A tensor descriptor of any type; only DML_TENSOR_TYPE_BUFFER exists.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_TENSOR_DESC {
    /// The type.
    pub Type: DML_TENSOR_TYPE,
    /// A DML_BUFFER_TENSOR_DESC.
    pub Desc: *const c_void,
}

/// An operator descriptor of any type; only DML_OPERATOR_REVERSE_SUBSEQUENCES is implemented.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_OPERATOR_DESC {
    /// The type.
    pub Type: DML_OPERATOR_TYPE,
    /// A DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC.
    pub Desc: *const c_void,
}

/// Reverses the first elements of each lane along an axis, each lane by its own length.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC {
    /// The tensor to read.
    pub InputTensor: *const DML_TENSOR_DESC,
    /// One length per lane: the input's sizes with 1 at the axis.
    pub SequenceLengthsTensor: *const DML_TENSOR_DESC,
    /// The tensor to write.
    pub OutputTensor: *const DML_TENSOR_DESC,
    /// The dimension to reverse.
    pub Axis: UINT,
}

/// A binding of any type.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_BINDING_DESC {
    /// The type.
    pub Type: DML_BINDING_TYPE,
    /// A DML_BUFFER_BINDING or a DML_BUFFER_ARRAY_BINDING.
    pub Desc: *const c_void,
}

/// A range of a buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_BUFFER_BINDING {
    /// The buffer; null for no binding.
    pub Buffer: *mut ID3D12Resource,
    /// Where the range starts: a multiple of 16, and of GuaranteedBaseOffsetAlignment.
    pub Offset: UINT64,
    /// Its size.
    pub SizeInBytes: UINT64,
}

/// Several ranges: the inputs of one operator at initialisation.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_BUFFER_ARRAY_BINDING {
    /// How many.
    pub BindingCount: UINT,
    /// The ranges.
    pub Bindings: *const DML_BUFFER_BINDING,
}

/// What a dispatchable needs to be bound.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DML_BINDING_PROPERTIES {
    /// The least SizeInDescriptors of its binding table.
    pub RequiredDescriptorCount: UINT,
    /// Bytes of temporary memory: 0.
    pub TemporaryResourceSize: UINT64,
    /// Bytes of persistent memory: 0. Tensors that are OWNED_BY_DML are copied by the operator.
    pub PersistentResourceSize: UINT64,
}

/// A place in a descriptor heap. It is not used here.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3D12_CPU_DESCRIPTOR_HANDLE {
    /// The address.
    pub ptr: SIZE_T,
}

/// A place in a descriptor heap. It is not used here.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct D3D12_GPU_DESCRIPTOR_HANDLE {
    /// The address.
    pub ptr: UINT64,
}

/// Describes a binding table.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_BINDING_TABLE_DESC {
    /// What is bound: a compiled operator, or an initializer.
    pub Dispatchable: *mut IDMLDispatchable,
    /// Not used here.
    pub CPUDescriptorHandle: D3D12_CPU_DESCRIPTOR_HANDLE,
    /// Not used here.
    pub GPUDescriptorHandle: D3D12_GPU_DESCRIPTOR_HANDLE,
    /// At least RequiredDescriptorCount.
    pub SizeInDescriptors: UINT,
}

/// Asks whether a data type is supported.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
    /// The data type.
    pub DataType: DML_TENSOR_DATA_TYPE,
}

/// Whether a data type is supported.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT {
    /// The answer.
    pub IsSupported: BOOL,
}

/// Asks for the highest of these feature levels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_FEATURE_QUERY_FEATURE_LEVELS {
    /// How many.
    pub RequestedFeatureLevelCount: UINT,
    /// The levels.
    pub RequestedFeatureLevels: *const DML_FEATURE_LEVEL,
}

/// The highest feature level.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DML_FEATURE_DATA_FEATURE_LEVELS {
    /// The answer.
    pub MaxSupportedFeatureLevel: DML_FEATURE_LEVEL,
}

/// Objects that only pointers lead to. `include/retrograde_directml_types.h` declares them.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

objects! {
    /// Stands for a device of Direct3D, of which there are none here.
    ID3D12Device;
    /// Stands for a command list of Direct3D, of which there are none here.
    ID3D12CommandList;
    /// A buffer of the host.
    ID3D12Resource;
    /// Makes everything else.
    IDMLDevice;
    /// An object that belongs to a device.
    IDMLDeviceChild;
    /// An object that could be evicted from a GPU.
    IDMLPageable;
    /// An operator whose descriptors are valid.
    IDMLOperator;
    /// A compiled operator, or an initializer.
    IDMLDispatchable;
    /// An operator that can be initialised and dispatched.
    IDMLCompiledOperator;
    /// Initialises compiled operators.
    IDMLOperatorInitializer;
    /// The buffers of a dispatchable.
    IDMLBindingTable;
    /// Runs dispatchables.
    IDMLCommandRecorder;
}
