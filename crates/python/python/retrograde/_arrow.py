"""List arrays of Arrow: every list is reversed, as a segment of the values.

Elements move as bytes, so any type of a fixed width is supported. An extension type moves as its storage. Arrow's bitmaps start at the low bit of a byte, and
the engine's one-bit elements at the high bit, so bits move as bytes.
"""

import sys

import numpy as np

from . import _engine


def reverse_segments(x, offsets, axis, out):
    """Returns an array of the same type. Lists keep their places, null ones too."""
    if offsets is not None:
        raise TypeError(f"reverse_segments: offsets are given, but x has its own (it is a {type(x).__name__})")
    if out is not None:
        raise TypeError("out is not supported: Arrow arrays are immutable")
    pa = sys.modules["pyarrow"]
    if isinstance(x, pa.ChunkedArray):
        _check(pa, x, axis)
        return pa.chunked_array([reverse_segments(chunk, None, axis, None) for chunk in x.chunks], x.type)
    values, offsets = _parts(pa, x, axis)
    validity = _packed(pa, np.asarray(x.is_valid())) if x.null_count else None
    buffers = [validity, pa.py_buffer(offsets)]
    moved = _reversed(pa, values, offsets)
    return pa.Array.from_buffers(x.type, len(x), buffers, x.null_count, children=[moved])


def segments_of(x, axis):
    """The values, the offsets and the axis, for pictures and plans."""
    pa = sys.modules["pyarrow"]
    if isinstance(x, pa.ChunkedArray):
        _check(pa, x, axis)
        x = x.combine_chunks()
    values, offsets = _parts(pa, x, axis)
    return values.to_numpy(zero_copy_only=False), offsets, 0


def _parts(pa, x, axis):
    """The values that the lists contain, and offsets that start at 0."""
    _check(pa, x, axis)
    if len(x) == 0:
        return x.values[:0], np.zeros(1, np.int32 if pa.types.is_list(x.type) else np.int64)
    # A slice of an array has a part of the offsets, and all values.
    offsets = x.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    return x.values.slice(first, last - first), offsets - offsets[0]


def _check(pa, x, axis):
    if not (pa.types.is_list(x.type) or pa.types.is_large_list(x.type)):
        raise TypeError(f"reverse_segments: x is an Arrow array of type {x.type}, expected list or large_list")
    element = stored = x.type.value_type
    while isinstance(stored, pa.BaseExtensionType):
        stored = stored.storage_type
    if not (pa.types.is_primitive(stored) or pa.types.is_decimal(stored) or pa.types.is_fixed_size_binary(stored)):
        as_stored = "" if stored is element else f", stored as {stored}"
        raise TypeError(
            f"reverse_segments: x is an Arrow array of type {x.type}, whose elements ({element}{as_stored})"
            " have no fixed width"
        )
    if type(axis) is not int or axis != 0:
        raise ValueError(f"reverse_segments: axis is {axis!r}, expected 0: the lists of an Arrow array have one axis")


def _reversed(pa, values, offsets):
    """The values with each segment reversed, and their nulls with them."""
    if isinstance(values.type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(values.type, _reversed(pa, values.storage, offsets))
    count = len(values)
    validity, data = values.buffers()
    if validity is not None:
        validity = _packed(pa, _engine.reverse_segments(_bits(validity, values), offsets, 0))
    if data is None or count == 0:
        return values
    if pa.types.is_boolean(values.type):
        data = _packed(pa, _engine.reverse_segments(_bits(data, values), offsets, 0))
    elif width := values.type.bit_width // 8:
        elements = np.frombuffer(data, f"V{width}", count, values.offset * width)
        data = pa.py_buffer(_engine.reverse_segments(elements, offsets, 0).view(np.uint8))
    return pa.Array.from_buffers(values.type, count, [validity, data], values.null_count)


def _bits(bitmap, values):
    """The bits of an array, one in each byte."""
    first, last = values.offset, values.offset + len(values)
    some = np.frombuffer(bitmap, np.uint8)[first // 8 : -(-last // 8)]
    return np.unpackbits(some, bitorder="little")[first % 8 :][: len(values)]


def _packed(pa, bits):
    return pa.py_buffer(np.packbits(bits, bitorder="little"))
