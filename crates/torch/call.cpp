#include "call.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/SmallVector.h>

// Of libtorch_cuda, which only some builds of PyTorch have.
extern "C" __attribute__((weak)) int32_t aoti_torch_get_current_cuda_stream(int32_t device, void** stream);
#ifdef RETROGRADE_LINKED
extern "C" int32_t torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size,
                                      void (*part)(int64_t begin, int64_t end, void* context), void* context);
#endif

namespace retrograde {

Engine engine;

namespace {

using at::Tensor;

/// New outputs from this size on get memory that is kept, as NumPy's do.
constexpr int64_t LARGE = 2 << 20;
/// Plans that a thread keeps.
constexpr size_t MOST_PLANS = 64;

[[noreturn]] void fail(retrograde_status status, const std::string& more = "") {
    const auto text = engine.retrograde_last_error() + more;
    switch (status) {
    case RETROGRADE_NO_DEVICE:
    case RETROGRADE_CUDA_ERROR:
    case RETROGRADE_UNSUPPORTED:
    case RETROGRADE_INTERNAL: TORCH_CHECK(false, text);
    default: TORCH_CHECK_VALUE(false, text);
    }
}

void check(retrograde_status status) {
    if (status != RETROGRADE_OK) {
        fail(status);
    }
}

/// The name of a type in Python.
std::string type_name(const Tensor& x) {
    return std::string(c10::getDtypeNames(x.scalar_type()).first);
}

/// The type of lengths, or none (0) if they are no integers.
retrograde_dtype integer_type(at::ScalarType type) {
    switch (type) {
    case at::kByte: return RETROGRADE_U8;
    case at::kChar: return RETROGRADE_I8;
    case at::kUInt16: return RETROGRADE_U16;
    case at::kShort: return RETROGRADE_I16;
    case at::kUInt32: return RETROGRADE_U32;
    case at::kInt: return RETROGRADE_I32;
    case at::kUInt64: return RETROGRADE_U64;
    case at::kLong: return RETROGRADE_I64;
    default: return 0;
    }
}

/// Whether a type has several elements in a byte.
bool is_packed(at::ScalarType type) {
    switch (type) {
    case at::kBits1x8:
    case at::kBits2x4:
    case at::kBits4x2:
    case at::kQUInt4x2:
    case at::kQUInt2x4: return true;
    default: return false;
    }
}

const char* argument_of(retrograde_kind kind) {
    return kind == RETROGRADE_REVERSE_SEGMENTS ? "offsets" : "lengths";
}

std::string listed(at::IntArrayRef sizes) {
    std::string text = "[";
    for (const auto size : sizes) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    }
    return text + "]";
}

// Plans are found by what they depend on, as numbers.

using Key = c10::SmallVector<int64_t, 40>;

void add(Key& key, at::IntArrayRef numbers) {
    key.push_back(static_cast<int64_t>(numbers.size()));
    key.append(numbers.begin(), numbers.end());
}

size_t slot_of(const Key& key) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const auto number : key) {
        hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return hash % MOST_PLANS;
}

/// A planned call with the sizes of its buffers.
struct Plan {
    struct Destroy {
        void operator()(retrograde_call* call) const {
            engine.retrograde_call_destroy(call);
        }
    };
    Key key;
    std::unique_ptr<retrograde_call, Destroy> call;
    size_t input_bytes = 0, counts_bytes = 0, output_bytes = 0;
};

thread_local std::unique_ptr<Plan> plans[MOST_PLANS];

retrograde_tensor described(retrograde_dtype dtype, size_t width, at::IntArrayRef sizes, at::IntArrayRef strides) {
    retrograde_tensor tensor = RETROGRADE_TENSOR(dtype, sizes.size(), sizes.data());
    tensor.element_bytes = width;
    tensor.strides = strides.data();
    return tensor;
}

/// Lengths of lanes may lack the axis that is reversed. For the engine it has size 1.
struct Counts {
    c10::SmallVector<int64_t, 6> sizes, strides;

