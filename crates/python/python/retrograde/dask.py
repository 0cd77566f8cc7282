"""The operators for Dask arrays, lazily: whole axes, and lengths and offsets that cross chunks.

>>> import dask.array as da, numpy as np, retrograde.dask
>>> x = da.from_array(np.arange(12).reshape(2, 6), chunks=(1, 4))
>>> y = retrograde.dask.reverse_sequence(x, [6, 3], time_axis=1, batch_axis=0)
>>> y.compute()
array([[ 5,  4,  3,  2,  1,  0],
       [ 8,  7,  6,  9, 10, 11]])
>>> y.chunks == x.chunks
True

Nothing is rechunked. Chunks of the result are contiguous, and a task has at most three chunks in memory:
one task makes an output chunk from the one or two input chunks that it needs. If it needs more, a task
for each cuts out the elements that are needed, and another one joins them.

Lengths and offsets that are in memory (lists, NumPy arrays) are checked when the graph is built, and only
the input chunks that are needed are in the graph. If they are Dask arrays, they are checked when they are
computed. Then any chunk may need any other one along the axis, so that there is a task for each pair of
them, although most find that there is nothing to do. If the axis has more than about thirty chunks, it is
better to compute the lengths first.

A flip of whole axes flips the elements of each chunk (``blockwise``, which Dask fuses with what is
before it) and reverses the order of the chunks, for which there are no tasks of their own.

Chunks may be NumPy arrays, masked arrays, or CuPy arrays (with CuPy this has not been tested).
"""

from __future__ import annotations

from math import isnan
from typing import NoReturn, SupportsIndex

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike

from . import _axes, _dask_chunks, _dask_graph, _names
from ._check import check
from ._hints import MISSING, flipped_axes, hinted, sequence_axes, wrong
from ._lengths import array_of, counted
from ._typing import Align, Axes, Duplicates, Lengths, Mask, Policy, Tail

__all__ = ["flip", "reverse", "reverse_segments", "reverse_sequence", "reverse_subsequences"]


@hinted
def flip(
    m: da.Array | ArrayLike,
    axis: Axes | None = None,
    *more: NoReturn,
    dim: Axes | None = None,
    dims: Axes | None = None,
    **others: NoReturn,
) -> da.Array:
    """Reverses axes; see :func:`retrograde.flip`.

    >>> flip(da.arange(5, chunks=3)).compute()
    array([4, 3, 2, 1, 0])
    """
    if more or others:
        raise wrong(flip, others, more=more)
    m = da.asanyarray(m)
    axes, _ = _names.flip(m.ndim, flipped_axes(axis, dim, dims))
    return _flipped("flip", m, axes)


@hinted
def reverse(
    x: da.Array | ArrayLike,
    axes: Axes | None = None,
    *more: NoReturn,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    **others: NoReturn,
) -> da.Array:
    """Reverses whole axes; see :func:`retrograde.reverse`.

    Chunks along these axes come in the opposite order too: 4, 4, 2 become 2, 4, 4. Their sizes need not be
    known.

    >>> reverse(da.ones((10, 3), chunks=(4, 3)), 0).chunks
    ((2, 4, 4), (3,))
    """
    if more or others:
        raise wrong(reverse, others, more=more)
    x = da.asanyarray(x)
    return _flipped("reverse", x, _axes.resolved(axes, mask, duplicates, x.ndim))


