"""Stores that zarr-python writes, reversed by the command, and read back by zarr-python, tensorstore and xarray."""

import itertools
import json
import zlib

import numpy as np
import pytest
import tensorstore
import xarray
import zarr
from conftest import run, tree
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

CODECS_3 = {
    "plain": {"compressors": None},
    "zstd": {"compressors": ZstdCodec(level=1)},
    "gzip+crc32c": {"compressors": [GzipCodec(level=1), Crc32cCodec()]},
    "blosc": {"compressors": BloscCodec(cname="lz4", shuffle="shuffle")},
    "blosc-zstd": {"compressors": BloscCodec(cname="zstd", shuffle="bitshuffle")},
    "crc32c": {"compressors": Crc32cCodec()},
}
CODECS_2 = {
    "plain": None,
    "zlib": {"id": "zlib", "level": 1},
    "gzip": {"id": "gzip", "level": 1},
    "zstd": {"id": "zstd", "level": 1},
    "blosc": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
}
GRIDS = [((12, 10, 6), (4, 5, 3)), ((13, 9, 5), (4, 4, 2)), ((5, 7, 3), (1, 4, 8)), ((1, 3, 9), (2, 1, 4))]
MASKS = list(itertools.product([False, True], repeat=3))


def mask_for(*case):
    """One of the masks that reverse something, another one for each case."""
    return MASKS[zlib.crc32(repr(case).encode()) % 7 + 1]


def values(shape, dtype):
    dtype = np.dtype(dtype)
    raw = np.random.default_rng(len(shape)).integers(0, 256, int(np.prod(shape)) * dtype.itemsize, dtype="u1")
    return (raw % 2).astype(dtype).reshape(shape) if dtype == bool else raw.view(dtype).reshape(shape)


def same(left, right):
    """Equal bits, so that each NaN counts."""
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    return left.shape == right.shape and left.dtype == right.dtype and left.tobytes() == right.tobytes()


def flip(array, mask):
    return np.flip(array, [axis for axis, flipped in enumerate(mask) if flipped])


def by_tensorstore(path, version):
    driver = "zarr3" if version == 3 else "zarr"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path)}}
    return tensorstore.open(spec).result().read().result()


def check(data, version, mask):
    listed = ",".join("1" if flipped else "0" for flipped in mask)
    run("reverse", "in.zarr", "--mask", listed, "-o", "out.zarr")
    out = zarr.open_array("out.zarr", mode="r")
    assert same(out[...], flip(data, mask))
    # It returns the byte order of the machine.
    assert same(by_tensorstore("out.zarr", version).astype(data.dtype), flip(data, mask))
    source = zarr.open_array("in.zarr", mode="r")
    assert dict(out.attrs) == dict(source.attrs)
    run("reverse", "out.zarr", "--mask", listed, "-o", "back.zarr")
    assert same(zarr.open_array("back.zarr", mode="r")[...], data)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("codec", CODECS_3)
def test_version_3(folder, codec, grid):
    shape, chunk = grid
    data = values(shape, "f4")
    array = zarr.create_array("in.zarr", shape=shape, chunks=chunk, dtype="f4", zarr_format=3, attributes={"units": "K", "deep": {"list": [1, 2.5]}}, **CODECS_3[codec])
    array[...] = data
    check(data, 3, mask_for(codec, shape))


@pytest.mark.parametrize("codec", CODECS_3)
def test_shards(folder, codec):
    shape = (25, 18, 10)
    data = values(shape, "i2")
    array = zarr.create_array("in.zarr", shape=shape, chunks=(2, 3, 5), shards=(8, 6, 5), dtype="i2", zarr_format=3, **CODECS_3[codec])
    array[...] = data
    check(data, 3, (True, False, True))


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("codec", CODECS_2)
def test_version_2(folder, codec, order, grid):
    shape, chunk = grid
    data = values(shape, ">i4" if codec == "zlib" else "<u2")
    array = zarr.create_array("in.zarr", shape=shape, chunks=chunk, dtype=data.dtype, zarr_format=2, order=order, compressors=CODECS_2[codec], fill_value=7)
    array[...] = data
    array.attrs["title"] = "kept"
    check(data, 2, mask_for(codec, order, shape))


@pytest.mark.parametrize("separator", "./")
def test_version_2_separators(folder, separator):
    data = values((7, 8), "f8")
    array = zarr.create_array("in.zarr", shape=data.shape, chunks=(2, 3), dtype="f8", zarr_format=2, compressors=None, chunk_key_encoding={"name": "v2", "separator": separator})
    array[...] = data
    check(data, 2, (True, True))


