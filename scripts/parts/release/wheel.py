"""The Python package with the programs: a wheel for each target, for every CPython from 3.10 on (abi3). Its metadata is
what maturin writes for `pip install`.
"""

import base64
import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path

from . import archive, targets
from .running import Runner
from .shell import BIN, ROOT, alike, bare, files_of, need, pack, run, tools

# The command with its programs is in the library.
PACKAGES = ["retrograde-python", targets.WHOLE]
SOURCES = ROOT / "crates/python/python"
MODULE = {"windows": "_engine.pyd"}
TEST = """\
import numpy as np, retrograde
y = retrograde.reverse_sequence(np.arange(6).reshape(2, 3), [2, 3], time_axis=1, batch_axis=0)
assert y.tolist() == [[1, 0, 2], [5, 4, 3]], y
print(retrograde.__version__)
"""


def path(release, target):
    return release.out / f"retrograde-{release.version}-cp310-abi3-{target.wheel}.whl"


def build(release, target):
    folder = targets.build(target)
    more = {"sboms/retrograde.cdx.json": release.parts(target).bill("retrograde", release.version, PACKAGES)}
    more[f"licenses/{release.OTHERS}"] = release.parts(target).licences(PACKAGES)
    assemble(path(release, target), target, folder / target.library("_engine"), more)
    release.bill(path(release, target).name, PACKAGES, target)


def assemble(file, target, module, more=None):
    """Writes a wheel of a compiled module; `more` are texts beside the metadata."""
    entries = {name: entry for name, entry in files_of(SOURCES).items() if "__pycache__" not in name}
    entries[f"retrograde/{MODULE.get(target.system, '_engine.abi3.so')}"] = module.read_bytes(), 0o755
    with tempfile.TemporaryDirectory(prefix="retrograde-wheel-") as folder:
        run(tools().with_name("maturin"), "pep517", "write-dist-info", "--metadata-directory", folder, "--interpreter", sys.executable, env=alike())
        entries |= files_of(Path(folder))
        info = next(Path(folder).iterdir()).name
    entries |= {f"{info}/{name}": (text.encode(), 0o644) for name, text in (more or {}).items()}
    if f"{info}/licenses/THIRD-PARTY-LICENSES" in entries:
        metadata, mode = entries[f"{info}/METADATA"]
        entries[f"{info}/METADATA"] = metadata.replace(b"License-File: ", b"License-File: THIRD-PARTY-LICENSES\nLicense-File: ", 1), mode
    tags = "".join(f"Tag: cp310-abi3-{tag}\n" for tag in target.wheel.split("."))
    entries[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: scripts/release\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644
    sums = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, (data, _) in entries.items()}
    record = [f"{name},sha256={digest},{len(entries[name][0])}\n" for name, digest in sums.items()]
    entries[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode(), 0o644
    pack(file, entries)
    run(tools(), Path(__file__).with_name("tighter.py"), file)


def test(release, target, place):
    file = path(release, target)
    with zipfile.ZipFile(file) as wheel:
        held = {Path(name).name for name in wheel.namelist()}
    wanted = {*release.LICENCES, release.OTHERS, "retrograde.cdx.json", "py.typed"}
    need(held >= wanted, f"{file.name} lacks {', '.join(wanted - held)}")
    runner = Runner(target)
    if runner.native:
        installed(release, place, file)
        limits = run(sys.executable, ROOT / "scripts/parts/check/limits", file, place / "venv" / BIN / f"python{target.exe}").strip()
        said = f"called; {archive.programs(release, runner, place, place / 'venv' / BIN / 'retrograde')}; {limits}"
    else:
        said = foreign(release, runner, place, file)
    return f"{release.sized(file)}: {said}"


def installed(release, place, package, **more):
    """Installs a package into a new virtual environment, and calls it."""
    run(sys.executable, "-m", "venv", place / "venv")
    python = place / "venv" / BIN / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package, cwd=place, env=bare(**more))
    printed = run(python, "-c", TEST, cwd=place, env=bare())
    need(printed == f"{release.version}\n", f"the package printed {printed!r} as its version")
    printed = run(place / "venv" / BIN / "retrograde", "--version", env=bare())
    need(printed == f"retrograde {release.version}\n", f"the command printed {printed!r}")


def foreign(release, runner, place, file):
    """Installs a wheel with the pip of this machine into a folder, and calls it with an interpreter of the target."""
    target, windows = runner.target, runner.target.system == "windows"
    version = runner.version or "{}.{}".format(*sys.version_info)
    # NumPy needs newer systems than we do. That of a Python for Windows is its own.
    platforms = [*target.wheel.split("."), *(f"manylinux_2_{n}_{target.machine}" for n in (27, 28) if target.system == "linux-gnu")]
    words = ["--no-deps"] if windows or runner.why_not else []
    words += [word for platform in platforms for word in ("--platform", platform)]
    words += ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}", f"--abi=cp{version.replace('.', '')}", "--abi=abi3"]
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", place / "package", *words, file, cwd=place)
    if runner.why_not:
        return f"pip accepts it; NOT RUN: {runner.why_not}"
    if not runner.python:
        return f"pip accepts it; NOT IMPORTED: there is no Python for {target.triple}"
    folder = r"Z:\mnt\package" if windows else str(place / "package")
    printed = runner.run(place, *runner.python, "-c", TEST, PYTHONPATH=folder)
    need(printed == f"{release.version}\n", f"the package printed {printed!r} as its version")
    said = archive.programs(release, runner, place, *runner.python, "-m", "retrograde", PYTHONPATH=folder)
    return f"Python {version} called it {runner.how}; the command {said}"
