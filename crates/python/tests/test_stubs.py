"""The stub matches the engine, and a type checker infers the expected types from the annotations."""

import importlib
import re
import sys
from pathlib import Path

import deadline
import pytest

pytest.importorskip("mypy")

HERE = Path(__file__).parent
PACKAGE = Path(importlib.import_module("retrograde").__file__).parents[1]

USER = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import retrograde
import retrograde.cuda
import retrograde.dask
import retrograde.jax
import retrograde.onnxruntime
import retrograde.openvino
import retrograde.torch
import retrograde.wgpu
import retrograde.xarray

x: NDArray[np.float32] = np.zeros((2, 3), np.float32)
masked: np.ma.MaskedArray[tuple[int], np.dtype[np.int8]] = np.ma.array([1], np.int8)

assert_type(retrograde.reverse(x), NDArray[np.float32])
assert_type(retrograde.reverse(x, 1), NDArray[np.float32])
assert_type(retrograde.reverse(x, axes=(0, -1), out=x), NDArray[np.float32])
assert_type(retrograde.reverse(x, mask=np.array([True, False])), NDArray[np.float32])
assert_type(retrograde.reverse(x, mask=[1, 0]), NDArray[np.float32])
assert_type(retrograde.reverse([1, 2]), NDArray[Any])
assert_type(retrograde.reverse(x, (0, 1), duplicates="error"), NDArray[np.float32])
assert_type(retrograde.flip(x), NDArray[np.float32])
assert_type(retrograde.flip(x, (0, 1)), NDArray[np.float32])
assert_type(retrograde.fliplr(x), NDArray[np.float32])
assert_type(retrograde.flipud([1, 2]), NDArray[Any])
assert_type(retrograde.rot90(x, -1, axes=(1, 0)), NDArray[np.float32])
assert_type(retrograde.orient(x, 6, axes=(1, 0), out=x), NDArray[np.float32])
assert_type(retrograde.orient([[1, 2]], "rot90"), NDArray[Any])
assert_type(retrograde.orient(x, orientations=[6, "mirror"], batch_axis=-1), NDArray[np.float32])
assert_type(retrograde.reverse(masked), np.ma.MaskedArray[tuple[int], np.dtype[np.int8]])
assert_type(retrograde.reverse_sequence(x, [1, 2, 0]), NDArray[np.float32])
assert_type(retrograde.reverse_sequence(x, np.array([1, 2]), time_axis=1, batch_axis=0), NDArray[np.float32])
assert_type(retrograde.reverse_subsequences(x, [1, 2], axis=1, policy="strict"), NDArray[np.float32])
assert_type(retrograde.reverse_sequence(x, [1, 2, 0], align="end", tail="zero"), NDArray[np.float32])
assert_type(retrograde.reverse_subsequences(x, [1, 2], axis=1, align="start", tail="keep"), NDArray[np.float32])
assert_type(retrograde.reverse_segments(x, [0, 1], axis=1, out=x), NDArray[np.float32])
assert_type(retrograde.reverse_segments([1, 2], np.array([0, 2])), NDArray[Any])
assert_type(retrograde.explain("reverse_segments", x, [0, 1]).operator, str)


class Mine:
    def __dlpack__(self, *, stream: int | None = None) -> object:
        return None


class Chunked:  # As pyarrow.ChunkedArray is.
    num_chunks: int = 1
    chunks: list[object] = []
    type: str = "list<int64>"


class Ragged:  # As tf.RaggedTensor is.
    values: object = None
    row_splits: object = None
    ragged_rank: int = 1

    def with_values(self, new_values: object) -> "Ragged":
        return self


assert_type(retrograde.reverse(Mine()), Mine)
assert_type(retrograde.reverse_segments(Mine(), [0, 1]), Mine)
assert_type(retrograde.reverse_segments(Chunked()), Chunked)
assert_type(retrograde.reverse_segments(Ragged(), axis=0), Ragged)
assert_type(retrograde.explain(retrograde.reverse_segments, Chunked()).kernel, str)
assert_type(retrograde.show("reverse_segments", Ragged()), retrograde.Picture)
assert_type(retrograde.reverse_sequence(x, [1, 2], batch_first=True), NDArray[np.float32])
assert_type(retrograde.flip(x, dims=(0, 1)), NDArray[np.float32])
assert_type(retrograde.flip([1], dim=0), NDArray[Any])
assert_type(retrograde.explain(retrograde.reverse, x, axes=0).bytes_read, int)
assert_type(retrograde.explain("reverse", x).dims[0]["len"], int)
assert_type(retrograde.show(retrograde.reverse_sequence, x, [1, 2, 0]), retrograde.Picture)
assert_type(retrograde.show("reverse", x).text(80), str)
retrograde.show("reverse", x).save("picture.svg")
retrograde.set_num_threads(None)
assert_type(retrograde.get_num_threads(), int)
retrograde.config.kept_memory = 1 << 20
retrograde.config.kept_memory = None
assert_type(retrograde.config.kept_now, int)
assert_type(retrograde.__version__, str)
prepared = retrograde.prepare(retrograde.reverse_sequence, x, [1, 2, 0])
assert_type(prepared(x, [1, 1, 1], out=x), NDArray[np.float32])
assert_type(prepared.operator, str)
retrograde.config.hint = "read-soon"
with retrograde.config(hint=None, kept_memory=1 << 20) as config:
    config.hint = "read-later"