@pytest.mark.parametrize("dtype", ["bool", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "c8", "c16"])
@pytest.mark.parametrize("codec", ["plain", "zstd"])
def test_types(folder, dtype, codec):
    data = values((9, 7), dtype)
    array = zarr.create_array("in.zarr", shape=data.shape, chunks=(4, 3), dtype=dtype, zarr_format=3, **CODECS_3[codec])
    array[...] = data
    run("reverse", "in.zarr", "-o", "out.zarr")
    assert same(zarr.open_array("out.zarr", mode="r")[...], data[::-1, ::-1])
    run("reverse", "in.zarr", "--axes", "0", "-o", "out.npy")
    assert same(np.load("out.npy"), data[::-1])


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("fill", [0, 3.5, float("nan"), float("-inf")])
def test_fill_values_and_missing_chunks(folder, fill, version):
    array = zarr.create_array("in.zarr", shape=(10, 9), chunks=(4, 3), dtype="f4", zarr_format=version, fill_value=fill)
    array[0:4, 0:3] = 1
    array[8:10, 6:9] = 2
    data = array[...]
    run("reverse", "in.zarr", "-o", "out.zarr")
    assert same(zarr.open_array("out.zarr", mode="r")[...], data[::-1, ::-1])
    # Columns are even: chunks without a source stay missing. Rows are ragged: one source in two.
    kept = [name for name in tree("out.zarr") if not name.endswith((".json", ".zarray", ".zattrs"))]
    assert len(kept) == 3, kept


def test_scalars_and_empty_arrays(folder):
    group = zarr.create_group("in.zarr", zarr_format=3)
    group.create_array("scalar", shape=(), dtype="i4")[...] = 42
    group.create_array("empty", shape=(0, 4), chunks=(1, 2), dtype="i4")
    group.create_array("line", shape=(5,), chunks=(2,), dtype="i4")[...] = np.arange(5)
    run("reverse", "in.zarr", "--axes", "0", "-o", "out.zarr")
    out = zarr.open_group("out.zarr", mode="r")
    assert out["scalar"][()] == 42 and out["empty"].shape == (0, 4)
    assert out["line"][...].tolist() == [4, 3, 2, 1, 0]


def test_strings_move_by_whole_chunks_only(folder):
    array = zarr.create_array("in.zarr", shape=(4,), chunks=(1,), dtype="str", zarr_format=3)
    array[...] = np.array(["a", "bc", "", "ü"], dtype=object)
    run("reverse", "in.zarr", "-o", "out.zarr")
    assert list(zarr.open_array("out.zarr", mode="r")[...]) == ["ü", "", "bc", "a"]
    array = zarr.create_array("two.zarr", shape=(4,), chunks=(2,), dtype="str", zarr_format=3)
    array[...] = np.array(["a", "bc", "", "ü"], dtype=object)
    assert "one element per chunk" in run("reverse", "two.zarr", "-o", "none.zarr", code=1)
    assert not (folder / "none.zarr").exists()


@pytest.mark.parametrize("version", [2, 3])
def test_datasets_of_xarray(folder, version):
    data = xarray.Dataset(
        {"t": (("time", "lat", "lon"), values((3, 6, 8), "f4")), "station": ((), 7)},
        coords={"lat": np.linspace(50, 40, 6), "lon": np.arange(8.0), "time": np.arange(3)},
        attrs={"title": "weather"},
    )
    data.t.attrs["units"] = "K"
    encoding = {"t": {"chunks": (1, 4, 3)}}
    data.to_zarr("in.zarr", zarr_format=version, consolidated=True, encoding=encoding)
    run("reverse", "in.zarr", "--axes", "lat", "-o", "out.zarr")
    out = xarray.open_zarr("out.zarr", consolidated=True).load()
    xarray.testing.assert_identical(out, data.isel(lat=slice(None, None, -1)))
    run("reverse", "in.zarr:t", "--axes", "lon,0", "-o", "one.zarr")
    assert same(zarr.open_array("one.zarr", mode="r")[...], data.t.values[::-1, :, ::-1])
    error = run("reverse", "in.zarr", "--axes", "level", "-o", "none.zarr", code=1)
    assert 'axes[0] is "level", expected one of lat, lon, time' in error


