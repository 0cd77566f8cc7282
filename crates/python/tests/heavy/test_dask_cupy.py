"""``retrograde.dask`` on chunks that are CuPy arrays.

Skipped without CuPy or a CUDA device, as in CI. On a machine with one:

    pytest crates/python/tests/heavy/test_dask_cupy.py
"""

import numpy as np
import pytest

for needed in ("dask.array", "cupy"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

import cupy  # noqa: E402

try:
    devices = cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError as error:
    pytest.skip(f"no CUDA device: {error}", allow_module_level=True)
if not devices:
    pytest.skip("no CUDA device", allow_module_level=True)

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import naive  # noqa: E402

import retrograde.dask as rd  # noqa: E402

TYPES = ["bool", "u1", "i2", "f2", "f4", "i8", "f8", "c8", "c16"]
GRIDS = [((6, 10), (3, 10)), ((7, 11), (2, 4)), ((1, 5), (1, 2)), ((4, 9), (4, 1))]
SHAPES = GRIDS + [((3, 8, 5), (2, 3, 5))]
PADDING = [{"align": align, "tail": tail} for align in ("start", "end") for tail in ("keep", "zero")]


def chunked(shape, chunks, dtype="f4"):
    """An array of CuPy chunks, and the same in NumPy."""
    whole = naive.filled(shape, np.dtype(dtype), 1)
    return da.from_array(cupy.asarray(whole), chunks=chunks, asarray=False), whole


def check(lazy, expected):
    """Every chunk is a contiguous CuPy array, and the whole has the expected bits."""
    assert isinstance(lazy._meta, cupy.ndarray)
    blocks = [lazy.blocks[index] for index in np.ndindex(lazy.numblocks)]
    with dask.config.set(scheduler="sync"):
        for block in dask.compute(*blocks):
            assert isinstance(block, cupy.ndarray) and block.flags.c_contiguous
        whole = lazy.compute()
    whole = cupy.asnumpy(whole)
    assert whole.dtype == expected.dtype and whole.shape == expected.shape
    assert whole.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_flips_of_every_type(dtype):
    x, whole = chunked((7, 11), (2, 4), dtype)
    for axes in [(), (0,), (1,), (0, 1)]:
        check(rd.flip(x, axes), naive.reverse(whole, axes))
    check(rd.reverse(x, mask=[True, False]), naive.reverse(whole, (0,)))


@pytest.mark.parametrize("lazy", [False, True], ids=["known", "lazy"])
@pytest.mark.parametrize("padding", PADDING, ids=str)
@pytest.mark.parametrize("grid", SHAPES, ids=str)
def test_sequences(grid, padding, lazy):
    x, whole = chunked(*grid)
    rng = np.random.default_rng(0)
    for lengths in [rng.integers(0, whole.shape[1] + 1, whole.shape[0]), np.full(whole.shape[0], whole.shape[1])]:
        given = da.from_array(lengths, chunks=2) if lazy else lengths
        check(rd.reverse_sequence(x, given, time_axis=1, batch_axis=0, **padding), naive.reverse_sequence(whole, lengths, 1, 0, **padding))


@pytest.mark.parametrize("padding", PADDING, ids=str)
def test_lengths_on_the_device(padding):
    x, whole = chunked((7, 11), (2, 4))
    lengths = np.array([0, 1, 11, 5, 4, 8, 9])
    for given in [da.from_array(cupy.asarray(lengths), chunks=3, asarray=False)]:
        check(rd.reverse_sequence(x, given, time_axis=1, batch_axis=0, **padding), naive.reverse_sequence(whole, lengths, 1, 0, **padding))


@pytest.mark.parametrize("padding", PADDING, ids=str)
@pytest.mark.parametrize("grid", SHAPES, ids=str)
def test_subsequences(grid, padding):
    x, whole = chunked(*grid)
    lengths = np.random.default_rng(1).integers(0, whole.shape[1] + 2, (whole.shape[0], 1, *whole.shape[2:]))
    check(rd.reverse_subsequences(x, lengths, axis=1, **padding), naive.reverse_subsequences(whole, lengths, 1, **padding))


@pytest.mark.parametrize("grid", SHAPES, ids=str)
def test_segments(grid):
    x, whole = chunked(*grid)
    offsets = np.array([0, 1, whole.shape[1] // 2, whole.shape[1]])
    for given in (offsets, da.from_array(offsets, chunks=2)):
        check(rd.reverse_segments(x, given, axis=1), naive.reverse_segments(whole, offsets, 1))


def test_larger_than_a_few_warps():
    x, whole = chunked((64, 3000), (16, 700))
    lengths = np.random.default_rng(2).integers(0, 3001, 64)
    expected = whole.copy()
    for row, length in zip(expected, lengths):
        row[:length] = row[:length][::-1].copy()
    check(rd.reverse_sequence(x, lengths, time_axis=1, batch_axis=0), expected)
    check(rd.flip(x, 1), whole[:, ::-1])
