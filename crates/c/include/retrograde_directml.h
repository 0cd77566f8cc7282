/* DirectML's interface of ReverseSubsequences on host memory, on any operating system, in
   the place of DirectML.h. The documentation is docs/c.md. */
/* Generated from the sources of crates/c by its tests. Do not edit. */

#ifndef RETROGRADE_DIRECTML_H
#define RETROGRADE_DIRECTML_H

#include "retrograde.h"
#if defined(__d3d12_h__) || defined(DML_DECLARE_INTERFACE)
#error "retrograde_directml.h takes the place of DirectML.h and d3d12.h: include only one of them"
#endif

/* The types of Windows. */
#ifdef _WIN32
#include <unknwn.h>
#else
#include <wchar.h>
typedef unsigned int UINT;
typedef uint64_t UINT64;
typedef size_t SIZE_T;
typedef int BOOL;
typedef uint32_t ULONG;
typedef int32_t HRESULT;
typedef wchar_t WCHAR;
typedef const WCHAR *PCWSTR;
typedef struct GUID {
    uint32_t Data1;
    uint16_t Data2;
    uint16_t Data3;
    uint8_t Data4[8];
} GUID;
typedef GUID IID;
#ifdef __cplusplus
typedef const GUID &REFGUID;
typedef const IID &REFIID;
#else
typedef const GUID *REFGUID;
typedef const IID *REFIID;
#endif
#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif
#define SUCCEEDED(hr) ((HRESULT)(hr) >= 0)
#define FAILED(hr) ((HRESULT)(hr) < 0)
#define S_OK ((HRESULT)0)
#define S_FALSE ((HRESULT)1)
#define E_NOTIMPL ((HRESULT)0x80004001)
#define E_NOINTERFACE ((HRESULT)0x80004002)
#define E_POINTER ((HRESULT)0x80004003)
#define E_UNEXPECTED ((HRESULT)0x8000FFFF)
#define E_HANDLE ((HRESULT)0x80070006)
#define E_OUTOFMEMORY ((HRESULT)0x8007000E)
#define E_INVALIDARG ((HRESULT)0x80070057)
#endif
#ifndef DXGI_ERROR_DEVICE_REMOVED
#define DXGI_ERROR_NOT_FOUND ((HRESULT)0x887A0002)
#define DXGI_ERROR_MORE_DATA ((HRESULT)0x887A0003)
#define DXGI_ERROR_UNSUPPORTED ((HRESULT)0x887A0004)
#define DXGI_ERROR_DEVICE_REMOVED ((HRESULT)0x887A0005)
#endif

/* Constants and enums of DirectML. */
#define DML_TENSOR_DIMENSION_COUNT_MAX 5
#define DML_TENSOR_DIMENSION_COUNT_MAX1 8
#define DML_TEMPORARY_BUFFER_ALIGNMENT 256
#define DML_PERSISTENT_BUFFER_ALIGNMENT 256
#define DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT 16

typedef enum DML_TENSOR_DATA_TYPE {
    DML_TENSOR_DATA_TYPE_UNKNOWN = 0,
    DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
    DML_TENSOR_DATA_TYPE_FLOAT16 = 2,
    DML_TENSOR_DATA_TYPE_UINT32 = 3,
    DML_TENSOR_DATA_TYPE_UINT16 = 4,
    DML_TENSOR_DATA_TYPE_UINT8 = 5,
    DML_TENSOR_DATA_TYPE_INT32 = 6,
    DML_TENSOR_DATA_TYPE_INT16 = 7,
    DML_TENSOR_DATA_TYPE_INT8 = 8,
    DML_TENSOR_DATA_TYPE_FLOAT64 = 9,
    DML_TENSOR_DATA_TYPE_UINT64 = 10,
    DML_TENSOR_DATA_TYPE_INT64 = 11,
    DML_TENSOR_DATA_TYPE_UINT4 = 12,
    DML_TENSOR_DATA_TYPE_INT4 = 13
} DML_TENSOR_DATA_TYPE;

typedef enum DML_TENSOR_TYPE {
    DML_TENSOR_TYPE_INVALID = 0,
    DML_TENSOR_TYPE_BUFFER = 1
} DML_TENSOR_TYPE;

typedef enum DML_TENSOR_FLAGS {
    DML_TENSOR_FLAG_NONE = 0,
    DML_TENSOR_FLAG_OWNED_BY_DML = 1
} DML_TENSOR_FLAGS;

typedef enum DML_OPERATOR_TYPE {
    DML_OPERATOR_INVALID = 0,
    DML_OPERATOR_REVERSE_SUBSEQUENCES = 106
} DML_OPERATOR_TYPE;

