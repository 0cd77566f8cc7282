"""Reverses tensors: whole axes, padded or packed batches of sequences, each lane by its own length.

>>> import numpy as np, retrograde
>>> retrograde.reverse(np.array([[1, 2, 3], [4, 5, 6]]), axes=1)
array([[3, 2, 1],
       [6, 5, 4]])

The functions take NumPy arrays of every type, and tensors of PyTorch, JAX, TensorFlow, CuPy
and any other library that supports DLPack, without copying them. The result has the type of the
input. Elements are moved as bits, never converted: NaN payloads, 64-bit integers and -0.0 are
preserved.

Errors are ``ValueError`` and ``TypeError`` and name the operator, the argument, its value and the
allowed values. After an error, nothing has been written to ``out``.
"""

from __future__ import annotations as _annotations

import os as _os
from operator import index as _index
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import overload as _overload

from numpy import ndarray as _ndarray

from . import _engine, _hints, _kinds, _table, _where
from ._config import config
from ._engine import __version__ as __version__
from ._engine import get_num_threads, set_num_threads
from ._explain import Explanation, explain
from ._hints import MISSING as _MISSING
from ._hints import hinted as _hinted
from ._kinds import _is_ascending, _is_in_rows, _is_torch, _named, _reversals, _segments, _sequences, _subsequences
from ._prepare import Prepared, prepare
from ._show import Picture, show

if _TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from numpy.typing import ArrayLike, NDArray

    from ._typing import (
        Align,
        Axes,
        Duplicates,
        Lengths,
        LettersT,
        Mask,
        Orientation,
        Orientations,
        Plane,
        Policy,
        SegmentedT,
        Table,
        Tail,
        TensorT,
        Where,
    )

__all__ = [
    "Explanation",
    "Picture",
    "Prepared",
    "config",
    "explain",
    "flip",
    "fliplr",
    "flipud",
    "get_num_threads",
    "orient",
    "prepare",
    "reverse",
    "reverse_complement",
    "reverse_segments",
    "reverse_sequence",
    "reverse_subsequences",
    "rot90",
    "set_num_threads",
    "show",
]

# A tensor returns a tensor of the same type; anything else that NumPy can read returns an array.


@_overload
def reverse(
    x: TensorT,
    axes: Axes | None = None,
    *,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    where: Where | None = None,
    batch_axis: SupportsIndex = 0,
    table: Table | None = None,
    out: TensorT | None = None,
) -> TensorT: ...