# The types of the frameworks are not read here; what is ours is.
t: Any = x
retrograde.torch.reverse(t, (0, -1), mask=None, duplicates="error", out=t)
retrograde.torch.reverse_sequence(t, [1], time_axis=1, batch_axis=0, policy="clamp", align="end", tail="zero", out=t)
retrograde.torch.reverse_subsequences(t, [1], axis=0)
retrograde.torch.reverse_segments(t)
retrograde.torch.reverse_sequence(t, [1], batch_first=True)
retrograde.torch.flip(t, dims=(0, 1))
retrograde.torch.rot90(t, 1, (0, 1))
retrograde.torch.orient(t, "transverse", axes=(1, 2), out=t)
retrograde.jax.reverse_sequence(t, [1], batch_first=False)
retrograde.jax.reverse_subsequences(t, [1], axis=0, policy="strict")
retrograde.dask.reverse([1, 2], 0)
retrograde.dask.reverse_subsequences(x, t, axis=np.int64(0))
retrograde.xarray.Reversals(t).flip("time")
retrograde.xarray.Reversals(t).reverse_sequence("time", [1], batch_dim="batch")
assert_type(retrograde.cuda.device_count(), int)
retrograde.cuda.set_blocking(True)
assert_type(retrograde.openvino.library_path(), str | None)
assert_type(retrograde.openvino.replace(t, policy="clamp"), list[str])
assert_type(retrograde.onnxruntime.explain("model.onnx", min_bytes=1)[0].reason, str | None)
retrograde.onnxruntime.session(b"", strings=True, providers=[])
with retrograde.wgpu.Gpu(0) as gpu:
    assert_type(gpu.name, str)
    assert_type(gpu.reverse_sequence(x, [1]), np.ndarray[Any, Any])
"""

MISTAKES = [
    "retrograde.reverse(x, '1')",
    "retrograde.reverse(x, mask=1)",
    "retrograde.reverse(x, mask=[1.0, 0.0])",
    "retrograde.reverse(x, out=[1])",
    "retrograde.reverse(x, duplicates='once')",
    "retrograde.flip(x, '1')",
    "retrograde.rot90(x, 1.5)",
    "retrograde.fliplr(x, 1)",
    "retrograde.orient(x, 1.5)",
    "retrograde.reverse(object())",
    "retrograde.reverse_sequence(x)",
    "retrograde.reverse_sequence(x, [1], 0, 1)",
    "retrograde.reverse_sequence(x, [1], policy='loose')",
    "retrograde.reverse_subsequences(x, [1])",
    "retrograde.reverse_sequence(x, [1], align='left')",
    "retrograde.reverse_subsequences(x, [1], axis=0, tail='0')",
    "retrograde.reverse_segments(x, [0], 1)",
    "retrograde.explain('transpose', x)",
    "retrograde.show('reverse', x).save(1)",
    "retrograde.set_num_threads('all')",
    "retrograde.nothing",
    "retrograde.config.hint = 'soon'",
    "retrograde.config(hint='soon')",
    "retrograde.config(kept=1)",
    "retrograde.config.kept_now = 1",
    "retrograde.reverse_segments(Chunked(), [0, 1])",
    "retrograde.reverse_sequence(x, [1], batch_first='yes')",
    "retrograde.flip(x, 0, 1)",
    "retrograde.jax.reverse_sequence(t, [1], 1, 0)",
    "prepared(x, lengths='all', out=[1])",
    "retrograde.torch.reverse(t, dim=1)",
    "retrograde.torch.reverse_sequence(t)",
    "retrograde.torch.reverse_subsequences(t, [1])",
    "retrograde.torch.reverse_sequence(t, [1], 0)",
    "retrograde.jax.reverse(t, out=1)",
    "retrograde.jax.reverse_segments(t)",
    "retrograde.dask.reverse(x, '1')",
    "retrograde.dask.reverse_sequence(x, [1], policy='loose')",
    "retrograde.dask.reverse_subsequences(x, [1])",
    "retrograde.xarray.Reversals(t).reverse_sequence('time')",
    "retrograde.openvino.register(t, policy='loose')",
    "retrograde.openvino.register(t, lengths='clamp')",
    "retrograde.onnxruntime.explain(1)",
    "retrograde.cuda.set_blocking('yes')",
    "gpu.reverse_subsequences(x, [1])",
]


def run(module, *arguments):
    command = [sys.executable, "-m", module, *map(str, arguments)]
    # The package must be installed: mypy does not find it otherwise.
    installed = PACKAGE.name in ("site-packages", "dist-packages")
    environment = {"PATH": ""} | ({} if installed else {"MYPYPATH": str(PACKAGE), "PYTHONPATH": str(PACKAGE)})
    return deadline.run(command, env=environment, cwd=HERE)


def test_a_strict_type_checker_agrees_with_users(tmp_path):
    source = tmp_path / "user.py"
    mistakes = [f"{mistake}  # mistake" for mistake in MISTAKES]
    source.write_text("\n".join([USER, *mistakes, ""]))
    result = run("mypy", "--config-file", "mypy.ini", source)
    lines = source.read_text().splitlines()
    found = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    expected = {number for number, line in enumerate(lines, 1) if line.endswith("# mistake")}
    assert found == expected, result.stdout + result.stderr


def test_the_stub_says_what_the_engine_has():
    result = run("mypy.stubtest", "retrograde._engine", "--mypy-config-file", "mypy.ini")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no issues found" in result.stdout


def test_a_type_checker_reads_no_framework_for_the_package(tmp_path):
    source = tmp_path / "user.py"
    source.write_text("import retrograde\n")
    result = run("mypy", "--config-file", "mypy.ini", "--verbose", source)
    read = set(re.findall(r"retrograde[/\\](\w+)\.pyi?\b", result.stdout + result.stderr))
    assert "_typing" in read and not read & {"torch", "jax", "dask", "xarray", "_tensorflow"}, read
