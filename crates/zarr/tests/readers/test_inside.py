"""Outputs inside a store: groups around them are made, and consolidated metadata learns of them."""

import json

import numpy as np
import pytest
import xarray
import zarr
from conftest import run, start, tree
from test_readers import same, values


def array(path, version=3):
    data = values((9, 8), "f4")
    zarr.create_array(path, shape=data.shape, chunks=(4, 3), dtype="f4", zarr_format=version)[...] = data
    return data


@pytest.mark.parametrize("version", [2, 3])
def test_a_new_store(folder, version):
    data = array("in.zarr", version)
    run("reverse", "in.zarr", "--axes", "0", "-o", "out.zarr:deep/er/x")
    out = zarr.open_group("out.zarr", mode="r")
    assert same(out["deep/er/x"][...], data[::-1]) and out.metadata.zarr_format == version
    assert sorted(path.name for path in folder.iterdir()) == ["in.zarr", "out.zarr"]
    run("reverse", "in.zarr", "--axes", "1", "-o", "out.zarr:deep/y")
    assert sorted(zarr.open_group("out.zarr", mode="r")["deep"].keys()) == ["er", "y"]
    before = tree("out.zarr")
    assert "exists already" in run("reverse", "in.zarr", "-o", "out.zarr:deep/y", code=1)
    assert "is an array" in run("reverse", "in.zarr", "-o", "out.zarr:deep/y/z", code=1)
    assert tree("out.zarr") == before
    run("reverse", "in.zarr", "-o", "out.zarr:deep/y", "--force")
    assert same(zarr.open_group("out.zarr", mode="r")["deep/y"][...], data[::-1, ::-1])
    # From one array of a store to another.
    run("reverse", "out.zarr:deep/y", "-o", "out.zarr:z")
    assert same(zarr.open_group("out.zarr", mode="r")["z"][...], data)
    assert "may not be the input" in run("reverse", "out.zarr:deep", "-o", "out.zarr:deep/w", code=1)
    array("other.zarr", 5 - version)
    assert "is a group of version" in run("reverse", "other.zarr", "-o", "out.zarr:other", code=1)
    assert "other" not in zarr.open_group("out.zarr", mode="r")


@pytest.mark.parametrize("version", [2, 3])
def test_consolidated_metadata(folder, version):
    data = xarray.Dataset({"t": (("time", "lat"), values((5, 6), "f4"))}, coords={"lat": np.linspace(50, 40, 6)})
    data.to_zarr("store.zarr", zarr_format=version, consolidated=True)
    run("reverse", "store.zarr:t", "--axes", "lat", "-o", "store.zarr:flipped")
    out = xarray.open_zarr("store.zarr", consolidated=True).load()
    assert sorted(out) == ["flipped", "t"]
    assert same(out.flipped.values, data.t.values[:, ::-1]) and same(out.t.values, data.t.values)
    # A group with arrays, and deeper.
    run("reverse", "store.zarr", "--axes", "lat", "-o", "all.zarr")
    data.to_zarr("base.zarr", zarr_format=version, consolidated=True)
    run("reverse", "all.zarr", "--axes", "lat", "-o", "base.zarr:a/b")
    inner = xarray.open_zarr("base.zarr", group="a/b", consolidated=False).load()
    assert sorted(inner) == ["flipped", "t"]
    group = zarr.open_consolidated("base.zarr", zarr_format=version)
    assert sorted(name for name, _ in group["a/b"].arrays()) == ["flipped", "lat", "t"]
    assert same(group["a/b/t"][...], data.t.values)


def test_an_output_killed_on_the_way(folder):
    data = array("in.zarr")
    zarr.create_group("out.zarr")
    for _ in range(5):
        process = start("reverse", "in.zarr", "-o", "out.zarr:x")
        process.kill()
        process.communicate()
        if not (folder / ".out.zarr.x.retrograde").exists():
            continue
        assert "x" not in zarr.open_group("out.zarr", mode="r") or same(zarr.open_group("out.zarr", mode="r")["x"][...], data[::-1, ::-1])
    process = start("reverse", "in.zarr", "-o", "out.zarr:x")
    _, err = process.communicate()
    assert process.returncode == 0 or "exists already" in err
    assert same(zarr.open_group("out.zarr", mode="r")["x"][...], data[::-1, ::-1])
    assert sorted(path.name for path in folder.iterdir()) == ["in.zarr", "out.zarr"]
    assert json.loads((folder / "out.zarr/zarr.json").read_text())["node_type"] == "group"
