"""The operators as registered PyTorch operators, with gradients, for eager code and for compilers.

>>> import torch, retrograde.torch
>>> x = torch.arange(6.0).reshape(2, 3).requires_grad_()
>>> y = retrograde.torch.reverse_sequence(x, torch.tensor([3, 2]), time_axis=1, batch_axis=0)
>>> y.tolist()
[[2.0, 1.0, 0.0], [4.0, 3.0, 5.0]]
>>> y[:, 0].sum().backward()
>>> x.grad.tolist()
[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]

The operators are ``torch.ops.retrograde.reverse``, ``flip``, ``reverse_sequence``, ``reverse_subsequences`` and
``reverse_segments``. Each has an in-place variant (``reverse_``) and one that writes to a given tensor (``reverse_out``). They support
``torch.compile(fullgraph=True)``, ``torch.export``, ``torch.func`` (``grad``, ``vjp``, ``jvp``, ``vmap``) and
forward-mode differentiation. ``torch.fx.symbolic_trace`` records them as calls of the functions in this module.
The gradient of a reversal is the same reversal. Lengths have no gradient.

Under ``vmap`` the tensor, the lengths or both may be batched. The in-place and out variants do not support
``vmap``. Tensors may be on the CPU or on a CUDA device and may have any dtype and strides. Sparse tensors are
rejected. Nested tensors of layout ``torch.jagged`` are accepted by :func:`reverse_segments` and rejected by the other
functions. Quantised tensors keep their scales and zero points, also those of channels. On a CUDA device, calls run
asynchronously on the current stream, and lengths in device memory are checked on the device (:mod:`retrograde.cuda`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, SupportsIndex

import torch
from torch import Tensor
from torch.overrides import handle_torch_function

from . import (
    _axes,
    _engine,
    _names,
    _torch_gradients,
    _torch_native,
    _torch_private,
    _torch_quantized,
    _torch_sharding,
    _where,
)
from ._hints import MISSING, check_oriented, flipped_axes, hinted, missing_offsets, sequence_axes, wrong
from ._lengths import array_of, counted
from ._torch_native import install, installed, native, uninstall
from ._torch_operators import IS_NATIVE, LARGE, OPERATORS, PACKED, large, large_in_rows, like_in_rows
from ._torch_packed import reverse_packed
from ._typing import Align, Axes, Duplicates, Lengths, Mask, Orientation, Orientations, Plane, Policy, Tail, Where

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "install",
    "installed",
    "native",
    "onnx_translations",
    "orient",
    "reverse",
    "reverse_packed",
    "reverse_segments",
    "reverse_sequence",
    "reverse_subsequences",
    "rot90",
    "uninstall",
]


@hinted
def reverse(
    x: Tensor,
    axes: Axes | None = None,
    *more: NoReturn,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    where: Where | None = None,
    batch_axis: SupportsIndex = 0,
    out: Tensor | None = None,
    **others: NoReturn,
) -> Tensor:
    """Reverses whole axes; see :func:`retrograde.reverse`.

    >>> reverse(torch.tensor([[1, 2], [3, 4]]), 0).tolist()
    [[3, 4], [1, 2]]
    """
    if more or others:
        raise wrong(reverse, others, more=more)
    if where is not None:
        return _where.reverse(reverse_sequence, x, axes, mask, duplicates, where, batch_axis, out)
    if type(x) is Tensor and not _is_compiling():
        done = _make_reverse(x, axes, mask, duplicates, out)
        if done is not None:
            return done
    return _reverse_otherwise(x, axes, mask, duplicates, out)


@hinted
def reverse_sequence(
    x: Tensor,
    lengths: Lengths,
    *more: NoReturn,
    time_axis: SupportsIndex | None = None,
    batch_axis: SupportsIndex | None = None,
    batch_first: bool | None = None,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    where: Where | None = None,
    out: Tensor | None = None,
    **others: NoReturn,
) -> Tensor:
    """Reverses the first ``lengths[b]`` steps of every sequence; see :func:`retrograde.reverse_sequence`.

    >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    >>> reverse_sequence(x, [3, 2], time_axis=1, batch_axis=0).tolist()
    [[3, 2, 1], [5, 4, 6]]
    """
    if more or others or lengths is MISSING:
        raise wrong(reverse_sequence, others, "lengths", more)
    if batch_first is True and time_axis is None and batch_axis is None:
        time_axis, batch_axis = 1, 0
    elif time_axis is None or batch_axis is None or batch_first is not None:
        time_axis, batch_axis = sequence_axes(time_axis, batch_axis, batch_first)
    if where is not None:
        lengths = _where.lengths("ReverseSequence", lengths, where, tail)
    if type(x) is Tensor and not _is_compiling():
        done = _make_reverse_sequence(x, lengths, time_axis, batch_axis, policy, align, tail, out)
        if done is not None:
            return done
    return _reverse_sequence_otherwise(x, lengths, time_axis, batch_axis, policy, align, tail, out)


@hinted
def reverse_subsequences(
    x: Tensor,
    lengths: Lengths,
    *more: NoReturn,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    where: Where | None = None,
    out: Tensor | None = None,
    **others: NoReturn,
) -> Tensor:
    """Reverses the start of every lane along an axis; see :func:`retrograde.reverse_subsequences`.

    >>> reverse_subsequences(torch.arange(6).reshape(2, 3), [3, 2], axis=1).tolist()
    [[2, 1, 0], [4, 3, 5]]
    """
    if more or others or lengths is MISSING or axis is MISSING:
        raise wrong(reverse_subsequences, others, "lengths" if lengths is MISSING else "axis", more)
    if where is not None:
        lengths = _where.lengths("ReverseSubsequences", lengths, where, tail, axis)
    if type(x) is Tensor and not _is_compiling():
        done = _make_reverse_subsequences(x, lengths, axis, policy, align, tail, out)
        if done is not None:
            return done
    return _reverse_subsequences_otherwise(x, lengths, axis, policy, align, tail, out)


@hinted
def reverse_segments(
    x: Tensor,
    offsets: Lengths | None = None,
    *more: NoReturn,
    axis: SupportsIndex = 0,
    where: Where | None = None,
    out: Tensor | None = None,
    **others: NoReturn,
) -> Tensor:
    """Reverses every segment of an axis that is cut by offsets; see :func:`retrograde.reverse_segments`.

    A nested tensor of layout ``torch.jagged`` has offsets of its own: each of its sequences is reversed.

    >>> reverse_segments(torch.arange(6), [0, 2, 5]).tolist()
    [1, 0, 4, 3, 2, 5]
    >>> x = torch.nested.nested_tensor([torch.arange(2), torch.arange(3)], layout=torch.jagged)
    >>> [sequence.tolist() for sequence in reverse_segments(x).unbind()]
    [[1, 0], [2, 1, 0]]
    """
    if more or others:
        raise wrong(reverse_segments, others, more=more)
    if where is not None:
        return _segments_where(x, offsets, axis, where, out)
    if offsets is not None:
        if isinstance(x, Tensor) and x.is_nested:
            raise TypeError("reverse_segments: offsets are given, but x has its own (it is a nested tensor)")
        return _reverse_segments(x, offsets, axis, out)
    if _is_stood_in_for(x):
        return _handed_over(reverse_segments, (x,), {"axis": axis, "out": out})
    values, offsets, cut = _segments_of(x, axis)
    if out is not None:
        raise TypeError("reverse_segments: out is not supported for nested tensors")
    # The same offsets: the result has the same symbolic size as ``x``, so that they can be added.
    return torch.nested.nested_tensor_from_jagged(
        _reverse_segments(values, offsets, cut, None), offsets, jagged_dim=cut + 1
    )


@hinted
def flip(
    m: Tensor,
    axis: Axes | None = None,
    *more: NoReturn,
    dim: Axes | None = None,
    dims: Axes | None = None,
    where: Where | None = None,
    batch_axis: SupportsIndex = 0,
    **others: NoReturn,
) -> Tensor:
    """Reverses axes into a contiguous tensor; see :func:`retrograde.flip`.

    >>> flip(torch.tensor([[1, 2], [3, 4]]), 1).tolist()
    [[2, 1], [4, 3]]
    """
    if more or others:
        raise wrong(flip, others, more=more)
    if dim is not None or dims is not None:
        axis = flipped_axes(axis, dim, dims)
    if where is not None:
        return _where.flip(reverse_sequence, m, axis, where, batch_axis)
    if type(m) is Tensor and not _is_compiling():
        done = _make_flip(m, axis)
        if done is not None:
            return done
    return _named(flip, m, axis=axis)


@hinted
def fliplr(m: Tensor, *more: NoReturn, **others: NoReturn) -> Tensor:
    """Reverses axis 1 into a contiguous tensor; see :func:`retrograde.fliplr`."""
    if more or others:
        raise wrong(fliplr, others, more=more)
    return _named(fliplr, m)


@hinted
def flipud(m: Tensor, *more: NoReturn, **others: NoReturn) -> Tensor:
    """Reverses axis 0 into a contiguous tensor; see :func:`retrograde.flipud`."""
    if more or others:
        raise wrong(flipud, others, more=more)
    return _named(flipud, m)


@hinted
def rot90(
    m: Tensor, k: SupportsIndex = 1, axes: Plane = (0, 1), *more: NoReturn, **others: NoReturn
) -> Tensor:
    """Rotates by 90 degrees into a contiguous tensor, in one pass; see :func:`retrograde.rot90`.

    >>> rot90(torch.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    if more or others:
        raise wrong(rot90, others, more=more)
    return _named(rot90, m, k=k, axes=axes)


@hinted
def orient(
    x: Tensor,
    orientation: Orientation | None = None,
    *more: NoReturn,
    axes: Plane | None = None,
    orientations: Orientations | None = None,
    batch_axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    **others: NoReturn,
) -> Tensor:
    """Makes images upright, into a contiguous tensor, in one pass; see :func:`retrograde.orient`.

    >>> orient(torch.tensor([[1, 2], [3, 4]]), "transverse").tolist()
    [[4, 2], [3, 1]]
    """
    if more or others:
        raise wrong(orient, others, more=more)
    check_oriented(orientation, orientations, batch_axis)
    if orientations is None and out is None:
        return _named(orient, x, orientation=orientation, axes=axes)
    if _is_stood_in_for(x, out):
        given = {"orientation": orientation, "axes": axes, "orientations": orientations, "batch_axis": batch_axis}
        return _handed_over(orient, (x,), {**given, "out": out})
    _check(x)
    if orientations is None:
        axes, swapped = _names.orient_into(x.dim(), orientation, axes, out is x)
        return _reverse(x if swapped is None else x.transpose(*swapped), axes, None, "set", out)
    shape, batch, _, each = _names.orient_each(tuple(x.shape), orientations, axes, batch_axis)
    images = zip(x.unbind(batch), each, strict=True)
    if out is None:
        turned = [_flip(m if swapped is None else m.transpose(*swapped), axes, None, "set", None) for m, (axes, swapped) in images]
        return torch.stack(turned, batch) if turned else x.clone()
    _check_output(x, out)
    _names.check_output(x, out, shape, each)
    for (image, (axes, swapped)), to in zip(images, out.unbind(batch), strict=True):
        _reverse(image if swapped is None else image.transpose(*swapped), axes, None, "set", image if out is x else to)
    return out


def onnx_translations() -> dict[Callable[..., object], Callable[..., object]]:
    """How ``torch.onnx.export`` writes the operators, for ``custom_translation_table``: as ``Slice``, ``ReverseSequence`` and
    other operators of ONNX, which any runtime has.

    >>> torch.onnx.export(model, inputs, dynamo=True, custom_translation_table=retrograde.torch.onnx_translations())
    """
    from . import _torch_onnx

    return _torch_onnx.table()


def _named(public, m, **arguments):
    if not isinstance(m, Tensor):
        if _is_stood_in_for(m):
            return _handed_over(public, (m,), arguments)
        _check(m)
    axes, swapped = getattr(_names, public.__name__)(m.dim(), **arguments)
    if m.is_quantized:
        _check(m)
        return _torch_quantized.flip(m, axes, swapped)
    return _flip(m if swapped is None else m.transpose(*swapped), axes, None, "set", None)


# All operators share this call path. It bypasses PyTorch's dispatcher and calls the engine directly if no mode,
# transform or tracer is active, because the dispatcher takes longer than the reversal of a small tensor. The public
# functions call the engine themselves: another Python function in between takes a tenth of that time.

_is_compiling = torch.compiler.is_dynamo_compiling
_is_recording = torch.is_grad_enabled
_state = _torch_private.state()
#: Runs the operators and allocates their outputs with PyTorch's allocators.
_maker = _engine.Maker(False, Tensor, _state, torch.empty_like, large, LARGE, *_torch_private.allocators())
#: The same with contiguous outputs.
_row_maker = _engine.Maker(
    True, Tensor, _state, like_in_rows, large_in_rows, LARGE, *_torch_private.allocators()
)


def _path(public, settled, first, keywords, engine=None, maker=_maker):
    """Returns the operator as a function ``run(*arguments, out)``, and the part of it that follows if the engine
    alone cannot run the call.

    ``arguments`` are the engine's arguments in order, beginning with the tensor; ``out`` may be None. ``settled``
    checks the arguments and converts them to values that do not change before the gradient is computed. ``first``
    contains the types of such values for the argument after the tensor. ``keywords`` are the names of the last
    arguments, which are passed by keyword. ``engine`` is the name of the engine's function.
    """
    name = public.__name__
    engine = engine or name
    operator = OPERATORS[name]
    make_here = getattr(maker, engine)
    # The function `flip` of the native library takes other arguments.
    make = getattr(_torch_native.calls, name, make_here) if name == engine else make_here

    def run(*arguments):
        if type(arguments[0]) is Tensor and not _is_compiling():
            done = make(*arguments)
            if done is not None:
                return done
        return otherwise(*arguments)

    def otherwise(*arguments):
        *arguments, out = arguments
        x, arguments = arguments[0], tuple(arguments)
        if IS_NATIVE and type(x) is Tensor and not _is_compiling():
            # The native functions take no outputs and few types of arguments, but they record gradients.
            done = make_here(*arguments, out)
            if done is not None:
                return done
        elif out is None and type(x) is Tensor and not _is_compiling() and x.requires_grad and _is_recording():
            done, arguments = recorded(x, arguments)
            if done is not None:
                return done
        return dispatch(x, arguments, out)

    def recorded(x, arguments):
        """The reversal with its gradient, or None if the dispatcher has to record it, and the arguments to go on with."""
        # Arguments that were recorded before. Those that have no hash were not.
        try:
            recall = known.get(arguments[1:])
        except TypeError:
            recall = None
        if recall is not None:
            new = make(*arguments, None, True)
            return None if new is None else recall(x, (new,)), arguments
        # Others, such as a mask, may be mutable.
        lasts = type(arguments[1]) in first and all(type(a) in _LASTING for a in arguments[2:])
        if not lasts:
            if _is_stood_in_for(*arguments):
                return None, arguments
            # An iterator can be read only once.
            arguments = settled(arguments)
        new = make(*arguments, None, True)
        return None if new is None else record(x, (new, arguments)), arguments

    def dispatch(x, arguments, out):
        """Calls the operator through PyTorch's dispatcher, which handles modes, transforms and tracers."""
        if _is_stood_in_for(*arguments, out):
            unnamed = len(arguments) - len(keywords)
            given = {**dict(zip(keywords, arguments[unnamed:], strict=True)), "out": out}
            return _handed_over(public, arguments[:unnamed], given)
        if isinstance(x, Tensor) and x.is_quantized:
            return _torch_quantized.run(name, settled(arguments), out)
        arguments = settled(arguments)
        if not _is_compiling() and _torch_sharding.is_sharded(x):
            arguments = _torch_sharding.settled(name, arguments)
            if out is not None:
                return _torch_gradients.assign(name, x, out, operator.new(x, *arguments[1 : operator.arity + 1]))
        arguments = arguments[1 : operator.arity + 1]
        if not _is_compiling():
            # Kernels cannot see the tangents of ``torch.func``.
            _torch_gradients.check_forward_mode(name, x)
        if out is None:
            return operator.new(x, *arguments)
        if out is not x:
            _check_output(x, out)
            # PyTorch materialises lazy conjugates and negatives only for operators that return a tensor.
            operator.out(x.resolve_conj().resolve_neg() if _is_lazy(x) else x, *arguments, out)
        elif _is_lazy(x) or _torch_gradients.assigns(x):
            x.copy_(operator.new(x, *arguments))
        else:
            operator.in_place(x, *arguments)
        return out

    record, known = _torch_gradients.recorder(run, name)
    if not IS_NATIVE:
        _torch_gradients.register(operator, run)
    return run, otherwise


_LASTING = frozenset((type(None), int, str))


def _is_lazy(x):
    """Whether a tensor is a lazy conjugate or negative. Compiled code cannot check this."""
    return not _is_compiling() and (x.is_conj() or x.is_neg())


# Objects that are not tensors but implement ``__torch_function__``, such as the proxies of ``torch.fx``, which
# record the call.


def _is_stood_in_for(*tensors):
    # Older compilers cannot trace the rest, and they compile programs of tensors.
    return not _is_compiling() and any(not isinstance(x, Tensor) and hasattr(type(x), "__torch_function__") for x in tensors)


def _handed_over(function, tensors, given):
    """Dispatches the public function to ``__torch_function__``, with the arguments that are not None."""
    given = {name: value for name, value in given.items() if value is not None}
    everything = (*tensors, *given.values())
    relevant = [x for x in everything if hasattr(type(x), "__torch_function__")]
    return handle_torch_function(function, relevant, *tensors, **given)


# Argument checks


def _check(x):
    if not isinstance(x, Tensor):
        raise TypeError(f"x is a {type(x).__name__}, expected a torch.Tensor")
    if x.is_nested:
        raise TypeError("x is a nested tensor: its lanes have lengths of their own; pad it first, or use reverse_segments")
    if x.layout is not torch.strided:
        raise TypeError(f"x has layout {x.layout}, expected torch.strided (x.to_dense())")
    if x.dtype in PACKED:
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


def _lengths(name, x, lengths, argument="lengths", masked=None):
    """The lengths (or offsets) as a tensor that the engine can read. ``masked`` is the engine's name of the function
    and its further arguments, if a mask of kept steps may stand for lengths.
    """
    if not isinstance(lengths, Tensor):
        if not isinstance(lengths, (list, tuple)):
            lengths = array_of(lengths)
            _engine.refuse_masked(name, argument, lengths)
            lengths = lengths.astype(lengths.dtype.newbyteorder("="))
        empty = len(lengths) == 0 if isinstance(lengths, (list, tuple)) else lengths.size == 0
        lengths = torch.as_tensor(lengths, dtype=torch.int64 if empty else None)
    if masked and lengths.dtype == torch.bool:
        if _is_compiling() or not lengths.is_cpu:
            where = "in a compiled program" if _is_compiling() else f"on {lengths.device}"
            raise TypeError(
                f"{name}: lengths is a mask {where}, expected one on the CPU, or the numbers of its kept steps:"
                " mask.sum(...)"
            )
        function, *others = masked
        lengths = torch.from_numpy(counted(function, x.shape, lengths.numpy(), *others))
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        dtype = str(lengths.dtype).removeprefix("torch.")
        raise TypeError(f"{name}: {argument} have type {dtype}, expected an integer type")
    # Lengths on the CPU are checked before the call runs, even if the tensor is on another device.
    return lengths if lengths.is_cpu else lengths.to(x.device)


def _settled_axes(arguments):
    x, axes, mask, duplicates = arguments
    _check(x)
    return x, _axes.resolved(axes, mask, duplicates, x.dim()), None, "set"


def _settled_sequence(arguments):
    x, lengths, *others = arguments
    _check(x)
    return x, _lengths("ReverseSequence", x, lengths, masked=("reverse_sequence", *others)), *others


def _settled_subsequences(arguments):
    x, lengths, *others = arguments
    _check(x)
    return x, _lengths("ReverseSubsequences", x, lengths, masked=("reverse_subsequences", *others)), *others


def _settled_segments(arguments):
    x, offsets, axis = arguments
    _check(x)
    return x, _lengths("ReverseSegments", x, offsets, "offsets"), axis


# ``retrograde.reverse`` and the other functions of the package call these for PyTorch tensors.
_reverse, _reverse_otherwise = _path(
    reverse, _settled_axes, {type(None), int, tuple}, ("axes", "mask", "duplicates")
)
_flip, _ = _path(flip, _settled_axes, {tuple}, ("axes", "mask", "duplicates"), "reverse", _row_maker)
_reverse_sequence, _reverse_sequence_otherwise = _path(
    reverse_sequence, _settled_sequence, {Tensor}, ("time_axis", "batch_axis", "policy", "align", "tail")
)
_reverse_subsequences, _reverse_subsequences_otherwise = _path(
    reverse_subsequences, _settled_subsequences, {Tensor}, ("axis", "policy", "align", "tail")
)
_reverse_segments, _ = _path(reverse_segments, _settled_segments, {Tensor}, ("axis",))
_torch_sharding.prepare(OPERATORS)


def _make_flip(m, axis):
    """One axis or all, whose checks are few."""
    if axis is None or type(axis) is int and -m.ndim <= axis < m.ndim:
        return _row_maker.reverse(m, axis, None, "set", None)
    return None


if _torch_native.library is not None:
    _torch_native.library.on_subclass(_torch_sharding.see)
if _torch_native.calls is None:
    _make_reverse, _make_reverse_sequence = _maker.reverse, _maker.reverse_sequence
    _make_reverse_subsequences = _maker.reverse_subsequences
else:
    _make_reverse, _make_reverse_sequence = _torch_native.calls.reverse, _torch_native.calls.reverse_sequence
    _make_reverse_subsequences, _make_flip = _torch_native.calls.reverse_subsequences, _torch_native.calls.flip


def _segments_where(x, offsets, axis, where, out):
    """``reverse_segments`` with a mask: on the engine, with a gradient that is the same call."""
    if offsets is None:
        values, offsets, cut = _segments_of(x, axis)
        moved = _segments_where(values, offsets, cut, where, out)
        return torch.nested.nested_tensor_from_jagged(moved, offsets, jagged_dim=cut + 1)
    _check(x)
    marked = _where.offsets(offsets if isinstance(offsets, Tensor) else array_of(offsets), where)
    if out is None:
        return _MarkedSegments.apply(x, marked, axis)
    _check_output(x, out)
    if _is_recording() and (x.requires_grad or out.requires_grad):
        raise TypeError("reverse_segments: with where, out has no gradient: leave out= away, or use torch.no_grad()")
    return _engine.reverse_segments(x, marked, axis, out)


class _MarkedSegments(torch.autograd.Function):
    @staticmethod
    def forward(x, marked, axis):
        x = x.detach().resolve_conj().resolve_neg()
        return _engine.reverse_segments(x, marked, axis, torch.empty_like(x), True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.marked, ctx.axis = inputs

    @staticmethod
    def backward(ctx, gradient):
        return _MarkedSegments.apply(gradient, ctx.marked, ctx.axis), None, None


def _segments_of(x, axis):
    """The values and offsets of a nested tensor, and the axis of the values that the offsets cut."""
    if not isinstance(x, Tensor) or not x.is_nested:
        raise missing_offsets()
    if x.layout is not torch.jagged:
        raise TypeError(
            f"reverse_segments: x is a nested tensor of layout {x.layout}, expected torch.jagged"
            " (torch.nested.nested_tensor(x.unbind(), layout=torch.jagged))"
        )
    if type(axis) is not int or axis != 0:
        raise ValueError(f"reverse_segments: axis is {axis!r}, expected 0: a nested tensor has one ragged axis")
    if x.lengths() is not None:
        raise TypeError("reverse_segments: x is a nested tensor with holes, expected a contiguous one (x.contiguous())")
    return x.values(), x.offsets(), _torch_private.ragged_axis(x) - 1
