// The engine as this library calls it: through its C interface. A process with Python has an engine
// already, in the Python package, which lends its functions when the library is loaded; so threads, kept
// memory and the reports of CUDA streams are the same for arrays and tensors. For programs without Python
// the engine is linked into the library (RETROGRADE_LINKED).

#pragma once

#include <cstddef>

#include <retrograde.h>

// Functions of retrograde.h.
#define RETROGRADE_TORCH_FUNCTIONS(each)     \
    each(retrograde_abi_version)             \
    each(retrograde_last_error)              \
    each(retrograde_tensor_bytes)            \
    each(retrograde_operator_create)         \
    each(retrograde_operator_destroy)        \
    each(retrograde_operator_set_axes)       \
    each(retrograde_operator_set_axis)       \
    each(retrograde_operator_set_time_axis)  \
    each(retrograde_operator_set_batch_axis) \
    each(retrograde_operator_set_policy)     \
    each(retrograde_operator_set_align)      \
    each(retrograde_operator_set_tail)       \
    each(retrograde_prepare)                 \
    each(retrograde_call_destroy)            \
    each(retrograde_run)                     \
    each(retrograde_run_cuda)                \
    each(retrograde_run_cuda_new)            \
    each(retrograde_cuda_earlier)

namespace retrograde {

struct Engine {
#ifdef RETROGRADE_LINKED
#define RETROGRADE_TORCH_FIELD(name) decltype(&::name) name = &::name;
#else
#define RETROGRADE_TORCH_FIELD(name) decltype(&::name) name = nullptr;
#endif
    RETROGRADE_TORCH_FUNCTIONS(RETROGRADE_TORCH_FIELD)
#undef RETROGRADE_TORCH_FIELD

    /// Memory for a large output, which is kept for the next one when it is given back. Only Python's
    /// engine lends these.
    void* (*take_memory)(size_t bytes, void** owner) = nullptr;
    void (*give_memory)(void* owner) = nullptr;
};

extern Engine engine;

} // namespace retrograde
