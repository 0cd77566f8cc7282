"""What the tasks do with chunks: NumPy arrays, masked arrays, or arrays of a library like NumPy (CuPy).

Results are contiguous. Lengths and offsets are NumPy arrays that were checked, and lengths are within
the axis. Tasks never need more than the chunks that they read, the chunk or piece that they write, and
a few MiB.

If lanes have different lengths, they are described by ``how``: the axis, the axis of the lengths (None
if every lane has its own), and whether sequences are at the end of the axis. In that case chunks are
read and written backwards, so that below sequences always start at position 0. Ranges of positions
(``source``, ``target``) are those of a chunk within the whole axis, counted in that direction.
"""

import sys

import numpy as np

import retrograde

from . import _engine, _row_major
from ._check import check
from ._dask_plan import FLIP, KEEP, segment_spans
from ._row_major import contiguous

#: The most elements whose masks are in memory at once.
_SLAB = 1 << 18


def flipped(chunk, axes):
    return _row_major.flip(chunk, axes) if axes else contiguous(chunk)


def zeros(like, shape):
    """Zero bytes, which are not always the number zero."""
    if isinstance(like, np.ma.MaskedArray):
        return np.ma.array(np.zeros(shape, like.dtype), mask=np.zeros(shape, bool), fill_value=like.fill_value)
    return _library(like).zeros(shape, like.dtype)


def zeros_like(chunk):
    """For chunks whose shape is known only when they are there."""
    return zeros(chunk, chunk.shape)


def _empty(like, shape):
    if isinstance(like, np.ma.MaskedArray):
        return zeros(like, shape)
    return _library(like).empty(shape, like.dtype)


def _library(array):
    return np if isinstance(array, np.ndarray) else sys.modules[type(array).__module__.partition(".")[0]]


def _copy(target, source):
    """Copies elements; the engine copies views with any strides."""
    if type(target) is np.ndarray and _is_plain(source):
        _engine.reverse(source, (), None, "set", target)
    else:
        target[...] = source


def _is_plain(array):
    """Whether it is a NumPy array whose elements are no more than their bytes."""
    # NumPy 1 has no StringDType, whose kind this is.
    references = array.dtype.hasobject or array.dtype.kind == "T"
    return type(array) is np.ndarray and not references


# Lengths and offsets that are computed


def checked_lengths(lengths, operator, first, size, policy):
    """Valid lengths, clamped to the axis; ``first`` is the position of the block within all lengths."""
    lengths = _on_host(lengths)
    wrong = lengths < 0
    if policy == "strict":
        wrong = wrong | (lengths > size)
    if wrong.any():
        at = tuple(int(index[0]) for index in np.nonzero(wrong))
        position = ", ".join(str(index + start) for index, start in zip(at, first, strict=True))
        raise ValueError(f"{operator}: lengths[{position}] is {lengths[at]}, outside [0, {size}]")
    return clamped(lengths, size)


def clamped(lengths, size):
    """Valid lengths of any integer type as int64, which they fit into only after they were clamped."""
    limit = min(size, np.iinfo(lengths.dtype).max)
    return np.minimum(lengths, lengths.dtype.type(limit)).astype(np.int64)


def checked_offsets(offsets, borders):
    """Valid offsets, together with the borders of the chunks."""
    offsets = _on_host(offsets)
    check("reverse_segments", borders[-1], offsets, 0)
    return offsets.astype(np.int64), borders


def after(chunk, _):
    """An empty chunk, once offsets were checked."""
    return contiguous(chunk)


def _on_host(array):
    return np.asarray(array.get() if hasattr(array, "__cuda_array_interface__") else array)


# Whole calls: the axis is not split


def sequence(chunk, lengths, axis, batch, align, tail):
    axes = {"time_axis": axis, "batch_axis": batch}
    return _row_major.reverse_sequence(chunk, lengths, **axes, policy="clamp", align=align, tail=tail)


def subsequences(chunk, lengths, axis, align, tail):
    return _row_major.reverse_subsequences(chunk, lengths, axis=axis, align=align, tail=tail)


def segments(chunk, offsets, axis):
    return _row_major.reverse_segments(chunk, offsets, axis=axis)