typedef enum DML_BINDING_TYPE {
    DML_BINDING_TYPE_NONE = 0,
    DML_BINDING_TYPE_BUFFER = 1,
    DML_BINDING_TYPE_BUFFER_ARRAY = 2
} DML_BINDING_TYPE;

typedef enum DML_EXECUTION_FLAGS {
    DML_EXECUTION_FLAG_NONE = 0,
    DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION = 1,
    DML_EXECUTION_FLAG_DISABLE_META_COMMANDS = 2,
    DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE = 4
} DML_EXECUTION_FLAGS;

typedef enum DML_CREATE_DEVICE_FLAGS {
    DML_CREATE_DEVICE_FLAG_NONE = 0,
    DML_CREATE_DEVICE_FLAG_DEBUG = 1
} DML_CREATE_DEVICE_FLAGS;

typedef enum DML_FEATURE {
    DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT = 0,
    DML_FEATURE_FEATURE_LEVELS = 1
} DML_FEATURE;

typedef enum DML_FEATURE_LEVEL {
    DML_FEATURE_LEVEL_1_0 = 0x1000,
    DML_FEATURE_LEVEL_2_0 = 0x2000,
    DML_FEATURE_LEVEL_2_1 = 0x2100,
    DML_FEATURE_LEVEL_3_0 = 0x3000,
    DML_FEATURE_LEVEL_3_1 = 0x3100,
    DML_FEATURE_LEVEL_4_0 = 0x4000,
    DML_FEATURE_LEVEL_4_1 = 0x4100,
    DML_FEATURE_LEVEL_5_0 = 0x5000,
    DML_FEATURE_LEVEL_5_1 = 0x5100,
    DML_FEATURE_LEVEL_5_2 = 0x5200,
    DML_FEATURE_LEVEL_6_0 = 0x6000,
    DML_FEATURE_LEVEL_6_1 = 0x6100,
    DML_FEATURE_LEVEL_6_2 = 0x6200,
    DML_FEATURE_LEVEL_6_3 = 0x6300,
    DML_FEATURE_LEVEL_6_4 = 0x6400
} DML_FEATURE_LEVEL;


/**
 * Stands for a command list of Direct3D, of which there are none here.
 */
typedef struct ID3D12CommandList ID3D12CommandList;

/**
 * Stands for a device of Direct3D, of which there are none here.
 */
typedef struct ID3D12Device ID3D12Device;

/**
 * A buffer of the host.
 */
typedef struct ID3D12Resource ID3D12Resource;

/**
 * The buffers of a dispatchable.
 */
typedef struct IDMLBindingTable IDMLBindingTable;

/**
 * Runs dispatchables.
 */
typedef struct IDMLCommandRecorder IDMLCommandRecorder;

/**
 * An operator that can be initialised and dispatched.
 */
typedef struct IDMLCompiledOperator IDMLCompiledOperator;

/**
 * Makes everything else.
 */
typedef struct IDMLDevice IDMLDevice;

/**
 * A compiled operator, or an initializer.
 */
typedef struct IDMLDispatchable IDMLDispatchable;

/**
 * An operator whose descriptors are valid.
 */
typedef struct IDMLOperator IDMLOperator;

/**
 * Initialises compiled operators.
 */
typedef struct IDMLOperatorInitializer IDMLOperatorInitializer;

/**
 * An object that could be evicted from a GPU.
 */
typedef struct IDMLPageable IDMLPageable;

/**
 * An operator descriptor of any type; only DML_OPERATOR_REVERSE_SUBSEQUENCES is implemented.
 */
typedef struct DML_OPERATOR_DESC {
    /**
     * The type.
     */
    DML_OPERATOR_TYPE Type;
    /**
     * A DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC.
     */
    const void *Desc;
} DML_OPERATOR_DESC;

/**
 * What a dispatchable needs to be bound.
 */
typedef struct DML_BINDING_PROPERTIES {
    /**
     * The least SizeInDescriptors of its binding table.
     */
    UINT RequiredDescriptorCount;
    /**
     * Bytes of temporary memory: 0.
     */
    UINT64 TemporaryResourceSize;
    /**
     * Bytes of persistent memory: 0. Tensors that are OWNED_BY_DML are copied by the operator.
     */
    UINT64 PersistentResourceSize;
} DML_BINDING_PROPERTIES;

/**
 * A place in a descriptor heap. It is not used here.
 */
typedef struct D3D12_CPU_DESCRIPTOR_HANDLE {
    /**
     * The address.
     */
    SIZE_T ptr;
} D3D12_CPU_DESCRIPTOR_HANDLE;

