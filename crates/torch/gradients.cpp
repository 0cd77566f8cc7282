// Gradients: a reversal is linear and its own transpose, so its gradient is the same reversal of the gradient.
//
// The kernels are written as PyTorch writes those of its own operators, on nodes of its graph, and not with
// `torch::autograd::Function`, which takes twice as long and refuses torch.func and forward mode.

#include <array>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
#include <torch/library.h>

#include "operators.h"

namespace retrograde {
namespace {

using at::Tensor;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

/// A shared node, whose type depends on the version of PyTorch.
using NodePointer = decltype(torch::autograd::Edge::function);

template <typename T>
auto new_node() {
    if constexpr (std::is_same_v<NodePointer, std::shared_ptr<Node>>) {
        // A function of PyTorch's namespace that keeps long graphs from overflowing the stack.
        return std::shared_ptr<T>(new T(), [](T* node) { deleteNode(node); });
    } else {
        return c10::make_intrusive<T>();
    }
}

/// Newer versions let a program see every node.
template <typename Pointer>
void tell_hooks(const Pointer& node) {
    if constexpr (requires { fire_node_creation_hooks(node); }) {
        fire_node_creation_hooks(node);
    }
}

/// Called with a tensor of a class of Python's before its operator runs; see `retrograde_torch_on_subclass`.
void (*on_subclass)() = nullptr;

// How a node keeps an argument.

template <typename Argument>
struct Kept {
    using Type = Argument;
    static Argument keep(Argument argument) {
        return argument;
    }
    static Argument get(const Type& kept) {
        return kept;
    }
};

template <>
struct Kept<at::IntArrayRef> {
    using Type = std::vector<int64_t>;
    static Type keep(at::IntArrayRef argument) {
        return argument.vec();
    }
    static at::IntArrayRef get(const Type& kept) {
        return kept;
    }
};

template <>
struct Kept<std::string_view> {
    using Type = std::string;
    static Type keep(std::string_view argument) {
        return Type(argument);
    }
    static std::string_view get(const Type& kept) {
        return kept;
    }
};

/// Lengths: PyTorch notices if they were changed before the gradient is computed.
template <>
struct Kept<const Tensor&> {
    using Type = SavedVariable;
    static Type keep(const Tensor& argument) {
        return SavedVariable(argument, false);
    }
    static Tensor get(const Type& kept) {
        return kept.unpack();
    }
};

template <typename Operator, typename Arguments = typename Operator::Arguments>
struct Gradients;

template <typename Operator, typename... Arguments>
struct Gradients<Operator, Types<Arguments...>> {
    using New = Tensor(const Tensor&, Arguments...);
    using InPlace = void(const Tensor&, Arguments...);
    using Write = void(const Tensor&, Arguments..., const Tensor&);

    template <typename Signature>
    static auto find(const char* suffix) {
        const auto name = std::string("retrograde::") + Operator::NAME + suffix;
        return c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "").template typed<Signature>();
    }

    static const auto& make() {
        static const auto found = find<New>("");
        return found;
    }

    static const auto& in_place() {
        static const auto found = find<InPlace>("_");
        return found;
    }

    static const auto& write() {
        static const auto found = find<Write>("_out");
        return found;
    }

    struct Backward : Node {
        std::tuple<typename Kept<Arguments>::Type...> kept;

        variable_list apply(variable_list&& gradients) override {
            const std::lock_guard<std::mutex> guard(mutex_);
            if (!gradients[0].defined() || !should_compute_output(0)) {
                return variable_list(1);
            }
            const auto again = [&](const auto&... each) {
                return make().call(gradients[0], Kept<Arguments>::get(each)...);
            };
            return {std::apply(again, kept)};
        }

        /// Calls a function with each saved tensor.
        template <typename Each>
        void each_saved(Each each) {
            const auto look = [&](auto& one) {
                if constexpr (std::is_same_v<std::decay_t<decltype(one)>, SavedVariable>) {
                    each(one);
                }
            };
            std::apply([&](auto&... all) { (look(all), ...); }, kept);
        }

        void release_variables() override {
            const std::lock_guard<std::mutex> guard(mutex_);
            each_saved([](SavedVariable& saved) { saved.reset_data(); });
        }

        std::string name() const override {
            return Operator::TITLE;
        }

        // For PyTorch's compiler of backward passes: what a compiled one depends on, and the same call on the
        // tensors of the compiler.

        void compiled_args(torch::dynamo::autograd::CompiledNodeArgs& arguments) const override {
            const auto collect = [&](const auto& one) {
                if constexpr (std::is_same_v<std::decay_t<decltype(one)>, SavedVariable>) {
                    arguments.collect(one, false);
                } else {
                    arguments.collect(one);
                }
            };
            std::apply([&](const auto&... all) { (collect(all), ...); }, kept);
        }

