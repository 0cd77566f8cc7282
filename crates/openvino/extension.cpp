// OpenVINO extensions that run Reverse and ReverseSequence of opset1 on Retrograde, in models that are
// not changed for it. `scripts/build openvino` compiles this file against the headers of an installed
// openvino package, and docs/openvino.md says what the result does.
//
// The operators derive from those of OpenVINO, so that its transformations may treat them as such. They
// have type names of their own, because the CPU plugin chooses kernels by that name: nodes that it does
// not know are run by `evaluate`.

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/reverse.hpp>
#include <openvino/op/reverse_sequence.hpp>
#include <openvino/runtime/tensor.hpp>

#include <retrograde.h>

namespace retrograde {
namespace {

using ov::element::Type_t;

/// What `create_extensions` builds extensions with; see `retrograde_openvino_set_policy`.
thread_local retrograde_policy chosen_policy = RETROGRADE_STRICT;

const char* const POLICIES[] = {"strict", "clamp"};

void check(retrograde_status status) {
    if (status != RETROGRADE_OK) {
        OPENVINO_THROW(retrograde_last_error());
    }
}

/// The element type in C, or none (0) for types that the C interface does not have.
retrograde_dtype dtype_of(const ov::element::Type& type) {
    switch (type) {
    case Type_t::boolean: return RETROGRADE_BOOL;
    case Type_t::u8: return RETROGRADE_U8;
    case Type_t::i8: return RETROGRADE_I8;
    case Type_t::u16: return RETROGRADE_U16;
    case Type_t::i16: return RETROGRADE_I16;
    case Type_t::u32: return RETROGRADE_U32;
    case Type_t::i32: return RETROGRADE_I32;
    case Type_t::u64: return RETROGRADE_U64;
    case Type_t::i64: return RETROGRADE_I64;
    case Type_t::f16: return RETROGRADE_F16;
    case Type_t::bf16: return RETROGRADE_BF16;
    case Type_t::f32: return RETROGRADE_F32;
    case Type_t::f64: return RETROGRADE_F64;
    case Type_t::f8e4m3: return RETROGRADE_F8E4M3FN;
    case Type_t::f8e5m2: return RETROGRADE_F8E5M2;
    case Type_t::f8e8m0: return RETROGRADE_F8E8M0;
    case Type_t::f4e2m1: return RETROGRADE_F4E2M1;
    case Type_t::nf4: return RETROGRADE_NF4;
    case Type_t::u4: return RETROGRADE_U4;
    case Type_t::i4: return RETROGRADE_I4;
    case Type_t::u2: return RETROGRADE_U2;
    case Type_t::u1: return RETROGRADE_U1;
    default: return 0;
    }
}

retrograde_dtype supported_dtype(const char* name, const char* argument, const ov::element::Type& type) {
    const auto dtype = dtype_of(type);
    if (dtype == 0) {
        OPENVINO_THROW(name, ": ", argument, " has the element type ", type, ", which is not supported");
    }
    return dtype;
}

template <typename T>
std::vector<int64_t> widened(const ov::Tensor& tensor) {
    const auto* values = tensor.data<const T>();
    return std::vector<int64_t>(values, values + tensor.get_size());
}

/// Axes of any integer type.
std::vector<int64_t> read_axes(const ov::Tensor& axes) {
    switch (axes.get_element_type()) {
    case Type_t::i8: return widened<int8_t>(axes);
    case Type_t::u8: return widened<uint8_t>(axes);
    case Type_t::i16: return widened<int16_t>(axes);
    case Type_t::u16: return widened<uint16_t>(axes);
    case Type_t::i32: return widened<int32_t>(axes);
    case Type_t::u32: return widened<uint32_t>(axes);
    case Type_t::i64: return widened<int64_t>(axes);
    case Type_t::u64: {
        const auto* values = axes.data<const uint64_t>();
        for (size_t at = 0; at < axes.get_size(); ++at) {
            if (values[at] > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
                OPENVINO_THROW("Reverse: axes[", at, "] is ", values[at], ", which is larger than any rank");
            }
        }
        return widened<uint64_t>(axes);
    }
    default: OPENVINO_THROW("Reverse: axes have the element type ", axes.get_element_type(), ", expected an integer type");
    }
}

template <typename T>
std::vector<int64_t> whole_numbers(const ov::Tensor& lengths) {
    std::vector<int64_t> result;
    const auto* values = lengths.data<const T>();
    for (size_t at = 0; at < lengths.get_size(); ++at) {
        const auto value = static_cast<double>(values[at]);
        if (!(std::abs(value) < 9e18) || value != std::floor(value)) {
            OPENVINO_THROW("ReverseSequence: lengths[", at, "] is ", value, ", expected a whole number");
        }
        result.push_back(static_cast<int64_t>(value));
    }
    return result;
}

/// Lengths of a float type, which OpenVINO allows and the engine does not, as integers.
std::vector<int64_t> read_float_lengths(const ov::Tensor& lengths) {
    switch (lengths.get_element_type()) {
    case Type_t::f16: return whole_numbers<ov::float16>(lengths);
    case Type_t::bf16: return whole_numbers<ov::bfloat16>(lengths);
    case Type_t::f32: return whole_numbers<float>(lengths);
    case Type_t::f64: return whole_numbers<double>(lengths);
    default: OPENVINO_THROW("ReverseSequence: lengths have the element type ", lengths.get_element_type(), ", which is not supported");
    }
}

/// A call that was checked and planned. Any number of threads may run it at the same time.
class Call {
public:
    /// What a plan depends on.
    struct Key {
        retrograde_kind kind;
        retrograde_dtype dtype;
        std::vector<int64_t> shape;
        /// Reverse: its axes or its mask. ReverseSequence: the time axis, the batch axis, the policy.
        std::vector<int64_t> attributes;
        bool is_mask;
        /// ReverseSequence: the type and the number of lengths.
        retrograde_dtype lengths_dtype;
        int64_t lengths;