/**
 * A place in a descriptor heap. It is not used here.
 */
typedef struct D3D12_GPU_DESCRIPTOR_HANDLE {
    /**
     * The address.
     */
    UINT64 ptr;
} D3D12_GPU_DESCRIPTOR_HANDLE;

/**
 * Describes a binding table.
 */
typedef struct DML_BINDING_TABLE_DESC {
    /**
     * What is bound: a compiled operator, or an initializer.
     */
    struct IDMLDispatchable *Dispatchable;
    /**
     * Not used here.
     */
    struct D3D12_CPU_DESCRIPTOR_HANDLE CPUDescriptorHandle;
    /**
     * Not used here.
     */
    struct D3D12_GPU_DESCRIPTOR_HANDLE GPUDescriptorHandle;
    /**
     * At least RequiredDescriptorCount.
     */
    UINT SizeInDescriptors;
} DML_BINDING_TABLE_DESC;

/**
 * A binding of any type.
 */
typedef struct DML_BINDING_DESC {
    /**
     * The type.
     */
    DML_BINDING_TYPE Type;
    /**
     * A DML_BUFFER_BINDING or a DML_BUFFER_ARRAY_BINDING.
     */
    const void *Desc;
} DML_BINDING_DESC;

/**
 * Describes a tensor in a buffer.
 */
typedef struct DML_BUFFER_TENSOR_DESC {
    /**
     * The element type.
     */
    DML_TENSOR_DATA_TYPE DataType;
    /**
     * NONE, or OWNED_BY_DML for inputs that are bound at initialisation.
     */
    DML_TENSOR_FLAGS Flags;
    /**
     * The number of dimensions.
     */
    UINT DimensionCount;
    /**
     * The size of each dimension in elements.
     */
    const UINT *Sizes;
    /**
     * The stride of each dimension in elements; null for a packed tensor.
     */
    const UINT *Strides;
    /**
     * The least size of a bound range.
     */
    UINT64 TotalTensorSizeInBytes;
    /**
     * 0, or a power of two that divides the offset of every bound range.
     */
    UINT GuaranteedBaseOffsetAlignment;
} DML_BUFFER_TENSOR_DESC;

/**
 * A tensor descriptor of any type; only DML_TENSOR_TYPE_BUFFER exists.
 */
typedef struct DML_TENSOR_DESC {
    /**
     * The type.
     */
    DML_TENSOR_TYPE Type;
    /**
     * A DML_BUFFER_TENSOR_DESC.
     */
    const void *Desc;
} DML_TENSOR_DESC;

/**
 * Reverses the first elements of each lane along an axis, each lane by its own length.
 */
typedef struct DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC {
    /**
     * The tensor to read.
     */
    const struct DML_TENSOR_DESC *InputTensor;
    /**
     * One length per lane: the input's sizes with 1 at the axis.
     */
    const struct DML_TENSOR_DESC *SequenceLengthsTensor;
    /**
     * The tensor to write.
     */
    const struct DML_TENSOR_DESC *OutputTensor;
    /**
     * The dimension to reverse.
     */
    UINT Axis;
} DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC;

/**
 * A range of a buffer.
 */
typedef struct DML_BUFFER_BINDING {
    /**
     * The buffer; null for no binding.
     */
    struct ID3D12Resource *Buffer;
    /**
     * Where the range starts: a multiple of 16, and of GuaranteedBaseOffsetAlignment.
     */
    UINT64 Offset;
    /**
     * Its size.
     */
    UINT64 SizeInBytes;
} DML_BUFFER_BINDING;

/**
 * Several ranges: the inputs of one operator at initialisation.
 */
typedef struct DML_BUFFER_ARRAY_BINDING {
    /**
     * How many.
     */
    UINT BindingCount;
    /**
     * The ranges.
     */
    const struct DML_BUFFER_BINDING *Bindings;
} DML_BUFFER_ARRAY_BINDING;

/**
 * Asks whether a data type is supported.
 */
typedef struct DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
    /**
     * The data type.
     */
    DML_TENSOR_DATA_TYPE DataType;
} DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT;

/**
 * Whether a data type is supported.
 */
typedef struct DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT {
    /**
     * The answer.
     */
    BOOL IsSupported;
} DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT;

/**
 * Asks for the highest of these feature levels.
 */
typedef struct DML_FEATURE_QUERY_FEATURE_LEVELS {
    /**
     * How many.
     */
    UINT RequestedFeatureLevelCount;
    /**
     * The levels.
     */
    const DML_FEATURE_LEVEL *RequestedFeatureLevels;
} DML_FEATURE_QUERY_FEATURE_LEVELS;

