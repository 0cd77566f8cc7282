"""List arrays of Arrow against lists of Python, and offsets of awkward arrays."""

import datetime
import decimal
import os
import random
import sys

import deadline
import numpy as np
import pytest

import retrograde

pa = pytest.importorskip("pyarrow")

TYPES = {
    **{str(kind): (kind, lambda i: i % 100) for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32())},
    **{str(kind): (kind, lambda i: i * 7) for kind in (pa.uint32(), pa.int64(), pa.uint64())},
    **{str(kind): (kind, lambda i: i / 2) for kind in (pa.float32(), pa.float64())},
    "half": (pa.float16(), lambda i: float(i)),
    "bool": (pa.bool_(), lambda i: i % 3 == 0),
    "date32": (pa.date32(), lambda i: datetime.date(2000, 1, 1) + datetime.timedelta(i)),
    "date64": (pa.date64(), lambda i: datetime.date(2000, 1, 1) + datetime.timedelta(i)),
    "time": (pa.time64("us"), lambda i: datetime.time(i // 60 % 24, i % 60)),
    "timestamp": (pa.timestamp("ms", "UTC"), lambda i: datetime.datetime.fromtimestamp(i, datetime.UTC)),
    "duration": (pa.duration("s"), lambda i: datetime.timedelta(seconds=i)),
    "decimal": (pa.decimal128(9, 2), lambda i: decimal.Decimal(i)),
    "wide decimal": (pa.decimal256(50, 2), lambda i: decimal.Decimal(i)),
    "binary": (pa.binary(5), lambda i: b"%05d" % i),
}


def lists(rng, element, count, nulls, empty=True):
    def value():
        return None if nulls and rng.random() < 0.2 else element(rng.randrange(1000))

    def one():
        if nulls and rng.random() < 0.2:
            return None
        return [value() for _ in range(rng.randrange(0 if empty else 1, 9))]

    return [one() for _ in range(count)]


def turned(lists):
    return [each if each is None else each[::-1] for each in lists]


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("outer", [pa.list_, pa.large_list], ids=["list", "large_list"])
@pytest.mark.parametrize("name", TYPES)
def test_every_type(name, outer, nulls):
    kind, element = TYPES[name]
    rng = random.Random(name)
    for count in (0, 1, 7, 40):
        plain = lists(rng, element, count, nulls)
        x = pa.array(plain, outer(kind))
        # Parts of it share its buffers; bitmaps then start inside a byte.
        for part in (x, x[1:], x[3:-2], x[:0], x[2:][3:][:5]):
            before = part.to_pylist()
            y = retrograde.reverse_segments(part)
            y.validate(full=True)
            assert type(y) is type(part) and y.type == part.type and y.null_count == part.null_count
            assert y.to_pylist() == turned(before)
            assert part.to_pylist() == before


EXTENSIONS = {
    "bool8": (pa.bool8(), lambda i: int(i % 3 == 0)),
    "uuid": (pa.uuid(), lambda i: b"%016d" % i),
    "opaque": (pa.opaque(pa.int32(), "mine", "test"), lambda i: i),
}


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("outer", [pa.ListArray, pa.LargeListArray], ids=["list", "large_list"])
@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension_types(name, outer, nulls):
    """They move as their storage and keep their type. (PyArrow has no other way to make such lists.)"""
    kind, element = EXTENSIONS[name]
    plain = [None if nulls and i % 4 == 1 else element(i) for i in range(40)]
    values = pa.ExtensionArray.from_storage(kind, pa.array(plain, kind.storage_type))
    offsets = pa.array([2, 5, 5, 6, 17, 39], pa.int32() if outer is pa.ListArray else pa.int64())
    x = outer.from_arrays(offsets, values)
    for part in (x, x[1:], x[3:-1], x[:0]):
        before = part.to_pylist()
        y = retrograde.reverse_segments(part)
        y.validate(full=True)
        assert type(y) is type(part) and y.type == part.type and y.values.type == kind
        assert y.to_pylist() == turned(before)
    chunks = retrograde.reverse_segments(pa.chunked_array([x, x[2:]]))
    assert chunks.to_pylist() == turned(x.to_pylist() + x[2:].to_pylist())
    assert retrograde.explain("reverse_segments", x).dims[0]["flow"] == "flip segments"


#: Elements without a fixed width.
OTHERS = {
    "string": (pa.string(), str),
    "large_string": (pa.large_string(), str),
    "string_view": (pa.string_view(), str),
    "bytes": (pa.binary(), lambda i: b"%d" % i),
    "binary_view": (pa.binary_view(), lambda i: b"%d" % i),
    "list": (pa.list_(pa.int8()), lambda i: list(range(i % 5))),
    "struct": (pa.struct({"a": pa.int64(), "b": pa.string()}), lambda i: {"a": i, "b": str(i)}),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), lambda i: "abc"[i % 3]),
    "null": (pa.null(), lambda _: None),
}


