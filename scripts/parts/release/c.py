"""The C library for each kind of Linux: a prefix that can be put anywhere, with headers, both libraries, and the files
for pkg-config and CMake.
"""

import shutil

from . import targets
from .running import Runner
from .shell import ROOT, alike, files_of, need, pack, run, tools, unpack

PACKAGE = ["retrograde-c"]


def name(release, target):
    return f"retrograde-c-{release.version}-{target.triple}"


def path(release, target):
    return release.out / f"{name(release, target)}.tar.gz"


def build(release, target):
    folder = targets.build(target)
    with release.temporary() as prefix:
        run(ROOT / "scripts/parts/build/c", prefix, "--libraries", folder, env=alike())
        release.documents(prefix / "share/doc/retrograde", target, PACKAGE, "docs/c.md")
        shutil.copytree(ROOT / "crates/c/examples", prefix / "share/doc/retrograde/examples")
        entries = {f"{name(release, target)}/{file}": entry for file, entry in files_of(prefix).items()}
        pack(path(release, target), entries)
    release.bill(path(release, target).name, PACKAGE, target)


def test(release, target, place):
    prefix = unpack(path(release, target), place)
    runner = Runner(target)
    if runner.native:
        said = run(ROOT / "scripts/parts/test/c", prefix).strip().splitlines()[-1].removeprefix("== ")
    elif runner.why_not or not all(path.exists() for path in runner.loader):
        said = f"NOT RUN: {runner.why_not or 'there is no musl here (scripts/setup roots)'}"
    else:
        said = cross(target, runner, prefix, place)
    return f"{release.sized(path(release, target))}: {said}"


def cross(target, runner, prefix, place):
    """Compiles an example with zig against both libraries, and runs both programs."""
    system = target.triple.replace("-unknown", "") + (".{}.{}".format(*target.oldest) if target.system == "linux-gnu" else "")
    example = prefix / "share/doc/retrograde/examples/reverse.c"
    printed = []
    for linked, words in (("shared", ["-L", prefix / "lib", "-lretrograde"]), ("static", [prefix / "lib/libretrograde.a", "-lunwind"])):
        run(tools(), "-m", "ziglang", "cc", "-target", system, "-dynamic", example, "-I", prefix / "include", "-o", place / linked, *words, "-lpthread", "-ldl", "-lm")
        printed.append(runner.run(place, *runner.loader, f"./{linked}", LD_LIBRARY_PATH=str(prefix / "lib")))
    need(printed[0] and printed[0] == printed[1], f"the example printed {printed}")
    return f"an example, linked by zig with both libraries, ran {runner.how}"