        bool operator==(const Key& other) const {
            return kind == other.kind && dtype == other.dtype && is_mask == other.is_mask &&
                   lengths_dtype == other.lengths_dtype && lengths == other.lengths && shape == other.shape &&
                   attributes == other.attributes;
        }
    };

    explicit Call(Key given) : key(std::move(given)) {
        retrograde_operator* op = nullptr;
        check(retrograde_operator_create(key.kind, &op));
        const std::unique_ptr<retrograde_operator, decltype(&retrograde_operator_destroy)> owner(
            op, &retrograde_operator_destroy);
        const retrograde_tensor data = RETROGRADE_TENSOR(key.dtype, key.shape.size(), key.shape.data());
        const retrograde_tensor counts = RETROGRADE_TENSOR(key.lengths_dtype, 1, &key.lengths);
        if (key.kind == RETROGRADE_REVERSE) {
            if (key.is_mask) {
                const std::vector<uint8_t> mask(key.attributes.begin(), key.attributes.end());
                check(retrograde_operator_set_mask(op, mask.data(), mask.size()));
            } else {
                check(retrograde_operator_set_axes(op, key.attributes.data(), key.attributes.size()));
            }
        } else {
            check(retrograde_operator_set_time_axis(op, key.attributes[0]));
            check(retrograde_operator_set_batch_axis(op, key.attributes[1]));
            check(retrograde_operator_set_policy(op, static_cast<retrograde_policy>(key.attributes[2])));
        }
        check(retrograde_prepare(op, &data, key.kind == RETROGRADE_REVERSE ? nullptr : &counts, &data, &m_call));
    }

    ~Call() {
        retrograde_call_destroy(m_call);
    }

    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    void run(const void* input, const void* lengths, size_t lengths_bytes, void* output, size_t bytes) const {
        check(retrograde_run(m_call, input, bytes, lengths, lengths_bytes, output, bytes));
    }

