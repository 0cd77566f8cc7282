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
        zero = rows * (np.arange(6)[:, None] < lengths)
        assert (gpu.reverse_sequence(x, lengths, tail="zero") == zero).all()
        segments = np.concatenate([x[:2][::-1], x[2:5][::-1], x[5:]])
        assert (gpu.reverse_segments(x, [0, 2, 5]) == segments).all()
        checked += 4
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
        checked += 5
    raises(ValueError, "closed", gpu.reverse, x)
    raises(RuntimeError, "no adapter number 99", module.Gpu, 99)
    print(f"{checked + 2} checks passed")


main()
