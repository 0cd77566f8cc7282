"""``axes`` and ``mask`` as a tuple of axes, for frameworks that need plain integers in a
program."""

import operator

import numpy as np

from . import _engine


def resolved(axes, mask, duplicates, rank):
    """Sorted, unique, non-negative axes. The engine raises the errors."""
    if mask is None:
        if axes is None and duplicates in ("set", "error"):
            return tuple(range(rank))
        if type(axes) is int:
            axes = (axes,)
        # The common case does not call the engine: compilers can trace this code, but not that
        # call.
        if type(axes) in (tuple, list) and all(type(a) is int and -rank <= a < rank for a in axes):
            unique = {a % rank for a in axes}
            if duplicates == "set" or duplicates == "error" and len(unique) == len(axes):
                return tuple(sorted(unique))
    elif axes is None and type(mask) in (tuple, list) and len(mask) == rank and duplicates in ("set", "error"):
        if all(type(m) in (bool, int) and m in (0, 1) for m in mask):
            return tuple(at for at, flip in enumerate(mask) if flip)
    axes, mask = _several(axes), _several(mask)
    _engine.explain_reverse(np.broadcast_to(np.uint8(0), (1,) * rank), axes, mask, duplicates)
    if axes is not None:
        return tuple(sorted({operator.index(a) % rank for a in axes}))
    return tuple(at for at, flip in enumerate(mask) if flip)


def _several(values):
    """A sequence that can be read twice, unlike some iterables."""
    if hasattr(values, "__array__"):
        values = np.asarray(values)
        return (values[()],) if values.ndim == 0 else tuple(values)
    return tuple(values) if hasattr(values, "__iter__") else values
