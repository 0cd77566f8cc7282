"""What all parts of a release share: commands, their environment variables, and archives."""

import gzip
import io
import os
import platform
import subprocess
import sys
import tarfile
import time
import zipfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOLBOX = ROOT / os.environ.get("RETROGRADE_TOOLS", ".tools")
VENV = TOOLBOX / "release"
TOOLS = ["maturin==1.16.0", "ziglang==0.17.0", "cargo-zigbuild==0.24.0", "lief==1.0.0", "zopflipy==1.14"]
LINUX = platform.system() == "Linux"
BIN = "Scripts" if os.name == "nt" else "bin"


class Failed(Exception):
    """A requirement of a release is not met."""


def say(what, text):
    print(f"{what:11} {text}", flush=True)


def need(true, text):
    if not true:
        raise Failed(text)


def run(*command, **options):
    """Runs a command and returns its standard output. If it fails, raises Failed with all of its output."""
    options.setdefault("cwd", ROOT)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise Failed(f"{' '.join(map(str, command))} exited with status {done.returncode}:\n{said}")
    return done.stdout


def bare(**more):
    """The environment variables, without those that refer to this checkout or to a virtual environment."""
    left_out = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | more


@cache
def committed():
    """The time of the commit, which is that of everything in archives."""
    return run("git", "log", "-1", "--format=%ct").strip()


def alike(*flags, **more):
    """The environment variables of builds, which do not depend on the folder or the time."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    flags += tuple(f"--remap-path-prefix={folder}={name}" for folder, name in ((ROOT, "retrograde"), (home, "cargo")))
    path = os.pathsep.join(map(str, [VENV / BIN, TOOLBOX / "bin", os.environ["PATH"]]))
    return bare(PATH=path, SOURCE_DATE_EPOCH=committed(), CARGO_ENCODED_RUSTFLAGS="\x1f".join(flags), **more)


@cache
def tools():
    """Installs the build tools that are Python packages. Returns their interpreter."""
    python = VENV / BIN / "python"
    if not (VENV / BIN).exists():
        run(sys.executable, "-m", "venv", VENV)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS)
    return python


def files_of(folder, executable=()):
    """The files in a folder as entries of an archive; links stay links."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file()):
        mode = 0o755 if path.name in executable else 0o644
        found[path.relative_to(folder).as_posix()] = os.readlink(path) if path.is_symlink() else (path.read_bytes(), mode)
    return found


def pack(target, entries):
    """Packs an archive, .tar.gz or zip, which does not depend on the time or on the user. An entry is the content and
    the mode of a file, or where a link leads."""
    seconds = int(committed())
    if not target.name.endswith(".tar.gz"):
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, (data, mode) in entries.items():
                info = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
                info.create_system, info.external_attr, info.compress_type = 3, (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
        return
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as archive:
        for name, entry in entries.items():
            info = tarfile.TarInfo(name)
            info.mtime = seconds
            if isinstance(entry, str):
                info.type, info.linkname = tarfile.SYMTYPE, entry
                archive.addfile(info)
            else:
                info.size, info.mode = len(entry[0]), entry[1]
                archive.addfile(info, io.BytesIO(entry[0]))
    target.write_bytes(gzip.compress(memory.getvalue(), 9, mtime=0))


def unpack(path, place):
    """Unpacks an archive. Returns the one folder in it."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(place)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(place, filter="data")
    (top,) = [found for found in place.iterdir() if path.name.startswith(found.name)]
    return top
