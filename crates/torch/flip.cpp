// `torch.flip` on the engine, while it is installed: a kernel for `aten::flip` on the CPU and on CUDA, under
// PyTorch's own gradients, transforms and compilers. fliplr, flipud, rot90 and torchvision's flips end there.
// What the engine does not take goes to PyTorch's kernel.

#include <mutex>
#include <optional>

#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/flip_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "call.h"

namespace retrograde {
namespace {

using at::Tensor;

/// On CUDA and on the CPU, tensors of other layouts and lazy ones have kernels of their own, and come here only
/// in calls of other kernels.
bool is_plain(const Tensor& x) {
    return x.layout() == at::kStrided && !x.is_quantized() && !x.is_conj() && !x.is_neg() && !x._is_zerotensor() &&
           !x.is_nested() && x.has_storage() && !has_names(x);
}

Tensor theirs(const Tensor& x, at::IntArrayRef axes) {
    const c10::OptionalDeviceGuard guard(x.device());
    return at::native::flip(x, axes);
}

Tensor flip(const Tensor& x, at::IntArrayRef axes) {
    // Checks the axes, with PyTorch's errors.
    at::dim_list_to_bitset(axes, x.dim());
    if (x.numel() == 0 || !is_plain(x)) {
        return theirs(x, axes);
    }
    auto out = new_output(x, false);
    move({RETROGRADE_REVERSE, axes}, x, Tensor(), out, true);
    return out;
}

std::mutex lock;
std::optional<torch::Library> cpu, cuda;

/// Swallows PyTorch's warning that a kernel is replaced.
struct Quiet : c10::WarningHandler {
    void process(const c10::Warning&) override {}
};

} // namespace
} // namespace retrograde

/// Replaces PyTorch's kernels, or restores them.
extern "C" __attribute__((visibility("default"))) void retrograde_torch_install(int install) {
    using namespace retrograde;
    const std::lock_guard<std::mutex> guard(lock);
    if (install == 0) {
        cpu.reset();
        cuda.reset();
    } else if (!cpu) {
        Quiet quiet;
        const c10::WarningUtils::WarningHandlerGuard warnings(&quiet);
        cpu.emplace(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
        cpu->impl("flip", &flip);
        cuda.emplace(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
        cuda->impl("flip", &flip);
    }
}
