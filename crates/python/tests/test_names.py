"""NumPy's functions that flip and turn, compared with NumPy: results, contiguity, errors by type."""

import itertools
import sys
import tracemalloc
import types

import naive
import numpy as np
import pytest
import retrograde
from foreign import Foreign, OnlyDlpack, Tagged
from naive import bits

SHAPES = [(), (0,), (1,), (5,), (3, 4), (4, 4), (2, 0, 3), (2, 3, 4), (2, 1, 3, 2), (2, 3, 2, 2, 3)]


def same(got, expected):
    assert type(got) is type(np.asanyarray(expected))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert bits(got) == bits(expected)
    assert got.flags.c_contiguous and got.flags.writeable


def planes(rank):
    """Every pair of different axes, counted from the start or from the end."""
    pairs = itertools.permutations(range(-rank, rank), 2)
    return [pair for pair in pairs if (pair[0] - pair[1]) % rank]


@pytest.mark.parametrize("how", naive.LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u1", ">f4", "c16", "S3", object, *naive.STRINGS], ids=str)
def test_every_axis_and_turn(dtype, shape, how):
    x = naive.laid_out(naive.filled(shape, dtype), how)
    before = bits(x)
    rank = len(shape)
    if rank == 0:
        # NumPy returns a scalar.
        return same(retrograde.flip(x), x)
    same(retrograde.flip(x), np.flip(x))
    for axes in naive.subsets(rank):
        same(retrograde.flip(x, axes), np.flip(x, axes))
        same(retrograde.flip(x, [axis - rank for axis in axes]), np.flip(x, axes))
    for axis in range(-rank, rank):
        same(retrograde.flip(x, axis), np.flip(x, axis))
        same(retrograde.flip(x, np.int8(axis)), np.flip(x, axis))
    same(retrograde.flipud(x), np.flipud(x))
    if rank > 1:
        same(retrograde.fliplr(x), np.fliplr(x))
        for k in range(-5, 6):
            same(retrograde.rot90(x, k), np.rot90(x, k))
    if rank < 4:
        for k, axes in itertools.product(range(4), planes(rank)):
            same(retrograde.rot90(x, k, axes), np.rot90(x, k, axes))
    assert bits(x) == before


@pytest.mark.parametrize("dtype", naive.DTYPES, ids=str)
def test_every_type(dtype):
    x = naive.filled((3, 4, 5), dtype)
    same(retrograde.flip(x, (0, -1)), np.flip(x, (0, 2)))
    for k in range(4):
        same(retrograde.rot90(x, k, (1, 2)), np.rot90(x, k, (1, 2)))
        same(retrograde.rot90(x[::-2, 1:, ::-1], k), np.rot90(x[::-2, 1:, ::-1], k))


@pytest.mark.parametrize("name", ["flip", "fliplr", "flipud", "rot90"])
def test_what_is_nearly_an_array(name):
    ours, theirs = getattr(retrograde, name), getattr(np, name)
    for x in ([[1, 2], [3, 4]], ((1.5, 2), (3, 4)), [["a", "b"]], np.matrix([[1, 2], [3, 4]])):
        same(ours(x), theirs(x))
    same(ours(m=[[1, 2], [3, 4]]), theirs(m=[[1, 2], [3, 4]]))


def test_scalars():
    assert retrograde.flip(3).shape == () and retrograde.flip(np.float32(2.5)) == 2.5
    assert retrograde.flip(7, ()).tolist() == 7


def test_masked_arrays():
    x = np.ma.array([[1, 2, 3], [4, 5, 6]], mask=[[1, 0, 0], [0, 0, 1]], fill_value=9)
    for call in (
        lambda f: f.flip(x),
        lambda f: f.flip(x, 1),
        lambda f: f.fliplr(x),
        lambda f: f.rot90(x),
        lambda f: f.rot90(x.T, 3),
        lambda f: f.rot90(np.ma.array([[1, 2]])),
    ):
        got, expected = call(retrograde), call(np)
        assert type(got) is np.ma.MaskedArray and got.data.flags.c_contiguous
        assert got.tolist() == expected.tolist() and got.fill_value == expected.fill_value


@pytest.mark.parametrize("shape", [(1024, 3000), (3000, 1024), (3, 1000, 1000), (512, 512, 16)], ids=str)
def test_large_ones_are_one_pass(shape):
    """In memory that we allocate, which is used again, with threads, and without a second array."""
    x = naive.filled(shape, "u4")
    for view in (x, x.T, x[::-1], x[..., ::-1]):
        same(retrograde.flip(view), np.flip(view))
        for k in range(4):
            same(retrograde.rot90(view, k), np.rot90(view, k))
    tracemalloc.start()
    y = retrograde.rot90(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert y.shape[:2] == x.shape[1::-1] and peak < x.nbytes // 8, "an array besides the result"


@pytest.mark.parametrize("size", [4, 2048])
def test_subclasses(size):
    x = np.arange(size * size).reshape(size, size).view(Tagged)
    x.tag = "kept"
    for y in (retrograde.flip(x), retrograde.rot90(x), retrograde.rot90(x, 2)):
        assert type(y) is Tagged and y.tag == "kept"


def test_other_libraries():
    x = naive.filled((3, 4, 2), "f4")
    for view in (x, x.T, x[:, ::2]):
        for call in (lambda f, x: f.flip(x, (0, -1)), lambda f, x: f.rot90(x, 1, (1, 2)), lambda f, x: f.fliplr(x)):
            assert bits(call(retrograde, Foreign(view))) == bits(call(np, view))
    with pytest.raises(TypeError, match="can be read but not created"):
        retrograde.flip(OnlyDlpack(x))


class OfCupy(Foreign):
    """What stands in for an array of CuPy where there is no device."""

    def swapaxes(self, first, second):
        return OfCupy(self.array.swapaxes(first, second))


def test_cupy(monkeypatch):
    empty_like = lambda x, order: OfCupy(np.empty_like(x.array, order=order))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(ndarray=OfCupy, empty_like=empty_like))
    x = naive.filled((3, 4, 2), "f4")
    for view in (x, x.T):
        for call in (lambda f, x: f.flip(x, (0, -1)), lambda f, x: f.flipud(x), lambda f, x: f.rot90(x, 3, (2, 0))):
            got = call(retrograde, OfCupy(view))
            assert type(got) is OfCupy
            same(got.array, call(np, view))


X = np.arange(24).reshape(2, 3, 4)
WRONG = {
    "flip": [
        *((X, axis) for axis in (3, -4, (0, 3), [0, -4], (0, 0), (0, -3), (1, 0, 1), (0, 1, 2, 0))),
        *((X, axis) for axis in (1.0, "0", (0.5,), None.__class__, [None], (("a",),))),
        (np.float32(1), 0),
        (3, (0,)),
    ],
    "fliplr": [(np.arange(3),), (5,), (np.float32(1),)],
    "flipud": [(5,), (np.float32(1),)],
    "rot90": [
        *((X, 1, axes) for axes in ((0,), (0, 1, 2), (), (0, 0), (0, -3), (1, -2), (0, 3), (-4, 0), (5, 6))),
        *((X, 1, axes) for axes in (5, None, ("a", "b"))),
        (np.arange(3),),
        (np.float32(1),),
        (X, "1"),
        (X, None),
    ],
}


@pytest.mark.parametrize("name, arguments", [(n, a) for n, calls in WRONG.items() for a in calls])
def test_errors_have_the_types_of_numpy(name, arguments):
    with pytest.raises(Exception) as theirs:
        getattr(np, name)(*arguments)
    with pytest.raises(Exception) as ours:
        getattr(retrograde, name)(*arguments)
    assert type(ours.value) is type(theirs.value), (ours.value, theirs.value)
    if isinstance(ours.value, np.exceptions.AxisError):
        assert (ours.value.axis, ours.value.ndim) == (theirs.value.axis, theirs.value.ndim)


EXPECTED = "expected an integer, several of them, or None for all axes"


@pytest.mark.parametrize("name", ["dask", "jax"])
def test_errors_are_the_same_elsewhere(name):
    module = pytest.importorskip(f"retrograde.{name}")
    with pytest.raises(TypeError) as raised:
        module.flip(X, 1.0)
    assert str(raised.value) == f"flip: axis is 1.0 (float), {EXPECTED}"


def test_errors_say_what_is_wrong():
    for text, call in [
        ("flip: axis[1]: axis 3 is out of bounds for array of dimension 3", lambda: retrograde.flip(X, (0, 3))),
        ("flip: repeated axis: axis[1] is axis 0, as axis[0] is", lambda: retrograde.flip(X, (0, -3))),
        ("fliplr: m has rank 1, expected at least 2", lambda: retrograde.fliplr([1])),
        ("flipud: m has rank 0, expected at least 1", lambda: retrograde.flipud(1)),
        ("rot90: axes has 3 entries, expected 2", lambda: retrograde.rot90(X, 1, (0, 1, 2))),
        ("rot90: axes[1] is 3, out of range for a tensor of rank 3", lambda: retrograde.rot90(X, 1, (0, 3))),
        ("rot90: axes are both axis 1: they must be different", lambda: retrograde.rot90(X, 1, (1, -2))),
        ("x is of type object, expected an array or a tensor", lambda: retrograde.flip(object())),
        (f"flip: axis is 1.0 (float), {EXPECTED}", lambda: retrograde.flip(X, 1.0)),
        ("flip: axis[1] is 1.0 (float), expected an integer", lambda: retrograde.flip(X, [0, 1.0])),
        ("flip: axis[0] is '0' (str), expected an integer", lambda: retrograde.flip(X, "0")),
        ("rot90: axes is 1 (int), expected a pair of integers", lambda: retrograde.rot90(X, 1, 1)),
        ("rot90: axes[1] is None (NoneType), expected an integer", lambda: retrograde.rot90(X, 1, (0, None))),
        ("rot90: k is 1.0 (float), expected an integer", lambda: retrograde.rot90(X, 1.0)),
    ]:
        with pytest.raises((ValueError, TypeError)) as raised:
            call()
        assert str(raised.value) == text


def test_signatures_are_those_of_numpy():
    import inspect

    for name in WRONG:
        ours = inspect.signature(getattr(retrograde, name))
        # Beside them, only the names of PyTorch for the axes of flip, and masks.
        own = [p for p in ours.parameters.values() if p.name not in ("dim", "dims", "where", "batch_axis")]
        assert str(ours.replace(parameters=own)) == str(inspect.signature(getattr(np, name)))


def test_random_calls():
    rng = np.random.default_rng(7)
    for _ in range(400):
        rank = int(rng.integers(2, 6))
        x = naive.filled(tuple(rng.integers(1, 6, rank).tolist()), naive.DTYPES[rng.integers(len(naive.DTYPES))])
        x = x.transpose(rng.permutation(rank))
        x = x[tuple(slice(None, None, int(step)) for step in rng.choice([-3, -2, -1, 1, 2], rank))]
        axes = tuple(int(axis) for axis in rng.permutation(rank)[: rng.integers(0, rank + 1)])
        same(retrograde.flip(x, axes), np.flip(x, axes))
        k, plane = int(rng.integers(-9, 9)), tuple(rng.permutation(rank)[:2])
        same(retrograde.rot90(x, k, plane), np.rot90(x, k, plane))


# Views with any step are read where they are.

VIEWS = [
    np.s_[10:2:-3],
    np.s_[::-1],
    np.s_[-2:1:-2, ::2],
    np.s_[3:9, 8::-3],
    np.s_[..., ::-2],
    np.s_[11:0:-5, 5:6:-1],
    np.s_[::-7, ::-7],
]


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_views_with_steps(view):
    whole = naive.filled((12, 10), "f8")
    x = whole[view]
    for axes in ([], [0], [1], [0, 1]):
        assert bits(retrograde.reverse(x, axes)) == bits(np.flip(x, tuple(axes)))
    lengths = np.arange(x.shape[1]) % (x.shape[0] + 1)
    assert bits(retrograde.reverse_sequence(x, lengths)) == bits(naive.reverse_sequence(x, lengths, 0, 1))
    assert bits(retrograde.reverse_subsequences(x, lengths, axis=0)) == bits(naive.reverse_sequence(x, lengths, 0, 1))
    # As outputs too, and in place: nothing else of the whole changes.
    target = naive.filled((12, 10), "f8", seed=1)
    expected = target.copy()
    expected[view] = np.flip(x, 0)
    retrograde.reverse(x, 0, out=target[view])
    assert bits(target) == bits(expected)
    expected = whole.copy()
    expected[view] = np.flip(whole[view])
    retrograde.reverse(x, out=x)
    assert bits(whole) == bits(expected)


def test_views_are_not_copied():
    """Neither their elements nor the array that they are part of: no array besides the output is allocated."""
    whole = np.arange(1 << 22, dtype=np.int64).reshape(2048, 2048)
    for x in (whole[2000:4:-3], whole[:, ::-1], whole[::2, 2047:5:-7], whole[::-5, ::-5].T):
        out = np.empty(x.shape, x.dtype)
        lengths = np.arange(x.shape[1]) % x.shape[0]
        for call in (
            lambda: retrograde.reverse(x, 0, out=out),
            lambda: retrograde.reverse(x, [], out=out),
            lambda: retrograde.reverse_sequence(x, lengths, out=out),
            lambda: retrograde.reverse_subsequences(x, lengths, axis=0, out=out),
        ):
            tracemalloc.start()
            call()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 1 << 16
    how = retrograde.explain("reverse", np.arange(12)[10:2:-3], [])
    # A backward view that keeps its order is a flip.
    assert [(dim["len"], dim["flow"], dim["src"]) for dim in how.dims] == [(3, "flip", 24)]
