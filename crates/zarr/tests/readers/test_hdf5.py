"""Files and datasets that h5py, netCDF4 and xarray write, reversed to Zarr and .npy."""

import re
import shlex

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr
from conftest import ROOT, run
from test_readers import same, values

STORAGE = {
    "contiguous": {},
    "chunks": {"chunks": (3, 4, 2)},
    "gzip": {"chunks": (3, 4, 2), "compression": "gzip"},
    "gzip+shuffle": {"chunks": (3, 4, 2), "compression": "gzip", "shuffle": True},
    "fletcher32": {"chunks": (3, 4, 2), "fletcher32": True, "compression": "gzip"},
    "lzf": {"chunks": (3, 4, 2), "compression": "lzf"},
}


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<i2", ">u8", "f2", "bool", "i1"])
@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("libver", ["earliest", ("v110", "v110")], ids=str)
def test_datasets(folder, libver, storage, dtype):
    data = values((10, 9, 5), dtype)
    with h5py.File("in.h5", "w", libver=libver) as file:
        dataset = file.create_dataset("deep/x", data=data, **STORAGE[storage])
        dataset.attrs["units"] = "K"
        dataset.attrs["numbers"] = [1, 2, 3]
    run("reverse", "in.h5:deep/x", "--axes", "0,2", "-o", "out.npy")
    expected = np.flip(data, (0, 2))
    out = np.load("out.npy")
    assert out.dtype == data.dtype and same(out, expected)
    run("reverse", "in.h5:deep/x", "--axes", "0,2", "-o", "out.zarr")
    out = zarr.open_array("out.zarr", mode="r")
    assert same(out[...].astype(data.dtype), expected)
    assert dict(out.attrs) == {"units": "K", "numbers": [1, 2, 3]}


def test_missing_chunks_have_the_fill_value(folder):
    with h5py.File("in.h5", "w") as file:
        dataset = file.create_dataset("x", shape=(10, 8), chunks=(4, 4), dtype="f4", fillvalue=2.5)
        dataset[0:4, 0:4] = 1
        expected = dataset[...][::-1, ::-1]
    for output in ["out.npy", "out.zarr"]:
        run("reverse", "in.h5:x", "-o", output)
    assert same(np.load("out.npy"), expected)
    assert same(zarr.open_array("out.zarr", mode="r")[...], expected)


def test_netcdf(folder):
    data = values((4, 6, 8), "f4")
    with netCDF4.Dataset("in.nc", "w") as file:
        for name, size in [("time", None), ("lat", 6), ("lon", 8)]:
            file.createDimension(name, size)
        file.createVariable("lat", "f8", ("lat",))[:] = np.arange(6)
        variable = file.createVariable("temperature", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(1, 4, 4))
        variable.units = "K"
        variable[:] = data
    run("reverse", "in.nc:temperature", "--axes", "lat", "-o", "out.zarr")
    out = zarr.open_array("out.zarr", mode="r")
    assert same(out[...], data[:, ::-1])
    assert out.metadata.dimension_names == ("time", "lat", "lon")
    assert out.attrs["units"] == "K"
    assert "temperature: f32 [4, 6, 8]" in run("info", "in.nc")


def weather(name, lat=6, lon=8):
    """A file as climate data has them: packed values with a mask, coordinates, a scalar, a variable without latitude."""
    t2m = np.random.default_rng(0).normal(280, 20, (4, lat, lon)).astype("f4")
    t2m[0, 0, 0] = np.nan
    packed = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768, "zlib": True}
    grid = xr.Dataset(
        {
            "t2m": (("time", "lat", "lon"), t2m, {"units": "K", "long_name": "temperature"}),
            "wind": (("time", "lat", "lon"), t2m / 7, {"cell_methods": "time: mean"}),
            "co2": (("time",), np.arange(4.0)),
            # A dimension without a variable.
            "profile": (("time", "level"), np.arange(12).reshape(4, 3)),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
        },
        {
            "time": np.arange("2020-01-01", "2020-01-05", dtype="datetime64[D]").astype("datetime64[ns]"),
            "lat": ("lat", np.linspace(-75, 75, lat), {"units": "degrees_north"}),
            "lon": ("lon", np.arange(float(lon))),
            "name": (("lat", "lon"), np.arange(lat * lon).reshape(lat, lon)),
        },
        {"title": "a test", "Conventions": "CF-1.8"},
    )
    grid.to_netcdf(name, encoding={"t2m": packed, "wind": {"chunksizes": (2, 4, 3)}})
    return xr.open_dataset(name)