@pytest.mark.parametrize("name", OTHERS)
def test_elements_without_a_fixed_width(name):
    kind, element = OTHERS[name]
    x = pa.array(lists(random.Random(name), element, 40, True), pa.list_(kind))
    for part in (x, x[1:], x[3:-2], x[:0]):
        y = retrograde.reverse_segments(part)
        y.validate(full=True)
        assert y.type == x.type and y.to_pylist() == turned(part.to_pylist())


def test_an_extension_of_strings():
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "2", "3"]))
    y = retrograde.reverse_segments(pa.ListArray.from_arrays([0, 2, 3], texts))
    assert y.values.type == pa.json_() and y.to_pylist() == [["2", "1"], ["3"]]


@pytest.mark.parametrize("kind", [pa.int16(), pa.bool_(), pa.string()], ids=str)
def test_lists_of_a_fixed_size(kind):
    plain = pa.array([1, 0, None, 1, 1, 0, 0, None, 1, 0], pa.int16()).cast(kind).to_pylist()
    pairs = [plain[at : at + 2] for at in range(0, 10, 2)]
    pairs[2] = None
    x = pa.array(pairs, pa.list_(kind, 2))
    for part in (x, x[1:], x[1:4], x[:0]):
        y = retrograde.reverse_segments(part)
        y.validate(full=True)
        assert y.type == x.type and y.to_pylist() == turned(part.to_pylist())


@pytest.mark.parametrize("kind", [pa.int16(), pa.bool_(), pa.string()], ids=str)
def test_whole_arrays_and_segments_of_them(kind):
    plain = pa.array([1, None, 0, 1, 0], pa.int16()).cast(kind).to_pylist()
    x = pa.array([None, *plain], kind)[1:]
    for call in (retrograde.reverse, retrograde.flip, retrograde.flipud, lambda x: retrograde.flip(x, -1)):
        assert call(x).to_pylist() == plain[::-1] and call(x).type == kind
        chunks = pa.chunked_array([x[:2], x[2:]])
        assert call(chunks).to_pylist() == plain[::-1] and isinstance(call(chunks), pa.ChunkedArray)
    assert retrograde.reverse(x, mask=[False]).to_pylist() == plain
    assert retrograde.reverse_segments(x, [0, 2, 5]).to_pylist() == plain[:2][::-1] + plain[2:][::-1]
    chunks = retrograde.reverse_segments(pa.chunked_array([x[:3], x[3:]]), [0, 2, 5])
    assert chunks.to_pylist() == plain[:2][::-1] + plain[2:][::-1]
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        retrograde.flip(x, 1)
    with pytest.raises(TypeError, match="x is a pyarrow.*, which has one axis"):
        retrograde.reverse_sequence(x, [1])


LISTS = [[1, 2, 3], None, [], [4, 5]]