@pytest.mark.parametrize("version", [2, 3])
def test_groups_and_other_files(folder, version):
    group = zarr.create_group("in.zarr", zarr_format=version, attributes={"a": 1})
    deep = group.create_group("x").create_group("y", attributes={"b": [2]})
    deep.create_array("z", shape=(5, 4), chunks=(2, 2), dtype="i4")[...] = np.arange(20).reshape(5, 4)
    (folder / "in.zarr/README.md").write_text("a note")
    run("reverse", "in.zarr", "--axes", "1", "-o", "out.zarr")
    out = zarr.open_group("out.zarr", mode="r")
    assert dict(out.attrs) == {"a": 1} and dict(out["x/y"].attrs) == {"b": [2]}
    assert (out["x/y/z"][...] == np.arange(20).reshape(5, 4)[:, ::-1]).all()
    assert (folder / "out.zarr/README.md").read_text() == "a note"
    run("reverse", "in.zarr:x/y", "--axes", "1", "-o", "part.zarr")
    assert (zarr.open_group("part.zarr", mode="r")["z"][...] == out["x/y/z"][...]).all()


def damaged(name, how):
    """Damages a chunk of a new store; returns its bytes."""
    data = np.arange(64, dtype="f4").reshape(8, 8)
    array = zarr.create_array("in.zarr", shape=(8, 8), chunks=(4, 4), dtype="f4", zarr_format=3, **CODECS_3[name])
    array[...] = data
    path = "in.zarr/c/1/0"
    with open(path, "rb") as file:
        content = bytearray(file.read())
    how(content)
    with open(path, "wb") as file:
        file.write(content)


@pytest.mark.parametrize("codec", CODECS_3)
def test_truncated_chunks(folder, codec):
    damaged(codec, lambda content: content.__delitem__(slice(len(content) // 2, None)))
    error = run("reverse", "in.zarr", "-o", "out.zarr", code=1)
    assert "in.zarr/c/1/0: chunk [1, 0]" in error
    assert sorted(path.name for path in folder.iterdir()) == ["in.zarr"]


@pytest.mark.parametrize("codec", ["crc32c", "gzip+crc32c"])
def test_checksums(folder, codec):
    damaged(codec, lambda content: content.__setitem__(9, content[9] ^ 1))
    error = run("reverse", "in.zarr", "-o", "out.zarr", code=1)
    assert "in.zarr/c/1/0: chunk [1, 0]" in error and "checksum" in error.lower()
    assert sorted(path.name for path in folder.iterdir()) == ["in.zarr"]


def test_bad_metadata(folder):
    zarr.create_array("in.zarr", shape=(8, 8), chunks=(4, 4), dtype="f4")
    good = json.loads((folder / "in.zarr/zarr.json").read_text())
    for key, value in [("codecs", []), ("codecs", [{"name": "zip"}]), ("data_type", "float33"), ("shape", "x"), ("fill_value", {}), ("chunk_grid", {"name": "regular"}), ("shape", [8]), ("zarr_format", 4)]:
        (folder / "in.zarr/zarr.json").write_text(json.dumps(good | {key: value}))
        error = run("reverse", "in.zarr", "-o", "out.zarr", code=1)
        assert "in.zarr/zarr.json" in error, error
    assert sorted(path.name for path in folder.iterdir()) == ["in.zarr"]


def test_existing_outputs(folder):
    array = zarr.create_array("in.zarr", shape=(4,), chunks=(2,), dtype="i4")
    array[...] = [1, 2, 3, 4]
    run("reverse", "in.zarr", "-o", "out.zarr")
    before = tree("out.zarr")
    assert "exists already" in run("reverse", "in.zarr", "--axes", "", "-o", "out.zarr", code=1)
    assert tree("out.zarr") == before
    run("reverse", "in.zarr", "--axes", "", "-o", "out.zarr", "--force")
    assert zarr.open_array("out.zarr", mode="r")[...].tolist() == [1, 2, 3, 4]
    assert sorted(path.name for path in folder.iterdir()) == ["in.zarr", "out.zarr"]


def test_the_plan_is_printed_without_an_output(folder):
    zarr.create_array("in.zarr", shape=(10, 8), chunks=(4, 1), dtype="f4")
    assert "at most 2 input chunks" in run("reverse", "in.zarr", "--axes", "0")
    assert "chunks are renamed" in run("reverse", "in.zarr", "--axes", "1")
    assert "float32 [10, 8] in 24 chunks of [4, 1]" in run("info", "in.zarr")
