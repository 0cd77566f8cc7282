// Calls of the engine on PyTorch's tensors.

#pragma once

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "engine.h"

namespace retrograde {

/// An operator with its attributes.
struct Operation {
    retrograde_kind kind;
    /// Reverse: the axes to reverse. Others: time and batch, or their one axis.
    at::IntArrayRef axes;
    retrograde_policy policy = RETROGRADE_STRICT;
    retrograde_align align = RETROGRADE_ALIGN_START;
    retrograde_tail tail = RETROGRADE_TAIL_KEEP;

    /// The same with these words; others are a ValueError.
    Operation with(std::string_view policy, std::string_view align, std::string_view tail) const;
};

/// The name of an operator in errors.
const char* name_of(retrograde_kind kind);

/// Moves the elements of `x` to `out`, on the device of `x`. `counts` are its lengths or offsets;
/// undefined for Reverse. `fresh`: the output is uninitialised. An error leaves other outputs as they are.
void move(const Operation& operation, const at::Tensor& x, const at::Tensor& counts, const at::Tensor& out, bool fresh);

/// Whether a tensor has names of dimensions, which newer versions of PyTorch do not know.
template <typename T>
bool has_names(const T& x) {
    if constexpr (requires { x.has_names(); }) {
        return x.has_names();
    }
    return false;
}

/// An uninitialised output like `x`: with strides as `torch.empty_like` chooses them, or contiguous.
at::Tensor new_output(const at::Tensor& x, bool in_rows);

} // namespace retrograde
