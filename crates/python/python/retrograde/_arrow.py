"""Arrays of Arrow, by whatever library: lists are reversed as segments of their values, and whole arrays too.

Elements of a fixed width move as bytes, and others by pyarrow's ``take`` of an order that the engine has reversed. An
extension type moves as its storage. Arrow's bitmaps start at the low bit of a byte, and the engine's one-bit elements
at the high bit, so bits move as bytes.

Other libraries lend their arrays by Arrow's C interface to pyarrow, and get arrays of their own back.
"""

import sys

import numpy as np

from . import _axes, _complement, _engine, _where
from ._lengths import array_of
from ._libraries import is_pyarrow


def apply(name, x, *arguments):
    """An operator; arguments are in the engine's order."""
    *arguments, out = arguments
    if out is not None:
        raise TypeError("out is not supported: Arrow arrays are immutable")
    if name == "reverse":
        return flip(x, _axes.resolved(*arguments, 1))
    if name != "reverse_segments":
        raise TypeError(f"{name}: x is a {_kind(x)}, which has one axis: expected an array or a tensor")
    offsets, axis = arguments
    borrowed = _borrowed(x)
    if offsets is None or _has_lists(borrowed.type):
        return _as(x, _each(borrowed, lambda chunk: reverse_lists(chunk, offsets, axis)))
    _check_axis(axis)
    pa = _pyarrow(x)
    whole = borrowed.combine_chunks() if isinstance(borrowed, pa.ChunkedArray) else borrowed
    moved = _reversed(pa, whole, array_of(offsets))
    return _as(x, pa.chunked_array([moved]) if whole is not borrowed else moved)


def segments_where(x, offsets, axis, where, out):
    """The segments of an array, or the lists, for which the mask is true."""
    if out is not None:
        raise TypeError("out is not supported: Arrow arrays are immutable")
    pa, borrowed = _pyarrow(x), _borrowed(x)
    chunked = isinstance(borrowed, pa.ChunkedArray)
    whole = borrowed.combine_chunks() if chunked else borrowed
    if offsets is None or _has_lists(whole.type):
        moved = reverse_lists(whole, offsets, axis, where)
    else:
        _check_axis(axis)
        moved = _reversed(pa, whole, _where.offsets(offsets, where))
    return _as(x, pa.chunked_array([moved]) if chunked else moved)


