"""The operators as PyTorch has them: registered, with gradients, for eager code and for compilers.

>>> import torch, retrograde.torch
>>> x = torch.arange(6.0).reshape(2, 3).requires_grad_()
>>> y = retrograde.torch.reverse_sequence(x, torch.tensor([3, 2]), time_axis=1, batch_axis=0)
>>> y.tolist()
[[2.0, 1.0, 0.0], [4.0, 3.0, 5.0]]
>>> y[:, 0].sum().backward()
>>> x.grad.tolist()
[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]

The operators are ``torch.ops.retrograde.reverse``, ``reverse_sequence`` and ``reverse_subsequences``, each
with a variant that works in place (``reverse_``) and one that writes to a tensor (``reverse_out``). They
run under ``torch.compile(fullgraph=True)``, ``torch.export``, ``torch.func`` (``grad``, ``vjp``, ``jvp``,
``vmap``) and forward-mode differentiation, and ``torch.fx.symbolic_trace`` writes them down as calls of the
functions here. The gradient of a reversal is the same reversal; lengths have none.

Under ``vmap`` the tensor, the lengths or both may be batched; the variants that write are for calls outside
of it. Tensors are on the CPU or on a CUDA device, of any type and any strides; quantised, sparse and nested
ones are refused. On a CUDA device calls go to the current stream and do not wait; lengths that lie there are
checked there (:mod:`retrograde.cuda`).
"""

from collections.abc import Iterable
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch._C import DispatchKey, _after_ADInplaceOrView_keyset, _after_autograd_keyset
from torch._C import _AutoDispatchBelowADInplaceOrView, _AutoDispatchBelowAutograd
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction
from torch.autograd.graph import increment_version
from torch.overrides import handle_torch_function

from . import _axes, _engine
from ._hints import MISSING, hinted, wrong

__all__ = ["reverse", "reverse_sequence", "reverse_subsequences"]

#: From here on outputs come from the engine, in large pages that are used again: smaller ones the
#: system's allocator has at hand, larger ones it would ask the system for each time.
_LARGE = 32 << 20


@hinted
def reverse(
    x: Tensor,
    axes: int | Iterable[int] | None = None,
    *,
    mask: Iterable[bool | int] | None = None,
    out: Tensor | None = None,
    **others,
) -> Tensor:
    """Reverses whole axes; see :func:`retrograde.reverse`.

    >>> reverse(torch.tensor([[1, 2], [3, 4]]), 0).tolist()
    [[3, 4], [1, 2]]
    """
    if others:
        raise wrong(reverse, others)
    return _reverse(x, axes, mask, out)


def _reverse(x, axes, mask, out):
    """The same; ``retrograde.reverse`` comes here too, and to those that follow."""
    if type(x) is Tensor and _is_quiet() and not x.is_neg():
        if out is not None:
            if _is_plain(x, out) and _into.reverse_into(x, axes, mask, out):
                increment_version(out)
                return out
        elif not (x.requires_grad and _is_recording()):
            new = _new_reverse(x, axes, mask)
            if new is not None:
                return new
        elif mask is None and (axes is None or type(axes) in _FIXED):
            new = _new_reverse(x, axes, None)
            if new is not None:
                return _recorded_reverse(x, (new, (axes, None)))
    if _is_stood_in_for(x, out):
        given = {"axes": axes, "mask": mask, "out": out}
        return _handed_over(reverse, (x,), given)
    _check(x)
    return _call("reverse", x, (_axes.resolved(axes, mask, x.dim()),), out)


@hinted
def reverse_sequence(
    x: Tensor,
    lengths: Tensor | ArrayLike = MISSING,
    *,
    time_axis: int = 0,
    batch_axis: int = 1,
    policy: Literal["strict", "clamp"] = "strict",
    out: Tensor | None = None,
    **others,
) -> Tensor:
    """Reverses the first ``lengths[b]`` steps of every sequence; see :func:`retrograde.reverse_sequence`.

    >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    >>> reverse_sequence(x, [3, 2], time_axis=1, batch_axis=0).tolist()
    [[3, 2, 1], [5, 4, 6]]
    """
    if others or lengths is MISSING:
        raise wrong(reverse_sequence, others, "lengths")
    return _reverse_sequence(x, lengths, time_axis, batch_axis, policy, out)