    const Key key;

private:
    retrograde_call* m_call = nullptr;
};

/// The latest call of a node. Streams of a compiled model share its nodes, so several threads may ask.
class Latest {
public:
    std::shared_ptr<const Call> get(Call::Key key) const {
        {
            const std::lock_guard<std::mutex> guard(m_lock);
            if (m_call && m_call->key == key) {
                return m_call;
            }
        }
        auto made = std::make_shared<const Call>(std::move(key));
        const std::lock_guard<std::mutex> guard(m_lock);
        m_call = made;
        return made;
    }

private:
    mutable std::mutex m_lock;
    mutable std::shared_ptr<const Call> m_call;
};

/// Runs a call on a tensor of any element type. Strings are moved by the indices of their elements.
void move(const Latest& latest, Call::Key key, const char* name, const ov::Tensor& input, const void* lengths,
          size_t lengths_bytes, ov::Tensor& output) {
    const auto& shape = input.get_shape();
    key.shape.assign(shape.begin(), shape.end());
    if (input.get_element_type() != Type_t::string) {
        key.dtype = supported_dtype(name, "data", input.get_element_type());
        const auto call = latest.get(std::move(key));
        call->run(input.data(), lengths, lengths_bytes, output.data(), input.get_byte_size());
        return;
    }
    std::vector<uint64_t> order(input.get_size()), moved(input.get_size());
    for (size_t at = 0; at < order.size(); ++at) {
        order[at] = at;
    }
    key.dtype = RETROGRADE_U64;
    const auto call = latest.get(std::move(key));
    call->run(order.data(), lengths, lengths_bytes, moved.data(), order.size() * sizeof(uint64_t));
    const auto* source = input.data<const std::string>();
    auto* target = output.data<std::string>();
    for (size_t at = 0; at < moved.size(); ++at) {
        target[at] = source[moved[at]];
    }
}

class Reverse : public ov::op::v1::Reverse {
public:
    OPENVINO_OP("RetrogradeReverse", "retrograde", ov::op::v1::Reverse);

    Reverse() = default;

    void validate_and_infer_types() override {
        check_axes(*this, false);
        set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
    }

    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        auto made = std::make_shared<Reverse>();
        made->set_arguments(inputs);
        made->set_mode(get_mode());
        made->constructor_validate_and_infer_types();
        return made;
    }

    bool has_evaluate() const override {
        return true;
    }

    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        const auto& data = inputs.at(0);
        const auto& axes = inputs.at(1);
        Call::Key key{};
        key.kind = RETROGRADE_REVERSE;
        key.is_mask = get_mode() == Mode::MASK;
        if (key.is_mask) {
            const auto* mask = static_cast<const uint8_t*>(axes.data());
            key.attributes.assign(mask, mask + axes.get_size());
        } else {
            key.attributes = read_axes(axes);
        }
        outputs.at(0).set_shape(data.get_shape());
        move(m_latest, std::move(key), "Reverse", data, nullptr, 0, outputs[0]);
        return true;
    }

    /// What is known of the second input before a run. The CPU plugin turns a boolean mask into u8 after
    /// the model was read, so only a model as it was written has to have a boolean one.
    static void check_axes(const ov::op::v1::Reverse& node, bool as_written) {
        if (node.get_input_size() != 2) {
            OPENVINO_THROW("Reverse: ", node.get_input_size(), " inputs, expected 2");
        }
        const auto& type = node.get_input_element_type(1);
        const auto& shape = node.get_input_partial_shape(1);
        const auto rank = node.get_input_partial_shape(0).rank();
        const bool is_mask = node.get_mode() == Mode::MASK;
        const char* const argument = is_mask ? "mask" : "axes";
        if (type.is_static()) {
            if (is_mask && type != Type_t::boolean && (as_written || type != Type_t::u8)) {
                OPENVINO_THROW("Reverse: mask has the element type ", type, ", expected boolean");
            }
            if (!is_mask && !type.is_integral_number()) {
                OPENVINO_THROW("Reverse: axes have the element type ", type, ", expected an integer type");
            }
        }
        if (shape.rank().is_static() && shape.rank().get_length() != 1) {
            OPENVINO_THROW("Reverse: ", argument, " has rank ", shape.rank().get_length(), ", expected 1");
        }
        if (rank.is_dynamic()) {
            return;
        }
        if (is_mask && shape.rank().is_static() && shape[0].is_static() && shape[0].get_length() != rank.get_length()) {
            OPENVINO_THROW("Reverse: mask has ", shape[0].get_length(), " entries, expected ", rank.get_length(),
                           ", the rank of data");
        }
        const auto constant = std::dynamic_pointer_cast<ov::op::v0::Constant>(node.get_input_node_shared_ptr(1));
        if (!is_mask && constant) {
            const auto axes = constant->cast_vector<int64_t>();
            for (size_t at = 0; at < axes.size(); ++at) {
                if (axes[at] < -rank.get_length() || axes[at] >= rank.get_length()) {
                    OPENVINO_THROW("Reverse: axes[", at, "] is ", axes[at], ", outside [", -rank.get_length(), ", ",
                                   rank.get_length() - 1, "]");
                }
            }
        }
    }

private:
    Latest m_latest;
};