@_overload
def reverse(
    x: ArrayLike,
    axes: Axes | None = None,
    *,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    where: Where | None = None,
    batch_axis: SupportsIndex = 0,
    table: Table | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...


@_hinted
def reverse(x, axes=None, *more, mask=None, duplicates="set", where=None, batch_axis=0, table=None, out=None, **others):
    """Reverses whole axes (OpenVINO ``Reverse``).

    Parameters
    ----------
    x : array or tensor
        The input. Any element type, any strides.
    axes : int or iterable of int, optional
        The axes to reverse; negative ones count from the end. Without axes and mask, all axes are
        reversed.
    mask : iterable of bool, optional
        Instead of ``axes``: one boolean per axis. 0 and 1 are accepted too.
    duplicates : {"set", "error"}
        Whether an axis that is named twice is reversed once, or is an error as in ``numpy.flip``.
    where : array-like of bool, optional
        One for each entry of ``batch_axis``: those that are false stay as they are.
    batch_axis : int
        The axis of a batch with ``where``; negative values count from the end.
    table : bytes or array of uint8, optional
        What each element that is reversed becomes: 256 entries for elements of one byte, 16 for those of 4 bits and 4
        for those of 2 bits; others are refused.
    out : array or tensor, optional
        The output, of the same library, type and shape. ``out=x`` reverses in place.

    Returns
    -------
    A new array or tensor of the same kind with the same memory order, or ``out``.

    Examples
    --------
    >>> x = np.arange(6).reshape(2, 3)
    >>> retrograde.reverse(x)
    array([[5, 4, 3],
           [2, 1, 0]])
    >>> retrograde.reverse(x, mask=[True, False])
    array([[3, 4, 5],
           [0, 1, 2]])
    >>> retrograde.reverse(np.frombuffer(b"GATTACA", np.uint8), table=bytes.maketrans(b"ACGT", b"TGCA")).tobytes()
    b'TGTAATC'
    >>> _ = retrograde.reverse(x, axes=-1, out=x)
    >>> x
    array([[2, 1, 0],
           [5, 4, 3]])
    >>> retrograde.reverse(x, axes=2)
    Traceback (most recent call last):
    ValueError: Reverse: axes[0] is 2, outside [-2, 1] for a tensor of rank 2
    >>> retrograde.reverse(x, axes=(1, -1), duplicates="error")
    Traceback (most recent call last):
    ValueError: Reverse: axes[1] is -1, the same axis as axes[0], expected distinct axes
    """
    if more or others:
        raise _hints.wrong(reverse, others, more=more)
    if where is not None:
        looked_up = {} if table is None else {"table": table}
        return _where.reverse(reverse_sequence, x, axes, mask, duplicates, where, batch_axis, out, **looked_up)
    if table is not None:
        return _table.look_up("reverse", x, table, out, axes, mask, duplicates)
    kind = type(x)
    if kind is _ndarray:
        return _engine.reverse(x, axes, mask, duplicates, out)
    if _is_torch(kind):
        return _kinds.torch._reverse(x, axes, mask, duplicates, out)
    return (_reversals.get(kind) or _kinds.reverse)(x, axes, mask, duplicates, out)


@_overload
def reverse_sequence(
    x: TensorT,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex | None = None,
    batch_axis: SupportsIndex | None = None,
    batch_first: bool | None = None,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    where: Where | None = None,
    table: Table | None = None,
    out: TensorT | None = None,
) -> TensorT: ...


@_overload
def reverse_sequence(
    x: ArrayLike,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex | None = None,
    batch_axis: SupportsIndex | None = None,
    batch_first: bool | None = None,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    where: Where | None = None,
    table: Table | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...


@_hinted
def reverse_sequence(
    x, lengths, *more, time_axis=None, batch_axis=None, batch_first=None,
    policy="strict", align="start", tail="keep", where=None, table=None, out=None, **others,
):
    """Reverses the first ``lengths[b]`` steps of every sequence ``b`` of a padded batch.

    Padding is not moved. This is ONNX ``ReverseSequence``, on any two axes as in OpenVINO and
    ``tf.reverse_sequence``. With ``align="end"`` the last ``lengths[b]`` steps are reversed.

    Parameters
    ----------
    x : array or tensor
        The batch. Any element type, any strides, any further axes.
    lengths : array-like of int or bool
        One per batch entry, of any integer type. Or a boolean mask of kept steps, a row for each batch
        entry, of which each keeps the first steps (the last ones with ``align="end"``).
    time_axis, batch_axis : int, optional
        The axis that is reversed (0 by default), and the axis of the sequences (1 by default).
        Negative ones count from the end.
    batch_first : bool, optional
        Instead of the axes: True means ``time_axis=1, batch_axis=0``, as PyTorch and Keras have it.
    policy : {"strict", "clamp"}
        Whether a length beyond the time axis is an error or is clamped to it. A negative length is
        always an error.
    align : {"start", "end"}
        Where each sequence is: at the start of the axis, with padding behind it, or at the end,
        with padding in front of it, as in left-padded batches of language models.
    tail : {"keep", "zero"}
        Whether the padding stays or becomes zero (zero bytes). References, such as the elements of
        object arrays, cannot become zero.
    where : array-like of bool, optional
        One for each sequence: those that are false stay as they are, and their lengths do not matter.
    table : bytes or array of uint8, optional
        What each element that is reversed becomes: 256 entries for elements of one byte, 16 for those of 4 bits and 4
        for those of 2 bits; others are refused.
    out : array or tensor, optional
        The output; ``out=x`` reverses in place.

    Returns
    -------
    A new array or tensor of the same kind with the same memory order, or ``out``.

    Examples
    --------
    >>> x = np.array([list("stressed"), list("live...."), list("parts...")])
    >>> y = retrograde.reverse_sequence(x, [8, 4, 5], time_axis=1, batch_axis=0)
    >>> ["".join(row) for row in y]
    ['desserts', 'evil....', 'strap...']
    >>> retrograde.reverse_sequence(x, [8, 4, 9], batch_first=True)
    Traceback (most recent call last):
    ValueError: ReverseSequence: lengths[2] is 9, outside [0, 8]

    A left-padded batch, and padding that becomes zero:

    >>> x = np.array([[9, 9, 1, 2], [9, 3, 4, 5]])
    >>> retrograde.reverse_sequence(x, [2, 3], time_axis=1, batch_axis=0, align="end")
    array([[9, 9, 2, 1],
           [9, 5, 4, 3]])
    >>> retrograde.reverse_sequence(
    ...     x, [2, 3], time_axis=1, batch_axis=0, align="end", tail="zero"
    ... )
    array([[0, 0, 2, 1],
           [0, 5, 4, 3]])
    """
    if more or others or lengths is _MISSING:
        raise _hints.wrong(reverse_sequence, others, "lengths", more)
    if time_axis is None or batch_axis is None or batch_first is not None:
        time_axis, batch_axis = _hints.sequence_axes(time_axis, batch_axis, batch_first)
    if where is not None:
        lengths = _where.lengths("ReverseSequence", lengths, where, tail)
    if table is not None:
        return _table.look_up("reverse_sequence", x, table, out, lengths, time_axis, batch_axis, policy, align, tail)
    kind = type(x)
    if kind is _ndarray:
        return _engine.reverse_sequence(x, lengths, time_axis, batch_axis, policy, align, tail, out)
    if _is_torch(kind):
        torch = _kinds.torch
        return torch._reverse_sequence(x, lengths, time_axis, batch_axis, policy, align, tail, out)
    function = _sequences.get(kind) or _kinds.reverse_sequence
    return function(x, lengths, time_axis, batch_axis, policy, align, tail, out)


@_overload
def reverse_subsequences(
    x: TensorT,
    lengths: Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    where: Where | None = None,
    table: Table | None = None,
    out: TensorT | None = None,
) -> TensorT: ...


@_overload
def reverse_subsequences(
    x: ArrayLike,
    lengths: Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    where: Where | None = None,
    table: Table | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...


@_hinted
def reverse_subsequences(
    x, lengths, *more, axis, policy="clamp", align="start", tail="keep", where=None, table=None, out=None, **others
):
    """Reverses the first elements of every lane along an axis, each lane by its own length.

    This is DirectML ``ReverseSubsequences``. With ``align="end"`` the last elements are reversed.

    Parameters
    ----------
    x : array or tensor
        The input. Any element type, any strides.
    lengths : array-like of int or bool
        One per lane: ``x``'s shape with 1 at ``axis``, or without that axis. Any integer type. Or a
        boolean mask of kept elements, of ``x``'s shape.
    axis : int
        The axis of the lanes; negative values count from the end.
    policy : {"clamp", "strict"}
        Whether a length beyond the axis is clamped to it or is an error. A negative length is
        always an error.
    align : {"start", "end"}
        Where each sequence is: at the start of the axis, with padding behind it, or at the end,
        with padding in front of it, as in left-padded batches of language models.
    tail : {"keep", "zero"}
        Whether the padding stays or becomes zero (zero bytes). References, such as the elements of
        object arrays, cannot become zero.
    where : array-like of bool, optional
        One for each lane, as lengths are: lanes that are false stay as they are.
    table : bytes or array of uint8, optional
        What each element that is reversed becomes: 256 entries for elements of one byte, 16 for those of 4 bits and 4
        for those of 2 bits; others are refused.
    out : array or tensor, optional
        The output; ``out=x`` reverses in place.

    Returns
    -------
    A new array or tensor of the same kind with the same memory order, or ``out``.

    Examples
    --------
    >>> x = np.arange(1, 10).reshape(3, 3)
    >>> retrograde.reverse_subsequences(x, [3, 2, 0], axis=0)
    array([[7, 5, 3],
           [4, 2, 6],
           [1, 8, 9]])
    >>> retrograde.reverse_subsequences(x, [3, 2, 0], axis=0, align="end", tail="zero")
    array([[7, 0, 0],
           [4, 8, 0],
           [1, 5, 0]])
    """
    if more or others or lengths is _MISSING or axis is _MISSING:
        missing = "lengths" if lengths is _MISSING else "axis"
        raise _hints.wrong(reverse_subsequences, others, missing, more)
    if where is not None:
        lengths = _where.lengths("ReverseSubsequences", lengths, where, tail, axis)
    if table is not None:
        return _table.look_up("reverse_subsequences", x, table, out, lengths, axis, policy, align, tail)
    kind = type(x)
    if kind is _ndarray:
        return _engine.reverse_subsequences(x, lengths, axis, policy, align, tail, out)
    if _is_torch(kind):
        return _kinds.torch._reverse_subsequences(x, lengths, axis, policy, align, tail, out)
    function = _subsequences.get(kind) or _kinds.reverse_subsequences
    return function(x, lengths, axis, policy, align, tail, out)


@_overload
def reverse_segments(
    x: SegmentedT,
    offsets: None = None,
    *,
    axis: SupportsIndex = 0,
    where: Where | None = None,
    out: None = None,
) -> SegmentedT: ...


@_overload
def reverse_segments(
    x: TensorT,
    offsets: Lengths | None = None,
    *,
    axis: SupportsIndex = 0,
    where: Where | None = None,
    table: Table | None = None,
    out: TensorT | None = None,
) -> TensorT: ...


@_overload
def reverse_segments(
    x: ArrayLike,
    offsets: Lengths | None = None,
    *,
    axis: SupportsIndex = 0,
    where: Where | None = None,
    table: Table | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...


@_hinted
def reverse_segments(x, offsets=None, *more, axis=0, where=None, table=None, out=None, **others):
    """Reverses every segment of an axis that is cut by offsets.

    For sequences that are packed one behind the other instead of padded: ``cu_seqlens`` of
    attention kernels, and ragged, jagged and list arrays. Segment ``i`` is
    ``offsets[i]:offsets[i + 1]``. Elements behind the last offset stay.

    Parameters
    ----------
    x : array or tensor
        The input. Any element type, any strides. Or a nested tensor of PyTorch (layout
        ``torch.jagged``), a ``tf.RaggedTensor`` (of ragged rank 1) or a list array of Arrow
        (``ListArray``, ``LargeListArray``, ``ChunkedArray``), which have offsets of their own.
    offsets : array-like of int
        One more than segments, of any integer type: the first is 0, they ascend, and the last is at
        most the size of the axis. Not for nested and ragged tensors and list arrays.
    axis : int
        The axis that is cut; negative values count from the end.
    where : array-like of bool, optional
        One for each segment: those that are false stay as they are.
    table : bytes or array of uint8, optional
        What each element that is reversed becomes: 256 entries for elements of one byte, 16 for those of 4 bits and 4
        for those of 2 bits; others are refused.
    out : array or tensor, optional
        The output; ``out=x`` reverses in place.

    Returns
    -------
    A new array or tensor of the same kind with the same memory order, or ``out``.

    Examples
    --------
    >>> x = np.array(list("stressedliveradar.."))
    >>> "".join(retrograde.reverse_segments(x, [0, 8, 12, 17]))
    'dessertsevilradar..'
    >>> "".join(retrograde.reverse_segments(x, [0, 8, 12, 17], where=[True, False, True]))
    'dessertsliveradar..'
    >>> retrograde.reverse_segments(x, [0, 8, 5])
    Traceback (most recent call last):
    ValueError: ReverseSegments: offsets[2] is 5, outside [8, 19]
    """
    if more or others:
        raise _hints.wrong(reverse_segments, others, more=more)
    if table is not None:
        return _kinds.segments_looked_up(x, offsets, axis, where, table, out)
    if where is not None:
        return _kinds.segments_where(x, offsets, axis, where, out)
    kind = type(x)
    if kind is _ndarray and offsets is not None:
        return _engine.reverse_segments(x, offsets, axis, out)
    if _is_torch(kind):
        return _kinds.torch.reverse_segments(x, offsets, axis=axis, out=out)
    return (_segments.get(kind) or _kinds.reverse_segments)(x, offsets, axis, out)


@_overload
def reverse_complement(
    x: TensorT,
    axis: SupportsIndex = -1,
    *,
    lengths: Lengths | None = None,
    offsets: Lengths | None = None,
    where: Where | None = None,
    strict: bool = False,
    rna: bool = False,
    out: TensorT | None = None,
) -> TensorT: ...


@_overload
def reverse_complement(
    x: LettersT,
    axis: SupportsIndex = -1,
    *,
    lengths: Lengths | None = None,
    offsets: Lengths | None = None,
    where: Where | None = None,
    strict: bool = False,
    rna: bool = False,
    out: None = None,
) -> LettersT: ...


@_hinted
def reverse_complement(
    x, axis=-1, *more, lengths=None, offsets=None, where=None, strict=False, rna=False, out=None, **others
):
    """Reverses letters of nucleic acids and complements them, in one pass.

    DNA, RNA and the letters of IUPAC, in either case. A becomes T, and U with ``rna=True``; T and U become A. Other
    bytes are moved as they are.

    Parameters
    ----------
    x : array of uint8 or S1, bytes, str, or an Arrow array of strings
        The letters, one in each byte. Of an Arrow array, each string is a read. Arrays on a CUDA device stay there.
    axis : int
        The axis of the letters; negative values count from the end.
    lengths : array-like of int, optional
        One per lane, as for :func:`reverse_subsequences`: how many letters it has. Padding behind them stays.
    offsets : array-like of int, optional
        Of reads that are packed one behind the other, as for :func:`reverse_segments`.
    where : array-like of bool, optional
        One for each lane, or for each read of ``offsets``: those that are false stay as they are, such as reads of the
        forward strand.
    strict : bool
        Whether other bytes than letters are an error. They are only looked for in what is complemented, and on the
        CPU: an array on a device is copied for that.
    rna : bool
        Whether A becomes U.
    out : array, optional
        The output; ``out=x`` works in place.

    Returns
    -------
    The same kind as ``x``, or ``out``.

    Examples
    --------
    >>> retrograde.reverse_complement(b"GATTACA-n")
    b'n-TGTAATC'
    >>> reads = np.frombuffer(b"AACGTTTGCC", np.uint8)
    >>> retrograde.reverse_complement(reads, offsets=[0, 3, 6, 10], where=[True, False, True]).tobytes()
    b'GTTGTTGGCA'
    >>> retrograde.reverse_complement("GAT-ACA", strict=True)
    Traceback (most recent call last):
    ValueError: reverse_complement: x[3] is '-' (45), expected one of ACGTURYSWKMBDHVN, in either case

    One-hot arrays with channels in the order ACGT are two flips:

    >>> onehot = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]])
    >>> retrograde.flip(onehot, (0, 1))
    array([[0, 0, 1, 0],
           [0, 0, 0, 1],
           [0, 0, 0, 1]])
    """
    if more or others:
        raise _hints.wrong(reverse_complement, others, more=more)
    return _kinds.reverse_complement(x, _index(axis), lengths, offsets, where, strict, rna, out)


@_overload
def flip(
    m: TensorT,
    axis: Axes | None = None,
    *,
    dim: Axes | None = None,
    dims: Axes | None = None,
    where: Where | None = None,
    batch_axis: SupportsIndex = 0,
) -> TensorT: ...


@_overload
def flip(
    m: ArrayLike,
    axis: Axes | None = None,
    *,
    dim: Axes | None = None,
    dims: Axes | None = None,
    where: Where | None = None,
    batch_axis: SupportsIndex = 0,
) -> NDArray[Any]: ...


@_hinted
def flip(m, axis=None, *more, dim=None, dims=None, where=None, batch_axis=0, **others):
    """Reverses axes, as ``numpy.flip`` does, into a new contiguous array.

    Parameters
    ----------
    m : array or tensor
        The input. Any element type, any strides.
    axis : int or tuple of int, optional
        The axes to reverse, all of them by default; negative ones count from the end. An axis that
        is named twice is an error.
    dim, dims : int or tuple of int, optional
        The same under PyTorch's names.
    where : array-like of bool, optional
        One for each entry of ``batch_axis``: those that are false stay as they are. For random flips
        of a batch of images.
    batch_axis : int
        The axis of a batch with ``where``; negative values count from the end.

    Returns
    -------
    A new row-major array or tensor of the same kind. ``numpy.flip`` returns a view instead.

    Examples
    --------
    >>> x = np.arange(6).reshape(2, 3)
    >>> retrograde.flip(x, 1)
    array([[2, 1, 0],
           [5, 4, 3]])
    >>> retrograde.flip(x, 1, where=[False, True])
    array([[0, 1, 2],
           [5, 4, 3]])
    >>> retrograde.flip(x, (0, 2))
    Traceback (most recent call last):
    numpy.exceptions.AxisError: flip: axis[1]: axis 2 is out of bounds for array of dimension 2
    """
    if more or others:
        raise _hints.wrong(flip, others, more=more)
    if dim is not None or dims is not None:
        axis = _hints.flipped_axes(axis, dim, dims)
    if where is not None:
        return _where.flip(reverse_sequence, m, axis, where, batch_axis)
    if _is_in_rows(m, 0) and (axis is None or type(axis) is int and -m.ndim <= axis < m.ndim):
        return _engine.reverse(m, axis, None, "set", None)
    if type(m) is _ndarray and _is_ascending(axis, m.ndim):
        return _engine.flip(m, axis)
    if _is_torch(type(m)):
        return _kinds.torch.flip(m, axis)
    return _named("flip", m, axis)


@_overload
def fliplr(m: TensorT) -> TensorT: ...


@_overload
def fliplr(m: ArrayLike) -> NDArray[Any]: ...


@_hinted
def fliplr(m, *more, **others):
    """Reverses axis 1, as ``numpy.fliplr`` does, into a new contiguous array.

    ``m`` has at least two axes.

    >>> retrograde.fliplr(np.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    if more or others:
        raise _hints.wrong(fliplr, others, more=more)
    if _is_in_rows(m, 2):
        return _engine.reverse(m, 1, None, "set", None)
    return _named("fliplr", m)


@_overload
def flipud(m: TensorT) -> TensorT: ...


@_overload
def flipud(m: ArrayLike) -> NDArray[Any]: ...


@_hinted
def flipud(m, *more, **others):
    """Reverses axis 0, as ``numpy.flipud`` does, into a new contiguous array.

    ``m`` has at least one axis.

    >>> retrograde.flipud(np.array([[1, 2], [3, 4]]))
    array([[3, 4],
           [1, 2]])
    """
    if more or others:
        raise _hints.wrong(flipud, others, more=more)
    if _is_in_rows(m, 1):
        return _engine.reverse(m, 0, None, "set", None)
    return _named("flipud", m)


@_overload
def rot90(m: TensorT, k: SupportsIndex = 1, axes: Plane = (0, 1)) -> TensorT: ...


@_overload
def rot90(m: ArrayLike, k: SupportsIndex = 1, axes: Plane = (0, 1)) -> NDArray[Any]: ...


@_hinted
def rot90(m, k=1, axes=(0, 1), *more, **others):
    """Rotates by 90 degrees, as ``numpy.rot90`` does, into a new contiguous array, in one pass.

    Parameters
    ----------
    m : array or tensor
        The input. Any element type, any strides.
    k : int
        The number of turns; negative ones turn the other way.
    axes : pair of int
        The plane: turns go from the first axis towards the second.

    Returns
    -------
    A new row-major array or tensor of the same kind. ``numpy.rot90`` returns a view instead.

    Examples
    --------
    >>> x = np.array([[1, 2, 3], [4, 5, 6]])
    >>> retrograde.rot90(x)
    array([[3, 6],
           [2, 5],
           [1, 4]])
    >>> retrograde.rot90(x, k=-1)
    array([[4, 1],
           [5, 2],
           [6, 3]])
    """
    if more or others:
        raise _hints.wrong(rot90, others, more=more)
    if type(m) is _ndarray:
        done = _engine.rot90(m, k, axes)
        if done is not None:
            return done
    return _named("rot90", m, k, axes)


@_overload
def orient(
    x: TensorT,
    orientation: Orientation | None = None,
    *,
    axes: Plane | None = None,
    orientations: Orientations | None = None,
    batch_axis: SupportsIndex | None = None,
    out: TensorT | None = None,
) -> TensorT: ...


@_overload
def orient(
    x: ArrayLike,
    orientation: Orientation | None = None,
    *,
    axes: Plane | None = None,
    orientations: Orientations | None = None,
    batch_axis: SupportsIndex | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...


@_hinted
def orient(x, orientation=None, *more, axes=None, orientations=None, batch_axis=None, out=None, **others):
    """Makes images upright: flips rows, columns or both, and transposes, in one pass.

    Orientations are those of EXIF, by number or name: 1 ``"identity"``, 2 ``"fliplr"`` (or
    ``"mirror"``, ``"hflip"``), 3 ``"rot180"``, 4 ``"flipud"`` (or ``"vflip"``), 5 ``"transpose"``,
    6 ``"rot270"`` (clockwise by 90 degrees), 7 ``"transverse"``, 8 ``"rot90"``. So ``orient(x, 6)``
    is Pillow's ``ImageOps.exif_transpose`` of an image whose orientation is 6.

    Parameters
    ----------
    x : array or tensor
        The image, or a batch of them. Any element type, any strides.
    orientation : int or str
        The orientation of the image.
    axes : pair of int, optional
        The axes of rows and columns: by default the first two, or the first two that are not
        the batch axis.
    orientations : iterable of int or str, optional
        Instead of ``orientation``: one for each image of a batch. All must give the same shape.
    batch_axis : int, optional
        The axis of the images for ``orientations``, 0 by default.
    out : array or tensor, optional
        The output, of the same library and type. ``out=x`` runs in place, unless rows and columns
        are exchanged.

    Returns
    -------
    A new row-major array or tensor of the same kind, or ``out``.

    Examples
    --------
    >>> x = np.array([[1, 2, 3], [4, 5, 6]])
    >>> retrograde.orient(x, 6)
    array([[4, 1],
           [5, 2],
           [6, 3]])
    >>> retrograde.orient(x, "mirror")
    array([[3, 2, 1],
           [6, 5, 4]])
    >>> batch = np.arange(8).reshape(2, 2, 2)
    >>> retrograde.orient(batch, orientations=[3, "transpose"]).tolist()
    [[[3, 2], [1, 0]], [[4, 6], [5, 7]]]
    """
    if more or others:
        raise _hints.wrong(orient, others, more=more)
    if type(x) is _ndarray and orientations is None and batch_axis is None:
        done = _engine.orient(x, orientation, axes, out)
        if done is not None:
            return done
    return _kinds.orient(x, orientation, axes, orientations, batch_axis, out)


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_engine.after_fork_in_child)
