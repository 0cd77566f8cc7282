// DirectML's ReverseSubsequences on host memory. Only the include and the buffers differ from a
// program for DirectML.h: there is no device, command list or queue of Direct3D.
#include <retrograde_directml.h>

#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        const HRESULT hr = (call);                                                        \
        if (FAILED(hr)) {                                                                 \
            std::fprintf(stderr, "%#x: %s\n", static_cast<unsigned>(hr), RetrogradeLastError()); \
            return 1;                                                                     \
        }                                                                                 \
    } while (0)

int main() {
    IDMLDevice *device = nullptr;
    CHECK(DMLCreateDevice1(nullptr, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_2_1,
                           IID_PPV_ARGS(&device)));

    // The second example of DirectML's documentation.
    const UINT sizes[] = {1, 1, 3, 4}, lengthsSizes[] = {1, 1, 1, 4};
    DML_BUFFER_TENSOR_DESC data = {};
    data.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
    data.Flags = DML_TENSOR_FLAG_NONE;
    data.DimensionCount = 4;
    data.Sizes = sizes;
    data.TotalTensorSizeInBytes =
        RetrogradeCalcBufferTensorSize(data.DataType, 4, sizes, nullptr);
    DML_BUFFER_TENSOR_DESC counts = data;
    counts.DataType = DML_TENSOR_DATA_TYPE_UINT32;
    counts.Sizes = lengthsSizes;
    counts.TotalTensorSizeInBytes =
        RetrogradeCalcBufferTensorSize(counts.DataType, 4, lengthsSizes, nullptr);
    const DML_TENSOR_DESC dataDesc = {DML_TENSOR_TYPE_BUFFER, &data};
    const DML_TENSOR_DESC countsDesc = {DML_TENSOR_TYPE_BUFFER, &counts};
    DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC reverse = {};
    reverse.InputTensor = &dataDesc;
    reverse.SequenceLengthsTensor = &countsDesc;
    reverse.OutputTensor = &dataDesc;
    reverse.Axis = 2;
    const DML_OPERATOR_DESC desc = {DML_OPERATOR_REVERSE_SUBSEQUENCES, &reverse};

    IDMLOperator *op = nullptr;
    CHECK(device->CreateOperator(&desc, IID_PPV_ARGS(&op)));
    IDMLCompiledOperator *compiled = nullptr;
    CHECK(device->CompileOperator(op, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
    IDMLOperatorInitializer *initializer = nullptr;
    CHECK(device->CreateOperatorInitializer(1, &compiled, IID_PPV_ARGS(&initializer)));
    IDMLCommandRecorder *recorder = nullptr;
    CHECK(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));

    // Initialise.
    DML_BINDING_TABLE_DESC tableDesc = {};
    tableDesc.Dispatchable = initializer;
    tableDesc.SizeInDescriptors = initializer->GetBindingProperties().RequiredDescriptorCount;
    IDMLBindingTable *table = nullptr;
    CHECK(device->CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table)));
    recorder->RecordDispatch(nullptr, initializer, table);

    // Bind and dispatch. All tensors are in one buffer of memory.
    ID3D12Resource *buffer = nullptr;
    CHECK(RetrogradeAllocateBuffer(48 + 16 + 48, &buffer));
    void *memory = nullptr;
    CHECK(buffer->Map(0, nullptr, &memory));
    const UINT lengths[] = {2, 3, 1, 0};
    for (int i = 0; i < 12; i++) static_cast<float *>(memory)[i] = static_cast<float>(i + 1);
    std::memcpy(static_cast<char *>(memory) + 48, lengths, sizeof lengths);

    tableDesc.Dispatchable = compiled;
    tableDesc.SizeInDescriptors = compiled->GetBindingProperties().RequiredDescriptorCount;
    CHECK(table->Reset(&tableDesc));
    const DML_BUFFER_BINDING inputRange = {buffer, 0, 48}, lengthsRange = {buffer, 48, 16},
                             outputRange = {buffer, 64, 48};
    const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &inputRange},
                                       {DML_BINDING_TYPE_BUFFER, &lengthsRange}};
    const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &outputRange}};
    table->BindInputs(2, inputs);
    table->BindOutputs(1, outputs);
    recorder->RecordDispatch(nullptr, compiled, table);
    CHECK(device->GetDeviceRemovedReason());

    const float *result = reinterpret_cast<const float *>(static_cast<char *>(memory) + 64);
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 4; i++) std::printf("%3g", result[4 * row + i]);
        std::printf("\n");
    }
    buffer->Unmap(0, nullptr);
    buffer->Release();
    table->Release();
    recorder->Release();
    initializer->Release();
    compiled->Release();
    op->Release();
    device->Release();
    return 0;
}