class ReverseSequence : public ov::op::v0::ReverseSequence {
public:
    OPENVINO_OP("RetrogradeReverseSequence", "retrograde", ov::op::v0::ReverseSequence);

    explicit ReverseSequence(retrograde_policy policy = RETROGRADE_STRICT) : m_policy(POLICIES[policy]) {}

    bool visit_attributes(ov::AttributeVisitor& visitor) override {
        ov::op::v0::ReverseSequence::visit_attributes(visitor);
        visitor.on_attribute("policy", m_policy);
        if (m_policy != POLICIES[RETROGRADE_STRICT] && m_policy != POLICIES[RETROGRADE_CLAMP]) {
            OPENVINO_THROW("ReverseSequence: policy is \"", m_policy, "\", expected \"strict\" or \"clamp\"");
        }
        return true;
    }

    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        auto made = std::make_shared<ReverseSequence>(policy());
        made->set_arguments(inputs);
        // Not `set_sequence_axis`, which needs a known rank.
        made->copy_axes(*this);
        made->constructor_validate_and_infer_types();
        return made;
    }

    bool has_evaluate() const override {
        return true;
    }

    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        const auto& data = inputs.at(0);
        auto lengths = inputs.at(1);
        std::vector<int64_t> whole;
        if (!lengths.get_element_type().is_integral_number()) {
            whole = read_float_lengths(lengths);
            lengths = ov::Tensor(Type_t::i64, lengths.get_shape(), whole.data());
        }
        Call::Key key{};
        key.kind = RETROGRADE_REVERSE_SEQUENCE;
        key.attributes = {get_origin_sequence_axis(), get_origin_batch_axis(), static_cast<int64_t>(policy())};
        key.lengths_dtype = supported_dtype("ReverseSequence", "lengths", lengths.get_element_type());
        key.lengths = static_cast<int64_t>(lengths.get_size());
        outputs.at(0).set_shape(data.get_shape());
        move(m_latest, std::move(key), "ReverseSequence", data, lengths.data(), lengths.get_byte_size(), outputs[0]);
        return true;
    }

private:
    retrograde_policy policy() const {
        return m_policy == POLICIES[RETROGRADE_CLAMP] ? RETROGRADE_CLAMP : RETROGRADE_STRICT;
    }

    void copy_axes(const ReverseSequence& other);

    std::string m_policy;
    Latest m_latest;
};

/// Passes the axes of a node on as attributes.
class Axes : public ov::AttributeVisitor {
public:
    Axes(int64_t batch_axis, int64_t seq_axis, std::string policy)
        : m_batch_axis(batch_axis), m_seq_axis(seq_axis), m_policy(std::move(policy)) {}

    void on_adapter(const std::string&, ov::ValueAccessor<void>&) override {}

    void on_adapter(const std::string& name, ov::ValueAccessor<int64_t>& value) override {
        value.set(name == "batch_axis" ? m_batch_axis : m_seq_axis);
    }

    void on_adapter(const std::string&, ov::ValueAccessor<std::string>& value) override {
        value.set(m_policy);
    }

private:
    int64_t m_batch_axis, m_seq_axis;
    std::string m_policy;
};

