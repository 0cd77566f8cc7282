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
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.autograd.graph import increment_version
from torch.overrides import handle_torch_function

from . import _axes, _engine, _torch_gradients, _torch_private
from ._hints import MISSING, hinted, wrong
from ._torch_gradients import is_frozen
from ._torch_operators import LARGE, OPERATORS, PACKED, large

__all__ = ["reverse", "reverse_sequence", "reverse_subsequences"]


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
    return _reverse((x, axes, mask), out)


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
    return _reverse_sequence((x, lengths, time_axis, batch_axis, policy), out)


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
    return _reverse_subsequences((x, lengths, axis, policy), out)


# The one way of a call, whichever the operator. What nobody else sees goes straight to the engine: the dispatcher
# and back costs more than the reversal of a small tensor. Everything that could be watching is asked first.

_is_quiet = _torch_private.quiet_test()
_is_compiling = torch.compiler.is_dynamo_compiling
_is_recording = torch.is_grad_enabled
#: The operators with outputs of PyTorch's own, made inside the call.
_maker = _engine.Maker(Tensor, torch.empty_like, large, LARGE, *_torch_private.allocators())


def _path(public, settled, first, keywords):
    """An operator as a function of the engine's arguments, in their order and with the tensor first, and an output
    or None.

    ``settled`` makes arguments that stay what they are until the gradient needs them, of which the one behind the
    tensor is of a type in ``first``. ``keywords`` are the names of the last ones; those before have none.
    """
    name = public.__name__
    operator = OPERATORS[name]
    make, write = getattr(_maker, name), getattr(_maker, f"{name}_into")

    def run(arguments, out):
        x = arguments[0]
        if type(x) is Tensor and _is_quiet() and not x.is_neg():
            if out is not None:
                if _is_plain(x, out) and write(*arguments, out):
                    increment_version(out)
                    return out
            elif not (x.requires_grad and _is_recording()):
                new = make(*arguments)
                if new is not None:
                    return new
            else:
                # The last one is a mask, which may change, or a policy.
                lasts = type(arguments[1]) in first and type(arguments[-1]) in _LASTING
                if lasts or not _is_stood_in_for(*arguments):
                    if not lasts:
                        arguments = settled(arguments)
                    new = make(*arguments)
                    if new is not None:
                        return record(x, (new, arguments))
        return dispatch(x, arguments, out)

    def dispatch(x, arguments, out):
        """Through PyTorch's dispatcher, which knows who else wants to see the call."""
        if _is_stood_in_for(*arguments, out):
            unnamed = len(arguments) - len(keywords)
            given = {**dict(zip(keywords, arguments[unnamed:], strict=True)), "out": out}
            return _handed_over(public, arguments[:unnamed], given)
        arguments = settled(arguments)[1 : operator.arity + 1]
        if not _is_compiling():
            # Kernels see no tangents of ``torch.func``.
            _torch_gradients.check_forward_mode(name, x)
        if out is None:
            return operator.new(x, *arguments)
        if out is not x:
            _check_output(x, out)
            # What writes gets memory as it is: PyTorch makes lazy tensors real only for what returns.
            operator.out(x.resolve_conj().resolve_neg() if _is_lazy(x) else x, *arguments, out)
        elif _is_lazy(x) or _torch_gradients.assigns(x):
            x.copy_(operator.new(x, *arguments))
        else:
            operator.in_place(x, *arguments)
        return out

    record = _torch_gradients.recorder(run, name)
    _torch_gradients.register(operator, run)
    return run


_LASTING = frozenset((type(None), str))


def _is_plain(x, out):
    """Whether writing to ``out`` is writing to memory, and nothing is differentiated."""
    return (
        type(out) is Tensor
        and out.dtype is x.dtype
        and not out.is_neg()
        and not ((x.requires_grad or out.requires_grad) and _is_recording())
        and not is_frozen(out)
    )


def _is_lazy(x):
    """Whether a tensor is the conjugate or the negative of its memory; compilers cannot ask."""
    return not _is_compiling() and (x.is_conj() or x.is_neg())


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
    if x.is_quantized or x.dtype in PACKED:
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


def _settled_axes(arguments):
    x, axes, mask = arguments
    _check(x)
    return x, _axes.resolved(axes, mask, x.dim()), None


def _settled_sequence(arguments):
    x, lengths, *others = arguments
    _check(x)
    return x, _lengths("ReverseSequence", x, lengths), *others


def _settled_subsequences(arguments):
    x, lengths, *others = arguments
    _check(x)
    return x, _lengths("ReverseSubsequences", x, lengths), *others


# ``retrograde.reverse`` and the others come here too.
_reverse = _path(reverse, _settled_axes, {type(None), int, tuple}, ("axes", "mask"))
_reverse_sequence = _path(
    reverse_sequence, _settled_sequence, {Tensor}, ("time_axis", "batch_axis", "policy")
)
_reverse_subsequences = _path(reverse_subsequences, _settled_subsequences, {Tensor}, ("axis", "policy"))
