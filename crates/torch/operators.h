// The operators: their names, arguments and kernels. Each has a variant that returns a new tensor, one that
// works in place, and one that writes to a given tensor.

#pragma once

#include <string_view>

#include "call.h"

namespace retrograde {

/// The types of an operator's arguments between the input and the output.
template <typename... Arguments>
struct Types {};

struct Reverse {
    using Arguments = Types<at::IntArrayRef>;
    static constexpr const char *NAME = "reverse", *TITLE = "ReverseBackward";
    static constexpr bool IN_ROWS = false;

    static void run(const at::Tensor& x, at::IntArrayRef axes, const at::Tensor& out, bool fresh) {
        move({RETROGRADE_REVERSE, axes}, x, at::Tensor(), out, fresh);
    }
};

/// The same into a contiguous output, for NumPy's functions.
struct Flip : Reverse {
    static constexpr const char *NAME = "flip", *TITLE = "FlipBackward";
    static constexpr bool IN_ROWS = true;
};

struct ReverseSequence {
    using Arguments =
        Types<const at::Tensor&, int64_t, int64_t, std::string_view, std::string_view, std::string_view>;
    static constexpr const char *NAME = "reverse_sequence", *TITLE = "ReverseSequenceBackward";
    static constexpr bool IN_ROWS = false;

    static void run(const at::Tensor& x, const at::Tensor& lengths, int64_t time_axis, int64_t batch_axis,
                    std::string_view policy, std::string_view align, std::string_view tail, const at::Tensor& out,
                    bool fresh) {
        const int64_t axes[] = {time_axis, batch_axis};
        move(Operation{RETROGRADE_REVERSE_SEQUENCE, axes}.with(policy, align, tail), x, lengths, out, fresh);
    }
};

struct ReverseSubsequences {
    using Arguments = Types<const at::Tensor&, int64_t, std::string_view, std::string_view, std::string_view>;
    static constexpr const char *NAME = "reverse_subsequences", *TITLE = "ReverseSubsequencesBackward";
    static constexpr bool IN_ROWS = false;

    static void run(const at::Tensor& x, const at::Tensor& lengths, int64_t axis, std::string_view policy,
                    std::string_view align, std::string_view tail, const at::Tensor& out, bool fresh) {
        move(Operation{RETROGRADE_REVERSE_SUBSEQUENCES, axis}.with(policy, align, tail), x, lengths, out, fresh);
    }
};

struct ReverseSegments {
    using Arguments = Types<const at::Tensor&, int64_t>;
    static constexpr const char *NAME = "reverse_segments", *TITLE = "ReverseSegmentsBackward";
    static constexpr bool IN_ROWS = false;

    static void run(const at::Tensor& x, const at::Tensor& offsets, int64_t axis, const at::Tensor& out, bool fresh) {
        move({RETROGRADE_REVERSE_SEGMENTS, axis}, x, offsets, out, fresh);
    }
};

/// Calls a function object with every operator.
template <typename Each>
void each_operator(Each each) {
    each(Reverse());
    each(Flip());
    each(ReverseSequence());
    each(ReverseSubsequences());
    each(ReverseSegments());
}

} // namespace retrograde
