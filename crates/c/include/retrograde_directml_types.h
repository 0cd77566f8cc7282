/* The types, constants and enums of DirectML that retrograde_directml.h needs. It includes this file. */

#ifndef RETROGRADE_DIRECTML_TYPES_H
#define RETROGRADE_DIRECTML_TYPES_H

#include <stddef.h>
#include <stdint.h>

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

/* Objects. */
/* Stands for a device of Direct3D, of which there are none here. */
typedef struct ID3D12Device ID3D12Device;
/* Stands for a command list of Direct3D, of which there are none here. */
typedef struct ID3D12CommandList ID3D12CommandList;
/* A buffer of the host. */
typedef struct ID3D12Resource ID3D12Resource;
/* Makes everything else. */
typedef struct IDMLDevice IDMLDevice;
/* An object that belongs to a device. */
typedef struct IDMLDeviceChild IDMLDeviceChild;
/* An object that could be evicted from a GPU. */
typedef struct IDMLPageable IDMLPageable;
/* An operator whose descriptors are valid. */
typedef struct IDMLOperator IDMLOperator;
/* A compiled operator, or an initializer. */
typedef struct IDMLDispatchable IDMLDispatchable;
/* An operator that can be initialised and dispatched. */
typedef struct IDMLCompiledOperator IDMLCompiledOperator;
/* Initialises compiled operators. */
typedef struct IDMLOperatorInitializer IDMLOperatorInitializer;
/* The buffers of a dispatchable. */
typedef struct IDMLBindingTable IDMLBindingTable;
/* Runs dispatchables. */
typedef struct IDMLCommandRecorder IDMLCommandRecorder;

#endif /* RETROGRADE_DIRECTML_TYPES_H */
