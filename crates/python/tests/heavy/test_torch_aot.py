"""The example of `examples/torch`: a model that AOTInductor packaged, in a C++ program without Python."""

import os
import shutil
import sys
from pathlib import Path

import deadline
import pytest
import torch

ROOT = Path(__file__).parents[4]
TORCH = Path(torch.__file__).parent
#: The C library that cargo builds beside the Python package.
LIBRARIES = [ROOT / "target" / profile / "libretrograde_c.a" for profile in ("release/deps", "debug/deps", "release")]


def run(*command, **variables):
    done = deadline.run([str(one) for one in command], limit=900, env=os.environ | variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.skipif(not any(one.exists() for one in LIBRARIES), reason="no libretrograde_c.a: cargo build -p retrograde-c")
@pytest.mark.parametrize("device", ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"])
def test_a_package_runs_without_python(tmp_path, device):
    library = max((one for one in LIBRARIES if one.exists()), key=lambda one: one.stat().st_mtime)
    run(ROOT / "scripts/build", "torch", "--library", library, "--output", tmp_path, sys.executable)
    (made,) = tmp_path.glob("libretrograde_torch-*.so")
    example = ROOT / "examples/torch"
    run(sys.executable, example / "encoder.py", tmp_path, device)
    include = [f"-isystem{TORCH}/include{more}" for more in ("", "/torch/csrc/api/include")]
    links = [f"-L{TORCH}/lib", "-Wl,--no-as-needed", made, "-ltorch", "-ltorch_cpu", "-lc10", "-Wl,--allow-shlib-undefined"]
    if (TORCH / "lib/libtorch_cuda.so").exists():
        links.append("-ltorch_cuda")
    program = tmp_path / "run"
    paths = f"-Wl,-rpath,{TORCH}/lib:{tmp_path}"
    run("g++", "-std=c++20", *include, example / "run.cpp", *links, paths, "-o", program)
    # Libraries of CUDA are found beside PyTorch's, where its wheel has them.
    folders = os.pathsep.join(str(one) for one in TORCH.parent.glob("nvidia/*/lib"))
    said = run(program, tmp_path, device, LD_LIBRARY_PATH=folders)
    assert f"result [3, 17, 32] on {device}" in said
    # Those on a device are checked there: the report may come after the call.
    assert device == "cuda" or "wrong lengths are refused" in said
