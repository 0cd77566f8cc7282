"""Padded batches in stores: each sequence is reversed by its own length, and only the chunks that it needs are read."""

import itertools

import h5py
import numpy as np
import pytest
import zarr
from conftest import run, tree
from test_interruptions import large, peak
from test_readers import CODECS_2, CODECS_3, same, values


def expected(x, lengths, time, batch, align="start", tail="keep"):
    """The definition, sequence by sequence."""
    y = np.moveaxis(x.copy(), (batch, time), (0, 1))
    for row, length in zip(y, lengths):
        size = row.shape[0]
        part = slice(size - length, size) if align == "end" else slice(0, length)
        kept = row[part][::-1].copy()
        if tail == "zero":
            row[...] = 0
        row[part] = kept
    return np.moveaxis(y, (0, 1), (batch, time))


def lengths_for(size, count, seed=0):
    lengths = np.random.default_rng(seed).integers(0, size + 1, count)
    lengths[:2] = [0, size]
    return lengths


def sequence(lengths, *words, **options):
    return run("reverse-sequence", "in.zarr", "--lengths", ",".join(map(str, lengths)), *words, **options)


AXES = [(0, 1), (1, 0), (-1, 0), (0, -1), (2, 1)]


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("padding", list(itertools.product(["start", "end"], ["keep", "zero"])), ids=str)
@pytest.mark.parametrize("codec", ["plain", "zstd", "shards", "version 2"])
def test_against_the_definition(folder, codec, padding, axes):
    shape, chunks = (13, 9, 11), (4, 4, 3)
    data = values(shape, "f4")
    if codec == "version 2":
        zarr.create_array("in.zarr", shape=shape, chunks=chunks, dtype="f4", zarr_format=2, compressors=CODECS_2["blosc"], fill_value=3)[...] = data
    else:
        options = {"shards": (8, 8, 6), **CODECS_3["zstd"]} if codec == "shards" else CODECS_3[codec]
        zarr.create_array("in.zarr", shape=shape, chunks=chunks, dtype="f4", **options)[...] = data
    (time, batch), (align, tail) = axes, padding
    lengths = lengths_for(shape[time], shape[batch])
    words = ["--time-axis", time, "--batch-axis", batch, "--align", align, "--tail", tail]
    sequence(lengths, *words, "-o", "out.zarr")
    result = expected(data, lengths, time % 3, batch % 3, align, tail)
    assert same(zarr.open_array("out.zarr", mode="r")[...], result)
    sequence(lengths, *words, "-o", "out.npy")
    assert same(np.load("out.npy"), result)
    if tail == "keep":
        (folder / "in.zarr").rename("first.zarr")
        (folder / "out.zarr").rename("in.zarr")
        sequence(lengths, *words, "-o", "out.zarr")
        assert tree("out.zarr") == tree("first.zarr") or codec == "shards"


def test_where_lengths_come_from(folder):
    data = values((5, 7), "i2")
    zarr.create_array("in.zarr", shape=(5, 7), chunks=(2, 3), dtype="i2")[...] = data
    lengths = np.array([7, 0, 3, 5, 1])
    result = expected(data, lengths, 1, 0)
    np.save("lengths.npy", lengths.astype(">u2"))
    (folder / "lengths.txt").write_text("7 0 3 5 1")
    (folder / "lengths.csv").write_text("7,0,3,5,1\n")
    np.savez("lengths.npz", a=lengths)
    group = zarr.create_group("lengths.zarr")
    for name, dtype, options in [("a", "i8", CODECS_3["zstd"]), ("b", "u1", CODECS_3["plain"]), ("c", ">i4", CODECS_3["plain"])]:
        group.create_array(name, shape=(5,), chunks=(2,), dtype=dtype, **options)[...] = lengths
    # A missing chunk has the fill value.
    group.create_array("d", shape=(5,), chunks=(1,), dtype="i4", fill_value=3)[...] = lengths
    with h5py.File("lengths.h5", "w") as file:
        file.create_dataset("deep/l", data=lengths.astype("i4"), chunks=(2,), compression="gzip")
    sources = ["7,0,3,5,1", " 7, 0,3,5,1", "lengths.npy", "lengths.txt", "lengths.csv", "lengths.npz:a", *(f"lengths.zarr:{name}" for name in "abcd"), "lengths.h5:deep/l"]
    for number, source in enumerate(sources):
        run("reverse-sequence", "in.zarr", "--time-axis", 1, "--batch-axis", 0, "--lengths", source, "-o", f"{number}.zarr")
        assert same(zarr.open_array(f"{number}.zarr", mode="r")[...], result), source