def _reverse_sequence(x, lengths, time_axis, batch_axis, policy, out):
    if type(x) is Tensor and _is_quiet() and not x.is_neg():
        if out is not None:
            if _is_plain(x, out) and _into.reverse_sequence_into(
                x, lengths, time_axis, batch_axis, policy, out
            ):
                increment_version(out)
                return out
        elif not (x.requires_grad and _is_recording()):
            new = _new_sequence(x, lengths, time_axis, batch_axis, policy)
            if new is not None:
                return new
        elif type(lengths) is Tensor:
            new = _new_sequence(x, lengths, time_axis, batch_axis, policy)
            if new is not None:
                return _recorded_sequence(x, (new, (lengths, time_axis, batch_axis, policy)))
    if _is_stood_in_for(x, lengths, out):
        given = {"time_axis": time_axis, "batch_axis": batch_axis, "policy": policy, "out": out}
        return _handed_over(reverse_sequence, (x, lengths), given)
    _check(x)
    arguments = _lengths("ReverseSequence", x, lengths), time_axis, batch_axis, policy
    return _call("reverse_sequence", x, arguments, out)


@hinted
def reverse_subsequences(
    x: Tensor,
    lengths: Tensor | ArrayLike = MISSING,
    *,
    axis: int = MISSING,
    policy: Literal["clamp", "strict"] = "clamp",
    out: Tensor | None = None,
    **others,
) -> Tensor:
    """Reverses the start of every lane along an axis; see :func:`retrograde.reverse_subsequences`.

    >>> reverse_subsequences(torch.arange(6).reshape(2, 3), [3, 2], axis=1).tolist()
    [[2, 1, 0], [4, 3, 5]]
    """
    if others or lengths is MISSING or axis is MISSING:
        raise wrong(reverse_subsequences, others, "lengths" if lengths is MISSING else "axis")
    return _reverse_subsequences(x, lengths, axis, policy, out)


def _reverse_subsequences(x, lengths, axis, policy, out):
    if type(x) is Tensor and _is_quiet() and not x.is_neg():
        if out is not None:
            if _is_plain(x, out) and _into.reverse_subsequences_into(x, lengths, axis, policy, out):
                increment_version(out)
                return out
        elif not (x.requires_grad and _is_recording()):
            new = _new_subsequences(x, lengths, axis, policy)
            if new is not None:
                return new
        elif type(lengths) is Tensor:
            new = _new_subsequences(x, lengths, axis, policy)
            if new is not None:
                return _recorded_subsequences(x, (new, (lengths, axis, policy)))
    if _is_stood_in_for(x, lengths, out):
        return _handed_over(reverse_subsequences, (x, lengths), {"axis": axis, "policy": policy, "out": out})
    _check(x)
    arguments = _lengths("ReverseSubsequences", x, lengths), axis, policy
    return _call("reverse_subsequences", x, arguments, out)


def _call(name, x, arguments, out):
    """With gradients, or through PyTorch's dispatcher, which knows who else wants to see the call."""
    operator = _OPERATORS[name]
    if out is None:
        if _is_unwatched(x, recorded=True) and _are_ordinary(x, *arguments):
            return operator.recorded(x, *arguments)
        return operator.new(x, *arguments)
    if out is not x:
        _check_output(x, out)
    if _is_unwatched(x) and _is_unwatched(out) and _are_ordinary(x, out, *arguments):
        operator.write(x, arguments, out)
        increment_version(out)
    # What writes gets memory as it is: PyTorch makes lazy tensors real only for what returns.
    elif out is x:
        if _is_lazy(x):
            return x.copy_(operator.new(x, *arguments))
        operator.in_place(x, *arguments)
    else:
        operator.out(x.resolve_conj().resolve_neg() if _is_lazy(x) else x, *arguments, out)
    return out


# Calls that nobody else sees go straight to the engine: the dispatcher and back costs more than the
# reversal of a small tensor. Everything that could be watching is asked first.

