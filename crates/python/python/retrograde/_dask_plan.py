"""Which input chunks an output chunk needs along the reversed axis: arithmetic on sizes, without data.

``borders`` are the positions where the chunks of the axis start, and the size of the axis: one more
than chunks. Chunks may be empty.

If all lanes of a chunk are reversed alike (segments, or lengths that are equal), an output chunk is
a row of spans ``(source, first, last, how)``: positions ``first:last`` of the input chunk
``source``, which are kept or flipped, or whose segments are flipped (``how`` has their offsets).
Zeros have no source. Otherwise only the pairs of chunks that exchange elements are known here.
"""

from bisect import bisect_right
from itertools import accumulate

import numpy as np

KEEP, FLIP, ZERO = "keep", "flip", "zero"


def borders_of(sizes):
    return (0, *accumulate(sizes))


def mirrored(borders):
    """The borders of the axis when it is read backwards."""
    return tuple(borders[-1] - border for border in reversed(borders))


def sequence_spans(borders, at, first, last, zero):
    """The spans of output chunk ``at`` if ``first:last`` is reversed and the rest is kept or zero."""
    low, high = borders[at], borders[at + 1]
    start, stop = (min(max(position, low), high) for position in (first, last))

    def rest(begin, end):
        if begin < end:
            yield (None, 0, end - begin, ZERO) if zero else (at, begin - low, end - low, KEEP)

    return [*rest(low, start), *_reflected(borders, first + last, start, stop), *rest(stop, high)]


def segment_spans(borders, at, offsets):
    """The spans of output chunk ``at`` if the segments between ``offsets`` (an array) are reversed.

    Segments that cross a border of the chunk are flips; all others are one span.
    """
    low, high = borders[at], borders[at + 1]
    spans, start, stop = [], low, high
    crossing = _segment_at(offsets, low) if low < high else None
    if crossing and crossing[0] < low:
        start = min(crossing[1], high)
        spans += _reflected(borders, sum(crossing), low, start)
    after = []
    crossing = _segment_at(offsets, high - 1) if start < high else None
    if crossing and crossing[1] > high:
        stop = crossing[0]
        after = _reflected(borders, sum(crossing), stop, high)
    if start < stop:
        begin, end = np.searchsorted(offsets, start), np.searchsorted(offsets, stop, side="right")
        inside = offsets[begin:end] - start
        spans.append((at, start - low, stop - low, inside if len(inside) > 1 else KEEP))
    return spans + list(after)


def _segment_at(offsets, position):
    """The segment that a position belongs to."""
    at = int(np.searchsorted(offsets, position, side="right"))
    return (int(offsets[at - 1]), int(offsets[at])) if 0 < at < len(offsets) else None


def _reflected(borders, total, start, stop):
    """Flipped spans for the output positions ``start:stop``, which mirror the inputs ``total - 1 - position``."""
    begin, end = total - stop, total - start
    while begin < end:
        source = bisect_right(borders, end - 1) - 1
        low = borders[source]
        first = max(begin, low)
        yield source, first - low, end - low, FLIP
        end = first


def pairs(borders, lengths=None):
    """For each output chunk, the input chunks from which it gets reversed elements.

    ``lengths`` are those of all lanes; None means that they are not known, and may be any. Sequences
    start at position 0. Position ``t`` of a lane of length ``n`` comes from ``n - 1 - t``, so two
    chunks exchange elements if some ``n - 1`` is the sum of a position in each.
    """
    low, high = np.array(borders[:-1], np.int64), np.array(borders[1:], np.int64)
    known = np.array([1, borders[-1]]) if lengths is None else np.unique(lengths)
    known = known[known > 0]
    if not len(known):
        return [[] for _ in low]
    # The candidates are a range of chunks, by the shortest and the longest lane.
    begin = np.searchsorted(high, known[0] + 1 - high)
    end = np.searchsorted(low, known[-1] - 1 - low, side="right")
    counts = np.maximum(end - begin, 0)
    outputs = np.repeat(np.arange(len(low)), counts)
    inputs = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts - begin, counts)
    needed = (low < high)[outputs] & (low < high)[inputs]
    if lengths is not None:
        least, most = low[outputs] + low[inputs] + 1, high[outputs] + high[inputs] - 1
        needed &= np.searchsorted(known, least) < np.searchsorted(known, most, side="right")
    outputs, inputs = outputs[needed], inputs[needed]
    edges = np.searchsorted(outputs, np.arange(len(low) + 1))
    return [inputs[edges[at] : edges[at + 1]].tolist() for at in range(len(low))]