/**
 * The highest feature level.
 */
typedef struct DML_FEATURE_DATA_FEATURE_LEVELS {
    /**
     * The answer.
     */
    DML_FEATURE_LEVEL MaxSupportedFeatureLevel;
} DML_FEATURE_DATA_FEATURE_LEVELS;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * `IUnknown::QueryInterface`, of any object.
 *
 * The caller guarantees:
 * `object` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_query_interface(void *object, const GUID *riid, void **ppv);

/**
 * `IUnknown::AddRef`, of any object. Returns the new number of references, for tests.
 *
 * The caller guarantees:
 * `object` is null or valid.
 */
ULONG retrograde_dml_add_ref(void *object);

/**
 * `IUnknown::Release`, of any object. Returns the new number of references, for tests.
 *
 * The caller guarantees:
 * `object` is null or valid, with a reference that the program gives back.
 */
ULONG retrograde_dml_release(void *object);

/**
 * `IDMLObject::SetName`: the name begins messages about the object.
 *
 * The caller guarantees:
 * `object` is null or valid; `name` is null or ends with a zero.
 */
HRESULT retrograde_dml_set_name(void *object, const WCHAR *name);

/**
 * `IDMLObject::GetPrivateData`.
 *
 * The caller guarantees:
 * `object` is null or valid; `guid` is null or an identifier; `size` is null or can be read and
 * written; `data` is null or has `*size` bytes.
 */
HRESULT retrograde_dml_get_private_data(void *object, const GUID *guid, UINT *size, void *data);

/**
 * `IDMLObject::SetPrivateData`. Null data of size 0 removes it.
 *
 * The caller guarantees:
 * `object` is null or valid; `guid` is null or an identifier; `data` is null or has `size` bytes.
 */
HRESULT retrograde_dml_set_private_data(void *object,
                                        const GUID *guid,
                                        UINT size,
                                        const void *data);

/**
 * `IDMLObject::SetPrivateDataInterface`, for objects of this library. Null removes it.
 *
 * The caller guarantees:
 * `object` and `data` are null or valid; `guid` is null or an identifier.
 */
HRESULT retrograde_dml_set_private_data_interface(void *object, const GUID *guid, void *data);

/**
 * `IDMLDeviceChild::GetDevice`, of any object but devices and buffers.
 *
 * The caller guarantees:
 * `child` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_get_device(void *child, const GUID *riid, void **ppv);

/**
 * Makes a buffer of memory that the program owns and keeps until the buffer is released. The
 * address must be a multiple of 16.
 *
 * The caller guarantees:
 * `data` is null or has `size` bytes, until the last release of the buffer; `result` is null or
 * can be written.
 */
HRESULT retrograde_dml_wrap_buffer(void *data, UINT64 size, struct ID3D12Resource **result);

/**
 * Makes a buffer of zeros.
 *
 * The caller guarantees:
 * `result` is null or can be written.
 */
HRESULT retrograde_dml_allocate_buffer(UINT64 size, struct ID3D12Resource **result);

/**
 * `ID3D12Resource::Map`: the address of a buffer's memory.
 *
 * The caller guarantees:
 * `buffer` is null or valid; `data` is null or can be written.
 */
HRESULT retrograde_dml_buffer_data(struct ID3D12Resource *buffer, void **data);

/**
 * The size of a buffer in bytes; 0 if it is not one.
 *
 * The caller guarantees:
 * `buffer` is null or valid.
 */
UINT64 retrograde_dml_buffer_size(struct ID3D12Resource *buffer);

/**
 * The least `TotalTensorSizeInBytes` of a tensor: up to its last element, rounded up to 4 bytes,
 * as `DMLCalcBufferTensorSize` of DirectML's documentation computes it. 0 if the type is not one
 * of DirectML, there are no dimensions or more than 8, a size is 0, or the result does not fit.
 *
 * The caller guarantees:
 * `sizes` and `strides` are null or have `dimension_count` entries; `strides` is null for a packed
 * tensor.
 */
UINT64 retrograde_dml_calc_buffer_tensor_size(DML_TENSOR_DATA_TYPE data_type,
                                              UINT dimension_count,
                                              const UINT *sizes,
                                              const UINT *strides);

