"""``retrograde.dask`` against loops in plain NumPy: random calls, graphs, memory of tasks, errors."""

import itertools
import os
import pickle
import sys
from pathlib import Path

import deadline
import naive
import numpy as np
import pytest

for needed in ("dask.array", "hypothesis"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
from dask._task_spec import Alias  # noqa: E402
from dask_cases import Graph, calls, check, name_of, same, size_of  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402

import retrograde  # noqa: E402
import retrograde.dask as rd  # noqa: E402
from retrograde import _dask_chunks  # noqa: E402

#: test_expressions_too runs this file again in a process of its own, where these are on.
EXPRESSIONS = da.array_expr_enabled()
EXAMPLES = 40 if EXPRESSIONS else 100


@given(calls())
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_random_calls(call):
    check(call)


def chunk_numbers(x, sizes, axis):
    """An array of which every element says in which chunk along the axis it is."""
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    return np.broadcast_to(numbers.reshape([-1 if a == axis else 1 for a in range(x.ndim)]), x.shape)


CASES = list(itertools.product(["start", "end"], ["keep", "zero"], ["sequence", "lanes", "same"]))


@pytest.mark.parametrize(("align", "tail", "kind"), CASES)
def test_an_output_chunk_reads_only_the_chunks_that_its_lengths_need(align, tail, kind):
    """Exactly those from which an element comes, according to the oracle."""
    rng = np.random.default_rng(1)
    options = {"align": align, "tail": tail}
    few = many = 0
    for _ in range(6):
        sizes = tuple(int(n) for n in rng.integers(1, 6, 6))
        x = np.arange(sum(sizes) * 8).reshape(sum(sizes), 8)
        array = da.from_array(x, chunks=(sizes, (3, 3, 2)))
        lengths = rng.integers(0, sum(sizes) + 1, 8)
        if kind == "same":
            lengths[:] = lengths[0]
        # Zero is no chunk: elements that became zero came from nowhere.
        numbers = chunk_numbers(x, sizes, 0) + 1
        if kind == "lanes":
            y = rd.reverse_subsequences(array, lengths, axis=0, **options)
        else:
            y = rd.reverse_sequence(array, lengths, **options)
        sources = naive.reverse_sequence(numbers, lengths, 0, 1, **options)
        graph = Graph(y)
        pairs = 0
        for key in graph.outputs:
            where = tuple(slice(*ranges[at]) for ranges, at in zip(graph.ranges, key[1:], strict=True))
            wanted = {(int(source) - 1, key[2]) for source in np.unique(sources[where]) if source}
            assert graph.read(key, name_of(array)) == wanted
            pairs += len(wanted)
            few, many = few + (len(wanted) <= 2), many + (len(wanted) > 2)
        # Tasks: one for each output chunk, and at most two for each chunk that it touches.
        assert len(graph.outputs) <= len(graph.named("reverse_")) <= len(graph.outputs) + 2 * pairs
    assert few and (many or kind == "same")


def test_tasks_of_equal_lengths():
    """One task for each output chunk, if it needs two input chunks at most."""
    x = da.zeros((100, 40), chunks=(10, 8))
    for length in (100, 57, 3, 0):
        y = rd.reverse_sequence(x, [length] * 40)
        assert len(Graph(y).named("reverse_")) == 50
    assert len(Graph(rd.reverse_segments(x, [0, 100])).named("reverse_")) == 50
    assert len(Graph(rd.reverse_segments(x, range(0, 101, 5))).named("reverse_")) == 50


def test_tasks_of_computed_lengths():
    """One for each pair of chunks whose positions add up to less than the axis, and two for each output."""
    x = da.zeros((100, 40), chunks=(10, 8))
    graph = Graph(rd.reverse_sequence(x, da.full(40, 3, chunks=8)))
    assert len(graph.named("checked-lengths")) == 5
    assert len(graph.named("reverse_sequence-cut")) == 5 * (10 * 11 // 2)
    assert len(graph.named("reverse_sequence-stay")) == 5 * 10
    assert len(graph.named("reverse_")) == 5 * (10 * 11 // 2 + 10 + 10)
    # What arrives is what is needed: no more than an output chunk.
    results, _ = graph.run()
    for key in graph.outputs:
        pieces = [results[one] for one in graph.tasks[key].dependencies if "lengths" not in one[0]]
        assert sum(flat.size for _, flat in pieces) == results[key].size
    graph = Graph(rd.reverse_segments(x, da.from_array(np.array([0, 35, 100]), chunks=-1)))
    assert len(graph.named("reverse_segments-cut")) == 5 * 10 * 10


KINDS = [
    *itertools.product(["sequence", "lanes"], ["keep", "zero"], [False, True]),
    *itertools.product(["segments"], ["keep"], [False, True]),
    ("flip", "keep", False),
    ("bytes", "keep", False),
]


@pytest.mark.parametrize(("kind", "tail", "lazy"), KINDS)
def test_a_task_holds_at_most_three_chunks(kind, tail, lazy, monkeypatch):
    """Inputs, outputs, and all that is allocated meanwhile."""
    rng = np.random.default_rng(3)
    # Elements whose masks are made at once: fewer than usual, because the chunks are small.
    slab = 1 << 14
    monkeypatch.setattr(_dask_chunks, "_SLAB", slab)
    chunk, dtype = 512 << 10, np.uint8 if kind == "bytes" else np.float64
    wide = chunk // 256 // np.dtype(dtype).itemsize
    x = da.from_array(rng.integers(0, 99, (1536, wide)).astype(dtype), chunks=(256, wide))
    if kind == "flip":
        y = rd.flip(x)
    elif kind == "segments":
        offsets = np.array([0, 100, 1490, 1500, 1536])
        y = rd.reverse_segments(x, da.from_array(offsets, chunks=-1) if lazy else offsets)
    else:
        lengths = rng.integers(0, 1537, wide)
        lengths = da.from_array(lengths, chunks=-1) if lazy else lengths
        call = rd.reverse_sequence if kind == "sequence" else rd.reverse_subsequences
        y = call(x, lengths, tail=tail, **({} if kind == "sequence" else {"axis": 0}))
    graph = Graph(y)
    results, held = graph.run(measure=True)
    mine = [held[key] for key in graph.named("flip", "reverse_")]
    assert max(map(size_of, results.values())) <= chunk + 8 * wide
    # Beside them lengths and their ranges, and the elements of two slabs and the masks of one.
    beside = (32 << 10) + 8 * 8 * wide + slab * (2 * 8 + 4)
    assert 1.5 * chunk <= max(mine) <= 3 * chunk + beside


def entries(array):
    """Tasks that do something after Dask's optimisation, and aliases."""
    (optimised,) = dask.optimize(array)
    tasks = dict(optimised.__dask_graph__()).values()
    aliases = sum(isinstance(task, Alias) for task in tasks)
    return len(tasks) - aliases, aliases


@pytest.mark.skipif(EXPRESSIONS, reason="expressions of this Dask do not fuse tasks")
def test_flips_are_fused_with_what_is_around_them():
    x = da.ones((60, 40), chunks=(10, 8)) + 1
    # An axis of one chunk is a blockwise layer: one with all others.
    single = da.ones((60, 40), chunks=(10, 40)) + 1
    assert entries(rd.flip(single, 1) * 2) == (6, 0)
    assert entries(da.flip(single, 1).map_blocks(np.ascontiguousarray) * 2) == (6, 6)
    assert entries(rd.reverse_sequence(single, [3] * 60, time_axis=1, batch_axis=0) * 2) == (6, 6)
    # Otherwise there is an alias for every chunk, as there is for Dask's own flip.
    assert entries(rd.flip(x) * 2) == (30, 30)
    assert entries(da.flip(x).map_blocks(np.ascontiguousarray) * 2) == (30, 30)


@pytest.mark.skipif(EXPRESSIONS, reason="expressions have no layers")
def test_graphs_are_small_until_they_are_run():
    """A layer is a few numbers and the lengths, whatever the number of chunks."""
    x = da.zeros((1_000_000, 1000), chunks=(10, 100))
    lengths = np.arange(1000)
    for y in (rd.flip(x), rd.reverse_sequence(x, lengths), rd.reverse_segments(x, [0, 999_999])):
        layer = y.dask.layers[y.name]
        assert not layer.is_materialized()
        # The sizes of 100,000 chunks along the axis, and 1000 lengths.
        assert len(pickle.dumps(layer)) < 1_000_000


def test_names_depend_on_the_arguments_only():
    x = da.from_array(np.arange(12).reshape(4, 3), chunks=(2, 2))
    makers = [
        lambda: rd.flip(x),
        lambda: rd.flip(x, 0),
        lambda: rd.reverse(x, 1),
        lambda: rd.reverse_sequence(x, [1, 2, 3]),
        lambda: rd.reverse_sequence(x, [1, 2, 4]),
        lambda: rd.reverse_sequence(x, [1, 2, 4], tail="zero"),
        lambda: rd.reverse_sequence(x, [1, 2, 4], align="end"),
        lambda: rd.reverse_sequence(x, da.from_array(np.array([1, 2, 4]), chunks=1)),
        lambda: rd.reverse_sequence(x, da.from_array(np.array([1, 2, 4]), chunks=1), policy="clamp"),
        lambda: rd.reverse_subsequences(x, [1, 2, 4], axis=0),
        lambda: rd.reverse_subsequences(x, [1, 2, 4, 1], axis=1),
        lambda: rd.reverse_segments(x, [0, 3]),
        lambda: rd.reverse_segments(x, [0, 4]),
        lambda: rd.reverse_segments(x, da.from_array(np.array([0, 4]), chunks=1)),
    ]
    names = [make().name for make in makers]
    assert names == [make().name for make in makers]
    assert len(set(names)) == len(names)


X = np.arange(24.0).reshape(4, 6)
#: Calls that are refused.
WRONG = [
    ("reverse", (2,), {}),
    ("reverse", ((0, -2),), {"duplicates": "error"}),
    ("reverse", ((0,),), {"duplicates": "often"}),
    ("reverse", (), {"mask": [True]}),
    ("reverse", (), {"dims": 0}),
    ("flip", (2,), {}),
    ("flip", ((0, 0),), {}),
    ("reverse_sequence", (), {}),
    ("reverse_sequence", ([1, 2, 3, 4, 5, 6],), {"time_axis": 1}),
    ("reverse_sequence", ([1, 2, 3, 4, 5, 6],), {"time_axis": 3}),
    ("reverse_sequence", ([0, 1, 2, 3, 4, 4],), {"policy": "loose"}),
    ("reverse_sequence", ([0, 1, 2, 3, 4, 4],), {"align": "left"}),
    ("reverse_sequence", ([0, 1, 2, 3, 4, 4],), {"tail": "cut"}),
    ("reverse_sequence", ([0, 1, 2, 3, 4, 4],), {"seq_axis": 0}),
    ("reverse_sequence", ([0, 1, 2, 3, 4],), {}),
    ("reverse_sequence", ([0.5] * 6,), {}),
    ("reverse_sequence", ([True] * 6,), {}),
    ("reverse_sequence", ([0, 1, 2, 3, 5, 4],), {}),
    ("reverse_sequence", ([0, 1, 2, 3, 4, -1],), {"policy": "clamp"}),
    ("reverse_subsequences", ([1, 2, 3, 4],), {}),
    ("reverse_subsequences", ([1, 2, 3, 4],), {"axis": 2}),
    ("reverse_subsequences", ([1, 2, 3, 4],), {"axis": 0}),
    ("reverse_subsequences", ([1, 2, 7, 4],), {"axis": 1, "policy": "strict"}),
    ("reverse_subsequences", ([1, 2, 3, -4],), {"axis": 1}),
    ("reverse_subsequences", (np.array([[1, 2, 3, 2**64 - 1]], np.uint64).T,), {"axis": 1, "policy": "strict"}),
    ("reverse_segments", (), {}),
    ("reverse_segments", ([0, 3, 2],), {"axis": 1}),
    ("reverse_segments", ([1, 3],), {"axis": 1}),
    ("reverse_segments", ([0, 3, 7],), {"axis": 1}),
    ("reverse_segments", ([[0, 3]],), {}),
    ("reverse_segments", ([0, 3],), {"axis": 5}),
    ("reverse_segments", ([0, 3],), {"cu_seqlens": 5}),
]


def error_of(call, *arguments, **options):
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*arguments, **options)
    return type(caught.value), str(caught.value).replace("retrograde.dask", "retrograde")


@pytest.mark.parametrize("sizes", [(4, 6), (2, 4)])
@pytest.mark.parametrize(("name", "arguments", "options"), WRONG)
def test_errors_are_those_of_arrays_in_memory(name, arguments, options, sizes):
    """Known lengths: when the graph is built. Computed ones: when they are, with positions in all of them."""
    expected = error_of(getattr(retrograde, name), X, *arguments, **options)
    array, call = da.from_array(X, chunks=sizes), getattr(rd, name)
    assert error_of(call, array, *arguments, **options) == expected
    if arguments and name in ("reverse_sequence", "reverse_subsequences", "reverse_segments"):
        lengths = np.asarray(arguments[0])
        if lengths.dtype == bool:
            # A mask has to be known (test_masks.py).
            return
        lazy = da.from_array(lengths, chunks=2 if lengths.ndim < 2 else -1)
        assert error_of(lambda: call(array, lazy, **options).compute(scheduler="sync")) == expected


def test_computed_lengths_are_not_read_before():
    def fail(block):
        raise AssertionError("was computed")

    lengths = da.from_array(np.arange(6), chunks=2).map_blocks(fail, dtype=np.int64, meta=np.empty(0, np.int64))
    x = da.from_array(X, chunks=2)
    for y in (
        rd.reverse_sequence(x, lengths),
        rd.reverse_subsequences(x, lengths, axis=0),
        rd.reverse_segments(x, lengths),
    ):
        with pytest.raises(AssertionError, match="was computed"):
            y.compute(scheduler="sync")


def test_references_cannot_become_zero():
    x = da.from_array(np.array([["a", None], [1, 2]], object), chunks=1)
    with pytest.raises(TypeError, match="x has dtype object, whose elements are references"):
        rd.reverse_sequence(x, [1, 2], tail="zero")


def of_unknown_sizes(x, sizes):
    array = da.from_array(x, chunks=sizes).map_blocks(lambda block: block, dtype=x.dtype, meta=x[:0])
    if EXPRESSIONS:
        pytest.skip("expressions of this Dask cannot filter rows")
    return array[da.from_array(np.ones(len(x), bool), chunks=sizes[0])]


def test_chunks_of_unknown_sizes():
    x = of_unknown_sizes(X, (3, 2))
    assert np.isnan(x.shape[0])
    same(rd.flip(x).compute(), np.flip(X))
    lengths = [3, 0, 2]
    cube = np.arange(36).reshape(3, 3, 4)
    rows = of_unknown_sizes(cube, (2, 2, 3))
    for tail in ("keep", "zero"):
        for some in (lengths, [2, 2, 2], [0, 0, 0], da.from_array(np.array(lengths), chunks=1)):
            y = rd.reverse_sequence(rows, some, time_axis=2, batch_axis=1, tail=tail)
            known = some.compute() if isinstance(some, da.Array) else some
            same(y.compute(), naive.reverse_sequence(cube, known, 2, 1, "start", tail))
    with pytest.raises(ValueError, match="ReverseSequence: x has chunks of unknown sizes along axis 0: call"):
        rd.reverse_sequence(x, [1] * 6)
    with pytest.raises(ValueError, match="ReverseSubsequences: x has chunks of unknown sizes along axis 0"):
        rd.reverse_subsequences(x, [1] * 4, axis=1)
    with pytest.raises(ValueError, match="ReverseSegments: offsets have chunks of unknown sizes: call"):
        rd.reverse_segments(da.from_array(X, chunks=2), of_unknown_sizes(np.arange(3), (2,)))


@pytest.mark.parametrize("lazy", [False, True])
def test_masked_chunks(lazy):
    rng = np.random.default_rng(4)
    x = np.ma.masked_array(rng.integers(0, 99, (9, 7)), rng.random((9, 7)) < 0.4, fill_value=-5)
    array = da.from_array(x, chunks=(2, 3), asarray=False)
    for align, tail in itertools.product(["start", "end"], ["keep", "zero"]):
        options = {"align": align, "tail": tail}
        lengths = rng.integers(0, 10, 7)
        some = da.from_array(lengths, chunks=3) if lazy else lengths
        for y, expected in (
            (rd.reverse_sequence(array, some, **options), retrograde.reverse_sequence(x, lengths, **options)),
            (
                rd.reverse_subsequences(array, some, axis=0, **options),
                retrograde.reverse_subsequences(x, lengths, axis=0, **options),
            ),
        ):
            y = y.compute(scheduler="sync")
            assert type(y) is np.ma.MaskedArray
            assert y.tolist() == expected.tolist()
    assert rd.flip(array).compute().tolist() == np.flip(x).tolist()
    assert (
        rd.reverse_segments(array, [0, 5, 9]).compute().tolist() == retrograde.reverse_segments(x, [0, 5, 9]).tolist()
    )


@pytest.mark.skipif(EXPRESSIONS, reason="the counts are those of layers")
def test_the_counts_of_the_scale_page():
    """``bench/scale/count.py`` on a small array: what it counts is what the graph has."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "bench/scale"))
    import count

    rows = {}
    for name in count.cases(count.array(100)):
        x = count.array(200)
        assert x.npartitions == 200 and x.numblocks[:2] == (2, 100)
        rows[name] = count.counted(x, count.cases(x)[name])
    assert rows["flip"]["tasks"] == rows["lengths, equal in a chunk"]["tasks"] == 200
    assert rows["dask.array.flip, map_blocks"]["tasks"] == 400
    assert rows["flip"]["optimised_tasks"] == rows["dask.array.flip, map_blocks"]["optimised_tasks"] == 200
    assert rows["lengths, computed"]["tasks"] == 2 * (100 * 101 // 2 + 200) + 2
    assert 200 < rows["lengths, all different"]["tasks"] < rows["lengths, computed"]["tasks"]
    assert {row["read_bytes_per_worker"] for row in rows.values()} == {200 * 100e6 / 100}
    for name in ("flip", "lengths, equal in a chunk", "lengths, all different", "lengths, computed"):
        assert rows[name]["peak_bytes_per_task"] <= 3 * count.CHUNK and rows[name]["sent_bytes"] < 20_000
    assert count.plot(count.growth((2, 4))).count("<polyline") == 6


def test_the_package_does_not_import_dask():
    script = "import sys, retrograde; print([name for name in ('dask', 'xarray', 'cubed') if name in sys.modules])"
    done = deadline.run([sys.executable, "-c", script], check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(EXPRESSIONS, reason="this is the process with expressions")
def test_expressions_too():
    """This file with ``array.query-planning`` on, which a process can set once."""
    environment = os.environ | {"DASK_ARRAY__QUERY_PLANNING": "True"}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    # These measure what tasks do, and tasks are the same.
    command += ["-k", "not holds and not masked"]
    done = deadline.run(command, limit=3600, env=environment)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    # The five that say why they are skipped, and no others.
    assert " passed, 5 skipped" in done.stdout


def test_which_arrays_these_are():
    """Whether the process has the arrays that its environment asks for."""
    assert EXPRESSIONS == (os.environ.get("DASK_ARRAY__QUERY_PLANNING") == "True")
    assert ("_array_expr" in type(da.ones(3, chunks=1)).__module__) == EXPRESSIONS