def test_polars():
    pl = pytest.importorskip("polars")
    for kind in (pl.List(pl.Int32), pl.List(pl.String), pl.List(pl.Categorical)):
        x = pl.Series("tokens", LISTS).cast(pl.List(pl.String) if kind == pl.List(pl.Categorical) else kind).cast(kind)
        y = retrograde.reverse_segments(x)
        assert isinstance(y, pl.Series) and y.name == "tokens" and y.dtype == x.dtype
        assert y.to_list() == x.list.reverse().to_list()
    x = pl.Series("pairs", [[1, 2], [3, 4]], dtype=pl.Array(pl.Int16, 2))
    assert retrograde.reverse_segments(x).equals(x.arr.reverse())
    assert retrograde.reverse_segments(pl.DataFrame({"a": LISTS})).to_pylist() == turned(LISTS)
    with pytest.raises(TypeError, match=r"x is a polars.DataFrame with columns \['a', 'b'\]: pass one of them"):
        retrograde.reverse_segments(pl.DataFrame({"a": [[1]], "b": [1]}))
    assert retrograde.flip(pl.Series("s", ["a", "b", None])).equals(pl.Series("s", [None, "b", "a"]))


def test_pandas():
    pd = pytest.importorskip("pandas")
    x = pd.Series(LISTS, [9, 8, 7, 6], pd.ArrowDtype(pa.list_(pa.int64())), "tokens")
    y = retrograde.reverse_segments(x)
    assert y.dtype == x.dtype and y.name == "tokens" and y.index.equals(x.index)
    assert y.array._pa_array.to_pylist() == turned(LISTS)
    assert retrograde.reverse_segments(x.array)._pa_array.to_pylist() == turned(LISTS)
    # The same class with NumPy's elements, before and after.
    numbers = pd.Series([1, 2, 3])
    assert retrograde.reverse_segments(numbers, [0, 2, 3]).tolist() == [2, 1, 3]
    assert retrograde.reverse_segments(x).index.equals(x.index)
    with pytest.raises(TypeError, match="x is an Arrow array of type int64, expected list"):
        retrograde.reverse_segments(numbers)


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    rows = "select unnest([[1, 2, 3], null, [], [4, 5]]) as tokens"
    assert retrograde.reverse_segments(duckdb.sql(rows)).to_pylist() == turned(LISTS)
    with pytest.raises(TypeError, match=r"with columns \['tokens', 'b'\]: pass one of them"):
        retrograde.reverse_segments(duckdb.sql(f"{rows}, 1 as b"))


def test_nanoarrow():
    na = pytest.importorskip("nanoarrow")
    y = retrograde.reverse_segments(na.Array(pa.array(LISTS)))
    assert isinstance(y, na.Array) and y.to_pylist() == turned(LISTS)


def test_without_pyarrow(monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TypeError, match="x is a polars.Series, which is read by pyarrow: pip install pyarrow"):
        retrograde.reverse_segments(pl.Series([[1]]))


def test_values_that_are_slices():
    values = pa.array([None, 1, 2, None, 4, 5, 6, None, 8, 9])[3:]
    x = pa.ListArray.from_arrays(pa.array([1, 3, 3, 6], pa.int32()), values)
    assert x.to_pylist() == [[4, 5], [], [6, None, 8]]
    assert retrograde.reverse_segments(x).to_pylist() == [[5, 4], [], [8, None, 6]]
    flags = pa.array([True, False, None, True, True, False, False])[1:]
    x = pa.ListArray.from_arrays(pa.array([0, 3, 5], pa.int32()), flags)
    assert retrograde.reverse_segments(x).to_pylist() == [[True, None, False], [False, True]]


def test_null_lists_that_are_not_empty():
    mask = pa.array([False, True, False])
    x = pa.ListArray.from_arrays(pa.array([0, 2, 4, 6]), pa.array([1, 2, 3, 4, 5, 6]), mask=mask)
    y = retrograde.reverse_segments(x)
    y.validate(full=True)
    assert y.to_pylist() == [[2, 1], None, [6, 5]]
    assert y.is_null().to_pylist() == [False, True, False]