@pytest.mark.parametrize("axes", ["lat", "lat,lon"])
def test_a_whole_file_becomes_a_store_that_xarray_opens(folder, axes):
    with weather("weather.nc") as before:
        expected = before.isel({name: slice(None, None, -1) for name in axes.split(",")}).load()
    plan = run("reverse", "weather.nc", "--axes", axes)
    assert len(plan.splitlines()) == 9 and "weather.nc:lat: float64 [6]" in plan
    run("reverse", "weather.nc", "--axes", axes, "-o", "weather.zarr")
    with xr.open_zarr("weather.zarr") as after:
        # Values, coordinates with them, what is missing, names, and attributes.
        xr.testing.assert_identical(after.load(), expected)
        assert np.isnan(after.t2m[0, -1, -1 if "lon" in axes else 0])
    assert zarr.open_array("weather.zarr/t2m", mode="r").dtype == np.int16
    # As a store, it can be reversed again, and is what it was.
    run("reverse", "weather.zarr", "--axes", axes, "-o", "back.zarr")
    with xr.open_zarr("back.zarr") as back, xr.open_dataset("weather.nc") as before:
        xr.testing.assert_identical(back.load(), before.load())


def test_axes_of_the_same_size(folder):
    """Files number their dimensions. If one does not, an error says what to do."""
    with weather("square.nc", lat=6, lon=6) as before:
        expected = before.isel(lat=slice(None, None, -1)).load()
    run("reverse", "square.nc", "--axes", "lat", "-o", "square.zarr")
    with xr.open_zarr("square.zarr") as after:
        xr.testing.assert_identical(after.load(), expected)
    with h5py.File("square.nc", "a") as file:
        for name in file:
            file[name].attrs.pop("_Netcdf4Coordinates", None)
    said = run("reverse", "square.nc", "--axes", "lat", "-o", "none.zarr", code=1)
    assert "axis 0 has the size 6 of several dimensions" in said and "FILE:NAME --axes 0" in said
    run("reverse", "square.nc:name", "--axes", "0", "-o", "name.zarr")
    assert same(zarr.open_array("name.zarr", mode="r")[...], expected["name"].values)


def test_a_whole_file_of_hdf5_with_groups(folder):
    data = values((5, 3), "f4")
    with h5py.File("in.h5", "w") as file:
        file.attrs["title"] = "a test"
        file["x"] = data
        group = file.create_group("deep/er")
        group.attrs["level"] = 2
        group["y"] = data[:, 0]
    run("reverse", "in.h5", "--axes", "0", "-o", "out.zarr")
    out = zarr.open_group("out.zarr", mode="r")
    assert same(out["x"][...], data[::-1]) and same(out["deep/er/y"][...], data[::-1, 0])
    assert dict(out.attrs) == {"title": "a test"} and dict(out["deep/er"].attrs) == {"level": 2}
    assert out["x"].metadata.dimension_names == ("phony_dim_0", "phony_dim_1")
    assert out["deep/er/y"].metadata.dimension_names == ("phony_dim_0",)
    said = run("reverse", "in.h5", "--axes", "0", "-o", "out.npy", code=1)
    assert "an .npy file holds one array: FILE:deep/er/y" in said
    said = run("reverse-sequence", "in.h5", "--lengths", "1,2", "-o", "none.zarr", code=1)
    assert "has 2 arrays; name the one to reverse: STORE:PATH or FILE:DATASET" in said
    assert not (folder / "none.zarr").exists() and not (folder / "out.npy").exists()


@pytest.mark.parametrize("name", ["out.nc", "out.h5", "OUT.NC4", "out.hdf5"])
@pytest.mark.parametrize("source", ["weather.nc:t2m", "weather.nc", "absent.nc"])
def test_files_that_are_not_written(folder, source, name):
    """Refused before anything is read, and nothing is left."""
    weather("weather.nc").close()
    said = run("reverse", source, "--axes", "lat", "-o", name, code=1)
    assert said.startswith(f"error: -o {name}: NetCDF and HDF5 files are read and not written; name a Zarr store")
    assert "xarray.open_zarr" in said
    assert [path.name for path in folder.iterdir()] == ["weather.nc"]


def test_the_quickstart(folder):
    """The lines of docs/quickstart.md on such a file."""
    page = (ROOT / "docs/quickstart.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh zarr\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    with weather("weather.nc") as before:
        before.load()
    lines = block.splitlines()
    assert len(lines) == 2
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "retrograde"
        run(*arguments)
    with xr.open_zarr("south-up.zarr") as south_up:
        xr.testing.assert_identical(south_up.load(), before)


def test_bad_files(folder):
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("x", data=values((64, 64), "f4"), chunks=(16, 16), compression="gzip")
        file.create_dataset("text", data=["a", "b"])
    assert "expected integers, floats or booleans" in run("reverse", "in.h5:text", "-o", "out.zarr", code=1)
    run("reverse", "in.h5:none", "-o", "out.zarr", code=1)
    whole = (folder / "in.h5").read_bytes()
    (folder / "cut.h5").write_bytes(whole[: len(whole) // 2])
    run("reverse", "cut.h5:x", "-o", "out.npy", code=1)
    assert sorted(path.name for path in folder.iterdir()) == ["cut.h5", "in.h5"]