/**
 * `DMLCreateDevice1`. `parent` must be null: there is no Direct3D. The device has the rules of the
 * newest feature level, whatever the minimum is.
 *
 * The caller guarantees:
 * `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_device(struct ID3D12Device *parent,
                                     DML_CREATE_DEVICE_FLAGS flags,
                                     DML_FEATURE_LEVEL minimum_feature_level,
                                     const GUID *riid,
                                     void **ppv);

/**
 * A device that has only the rules of one feature level, to test a program for older systems.
 *
 * The caller guarantees:
 * `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_device_at(DML_FEATURE_LEVEL feature_level,
                                        const GUID *riid,
                                        void **ppv);

/**
 * `IDMLDevice::CheckFeatureSupport`.
 *
 * The caller guarantees:
 * `device` is null or valid; the data is null or has as many bytes as stated, and is what the
 * feature requires.
 */
HRESULT retrograde_dml_check_feature_support(struct IDMLDevice *device,
                                             DML_FEATURE feature,
                                             UINT query_size,
                                             const void *query,
                                             UINT support_size,
                                             void *support);

/**
 * `IDMLDevice::CreateOperator`: checks every rule of the device's feature level.
 *
 * The caller guarantees:
 * `device` is null or valid; `desc` and what it leads to is null or as DirectML requires; `riid`
 * is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_operator(struct IDMLDevice *device,
                                       const struct DML_OPERATOR_DESC *desc,
                                       const GUID *riid,
                                       void **ppv);

/**
 * `IDMLDevice::CompileOperator`.
 *
 * The caller guarantees:
 * `device` and `op` are null or valid; `riid` is null or an identifier; `ppv` is null or can
 * be written.
 */
HRESULT retrograde_dml_compile_operator(struct IDMLDevice *device,
                                        struct IDMLOperator *op,
                                        DML_EXECUTION_FLAGS flags,
                                        const GUID *riid,
                                        void **ppv);

/**
 * `IDMLDevice::CreateOperatorInitializer`.
 *
 * The caller guarantees:
 * `device` is null or valid; `operators` is null or has `count` valid operators; `riid` is null or
 * an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_operator_initializer(struct IDMLDevice *device,
                                                   UINT count,
                                                   struct IDMLCompiledOperator *const *operators,
                                                   const GUID *riid,
                                                   void **ppv);

/**
 * `IDMLOperatorInitializer::Reset`.
 *
 * The caller guarantees:
 * `initializer` is null or valid; `operators` is null or has `count` valid operators.
 */
HRESULT retrograde_dml_initializer_reset(struct IDMLOperatorInitializer *initializer,
                                         UINT count,
                                         struct IDMLCompiledOperator *const *operators);

/**
 * `IDMLDispatchable::GetBindingProperties`; zeros if `dispatchable` is not one.
 *
 * The caller guarantees:
 * `dispatchable` is null or valid; `result` is null or can be written.
 */
void retrograde_dml_get_binding_properties(struct IDMLDispatchable *dispatchable,
                                           struct DML_BINDING_PROPERTIES *result);

/**
 * `IDMLDevice::Evict` and `IDMLDevice::MakeResident`: checks the objects, which are in host memory
 * and stay there.
 *
 * The caller guarantees:
 * `device` is null or valid; `objects` is null or has `count` valid objects.
 */
HRESULT retrograde_dml_page(struct IDMLDevice *device,
                            UINT count,
                            struct IDMLPageable *const *objects);

/**
 * `IDMLDevice::GetDeviceRemovedReason`: `S_OK` if it was not removed. A method that returns
 * nothing removes the device if its arguments are invalid.
 *
 * The caller guarantees:
 * `device` is null or valid.
 */
HRESULT retrograde_dml_get_device_removed_reason(struct IDMLDevice *device);

/**
 * `IDMLDevice::GetParentDevice`: there is none.
 *
 * The caller guarantees:
 * `device` is null or valid; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_get_parent_device(struct IDMLDevice *device, const GUID *riid, void **ppv);

/**
 * `IDMLDevice::CreateBindingTable`. `desc` may be null; then the table must be reset before use.
 *
 * The caller guarantees:
 * `device` is null or valid; `desc` is null or a struct whose dispatchable is null or valid;
 * `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_binding_table(struct IDMLDevice *device,
                                            const struct DML_BINDING_TABLE_DESC *desc,
                                            const GUID *riid,
                                            void **ppv);

/**
 * `IDMLBindingTable::Reset`: unbinds everything.
 *
 * The caller guarantees:
 * `table` is null or valid; `desc` as for `retrograde_dml_create_binding_table`.
 */
HRESULT retrograde_dml_binding_table_reset(struct IDMLBindingTable *table,
                                           const struct DML_BINDING_TABLE_DESC *desc);

/**
 * `IDMLBindingTable::BindInputs`: for a compiled operator two buffers, NONE for a tensor that it
 * owns; for an initializer an array of two buffers for each operator. A count of 0 unbinds all.
 *
 * The caller guarantees:
 * `table` is null or valid; `bindings` is null or has `count` bindings, whose structs and arrays
 * are as DirectML requires.
 */
