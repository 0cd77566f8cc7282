"""Quantised PyTorch tensors: their integers move as any others do, and the scales of channels move along.

PyTorch's dispatcher has no part in this: quantised tensors have no gradients.
"""

import torch

from . import _engine, _names, _torch_private
from ._torch_operators import OPERATORS

#: The integers that a dtype stores.
_INTEGERS = {torch.quint8: torch.uint8, torch.qint8: torch.int8, torch.qint32: torch.int32}


def run(name, arguments, out):
    """Runs an operator; ``arguments`` are the engine's, in order, beginning with the tensor."""
    x, *others = arguments
    operator = OPERATORS[name]
    if name in ("reverse", "flip"):
        parameters = _Parameters(x).reversed(others[0], x.dim())
    else:
        # The axis that is reversed is the argument after the lengths.
        parameters = _Parameters(x).mixed(name, others[1], x.dim())
    if out is None:
        out = parameters.empty(x.shape, x, operator.order)
    else:
        _check_output(name, x, out, parameters)
    operator.engine(_integers(x), *others, _integers(out))
    return out


def flip(x, axes, swapped):
    """Swaps two axes if they are given, then reverses axes of the result, into a contiguous tensor."""
    parameters, integers = _Parameters(x), _integers(x)
    if swapped is not None:
        # PyTorch does not transpose tensors with scales of channels, but their integers.
        parameters, integers = parameters.swapped(*swapped), integers.transpose(*swapped)
    parameters = parameters.reversed(axes, x.dim())
    out = parameters.empty(_names.shape_of(x.shape, swapped), x, torch.contiguous_format)
    _engine.reverse(integers, axes, None, "set", _integers(out))
    return out


class _Parameters:
    """The scale and zero point of a tensor, or those of its channels along an axis."""

    def __init__(self, x):
        self.dtype, self.changed = x.dtype, False
        if x.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            self.axis, self.values = None, (x.q_scale(), x.q_zero_point())
        else:
            self.axis = x.q_per_channel_axis()
            self.values = x.q_per_channel_scales(), x.q_per_channel_zero_points()

    def reversed(self, axes, rank):
        """After these axes were reversed."""
        if self.axis is not None and self.axis in [axis % rank for axis in axes]:
            self.values = tuple(value.flip(0) for value in self.values)
            self.changed = True
        return self

    def swapped(self, first, second):
        """After two axes were swapped."""
        self.changed = True
        self.axis = {first: second, second: first}.get(self.axis, self.axis)
        return self

    def mixed(self, name, axis, rank):
        """After elements moved along an axis, by a different distance in each lane."""
        if self.axis is not None and self.axis == axis % rank:
            if any((value != value[:1]).any() for value in self.values):
                raise TypeError(
                    f"{name}: x has a scale or zero point for each channel of axis {self.axis}: a sequence along"
                    " that axis cannot be reversed, because its elements would change channels"
                )
        return self

    def empty(self, shape, x, order):
        """An uninitialised tensor with these parameters, otherwise like ``x``."""
        if not self.changed:
            return torch.empty_like(x, memory_format=order)
        if self.axis is None:
            scale, zero_point = self.values
            new = torch.empty_quantized(tuple(shape), x)
            assert (new.q_scale(), new.q_zero_point()) == (scale, zero_point)
            return new
        scales, zero_points = self.values
        make = _torch_private.find(_torch_private.EMPTY_CHANNELS)
        if make is None:
            zeros = torch.zeros(tuple(shape), device=x.device)
            return torch.quantize_per_channel(zeros, scales, zero_points, self.axis, self.dtype)
        more = {"axis": self.axis, "dtype": self.dtype, "device": x.device}
        return make(tuple(shape), scales=scales, zero_points=zero_points, **more)

    def __eq__(self, other):
        if self.axis is None or other.axis is None:
            return (self.axis, self.values) == (other.axis, other.values)
        pairs = zip(self.values, other.values, strict=True)
        return self.axis == other.axis and all(torch.equal(ours, theirs) for ours, theirs in pairs)


def _check_output(name, x, out, parameters):
    if not isinstance(out, torch.Tensor) or out.dtype != x.dtype:
        kind = out.dtype if isinstance(out, torch.Tensor) else type(out).__name__
        raise TypeError(f"{name}: out is of type {kind}, expected the input's dtype {x.dtype}")
    if out.shape == x.shape and _Parameters(out) != parameters:
        raise ValueError(f"{name}: out has other scales or zero points than the result")


def _integers(x):
    """The stored integers of a tensor, in the same memory."""
    new = torch.empty(0, dtype=_INTEGERS[x.dtype], device=x.device)
    return new.set_(x.untyped_storage(), x.storage_offset(), x.size(), x.stride())
