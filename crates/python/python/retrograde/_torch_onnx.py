"""Translations of the operators for ``torch.onnx.export(..., dynamo=True)``: operators of ONNX that any runtime has.

PyTorch calls them with symbolic tensors and plain values, in the order of our schemas.
"""

import torch
from onnxscript import opset18 as op

#: Where a slice that goes backwards ends.
_BEFORE_ALL = -(2**63)
_INT64 = 7


def reverse(x, axes):
    axes = [axis % len(x.shape) for axis in axes]
    return _flip(x, sorted(set(axes))) if axes else op.Identity(x)


def reverse_sequence(x, lengths, time_axis, batch_axis, policy, align="start", tail="keep"):
    rank = len(x.shape)
    time, batch = time_axis % rank, batch_axis % rank
    lengths = _counts(x, lengths, time, policy)
    # ONNX has time and batch at the first two axes.
    order = [time, batch, *(axis for axis in range(rank) if axis not in (time, batch))]
    swap = order != list(range(rank)) and order[:2] != [1, 0]
    moved = op.Transpose(x, perm=order) if swap else x
    first = 0 if swap else time
    if align == "end":
        moved = _flip(moved, [first])
    moved = op.ReverseSequence(moved, lengths, time_axis=first, batch_axis=1 - first)
    if align == "end":
        moved = _flip(moved, [first])
    if swap:
        moved = op.Transpose(moved, perm=[order.index(axis) for axis in range(rank)])
    if tail == "zero":
        along = [axis for axis in range(rank) if axis != batch]
        moved = _zero_tail(x, moved, op.Unsqueeze(lengths, _ints(along)), time, align)
    return moved


def reverse_subsequences(x, lengths, axis, policy, align="start", tail="keep"):
    rank = len(x.shape)
    axis = axis % rank
    if len(lengths.shape) < rank:
        lengths = op.Unsqueeze(lengths, _ints([axis]))
    lengths = _counts(x, lengths, axis, policy)
    step, size = _steps(x, axis), _size(x, axis)
    if align == "start":
        inside, other = op.Less(step, lengths), op.Sub(op.Sub(lengths, _ints([1])), step)
    else:
        first = op.Sub(size, lengths)
        inside, other = op.GreaterOrEqual(step, first), op.Sub(op.Sub(op.Add(size, first), _ints([1])), step)
    places = op.Expand(op.Where(inside, other, step), op.Shape(x))
    moved = op.GatherElements(x, places, axis=axis)
    return _zero_tail(x, moved, lengths, axis, align) if tail == "zero" else moved


def reverse_segments(x, offsets, axis):
    axis = axis % len(x.shape)
    offsets = op.Cast(offsets, to=_INT64)
    step = op.Range(_int(0), op.Squeeze(_size(x, axis)), _int(1))
    # The number of offsets up to a step is one more than the number of its segment.
    before = op.LessOrEqual(op.Unsqueeze(offsets, _ints([1])), op.Unsqueeze(step, _ints([0])))
    segment = op.Sub(op.ReduceSum(op.Cast(before, to=_INT64), _ints([0]), keepdims=0), _int(1))
    segments = op.Sub(op.Size(offsets), _int(1))
    inside = op.And(op.GreaterOrEqual(segment, _int(0)), op.Less(segment, segments))
    first = op.Max(op.Min(segment, op.Sub(segments, _int(1))), _int(0))
    ends = op.Add(op.Gather(offsets, first), op.Gather(offsets, op.Min(op.Add(first, _int(1)), segments)))
    places = op.Where(inside, op.Sub(op.Sub(ends, _int(1)), step), step)
    return op.Gather(x, places, axis=axis)


def table():
    """The translations by operator."""
    ours = torch.ops.retrograde
    return {
        ours.reverse.default: reverse,
        ours.flip.default: reverse,
        ours.reverse_sequence.default: reverse_sequence,
        ours.reverse_subsequences.default: reverse_subsequences,
        ours.reverse_segments.default: reverse_segments,
    }


def _ints(values):
    return op.Constant(value_ints=list(values))


def _int(value):
    return op.Constant(value_int=value)


def _flip(x, axes):
    backwards = _ints([-1] * len(axes))
    return op.Slice(x, backwards, _ints([_BEFORE_ALL] * len(axes)), _ints(axes), backwards)


def _size(x, axis):
    """The size of an axis, as a tensor of one element."""
    return op.Shape(x, start=axis, end=axis + 1)


def _counts(x, lengths, axis, policy):
    lengths = op.Cast(lengths, to=_INT64)
    return op.Min(lengths, _size(x, axis)) if policy == "clamp" else lengths


def _steps(x, axis):
    """0, 1, .. along an axis, of the rank of ``x``."""
    steps = op.Range(_int(0), op.Squeeze(_size(x, axis)), _int(1))
    others = [other for other in range(len(x.shape)) if other != axis]
    return op.Unsqueeze(steps, _ints(others)) if others else steps


def _zero_tail(x, moved, lengths, axis, align):
    step = _steps(x, axis)
    inside = op.Less(step, lengths) if align == "start" else op.GreaterOrEqual(step, op.Sub(_size(x, axis), lengths))
    return op.Where(inside, moved, op.CastLike(_int(0), x))
