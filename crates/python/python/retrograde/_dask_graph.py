"""Graphs of the operators on Dask arrays, and the arrays that have them.

Dask has two kinds of arrays: those with a high-level graph, and expressions (``array.query-planning``).
Both get their tasks from the functions of a movement here, when Dask asks for them: a graph that has not
been optimised yet is a few numbers and the lengths, whatever the number of chunks.
"""

from abc import ABCMeta
from functools import cached_property
from itertools import product
from math import isnan

import dask.array as da
import numpy as np
from dask._task_spec import Alias, DataNode, List, Task, TaskRef
from dask.highlevelgraph import HighLevelGraph, Layer
from dask.tokenize import tokenize

from . import _dask_chunks as chunked
from . import _dask_plan as plan

#: The most input chunks that one task reads. If an output chunk needs more, a task for each cuts out what
#: is needed. So a task has at most three chunks in memory: these, and the one that it writes.
DIRECT = 2


class Mirrored:
    """Blocks in the opposite order along some axes; their elements were flipped before."""

    def __init__(self, chunks, axes):
        self.axes = axes
        self.chunks = tuple(c[::-1] if axis in axes else c for axis, c in enumerate(chunks))

    def tasks(self, name, x, _):
        counts = [len(c) for c in self.chunks]
        orders = [range(n)[::-1] if axis in self.axes else range(n) for axis, n in enumerate(counts)]
        targets = product([name], *map(range, counts))
        return {key: Alias(key, source) for key, source in zip(targets, product([x], *orders), strict=True)}

    def __dask_tokenize__(self):
        return type(self).__name__, self.chunks, self.axes


class Checked:
    """Lengths that are computed: a task for each block checks and clamps them."""

    def __init__(self, chunks, operator, size, policy):
        self.chunks, self.operator, self.size, self.policy = chunks, operator, size, policy

    def tasks(self, name, lengths, _):
        starts = [plan.borders_of(sizes)[:-1] for sizes in self.chunks]
        found = {}
        for at in _blocks(self.chunks):
            first = tuple(start[i] for start, i in zip(starts, at, strict=True))
            arguments = self.operator, first, self.size, self.policy
            found[name, *at] = Task((name, *at), chunked.checked_lengths, TaskRef((lengths, *at)), *arguments)
        return found

    def __dask_tokenize__(self):
        return type(self).__name__, self.chunks, self.operator, self.size, self.policy


class Moved:
    """A reversal along an axis of several chunks.

    ``lengths`` are an array, or None if they are computed: then they are another Dask array, with a block
    for each block of lanes. ``batch`` is their axis; None if every lane has its own.
    """

    def __init__(self, chunks, meta, axis, batch, align, tail, lengths):
        self.chunks, self.meta, self.axis, self.batch = chunks, meta, axis, batch
        self.end, self.zero, self.lengths = align == "end", tail == "zero", lengths
        self.borders = plan.borders_of(chunks[axis])

    def tasks(self, name, x, lengths):
        found = {}
        # The axes along which lengths differ, and the others.
        lanes = [self.batch] if self.batch is not None else [a for a in range(len(self.chunks)) if a != self.axis]
        edges = {a: plan.borders_of(self.chunks[a]) for a in lanes}
        others = [range(1) if a == self.axis or a in lanes else range(len(c)) for a, c in enumerate(self.chunks)]
        for at in product(*(range(len(self.chunks[a])) for a in lanes)):
            block = dict(zip(lanes, at, strict=True))
            if self.lengths is None:
                key = (lengths, *(at if self.batch is not None else (*at[: self.axis], 0, *at[self.axis :])))
                rows = self._lane_rows(None, TaskRef(key))
            else:
                ranges = [slice(edges[a][i], edges[a][i + 1]) for a, i in block.items()]
                if self.batch is None:
                    ranges.insert(self.axis, slice(None))
                given = self.lengths[tuple(ranges)]
                values = np.unique(given)
                if len(values) <= 1:
                    rows = self._span_rows(int(values[0]) if len(values) else 0)
                else:
                    key = (_inner(name, "lengths"), *at)
                    found[key] = DataNode(key, given)
                    rows = self._lane_rows(values, TaskRef(key))
            rows = list(rows)
            for other in product(*others):
                place = tuple(block.get(a, i) for a, i in enumerate(other))
                for step, row in enumerate(rows):
                    row(found, name, x, place, step)
        return found

    def _span_rows(self, length):
        size = self.borders[-1]
        first, last = (size - length, size) if self.end else (0, length)
        for step in range(len(self.borders) - 1):
            yield _spans(self, plan.sequence_spans(self.borders, step, first, last, self.zero))

    def _lane_rows(self, values, lengths):
        borders = plan.mirrored(self.borders) if self.end else self.borders
        sources = plan.pairs(borders, values)
        count = len(borders) - 1
        for step in range(count):
            at = count - 1 - step if self.end else step
            low, high = borders[at], borders[at + 1]
            stays = not self.zero and low < high and (values is None or bool(values[0] < high))
            yield _lanes(self, lengths, borders, at, sources[at], stays, direct=values is not None)

    def _key(self, name, place, step):
        return (name, *place[: self.axis], step, *place[self.axis + 1 :])

    def __dask_tokenize__(self):
        parts = self.chunks, self.axis, self.batch, self.end, self.zero
        return type(self).__name__, parts, None if self.lengths is None else tokenize(self.lengths)