    Counts(const Operation& operation, const Tensor& x, const Tensor& counts) {
        if (!counts.defined()) {
            return;
        }
        sizes.append(counts.sizes().begin(), counts.sizes().end());
        strides.append(counts.strides().begin(), counts.strides().end());
        const auto rank = x.dim();
        const auto axis = operation.axes[0] + (operation.axes[0] < 0 ? rank : 0);
        if (operation.kind != RETROGRADE_REVERSE_SUBSEQUENCES || axis < 0 || axis >= rank) {
            return;
        }
        auto with = x.sizes().vec(), without = with;
        with[axis] = 1;
        without.erase(without.begin() + axis);
        if (counts.sizes() == without) {
            sizes.insert(sizes.begin() + axis, 1);
            strides.insert(strides.begin() + axis, 0);
        } else if (counts.sizes() != with) {
            TORCH_CHECK_VALUE(false, "ReverseSubsequences: lengths have shape ", listed(counts.sizes()), ", expected ",
                              listed(with), " or ", listed(without));
        }
    }
};

/// The arguments that solve the problem, if lengths fit the other one of two axes, or are a mask of integers.
std::string hint(const Operation& operation, const Tensor& x, const Tensor& counts) {
    if (operation.kind != RETROGRADE_REVERSE_SEQUENCE) {
        return "";
    }
    const auto rank = x.dim();
    const auto time = operation.axes[0] + (operation.axes[0] < 0 ? rank : 0);
    const auto batch = operation.axes[1] + (operation.axes[1] < 0 ? rank : 0);
    if (std::min(time, batch) < 0 || std::max(time, batch) >= rank || time == batch) {
        return "";
    }
    if (counts.dim() == 2 && counts.size(0) == x.size(batch) && counts.size(1) == x.size(time)) {
        return ": a mask of kept steps is boolean, as mask != 0 is";
    }
    if (counts.dim() != 1 || counts.size(0) != x.size(time) || counts.size(0) == x.size(batch)) {
        return "";
    }
    const auto axes = "time_axis=" + std::to_string(batch) + ", batch_axis=" + std::to_string(time);
    if (time == 0 && batch == 1) {
        return ": did you mean batch_first=True (" + axes + ")?";
    }
    if (time == 1 && batch == 0) {
        return ": did you mean batch_first=False (" + axes + ")?";
    }
    return ": did you mean " + axes + "?";
}

std::unique_ptr<Plan> planned(Key&& key, const Operation& operation, const Tensor& x, const Tensor& counts, const Tensor& out) {
    TORCH_CHECK(engine.retrograde_prepare != nullptr, "no engine: import retrograde.torch, or link it to this library");
    retrograde_operator* op = nullptr;
    check(engine.retrograde_operator_create(operation.kind, &op));
    const std::unique_ptr<retrograde_operator, decltype(engine.retrograde_operator_destroy)> owner(
        op, engine.retrograde_operator_destroy);
    if (operation.kind == RETROGRADE_REVERSE) {
        check(engine.retrograde_operator_set_axes(op, operation.axes.data(), operation.axes.size()));
    } else if (operation.kind == RETROGRADE_REVERSE_SEQUENCE) {
        check(engine.retrograde_operator_set_time_axis(op, operation.axes[0]));
        check(engine.retrograde_operator_set_batch_axis(op, operation.axes[1]));
    } else {
        check(engine.retrograde_operator_set_axis(op, operation.axes[0]));
    }
    if (operation.kind == RETROGRADE_REVERSE_SEQUENCE || operation.kind == RETROGRADE_REVERSE_SUBSEQUENCES) {
        check(engine.retrograde_operator_set_policy(op, operation.policy));
        check(engine.retrograde_operator_set_align(op, operation.align));
        check(engine.retrograde_operator_set_tail(op, operation.tail));
    }
    const Counts shape(operation, x, counts);
    const auto width = x.element_size();
    const auto input = described(RETROGRADE_BYTES, width, x.sizes(), x.strides());
    const auto output = described(RETROGRADE_BYTES, width, out.sizes(), out.strides());
    retrograde_tensor lengths{};
    if (counts.defined()) {
        lengths = described(integer_type(counts.scalar_type()), 0, shape.sizes, shape.strides);
    }
    auto plan = std::make_unique<Plan>();
    retrograde_call* call = nullptr;
    const auto status = engine.retrograde_prepare(op, &input, counts.defined() ? &lengths : nullptr, &output, &call);
    if (status != RETROGRADE_OK) {
        fail(status, status == RETROGRADE_MISMATCH && counts.defined() ? hint(operation, x, counts) : "");
    }
    plan->call.reset(call);
    check(engine.retrograde_tensor_bytes(&input, &plan->input_bytes));
    check(engine.retrograde_tensor_bytes(&output, &plan->output_bytes));
    if (counts.defined()) {
        check(engine.retrograde_tensor_bytes(&lengths, &plan->counts_bytes));
    }
    plan->key = std::move(key);
    return plan;
}

