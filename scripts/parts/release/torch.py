"""The native library for PyTorch, as sources: it is compiled against the PyTorch of its user, whose versions differ."""

import sys

from . import targets, wheel
from .shell import BIN, ROOT, bare, files_of, pack, run, unpack

FILES = ["crates/torch", "crates/c/include/retrograde.h", "scripts/parts/build/torch", "scripts/parts/steps", "docs/torch.md", "examples/torch"]
TEST = """\
import torch, retrograde.torch
assert retrograde.torch.reverse(torch.tensor([[1, 2, 3]]), [1]).tolist() == [[3, 2, 1]]
assert retrograde.torch.native()
print(torch.__version__)
"""


def name(release):
    return f"retrograde-torch-{release.version}"


def path(release):
    return release.out / f"{name(release)}.tar.gz"


def build(release):
    entries = {file: ((ROOT / file).read_bytes(), 0o644) for file in release.LICENCES}
    for file in FILES:
        if (ROOT / file).is_dir():
            entries |= {f"{file}/{inner}": entry for inner, entry in files_of(ROOT / file).items()}
        else:
            entries[file] = (ROOT / file).read_bytes(), 0o755 if "build/" in file else 0o644
    pack(path(release), {f"{name(release)}/{file}": entry for file, entry in entries.items()})
    # It has no code of others.
    release.bill(path(release).name, [])


def test(release, place):
    top = unpack(path(release), place)
    # Kept, because PyTorch has gigabytes.
    venv = release.toolbox / "torch"
    python = venv / BIN / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", venv)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "torch", "numpy", env=bare())
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps", wheel.path(release, targets.here()), env=bare())
    run(top / "scripts/parts/build/torch", python, cwd=place, env=bare())
    printed = run(python, "-c", TEST, cwd=place, env=bare()).strip()
    return f"{release.sized(path(release))}: compiled against PyTorch {printed}, for the wheel, and called"