def _spans(movement, spans):
    """Adds the tasks of one output chunk whose lanes are all alike."""
    sources = sorted({span[0] for span in spans if span[0] is not None})
    axis, indices = movement.axis, {source: i for i, source in enumerate(sources)}
    local = tuple((indices.get(span[0]), *span[1:]) for span in spans)

    def add(found, name, x, place, step):
        key = movement._key(name, place, step)
        chunks = [TaskRef(movement._key(x, place, source)) for source in sources]
        if not sources:
            found[key] = _zeros(movement, key, x, place, step)
        elif len(sources) <= DIRECT:
            found[key] = Task(key, chunked.joined, axis, local, *chunks)
        else:
            pieces = []
            for source, chunk in zip(sources, chunks, strict=True):
                cut = (_inner(name, "cut"), *key[1:], source)
                wanted = tuple((i, *span[1:]) for i, span in enumerate(spans) if span[0] == source)
                found[cut] = Task(cut, chunked.cut, axis, wanted, chunk)
                pieces.append(TaskRef(cut))
            zero = tuple((i, span[2]) for i, span in enumerate(spans) if span[0] is None)
            found[key] = Task(key, chunked.stitched, axis, zero, List(*pieces))

    return add


def _lanes(movement, lengths, borders, at, sources, stays, direct):
    """Adds the tasks of one output chunk whose lanes have different lengths.

    ``at`` and ``sources`` count chunks from the side where sequences start.
    """
    how = movement.axis, movement.batch, movement.end
    last = len(borders) - 2
    ranges = [(borders[source], borders[source + 1]) for source in sources]
    target = borders[at], borders[at + 1]

    def add(found, name, x, place, step):
        key = movement._key(name, place, step)
        steps = [last - source if movement.end else source for source in sources] + [step] * stays
        chunks = [TaskRef(movement._key(x, place, other)) for other in steps]
        if not chunks:
            found[key] = _zeros(movement, key, x, place, step)
        elif direct and len(set(steps)) <= DIRECT:
            arguments = target, tuple(ranges), stays, movement.zero
            found[key] = Task(key, chunked.merged, how, lengths, *arguments, *chunks)
        else:
            pieces = []
            for source, other, chunk in zip([*ranges, *[None] * stays], steps, chunks, strict=True):
                cut = (_inner(name, "stay" if source is None else "cut"), *key[1:], other)
                found[cut] = Task(cut, chunked.piece, how, lengths, source, target, chunk)
                pieces.append(TaskRef(cut))
            arguments = target, (*ranges, *[None] * stays), movement.zero
            found[key] = Task(key, chunked.assembled, how, lengths, *arguments, List(*pieces))

    return add


def _zeros(movement, key, x, place, step):
    """The task of a chunk for which no input is needed."""
    at = movement._key(None, place, step)[1:]
    shape = tuple(sizes[i] for sizes, i in zip(movement.chunks, at, strict=True))
    if any(isnan(n) for n in shape):
        return Task(key, chunked.zeros_like, TaskRef((x, *key[1:])))
    return Task(key, chunked.zeros, movement.meta, shape)