@hinted
def reverse_sequence(
    x: da.Array | ArrayLike,
    lengths: da.Array | Lengths,
    *more: NoReturn,
    time_axis: SupportsIndex | None = None,
    batch_axis: SupportsIndex | None = None,
    batch_first: bool | None = None,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    **others: NoReturn,
) -> da.Array:
    """Reverses the first ``lengths[b]`` steps of every sequence; see :func:`retrograde.reverse_sequence`.

    ``lengths`` are array-like, or a Dask array: then they are checked when they are computed.

    >>> x = da.from_array(np.arange(8).reshape(4, 2), chunks=(3, 1))
    >>> reverse_sequence(x, da.from_array(np.array([4, 2]), chunks=1)).compute()
    array([[6, 3],
           [4, 1],
           [2, 5],
           [0, 7]])
    >>> reverse_sequence(x, [4, 5])
    Traceback (most recent call last):
    ValueError: ReverseSequence: lengths[1] is 5, outside [0, 4]
    """
    if more or others or lengths is MISSING:
        raise wrong(reverse_sequence, others, "lengths", more)
    time_axis, batch_axis = sequence_axes(time_axis, batch_axis, batch_first)
    x = da.asanyarray(x)
    arguments = time_axis, batch_axis, policy, align, tail
    time, batch = _sound("reverse_sequence", x, lengths, arguments, (time_axis, batch_axis))
    size = x.shape[time]
    if _is_lazy(lengths):
        lengths = _rechunked(lengths, (x.chunks[batch],))
        known, lengths = None, _checked(lengths, "ReverseSequence", size, policy)
    else:
        known = counted("reverse_sequence", _sizes(x), _in_memory(lengths), *arguments)
        known, lengths = _dask_chunks.clamped(known, size), None
    if x.numblocks[time] > 1:
        movement = _dask_graph.Moved(x.chunks, x._meta, time, batch, align, tail, known)
        return _dask_graph.array("reverse_sequence", movement, x, lengths)
    if lengths is None:
        lengths = da.from_array(known, chunks=(x.chunks[batch],))
    return _blockwise(
        "reverse_sequence", _dask_chunks.sequence, x, lengths, (batch,), axis=time, batch=batch, align=align, tail=tail
    )


@hinted
def reverse_subsequences(
    x: da.Array | ArrayLike,
    lengths: da.Array | Lengths,
    *more: NoReturn,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    **others: NoReturn,
) -> da.Array:
    """Reverses the first elements of every lane along an axis; see :func:`retrograde.reverse_subsequences`.

    ``lengths`` are array-like, or a Dask array: then they are checked when they are computed.

    >>> x = da.from_array(np.arange(1, 10).reshape(3, 3), chunks=2)
    >>> reverse_subsequences(x, [3, 2, 0], axis=0).compute()
    array([[7, 5, 3],
           [4, 2, 6],
           [1, 8, 9]])
    """
    if more or others or lengths is MISSING or axis is MISSING:
        raise wrong(reverse_subsequences, others, "lengths" if lengths is MISSING else "axis", more)
    x = da.asanyarray(x)
    arguments = axis, policy, align, tail
    (axis,) = _sound("reverse_subsequences", x, lengths, arguments, (axis,))
    size, lanes = x.shape[axis], (*x.chunks[:axis], (1,), *x.chunks[axis + 1 :])
    if _is_lazy(lengths):
        if lengths.ndim < x.ndim:
            lengths = lengths[(slice(None),) * axis + (None,)]
        known, lengths = None, _checked(_rechunked(lengths, lanes), "ReverseSubsequences", size, policy)
    else:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        known = counted("reverse_subsequences", x.shape, _in_memory(lengths), *arguments)
        known, lengths = _dask_chunks.clamped(known, size).reshape(shape), None
    if x.numblocks[axis] > 1:
        movement = _dask_graph.Moved(x.chunks, x._meta, axis, None, align, tail, known)
        return _dask_graph.array("reverse_subsequences", movement, x, lengths)
    if lengths is None:
        lengths = da.from_array(known, chunks=lanes)
    every = tuple(range(x.ndim))
    return _blockwise(
        "reverse_subsequences", _dask_chunks.subsequences, x, lengths, every, axis=axis, align=align, tail=tail
    )


@hinted
def reverse_segments(
    x: da.Array | ArrayLike, offsets: da.Array | Lengths, *more: NoReturn, axis: SupportsIndex = 0, **others: NoReturn
) -> da.Array:
    """Reverses every segment of an axis that is cut by offsets; see :func:`retrograde.reverse_segments`.

    ``offsets`` are array-like, or a Dask array: then they are checked when they are computed.

    >>> reverse_segments(da.arange(8, chunks=3), [0, 5, 7]).compute()
    array([4, 3, 2, 1, 0, 6, 5, 7])
    """
    if more or others or offsets is MISSING or offsets is None:
        raise wrong(reverse_segments, others, "offsets", more)
    x = da.asanyarray(x)
    (axis,) = _sound("reverse_segments", x, offsets, (axis,), (axis,))
    known = None
    if _is_lazy(offsets):
        offsets = offsets.rechunk(-1)
    else:
        known, offsets = _in_memory(offsets).astype(np.int64), None
    if x.numblocks[axis] > 1:
        movement = _dask_graph.Segmented(x.chunks, x._meta, axis, known)
        return _dask_graph.array("reverse_segments", movement, x, offsets)
    if offsets is None:
        offsets = da.from_array(known, chunks=-1)
    # The offsets have an axis that the result has not.
    return _blockwise("reverse_segments", _dask_chunks.segments, x, offsets, (x.ndim,), axis=axis)


