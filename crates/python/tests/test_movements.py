"""Sequences at the end of an axis, zero padding, and segments, against loops."""

import itertools

import naive
import numpy as np
import pytest
import retrograde

RULES = list(itertools.product(("start", "end"), ("keep", "zero")))
INTEGERS = [np.dtype(kind + width) for kind in "iu" for width in "1248"]
X = naive.filled((3, 4), "f8")


@pytest.mark.parametrize(("align", "tail"), RULES)
@pytest.mark.parametrize("dtype", naive.DTYPES, ids=str)
def test_padding_of_every_type(dtype, align, tail):
    x = naive.filled((3, 2, 5), dtype)
    calls = [
        ("reverse_sequence", ([5, 0, 3],), {"time_axis": 2, "batch_axis": 0}, (2, 0)),
        ("reverse_subsequences", (np.array([[[3], [0]], [[1], [2]], [[2], [9]]]),), {"axis": 2}, (2,)),
    ]
    for name, (lengths,), axes, plain in calls:
        run = getattr(retrograde, name)
        if tail == "zero" and naive.holds_references(dtype):
            before = naive.bits(x)
            for out in (None, x, naive.filled(x.shape, dtype)):
                with pytest.raises(TypeError) as raised:
                    run(x, lengths, **axes, align=align, tail=tail, out=out)
                assert str(raised.value) == (
                    f"{'ReverseSequence' if 'time_axis' in axes else 'ReverseSubsequences'}: x has dtype {dtype},"
                    ' whose elements are references: they have no zero bytes, expected tail "keep"'
                )
            assert naive.bits(x) == before
            continue
        want = naive.bits(getattr(naive, name)(x, lengths, *plain, align, tail))
        assert naive.bits(run(x, lengths, **axes, align=align, tail=tail)) == want
        out = naive.filled(x.shape, dtype, seed=1)
        assert run(x, lengths, **axes, align=align, tail=tail, out=out) is out
        assert naive.bits(out) == want
        mine = x.copy()
        assert run(mine, lengths, **axes, align=align, tail=tail, out=mine) is mine
        assert naive.bits(mine) == want


@pytest.mark.parametrize("layout", naive.LAYOUTS)
@pytest.mark.parametrize("dtype", naive.DTYPES, ids=str)
def test_segments_of_every_type_and_layout(dtype, layout):
    x = naive.laid_out(naive.filled((3, 7, 2), dtype), layout)
    for axis, offsets in [(1, [0, 3, 3, 6]), (0, [0, 2]), (2, [0]), (-2, [0, 7]), (0, [0, 0, 3, 3])]:
        want = naive.bits(naive.reverse_segments(x, offsets, axis % 3))
        assert naive.bits(retrograde.reverse_segments(x, offsets, axis=axis)) == want
        out = naive.laid_out(naive.filled(x.shape, dtype, seed=1), layout)
        assert retrograde.reverse_segments(x, offsets, axis=axis, out=out) is out
        assert naive.bits(out) == want
        mine = naive.laid_out(x, layout)
        retrograde.reverse_segments(mine, offsets, axis=axis, out=mine)
        assert naive.bits(mine) == want


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_offsets_of_every_integer_type(dtype):
    rng = np.random.default_rng(dtype.num)
    x = rng.standard_normal((4, 60, 3)).astype("f4")
    for segments in range(0, 40, 7):
        offsets = naive.cuts(rng, 60, segments).astype(dtype)
        want = naive.reverse_segments(x, offsets, 1)
        spaced = np.repeat(offsets, 2)[::2]
        for given in (offsets, spaced, offsets.astype(dtype.newbyteorder()), offsets.tolist(), tuple(offsets)):
            assert np.array_equal(retrograde.reverse_segments(x, given, axis=1), want)


