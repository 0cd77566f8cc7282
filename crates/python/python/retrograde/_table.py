"""``table``: what elements of one byte, or of 4 or 2 bits, become while they are reversed.

The engine looks them up, wherever the array is. It knows NumPy's types by their width alone, so they are checked here.
"""

import sys

import numpy as np

from . import _engine, _lazy
from ._lengths import array_of
from ._libraries import is_a, is_on_device, lends_arrow

#: Types that have tables, and the bits of an element. In NumPy, one of ml_dtypes has a byte to itself.
_BITS = {"uint8": 8, "int8": 8, "|S1": 8, "|V1": 8, "uint4": 4, "int4": 4, "uint2": 2, "int2": 2}
#: Values with more than elements in one place: labels, masks, and columns, which have offsets and nulls.
_REFUSED = (("xarray", "DataArray"), ("xarray", "Dataset"), ("numpy.ma", "MaskedArray"), ("tensorflow", "RaggedTensor"))


def look_up(name, x, table, out, *arguments):
    """The operator of this name with a table; arguments are in the engine's order."""
    if is_a(out, "jax", "Array"):
        raise TypeError("out is not supported: JAX arrays are immutable")
    tensor, entries = checked(name, x, table)
    library = _library(tensor)
    fresh = out is None and library is not None
    to = library.empty_like(tensor) if fresh else out
    moved = _engine.look_up(name, tensor, spread(tensor, entries), to, fresh, *arguments)
    return moved if to is not None else _as_kind(x, moved)


def checked(name, x, table):
    """A tensor that the engine can read in place of ``x``, and the table's entries."""
    operator = "".join(word.title() for word in name.split("_"))
    columns = lends_arrow(x) and not isinstance(x, np.ndarray)
    if columns or any(is_a(x, *kind) for kind in _REFUSED):
        raise TypeError(f"{operator}: x is a {type(x).__name__}, expected a plain array or tensor for a table")
    tensor = readable(x)
    kind = str(tensor.dtype).removeprefix("torch.")
    bits = _BITS.get(kind)
    if bits is None:
        expected = "elements of one byte (uint8, int8, S1), 4 bits (uint4, int4) or 2 bits (uint2, int2)"
        raise TypeError(f"{operator}: x has type {kind}, expected {expected} for a table: view it as such")
    entries, shape = table, [len(table)] if isinstance(table, bytes | bytearray) else None
    if shape is None:
        entries = array_of(table)
        shape = list(entries.shape)
        if entries.dtype != np.uint8:
            raise TypeError(f"{operator}: table has type {entries.dtype}, expected bytes or an array of uint8")
    if shape != [1 << bits]:
        raise ValueError(f"{operator}: table has shape {shape}, expected [{1 << bits}] for elements of type {kind}")
    entries = bytes(entries)
    for at, entry in enumerate(entries if bits < 8 else ()):
        if entry >> bits:
            raise ValueError(f"{operator}: table[{at}] is {entry}, outside [0, {(1 << bits) - 1}]")
    return tensor, entries


def spread(tensor, table):
    """The table for the elements as the engine sees them: in a byte of NumPy's, the lower bits are the element."""
    count = len(table)
    if count == 256 or not isinstance(tensor, np.ndarray):
        return table
    entries = np.frombuffer(table, np.uint8).astype(int)
    if str(tensor.dtype).startswith("int"):
        entries -= count * (entries >= count // 2)
    # The upper bits are what ml_dtypes makes of them.
    return entries.astype(tensor.dtype).view(np.uint8)[np.arange(256) % count].tobytes()


def readable(x):
    """``x`` if its library allocates outputs or the CPU cannot read it, otherwise an array."""
    _lazy.refuse(x)
    is_there = hasattr(x, "__array_namespace__") and is_on_device(x)
    return x if is_there or _library(x) is not None else np.asarray(x)


def _as_kind(x, moved):
    """A new array as one of the library of ``x``."""
    if is_a(x, "tensorflow", "Tensor"):
        return sys.modules["tensorflow"].convert_to_tensor(moved)
    is_other = hasattr(x, "__array_namespace__") and not isinstance(x, np.ndarray)
    return x.__array_namespace__().from_dlpack(moved) if is_other else moved


def _library(x):
    """The library of ``x``, if that allocates outputs like it wherever it is."""
    kinds = (("torch", "Tensor"), ("cupy", "ndarray"))
    return next((sys.modules[module] for module, name in kinds if is_a(x, module, name)), None)