def test_errors(folder):
    data = values((5, 7), "i2")
    group = zarr.create_group("group.zarr")
    group.create_array("x", shape=(5, 7), chunks=(2, 3), dtype="i2")[...] = data
    group.create_array("float", shape=(5,), dtype="f4")[...] = 1
    group.create_array("deep", shape=(5, 1), dtype="i4")[...] = 1
    words = ["reverse-sequence", "group.zarr:x", "--time-axis", "1", "--batch-axis", "0", "-o", "out.zarr", "--lengths"]
    for given, message in [
        ("1,2,3,4,8", "ReverseSequence: lengths[4] is 8"),
        ("1,-2,3,4,5", "ReverseSequence: lengths[1] is -2"),
        ("1,2", "ReverseSequence"),
        ("none.npy", "neither a list of integers nor a file or store"),
        ("group.zarr:float", "lengths are integers"),
        ("group.zarr:deep", "rank 1"),
        ("group.zarr:none", "not a Zarr array"),
    ]:
        error = run(*words, given, code=1)
        assert message in error, (given, error)
    assert "has 3 arrays; name the one" in run("reverse-sequence", "group.zarr", "--lengths", "1,2", "-o", "out.zarr", code=1)
    assert "time_axis is 2" in run("reverse-sequence", "group.zarr:x", "--lengths", "1", "--time-axis", "2", "-o", "out.zarr", code=1)
    assert sorted(path.name for path in folder.iterdir()) == ["group.zarr"]
    run(*words, "1,2,3,4,99", "--policy", "clamp")
    assert same(zarr.open_array("out.zarr", mode="r")[...], expected(data, [1, 2, 3, 4, 7], 1, 0))
    assert "a length for each entry of 0" in run("reverse-sequence", "group.zarr:x", "--time-axis", 1, "--batch-axis", 0, "--lengths", "1,2,3,4,5")


def test_missing_chunks(folder):
    zarr.create_array("in.zarr", shape=(4, 20), chunks=(2, 5), dtype="f4", fill_value=2.5, compressors=None)[0:2, 0:5] = 1
    data = zarr.open_array("in.zarr", mode="r")[...]
    sequence([10, 10, 7, 20], "--time-axis", 1, "--batch-axis", 0, "-o", "out.zarr")
    assert same(zarr.open_array("out.zarr", mode="r")[...], expected(data, [10, 10, 7, 20], 1, 0))
    assert sorted(name for name in tree("out.zarr") if name != "zarr.json") == ["c/0/1"]
    # Zeros are not the fill value.
    sequence([10, 10, 0, 20], "--time-axis", 1, "--batch-axis", 0, "--tail", "zero", "-o", "zero.zarr")
    assert same(zarr.open_array("zero.zarr", mode="r")[...], expected(data, [10, 10, 0, 20], 1, 0, tail="zero"))


def test_chunks_beyond_the_lengths_are_not_read(folder):
    """A damaged chunk does no harm if no length needs it and it is not part of the padding."""
    data = values((2, 40), "i4")
    zarr.create_array("in.zarr", shape=(2, 40), chunks=(2, 5), dtype="i4", compressors=None)[...] = data
    (folder / "in.zarr/c/0/7").write_bytes(b"bad")
    words = ["--time-axis", 1, "--batch-axis", 0, "--tail", "zero", "-o", "out.zarr"]
    sequence([12, 30], *words)
    assert same(zarr.open_array("out.zarr", mode="r")[...], expected(data, [12, 30], 1, 0, tail="zero"))
    assert "c/0/7: chunk [0, 7]: has 3 bytes" in sequence([12, 36], *words, "--force", code=1)


@pytest.mark.parametrize("codec", ["plain", "zstd"])
def test_memory(folder, codec):
    """The array is eight times the limit, and sequences are longer than chunks."""
    limit = 64 << 20
    large("in.zarr", (256, 8 * limit // 4 // 256), (64, 4096), **CODECS_3[codec])
    lengths = lengths_for(8 * limit // 4 // 256, 256)
    np.save("lengths.npy", lengths)
    used = peak("reverse-sequence", "in.zarr", "--time-axis", 1, "--batch-axis", 0, "--lengths", "lengths.npy", "--memory", "64M", "-o", "out.zarr")
    print(f"{codec}: {used / 2**20:.0f} MiB of {limit / 2**20:.0f}")
    assert used <= limit
    source, out = zarr.open_array("in.zarr", mode="r"), zarr.open_array("out.zarr", mode="r")
    for rows in [slice(0, 8), slice(100, 104)]:
        assert same(out[rows], expected(source[rows], lengths[rows], 1, 0))
