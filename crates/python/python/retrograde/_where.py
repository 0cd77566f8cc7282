"""``where``: a boolean for each sequence, lane, segment or entry of a batch. Those that are false stay as they are.

A length of 0 means the same, so a mask becomes part of the lengths before an operator sees it, for tensors of every
library. Offsets say it in their lowest bit (:class:`._engine.Marked`).
"""

import operator
import sys

import numpy as np

from . import _axes, _engine, _names
from ._lengths import array_of
from ._libraries import is_a


def lengths(name, counts, where, tail="keep", axis=1):
    """Lengths that are 0 where the mask is false. ``axis`` is that of the steps in a mask of kept steps."""
    if tail == "zero":
        raise ValueError(f'{name}: where keeps what it does not reverse, tail "zero" does not: use one of them')
    library, (counts, where) = _alike(name, counts, where)
    shape = tuple(counts.shape)
    if str(counts.dtype).rpartition(".")[2].startswith("bool"):
        # A mask of kept steps: of a row that stays, none is kept.
        shape = tuple(1 if at == axis % len(shape) else size for at, size in enumerate(shape))
    if _sizes(where.shape) != _sizes(shape):
        raise _wrong_shape(name, where, shape)
    return library.where(library.reshape(where, shape), counts, library.zeros_like(counts))


def whole(where, entries, size):
    """The length of an axis where the mask is true, and 0 elsewhere."""
    library, (where,) = _alike("Reverse", where)
    if tuple(where.shape) != (entries,):
        raise _wrong_shape("Reverse", where, (entries,))
    zeros = library.zeros_like(where, dtype=library.int32 if size < 1 << 31 else library.int64)
    return library.where(where, zeros + size, zeros)


def offsets(given, where):
    """Offsets that say which segments are reversed."""
    library, (given, where) = _alike("ReverseSegments", given, where)
    if library.__name__ not in ("torch", "cupy"):
        # The others have no arrays of 64 bits that can be written.
        library, given, where = np, np.asarray(given), np.asarray(where)
    if given.ndim != 1 or not str(given.dtype).rpartition(".")[2].startswith(("int", "uint")):
        return given  # The engine raises the error.
    if tuple(where.shape) != (max(given.shape[0] - 1, 0),):
        raise _wrong_shape("ReverseSegments", where, (max(given.shape[0] - 1, 0),))
    wide = (given.to if library.__name__ == "torch" else given.astype)(library.int64)
    if library is np and wide.size and not (0 <= wide.min() and wide.max() < 1 << 62):
        return given  # The engine raises the error.
    # On a device, twice what is no offset of any axis stays none.
    marked = wide.clip(-(1 << 62), (1 << 62) - 1) * 2
    marked[:-1] += where
    return _engine.Marked(marked)


def unmarked(given):
    """The same movement by plain offsets, for pictures: segments that stay are cut into single steps."""
    if not isinstance(given, _engine.Marked):
        return given
    plain, marks = [0], np.asarray(given.offsets)
    for mark, end in zip(marks[:-1], marks[1:] >> 1, strict=True):
        plain += [int(end)] if mark & 1 else range(plain[-1] + 1, int(end) + 1)
    return plain


def reverse(sequence, x, axes, mask, duplicates, where, batch_axis, out=None, **table):
    """Whole axes of those entries of a batch that the mask ``where`` names, and a table for them."""
    rank = len(x.shape) if hasattr(x, "shape") else np.ndim(x)
    return _reverse(sequence, x, _axes.resolved(axes, mask, duplicates, rank), where, batch_axis, out, **table)


def _reverse(sequence, x, axes, where, batch_axis, out=None, **table):
    """The same for sorted axes: a call of ``sequence`` for each, or one for axes that are neighbours of a row-major
    array. The first of them looks elements up."""
    x = x if hasattr(x, "shape") else np.asarray(x)
    batch = _batch(batch_axis, axes, len(x.shape))
    entries = x.shape[batch]
    if not axes and table:
        # Nothing moves, and elements are still looked up: along an axis of one.
        x, to, last = x[..., None], None if out is None else out[..., None], len(x.shape)
        y = sequence(x, whole(where, entries, 1), time_axis=last, batch_axis=batch, out=to, **table)
        return y[..., 0] if out is None else out
    if not axes:
        return sequence(x, whole(where, entries, 0), time_axis=_other(batch, x), batch_axis=batch, out=out)
    views, axis = _merged(axes, x, out)
    if axis is not None:
        (x, flat), shape = views, x.shape
        batch = batch if batch < axis else batch - len(axes) + 1
        y = sequence(x, whole(where, entries, x.shape[axis]), time_axis=axis, batch_axis=batch, out=flat, **table)
        return y.reshape(shape) if out is None else out
    target = out
    for axis in axes:
        x = sequence(x, whole(where, entries, x.shape[axis]), time_axis=axis, batch_axis=batch, out=target, **table)
        table = {}
        # What was made here may be written again.
        target = x if isinstance(x, np.ndarray) else out
    return x


