"""Quantised PyTorch tensors: their integers move as any others do, and the scales of channels move along.

PyTorch's dispatcher has no part in this: quantised tensors have no gradients.
"""

from operator import index
from typing import NamedTuple

import torch

from . import _engine, _names, _torch_private
from ._torch_operators import OPERATORS

#: The integers that a dtype stores.
_INTEGERS = {torch.quint8: torch.uint8, torch.qint8: torch.int8, torch.qint32: torch.int32}


def run(name, arguments, out):
    """Runs an operator; ``arguments`` are the engine's, in order, beginning with the tensor."""
    x, *others = arguments
    operator = OPERATORS[name]
    # Before the integers are viewed: to convert an axis may run Python code, which may resize a tensor.
    others = [_plain(argument) for argument in others]
    if name in ("reverse", "flip"):
        parameters = _Parameters.of(x).reversed(others[0], x.dim())
    else:
        if others[-1] == "zero":
            raise TypeError(
                f"{name}: x is quantised: zero bytes are the value 0 only for some zero points, expected tail \"keep\""
            )
        # The axis that is reversed is the argument after the lengths.
        parameters = _Parameters.of(x).mixed(name, others[1], x.dim())
    if out is None:
        out = parameters.empty(x.shape, x, operator.order)
    else:
        _check_output(name, x, out, parameters)
    operator.engine(_integers(x), *others, _integers(out))
    return out


def flip(x, axes, swapped):
    """Swaps two axes if they are given, then reverses axes of the result, into a contiguous tensor."""
    parameters, integers = _Parameters.of(x), _integers(x)
    if swapped is not None:
        # PyTorch does not transpose tensors with scales of channels, but their integers.
        parameters, integers = parameters.swapped(*swapped), integers.transpose(*swapped)
    parameters = parameters.reversed(axes, x.dim())
    out = parameters.empty(_names.shape_of(x.shape, swapped), x, torch.contiguous_format)
    _engine.reverse(integers, axes, None, "set", _integers(out))
    return out


class _Parameters(NamedTuple):
    """The scale and zero point of a tensor, or those of all channels along an axis."""

    scale: float | torch.Tensor
    zero_point: int | torch.Tensor
    axis: int | None = None

    @classmethod
    def of(cls, x):
        if x.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            return cls(x.q_scale(), x.q_zero_point())
        return cls(x.q_per_channel_scales(), x.q_per_channel_zero_points(), x.q_per_channel_axis())

    def reversed(self, axes, rank):
        """Those of the tensor with these axes reversed."""
        if self.axis is None or self.axis not in [axis % rank for axis in axes]:
            return self
        return self._replace(scale=self.scale.flip(0), zero_point=self.zero_point.flip(0))

    def swapped(self, first, second):
        """Those of the tensor with two axes swapped."""
        return self._replace(axis={first: second, second: first}.get(self.axis, self.axis))

    def mixed(self, name, axis, rank):
        """Those of the tensor after elements moved along an axis, in each lane by its own length."""
        if self.axis is not None and self.axis == axis % rank:
            if any((value != value[:1]).any() for value in (self.scale, self.zero_point)):
                raise TypeError(
                    f"{name}: x has a scale or zero point for each channel of axis {self.axis}: a sequence along"
                    " that axis cannot be reversed, because its elements would change channels"
                )
        return self

    def empty(self, shape, x, order):
        """An uninitialised tensor with these parameters, otherwise like ``x``."""
        if self.axis is None:
            same = tuple(shape) == tuple(x.shape)
            return torch.empty_like(x, memory_format=order) if same else torch.empty_quantized(shape, x)
        make = _torch_private.find(_torch_private.EMPTY_CHANNELS)
        if make is None:
            zeros = torch.zeros(shape, device=x.device)
            return torch.quantize_per_channel(zeros, self.scale, self.zero_point, self.axis, x.dtype)
        more = {"axis": self.axis, "dtype": x.dtype, "device": x.device}
        return make(shape, scales=self.scale, zero_points=self.zero_point, **more)

    def equal(self, other):
        if self.axis is None or other.axis is None:
            return self == other
        pairs = (self.scale, other.scale), (self.zero_point, other.zero_point)
        return self.axis == other.axis and all(torch.equal(ours, theirs) for ours, theirs in pairs)


def _check_output(name, x, out, parameters):
    if not isinstance(out, torch.Tensor) or out.dtype != x.dtype:
        kind = out.dtype if isinstance(out, torch.Tensor) else type(out).__name__
        raise TypeError(f"{name}: out is of type {kind}, expected the input's dtype {x.dtype}")
    if out.shape == x.shape and not _Parameters.of(out).equal(parameters):
        raise ValueError(f"{name}: out has other scales or zero points than the result")


def _plain(argument):
    """An axis as an integer; anything else as it is. The engine refuses booleans."""
    is_axis = hasattr(type(argument), "__index__") and not isinstance(argument, (bool, torch.Tensor))
    return index(argument) if is_axis else argument


def _integers(x):
    """The stored integers of a tensor, in the same memory."""
    new = torch.empty(0, dtype=_INTEGERS[x.dtype], device=x.device)
    return new.set_(x.untyped_storage(), x.storage_offset(), x.size(), x.stride())