def test_random_calls():
    rng = np.random.default_rng(3)
    for _ in range(150):
        rank = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(0, 9, rank))
        x = naive.filled(shape, str(rng.choice(["u1", "f2", "f4", "f8", "c16", "V3"])))
        x = naive.laid_out(x, str(rng.choice(naive.LAYOUTS)))
        time, batch = (int(axis) for axis in rng.permutation(rank)[:2])
        align, tail = (str(rng.choice(choice)) for choice in (["start", "end"], ["keep", "zero"]))
        lengths = rng.integers(0, shape[time] + 1, shape[batch])
        got = retrograde.reverse_sequence(
            x, lengths, time_axis=time, batch_axis=batch - rank, align=align, tail=tail
        )
        assert naive.bits(got) == naive.bits(naive.reverse_sequence(x, lengths, time, batch, align, tail))
        lanes = rng.integers(0, shape[time] + 3, shape[:time] + (1,) + shape[time + 1 :])
        got = retrograde.reverse_subsequences(x, lanes.squeeze(time), axis=time - rank, align=align, tail=tail)
        assert naive.bits(got) == naive.bits(naive.reverse_subsequences(x, lanes, time, align, tail))
        offsets = naive.cuts(rng, shape[time], int(rng.integers(0, 6)))
        got = retrograde.reverse_segments(x, offsets, axis=time)
        assert naive.bits(got) == naive.bits(naive.reverse_segments(x, offsets, time))


def test_large_arrays():
    x = np.arange(1 << 21, dtype=np.float32).reshape(1 << 17, 16)
    offsets = naive.cuts(np.random.default_rng(4), len(x), 300)
    want = x.copy()
    for first, last in itertools.pairwise(offsets):
        want[first:last] = x[first:last][::-1]
    assert np.array_equal(retrograde.reverse_segments(x, offsets), want)
    # More than 1 MiB of offsets are read where they are.
    many = np.arange(0, len(x) + 1)[np.r_[True, np.arange(len(x)) % 2 == 1]]
    pairs = np.repeat(many, 3)[::3]
    want = x.reshape(-1, 2, 16)[:, ::-1].reshape(x.shape)
    assert np.array_equal(retrograde.reverse_segments(x, pairs), want)
    lengths = np.random.default_rng(5).integers(0, 17, len(x))
    step = np.arange(16)
    inside = step >= 16 - lengths[:, None]
    mirrored = np.take_along_axis(x, np.where(inside, 31 - lengths[:, None] - step, step), 1)
    got = retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0, align="end", tail="zero")
    assert np.array_equal(got, np.where(inside, mirrored, 0))


def test_masks_move_with_their_data():
    x = np.ma.array(np.arange(8).reshape(2, 4), mask=[[0, 1, 0, 0], [1, 0, 0, 1]])
    y = retrograde.reverse_segments(x, [0, 2, 4], axis=1)
    assert y.tolist() == [[None, 0, 3, 2], [5, None, None, 6]]
    y = retrograde.reverse_sequence(x, [3, 2], time_axis=1, batch_axis=0, align="end")
    assert y.tolist() == [[0, 3, 2, None], [None, 5, None, 6]]
    # What becomes zero is not masked.
    y = retrograde.reverse_sequence(x, [3, 2], time_axis=1, batch_axis=0, align="end", tail="zero")
    assert y.tolist() == [[0, 3, 2, None], [0, 0, None, 6]]


