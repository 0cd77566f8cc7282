"""Lengths and offsets as NumPy arrays, for frameworks that read them before the engine does."""

import numpy as np


def array_of(lengths):
    """Lengths or offsets as a NumPy array; an empty list is of integers. Masked arrays stay: the engine refuses them."""
    array = lengths if isinstance(lengths, np.ma.MaskedArray) else np.asarray(lengths)
    return array.astype(np.int32) if array.size == 0 and array.dtype.kind == "f" else array


def kept(lengths):
    """A copy that nobody else can change. Lengths on a device are the caller's own."""
    from . import _kinds

    if _kinds._is(lengths, "torch", "Tensor"):
        return lengths.detach().clone() if lengths.is_cpu else lengths
    if _kinds._is(lengths, "jax", "Array") or _kinds._is(lengths, "tensorflow", "Tensor"):
        return lengths
    if isinstance(lengths, np.ndarray):
        return lengths.copy()
    if not _kinds.is_readable(lengths):
        return lengths
    if hasattr(lengths, "__dlpack__") and not hasattr(lengths, "__array__"):
        return np.from_dlpack(lengths).copy()
    return array_of(np.array(lengths))