void retrograde_dml_bind_inputs(struct IDMLBindingTable *table,
                                UINT count,
                                const struct DML_BINDING_DESC *bindings);

/**
 * `IDMLBindingTable::BindOutputs`: for a compiled operator one buffer; for an initializer NONE for
 * each operator, since none needs persistent memory. A count of 0 unbinds all.
 *
 * The caller guarantees:
 * As for `retrograde_dml_bind_inputs`.
 */
void retrograde_dml_bind_outputs(struct IDMLBindingTable *table,
                                 UINT count,
                                 const struct DML_BINDING_DESC *bindings);

/**
 * `IDMLBindingTable::BindTemporaryResource` and `BindPersistentResource`: null or NONE, since no
 * operator needs any.
 *
 * The caller guarantees:
 * `table` is null or valid; `binding` is null or a binding as DirectML requires.
 */
void retrograde_dml_bind_no_resource(struct IDMLBindingTable *table,
                                     const struct DML_BINDING_DESC *binding);

/**
 * `IDMLDevice::CreateCommandRecorder`.
 *
 * The caller guarantees:
 * `device` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_command_recorder(struct IDMLDevice *device,
                                               const GUID *riid,
                                               void **ppv);

/**
 * `IDMLCommandRecorder::RecordDispatch`. `command_list` must be null: there is no queue, and the
 * dispatchable has run when this returns. An error removes the device and writes nothing.
 *
 * The caller guarantees:
 * The objects are null or valid; nothing else uses the memory of bound buffers meanwhile.
 */
void retrograde_dml_record_dispatch(struct IDMLCommandRecorder *recorder,
                                    struct ID3D12CommandList *command_list,
                                    struct IDMLDispatchable *dispatchable,
                                    struct IDMLBindingTable *bindings);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RETROGRADE_DIRECTML_H */

/* The identifiers of the interfaces. */
#ifndef _WIN32
static const GUID IID_IUnknown = {0, 0, 0, {0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46}};
#endif
static const GUID IID_IDMLObject =
    {0xc8263aac, 0x9e0c, 0x4a2d, {0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31, 0x7c}};
