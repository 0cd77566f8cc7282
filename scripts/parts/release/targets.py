"""The systems and processors that artifacts are for: a table, how all of them are compiled on Linux, and how the result
is checked without running it.
"""

import json
import platform
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import apple
from .shell import LINUX, Failed, alike, need, run, tools

# The package of the command with all programs in one file, and the programs: `retrograde NAME`.
WHOLE = "retrograde-whole"
PROGRAMS = ["conformance", "lower", "verify", "wgpu", "zarr"]
# PyO3's variables for a module that any Python loads, as maturin sets them.
MODULE = {"PYO3_NO_PYTHON": "1", "PYO3_BUILD_EXTENSION_MODULE": "1"}
# The libraries of the wheel, of C and for ONNX Runtime, by the names of their crates.
LIBRARIES = {"_engine": "retrograde-python", "retrograde_c": "retrograde-c", "retrograde_onnxruntime": "retrograde-onnxruntime"}


class Target(NamedTuple):
    triple: str
    wheel: str  # the last tag of its wheel
    oldest: tuple  # the oldest glibc or macOS that it runs on
    needs: str  # libraries that every such system has
    flags: tuple = ()  # of rustc

    @property
    def system(self):
        return next(name for name in ("linux-gnu", "linux-musl", "windows", "darwin") if name in self.triple)

    @property
    def machine(self):
        return self.triple.split("-")[0]

    @property
    def exe(self):
        return ".exe" if self.system == "windows" else ""

    def library(self, name, static=False):
        """The file name of a library."""
        if self.system == "windows":
            return f"{name}.dll"
        return f"lib{name}.{'a' if static else 'dylib' if self.system == 'darwin' else 'so'}"


GLIBC = r"lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-.*|libgcc_s\.so\.1"
# Python loads a shared library. Zig links programs for musl statically, with this flag too.
MUSL = ("-Ctarget-feature=-crt-static",)
# Names that Windows' loader maps to the C library, and python3.dll, which a wheel's module needs.
WINDOWS = r"(?i)api-ms-win-.*|(kernel32|ntdll|advapi32|bcrypt|bcryptprimitives|crypt32|dbghelp|gdi32|ole32|oleaut32|opengl32|psapi|shell32|user32|userenv|ws2_32|msvcrt|ucrtbase|python3|iphlpapi|ncrypt|propsys|setupapi|combase|rpcrt4|d3dcompiler_47|dxgi|d3d12|dcomp)\.dll"
MACOS = r"/usr/lib/(libSystem\.B|libobjc\.A|libiconv\.2|libcharset\.1|libc\+\+\.1)\.dylib|/System/Library/Frameworks/.*|@rpath/.*"

TABLE = [
    Target("x86_64-unknown-linux-gnu", "manylinux_2_17_x86_64.manylinux2014_x86_64", (2, 17), GLIBC),
    Target("aarch64-unknown-linux-gnu", "manylinux_2_17_aarch64.manylinux2014_aarch64", (2, 17), GLIBC),
    Target("x86_64-unknown-linux-musl", "musllinux_1_2_x86_64", (1, 2), r"libc\.so|libc\.musl-.*|ld-musl-.*", MUSL),
    Target("aarch64-unknown-linux-musl", "musllinux_1_2_aarch64", (1, 2), r"libc\.so|libc\.musl-.*|ld-musl-.*", MUSL),
    Target("x86_64-pc-windows-gnu", "win_amd64", (), WINDOWS),
    Target("aarch64-apple-darwin", "macosx_11_0_arm64", (11, 0), MACOS, apple.FLAGS),
    Target("x86_64-apple-darwin", "macosx_10_12_x86_64", (10, 12), MACOS, apple.FLAGS),
]


@cache
def here():
    """The target of this machine, whose artifacts run without an emulator."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    system = {"Linux": "linux-gnu", "Darwin": "darwin", "Windows": "windows"}[platform.system()]
    return next(target for target in TABLE if (target.machine, target.system) == (machine, system))


@cache
def build(target):
    """Compiles the command and the libraries for a target at once, so that the engine is compiled once. Returns the folder
    of the results."""
    need(LINUX, "artifacts are built on Linux; --test-only tests them here")
    tools()
    packages = [word for name in [WHOLE, *LIBRARIES.values()] for word in ("-p", name)]
    zig = target.triple
    more = {"CARGO_PROFILE_DIST_STRIP": "symbols"} | MODULE
    if target.system == "linux-gnu":
        zig += ".{}.{}".format(*target.oldest)
    if target.system == "darwin":
        apple.write(target.triple)
        more["MACOSX_DEPLOYMENT_TARGET"] = "{}.{}".format(*target.oldest)
    command = ["cargo", "auditable", "zigbuild", "--profile", "dist", "--locked", *packages, "--features", "retrograde-python/programs", "--target", zig]
    run(*command, env=alike(*target.flags, **more))
    found = json.loads(run("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"))
    folder = Path(found["target_directory"]) / target.triple / "dist"
    inspect(target, folder / f"{WHOLE}{target.exe}")
    for name, needed in (("_engine", "PyInit__engine"), ("retrograde_onnxruntime", "CreateEpFactories")):
        inspect(target, folder / target.library(name), needed)
    return folder


def inspect(target, path, exported=None):
    """Checks a program or library without running it: what it is for, what it needs, what it exports, and that it
    holds its dependencies. Returns its description."""
    found = json.loads(run(tools(), Path(__file__).with_name("binary.py"), path))
    need(found["machine"] == target.machine, f"{path.name} is for {found['machine']}")
    others = [name for name in found["needs"] if not re.fullmatch(target.needs, name)]
    need(not others, f"{path.name} for {target.triple} needs {', '.join(others)}")
    oldest = tuple(found["oldest"] or ())
    need(oldest <= target.oldest, f"{path.name} for {target.triple} needs {target.system} {oldest}")
    need(exported is None or exported in found["exports"], f"{path.name} for {target.triple} does not export {exported}")
    strange = [name for name in found["loose"] if not name.startswith("_Py")]
    need(not strange, f"{path.name} for {target.triple} has undefined names: {', '.join(strange)}")
    # Zig signs what is for arm64 only, where it is necessary.
    fine = found["signed"] or (found["signed"] is None and target.machine == "x86_64")
    need(fine, f"{path.name} for {target.triple} has no signature, or one that is not that of its pages")
    need(b".dep-v0" in path.read_bytes(), f"{path.name} for {target.triple} does not hold its dependencies")
    return found


def named(words):
    """The targets with these names."""
    known = {target.triple: target for target in TABLE} | {"here": here()}
    wrong = [word for word in words if word not in known]
    if wrong:
        raise Failed(f"there is no target {wrong[0]}; there are {', '.join(known)}")
    return [known[word] for word in words]