_PYTHON_MODE = DispatchKey.Python
_FUNCTIONAL_MODE = DispatchKey.FuncTorchDynamicLayerFrontMode
_tracing_state = torch._C._get_tracing_state
_is_included = torch._C._dispatch_tls_is_dispatch_key_included
_function_modes = torch._C._len_torch_function_stack
_is_compiling = torch.compiler.is_dynamo_compiling
_is_recording = torch.is_grad_enabled
_is_inference = torch.is_inference_mode_enabled
#: What the dispatcher knows of ordinary tensors, by the kind of device they are on.
_ORDINARY = {}


def _is_quiet():
    """Whether nothing on this thread wants to see calls, but for gradients."""
    return not (
        _is_compiling()
        or forward_ad._current_level >= 0
        or _is_included(_PYTHON_MODE)
        or _is_included(_FUNCTIONAL_MODE)
        or _tracing_state() is not None
        or _function_modes()
    )


def _is_unwatched(x, recorded=False):
    """``recorded``: gradients are taken care of."""
    return _is_quiet() and not (
        (not recorded and x.requires_grad and _is_recording()) or x.is_conj() or x.is_neg()
    )


def _is_plain(x, out):
    """Whether writing to ``out`` is writing to memory, and nothing is differentiated."""
    return (
        type(out) is Tensor
        and out.dtype is x.dtype
        and not out.is_neg()
        and not ((x.requires_grad or out.requires_grad) and _is_recording())
        and not _is_frozen(out)
    )


def _is_frozen(out):
    """Whether a tensor was made in inference mode and this is outside of it: nothing may write to it."""
    return out.is_inference() and not _is_inference()


def _are_ordinary(*arguments):
    """Whether tensors are memory and nothing else: no wrappers, nothing lazy."""
    return all(
        type(x) is Tensor and torch._C._dispatch_keys(x).raw_repr() == _ordinary(x.device.type)
        for x in arguments
        if isinstance(x, Tensor)
    )


def _ordinary(kind):
    if kind not in _ORDINARY:
        known = kind in ("cpu", "cuda")
        _ORDINARY[kind] = torch._C._dispatch_keys(torch.empty(0, device=kind)).raw_repr() if known else None
    return _ORDINARY[kind]


def _is_lazy(x):
    """Whether a tensor is the conjugate or the negative of its memory; compilers cannot ask."""
    return not _is_compiling() and (x.is_conj() or x.is_neg())


def _large(x):
    """A large output, in the engine's memory if that is laid out as PyTorch would."""
    if x.is_contiguous() and x.is_cpu and x.dtype in _KEPT:
        return torch.from_dlpack(_engine.empty_like(_bits(x)))
    return torch.empty_like(x)


# What stands in for tensors without being one: it says itself what a call of it means. ``torch.fx`` writes the
# call down.


def _is_stood_in_for(*tensors):
    return any(not isinstance(x, Tensor) and hasattr(type(x), "__torch_function__") for x in tensors)


def _handed_over(function, tensors, given):
    """Calls the public function as PyTorch would its own, with what was given of its arguments."""
    given = {name: value for name, value in given.items() if value is not None}
    everything = (*tensors, *given.values())
    relevant = [x for x in everything if hasattr(type(x), "__torch_function__")]
    return handle_torch_function(function, relevant, *tensors, **given)


# What is checked before a call


def _check(x):
    if not isinstance(x, Tensor):
        raise TypeError(f"x is a {type(x).__name__}, expected a torch.Tensor")
    if x.is_nested:
        raise TypeError("x is a nested tensor: its lanes have lengths of their own; pad it first")
    if x.layout is not torch.strided:
        raise TypeError(f"x has layout {x.layout}, expected torch.strided (x.to_dense())")
    if x.is_quantized or x.dtype in _PACKED:
        raise TypeError(f"x has dtype {x.dtype}, whose elements cannot be moved one by one")


def _check_output(x, out):
    if not isinstance(out, Tensor):
        raise TypeError(f"out is a {type(out).__name__}, expected a torch.Tensor as the input is")
    if out.dtype != x.dtype:
        raise TypeError(f"out has dtype {out.dtype}, expected the input's dtype {x.dtype}")
    if out.device != x.device:
        raise ValueError(f"out is on {out.device}, expected the input's device {x.device}")
    if _is_lazy(out):
        raise ValueError("out is a lazily conjugated or negated view, which cannot be written to")


def _check_writable(out):
    """Refuses it in PyTorch's own words, before anything is written."""
    if _is_frozen(out):
        # Of no elements: it changes nothing even if it is allowed.
        out.as_strided((0,), (1,)).zero_()


