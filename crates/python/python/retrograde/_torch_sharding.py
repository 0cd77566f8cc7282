"""Sharding rules of the operators for ``DTensor``: which placements each rank can compute from its own shard.

PyTorch redistributes other tensors, to the placements that it estimates to be the cheapest. The rules are registered
with the first ``DTensor`` that is seen, because loading ``torch.distributed.tensor`` takes a second.
"""

import dataclasses
import sys

import numpy as np

from . import _torch_private
from ._check import check

#: The operators by name, as :mod:`retrograde.torch` passes them, and whether their rules are registered.
_operators: dict = {}
_is_registered = False


def is_sharded(x):
    """Whether a tensor is a ``DTensor``. If so, the rules are registered from now on."""
    module = sys.modules.get("torch.distributed.tensor")
    # The module may be half loaded.
    kind = getattr(module, "DTensor", None)
    if kind is None or not isinstance(x, kind):
        return False
    register()
    return True


def see():
    """Registers the rules if ``torch.distributed.tensor`` is loaded: a tensor of some subclass was seen."""
    if hasattr(sys.modules.get("torch.distributed.tensor"), "DTensor"):
        register()


def prepare(operators):
    """Takes the operators that the rules are for.

    If ``torch.distributed.tensor`` is loaded, registers the rules: compiled calls and inference mode need it early.
    """
    _operators.update(operators)
    see()


def register():
    """Registers the rules, once."""
    global _is_registered
    if _is_registered:
        return
    _is_registered = True
    from torch.distributed.tensor.experimental import register_sharding

    schemas = _torch_private.find(_torch_private.SHARDING_SCHEMAS)
    for name, rule in _RULES.items():
        operator = _operators[name].new
        register_sharding(operator)(rule if name in ("reverse", "flip") else _checked(_operators[name], rule))
        if name not in ("reverse", "flip"):
            continue
        # PyTorch caches what a rule returns, by the arguments from the first integer on. A list of integers does not
        # count as one, and so a result for other axes would be used.
        if schemas is not None and operator in schemas:
            schemas[operator] = dataclasses.replace(schemas[operator], static_argnum=1)
        else:
            register_sharding(operator)(_whole_for_any_axes)


def settled(name, arguments):
    """The arguments of an operator whose lengths or offsets, if there are any, are a ``DTensor`` too.

    Shapes are checked here: a rank sees only its shard, and if one raises an error, the others would wait for it.
    """
    if name in ("reverse", "flip"):
        return arguments
    from torch.distributed.tensor import DTensor, Replicate

    x, lengths, *others = arguments
    _check(name, x.shape, lengths.shape, others)
    if not isinstance(lengths, DTensor):
        mesh = x.device_mesh
        # All ranks have the same lengths, as all of them make this call.
        lengths = DTensor.from_local(lengths, mesh, [Replicate()] * mesh.ndim, run_check=False)
    return x, lengths, *others


def _check(name, shape, lengths_shape, others):
    if any(type(size) is not int for size in (*shape, *lengths_shape)):
        # Symbols of a compiler; every shard is checked when the program runs.
        return
    check(name, tuple(shape), np.zeros(tuple(lengths_shape), np.int64), *others)


def _checked(operator, rule):
    def checked(x, lengths, *others):
        _check(operator.name, x.shape, lengths.shape, operator.complete((lengths, *others))[1:])
        return rule(x, lengths, *others)

    return checked


# The rules. Each is a list of pairs: placements of the result, and of the tensors that are passed.


def _whole(x, axes):
    axes = {axis % x.ndim for axis in axes}
    return _kept(x, [], [(axis, []) for axis in range(x.ndim) if axis not in axes])


def _whole_for_any_axes(x, axes):
    return _kept(x, [], [])


def _sequence(x, lengths, time_axis, batch_axis, *rules):
    time_axis, batch_axis = time_axis % x.ndim, batch_axis % x.ndim
    others = [(axis, [0 if axis == batch_axis else None]) for axis in range(x.ndim) if axis != time_axis]
    return _kept(x, [None], others)


def _subsequences(x, lengths, axis, *rules):
    axis = axis % x.ndim
    others = [other for other in range(x.ndim) if other != axis]
    if lengths.ndim == x.ndim:
        return _kept(x, [None], [(other, [other]) for other in others])
    if lengths.ndim == x.ndim - 1:
        return _kept(x, [None], [(other, [at]) for at, other in enumerate(others)])
    return _kept(x, [None], [])


def _segments(x, offsets, axis):
    return _kept(x, [None], [(other, [None]) for other in range(x.ndim) if other != axis % x.ndim])


def _kept(x, lengths, others):
    """The placements that the result has as ``x`` has them: replicated, partial, or sharded along one of the others.

    For each of the latter there is the axis along which lengths are sharded then, or None where they are whole.
    """
    from torch.distributed.tensor import Partial, Replicate, Shard

    whole = [Replicate() for _ in lengths]
    pairs = [([Replicate()], [Replicate(), *whole])]
    # A reversal moves elements, and so it may come before the reduction. Subclasses of Partial have masks of their own.
    for placement in dict.fromkeys(x.placements):
        if type(placement) is Partial:
            pairs.append(([placement], [placement, *whole]))
    for axis, along in others:
        parts = [Replicate() if at is None else Shard(at) for at in along]
        pairs.append(([Shard(axis)], [Shard(axis), *parts]))
    return pairs


_RULES = {
    "reverse": _whole,
    "flip": _whole,
    "reverse_sequence": _sequence,
    "reverse_subsequences": _subsequences,
    "reverse_segments": _segments,
}