# All lanes alike: spans


def joined(axis, spans, *chunks):
    """An output chunk from its spans, whose sources are positions in ``chunks``."""
    if len(spans) == 1:
        source, first, last, how = spans[0]
        chunk = chunks[source]
        if isinstance(how, str) and how == KEEP:
            return contiguous(chunk[_along(axis, first, last)])
        return _piece(chunk, axis, first, last, how)
    shape = list(chunks[0].shape)
    shape[axis] = sum(last - first for _, first, last, _ in spans)
    zero = any(source is None for source, *_ in spans)
    out, at = (zeros if zero else _empty)(chunks[0], tuple(shape)), 0
    for source, first, last, how in spans:
        if source is not None:
            _write(out[_along(axis, at, at + last - first)], chunks[source][_along(axis, first, last)], axis, how)
        at += last - first
    return out


def cut(axis, spans, chunk):
    """The parts of a chunk for one output chunk: numbers of spans, and their elements."""
    return [(number, _piece(chunk, axis, first, last, how)) for number, first, last, how in spans]


def cut_segments(axis, target, source, offsets, chunk):
    """The same if offsets were computed: which spans there are is known only now."""
    spans = enumerate(segment_spans(offsets[1], target, offsets[0]))
    return cut(axis, [(number, *span[1:]) for number, span in spans if span[0] == source], chunk)


def stitched(axis, zero, pieces):
    """An output chunk from what :func:`cut` returned; ``zero`` has the numbers and sizes of zero spans."""
    parts = dict(part for piece in pieces for part in piece)
    like = next(iter(parts.values()))
    sizes = {number: part.shape[axis] for number, part in parts.items()} | dict(zero)
    out = (zeros if zero else _empty)(like, like.shape[:axis] + (sum(sizes.values()),) + like.shape[axis + 1 :])
    at = 0
    for number in sorted(sizes):
        if number in parts:
            _copy(out[_along(axis, at, at + sizes[number])], parts[number])
        at += sizes[number]
    return out


def _piece(chunk, axis, first, last, how):
    view = chunk[_along(axis, first, last)]
    out = _empty(view, view.shape)
    _write(out, view, axis, how)
    return out


def _write(target, view, axis, how):
    if isinstance(how, str):
        _copy(target, view[_backwards(axis)] if how == FLIP else view)
    elif _is_plain(view):
        retrograde.reverse_segments(view, how, axis=axis, out=target)
    else:
        _copy(target, retrograde.reverse_segments(view, how, axis=axis))


def _along(axis, first, last):
    return (slice(None),) * axis + (slice(first, last),)


def _backwards(axis):
    return (slice(None),) * axis + (slice(None, None, -1),)


# Each lane by its own length


def merged(how, lengths, target, sources, stays, zero, *chunks):
    """An output chunk from the few input chunks that it needs.

    ``sources`` are the positions of chunks that have reversed elements, and come first; ``stays``
    says that the last chunk has elements that stay.
    """
    out = (zeros if zero else _empty)(chunks[0], _shape(how, chunks[0].shape, target))
    for source, chunk in zip(sources, chunks):  # noqa: B905
        _move(how, lengths, source, target, x=chunk, out=out)
    if stays:
        _move(how, lengths, None, target, x=chunks[-1], out=out)
    return out


def piece(how, lengths, source, target, chunk):
    """The elements of a chunk that an output chunk needs, one lane behind the other, and the chunk's shape.

    Without ``source``, those that stay.
    """
    axis, batch, _ = how
    first, last = _ranges(lengths, source, target)
    count = int((last - first).clip(0).sum())
    if batch is not None:
        count *= int(np.prod([n for at, n in enumerate(chunk.shape) if at not in (axis, batch)], dtype=np.int64))
    flat = _empty(chunk, (count,))
    if count:
        _move(how, lengths, source, target, x=chunk, flat=flat)
    return chunk.shape, flat


def assembled(how, lengths, target, sources, zero, pieces):
    """An output chunk from pieces."""
    shape, flat = pieces[0]
    out = (zeros if zero else _empty)(flat, _shape(how, shape, target))
    for source, (_, flat) in zip(sources, pieces, strict=True):
        if flat.size:
            _move(how, lengths, source, target, out=out, flat=flat)
    return out