def _lengths(name, x, lengths):
    """As a tensor that the engine can read."""
    if not isinstance(lengths, Tensor):
        if not isinstance(lengths, (list, tuple)):
            lengths = np.asarray(lengths)
            lengths = lengths.astype(lengths.dtype.newbyteorder("="))
        empty = len(lengths) == 0 if isinstance(lengths, (list, tuple)) else lengths.size == 0
        lengths = torch.as_tensor(lengths, dtype=torch.int64 if empty else None)
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        dtype = str(lengths.dtype).removeprefix("torch.")
        raise TypeError(f"{name}: lengths have type {dtype}, expected an integer type")
    # On the CPU they are checked before anything runs, wherever the tensor is.
    return lengths if lengths.is_cpu else lengths.to(x.device)


# The operators


class _Operator:
    """An operator with its three variants, registered with PyTorch.

    ``parameters`` is what stands between the input and the output in a schema.
    """

    def __init__(self, name, parameters, batched):
        self.name = name
        self.batched = batched
        _library.define(f"{name}(Tensor x, {parameters}) -> Tensor", tags=_TAGS)
        _library.define(f"{name}_(Tensor(a!) x, {parameters}) -> ()", tags=_TAGS)
        _library.define(f"{name}_out(Tensor x, {parameters}, Tensor(a!) out) -> ()", tags=_TAGS)
        ops = torch.ops.retrograde
        self.new = getattr(ops, name).default
        self.in_place = getattr(ops, f"{name}_").default
        self.out = getattr(ops, f"{name}_out").default
        self.engine = getattr(_engine, name)
        for key in ("CPU", "CUDA"):
            self._register_kernels(key, self._new, self._in_place, self._out)
        self._register_fakes()
        self._register_gradients()
        torch.library.register_vmap(f"retrograde::{name}", self._new_batched, lib=_library)

    def _register_kernels(self, key, new, in_place, out):
        _library.impl(self.name, new, key)
        _library.impl(f"{self.name}_", in_place, key)
        _library.impl(f"{self.name}_out", out, key)

    # Lazy conjugates and negatives never get here: PyTorch or `_call` makes them real first.

    def _new(self, x, *arguments):
        out = torch.empty_like(x) if x.nbytes < _LARGE else _large(x)
        self.write(x, arguments, out)
        return out

    def _in_place(self, x, *arguments):
        self.write(x, arguments, x)

    def _out(self, x, *arguments):
        *arguments, out = arguments
        self.write(x, arguments, out)

    def write(self, x, arguments, out):
        """In the engine. Its ``reverse`` has a mask too."""
        if self.name == "reverse":
            arguments = *arguments, None
        self.engine(_bits(x), *arguments, _bits(out))

    def _register_fakes(self):
        fake = torch.library.register_fake
        fake(f"retrograde::{self.name}", self._new_fake, lib=_library)
        fake(f"retrograde::{self.name}_", self._fake, lib=_library)
        fake(f"retrograde::{self.name}_out", self._fake, lib=_library)

    def _new_fake(self, x, *arguments):
        return torch.empty_like(x)

    def _fake(self, x, *arguments):
        return None

    def _register_gradients(self):
        name, new, direct = self.name, self.new, self._new
        again, more = globals()[f"_{name}"], (None,) if name == "reverse" else ()

        class Function(_SingleLevelFunction):
            """Linear, and its own transpose.

            Of one level: the dispatcher comes here again for every further one of ``torch.func``'s.
            """

            @staticmethod
            def forward(ctx, modes, keyset, x, *arguments):
                # Lengths are saved, so that PyTorch notices if they are written to meanwhile.
                tensors = [a for a in arguments if isinstance(a, Tensor)]
                ctx.save_for_backward(*tensors)
                ctx.save_for_forward(*tensors)
                ctx.arguments = [None if isinstance(a, Tensor) else a for a in arguments]
                if keyset is None:
                    return direct(x, *arguments)
                # Here both are off; the levels below have them as the caller does.
                backward, forward = modes
                modes = torch.set_grad_enabled(backward), forward_ad._set_fwd_grad_enabled(forward)
                with modes[0], modes[1], _AutoDispatchBelowAutograd():
                    return new.redispatch(keyset & _after_autograd_keyset, x, *arguments)

            @staticmethod
            def arguments(ctx):
                tensors = iter(ctx.saved_tensors)
                return [next(tensors) if a is None else a for a in ctx.arguments]

            @staticmethod
            def backward(ctx, gradient):
                # `reverse` has a mask too.
                arguments = *Function.arguments(ctx), *more
                gradient = again(gradient, *arguments, None)
                return None, None, gradient, *(None for _ in ctx.arguments)

            @staticmethod
            def jvp(ctx, modes, keyset, tangent, *others):
                return new(tangent, *Function.arguments(ctx))

        #: For ordinary tensors when nobody else watches: without the dispatcher.
        self.recorded = partial(Function.apply, None, None)
        Function.__name__ = Function.__qualname__ = "".join(part.title() for part in name.split("_"))

        def new_autograd(keyset, x, *arguments):
            if (x.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
                modes = torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled()
                with enable_single_level_autograd_function():
                    return Function.apply(modes, keyset, x, *arguments)
            with _AutoDispatchBelowAutograd():
                return new.redispatch(keyset & _after_autograd_keyset, x, *arguments)

        def in_place_autograd(keyset, x, *arguments):
            if x.requires_grad and torch.is_grad_enabled() or forward_ad._current_level >= 0:
                # PyTorch's own assignment refuses leaves and keeps the graph.
                x.copy_(new(x, *arguments))
                return
            with _AutoDispatchBelowAutograd():
                self.in_place.redispatch(keyset & _after_autograd_keyset, x, *arguments)

        def out_autograd(keyset, x, *arguments):
            out = arguments[-1]
            if (x.requires_grad or out.requires_grad) and torch.is_grad_enabled():
                raise RuntimeError(
                    f"{name}: out=... does not support automatic differentiation, but one of the arguments"
                    " requires grad"
                )
            if forward_ad._current_level >= 0:
                out.copy_(new(x, *arguments[:-1]))
                return
            with _AutoDispatchBelowAutograd():
                self.out.redispatch(keyset & _after_autograd_keyset, x, *arguments)

        def in_place_view(keyset, x, *arguments):
            _check_writable(x)
            with _AutoDispatchBelowADInplaceOrView():
                self.in_place.redispatch(keyset & _after_ADInplaceOrView_keyset, x, *arguments)
            increment_version(x)

        def out_view(keyset, x, *arguments):
            _check_writable(arguments[-1])
            with _AutoDispatchBelowADInplaceOrView():
                self.out.redispatch(keyset & _after_ADInplaceOrView_keyset, x, *arguments)
            increment_version(arguments[-1])

        _library.impl(name, new_autograd, "Autograd", with_keyset=True)
        _library.impl(f"{name}_", in_place_autograd, "Autograd", with_keyset=True)
        _library.impl(f"{name}_out", out_autograd, "Autograd", with_keyset=True)
        _library.impl(f"{name}_", in_place_view, "ADInplaceOrView", with_keyset=True)
        _library.impl(f"{name}_out", out_view, "ADInplaceOrView", with_keyset=True)

    def _new_batched(self, info, dims, x, *arguments):
        return self.batched(info.batch_size, dims, x, *arguments)


def _recorded(again, name):
    """Records a reversal that is done already; ``again`` is the function that does it to a gradient."""

    def forward(ctx, x, done):
        new, arguments = done
        if type(arguments[0]) is Tensor:
            # Lengths are saved, so that PyTorch notices if they are written to meanwhile.
            ctx.save_for_backward(arguments[0])
            ctx.others = arguments[1:]
        else:
            ctx.others = arguments
        return new

    def backward(ctx, gradient):
        return again(gradient, *ctx.saved_tensors, *ctx.others, None), None

    parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(_SingleLevelFunction)(name, (_SingleLevelFunction,), parts).apply


_recorded_reverse = _recorded(_reverse, "Reverse")
_recorded_sequence = _recorded(_reverse_sequence, "ReverseSequence")
_recorded_subsequences = _recorded(_reverse_subsequences, "ReverseSubsequences")
#: Axes that stay what they are until the gradient needs them.
_FIXED = (int, tuple)


def _bits(x):
    """The same elements in a type that DLPack has."""
    if x.dtype in _STAND_INS:
        return x.view(_STAND_INS[x.dtype])
    # Older releases lend only what needs no gradient.
    return x if _DESCRIBES or not x.requires_grad else x.detach()


# Under ``vmap``: one more axis.


def _reverse_batched(size, dims, x, axes):
    at = dims[0]
    rank = x.dim() - 1
    return _OPERATORS["reverse"].new(x, [_shifted(axis % rank, at) for axis in axes]), at


def _sequence_batched(size, dims, x, lengths, time_axis, batch_axis, policy):
    run = _OPERATORS["reverse_sequence"].new
    at, lengths_at = dims[:2]
    rank = x.dim() - (at is not None)
    time_axis, batch_axis = time_axis % rank, batch_axis % rank
    if lengths_at is None:
        return run(x, lengths, _shifted(time_axis, at), _shifted(batch_axis, at), policy), at
    # Every sequence of every batch has its own length: the two axes of sequences become one.
    lengths = lengths.movedim(lengths_at, 0)
    if at is None:
        x = x.unsqueeze(batch_axis).expand(*x.shape[:batch_axis], size, *x.shape[batch_axis:])
    else:
        x = x.movedim(at, batch_axis)
    # The time axis is one further on now, if it came after, until the two are one.
    out = run(x.flatten(batch_axis, batch_axis + 1), lengths.flatten(), time_axis, batch_axis, policy)
    return out.unflatten(batch_axis, (size, -1 if out.numel() else x.shape[batch_axis + 1])), batch_axis


def _subsequences_batched(size, dims, x, lengths, axis, policy):
    at, lengths_at = dims[:2]
    rank = x.dim() - (at is not None)
    axis = axis % rank
    x = x.expand(size, *x.shape) if at is None else x.movedim(at, 0)
    lengths = lengths.expand(size, *lengths.shape) if lengths_at is None else lengths.movedim(lengths_at, 0)
    return _OPERATORS["reverse_subsequences"].new(x, lengths, axis + 1, policy), 0


def _shifted(axis, at):
    """Where an axis is once there is another one at ``at``."""
    return axis + (axis >= at)


def _named(*names):
    return {getattr(torch, name) for name in names if hasattr(torch, name)}


#: Types that are several elements to a byte, or that PyTorch packs its own way.
_PACKED = _named("bits1x8", "bits2x4", "bits4x2", "quint4x2", "quint2x4", "qint8", "quint8", "qint32")
#: Types that DLPack does not have, and others of the same width.
_STAND_INS = {
    getattr(torch, name): stand_in
    for name, stand_in in [("bits8", torch.uint8), ("bits16", torch.int16), ("bcomplex32", torch.int32)]
    if hasattr(torch, name)
}
#: Types that come back from DLPack as they went there: not those of less than a byte.
_KEPT = _named(
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
)

#: Whether the engine reads tensors through C (DLPack 1.3).
_DESCRIBES = hasattr(Tensor, "__dlpack_c_exchange_api__")

# Outputs of calls that nobody else sees: straight from PyTorch's allocators where its own compiler goes there.
_guards = getattr(torch._C._dynamo, "guards", None)
_empty_here = getattr(_guards, "_empty_strided_cpu", None)
_empty_there = getattr(_guards, "_empty_strided_cuda", None)
_current_device = getattr(torch._C, "_cuda_getDevice", None)
_into = _engine.Maker(
    Tensor,
    torch.empty_like,
    _large,
    _LARGE,
    _empty_here,
    (_empty_there, _current_device) if _empty_there and _current_device else None,
)
_new_reverse = _into.reverse
_new_sequence = _into.reverse_sequence
_new_subsequences = _into.reverse_subsequences

_TAGS = (torch.Tag.pt2_compliant_tag,)
_library = torch.library.Library("retrograde", "DEF")
_OPERATORS = {}
for _name, _parameters, _batched in [
    ("reverse", "int[] axes", _reverse_batched),
    ("reverse_sequence", "Tensor lengths, int time_axis, int batch_axis, str policy", _sequence_batched),
    ("reverse_subsequences", "Tensor lengths, int axis, str policy", _subsequences_batched),
]:
    _OPERATORS[_name] = _Operator(_name, _parameters, _batched)
