"""Tests ``retrograde.wgpu`` on an adapter: ``arrays.py FOLDER``, with the folder of the library.

Expected results come from NumPy's own indexing.
"""

import sys
from pathlib import Path

import numpy as np
import retrograde.wgpu


def load(folder):
    module = retrograde.wgpu
    missing = module.library_path() is None
    if missing:
        try:
            module.Gpu()
        except ImportError as error:
            assert "scripts/build wgpu" in str(error), error
        else:
            raise AssertionError("no error without the library")
    (name,) = [path.name for path in Path(folder).iterdir() if "retrograde_wgpu" in path.name]
    module.library_path = lambda: str(Path(folder) / name)
    return module


def raises(kind, text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")


def prefix_reversed(lane, length):
    return np.concatenate([lane[:length][::-1], lane[length:]])


def complements(gpu):
    """Checks the reverse complement beside that of the CPU and, for the letters, beside a loop."""
    random, checked = np.random.default_rng(2), 0
    pairs = dict(zip(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn", b"TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn", strict=True))
    for shape, axis in [((211,), 0), ((6, 50), -1), ((50, 6), 0), ((3, 40, 5), 1), ((2, 0), -1)]:
        x = random.choice(np.frombuffer(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn-*", np.uint8), shape)
        size, lanes = shape[axis], tuple(np.delete(shape, axis))
        whole = np.flip(np.array([pairs.get(byte, byte) for byte in x.ravel()], np.uint8).reshape(shape), axis)
        assert np.array_equal(gpu.reverse_complement(x, axis), whole)
        checked += 1
        lengths, some = random.integers(0, size + 1, lanes), random.integers(0, 2, lanes).astype(bool)
        offsets = [0, size // 3, size // 3, size]
        for options in [
            {"rna": True},
            {"where": some},
            {"lengths": lengths},
            {"lengths": lengths, "where": some},
            {"offsets": offsets},
            {"offsets": offsets, "where": [True, True, False]},
            {"offsets": offsets, "where": [False, False, True], "rna": True},
        ]:
            expected = retrograde.reverse_complement(x, axis, **options)
            assert np.array_equal(gpu.reverse_complement(x, axis, **options), expected), options
            checked += 1
    reads = np.frombuffer(b"GA-CAT", "S1")
    assert gpu.reverse_complement(reads).tobytes() == b"ATG-TC"
    assert gpu.reverse_complement(reads, offsets=[0, 2, 6], where=[True, False], strict=True).tobytes() == b"TC-CAT"
    raises(ValueError, "x[2] is '-' (45), expected one of", gpu.reverse_complement, reads, strict=True)
    raises(ValueError, "lengths[0] is 7, outside [0, 6]", gpu.reverse_complement, reads, lengths=7)
    raises(ValueError, "offsets[1] is 7, outside [0, 6]", gpu.reverse_complement, reads, offsets=[0, 7])
    raises(ValueError, "where has shape [2], expected [1]", gpu.reverse_complement, reads, offsets=[0, 6], where=[True] * 2)
    raises(ValueError, "axis is 1, outside [-1, 0]", gpu.reverse_complement, reads, 1)
    raises(TypeError, "expected letters of one byte", gpu.reverse_complement, np.arange(3))
    raises(TypeError, "lengths and offsets are both given", gpu.reverse_complement, reads, lengths=6, offsets=[0, 6])
    raises(ValueError, "a table has 3 entries, expected 256", gpu._run, 0, reads, [0], None, 0, table=b"abc")
    raises(ValueError, "a table of 256 entries is for", gpu._run, 0, np.arange(3), [0], None, 0, table=bytes(256))
    return checked + 11


def main():
    module = load(sys.argv[1])
    assert module.is_available()
    random, checked = np.random.default_rng(1), 0
    with module.Gpu() as gpu:
        print(gpu.name)
        for dtype in ["u1", "f2", "i4", "f8", "c16", "S3", "datetime64[s]"]:
            kind = np.dtype(dtype)
            for shape in [(7,), (5, 9), (3, 4, 6), (2, 0, 3)]:
                count = int(np.prod(shape))
                x = np.frombuffer(random.bytes(count * kind.itemsize), kind).reshape(shape)
                for axes in [None, [0], [-1], list(range(len(shape)))]:
                    expected = np.flip(x, None if axes is None else tuple(axes))
                    assert gpu.reverse(x, axes).tobytes() == np.ascontiguousarray(expected).tobytes()
                    checked += 1
                # Not contiguous.
                assert gpu.reverse(x.T, [0]).tobytes() == np.ascontiguousarray(np.flip(x.T, 0)).tobytes()
                checked += 1
        x = np.arange(30, dtype="f4").reshape(6, 5)
        lengths = np.array([0, 6, 3, 1, 2], dtype="i4")
        rows = np.stack([prefix_reversed(x[:, at], lengths[at]) for at in range(5)], 1)
        assert (gpu.reverse_sequence(x, lengths) == rows).all()
        assert (gpu.reverse_subsequences(x, lengths[None], axis=0) == rows).all()
        assert (gpu.reverse_subsequences(x, lengths, axis=0) == rows).all()
        zero = rows * (np.arange(6)[:, None] < lengths)
        assert (gpu.reverse_sequence(x, lengths, tail="zero") == zero).all()
        segments = np.concatenate([x[:2][::-1], x[2:5][::-1], x[5:]])
        assert (gpu.reverse_segments(x, [0, 2, 5]) == segments).all()
        checked += 5
        some = np.array([True, False, False, True, True])
        assert (gpu.reverse_sequence(x, lengths, where=some) == np.where(some, rows, x)).all()
        expected = np.where(some, rows, x)
        assert (gpu.reverse_subsequences(x, lengths[None], axis=0, where=some[None]) == expected).all()
        segments = np.concatenate([x[:2], x[2:5][::-1], x[5:]])
        assert (gpu.reverse_segments(x, [0, 2, 5], where=[False, True]) == segments).all()
        assert (gpu.reverse(x, 0, where=some, batch_axis=1) == np.where(some, x[::-1], x)).all()
        for number, turned in enumerate(
            [x, x[:, ::-1], x[::-1, ::-1], x[::-1], x.T, np.rot90(x, 3), np.rot90(x, 2).T, np.rot90(x)], 1
        ):
            assert np.array_equal(gpu.orient(x, number), turned), number
        images = np.arange(24, dtype="u1").reshape(3, 2, 4)
        assert np.array_equal(gpu.orient(images, "rot90", axes=(1, -1)), np.rot90(images, axes=(1, 2)))
        raises(ValueError, "orientation is 9, expected 1 to 8", gpu.orient, x, 9)
        checked += 10
        planes = np.arange(24, dtype="u1").reshape(3, 2, 4)
        turned = np.stack([planes[0], planes[1][::-1, ::-1], planes[2]])
        assert (gpu.reverse(planes, [1, 2], where=[False, True, False]) == turned).all()
        checked += 5
        raises(ValueError, "where has shape [2], expected [5]", gpu.reverse_sequence, x, lengths, where=[True, False])
        raises(ValueError, "where has shape [1], expected [2]", gpu.reverse_segments, x, [0, 2, 5], where=[True])
        raises(ValueError, "offsets[2] is 7, outside [2, 6]", gpu.reverse_segments, x, [0, 2, 7], where=[True, False])
        checked += 3
        raises(ValueError, "lengths[1] is 7, outside [0, 6]", gpu.reverse_sequence, x, [1, 7, 1, 1, 1])
        raises(ValueError, "axes[0] is 2, outside [-2, 1]", gpu.reverse, x, [2])
        raises(ValueError, "policy is 'loose'", gpu.reverse_sequence, x, lengths, policy="loose")
        raises(TypeError, "float64", gpu.reverse_sequence, x, [1.5] * 5)
        raises(TypeError, "object", gpu.reverse, np.array([None]))
        checked += 5 + complements(gpu)
    raises(ValueError, "closed", gpu.reverse, x)
    raises(RuntimeError, "no adapter number 99", module.Gpu, 99)
    print(f"{checked + 2} checks passed")


main()
