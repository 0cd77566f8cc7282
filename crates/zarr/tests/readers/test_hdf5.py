"""Datasets that h5py and netCDF4 write, reversed to Zarr and .npy."""

import h5py
import netCDF4
import numpy as np
import pytest
import zarr
from conftest import run
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
    assert "name a dataset" in run("reverse", "in.nc", "-o", "none.zarr", code=1)
    assert not (folder / "none.zarr").exists()


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
