"""``table``: what is reversed is looked up, and nothing else; compared with NumPy's own indexing."""

import itertools

import ml_dtypes
import naive
import numpy as np
import pytest
import retrograde

RNG = np.random.default_rng(11)
#: Types of elements and how many entries a table for them has.
TYPES = [("u1", 256), ("i1", 256), ("S1", 256), ("V1", 256)]
TYPES += [(getattr(ml_dtypes, name), 1 << int(name[-1])) for name in ("uint4", "int4", "uint2", "int2")]


def filled(dtype, count, shape):
    """Random elements, and a random table for them."""
    table = RNG.integers(0, count, count).astype(np.uint8)
    values = RNG.integers(0, count, shape).astype(np.uint8)
    return of_values(values, dtype, count), table


def of_values(values, dtype, count):
    """Elements with these bits."""
    dtype = np.dtype(dtype)
    if count < 256 and dtype.name.startswith("int"):
        return np.where(values >= count // 2, values.astype(int) - count, values).astype(dtype)
    return values.astype(dtype) if count < 256 else values.view(dtype)


def looked_up(moved, kept, table, dtype, count):
    """The entries of what moved, and where nothing is reversed, what is there."""
    values = moved.view(np.uint8) & (count - 1)
    return np.where(kept, moved.view(np.uint8), of_values(table[values], dtype, count).view(np.uint8)).astype(np.uint8)


def same(got, wanted):
    np.testing.assert_array_equal(np.asarray(got).view(np.uint8), wanted)


@pytest.mark.parametrize(("dtype", "count"), TYPES)
@pytest.mark.parametrize("form", [np.asarray, lambda table: table.tobytes(), lambda table: bytearray(table.tobytes())])
def test_every_operator(dtype, count, form):
    x, table = filled(dtype, count, (6, 37, 3))
    given, rows = form(table), np.arange(6)[:, None, None]
    for axes in (1, (0, 2), (1, 2), None, ()):
        several = range(3) if axes is None else (axes,) if isinstance(axes, int) else axes
        wanted = looked_up(naive.reverse(x, several), False, table, dtype, count)
        same(retrograde.reverse(x, axes, table=given), wanted)
        if 0 in several:
            continue
        some = RNG.integers(0, 2, 6) == 1
        kept = np.broadcast_to(~some[rows], x.shape)
        wanted = np.where(kept, x.view(np.uint8), wanted)
        for order in "CF":
            y = x.copy(order=order)
            same(retrograde.reverse(y, axes, where=some, table=given), wanted)
            assert retrograde.reverse(y, axes, where=some, table=given, out=y) is y
            same(y, wanted)
    lengths = RNG.integers(0, 38, 6)
    for align, tail in [("start", "keep"), ("end", "keep"), ("start", "zero")]:
        padding = {"align": align, "tail": tail}
        moved = naive.reverse_sequence(x, lengths, 1, 0, **padding)
        place = np.arange(37)[None, :, None]
        kept = place >= lengths[rows] if align == "start" else place < 37 - lengths[rows]
        wanted = looked_up(moved, kept, table, dtype, count)
        same(retrograde.reverse_sequence(x, lengths, batch_first=True, table=given, **padding), wanted)
    some = RNG.integers(0, 2, (6, 3)) == 1
    lanes = RNG.integers(0, 38, (6, 3))
    masked = np.where(some, lanes, 0)[:, None]
    wanted = looked_up(naive.reverse_subsequences(x, masked, 1), np.arange(37)[None, :, None] >= masked, table, dtype, count)
    same(retrograde.reverse_subsequences(x, lanes, axis=1, where=some, table=given), wanted)
    y = x.copy()
    assert retrograde.reverse_subsequences(y, lanes, axis=1, where=some, table=given, out=y) is y
    same(y, wanted)


@pytest.mark.parametrize(("dtype", "count"), TYPES)
def test_segments(dtype, count):
    for size, segments in [(0, 0), (40, 5), (3000, 200), (200_000, 30)]:
        x, table = filled(dtype, count, size)
        offsets, some = naive.cuts(RNG, size, segments), RNG.integers(0, 2, segments) == 1
        for mask in (None, some):
            wanted = x.view(np.uint8).copy()
            for at, (start, end) in enumerate(itertools.pairwise(offsets)):
                if mask is None or mask[at]:
                    wanted[start:end] = looked_up(x[start:end][::-1], False, table, dtype, count)
            for given in (offsets, offsets.astype(np.int32)):
                same(retrograde.reverse_segments(x, given, where=mask, table=table), wanted)
            y = x.copy()
            assert retrograde.reverse_segments(y, offsets, where=mask, table=table, out=y) is y
            same(y, wanted)
            if size:
                prepared = retrograde.prepare(retrograde.reverse_segments, x, offsets, where=mask, table=table)
                same(prepared(x), wanted)


def test_the_complement_is_a_table_of_letters():
    letters = np.frombuffer(bytes(range(256)) * 2, np.uint8)
    table = bytes.maketrans(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn", b"TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")
    assert retrograde.reverse(letters, table=table).tobytes() == retrograde.reverse_complement(letters).tobytes()
    offsets, where = [0, 100, 300, 512], [True, False, True]
    got = retrograde.reverse_segments(letters, offsets, where=where, table=table)
    assert got.tobytes() == retrograde.reverse_complement(letters, offsets=offsets, where=where).tobytes()


def test_prepared_and_explained():
    x, table = filled("u1", 256, (5, 40))
    lengths, mask = [40, 3, 0, 7, 8], np.array([True, False, True, True, False])
    given = table.copy()
    prepared = retrograde.prepare("reverse_sequence", x, lengths, batch_first=True, table=given)
    given[:] = 0
    same(prepared(x), retrograde.reverse_sequence(x, lengths, batch_first=True, table=table))
    other = retrograde.reverse_sequence(x, lengths[::-1], batch_first=True, where=mask, table=table)
    same(prepared(x, lengths[::-1], where=mask), other)
    y = x.copy()
    assert prepared(y, out=y) is y
    flips = retrograde.prepare(retrograde.reverse, x, 1, where=mask, table=table)
    same(flips(x), retrograde.reverse(x, 1, where=mask, table=table))
    how = retrograde.explain(retrograde.reverse, x, 1, table=table)
    assert how.bytes_written == x.size and how.dims == retrograde.explain(retrograde.reverse, x, 1).dims
    nibbles = x.astype(ml_dtypes.uint4)
    assert "prefix" in str(retrograde.explain("reverse", nibbles, (), where=mask, table=bytes(16)))


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_other_libraries(library):
    module = pytest.importorskip(library)
    make = module.numpy.asarray if library == "jax" else lambda x: module.from_numpy(x.copy())
    x, table = filled("u1", 256, (5, 40))
    lengths, mask = np.array([40, 3, 0, 7, 8]), np.array([True, False, True, True, False])
    for call in [
        lambda f: retrograde.reverse(f(x), 1, table=f(table)),
        lambda f: retrograde.reverse(f(x), 1, where=f(mask), table=table),
        lambda f: retrograde.reverse_sequence(f(x), f(lengths), batch_first=True, table=table.tobytes()),
        lambda f: retrograde.reverse_subsequences(f(x), f(lengths), axis=1, where=f(mask), table=table),
        lambda f: retrograde.reverse_segments(f(x.reshape(-1)), f(np.array([0, 3, 150])), where=[False, True], table=table),
    ]:
        got = call(make)
        assert isinstance(got, type(make(x)))
        same(got, call(np.asarray))
    floats = make(np.zeros((2, 3), np.float32))
    if library == "torch":
        # Nothing that is looked up has a gradient.
        floats.requires_grad_()
        out = make(x)
        assert retrograde.reverse(out, 0, table=table, out=out) is out
        same(out, retrograde.reverse(x, 0, table=table))
    with pytest.raises(TypeError, match="Reverse: x has type float32, expected elements of one byte"):
        retrograde.reverse(floats, table=table)


X, TABLE = np.arange(12, dtype=np.uint8), bytes(range(256))
NIBBLES = X.astype(ml_dtypes.uint4)
WRONG = [
    (lambda out: retrograde.reverse(X.view("u2"), table=TABLE, out=out.view("u2")), TypeError, r"Reverse: x has type uint16, expected elements of one byte \(uint8, int8, S1\), 4 bits \(uint4, int4\) or 2 bits"),
    (lambda out: retrograde.reverse(X > 3, table=TABLE, out=out.view(bool)), TypeError, "Reverse: x has type bool"),
    (lambda out: retrograde.reverse(X.view(ml_dtypes.float8_e5m2), table=TABLE), TypeError, "Reverse: x has type float8_e5m2"),
    (lambda out: retrograde.reverse(X.view("S2"), table=TABLE), TypeError, r"Reverse: x has type \|S2"),
    (lambda out: retrograde.reverse(X.view([("a", "u1")]), table=TABLE), TypeError, "Reverse: x has type "),
    (lambda out: retrograde.reverse([1, 2], table=TABLE), TypeError, "Reverse: x has type int64"),
    (lambda out: retrograde.reverse(X, table=TABLE[:255], out=out), ValueError, r"Reverse: table has shape \[255\], expected \[256\] for elements of type uint8"),
    (lambda out: retrograde.reverse(NIBBLES, table=TABLE), ValueError, r"Reverse: table has shape \[256\], expected \[16\] for elements of type uint4"),
    (lambda out: retrograde.reverse(NIBBLES, table=[*range(16)]), TypeError, "Reverse: table has type int64, expected bytes or an array of uint8"),
    (lambda out: retrograde.reverse(NIBBLES, table=bytes([*range(15), 16])), ValueError, r"Reverse: table\[15\] is 16, outside \[0, 15\]"),
    (lambda out: retrograde.reverse(X, table="ACGT", out=out), TypeError, "Reverse: table has type <U4, expected bytes"),
    (lambda out: retrograde.reverse(X, table=np.zeros((16, 16), np.uint8), out=out), ValueError, r"Reverse: table has shape \[16, 16\]"),
    (lambda out: retrograde.reverse_segments(X, [0, 5, 4], table=TABLE, out=out), ValueError, r"ReverseSegments: offsets\[2\] is 4"),
    (lambda out: retrograde.reverse_segments(X, table=TABLE, out=out), TypeError, "missing 1 required positional argument: 'offsets'"),
    (lambda out: retrograde.reverse_sequence(X.reshape(3, 4), [1, 2, 5], batch_first=True, table=TABLE, out=out.reshape(3, 4)), ValueError, r"ReverseSequence: lengths\[2\] is 5"),
    (lambda out: retrograde.reverse_subsequences(X.reshape(3, 4), [1, -2, 4], axis=1, table=TABLE, out=out.reshape(3, 4)), ValueError, r"ReverseSubsequences: lengths\[1, 0\] is -2"),
    (lambda out: retrograde.reverse(np.ma.masked_array(X), table=TABLE), TypeError, "Reverse: x is a MaskedArray, expected a plain array or tensor for a table"),
    (lambda out: retrograde.show(retrograde.reverse, X, table=TABLE), ValueError, "reverse: a picture shows where elements go"),
    (lambda out: retrograde.prepare(retrograde.reverse, X, table=b""), ValueError, r"Reverse: table has shape \[0\]"),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_what_is_refused_writes_nothing(at):
    call, kind, text = WRONG[at]
    out = np.full(12, 77, np.uint8)
    with pytest.raises(kind, match=text):
        call(out)
    assert (out == 77).all()


def test_columns_and_lazy_arrays_are_refused():
    pa, dask = pytest.importorskip("pyarrow"), pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="ReverseSegments: x is a ListArray, expected a plain array"):
        retrograde.reverse_segments(pa.array([[1, 2]], pa.list_(pa.uint8())), table=TABLE)
    with pytest.raises(TypeError, match="x is a dask.array.Array, which is not in memory"):
        retrograde.reverse(dask.from_array(X), table=TABLE)