def _merged(axes, x, out):
    """Views of the tensors in which the axes are one, and that axis; None if there are none."""
    neighbours = len(axes) > 1 and axes[-1] - axes[0] == len(axes) - 1
    if not neighbours or not all(one is None or _is_in_rows(one) for one in (x, out)):
        return None, None
    shape = x.shape
    merged = (*shape[: axes[0]], int(np.prod(shape[axes[0] : axes[-1] + 1])), *shape[axes[-1] + 1 :])
    return [one if one is None else one.reshape(merged) for one in (x, out)], axes[0]


def _is_in_rows(x):
    if type(x) is np.ndarray:
        return x.flags.c_contiguous
    return is_a(x, "torch", "Tensor") and x.is_contiguous()


def bound(name, x, given, where, batch_axis, table=None):
    """The same call without the mask: an operator's name, the tensor, and its other arguments by name."""
    if name == "reverse_segments":
        return name, x, {**given, "offsets": offsets(given["offsets"], where)}
    if name != "reverse":
        operator = {"reverse_sequence": "ReverseSequence"}.get(name, "ReverseSubsequences")
        counts = lengths(operator, given["lengths"], where, given["tail"], given.get("axis", 1))
        return name, x, {**given, "lengths": counts}
    calls = []

    def sequence(x, lengths, *, time_axis, batch_axis, out, table=None):
        calls.append((x, lengths, time_axis, batch_axis, "strict", "start", "keep"))
        return x

    looked_up = {} if table is None else {"table": table}
    reverse(sequence, x, given["axes"], given["mask"], given["duplicates"], where, batch_axis, **looked_up)
    if len(calls) != 1:
        raise ValueError("reverse: with where, axes that are no neighbours are reversed one after the other: name one of them")
    x, *arguments = calls[0]
    names = ("lengths", "time_axis", "batch_axis", "policy", "align", "tail")
    return "reverse_sequence", x, dict(zip(names, arguments, strict=True))


def flip(sequence, m, axis, where, batch_axis):
    m = m if hasattr(m, "shape") else np.asarray(m)
    axes, _ = _names.flip(len(m.shape), axis)
    out = None
    if isinstance(m, np.ndarray):
        out = np.empty_like(m, order="C")
    elif is_a(m, "torch", "Tensor"):
        m = m.contiguous()
    return _reverse(sequence, m, tuple(sorted(axes)), where, batch_axis, out)


def _batch(axis, axes, rank):
    batch = operator.index(axis)
    if not -rank <= batch < rank:
        raise ValueError(f"Reverse: batch_axis is {batch}, outside [{-rank}, {rank - 1}] for a tensor of rank {rank}")
    if batch % rank in axes:
        raise ValueError(f"Reverse: batch_axis is {batch}, which is reversed itself, expected another axis")
    return batch % rank


def _other(batch, x):
    if len(x.shape) < 2:
        raise ValueError("Reverse: x has rank 1, expected at least 2: where is for the entries of a batch")
    return 0 if batch else 1


def _alike(name, *values):
    """The library of these values, and they as its tensors. The last one is the mask."""
    *given, mask = values
    if isinstance(mask, list | tuple):
        # An empty list has no type.
        mask = np.asarray(mask) if mask else np.zeros(np.shape(mask), bool)
    if given and is_a(mask, "jax", "Array") and not is_a(given[0], "jax", "Array"):
        # JAX would cut integers of 64 bits.
        mask = mask if isinstance(mask, sys.modules["jax"].core.Tracer) else np.asarray(mask)
    values = [*given, mask]
    torch, cupy, jax, tensorflow = (sys.modules.get(module) for module in ("torch", "cupy", "jax", "tensorflow"))
    if any(is_a(value, "torch", "Tensor") for value in values):
        library, there = torch, next((v.device for v in values if isinstance(v, torch.Tensor) and not v.is_cpu), "cpu")
        values = [torch.as_tensor(v if isinstance(v, torch.Tensor) else array_of(v), device=there) for v in values]
    elif any(is_a(value, "cupy", "ndarray") for value in values):
        library = cupy
        values = [v if isinstance(v, cupy.ndarray) else cupy.asarray(array_of(v)) for v in values]
    elif any(is_a(value, "jax", "Array") for value in values):
        library = jax.numpy
        values = [v if isinstance(v, jax.Array) else library.asarray(array_of(v)) for v in values]
    elif any(is_a(value, "tensorflow", "Tensor") for value in values):
        library = tensorflow
        values = [tensorflow.convert_to_tensor(value) for value in values]
    else:
        library, values = np, [array_of(value) for value in values]
    kind = str(getattr(values[-1].dtype, "name", values[-1].dtype)).rpartition(".")[2]
    if kind != "bool":
        raise TypeError(f"{name}: where has type {kind}, expected bool: where != 0 is")
    return library, values


def _sizes(shape):
    return [int(size) for size in shape if size != 1]


def _wrong_shape(name, where, expected):
    entry = {"Reverse": "batch entry", "ReverseSequence": "sequence", "ReverseSegments": "segment"}.get(name, "lane")
    return ValueError(f"{name}: where has shape {list(where.shape)}, expected {list(expected)}, one for each {entry}")