/// The plan of a call, valid until this thread asks for another one.
const Plan& plan_of(const Operation& operation, const Tensor& x, const Tensor& counts, const Tensor& out) {
    Key key;
    key.push_back(operation.kind | operation.policy << 8 | operation.align << 12 | operation.tail << 16);
    key.push_back(x.element_size());
    add(key, operation.axes);
    add(key, x.sizes());
    add(key, x.strides());
    add(key, out.sizes());
    add(key, out.strides());
    if (counts.defined()) {
        key.push_back(integer_type(counts.scalar_type()));
        add(key, counts.sizes());
        add(key, counts.strides());
    }
    auto& plan = plans[slot_of(key)];
    if (!plan || plan->key != key) {
        plan = planned(std::move(key), operation, x, counts, out);
    }
    return *plan;
}

void check_tensors(const Operation& operation, const Tensor& x, const Tensor& counts, const Tensor& out) {
    TORCH_CHECK_TYPE(!is_packed(x.scalar_type()), "x has dtype torch.", type_name(x),
                     ", whose elements cannot be moved one by one");
    TORCH_CHECK_TYPE(out.scalar_type() == x.scalar_type(), "out has dtype torch.", type_name(out),
                     ", expected the input's dtype torch.", type_name(x));
    TORCH_CHECK_VALUE(out.device() == x.device(), "out is on ", out.device(), ", expected the input's device ", x.device());
    if (!counts.defined()) {
        return;
    }
    const auto* const argument = argument_of(operation.kind);
    TORCH_CHECK_TYPE(integer_type(counts.scalar_type()) != 0, name_of(operation.kind), ": ", argument, " have type ",
                     type_name(counts), ", expected an integer type");
    if (counts.is_cpu() || counts.device() == x.device()) {
        return;
    }
    TORCH_CHECK_VALUE(!x.is_cpu(), argument, " are on ", counts.device(), ", expected them where the input is, on the CPU");
    TORCH_CHECK_VALUE(false, argument, " are on ", counts.device(), ", expected them on the input's device, ", x.device(),
                      ", or on the CPU");
}

/// Where elements are. Nothing is read or written through these before the call runs.
struct Buffers {
    /// First: to write to a tensor may give it other memory, of a lazy copy, and the input may be the same tensor.
    void* output;
    const void* input;
    const void* counts;

    Buffers(const Tensor& x, const Tensor& counts, const Tensor& out)
        : output(out.mutable_data_ptr()), input(x.const_data_ptr()),
          counts(counts.defined() ? counts.const_data_ptr() : nullptr) {}
};

#ifdef RETROGRADE_LINKED
/// Runs parts on PyTorch's threads.
void share(void*, size_t parts, retrograde_part part, void* job) {
    struct Work {
        retrograde_part part;
        void* job;
    } work{part, job};
    torch_parallel_for(
        0, static_cast<int64_t>(parts), 1,
        [](int64_t begin, int64_t end, void* context) {
            const auto& work = *static_cast<Work*>(context);
            for (auto at = begin; at < end; ++at) {
                work.part(work.job, static_cast<size_t>(at));
            }
        },
        &work);
}
#endif

void run_here(const Plan& plan, const Buffers& at) {
#ifdef RETROGRADE_LINKED
    // PyTorch's rule: no threads inside a parallel region, otherwise so many.
    retrograde_workers workers{};
    workers.struct_bytes = sizeof(workers);
    workers.threads = at::in_parallel_region() ? 1 : at::get_num_threads();
    workers.run = share;
    check(::retrograde_run_with(plan.call.get(), &workers, at.input, plan.input_bytes, at.counts, plan.counts_bytes,
                                at.output, plan.output_bytes));
#else
    check(engine.retrograde_run(plan.call.get(), at.input, plan.input_bytes, at.counts, plan.counts_bytes, at.output,
                                plan.output_bytes));
#endif
}

