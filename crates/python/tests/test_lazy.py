"""The main functions on arrays of Dask and objects of xarray, and on arrays that are read from files."""

import sys
import types

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import retrograde

VALUES = np.arange(24).reshape(4, 6)
CALLS = {
    "reverse": lambda x: retrograde.reverse(x, axes=1),
    "mask": lambda x: retrograde.reverse(x, mask=[True, False]),
    "sequence": lambda x: retrograde.reverse_sequence(x, [4, 2, 6, 0], time_axis=1, batch_axis=0),
    "segments": lambda x: retrograde.reverse_segments(x, [0, 1, 6], axis=1),
    "flip": lambda x: retrograde.flip(x, 1),
    "flip all": retrograde.flip,
    "fliplr": retrograde.fliplr,
    "flipud": retrograde.flipud,
    "rot90": retrograde.rot90,
    "rot270": lambda x: retrograde.rot90(x, 3, (1, 0)),
}


@pytest.fixture
def never_computed():
    """Fails if Dask computes anything."""

    def computed(*_, **__):
        raise AssertionError("computed")

    with dask.config.set(scheduler=computed):
        yield


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_dask_arrays_stay_lazy(call, never_computed):
    result = call(da.from_array(VALUES, chunks=(2, 3)))
    assert isinstance(result, da.Array)
    with dask.config.set(scheduler="synchronous"):
        assert np.array_equal(result.compute(), call(VALUES))


def test_lengths_for_each_lane_stay_lazy(never_computed):
    result = retrograde.reverse_subsequences(da.from_array(VALUES, chunks=3), [6, 2, 9, 0], axis=1)
    with dask.config.set(scheduler="synchronous"):
        assert np.array_equal(result.compute(), retrograde.reverse_subsequences(VALUES, [6, 2, 9, 0], axis=1))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("lazy", [False, True])
def test_labels_stay(call, lazy):
    values = da.from_array(VALUES, chunks=3) if lazy else VALUES
    result = call(xr.DataArray(values, {"lat": [10, 20, 30, 40]}, ("lat", "lon"), "t", {"units": "K"}))
    assert isinstance(result, xr.DataArray) and result.name == "t" and result.attrs == {"units": "K"}
    assert np.array_equal(result.values, call(VALUES))
    assert isinstance(result.data, da.Array) == lazy


def test_numpys_functions_move_coordinates_and_the_operators_do_not():
    x = xr.DataArray(VALUES, {"lat": [10, 20, 30, 40]}, ("lat", "lon"))
    assert retrograde.flip(x, 0).lat.values.tolist() == [40, 30, 20, 10]
    assert retrograde.reverse(x, 0).lat.values.tolist() == [10, 20, 30, 40]
    turned = retrograde.rot90(x)
    assert turned.dims == ("lon", "lat") and turned.lat.values.tolist() == [10, 20, 30, 40]
    assert retrograde.rot90(x, axes=("lon", "lat")).lat.values.tolist() == [40, 30, 20, 10]


def test_dimensions_have_names_too():
    x = xr.DataArray(VALUES, dims=("batch", "time"))
    named = retrograde.reverse_sequence(x, [4, 2, 6, 0], time_axis="time", batch_axis="batch")
    assert np.array_equal(named.values, CALLS["sequence"](VALUES))
    assert np.array_equal(retrograde.flip(x, "time").values, VALUES[:, ::-1])
    both = xr.Dataset({"a": x, "b": ("time", np.arange(6))})
    flipped = retrograde.flip(both, "time")
    assert flipped.b.values.tolist() == [5, 4, 3, 2, 1, 0]
    assert np.array_equal(retrograde.reverse(both, ["time"]).a.values, VALUES[:, ::-1])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: retrograde.flip(x.to_dataset(name="t"), 0), ValueError, "dims is 0, expected one of"),
        (lambda x: retrograde.reverse(x.to_dataset(name="t"), 0), TypeError, "a Dataset has no order"),
        (lambda x: retrograde.rot90(x.to_dataset(name="t")), TypeError, "whose dimensions have no order"),
        (lambda x: retrograde.reverse(x, 2), ValueError, r"axes\[0\] is 2, outside \[-2, 1\]"),
        (lambda x: retrograde.reverse(x, "time"), ValueError, r"axes\[0\] is 'time', expected one of \('lat', 'lon'\)"),
        (lambda x: retrograde.reverse(x, 0, out=x), TypeError, "out is not supported"),
        (lambda x: retrograde.reverse(da.ones(3), 0, out=np.ones(3)), TypeError, "Dask arrays are computed later"),
    ],
)
def test_what_cannot_be_done_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call(xr.DataArray(VALUES, dims=("lat", "lon")))


@pytest.mark.parametrize(("module", "name"), [("zarr", "Array"), ("h5py", "Dataset"), ("netCDF4", "Variable")])
def test_arrays_in_files_are_refused(module, name, monkeypatch):
    """With a class of that name: none of these packages is installed for the everyday tests."""

    def read(*_, **__):
        raise AssertionError("read")

    kind = type(name, (), {"__array__": read, "shape": (2, 3), "ndim": 2})
    library = types.ModuleType(module)
    setattr(library, name, kind)
    monkeypatch.setitem(sys.modules, module, library)
    for call in (*CALLS.values(), lambda x: retrograde.explain(retrograde.reverse, x)):
        with pytest.raises(TypeError, match=rf"x is a {module}.{name}, which is not in memory: pass x\[...\]"):
            call(kind())


def test_a_picture_does_not_compute_anything(never_computed):
    with pytest.raises(TypeError, match=r"x is a dask.array.Array, which is not in memory: pass x.compute\(\)"):
        retrograde.explain(retrograde.reverse, da.ones(3))