def test_fields_keep_their_names_and_chunks_their_sizes():
    kind = pa.list_(pa.field("token", pa.int16(), nullable=False, metadata={"a": "b"}))
    x = pa.chunked_array([pa.array([[1, 2], [3]], kind), pa.array([], kind), pa.array([[4, 5, 6]], kind)])
    y = retrograde.reverse_segments(x)
    assert isinstance(y, pa.ChunkedArray) and y.type.equals(kind, check_metadata=True)
    assert [chunk.to_pylist() for chunk in y.chunks] == [[[2, 1], [3]], [], [[6, 5, 4]]]
    table = pa.table({"x": x})
    assert retrograde.reverse_segments(table["x"]).to_pylist() == y.to_pylist()
    assert retrograde.reverse_segments(pa.chunked_array([], kind)).to_pylist() == []


def test_bits_of_floats():
    nan = np.array([0x7FF8000000000001, 0xFFF8000000000ABC], np.uint64).view(np.float64)
    x = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), pa.array(nan))
    got = retrograde.reverse_segments(x).values.to_numpy()
    assert got.view(np.uint64).tolist() == [0xFFF8000000000ABC, 0x7FF8000000000001]


def test_large_arrays():
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.sort(rng.integers(0, 1_000_001, 5000))])
    values = rng.integers(0, 1 << 40, 1_000_000)
    x = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
    y = retrograde.reverse_segments(x[10:-10])
    for at in range(0, len(y), 97):
        assert y[at].as_py() == x[at + 10].as_py()[::-1]


@pytest.mark.parametrize(
    "x, arguments, error, text",
    [
        (pa.array([1, 2]), {}, TypeError, "reverse_segments: x is an Arrow array of type int64, expected list, large_list or fixed_size_list"),
        (pa.chunked_array([[1, 2]]), {}, TypeError, "reverse_segments: x is an Arrow array of type int64, expected list, large_list or fixed_size_list"),
        (pa.array([1, 2]), {"offsets": [0, 3]}, ValueError, "ReverseSegments: offsets[1] is 3, outside [0, 2]"),
        (pa.table({"a": [[1]], "b": [[2]]}), {}, TypeError, "x is a pyarrow.Table with columns ['a', 'b']: pass one of them"),
        ([[1, 2], [3]], {}, TypeError, "reverse_segments: x is a list of sequences: pass pyarrow.array(x), or their elements one behind the other, with offsets="),
        (pa.array([[1]]), {"offsets": [0]}, TypeError, "reverse_segments: offsets are given, but x has its own (it is a ListArray)"),
        (pa.array([[1]]), {"axis": 1}, ValueError, "reverse_segments: axis is 1, expected 0: the lists of an Arrow array have one axis"),
        (pa.array([[1]]), {"out": pa.array([[1]])}, TypeError, "out is not supported: Arrow arrays are immutable"),
    ],
)  # fmt: skip
def test_errors(x, arguments, error, text):
    with pytest.raises(error) as raised:
        retrograde.reverse_segments(x, **arguments)
    assert str(raised.value) == text


def test_plans_and_pictures():
    x = pa.array([[1, 2, 3], None, [4, 5]])
    assert retrograde.explain("reverse_segments", x).dims[0]["flow"] == "flip segments"
    assert "3 2 1 5 4" in str(retrograde.show("reverse_segments", x[:]))
    with pytest.raises(TypeError, match="x is of type ListArray, which has offsets of its own"):
        retrograde.prepare("reverse_segments", x)


def test_arrow_is_not_imported_for_others():
    program = "import sys, numpy, retrograde; retrograde.reverse_segments(numpy.arange(3), [0, 3]); print('pyarrow' in sys.modules)"
    done = deadline.run([sys.executable, "-c", program], env=os.environ)
    assert done.stdout.strip() == "False", done.stderr


def test_awkward_arrays():
    ak = pytest.importorskip("awkward")
    plain = [[1, 2, 3], [], [4, 5]]
    layout = ak.to_layout(ak.Array(plain)).to_ListOffsetArray64(True)
    content = retrograde.reverse_segments(np.asarray(layout.content.data), np.asarray(layout.offsets))
    turned_back = ak.Array(ak.contents.ListOffsetArray(layout.offsets, ak.contents.NumpyArray(content)))
    assert turned_back.to_list() == turned(plain)
    assert retrograde.reverse_segments(ak.to_arrow(ak.Array(plain), extensionarray=False)).to_pylist() == turned(plain)
