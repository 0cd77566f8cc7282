// The operators for Python, without what `torch.ops` does to find them and to convert arguments, which takes
// longer than to reverse a small tensor.
//
// The functions return None for a call that needs the full path: while a mode, a transform or a tracer is active,
// and for arguments that are not of the usual types. They have done nothing then.

#include <optional>
#include <string>
#include <string_view>

#include <Python.h>

#include <ATen/EmptyTensor.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

namespace {

using at::Tensor;
using Axes = c10::SmallVector<int64_t, 8>;

/// Smaller calls end before another thread could take the lock of the interpreter.
constexpr size_t DETACH_FROM = 64 << 10;

constexpr c10::DispatchKeySet WATCHED({
    c10::DispatchKey::Python,
    c10::DispatchKey::PythonTLSSnapshot,
    c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
    c10::DispatchKey::FuncTorchDynamicLayerBackMode,
    c10::DispatchKey::Functionalize,
    c10::DispatchKey::Tracer,
    c10::DispatchKey::PreDispatch,
});

/// Whether operations run one by one, and nothing has to see this one.
bool is_quiet() {
    return !at::impl::torch_function_mode_enabled() &&
           (c10::impl::tls_local_dispatch_key_set().included_ & WATCHED).empty();
}

/// A tensor of PyTorch's own class whose elements the engine can move one by one.
const Tensor* plain(PyObject* object) {
    if (!THPVariable_CheckExact(object)) {
        return nullptr;
    }
    const auto& x = THPVariable_Unpack(object);
    const auto usual = (x.is_cpu() || x.is_cuda()) && x.layout() == at::kStrided && !x.is_quantized() && !x.is_nested();
    return usual ? &x : nullptr;
}

std::optional<int64_t> integer(PyObject* object) {
    if (!PyLong_CheckExact(object)) {
        return std::nullopt;
    }
    int overflow = 0;
    const auto value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 ? std::optional<int64_t>(value) : std::nullopt;
}

/// The integers of a list or a tuple that has nothing else.
std::optional<Axes> integers(PyObject* object) {
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) {
        return std::nullopt;
    }
    Axes found;
    const auto count = PySequence_Fast_GET_SIZE(object);
    for (Py_ssize_t at = 0; at < count; ++at) {
        const auto value = integer(PySequence_Fast_GET_ITEM(object, at));
        if (!value) {
            return std::nullopt;
        }
        found.push_back(*value);
    }
    return found;
}

/// One axis, several, or all of them for None.
std::optional<Axes> axes_of(PyObject* object, int64_t rank) {
    if (object == Py_None) {
        Axes all;
        for (int64_t axis = 0; axis < rank; ++axis) {
            all.push_back(axis);
        }
        return all;
    }
    if (const auto axis = integer(object)) {
        return Axes{*axis};
    }
    return integers(object);
}

std::optional<std::string_view> word(PyObject* object) {
    Py_ssize_t size = 0;
    if (!PyUnicode_CheckExact(object)) {
        return std::nullopt;
    }
    const auto* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) {
        PyErr_Clear();
        return std::nullopt;
    }
    return std::string_view(text, size);
}

/// Lengths that the engine reads where they are, or a copy of a list.
std::optional<Tensor> lengths_of(PyObject* object, const Tensor& x) {
    if (const auto* const given = plain(object)) {
        const auto usual = c10::isIntegralType(given->scalar_type(), false) && !given->is_neg() &&
                           (given->is_cpu() || given->device() == x.device());
        return usual ? std::optional<Tensor>(*given) : std::nullopt;
    }
    const auto values = integers(object);
    if (!values) {
        return std::nullopt;
    }
    const int64_t count = values->size();
    Tensor made(at::detail::empty_cpu(count, at::kLong));
    std::copy(values->begin(), values->end(), made.mutable_data_ptr<int64_t>());
    return made;
}

template <typename Signature>
auto found(const char* name) {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// Runs a call, without the interpreter's lock if it is large.
template <typename Call>
PyObject* ran(const Tensor& x, Call call) {
    std::optional<pybind11::gil_scoped_release> released;
    if (!x.is_cpu() || x.nbytes() >= DETACH_FROM) {
        released.emplace();
    }
    auto result = call();
    released.reset();
    return THPVariable_Wrap(std::move(result));
}

PyObject* none() {
    Py_RETURN_NONE;
}

/// reverse(x, axes, mask, duplicates, out)
PyObject* reverse(PyObject*, PyObject* const* given, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    static const auto op = found<Tensor(const Tensor&, at::IntArrayRef)>("retrograde::reverse");
    const auto* const x = count == 5 ? plain(given[0]) : nullptr;
    if (x == nullptr || given[2] != Py_None || given[4] != Py_None || word(given[3]) != "set" || !is_quiet()) {
        return none();
    }
    const auto axes = axes_of(given[1], x->dim());
    return axes ? ran(*x, [&] { return op.call(*x, *axes); }) : none();
    END_HANDLE_TH_ERRORS
}

/// flip(x, axes): the full path has the errors of NumPy's function.
PyObject* flip(PyObject*, PyObject* const* given, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    static const auto op = found<Tensor(const Tensor&, at::IntArrayRef)>("retrograde::flip");
    const auto* const x = count == 2 ? plain(given[0]) : nullptr;
    if (x == nullptr || !is_quiet()) {
        return none();
    }
    auto axes = axes_of(given[1], x->dim());
    if (!axes) {
        return none();
    }
    const auto rank = x->dim();
    for (size_t at = 0; at < axes->size(); ++at) {
        auto& axis = (*axes)[at];
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank || std::find(axes->begin(), axes->begin() + at, axis) != axes->begin() + at) {
            return none();
        }
    }
    return ran(*x, [&] { return op.call(*x, *axes); });
    END_HANDLE_TH_ERRORS
}