class Segmented:
    """Segments of an axis of several chunks. ``offsets`` are an array, or None if they are computed."""

    def __init__(self, chunks, meta, axis, offsets):
        self.chunks, self.meta, self.axis, self.offsets = chunks, meta, axis, offsets
        self.borders = plan.borders_of(chunks[axis])

    _key = Moved._key

    def tasks(self, name, x, offsets):
        count, found = len(self.chunks[self.axis]), {}
        if self.offsets is None:
            checked = (_inner(name, "offsets"), 0)
            found[checked] = Task(checked, chunked.checked_offsets, TaskRef((offsets, 0)), self.borders)
            rows = [self._computed(TaskRef(checked)) for _ in range(count)]
        else:
            rows = [_spans(self, plan.segment_spans(self.borders, step, self.offsets)) for step in range(count)]
        others = [range(1) if axis == self.axis else range(len(c)) for axis, c in enumerate(self.chunks)]
        for place in product(*others):
            for step, row in enumerate(rows):
                row(found, name, x, place, step)
        return found

    def _computed(self, offsets):
        def add(found, name, x, place, step):
            key = self._key(name, place, step)
            if self.borders[step] == self.borders[step + 1]:
                # No elements, but the offsets are checked even if they have no effect.
                found[key] = Task(key, chunked.after, TaskRef((x, *key[1:])), offsets)
                return
            pieces = []
            for source in range(len(self.borders) - 1):
                if self.borders[source] == self.borders[source + 1]:
                    continue
                cut = (_inner(name, "cut"), *key[1:], source)
                chunk = TaskRef(self._key(x, place, source))
                found[cut] = Task(cut, chunked.cut_segments, self.axis, step, source, offsets, chunk)
                pieces.append(TaskRef(cut))
            found[key] = Task(key, chunked.stitched, self.axis, (), List(*pieces))

        return add

    def __dask_tokenize__(self):
        offsets = None if self.offsets is None else tokenize(self.offsets)
        return type(self).__name__, self.chunks, self.axis, offsets


def _inner(name, what):
    """The name of tasks within those of a name, in the form by which Dask's dashboard groups them."""
    prefix, _, token = name.rpartition("-")
    return f"{prefix}-{what}-{token}"


def _blocks(chunks):
    return product(*(range(len(sizes)) for sizes in chunks))


class MovementLayer(Layer, metaclass=ABCMeta):
    """The tasks of a movement in a high-level graph, made when they are needed.

    The metaclass is that of Dask's class, and is named for type checkers that do not read Dask.
    """

    def __init__(self, name, movement, x, lengths):
        super().__init__()
        self.name, self.movement, self.x, self.lengths = name, movement, x, lengths

    @cached_property
    def _tasks(self):
        return self.movement.tasks(self.name, self.x, self.lengths)

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_tasks"}

    def __getitem__(self, key):
        return self._tasks[key]

    def __iter__(self):
        return iter(self._tasks)

    def __len__(self):
        return len(self._tasks)

    def is_materialized(self):
        return "_tasks" in self.__dict__

    def get_output_keys(self):
        return {(self.name, *at) for at in _blocks(self.movement.chunks)}

    @property
    def has_legacy_tasks(self):
        return False

    def __repr__(self):
        return f"MovementLayer<name={self.name!r}>"


def array(prefix, movement, x, lengths=None, meta=None):
    """The array whose tasks a movement makes from those of ``x``, and of lengths that are computed."""
    meta = x._meta if meta is None else meta
    if da.array_expr_enabled():
        from ._dask_expressions import expression

        return expression(prefix, movement, x, lengths, meta)
    name = f"{prefix}-{tokenize(movement, x.name, None if lengths is None else lengths.name)}"
    others = [x] if lengths is None else [x, lengths]
    layer = MovementLayer(name, movement, x.name, None if lengths is None else lengths.name)
    graph = HighLevelGraph.from_collections(name, layer, dependencies=others)
    return da.Array(graph, name, movement.chunks, meta=meta)