        variable_list apply_with_saved(const variable_list& gradients,
                                       torch::dynamo::autograd::SwapSavedVariables& swap) override {
            each_saved([&](SavedVariable& saved) { swap.before(saved); });
            auto result = apply(variable_list(gradients));
            each_saved([&](SavedVariable& saved) { swap.after(saved); });
            return result;
        }
    };

    static Tensor make_recorded(c10::DispatchKeySet keys, const Tensor& x, Arguments... arguments) {
        if (on_subclass != nullptr && x.key_set().has(c10::DispatchKey::Python)) {
            on_subclass();
        }
        decltype(new_node<Backward>()) node;
        if (torch::autograd::compute_requires_grad(x)) {
            node = new_node<Backward>();
            node->set_next_edges(torch::autograd::collect_next_edges(x));
            node->kept = {Kept<Arguments>::keep(arguments)...};
        }
        auto result = [&] {
            const at::AutoDispatchBelowADInplaceOrView below;
            return make().redispatch(keys & c10::after_autograd_keyset, x, arguments...);
        }();
        if (node) {
            torch::autograd::set_history(result, node);
            tell_hooks(node);
        }
        if (torch::autograd::isFwGradDefined(x)) {
            // The level is that of PyTorch's own operators, which know one.
            result._set_fw_grad(make().call(x._fw_grad(0), arguments...), 0, false);
        }
        return result;
    }

    static bool is_observed(const Tensor& x) {
        return torch::autograd::compute_requires_grad(x) || torch::autograd::isFwGradDefined(x);
    }

    static void in_place_recorded(c10::DispatchKeySet keys, const Tensor& x, Arguments... arguments) {
        if (is_observed(x)) {
            // `copy_` refuses leaf tensors, and records the write in the graph.
            x.copy_(make().call(x, arguments...));
            return;
        }
        const at::AutoDispatchBelowAutograd below;
        in_place().redispatch(keys & c10::after_autograd_keyset, x, arguments...);
    }

    static void write_recorded(c10::DispatchKeySet keys, const Tensor& x, Arguments... arguments, const Tensor& out) {
        TORCH_CHECK(!torch::autograd::compute_requires_grad(x, out), Operator::NAME,
                    ": out=... does not support automatic differentiation, but one of the arguments requires grad");
        if (torch::autograd::isFwGradDefined(x) || torch::autograd::isFwGradDefined(out)) {
            out.copy_(make().call(x, arguments...));
            return;
        }
        const at::AutoDispatchBelowAutograd below;
        write().redispatch(keys & c10::after_autograd_keyset, x, arguments..., out);
    }

    /// Raises PyTorch's own error for a tensor of inference mode that is used outside of it, before anything
    /// is written: a view without elements changes nothing.
    static void check_writable(const Tensor& out) {
        if (out.is_inference() && !c10::InferenceMode::is_enabled()) {
            out.as_strided({0}, {1}).zero_();
        }
    }

    static void in_place_watched(c10::DispatchKeySet keys, const Tensor& x, Arguments... arguments) {
        check_writable(x);
        {
            const at::AutoDispatchBelowADInplaceOrView below;
            in_place().redispatch(keys & c10::after_ADInplaceOrView_keyset, x, arguments...);
        }
        torch::autograd::impl::bump_version(x);
    }

    static void write_watched(c10::DispatchKeySet keys, const Tensor& x, Arguments... arguments, const Tensor& out) {
        check_writable(out);
        {
            const at::AutoDispatchBelowADInplaceOrView below;
            write().redispatch(keys & c10::after_ADInplaceOrView_keyset, x, arguments..., out);
        }
        torch::autograd::impl::bump_version(out);
    }
};

} // namespace

TORCH_LIBRARY_IMPL(retrograde, Autograd, library) {
    each_operator([&](auto op) {
        using Op = Gradients<decltype(op)>;
        const std::string name = op.NAME;
        library.impl(name.c_str(), &Op::make_recorded);
        library.impl((name + "_").c_str(), &Op::in_place_recorded);
        library.impl((name + "_out").c_str(), &Op::write_recorded);
    });
}

TORCH_LIBRARY_IMPL(retrograde, ADInplaceOrView, library) {
    each_operator([&](auto op) {
        using Op = Gradients<decltype(op)>;
        const std::string name = op.NAME;
        library.impl((name + "_").c_str(), &Op::in_place_watched);
        library.impl((name + "_out").c_str(), &Op::write_watched);
    });
}

} // namespace retrograde

/// Sets what is called before an operator runs on a tensor whose class is one of Python's: sharding rules
/// are registered with the first sharded tensor.
extern "C" __attribute__((visibility("default"))) void retrograde_torch_on_subclass(void (*function)()) {
    retrograde::on_subclass = function;
}