static const GUID IID_IDMLDevice =
    {0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
static const GUID IID_IDMLDeviceChild =
    {0x27e83142, 0x8165, 0x49e3, {0x97, 0x4e, 0x2f, 0xd6, 0x6e, 0x4c, 0xb6, 0x9d}};
static const GUID IID_IDMLPageable =
    {0xb1ab0825, 0x4542, 0x4a4b, {0x86, 0x17, 0x6d, 0xde, 0x6e, 0x8f, 0x62, 0x01}};
static const GUID IID_IDMLOperator =
    {0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};
static const GUID IID_IDMLDispatchable =
    {0xdcb821a8, 0x1039, 0x441e, {0x9f, 0x1c, 0xb1, 0x75, 0x9c, 0x2f, 0x3c, 0xec}};
static const GUID IID_IDMLCompiledOperator =
    {0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};
static const GUID IID_IDMLOperatorInitializer =
    {0x427c1113, 0x435c, 0x469c, {0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13}};
static const GUID IID_IDMLBindingTable =
    {0x29c687dc, 0xde74, 0x4e3b, {0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc}};
static const GUID IID_IDMLCommandRecorder =
    {0xe6857a76, 0x2e3e, 0x4fdd, {0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53}};
static const GUID IID_ID3D12Resource =
    {0x696442be, 0xa72e, 0x4059, {0xbc, 0x79, 0x5b, 0x5c, 0x98, 0x04, 0x0f, 0xad}};

#ifdef __cplusplus

/*
 * The interfaces of DirectML. A method calls the C function that implements it. There are no
 * virtual functions, so that the classes do not depend on a compiler's layout of them: objects are
 * made by the library only.
 */

struct RetrogradeUnknown {
    HRESULT QueryInterface(REFIID riid, void **ppv) {
        return retrograde_dml_query_interface(this, &riid, ppv);
    }
    ULONG AddRef() { return retrograde_dml_add_ref(this); }
    ULONG Release() { return retrograde_dml_release(this); }

    RetrogradeUnknown() = delete;
    RetrogradeUnknown(const RetrogradeUnknown &) = delete;
    RetrogradeUnknown &operator=(const RetrogradeUnknown &) = delete;
};

#ifndef _WIN32
typedef RetrogradeUnknown IUnknown;
#endif

struct IDMLObject : RetrogradeUnknown {
    HRESULT GetPrivateData(REFGUID guid, UINT *dataSize, void *data) {
        return retrograde_dml_get_private_data(this, &guid, dataSize, data);
    }
    HRESULT SetPrivateData(REFGUID guid, UINT dataSize, const void *data) {
        return retrograde_dml_set_private_data(this, &guid, dataSize, data);
    }
    HRESULT SetPrivateDataInterface(REFGUID guid, RetrogradeUnknown *data) {
        return retrograde_dml_set_private_data_interface(this, &guid, data);
    }
    HRESULT SetName(PCWSTR name) { return retrograde_dml_set_name(this, name); }
};

struct IDMLDeviceChild : IDMLObject {
    HRESULT GetDevice(REFIID riid, void **ppv) {
        return retrograde_dml_get_device(this, &riid, ppv);
    }
};

struct IDMLPageable : IDMLDeviceChild {};

struct IDMLOperator : IDMLDeviceChild {};

struct IDMLDispatchable : IDMLPageable {
    DML_BINDING_PROPERTIES GetBindingProperties() {
        DML_BINDING_PROPERTIES properties;
        retrograde_dml_get_binding_properties(this, &properties);
        return properties;
    }
};

struct IDMLCompiledOperator : IDMLDispatchable {};

struct IDMLOperatorInitializer : IDMLDispatchable {
    HRESULT Reset(UINT operatorCount, IDMLCompiledOperator *const *operators) {
        return retrograde_dml_initializer_reset(this, operatorCount, operators);
    }
};

struct IDMLBindingTable : IDMLDeviceChild {
    void BindInputs(UINT bindingCount, const DML_BINDING_DESC *bindings) {
        retrograde_dml_bind_inputs(this, bindingCount, bindings);
    }
    void BindOutputs(UINT bindingCount, const DML_BINDING_DESC *bindings) {
        retrograde_dml_bind_outputs(this, bindingCount, bindings);
    }
    void BindTemporaryResource(const DML_BINDING_DESC *binding) {
        retrograde_dml_bind_no_resource(this, binding);
    }
    void BindPersistentResource(const DML_BINDING_DESC *binding) {
        retrograde_dml_bind_no_resource(this, binding);
    }
    HRESULT Reset(const DML_BINDING_TABLE_DESC *desc) {
        return retrograde_dml_binding_table_reset(this, desc);
    }
};

struct IDMLCommandRecorder : IDMLDeviceChild {
    void RecordDispatch(ID3D12CommandList *commandList, IDMLDispatchable *dispatchable,
                        IDMLBindingTable *bindings) {
        retrograde_dml_record_dispatch(this, commandList, dispatchable, bindings);
    }
};

struct IDMLDevice : IDMLObject {
    HRESULT CheckFeatureSupport(DML_FEATURE feature, UINT featureQueryDataSize,
                                const void *featureQueryData, UINT featureSupportDataSize,
                                void *featureSupportData) {
        return retrograde_dml_check_feature_support(this, feature, featureQueryDataSize,
                                                    featureQueryData, featureSupportDataSize,
                                                    featureSupportData);
    }
    HRESULT CreateOperator(const DML_OPERATOR_DESC *desc, REFIID riid, void **ppv) {
        return retrograde_dml_create_operator(this, desc, &riid, ppv);
    }
    HRESULT CompileOperator(IDMLOperator *op, DML_EXECUTION_FLAGS flags, REFIID riid, void **ppv) {
        return retrograde_dml_compile_operator(this, op, flags, &riid, ppv);
    }
    HRESULT CreateOperatorInitializer(UINT operatorCount, IDMLCompiledOperator *const *operators,
                                      REFIID riid, void **ppv) {
        return retrograde_dml_create_operator_initializer(this, operatorCount, operators, &riid,
                                                          ppv);
    }
    HRESULT CreateCommandRecorder(REFIID riid, void **ppv) {
        return retrograde_dml_create_command_recorder(this, &riid, ppv);
    }
    HRESULT CreateBindingTable(const DML_BINDING_TABLE_DESC *desc, REFIID riid, void **ppv) {
        return retrograde_dml_create_binding_table(this, desc, &riid, ppv);
    }
    HRESULT Evict(UINT count, IDMLPageable *const *ppObjects) {
        return retrograde_dml_page(this, count, ppObjects);
    }
    HRESULT MakeResident(UINT count, IDMLPageable *const *ppObjects) {
        return retrograde_dml_page(this, count, ppObjects);
    }
    HRESULT GetDeviceRemovedReason() { return retrograde_dml_get_device_removed_reason(this); }
    HRESULT GetParentDevice(REFIID riid, void **ppv) {
        return retrograde_dml_get_parent_device(this, &riid, ppv);
    }
};

/* A buffer of the host. RetrogradeWrapBuffer and RetrogradeAllocateBuffer make them. */
struct ID3D12Resource : RetrogradeUnknown {
    HRESULT Map(UINT, const void *, void **data) { return retrograde_dml_buffer_data(this, data); }
    void Unmap(UINT, const void *) {}
    UINT64 RetrogradeSize() { return retrograde_dml_buffer_size(this); }
};

inline HRESULT RetrogradeWrapBuffer(void *data, UINT64 sizeInBytes, ID3D12Resource **buffer) {
    return retrograde_dml_wrap_buffer(data, sizeInBytes, buffer);
}

inline HRESULT RetrogradeAllocateBuffer(UINT64 sizeInBytes, ID3D12Resource **buffer) {
    return retrograde_dml_allocate_buffer(sizeInBytes, buffer);
}

/* What samples define as DMLCalcBufferTensorSize. */
inline UINT64 RetrogradeCalcBufferTensorSize(DML_TENSOR_DATA_TYPE dataType, UINT dimensionCount,
                                             const UINT *sizes, const UINT *strides) {
    return retrograde_dml_calc_buffer_tensor_size(dataType, dimensionCount, sizes, strides);
}

/* The message of the latest error on this thread. */
inline const char *RetrogradeLastError() { return retrograde_last_error(); }

inline HRESULT DMLCreateDevice1(ID3D12Device *d3d12Device, DML_CREATE_DEVICE_FLAGS flags,
                                DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid, void **ppv) {
    return retrograde_dml_create_device(d3d12Device, flags, minimumFeatureLevel, &riid, ppv);
}

inline HRESULT DMLCreateDevice(ID3D12Device *d3d12Device, DML_CREATE_DEVICE_FLAGS flags,
                               REFIID riid, void **ppv) {
    return DMLCreateDevice1(d3d12Device, flags, DML_FEATURE_LEVEL_1_0, riid, ppv);
}

/* A device with the rules of this feature level only. */
inline HRESULT RetrogradeCreateDeviceAt(DML_FEATURE_LEVEL featureLevel, REFIID riid, void **ppv) {
    return retrograde_dml_create_device_at(featureLevel, &riid, ppv);
}

inline DML_TENSOR_FLAGS operator|(DML_TENSOR_FLAGS a, DML_TENSOR_FLAGS b) {
    return static_cast<DML_TENSOR_FLAGS>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
inline DML_EXECUTION_FLAGS operator|(DML_EXECUTION_FLAGS a, DML_EXECUTION_FLAGS b) {
    return static_cast<DML_EXECUTION_FLAGS>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
inline DML_CREATE_DEVICE_FLAGS operator|(DML_CREATE_DEVICE_FLAGS a, DML_CREATE_DEVICE_FLAGS b) {
    const unsigned both = static_cast<unsigned>(a) | static_cast<unsigned>(b);
    return static_cast<DML_CREATE_DEVICE_FLAGS>(both);
}

/* The identifier of a pointer's interface, for IID_PPV_ARGS. */
inline const GUID &RetrogradeUuidOf(IDMLObject **) { return IID_IDMLObject; }
inline const GUID &RetrogradeUuidOf(IDMLDevice **) { return IID_IDMLDevice; }
inline const GUID &RetrogradeUuidOf(IDMLDeviceChild **) { return IID_IDMLDeviceChild; }
inline const GUID &RetrogradeUuidOf(IDMLPageable **) { return IID_IDMLPageable; }
inline const GUID &RetrogradeUuidOf(IDMLOperator **) { return IID_IDMLOperator; }
inline const GUID &RetrogradeUuidOf(IDMLDispatchable **) { return IID_IDMLDispatchable; }
inline const GUID &RetrogradeUuidOf(IDMLCompiledOperator **) { return IID_IDMLCompiledOperator; }
inline const GUID &RetrogradeUuidOf(IDMLOperatorInitializer **) {
    return IID_IDMLOperatorInitializer;
}
inline const GUID &RetrogradeUuidOf(IDMLBindingTable **) { return IID_IDMLBindingTable; }
inline const GUID &RetrogradeUuidOf(IDMLCommandRecorder **) { return IID_IDMLCommandRecorder; }
inline const GUID &RetrogradeUuidOf(ID3D12Resource **) { return IID_ID3D12Resource; }

#undef IID_PPV_ARGS
#define IID_PPV_ARGS(ppType) RetrogradeUuidOf(ppType), reinterpret_cast<void **>(ppType)

#endif /* __cplusplus */
