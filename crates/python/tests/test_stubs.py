"""The stubs match the modules, and a type checker infers the expected types from them."""

import importlib
import sys
from importlib.util import find_spec
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


assert_type(retrograde.reverse(Mine()), Mine)
assert_type(retrograde.explain(retrograde.reverse, x, axes=0).bytes_read, int)
assert_type(retrograde.explain("reverse", x).dims[0]["len"], int)
assert_type(retrograde.show(retrograde.reverse_sequence, x, [1, 2, 0]), retrograde.Picture)
assert_type(retrograde.show("reverse", x).text(80), str)
retrograde.show("reverse", x).save("picture.svg")
retrograde.set_num_threads(None)
assert_type(retrograde.get_num_threads(), int)
assert_type(retrograde.kept_memory(), int)
retrograde.set_kept_memory(1 << 20)
retrograde.set_kept_memory(None)
assert_type(retrograde.__version__, str)
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


#: Modules for frameworks, which cannot be imported if those are not installed.
FRAMEWORKS = {
    "torch": "torch",
    "_torch_gradients": "torch",
    "_torch_operators": "torch",
    "_torch_quantized": "torch",
    "_tensorflow": "tensorflow",
    "jax": "jax",
    "dask": "dask",
    "_dask_expressions": "dask",
    "_dask_graph": "dask",
    "xarray": "xarray",
    "onnx_backend": "onnx",
    "onnxruntime": "onnxruntime",
    "openvino": "openvino",
}


def test_the_stubs_say_what_the_modules_have(tmp_path):
    missing = [module for module, framework in FRAMEWORKS.items() if find_spec(framework) is None]
    allowed = tmp_path / "allowed"
    # Its classes derive from ones of OpenVINO, whose metaclass no stub declares.
    missing.append("_openvino_operators")
    allowed.write_text("".join(f"retrograde\\.{module}.*\n" for module in missing))
    arguments = ["--mypy-config-file", "mypy.ini", "--allowlist", allowed, "--ignore-unused-allowlist"]
    result = run("mypy.stubtest", "retrograde", *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no issues found" in result.stdout
