"""Tensors of any library as arrays of NumPy, to be looked at."""

import numpy as np

from .. import _kinds


def of(x):
    """The tensor as an array, on the CPU; types that NumPy does not have become float32."""
    if isinstance(x, np.ndarray):
        # Masked arrays show what is masked; other kinds may index in their own ways.
        return x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    if _kinds._is(x, "torch", "Tensor"):
        import torch

        x = x.detach().cpu().resolve_conj().resolve_neg()
        try:
            return x.numpy()
        except TypeError:
            return x.to(torch.float32).numpy()
    if _kinds._is(x, "cupy", "ndarray"):
        return x.get()
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    return _kinds._as_array(x)


def type_name(x, array):
    """What the tensor's own library calls its elements."""
    dtype = getattr(x, "dtype", array.dtype)
    if isinstance(dtype, np.dtype):
        name = str(dtype)
        # The order of bytes that the machine has needs no mark.
        return name[1:] if dtype.isnative and name[0] in "<=>|" else name
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