def test_lists():
    assert retrograde.reverse_segments([1, 2, 3, 4], [0, 1, 4]).tolist() == [1, 4, 3, 2]
    assert retrograde.reverse_segments(["a", "b"], range(0, 3, 2)).tolist() == ["b", "a"]


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: retrograde.reverse_sequence(X, [0] * 4, align="left"), ValueError, 'ReverseSequence: align "left" does not exist, expected "start" or "end"'),
        (lambda: retrograde.reverse_sequence(X, [0] * 4, tail="0"), ValueError, 'ReverseSequence: tail "0" does not exist, expected "keep" or "zero"'),
        (lambda: retrograde.reverse_subsequences(X, [0] * 4, axis=0, align="END"), ValueError, 'ReverseSubsequences: align "END" does not exist, expected "start" or "end"'),
        (lambda: retrograde.reverse_subsequences(X, [0] * 4, axis=0, tail=""), ValueError, 'ReverseSubsequences: tail "" does not exist, expected "keep" or "zero"'),
        (lambda: retrograde.reverse_sequence(X, [1, 2, 3, 4], align="end"), ValueError, "ReverseSequence: lengths[3] is 4, outside [0, 3]"),
        (lambda: retrograde.reverse_segments(X, [0, 2, 1]), ValueError, "ReverseSegments: offsets[2] is 1, outside [2, 3]"),
        (lambda: retrograde.reverse_segments(X, [1, 2]), ValueError, "ReverseSegments: offsets[0] is 1, outside [0, 0]"),
        (lambda: retrograde.reverse_segments(X, [0, 4]), ValueError, "ReverseSegments: offsets[1] is 4, outside [0, 3]"),
        (lambda: retrograde.reverse_segments(X, [0, -1]), ValueError, "ReverseSegments: offsets[1] is -1, outside [0, 3]"),
        (lambda: retrograde.reverse_segments(X, np.array([0, 2**64 - 1], "u8")), ValueError, "ReverseSegments: offsets[1] is 18446744073709551615, outside [0, 3]"),
        (lambda: retrograde.reverse_segments(X, []), ValueError, "ReverseSegments: offsets have shape [0], expected [n + 1] for n segments"),
        (lambda: retrograde.reverse_segments(X, [[0, 1]]), ValueError, "ReverseSegments: offsets have shape [1, 2], expected [n + 1] for n segments"),
        (lambda: retrograde.reverse_segments(X, 3), ValueError, "ReverseSegments: offsets have shape [], expected [n + 1] for n segments"),
        (lambda: retrograde.reverse_segments(X, [0.0, 1.0]), TypeError, "ReverseSegments: offsets have type float64, expected an integer type"),
        (lambda: retrograde.reverse_segments(X, [0, 1], axis=2), ValueError, "ReverseSegments: axis is 2, outside [-2, 1] for a tensor of rank 2"),
        (lambda: retrograde.reverse_segments(X, [0, 1], axis=None), TypeError, "ReverseSegments: axis is None (NoneType), expected an integer"),
        (lambda: retrograde.reverse_segments(np.float64(1), [0]), ValueError, "ReverseSegments: axis is 0, but a scalar (rank 0) has no axes"),
        (lambda: retrograde.reverse_segments(X), TypeError, "reverse_segments() missing 1 required positional argument: 'offsets'"),
        (lambda: retrograde.reverse_segments(X, dim=1), TypeError, "reverse_segments() takes axis=, not dim=: retrograde.reverse_segments(x, offsets, axis=1)"),
        (lambda: retrograde.reverse_segments(X, cu_seqlens=[0, 1]), TypeError, "reverse_segments() takes offsets=, not cu_seqlens=: retrograde.reverse_segments(x, offsets)"),
        (lambda: retrograde.reverse_segments(X, lengths=[0, 1]), TypeError, "reverse_segments() takes offsets=, not lengths=: numpy.cumsum([0, *lengths]) are offsets"),
        (lambda: retrograde.reverse_segments(X, [0, 3], out=X[:2].copy()), ValueError, "ReverseSegments: output has shape [2, 4], expected the input's shape [3, 4]"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == text


@pytest.mark.parametrize("dtype", ["f4", object, *naive.STRINGS], ids=str)
def test_nothing_is_written_when_offsets_are_wrong(dtype):
    x, out = naive.filled((3, 2), dtype), naive.filled((3, 2), dtype, seed=1)
    before = naive.bits(out), naive.bits(x)
    for target in (out, x):
        with pytest.raises(ValueError, match=r"^ReverseSegments: offsets\[2\] is 4, outside \[2, 3\]$"):
            retrograde.reverse_segments(x, [0, 2, 4], out=target)
    assert (naive.bits(out), naive.bits(x)) == before


# Prepared calls, plans and pictures


@pytest.mark.parametrize("dtype", ["f4", object], ids=str)
def test_prepared_calls(dtype):
    x = naive.filled((4, 6), dtype)
    prepared = retrograde.prepare(retrograde.reverse_segments, x, [0, 2, 5], axis=1)
    assert prepared.operator == "reverse_segments"
    assert naive.bits(prepared(x)) == naive.bits(naive.reverse_segments(x, [0, 2, 5], 1))
    # As many offsets as before, another number of them, and another type.
    for offsets in ([0, 1, 6], [0, 6], np.array([0, 1, 1, 4, 5], "u1")):
        assert naive.bits(prepared(x, offsets)) == naive.bits(naive.reverse_segments(x, offsets, 1))
    with pytest.raises(ValueError, match=r"^ReverseSegments: offsets\[1\] is 7, outside \[0, 6\]$"):
        prepared(x, [0, 7, 7])
    padding = {"time_axis": 1, "batch_axis": 0, "align": "end"}
    rows = retrograde.prepare("reverse_sequence", x, [1, 2, 6, 0], **padding)
    for lengths in ([1, 2, 6, 0], [6, 5, 4, 3]):
        want = naive.reverse_sequence(x, lengths, 1, 0, "end")
        assert naive.bits(rows(x, lengths)) == naive.bits(want)
    if dtype is object:
        with pytest.raises(TypeError, match="whose elements are references"):
            retrograde.prepare("reverse_sequence", x, [1, 2, 6, 0], **padding, tail="zero")
    else:
        rows = retrograde.prepare("reverse_sequence", x, [1, 2, 6, 0], **padding, tail="zero")
        want = naive.reverse_sequence(x, [1, 2, 6, 0], 1, 0, "end", "zero")
        assert naive.bits(rows(x)) == naive.bits(want)
        lanes = retrograde.prepare("reverse_subsequences", x, [0, 1, 6, 9], axis=1, tail="zero")
        want = naive.reverse_subsequences(x, np.array([[0], [1], [6], [9]]), 1, "start", "zero")
        assert naive.bits(lanes(x)) == naive.bits(want)


def test_plans():
    how = retrograde.explain(retrograde.reverse_segments, np.zeros((8, 3), "f4"), [0, 2, 5])
    assert how.operator == "ReverseSegments"
    assert [(dim["len"], dim["flow"]) for dim in how.dims] == [(8, "flip segments")]
    how = retrograde.explain("reverse_sequence", np.zeros((3, 8)), [1] * 3, time_axis=1, batch_axis=0, align="end")
    assert "flip prefix" in [dim["flow"] for dim in how.dims]
    for function in (retrograde.explain, retrograde.show, retrograde.prepare):
        with pytest.raises(ValueError, match=r"^ReverseSegments: offsets\[1\] is 9, outside \[0, 4\]$"):
            function("reverse_segments", X, [0, 9], axis=1)
        with pytest.raises(TypeError, match="^reverse_segments\\(\\) missing 1 required positional argument: 'offsets'$"):
            function("reverse_segments", X)
        with pytest.raises(TypeError, match="whose elements are references"):
            function("reverse_sequence", X.astype(object), [0] * 4, tail="zero")
        with pytest.raises(ValueError, match='align "left" does not exist'):
            function("reverse_sequence", X, [0] * 4, align="left")


def test_pictures():
    words = np.array([list("..live"), list("stress")])
    picture = retrograde.show("reverse_sequence", words, [4, 6], time_axis=1, batch_axis=0, align="end")
    assert ". . l i v e" in str(picture) and ". . e v i l" in str(picture) and "s s e r t s" in str(picture)
    numbers = np.array([[7, 7, 1, 2], [7, 3, 4, 5]])
    picture = retrograde.show("reverse_sequence", numbers, [2, 3], time_axis=1, batch_axis=0, align="end", tail="zero")
    assert "0 0 2 1" in str(picture) and "0 5 4 3" in str(picture)
    picture = retrograde.show("reverse_subsequences", numbers, [2, 3], axis=1, align="start", tail="zero")
    assert "7 7 0 0" in str(picture) and "4 3 7 0" in str(picture)
    picture = retrograde.show(retrograde.reverse_segments, np.array(list("livedraw..")), np.array([0, 4, 8], "u1"))
    assert str(picture).startswith("ReverseSegments  U1 [10]") and "e v i l w a r d . ." in str(picture)
    assert picture.svg().startswith("<svg") and "</" in picture.html()
