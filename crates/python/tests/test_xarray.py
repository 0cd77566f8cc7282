"""``retrograde.xarray`` against xarray's own slices and loops in plain NumPy: labels, metadata, laziness."""

import itertools

import naive
import numpy as np
import pytest

for needed in ("xarray", "dask.array", "hypothesis"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

import dask.array as da  # noqa: E402
import xarray as xr  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from xarray.testing import assert_identical  # noqa: E402

import retrograde.xarray  # noqa: F401, E402

BACKWARDS = slice(None, None, -1)


def sample():
    """A grid with an index, labels without one, a coordinate of two dimensions, and other variables."""
    x = np.arange(60.0).reshape(3, 4, 5)
    dataset = xr.Dataset(
        {
            "t": (("lat", "lon", "time"), x, {"units": "K"}, {"dtype": "float32", "_FillValue": -1.0}),
            "mean": ("time", np.arange(5)),
            "crs": 4326,
        },
        {
            "lat": ("lat", [-30.0, 0.0, 30.0], {"units": "degrees_north"}, {"dtype": "float64"}),
            "area": (("lat", "lon"), x[..., 0].copy(), {"units": "m2"}, {"zlib": True}),
            "station": ("lon", list("abcd")),
            "run": 7,
        },
        {"title": "a grid"},
    )
    dataset.encoding["unlimited_dims"] = {"time"}
    return dataset


def metadata(x):
    """What ``assert_identical`` does not compare."""
    return {name: dict(variable.encoding) for name, variable in x.variables.items()}


@pytest.mark.parametrize("chunks", [None, {"lat": 2, "lon": 3, "time": 2}])
@pytest.mark.parametrize("dims", ["lat", ["time", "lat"], ("lon",), None, []])
def test_flip_moves_labels_along(dims, chunks):
    x = sample() if chunks is None else sample().chunk(chunks)
    names = list(x.dims) if dims is None else [dims] if isinstance(dims, str) else list(dims)
    expected = x.isel(dict.fromkeys(names, BACKWARDS))
    y = x.retrograde.flip(dims)
    assert_identical(y.compute(), expected.compute())
    assert list(y.coords) == list(x.coords) and y.xindexes.keys() == x.xindexes.keys()
    assert metadata(y) == metadata(x) and y.encoding == x.encoding and y.chunks == expected.chunks
    one = x.t.retrograde.flip(None if dims is None else [name for name in names if name in x.t.dims])
    assert_identical(one.compute(), expected.t.compute())
    assert one.name == "t" and one.encoding == x.t.encoding and one.chunks == expected.t.chunks
    for variable in (y.t, one, y.area):
        assert isinstance(variable.data, np.ndarray if chunks is None else da.Array)
        assert variable.compute().data.flags.c_contiguous
    # A selection by label finds the same element as before.
    assert y.t.sel(lat=30.0).isel(lon=0, time=0) == x.t.sel(lat=30.0).isel(
        lon=-1 if "lon" in names else 0, time=-1 if "time" in names else 0
    )


def test_flip_of_a_coordinate_itself_and_of_several_indexes():
    x = sample()
    assert_identical(x.lat.retrograde.flip("lat"), x.lat.isel(lat=BACKWARDS))
    stacked = x.stack(place=("lat", "lon"))
    y = stacked.retrograde.flip("place")
    assert_identical(y, stacked.isel(place=BACKWARDS))
    assert y.indexes["place"].equals(stacked.indexes["place"][::-1])
    assert y.t.sel(lat=30.0, lon=2).equals(stacked.t.sel(lat=30.0, lon=2))
    named = x.set_xindex("station")
    assert_identical(named.retrograde.flip("lon"), named.isel(lon=BACKWARDS))
    bare = x.drop_indexes("lat")
    assert "lat" not in bare.retrograde.flip("lat").xindexes
    assert_identical(bare.retrograde.flip("lat"), bare.isel(lat=BACKWARDS))


@pytest.mark.parametrize("chunks", [None, {"lat": 2, "lon": 3, "time": 2}])
def test_other_operators_leave_labels(chunks):
    x = sample() if chunks is None else sample().chunk(chunks)
    values = sample().t.values
    lengths = np.array([5, 0, 3, 2])
    lanes = np.array([[0, 5, 3, 2], [1, 2, 3, 4], [9, 9, 0, 5]])
    by_station = xr.DataArray(lengths, dims="lon")
    swapped = xr.DataArray(lanes.T, {"lat": x.lat}, ("lon", "lat")).isel(lat=[2, 0, 1])
    options = {"align": "end", "tail": "zero"}
    cases = [
        (lambda r: r.reverse("lat"), naive.reverse(values, (0,))),
        (lambda r: r.reverse(["time", "lat", "time"]), naive.reverse(values, (0, 2))),
        (lambda r: r.reverse_sequence("time", by_station), naive.reverse_sequence(values, lengths, 2, 1)),
        (lambda r: r.reverse_sequence(dim="time", lengths=lengths, batch_dim="lon", **options),
         naive.reverse_sequence(values, lengths, 2, 1, **options)),
        (lambda r: r.reverse_subsequences("time", swapped),
         naive.reverse_subsequences(values, lanes[:, :, None], 2)),
        (lambda r: r.reverse_subsequences("time", by_station, **options),
         naive.reverse_subsequences(values, np.broadcast_to(lengths[None, :, None], (3, 4, 1)), 2, **options)),
    ]  # fmt: skip
    for call, expected in cases:
        for y in (call(x.retrograde).t, call(x.t.retrograde)):
            assert_identical(y.compute(), x.t.copy(data=expected).compute())
            assert y.encoding == x.t.encoding and y.name == "t" and y.chunks == x.t.chunks
            assert isinstance(y.data, np.ndarray if chunks is None else da.Array)
            assert y.compute().data.flags.c_contiguous
        rest, same = call(x.retrograde).drop_vars("t"), x.drop_vars("t")
        if expected is cases[1][1]:
            # The only one of these calls that needs no other dimension than ``time``.
            same["mean"] = same["mean"].copy(data=sample()["mean"].values[::-1])
        assert_identical(rest.compute(), same.compute())
    y = x.retrograde.reverse_segments("time", [0, 3, 5])
    assert_identical(y["mean"].compute(), x["mean"].copy(data=[2, 1, 0, 4, 3]).compute())
    assert_identical(y.t.compute(), x.t.copy(data=naive.reverse_segments(values, [0, 3, 5], 2)).compute())
    assert_identical(y.crs.compute(), x.crs.compute())


def test_memory_that_is_not_in_order_becomes_contiguous():
    x = sample().t.transpose("time", "lon", "lat")
    lengths = xr.DataArray([5, 0, 3, 2], dims="lon")
    for y in (
        x.retrograde.flip("lat"),
        x.retrograde.reverse("lat"),
        x.retrograde.reverse_sequence("time", lengths),
        x.retrograde.reverse_subsequences("time", lengths),
        x.retrograde.reverse_segments("time", [0, 3]),
    ):
        assert y.data.flags.c_contiguous and not x.data.flags.c_contiguous


@given(st.data())
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_lengths_are_aligned_by_name_and_label(data):
    """Any order of dimensions and of labels, and more labels than needed, computed or not."""
    sizes = {"a": data.draw(st.integers(1, 4)), "b": data.draw(st.integers(1, 4)), "t": data.draw(st.integers(1, 6))}
    order = data.draw(st.permutations(list(sizes)))
    values = np.arange(np.prod(list(sizes.values()))).reshape([sizes[dim] for dim in order])
    labels = {dim: [f"{dim}{i}" for i in range(sizes[dim])] for dim in "ab"}
    x = xr.DataArray(values, labels, order)
    pool = {dim: data.draw(st.permutations([*labels[dim], f"{dim} more"])) for dim in "ab"}
    table = {pair: data.draw(st.integers(0, 7)) for pair in itertools.product(pool["a"], pool["b"])}
    lengths = xr.DataArray(
        [[table[a, b] for a in pool["a"]] for b in pool["b"]], {"b": pool["b"], "a": pool["a"]}, ("b", "a")
    )
    if data.draw(st.booleans()):
        x = x.chunk(data.draw(st.integers(1, 3)))
    if data.draw(st.booleans()):
        lengths = lengths.chunk(data.draw(st.integers(1, 3)))
    y = x.retrograde.reverse_subsequences("t", lengths).compute()
    one = lengths.sel(a="a0").clip(0, sizes["t"])
    z = x.retrograde.reverse_sequence("t", one).compute()
    for a, b in itertools.product(labels["a"], labels["b"]):
        before = x.sel(a=a, b=b).values
        for got, length in ((y, table[a, b]), (z, table["a0", b])):
            length = min(length, sizes["t"])
            expected = [*before[:length][::-1], *before[length:]]
            assert got.sel(a=a, b=b).values.tolist() == expected


def test_computed_lengths_stay_lazy():
    def fail(block):
        raise AssertionError("was computed")

    lengths = da.from_array(np.arange(4), chunks=2).map_blocks(fail, dtype=np.int64, meta=np.empty(0, np.int64))
    y = sample().chunk(2).retrograde.reverse_sequence("time", xr.DataArray(lengths, dims="lon"))
    with pytest.raises(AssertionError, match="was computed"):
        y.compute(scheduler="sync")


WRONG = [
    (lambda r: r.flip("height"), ValueError, "flip: dims is 'height', expected one of ("),
    (lambda r: r.flip(["lat", "x"]), ValueError, "flip: dims[1] is 'x', expected one of ("),
    (lambda r: r.flip(["lat", "lat"]), ValueError, "flip: repeated dim: dims[1] is 'lat', as dims[0] is"),
    (lambda r: r.reverse(["lat", "lat"], duplicates="error"), ValueError,
     "Reverse: dims[1] is 'lat', the same dimension as dims[0], expected distinct dimensions"),
    (lambda r: r.reverse("lat", duplicates="x"), ValueError,
     'Reverse: duplicates "x" does not exist, expected "set" or "error"'),
    (lambda r: r.reverse_sequence("tim", [1]), ValueError, "ReverseSequence: dim is 'tim', expected one of ("),
    (lambda r: r.reverse_sequence("time", [1]), TypeError,
     "ReverseSequence: lengths are of type list: pass a DataArray, or batch_dim="),
    (lambda r: r.reverse_sequence("time", [1], batch_dim="time"), ValueError,
     "ReverseSequence: dim and batch_dim are both 'time', they must differ"),
    (lambda r: r.reverse_sequence("time", [1], batch_dim="lat"), ValueError,
     "ReverseSequence: lengths have shape [1], expected [3]"),
    (lambda r: r.reverse_sequence("time", [1, 2, 6], batch_dim="lat"), ValueError,
     "ReverseSequence: lengths[2] is 6, outside [0, 5]"),
    (lambda r: r.reverse_sequence("time", xr.DataArray([1, 2], dims="lat")), ValueError,
     "ReverseSequence: lengths have size 2 along 'lat', expected 3"),
    (lambda r: r.reverse_sequence("time", xr.DataArray([[1]], dims=("lat", "lon"))), ValueError,
     "ReverseSequence: lengths have dimensions ('lat', 'lon'), expected one"),
    (lambda r: r.reverse_sequence("time", xr.DataArray([1, 2], {"lat": [-30.0, 0.0]}, "lat")), ValueError,
     "ReverseSequence: lengths have no entry for lat="),
    (lambda r: r.reverse_sequence("time", xr.DataArray([1, 2], {"lat": [0.0, 0.0]}, "lat")), ValueError,
     "ReverseSequence: lengths have several entries for lat="),
    (lambda r: r.reverse_subsequences("time", xr.DataArray([1] * 5, dims="time")), ValueError,
     "ReverseSubsequences: lengths have the dimension 'time', which is reversed"),
    (lambda r: r.reverse_subsequences("time", xr.DataArray([1] * 5, dims="z")), ValueError,
     "ReverseSubsequences: a dimension of lengths is 'z', expected one of ("),
    (lambda r: r.reverse_segments("z", [0, 1]), ValueError, "ReverseSegments: dim is 'z', expected one of ("),
    (lambda r: r.reverse_segments("time", [0, 9]), ValueError, "ReverseSegments: offsets[1] is 9, outside [0, 5]"),
]  # fmt: skip


@pytest.mark.parametrize("chunks", [None, 2])
@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_errors(call, kind, text, chunks):
    x = sample() if chunks is None else sample().chunk(chunks)
    for reversals in (x.retrograde, x.t.retrograde):
        with pytest.raises(kind) as caught:
            call(reversals)
        assert str(caught.value).startswith(text)


def test_cubed(tmp_path):
    cubed = pytest.importorskip("cubed", reason="cubed is not installed")
    pytest.importorskip("cubed_xarray", reason="cubed-xarray is not installed")
    x = sample()[["t"]].drop_vars("station")
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="100MB")
    lazy = x.chunk({"lat": 2, "lon": 3, "time": 2}, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    lengths = xr.DataArray([5, 0, 3, 2], dims="lon")
    for call in (
        lambda r: r.flip("lat"),
        lambda r: r.reverse(["lon", "time"]),
        lambda r: r.reverse_sequence("time", lengths, align="end", tail="zero"),
        lambda r: r.reverse_subsequences("time", lengths),
        lambda r: r.reverse_segments("time", [0, 3, 5]),
    ):
        y = call(lazy.retrograde)
        assert isinstance(y.t.data, cubed.Array)
        assert_identical(y.compute(), call(x.retrograde))
    with pytest.raises(ValueError, match=r"ReverseSegments: offsets\[1\] is 9, outside \[0, 5\]"):
        lazy.retrograde.reverse_segments("time", [0, 9])
