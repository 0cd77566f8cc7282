// retrograde.h for C++20: objects that destroy themselves, ranges instead of pointers with sizes, and
// exceptions instead of statuses. There is nothing else to link. The documentation is docs/c.md.
#ifndef RETROGRADE_HPP
#define RETROGRADE_HPP

#include <retrograde.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace retrograde {

// A failed call: its message, its status, and which length it was about (-1 if about none).
class Error : public std::runtime_error {
public:
    explicit Error(retrograde_status status)
        : std::runtime_error(retrograde_last_error()), m_status(status), m_position(retrograde_last_error_position()) {}
    retrograde_status status() const noexcept { return m_status; }
    std::int64_t position() const noexcept { return m_position; }

private:
    retrograde_status m_status;
    std::int64_t m_position;
};

// Throws unless a function of retrograde.h succeeded.
inline void check(retrograde_status status) {
    if (status != RETROGRADE_OK) throw Error(status);
}

// Elements of a type that can be copied as bytes, one after the other: vectors, arrays, spans.
template <class Range>
concept Elements = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                   std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;
template <class Range>
using Element = std::ranges::range_value_t<Range>;

// The element type of T. What is no number, such as a pixel of three bytes, is that many bytes.
template <class T>
constexpr retrograde_dtype dtype_of() {
    using std::is_same_v;
    if constexpr (is_same_v<T, bool>) return RETROGRADE_BOOL;
    else if constexpr (is_same_v<T, float>) return RETROGRADE_F32;
    else if constexpr (is_same_v<T, double>) return RETROGRADE_F64;
    else if constexpr (is_same_v<T, std::complex<float>>) return RETROGRADE_C64;
    else if constexpr (is_same_v<T, std::complex<double>>) return RETROGRADE_C128;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 1) return std::is_signed_v<T> ? RETROGRADE_I8 : RETROGRADE_U8;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 2) return std::is_signed_v<T> ? RETROGRADE_I16 : RETROGRADE_U16;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) return std::is_signed_v<T> ? RETROGRADE_I32 : RETROGRADE_U32;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return std::is_signed_v<T> ? RETROGRADE_I64 : RETROGRADE_U64;
    else return RETROGRADE_BYTES;
}

// The description of a tensor: element type, sizes, and strides if it is not dense.
class Tensor {
public:
    // Of a type that C++ does not have, or of RETROGRADE_BYTES with the width of an element.
    Tensor(retrograde_dtype dtype, std::vector<std::int64_t> shape, std::size_t element_bytes = 0)
        : m_shape(std::move(shape)), m_fields(RETROGRADE_TENSOR(dtype, 0, nullptr)) {
        m_fields.element_bytes = element_bytes;
    }
    template <class T>
    static Tensor of(std::vector<std::int64_t> shape) {
        return Tensor(dtype_of<T>(), std::move(shape), dtype_of<T>() == RETROGRADE_BYTES ? sizeof(T) : 0);
    }
    // Distances between elements, and where the first one is, all in elements.
    Tensor &&strided(std::vector<std::int64_t> strides, std::size_t offset = 0) && {
        if (strides.size() != m_shape.size()) throw std::invalid_argument("a tensor needs a stride for each axis");
        m_strides = std::move(strides);
        m_fields.offset = offset;
        return std::move(*this);
    }
    // For the functions of retrograde.h, as long as this object lives.
    retrograde_tensor get() const {
        retrograde_tensor tensor = m_fields;
        tensor.rank = m_shape.size();
        tensor.shape = m_shape.data();
        tensor.strides = m_strides.empty() ? nullptr : m_strides.data();
        return tensor;
    }

private:
    std::vector<std::int64_t> m_shape, m_strides;
    retrograde_tensor m_fields;
};

// A call that was checked and planned: run it as often as needed, by any number of threads.
class Call {
public:
    template <Elements X, Elements Y>
    void run(const X &x, Y &&y) const {
        run(x, std::span<const std::byte>(), y);
    }
    // With lengths, or offsets.
    template <Elements X, Elements Lengths, Elements Y>
    void run(const X &x, const Lengths &lengths, Y &&y) const {
        const auto from = std::as_bytes(std::span(x)), counts = std::as_bytes(std::span(lengths));
        const auto to = std::as_writable_bytes(std::span(y));
        check(retrograde_run(get(), from.data(), from.size(), counts.empty() ? nullptr : counts.data(), counts.size(),
                             to.data(), to.size()));
    }
    template <Elements X>
    void run_in_place(X &&x) const {
        run_in_place(x, std::span<const std::byte>());
    }
    template <Elements X, Elements Lengths>
    void run_in_place(X &&x, const Lengths &lengths) const {
        const auto data = std::as_writable_bytes(std::span(x));
        const auto counts = std::as_bytes(std::span(lengths));
        check(retrograde_run_in_place(get(), counts.empty() ? nullptr : counts.data(), counts.size(), data.data(),
                                      data.size()));
    }
    // For the functions of retrograde.h, such as those for CUDA.
    const retrograde_call *get() const noexcept { return m_call.get(); }

private:
    friend class Operator;
    struct Destroy {
        void operator()(retrograde_call *call) const { retrograde_call_destroy(call); }
    };
    explicit Call(retrograde_call *call) : m_call(call) {}
    std::unique_ptr<retrograde_call, Destroy> m_call;
};

