// Registers the operators with PyTorch: schemas, kernels for the CPU and CUDA, and shapes for meta tensors.
// `scripts/build torch` compiles this folder against the headers of an installed PyTorch, and docs/torch.md
// says what the result does. Python's operators (`_torch_operators.py`) have the same schemas.

#include <optional>
#include <string>

#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "operators.h"

namespace retrograde {
namespace {

using at::Tensor;

template <typename Operator, typename Arguments = typename Operator::Arguments>
struct Kernels;

template <typename Operator, typename... Arguments>
struct Kernels<Operator, Types<Arguments...>> {
    static Tensor make(const Tensor& x, Arguments... arguments) {
        auto out = new_output(x, Operator::IN_ROWS);
        Operator::run(x, arguments..., out, true);
        return out;
    }

    static void in_place(const Tensor& x, Arguments... arguments) {
        Operator::run(x, arguments..., x, false);
    }

    static void write(const Tensor& x, Arguments... arguments, const Tensor& out) {
        Operator::run(x, arguments..., out, false);
    }

    static Tensor make_meta(const Tensor& x, Arguments...) {
        return at::empty_like(x, x.options(), Operator::IN_ROWS ? at::MemoryFormat::Contiguous : at::MemoryFormat::Preserve);
    }

    static void in_place_meta(const Tensor&, Arguments...) {}

    static void write_meta(const Tensor&, Arguments..., const Tensor&) {}
};

void define(torch::Library& library, const std::string& name, const std::string& parameters, const std::string& padding) {
    // Calls without them are still valid, except of the variant with an output: a schema cannot have a
    // default before `out`.
    const auto defaults = padding.empty() ? "" : ", str align=\"start\", str tail=\"keep\"";
    const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
    library.def((name + "(Tensor x, " + parameters + defaults + ") -> Tensor").c_str(), tags);
    library.def((name + "_(Tensor(a!) x, " + parameters + defaults + ") -> ()").c_str(), tags);
    library.def((name + "_out(Tensor x, " + parameters + padding + ", Tensor(a!) out) -> ()").c_str(), tags);
}

void implement(torch::Library& library) {
    each_operator([&](auto op) {
        using Op = Kernels<decltype(op)>;
        const std::string name = op.NAME;
        library.impl(name.c_str(), &Op::make);
        library.impl((name + "_").c_str(), &Op::in_place);
        library.impl((name + "_out").c_str(), &Op::write);
    });
}

/// Shapes of new tensors, for programs without Python. Python has functions for these, which know symbolic sizes
/// too, and PyTorch takes only one.
std::optional<torch::Library>& meta() {
    static std::optional<torch::Library> library;
    return library;
}

void implement_meta() {
    meta().emplace(torch::Library::IMPL, "retrograde", c10::DispatchKey::Meta, __FILE__, __LINE__);
    each_operator([&](auto op) { meta()->impl(op.NAME, &Kernels<decltype(op)>::make_meta); });
}

} // namespace

TORCH_LIBRARY(retrograde, library) {
    const std::string padding = ", str align, str tail";
    define(library, "reverse", "int[] axes", "");
    define(library, "flip", "int[] axes", "");
    define(library, "reverse_sequence", "Tensor lengths, int time_axis, int batch_axis, str policy", padding);
    define(library, "reverse_subsequences", "Tensor lengths, int axis, str policy", padding);
    define(library, "reverse_segments", "Tensor offsets, int axis", "");
    implement_meta();
}

TORCH_LIBRARY_IMPL(retrograde, CPU, library) {
    implement(library);
}

TORCH_LIBRARY_IMPL(retrograde, CUDA, library) {
    implement(library);
}

TORCH_LIBRARY_IMPL(retrograde, Meta, library) {
    each_operator([&](auto op) {
        using Op = Kernels<decltype(op)>;
        const std::string name = op.NAME;
        library.impl((name + "_").c_str(), &Op::in_place_meta);
        library.impl((name + "_out").c_str(), &Op::write_meta);
    });
}

} // namespace retrograde

/// Leaves the shapes of new tensors to Python.
extern "C" __attribute__((visibility("default"))) void retrograde_torch_leave_meta() {
    retrograde::meta().reset();
}
