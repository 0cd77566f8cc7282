/* DirectML's interface of ReverseSubsequences on host memory, on any operating system, in
   the place of DirectML.h. The documentation is docs/c.md. */
/* Generated from the sources of crates/c by its tests. Do not edit. */

#ifndef RETROGRADE_DIRECTML_H
#define RETROGRADE_DIRECTML_H

#include "retrograde.h"
#include "retrograde_directml_types.h"

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
    IDMLDispatchable *Dispatchable;
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
    ID3D12Resource *Buffer;
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
HRESULT retrograde_dml_wrap_buffer(void *data, UINT64 size, ID3D12Resource **result);

/**
 * Makes a buffer of zeros.
 *
 * The caller guarantees:
 * `result` is null or can be written.
 */
HRESULT retrograde_dml_allocate_buffer(UINT64 size, ID3D12Resource **result);

/**
 * `ID3D12Resource::Map`: the address of a buffer's memory.
 *
 * The caller guarantees:
 * `buffer` is null or valid; `data` is null or can be written.
 */
HRESULT retrograde_dml_buffer_data(ID3D12Resource *buffer, void **data);

/**
 * The size of a buffer in bytes; 0 if it is not one.
 *
 * The caller guarantees:
 * `buffer` is null or valid.
 */
UINT64 retrograde_dml_buffer_size(ID3D12Resource *buffer);

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
HRESULT retrograde_dml_create_device(ID3D12Device *parent,
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
HRESULT retrograde_dml_check_feature_support(IDMLDevice *device,
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
HRESULT retrograde_dml_create_operator(IDMLDevice *device,
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
HRESULT retrograde_dml_compile_operator(IDMLDevice *device,
                                        IDMLOperator *op,
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
HRESULT retrograde_dml_create_operator_initializer(IDMLDevice *device,
                                                   UINT count,
                                                   IDMLCompiledOperator *const *operators,
                                                   const GUID *riid,
                                                   void **ppv);

/**
 * `IDMLOperatorInitializer::Reset`.
 *
 * The caller guarantees:
 * `initializer` is null or valid; `operators` is null or has `count` valid operators.
 */
HRESULT retrograde_dml_initializer_reset(IDMLOperatorInitializer *initializer,
                                         UINT count,
                                         IDMLCompiledOperator *const *operators);

/**
 * `IDMLDispatchable::GetBindingProperties`; zeros if `dispatchable` is not one.
 *
 * The caller guarantees:
 * `dispatchable` is null or valid; `result` is null or can be written.
 */
void retrograde_dml_get_binding_properties(IDMLDispatchable *dispatchable,
                                           struct DML_BINDING_PROPERTIES *result);

/**
 * `IDMLDevice::Evict` and `IDMLDevice::MakeResident`: checks the objects, which are in host memory
 * and stay there.
 *
 * The caller guarantees:
 * `device` is null or valid; `objects` is null or has `count` valid objects.
 */
HRESULT retrograde_dml_page(IDMLDevice *device, UINT count, IDMLPageable *const *objects);

/**
 * `IDMLDevice::GetDeviceRemovedReason`: `S_OK` if it was not removed. A method that returns
 * nothing removes the device if its arguments are invalid.
 *
 * The caller guarantees:
 * `device` is null or valid.
 */
HRESULT retrograde_dml_get_device_removed_reason(IDMLDevice *device);

/**
 * `IDMLDevice::GetParentDevice`: there is none.
 *
 * The caller guarantees:
 * `device` is null or valid; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_get_parent_device(IDMLDevice *device, const GUID *riid, void **ppv);

/**
 * `IDMLDevice::CreateBindingTable`. `desc` may be null; then the table must be reset before use.
 *
 * The caller guarantees:
 * `device` is null or valid; `desc` is null or a struct whose dispatchable is null or valid;
 * `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_binding_table(IDMLDevice *device,
                                            const struct DML_BINDING_TABLE_DESC *desc,
                                            const GUID *riid,
                                            void **ppv);

/**
 * `IDMLBindingTable::Reset`: unbinds everything.
 *
 * The caller guarantees:
 * `table` is null or valid; `desc` as for `retrograde_dml_create_binding_table`.
 */
HRESULT retrograde_dml_binding_table_reset(IDMLBindingTable *table,
                                           const struct DML_BINDING_TABLE_DESC *desc);

/**
 * `IDMLBindingTable::BindInputs`: for a compiled operator two buffers, NONE for a tensor that it
 * owns; for an initializer an array of two buffers for each operator. A count of 0 unbinds all.
 *
 * The caller guarantees:
 * `table` is null or valid; `bindings` is null or has `count` bindings, whose structs and arrays
 * are as DirectML requires.
 */
void retrograde_dml_bind_inputs(IDMLBindingTable *table,
                                UINT count,
                                const struct DML_BINDING_DESC *bindings);

/**
 * `IDMLBindingTable::BindOutputs`: for a compiled operator one buffer; for an initializer NONE for
 * each operator, since none needs persistent memory. A count of 0 unbinds all.
 *
 * The caller guarantees:
 * As for `retrograde_dml_bind_inputs`.
 */
void retrograde_dml_bind_outputs(IDMLBindingTable *table,
                                 UINT count,
                                 const struct DML_BINDING_DESC *bindings);

/**
 * `IDMLBindingTable::BindTemporaryResource` and `BindPersistentResource`: null or NONE, since no
 * operator needs any.
 *
 * The caller guarantees:
 * `table` is null or valid; `binding` is null or a binding as DirectML requires.
 */
void retrograde_dml_bind_no_resource(IDMLBindingTable *table,
                                     const struct DML_BINDING_DESC *binding);

/**
 * `IDMLDevice::CreateCommandRecorder`.
 *
 * The caller guarantees:
 * `device` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
 */
HRESULT retrograde_dml_create_command_recorder(IDMLDevice *device, const GUID *riid, void **ppv);

/**
 * `IDMLCommandRecorder::RecordDispatch`. `command_list` must be null: there is no queue, and the
 * dispatchable has run when this returns. An error removes the device and writes nothing.
 *
 * The caller guarantees:
 * The objects are null or valid; nothing else uses the memory of bound buffers meanwhile.
 */
void retrograde_dml_record_dispatch(IDMLCommandRecorder *recorder,
                                    ID3D12CommandList *command_list,
                                    IDMLDispatchable *dispatchable,
                                    IDMLBindingTable *bindings);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RETROGRADE_DIRECTML_H */

#include "retrograde_directml_classes.h"