void ReverseSequence::copy_axes(const ReverseSequence& other) {
    Axes axes(other.get_origin_batch_axis(), other.get_origin_sequence_axis(), m_policy);
    visit_attributes(axes);
}

/// Creates our operator for nodes of a type, which may be OpenVINO's: extensions come before opsets.
class Extension : public ov::BaseOpExtension {
public:
    Extension(ov::DiscreteTypeInfo type, bool is_sequence, retrograde_policy policy)
        : m_type(type), m_is_sequence(is_sequence), m_policy(policy) {
        m_type.hash();
    }

    const ov::DiscreteTypeInfo& get_type_info() const override {
        return m_type;
    }

    ov::OutputVector create(const ov::OutputVector& inputs, ov::AttributeVisitor& visitor) const override {
        std::shared_ptr<ov::Node> node;
        if (m_is_sequence) {
            node = std::make_shared<ReverseSequence>(m_policy);
        } else {
            node = std::make_shared<Reverse>();
        }
        node->set_arguments(inputs);
        node->visit_attributes(visitor);
        if (!m_is_sequence) {
            Reverse::check_axes(static_cast<const Reverse&>(*node), true);
        }
        node->constructor_validate_and_infer_types();
        return node->outputs();
    }

    std::vector<ov::Extension::Ptr> get_attached_extensions() const override {
        return {};
    }

private:
    ov::DiscreteTypeInfo m_type;
    bool m_is_sequence;
    retrograde_policy m_policy;
};

int64_t onnx_axis(const ov::frontend::NodeContext& node, const char* name, int64_t otherwise) {
    const auto axis = node.get_attribute<int64_t>(name, otherwise);
    if (axis != 0 && axis != 1) {
        OPENVINO_THROW("ReverseSequence: ", name, " is ", axis, ", outside [0, 1]");
    }
    return axis;
}

ov::OutputVector from_onnx(const ov::frontend::NodeContext& node, retrograde_policy policy) {
    const auto time_axis = onnx_axis(node, "time_axis", 0);
    const auto batch_axis = onnx_axis(node, "batch_axis", 1);
    if (time_axis == batch_axis) {
        OPENVINO_THROW("ReverseSequence: batch_axis is ", batch_axis, ", the same as time_axis");
    }
    auto made = std::make_shared<ReverseSequence>(policy);
    made->set_arguments(ov::OutputVector{node.get_input(0), node.get_input(1)});
    Axes axes(batch_axis, time_axis, POLICIES[policy]);
    made->visit_attributes(axes);
    made->constructor_validate_and_infer_types();
    return made->outputs();
}

}  // namespace
}  // namespace retrograde

/// Sets what extensions that this thread creates from now on (`core.add_extension(path)`) do with a
/// length beyond the time axis: `RETROGRADE_STRICT` (the default) or `RETROGRADE_CLAMP`. Returns
/// whether there is such a policy.
extern "C" __attribute__((visibility("default"))) int retrograde_openvino_set_policy(uint32_t policy) {
    if (policy != RETROGRADE_STRICT && policy != RETROGRADE_CLAMP) {
        return 0;
    }
    retrograde::chosen_policy = policy;
    return 1;
}

OPENVINO_EXTENSION_C_API void OV_CREATE_EXTENSION(std::vector<ov::Extension::Ptr>& extensions) {
    using namespace retrograde;
    const auto policy = chosen_policy;
    for (const bool is_sequence : {false, true}) {
        const auto& own = is_sequence ? ReverseSequence::get_type_info_static() : Reverse::get_type_info_static();
        const char* const name = is_sequence ? "ReverseSequence" : "Reverse";
        extensions.push_back(std::make_shared<Extension>(ov::DiscreteTypeInfo(name, "opset1"), is_sequence, policy));
        // For models that were saved with our operators in them.
        extensions.push_back(std::make_shared<Extension>(own, is_sequence, policy));
    }
    extensions.push_back(std::make_shared<ov::frontend::onnx::ConversionExtension>(
        "ReverseSequence", "", [policy](const ov::frontend::NodeContext& node) { return from_onnx(node, policy); }));
}
