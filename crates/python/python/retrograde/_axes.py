"""``axes`` and ``mask`` as a tuple of axes, for the frameworks that want plain numbers in a program."""

import operator

import numpy as np

from . import _engine


def resolved(axes, mask, rank):
    """Which axes, from 0 on, in order, each once. The engine says what is wrong with them."""
    if mask is None:
        if axes is None:
            return tuple(range(rank))
        if type(axes) is int:
            axes = (axes,)
        # The usual case is decided without the engine: compilers can follow this, but not a call.
        if type(axes) in (tuple, list) and all(type(a) is int and -rank <= a < rank for a in axes):
            return tuple(sorted({a % rank for a in axes}))
    elif axes is None and type(mask) in (tuple, list) and len(mask) == rank:
        if all(type(m) in (bool, int) and m in (0, 1) for m in mask):
            return tuple(at for at, flip in enumerate(mask) if flip)
    axes, mask = _several(axes), _several(mask)
    _engine.explain_reverse(np.broadcast_to(np.uint8(0), (1,) * rank), axes, mask)
    if axes is not None:
        return tuple(sorted({operator.index(a) % rank for a in axes}))
    return tuple(at for at, flip in enumerate(mask) if flip)


def _several(values):
    """What can be read twice: an iterable may be good for once."""
    if hasattr(values, "__array__"):
        values = np.asarray(values)
        return (values[()],) if values.ndim == 0 else tuple(values)
    return tuple(values) if hasattr(values, "__iter__") else values