/// reverse_sequence(x, lengths, time_axis, batch_axis, policy, align, tail, out)
PyObject* reverse_sequence(PyObject*, PyObject* const* given, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    using Signature = Tensor(const Tensor&, const Tensor&, int64_t, int64_t, std::string_view, std::string_view, std::string_view);
    static const auto op = found<Signature>("retrograde::reverse_sequence");
    const auto* const x = count == 8 ? plain(given[0]) : nullptr;
    if (x == nullptr || given[7] != Py_None || !is_quiet()) {
        return none();
    }
    const auto time = integer(given[2]), batch = integer(given[3]);
    const auto policy = word(given[4]), align = word(given[5]), tail = word(given[6]);
    if (!time || !batch || !policy || !align || !tail) {
        return none();
    }
    const auto lengths = lengths_of(given[1], *x);
    return lengths ? ran(*x, [&] { return op.call(*x, *lengths, *time, *batch, *policy, *align, *tail); }) : none();
    END_HANDLE_TH_ERRORS
}

/// reverse_subsequences(x, lengths, axis, policy, align, tail, out)
PyObject* reverse_subsequences(PyObject*, PyObject* const* given, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    using Signature = Tensor(const Tensor&, const Tensor&, int64_t, std::string_view, std::string_view, std::string_view);
    static const auto op = found<Signature>("retrograde::reverse_subsequences");
    const auto* const x = count == 7 ? plain(given[0]) : nullptr;
    if (x == nullptr || given[6] != Py_None || !is_quiet()) {
        return none();
    }
    const auto axis = integer(given[2]);
    const auto policy = word(given[3]), align = word(given[4]), tail = word(given[5]);
    if (!axis || !policy || !align || !tail) {
        return none();
    }
    const auto lengths = lengths_of(given[1], *x);
    return lengths ? ran(*x, [&] { return op.call(*x, *lengths, *axis, *policy, *align, *tail); }) : none();
    END_HANDLE_TH_ERRORS
}

/// reverse_segments(x, offsets, axis, out)
PyObject* reverse_segments(PyObject*, PyObject* const* given, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    static const auto op = found<Tensor(const Tensor&, const Tensor&, int64_t)>("retrograde::reverse_segments");
    const auto* const x = count == 4 ? plain(given[0]) : nullptr;
    const auto axis = x == nullptr ? std::nullopt : integer(given[2]);
    if (!axis || given[3] != Py_None || !is_quiet()) {
        return none();
    }
    const auto offsets = lengths_of(given[1], *x);
    return offsets ? ran(*x, [&] { return op.call(*x, *offsets, *axis); }) : none();
    END_HANDLE_TH_ERRORS
}

/// What `on_subclass` was given; it stays until the process ends.
PyObject* subclass_hook = nullptr;

void call_subclass_hook() {
    const pybind11::gil_scoped_acquire acquired;
    auto* const result = PyObject_CallNoArgs(subclass_hook);
    if (result == nullptr) {
        PyErr_WriteUnraisable(subclass_hook);
    }
    Py_XDECREF(result);
}

/// on_subclass(address, function): passes a function to `retrograde_torch_on_subclass`, which is at this address.
PyObject* on_subclass(PyObject*, PyObject* const* given, Py_ssize_t count) {
    auto* const set = count == 2 ? reinterpret_cast<void (*)(void (*)())>(PyLong_AsVoidPtr(given[0])) : nullptr;
    if (set == nullptr) {
        PyErr_SetString(PyExc_TypeError, "on_subclass takes an address and a function");
        return nullptr;
    }
    Py_INCREF(given[1]);
    subclass_hook = given[1];
    set(call_subclass_hook);
    Py_RETURN_NONE;
}

template <PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)>
PyMethodDef method(const char* name) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, nullptr};
}

PyMethodDef methods[] = {
    method<reverse>("reverse"),
    method<flip>("flip"),
    method<reverse_sequence>("reverse_sequence"),
    method<reverse_subsequences>("reverse_subsequences"),
    method<reverse_segments>("reverse_segments"),
    method<on_subclass>("on_subclass"),
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_torch_calls", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__torch_calls() {
    return PyModule_Create(&module);
}