def _shape(how, shape, target):
    axis = how[0]
    return (*shape[:axis], target[1] - target[0], *shape[axis + 1 :])


def _ranges(lengths, source, target):
    """The output positions that each lane gets from ``source``; without it, those that stay."""
    first, last = target
    if source is None:
        return np.maximum(lengths, first), np.full_like(lengths, last)
    low, high = source
    return np.maximum(lengths - high, first), np.minimum(lengths - low, last)


def _move(how, lengths, source, target, x=None, out=None, flat=None):
    """Moves elements of each lane from a chunk to another, or from a chunk to a flat piece, or from that to a chunk.

    A piece has the elements in the order of lanes, and of output positions within each.
    """
    axis, batch, end = how
    if end:
        x, out = (None if chunk is None else chunk[_backwards(axis)] for chunk in (x, out))
    parts, at = (_lanes if batch is None else _rows), 0
    for elements, view, mask in parts(axis, batch, lengths, source, target, x, out):
        if x is None:
            size = int(np.prod(view.shape, dtype=np.int64) if mask is None else mask.sum())
            elements = flat[at : at + size]
        if out is None:
            size = int(np.prod(elements.shape, dtype=np.int64))
            _copy(flat[at : at + size].reshape(elements.shape), elements)
        elif mask is None:
            _copy(view, elements.reshape(view.shape))
        else:
            view[mask] = elements
        if flat is not None:
            at += size


def _rows(axis, batch, lengths, source, target, x, out):
    """Lengths of one axis: slices, one for each run of equal lengths."""
    first, last = _ranges(lengths, source, target)
    changes = (np.flatnonzero(lengths[1:] != lengths[:-1]) + 1).tolist()
    for begin, end in zip([0, *changes], [*changes, len(lengths)], strict=True):
        if begin == end or first[begin] >= last[begin]:
            continue
        start, stop = int(first[begin]), int(last[begin])
        index = [slice(None)] * (max(axis, batch) + 1)
        index[batch] = slice(begin, end)
        index[axis] = slice(start - target[0], stop - target[0])
        view = None if out is None else out[tuple(index)]
        if source is not None:
            # Position t comes from length - 1 - t.
            after = int(lengths[begin]) - start - source[0]
            before = after - (stop - start) - 1
            index[axis] = slice(after - 1, before if before >= 0 else None, -1)
        yield None if x is None else x[tuple(index)], view, None


def _lanes(axis, _, lengths, source, target, x, out):
    """A length for every lane: masks, for a slab of lanes at a time."""
    library = _library(x if out is None else out)
    lengths = np.moveaxis(lengths, axis, -1)
    x, out = (None if chunk is None else library.moveaxis(chunk, axis, -1) for chunk in (x, out))
    to = library.arange(*target)
    if source is not None and x is not None:
        # In the order of output positions.
        x, origin = x[..., ::-1], library.arange(source[1] - 1, source[0] - 1, -1)
    widest = max(chunk.shape[-1] for chunk in (x, out) if chunk is not None)
    for slab in _slabs((*lengths.shape[:-1], widest)):
        given = lengths[slab]
        first, last = (library.asarray(bound) for bound in _ranges(given, source, target))
        elements = view = mask = None
        if out is not None:
            view, mask = out[slab], (to >= first) & (to < last)
        if x is not None and source is None:
            elements = x[slab][(to >= first) & (to < last)]
        elif x is not None:
            given = library.asarray(given)
            elements = x[slab][(origin < given - first) & (origin >= given - last)]
        yield elements, view, mask


def _slabs(shape):
    """Indices that cut an array into parts of limited size, but not along the last axis."""
    inner = int(np.prod(shape[1:], dtype=np.int64))
    if len(shape) == 1 or shape[0] * inner <= _SLAB:
        yield ()
    elif inner <= _SLAB:
        step = _SLAB // max(inner, 1)
        yield from ((slice(at, at + step),) for at in range(0, shape[0], step))
    else:
        yield from ((at, *rest) for at in range(shape[0]) for rest in _slabs(shape[1:]))