def reverse_complement(x, axis, lengths, offsets, where, strict, rna, out):
    """The letters of every string; a null one stays. ``where`` has one entry for each."""
    if lengths is not None or offsets is not None or out is not None:
        raise TypeError("reverse_complement: x is an Arrow array, whose strings have offsets of their own: pass x alone")
    if type(axis) is not int or axis not in (0, -1):
        raise ValueError(f"reverse_complement: axis is {axis!r}, expected 0 or -1: strings have one axis")
    pa, borrowed = _pyarrow(x), _borrowed(x)
    chunked = isinstance(borrowed, pa.ChunkedArray)
    whole = borrowed.combine_chunks() if chunked else borrowed
    kind = whole.type
    if views := {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(kind):
        whole = whole.cast(views)
    wide = {pa.string(): np.int32, pa.binary(): np.int32, pa.large_string(): np.int64, pa.large_binary(): np.int64}
    if whole.type not in wide:
        raise TypeError(f"reverse_complement: x is an Arrow array of type {kind}, expected strings or binary")
    validity, cuts, data = whole.buffers()
    cuts = np.frombuffer(cuts, wide[whole.type], len(whole) + 1, whole.offset * wide[whole.type]().itemsize) if len(whole) else np.zeros(1, wide[whole.type])
    first, last = int(cuts[0]), int(cuts[-1])
    letters = np.frombuffer(data or b"", np.uint8)[first:last]
    if "string" in str(kind) and letters.size and letters.max() > 127:
        raise ValueError("reverse_complement: x has letters beyond ASCII, which take several bytes: pass binary")
    cuts = cuts - cuts.dtype.type(first)
    moved = _complement.reverse_complement(letters, 0, None, cuts, where, strict, rna, None)
    if validity is not None:
        validity = _packed(pa, _bits(validity, whole))
    moved = pa.Array.from_buffers(whole.type, len(whole), [validity, pa.py_buffer(cuts), pa.py_buffer(moved)])
    moved = moved.cast(kind)
    return _as(x, pa.chunked_array([moved]) if chunked else moved)


def flip(x, axes):
    """The whole array, if its axis is one of these."""
    pa, borrowed = _pyarrow(x), _borrowed(x)
    if not axes:
        return x
    chunked = isinstance(borrowed, pa.ChunkedArray)
    chunks = borrowed.chunks[::-1] if chunked else [borrowed]
    chunks = [_reversed(pa, chunk, np.array([0, len(chunk)])) for chunk in chunks]
    return _as(x, pa.chunked_array(chunks, borrowed.type) if chunked else chunks[0])


def segments_of(x, axis):
    """The values, the offsets and the axis, for pictures and plans."""
    pa, x = _pyarrow(x), _borrowed(x)
    if isinstance(x, pa.ChunkedArray):
        _check(pa, x, axis)
        x = x.combine_chunks()
    values, offsets = _parts(pa, x, axis)
    return values.to_numpy(zero_copy_only=False), offsets, 0


def reverse_lists(x, offsets, axis, where=None):
    """Returns an array of the same type. Lists keep their places, null ones too; those that ``where`` does not name are
    not reversed."""
    if offsets is not None:
        raise TypeError(f"reverse_segments: offsets are given, but x has its own (it is a {type(x).__name__})")
    pa = sys.modules["pyarrow"]
    values, offsets = _parts(pa, x, axis)
    validity = _packed(pa, np.asarray(x.is_valid())) if x.null_count else None
    buffers = [validity] if pa.types.is_fixed_size_list(x.type) else [validity, pa.py_buffer(offsets)]
    moved = _reversed(pa, values, offsets if where is None else _where.offsets(offsets, where))
    return pa.Array.from_buffers(x.type, len(x), buffers, x.null_count, children=[moved])


def _each(x, call):
    pa = sys.modules["pyarrow"]
    if not isinstance(x, pa.ChunkedArray):
        return call(x)
    if not x.chunks:
        call(pa.array([], x.type))
    return pa.chunked_array([call(chunk) for chunk in x.chunks], x.type)


def _pyarrow(x):
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise TypeError(f"x is a {_kind(x)}, which is read by pyarrow: pip install pyarrow") from None
    return pyarrow


def _borrowed(x):
    """The array that ``x`` is or lends, as one of pyarrow. The only column of a table is one too."""
    pa = _pyarrow(x)
    if is_pyarrow(x):
        return x
    read = pa.chunked_array(x) if hasattr(x, "__arrow_c_stream__") else pa.array(x)
    if not pa.types.is_struct(read.type) or not _is_table(x):
        return read
    if read.type.num_fields != 1:
        names = [field.name for field in read.type]
        raise TypeError(f"x is a {_kind(x)} with columns {names}: pass one of them")
    chunks = read.chunks if isinstance(read, pa.ChunkedArray) else [read]
    return pa.chunked_array([chunk.field(0) for chunk in chunks], read.type.field(0).type)


def _is_table(x):
    return hasattr(x, "columns") or hasattr(x, "column_names")


def _as(x, moved):
    """An array of pyarrow as one of the library of ``x``; pyarrow's own if that library is not known."""
    library = type(x).__module__.partition(".")[0]
    module = sys.modules.get(library)
    if library == "polars" and isinstance(x, module.Series):
        return module.from_arrow(moved).alias(x.name)
    if library == "pandas" and isinstance(x, module.Series):
        return module.Series(module.arrays.ArrowExtensionArray(moved), index=x.index, name=x.name)
    if library == "pandas" and isinstance(x, module.arrays.ArrowExtensionArray):
        return module.arrays.ArrowExtensionArray(moved)
    if library == "nanoarrow" and isinstance(x, module.Array):
        return module.Array(moved)
    return moved


def _kind(x):
    return f"{type(x).__module__.partition('.')[0]}.{type(x).__name__}"


def _parts(pa, x, axis):
    """The values that the lists contain, and offsets that start at 0."""
    _check(pa, x, axis)
    if pa.types.is_fixed_size_list(x.type):
        size = x.type.list_size
        return x.values.slice(x.offset * size, len(x) * size), np.arange(len(x) + 1) * size
    if len(x) == 0:
        return x.values[:0], np.zeros(1, np.int32 if pa.types.is_list(x.type) else np.int64)
    # A slice of an array has a part of the offsets, and all values.
    offsets = x.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    return x.values.slice(first, last - first), offsets - offsets[0]


def _has_lists(kind):
    pa = sys.modules["pyarrow"]
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _check(pa, x, axis):
    if not _has_lists(x.type):
        raise TypeError(
            f"reverse_segments: x is an Arrow array of type {x.type}, expected list, large_list or fixed_size_list"
        )
    _check_axis(axis)


def _check_axis(axis):
    if type(axis) is not int or axis != 0:
        raise ValueError(f"reverse_segments: axis is {axis!r}, expected 0: the lists of an Arrow array have one axis")


def _reversed(pa, values, offsets):
    """The values with each segment reversed, and their nulls with them."""
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _reversed(pa, values.storage, offsets))
    count = len(values)
    if not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind)):
        # Strings, lists, structs, dictionaries: their order is what moves.
        if views := {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(kind):
            return _reversed(pa, values.cast(views), offsets).cast(kind)
        return values.take(pa.array(_engine.reverse_segments(np.arange(count), offsets, 0)))
    validity, data = values.buffers()
    if validity is not None:
        validity = _packed(pa, _engine.reverse_segments(_bits(validity, values), offsets, 0))
    if data is None or count == 0:
        return values
    if pa.types.is_boolean(kind):
        data = _packed(pa, _engine.reverse_segments(_bits(data, values), offsets, 0))
    elif width := kind.bit_width // 8:
        elements = np.frombuffer(data, f"V{width}", count, values.offset * width)
        data = pa.py_buffer(_engine.reverse_segments(elements, offsets, 0).view(np.uint8))
    return pa.Array.from_buffers(kind, count, [validity, data], values.null_count)


def _bits(bitmap, values):
    """The bits of an array, one in each byte."""
    first, last = values.offset, values.offset + len(values)
    some = np.frombuffer(bitmap, np.uint8)[first // 8 : -(-last // 8)]
    return np.unpackbits(some, bitorder="little")[first % 8 :][: len(values)]


def _packed(pa, bits):
    return pa.py_buffer(np.packbits(bits, bitorder="little"))
