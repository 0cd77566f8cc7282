"""``axes`` and ``mask`` as a tuple of axes, for frameworks that need plain integers in a
program."""

import operator

import numpy as np

from ._check import check


def resolved(axes, mask, duplicates, rank):
    """Sorted, unique, non-negative axes. The engine raises the errors."""
    if duplicates in ("set", "error"):
        # The common case does not call the engine: compilers can trace this code, but not that
        # call.
        found = _plain(axes, mask, duplicates == "error", rank)
        if found is not None:
            return found
    axes, mask = several(axes), several(mask)
    check("reverse", (1,) * rank, axes, mask, duplicates)
    if axes is not None:
        axes = (axes,) if np.ndim(axes) == 0 else axes
        return tuple(sorted({operator.index(a) % rank for a in axes}))
    return tuple(at for at, flip in enumerate(mask) if flip)


def _plain(axes, mask, distinct, rank):
    """The same for integers and lists of them; None for anything else and for errors."""
    if mask is None:
        if axes is None:
            return tuple(range(rank))
        if type(axes) is int:
            axes = (axes,)
        if type(axes) in (tuple, list) and all(type(a) is int and -rank <= a < rank for a in axes):
            unique = {a % rank for a in axes}
            if not distinct or len(unique) == len(axes):
                return tuple(sorted(unique))
    elif axes is None and type(mask) in (tuple, list) and len(mask) == rank:
        if all(type(m) in (bool, int) and m in (0, 1) for m in mask):
            return tuple(at for at, flip in enumerate(mask) if flip)
    return None


def several(values):
    """A sequence of our own that can be read twice, unlike some iterables."""
    if hasattr(values, "__array__"):
        return np.array(values)
    return tuple(values) if hasattr(values, "__iter__") else values