// An operator and its attributes.
class Operator {
public:
    // Whole axes; negative ones count from the end.
    static Operator reverse(const std::vector<std::int64_t> &axes) {
        Operator made(RETROGRADE_REVERSE);
        check(retrograde_operator_set_axes(made.get(), axes.data(), axes.size()));
        return made;
    }
    // The first steps of each sequence of a padded batch.
    static Operator reverse_sequence(std::int64_t time_axis, std::int64_t batch_axis) {
        Operator made(RETROGRADE_REVERSE_SEQUENCE);
        check(retrograde_operator_set_time_axis(made.get(), time_axis));
        check(retrograde_operator_set_batch_axis(made.get(), batch_axis));
        return made;
    }
    // The first elements of each lane.
    static Operator reverse_subsequences(std::int64_t axis) { return along(RETROGRADE_REVERSE_SUBSEQUENCES, axis); }
    // What lies between two offsets.
    static Operator reverse_segments(std::int64_t axis) { return along(RETROGRADE_REVERSE_SEGMENTS, axis); }

    // An image with this EXIF number, upright; the output has other sizes from 5 on.
    static Operator orient(std::uint32_t exif, std::int64_t rows = 0, std::int64_t columns = 1) {
        Operator made(RETROGRADE_ORIENT);
        const std::int64_t axes[] = {rows, columns};
        check(retrograde_operator_set_orientation(made.get(), exif));
        check(retrograde_operator_set_axes(made.get(), axes, 2));
        return made;
    }

    Operator &&policy(retrograde_policy policy) && {
        check(retrograde_operator_set_policy(get(), policy));
        return std::move(*this);
    }
    Operator &&align(retrograde_align align) && {
        check(retrograde_operator_set_align(get(), align));
        return std::move(*this);
    }
    Operator &&tail(retrograde_tail tail) && {
        check(retrograde_operator_set_tail(get(), tail));
        return std::move(*this);
    }
    Operator &&marked(bool marked = true) && {
        check(retrograde_operator_set_marked(get(), marked));
        return std::move(*this);
    }
    Operator &&table(const std::vector<uint8_t> &entries) && {
        check(retrograde_operator_set_table(get(), entries.data(), entries.size()));
        return std::move(*this);
    }
    // Checks and plans a call whose output is described as its input is.
    Call prepare(const Tensor &x) const { return prepare(x, nullptr, x); }
    Call prepare(const Tensor &x, const Tensor &lengths) const { return prepare(x, &lengths, x); }
    Call prepare(const Tensor &x, const Tensor *lengths, const Tensor &y) const {
        const retrograde_tensor input = x.get(), output = y.get();
        const retrograde_tensor counts = lengths ? lengths->get() : retrograde_tensor{};
        retrograde_call *call = nullptr;
        check(retrograde_prepare(m_op.get(), &input, lengths ? &counts : nullptr, &output, &call));
        return Call(call);
    }
    // For the functions of retrograde.h.
    retrograde_operator *get() noexcept { return m_op.get(); }

private:
    struct Destroy {
        void operator()(retrograde_operator *op) const { retrograde_operator_destroy(op); }
    };
    explicit Operator(retrograde_kind kind) {
        retrograde_operator *op = nullptr;
        check(retrograde_operator_create(kind, &op));
        m_op.reset(op);
    }
    static Operator along(retrograde_kind kind, std::int64_t axis) {
        Operator made(kind);
        check(retrograde_operator_set_axis(made.get(), axis));
        return made;
    }
    std::unique_ptr<retrograde_operator, Destroy> m_op;
};

// Reverses axes of a dense tensor of this shape, from x to y; if y is x, in place.
template <Elements X, Elements Y>
void flip(const X &x, const std::vector<std::int64_t> &shape, const std::vector<std::int64_t> &axes, Y &&y) {
    static_assert(std::is_same_v<Element<X>, std::remove_cvref_t<Element<Y>>>, "x and y have elements of one type");
    const Tensor described = Tensor::of<Element<X>>(shape);
    const retrograde_tensor tensor = described.get();
    const auto from = std::as_bytes(std::span(x));
    const auto to = std::as_writable_bytes(std::span(y));
    check(retrograde_flip(&tensor, axes.data(), axes.size(), from.data(), from.size(), to.data(), to.size()));
}

}  // namespace retrograde

#endif
