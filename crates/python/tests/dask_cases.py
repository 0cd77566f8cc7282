"""Random calls on Dask arrays, and graphs taken apart: for test_dask.py, test_xarray.py and heavy/."""

import itertools
import tracemalloc
from graphlib import TopologicalSorter

import dask.array as da
import naive
import numpy as np
from dask._task_spec import Alias, DataNode, convert_legacy_graph
from dask.core import flatten
from hypothesis import strategies as st
from naive import same

import retrograde.dask as rd

KINDS = [np.dtype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]


@st.composite
def chunks(draw, size):
    """Sizes of chunks, some of which may be empty."""
    borders = sorted(draw(st.lists(st.integers(0, size), max_size=4)))
    return tuple(last - first for first, last in itertools.pairwise([0, *borders, size]))


@st.composite
def chunked(draw, least_rank=1):
    """An array of any type, and its chunks."""
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=least_rank, max_size=3)))
    dtype = draw(st.sampled_from(naive.DTYPES))
    x = naive.filled(shape, dtype, draw(st.integers(0, 99)))
    return x, tuple(draw(chunks(n)) for n in shape)


@st.composite
def lengths_of(draw, shape, most):
    """Lengths up to ``most``; often all alike, as in batches that are not padded."""
    values = st.integers(0, most)
    count = int(np.prod(shape, dtype=np.int64))
    if draw(st.booleans()):
        flat = [draw(values)] * count
    else:
        flat = draw(st.lists(values, min_size=count, max_size=count))
    return np.array(flat, draw(st.sampled_from(KINDS))).reshape(shape)


@st.composite
def calls(draw):
    """A lazy result, and what it must be: any operator, with lengths that are known or computed."""
    operator = draw(st.sampled_from(["flip", "reverse", "sequence", "subsequences", "segments"]))
    x, sizes = draw(chunked(2 if operator == "sequence" else 1))
    array = da.from_array(x, chunks=sizes)
    axis, rank = draw(st.integers(0, x.ndim - 1)), x.ndim
    sign = -draw(st.integers(0, 1)) * rank
    options = {
        "align": draw(st.sampled_from(["start", "end"])),
        "tail": "keep" if naive.holds_references(x.dtype) else draw(st.sampled_from(["keep", "zero"])),
    }

    def maybe_lazy(lengths):
        if draw(st.booleans()):
            return da.from_array(lengths, chunks=tuple(draw(chunks(n)) for n in lengths.shape))
        return lengths

    if operator in ("flip", "reverse"):
        axes = tuple(draw(st.sets(st.integers(0, rank - 1))))
        return getattr(rd, operator)(array, axes), naive.reverse(x, axes)
    if operator == "segments":
        inner = sorted(draw(st.lists(st.integers(0, x.shape[axis]), max_size=6)))
        offsets = np.array([0, *inner], draw(st.sampled_from(KINDS)))
        result = rd.reverse_segments(array, maybe_lazy(offsets), axis=axis + sign)
        return result, naive.reverse_segments(x, offsets, axis)
    if operator == "sequence":
        batch = draw(st.sampled_from([a for a in range(rank) if a != axis]))
        lengths = draw(lengths_of((x.shape[batch],), x.shape[axis]))
        result = rd.reverse_sequence(array, maybe_lazy(lengths), time_axis=axis + sign, batch_axis=batch, **options)
        return result, naive.reverse_sequence(x, lengths, axis, batch, **options)
    lanes = x.shape[:axis] + (1,) + x.shape[axis + 1 :]
    lengths = draw(lengths_of(lanes, x.shape[axis] + 2))
    given = maybe_lazy(lengths if draw(st.booleans()) else lengths.squeeze(axis))
    result = rd.reverse_subsequences(array, given, axis=axis + sign, **options)
    return result, naive.reverse_subsequences(x, lengths, axis, **options)


class Graph:
    """The tasks of an array, before Dask fuses any of them."""

    def __init__(self, array):
        if da.array_expr_enabled():
            array = array.optimize()
        self.tasks = convert_legacy_graph(dict(array.__dask_graph__()))
        self.outputs = list(flatten(array.__dask_keys__()))
        self.ranges = [list(itertools.pairwise(np.cumsum([0, *sizes]))) for sizes in array.chunks]

    def named(self, *prefixes):
        """The tasks whose names begin like this, without aliases and data."""
        return {
            key: task
            for key, task in self.tasks.items()
            if _name(key).startswith(prefixes) and not isinstance(task, (Alias, DataNode))
        }

    def read(self, key, name):
        """The blocks of the array of this name that a task needs, directly or through others."""
        found, seen, ahead = set(), set(), [key]
        while ahead:
            one = ahead.pop()
            if one in seen:
                continue
            seen.add(one)
            if _name(one) == name:
                found.add(one[1:])
            else:
                ahead += self.tasks[one].dependencies
        return found

    def run(self, measure=False):
        """Runs all tasks, one by one. Returns their results and, if asked, the bytes that each one holds."""
        results, held = {}, {}
        for key in TopologicalSorter({key: task.dependencies for key, task in self.tasks.items()}).static_order():
            task = self.tasks[key]
            inputs = {name: results[name] for name in task.dependencies}
            if measure:
                tracemalloc.start()
                results[key] = task(inputs)
                held[key] = sum(map(size_of, inputs.values())) + tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
            else:
                results[key] = task(inputs)
        return results, held


def _name(key):
    return key[0] if isinstance(key, tuple) else key


def size_of(value):
    """Bytes of arrays, also in lists and tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(size_of, value)) if isinstance(value, (list, tuple)) else 0


def name_of(array):
    """The name of an array's blocks in its graph."""
    return array.optimize().name if da.array_expr_enabled() else array.name


def check(call):
    """A call of :func:`calls`: type, chunks, elements, and that every chunk is contiguous."""
    array, expected = call
    assert array.shape == expected.shape and array.dtype == array._meta.dtype == expected.dtype
    graph = Graph(array)
    results, _ = graph.run()
    for key in graph.outputs:
        part = results[key]
        where = tuple(slice(*ranges[at]) for ranges, at in zip(graph.ranges, key[1:], strict=True))
        assert part.flags.c_contiguous, key
        same(part, expected[where])
    # And as Dask runs it, which optimises the graph.
    same(array.compute(scheduler="sync"), expected)