void run_there(const Plan& plan, const Buffers& at, c10::Device device, bool counts_there, bool fresh) {
    TORCH_CHECK(aoti_torch_get_current_cuda_stream != nullptr, "this PyTorch tells no current CUDA stream");
    const auto index = device.index();
    void* stream = nullptr;
    TORCH_CHECK(aoti_torch_get_current_cuda_stream(index, &stream) == 0, "no current CUDA stream on device ", +index);
    if (engine.retrograde_cuda_earlier(index, stream) != RETROGRADE_OK) {
        TORCH_CHECK_VALUE(false, "an earlier call on cuda:", +index, " failed: ", engine.retrograde_last_error(),
                          "; this call did not run (retrograde.cuda.set_blocking(True) raises such errors in the call itself)");
    }
    const auto run = fresh ? engine.retrograde_run_cuda_new : engine.retrograde_run_cuda;
    check(run(plan.call.get(), index, stream, at.input, plan.input_bytes, at.counts, plan.counts_bytes,
              counts_there ? RETROGRADE_DEVICE : RETROGRADE_HOST, at.output, plan.output_bytes));
}

} // namespace

const char* name_of(retrograde_kind kind) {
    switch (kind) {
    case RETROGRADE_REVERSE: return "Reverse";
    case RETROGRADE_REVERSE_SEQUENCE: return "ReverseSequence";
    case RETROGRADE_REVERSE_SUBSEQUENCES: return "ReverseSubsequences";
    default: return "ReverseSegments";
    }
}

Operation Operation::with(std::string_view policy, std::string_view align, std::string_view tail) const {
    const auto choose = [this](const char* argument, std::string_view given, const char* first, const char* second) {
        if (given != first && given != second) {
            TORCH_CHECK_VALUE(false, name_of(kind), ": ", argument, " \"", given, "\" does not exist, expected \"", first,
                              "\" or \"", second, "\"");
        }
        return static_cast<uint32_t>(given == second);
    };
    auto operation = *this;
    operation.policy = choose("policy", policy, "strict", "clamp");
    operation.align = choose("align", align, "start", "end");
    operation.tail = choose("tail", tail, "keep", "zero");
    return operation;
}

void move(const Operation& operation, const Tensor& x, const Tensor& counts, const Tensor& out, bool fresh) {
    check_tensors(operation, x, counts, out);
    const auto& plan = plan_of(operation, x, counts, out);
    if (x.is_cpu()) {
        return run_here(plan, Buffers(x, counts, out));
    }
    TORCH_CHECK_VALUE(x.is_cuda(), name_of(operation.kind), ": x is on ", x.device(), ", expected the CPU or a CUDA device");
    const c10::DeviceGuard guard(x.device());
    run_there(plan, Buffers(x, counts, out), x.device(), counts.defined() && !counts.is_cpu(), fresh);
}

Tensor new_output(const Tensor& x, bool in_rows) {
    // As `empty_like` decides it, but below the dispatcher, which takes as long as to reverse a kilobyte.
    if (x.is_cpu() && (in_rows || x.is_non_overlapping_and_dense()) && !has_names(x)) {
        const auto bytes = x.numel() * x.element_size();
        void* owner = nullptr;
        void* const data = bytes < LARGE || engine.take_memory == nullptr ? nullptr : engine.take_memory(bytes, &owner);
        if (data != nullptr) {
            const auto give = [owner](void*) { engine.give_memory(owner); };
            return in_rows ? at::from_blob(data, x.sizes(), give, x.options())
                           : at::from_blob(data, x.sizes(), x.strides(), give, x.options());
        }
        return Tensor(in_rows ? at::detail::empty_cpu(x.sizes(), x.scalar_type())
                              : at::detail::empty_strided_cpu(x.sizes(), x.strides(), x.scalar_type()));
    }
    return at::empty_like(x, x.options(), in_rows ? at::MemoryFormat::Contiguous : at::MemoryFormat::Preserve);
}

} // namespace retrograde

/// Takes a function of the engine by its name; 0 if the name is unknown. Python calls this once, before
/// anything runs.
extern "C" __attribute__((visibility("default"))) int retrograde_torch_use(const char* name, void* function) {
    using retrograde::engine;
    const std::string_view given = name;
#define RETROGRADE_TORCH_TAKE(one)                                    \
    if (given == #one) {                                              \
        engine.one = reinterpret_cast<decltype(engine.one)>(function); \
        return 1;                                                     \
    }
    RETROGRADE_TORCH_FUNCTIONS(RETROGRADE_TORCH_TAKE)
    RETROGRADE_TORCH_TAKE(take_memory)
    RETROGRADE_TORCH_TAKE(give_memory)
#undef RETROGRADE_TORCH_TAKE
    return 0;
}
