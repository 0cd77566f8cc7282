"""Lengths and offsets as NumPy arrays, for frameworks that read them before the engine does."""

import numpy as np


def array_of(lengths):
    """Lengths or offsets as a NumPy array; an empty list is of integers. Masked arrays stay: the engine refuses them."""
    array = lengths if isinstance(lengths, np.ma.MaskedArray) else np.asarray(lengths)
    return array.astype(np.int32) if array.size == 0 and array.dtype.kind == "f" else array
