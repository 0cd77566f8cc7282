"""Lengths and offsets as NumPy arrays, for frameworks that read them before the engine does."""

import numpy as np

from . import _engine


def array_of(lengths):
    """Lengths or offsets as a NumPy array; an empty list is of integers. Masked arrays stay: the engine refuses them."""
    array = lengths if isinstance(lengths, np.ma.MaskedArray) else np.asarray(lengths)
    return array.astype(np.int32) if array.size == 0 and array.dtype.kind == "f" else array


def counted(name, shape, lengths, *arguments):
    """Lengths (or offsets) in place of a boolean mask of kept steps, and other lengths as they are.

    ``name`` is that of the function, ``shape`` the tensor's, and ``arguments`` are what follows in the engine's order.
    """
    if name == "reverse_segments" or lengths.dtype != bool:
        return lengths
    return _engine.kept_steps(name, tuple(shape), np.asarray(lengths), *arguments)
