/* DirectML's identifiers and, for C++, its classes. retrograde_directml.h includes this file. */

#ifndef RETROGRADE_DIRECTML_CLASSES_H
#define RETROGRADE_DIRECTML_CLASSES_H

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

#endif /* RETROGRADE_DIRECTML_CLASSES_H */
