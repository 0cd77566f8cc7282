"""The operators for arrays of cubed, as far as xarray needs them.

Flips keep the chunks. With lengths or offsets, the axis becomes one chunk: cubed plans its memory for
that. Lengths are in memory.
"""

import retrograde

from ._check import check
from ._lengths import array_of


def flip(x, axes):
    import cubed.array_api

    return cubed.array_api.flip(x, axis=axes)


reverse = flip


def reverse_sequence(x, lengths, **arguments):
    time, batch = arguments["time_axis"], arguments["batch_axis"]
    lengths = _checked("reverse_sequence", x, lengths, arguments)
    shape = [1] * x.ndim
    shape[batch] = -1
    return _mapped("reverse_sequence", x, time, lengths.reshape(shape), arguments)


def reverse_subsequences(x, lengths, **arguments):
    axis = arguments["axis"]
    lengths = _checked("reverse_subsequences", x, lengths, arguments)
    return _mapped(
        "reverse_subsequences", x, axis, lengths.reshape(x.shape[:axis] + (1,) + x.shape[axis + 1 :]), arguments
    )


def reverse_segments(x, offsets, **arguments):
    offsets = _checked("reverse_segments", x, offsets, arguments)
    return _mapped("reverse_segments", x, arguments["axis"], None, arguments | {"offsets": offsets})


def _checked(name, x, lengths, arguments):
    lengths = array_of(lengths)
    check(name, x.shape, lengths, *arguments.values(), dtype=x.dtype)
    return lengths


def _mapped(name, x, axis, lengths, arguments):
    import cubed

    x = x.rechunk({axis: x.shape[axis]})
    if lengths is None:
        return cubed.map_blocks(_call, x, dtype=x.dtype, operator=name, **arguments)
    chunks = tuple(sizes if n > 1 else (1,) for sizes, n in zip(x.chunks, lengths.shape, strict=True))
    lengths = cubed.from_array(lengths, chunks=chunks, spec=x.spec)
    return cubed.map_blocks(_call, x, lengths, dtype=x.dtype, operator=name, **arguments)


def _call(chunk, lengths=None, *, operator, **arguments):
    if operator == "reverse_sequence":
        lengths = lengths.ravel()
    if lengths is not None:
        arguments["lengths"] = lengths
    return getattr(retrograde, operator)(chunk, **arguments)
