"""Prepared calls give what direct calls give, and refuse tensors that they were not prepared for."""

import gc
import sys

import naive
import numpy as np
import pytest
import retrograde

X = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
CALLS = [
    ("reverse", (), {"axes": [0, -1]}),
    ("reverse", (), {"mask": [False, True, False]}),
    ("reverse_sequence", ([3, 2],), {"time_axis": 1, "batch_axis": 0}),
    ("reverse_sequence", ([9, 0],), {"time_axis": 2, "batch_axis": 0, "policy": "clamp"}),
    ("reverse_subsequences", (np.arange(8).reshape(2, 1, 4) % 4,), {"axis": 1}),
]
LAYOUTS = {
    "dense": lambda x: x,
    "fortran": np.asfortranarray,
    "backward": lambda x: x[::-1, :, ::-1],
    "swapped bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "records": lambda x: x.astype([("a", "i1"), ("b", "f8")]),
    "objects": lambda x: x.astype(object),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_it_gives_what_the_direct_call_gives(name, args, kwargs, layout):
    x = LAYOUTS[layout](X)
    operator = getattr(retrograde, name)
    wanted = operator(x, *args, **kwargs)
    for given in (operator, name):
        prepared = retrograde.prepare(given, x, *args, **kwargs)
        assert prepared.operator == name
        for _ in range(3):
            y = prepared(x)
            assert y.dtype == wanted.dtype and y.strides == wanted.strides
            np.testing.assert_array_equal(y, wanted)
    # Another array of the same layout, an output with other strides, and in place.
    other = x[::-1].copy(order="K") if layout != "backward" else x.copy(order="K")[:, ::-1][:, ::-1]
    if other.strides == x.strides:
        np.testing.assert_array_equal(prepared(other), operator(other, *args, **kwargs))
    out = np.empty(x.shape, x.dtype, order="F")
    assert prepared(x, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    if layout == "dense":
        mine = x.copy()
        assert prepared(mine, out=mine) is mine
        np.testing.assert_array_equal(mine, wanted)


def test_lengths_can_change():
    x = np.arange(12).reshape(3, 4)
    rows = retrograde.prepare(retrograde.reverse_sequence, x, [4, 4, 4], time_axis=1, batch_axis=0)
    # The same type, another one, strided ones, and tensors.
    for lengths in ([1, 2, 3], np.array([3, 0, 4], np.uint8), np.array([2, 9, 3, 9, 4, 9])[::2], (4, 3, 2)):
        wanted = naive.reverse_sequence(x, np.asarray(lengths), 1, 0)
        np.testing.assert_array_equal(rows(x, lengths), wanted)
    np.testing.assert_array_equal(rows(x), x[:, ::-1])


def test_wrong_calls_say_what_is_wrong():
    x = np.arange(12).reshape(3, 4)
    with pytest.raises(ValueError, match=r"^Reverse: axes\[0\] is 7, outside \[-2, 1\]"):
        retrograde.prepare(retrograde.reverse, x, axes=7)
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[1\] is 5, outside \[0, 4\]$"):
        retrograde.prepare(retrograde.reverse_sequence, x, [1, 5, 0], time_axis=1, batch_axis=0)
    with pytest.raises(ValueError, match="expected retrograde.reverse, reverse_sequence, reverse_subsequences or reverse_segments$"):
        retrograde.prepare(np.flip, x)
    with pytest.raises(TypeError, match="reverse\\(\\) takes axes=, not axis="):
        retrograde.prepare(retrograde.reverse, x, axis=1)
    flip = retrograde.prepare(retrograde.reverse, x, axes=1)
    with pytest.raises(TypeError, match="reverse has no lengths"):
        flip(x, [1, 2, 3])
    for other in (x[:2], x.T.copy(), x.astype(np.int32), x[:, ::-1], x.astype(">i8")):
        with pytest.raises(ValueError, match="the call was prepared for type int64, shape"):
            flip(other)
    with pytest.raises(ValueError, match="^Reverse: "):
        flip(x, out=np.empty((4, 3), x.dtype))
    rows = retrograde.prepare(retrograde.reverse_sequence, x, [1, 2, 3], time_axis=1, batch_axis=0)
    out = np.full_like(x, 7)
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[2\] is -1, outside \[0, 4\]$"):
        rows(x, [1, 2, -1], out=out)
    assert (out == 7).all()


def test_arrays_of_objects_keep_their_references():
    x = np.array([[object() for _ in range(3)] for _ in range(2)])
    flip = retrograde.prepare(retrograde.reverse, x, axes=1)
    first = x[0, 0]
    before = sys.getrefcount(first)
    y = flip(x)
    moved, during = y[0, 2] is first, sys.getrefcount(first)
    del y
    gc.collect()
    after = sys.getrefcount(first)
    assert moved and (during, after) == (before + 1, before)


class OnADevice:
    """A tensor on a CUDA device, as far as it can be described without one: its elements cannot be read."""

    def __init__(self, *shape, dtype="float32"):
        self.shape, self.dtype, self.device = shape, dtype, "cuda:0"

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError("its elements were asked for")


def test_tensors_on_a_device_are_prepared_by_their_shape():
    """Lengths on the device are checked there, when the call runs; those on the CPU are checked now."""
    x, lengths = OnADevice(3, 4), OnADevice(4, dtype="int64")
    assert repr(retrograde.prepare("reverse", x, 0)).endswith("float32, shape (3, 4), on cuda:0>")
    rows = retrograde.prepare("reverse_sequence", x, lengths)
    assert rows.operator == "reverse_sequence"
    with pytest.raises(AssertionError, match="asked for"):
        rows(x, out=x)
    retrograde.prepare("reverse_sequence", x, [1, 2, 3, 0])
    retrograde.prepare("reverse_subsequences", x, lengths, axis=0)
    for text, call in [
        (r"axes\[0\] is 2", lambda: retrograde.prepare("reverse", x, 2)),
        (r"lengths have shape \[3\], expected \[4\]", lambda: retrograde.prepare("reverse_sequence", x, OnADevice(3))),
        (r"lengths\[1\] is 4, outside \[0, 3\]", lambda: retrograde.prepare("reverse_sequence", x, [1, 4, 3, 0])),
        (r"expected \[3, 1\] or \[3\]", lambda: retrograde.prepare("reverse_subsequences", x, lengths, axis=1)),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_tensors_of_other_libraries():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(12.0).reshape(3, 4)
    flip = retrograde.prepare(retrograde.reverse, x, axes=1)
    assert type(flip(x)) is type(x)
    np.testing.assert_array_equal(np.asarray(flip(x)), np.asarray(x)[:, ::-1])
    with pytest.raises(ValueError, match="the call was prepared for"):
        flip(x[:2])


@pytest.mark.parametrize("layout", ["dense", "objects"])
@pytest.mark.parametrize("kind", [list, np.array, lambda n: np.array(n, ">i4"), np.ma.array, lambda n: memoryview(np.array(n))])
def test_the_callers_lengths_may_change(kind, layout):
    x = LAYOUTS[layout](X)
    for name, given, other, more in (
        ("reverse_sequence", [3, 2], [0, 1], {"time_axis": 1, "batch_axis": 0}),
        ("reverse_segments", [0, 1, 3], [0, 0, 2], {"axis": 1}),
    ):
        lengths = kind(given)
        prepared = retrograde.prepare(name, x, lengths, **more)
        wanted = prepared(x)
        for at, value in enumerate(other):
            lengths[at] = value
        assert np.array_equal(prepared(x), wanted)
        assert not np.array_equal(getattr(retrograde, name)(x, lengths, **more), wanted)
        # An array that nobody holds can be resized.
        if type(lengths) is np.ndarray:
            lengths.resize(1, refcheck=True)
            assert np.array_equal(prepared(x), wanted)


def test_long_lengths_are_copied_too():
    lengths = np.full(1 << 18, 2)
    x = np.arange(2 << 18, dtype=np.uint16).reshape(2, -1)
    prepared = retrograde.prepare("reverse_sequence", x, lengths)
    lengths[:] = 0
    assert np.array_equal(prepared(x), x[::-1])


def test_axes_of_an_iterator_and_a_list_stay():
    axes = [1]
    prepared = retrograde.prepare("reverse", X, axes)
    axes[0] = 0
    assert np.array_equal(prepared(X), X[:, ::-1])
    prepared = retrograde.prepare("reverse", X.tolist(), iter([1]))
    assert np.array_equal(prepared(X.tolist()), X[:, ::-1]) and np.array_equal(prepared(X.tolist()), X[:, ::-1])