def _flipped(name, x, axes):
    axes = tuple(sorted(axes))
    x = _blockwise(name, _dask_chunks.flipped, x, axes=axes)
    axes = tuple(axis for axis in axes if x.numblocks[axis] > 1)
    return _dask_graph.array(name, _dask_graph.Mirrored(x.chunks, axes), x) if axes else x


def _blockwise(name, function, x, *others, **arguments):
    """A call for each chunk, which Dask can fuse with others."""
    every = tuple(range(x.ndim))
    return da.blockwise(
        function,
        every,
        x,
        every,
        *others,
        token=name,
        dtype=x.dtype,
        meta=x._meta,
        align_arrays=False,
        concatenate=True,
        **arguments,
    )


def _checked(lengths, operator, size, policy):
    movement = _dask_graph.Checked(lengths.chunks, operator, size, policy)
    meta = np.empty((0,) * lengths.ndim, np.int64)
    return _dask_graph.array("checked-lengths", movement, lengths, meta=meta)


def _rechunked(lengths, chunks):
    """In one step: they are small, and several steps of expressions refer to missing tasks (Dask 2026.8)."""
    return lengths.rechunk(chunks, threshold=1 << 40)


def _is_lazy(lengths):
    """Whether they have to be computed; none at all need not be."""
    return isinstance(lengths, da.Array) and lengths.size != 0


def _in_memory(lengths):
    """Lengths or offsets as a NumPy array; an empty list is of integers."""
    if isinstance(lengths, da.Array):
        return np.zeros(lengths.shape, lengths.dtype)
    if hasattr(lengths, "__cuda_array_interface__") and hasattr(lengths, "get"):
        return lengths.get()
    return array_of(lengths)


def _sizes(x):
    """The shape of an array, with 0 for sizes that are not known."""
    return tuple(0 if isnan(size) else size for size in x.shape)


def _sound(name, x, lengths, arguments, axes):
    """Checks a call as far as possible now, and returns its axes, which are not negative.

    The engine raises the errors. It needs the sizes of axes that lengths and offsets refer to.
    """
    rank, operator = x.ndim, "".join(word.capitalize() for word in name.split("_"))
    word = "offsets" if name == "reverse_segments" else "lengths"
    named = [int(axis) % rank for axis in axes if _is_axis(axis, rank)]
    used = range(rank) if name == "reverse_subsequences" else named
    for axis in used:
        if isnan(x.shape[axis]):
            raise ValueError(
                f"{operator}: x has chunks of unknown sizes along axis {axis}: call x.compute_chunk_sizes() first"
            )
    lazy = _is_lazy(lengths)
    if lazy and lengths.dtype == bool and word == "lengths":
        raise TypeError(
            f"{operator}: lengths is a mask that is not computed yet, expected one in memory (mask.compute()), or the"
            " numbers of its kept steps: mask.sum(...)"
        )
    if not lazy:
        lengths = _in_memory(lengths)
    elif any(map(isnan, lengths.shape)):
        raise ValueError(f"{operator}: {word} have chunks of unknown sizes: call {word}.compute_chunk_sizes() first")
    else:
        if len(named) == 1 and _shape_of_lanes(lengths.shape, x.shape, *named):
            # Then only the axis matters, and the engine need not read a zero for every lane.
            used, lengths = named, lengths[(slice(0, 1),) * lengths.ndim]
        lengths = np.broadcast_to(np.zeros((), lengths.dtype), lengths.shape)
    # The sizes of other axes do not matter, and NumPy has no arrays of more than 2**63 bytes.
    shape = [n if axis in used else 1 if isnan(n) else min(n, 1) for axis, n in enumerate(x.shape)]
    check(name, shape, lengths, *arguments, dtype=x.dtype)
    return named


def _shape_of_lanes(shape, of, axis):
    return shape in (of[:axis] + of[axis + 1 :], of[:axis] + (1,) + of[axis + 1 :])


def _is_axis(axis, rank):
    return hasattr(axis, "__index__") and -rank <= axis.__index__() < rank
