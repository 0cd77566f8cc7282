"""The command with all programs, with completions, manual pages, licences and README, for each target."""

import json
import re
import shutil
import struct

from . import targets
from .running import Runner
from .shell import bare, files_of, need, pack, run, unpack

SHELLS = {"bash": "retrograde.bash", "zsh": "_retrograde", "fish": "retrograde.fish"}


def name(release, target):
    return f"retrograde-{release.version}-{target.triple}"


def path(release, target):
    return release.out / f"{name(release, target)}{'.zip' if target.system == 'windows' else '.tar.gz'}"


def build(release, target):
    folder = targets.build(target)
    with release.temporary() as top:
        program = f"retrograde{target.exe}"
        shutil.copy(folder / f"{targets.WHOLE}{target.exe}", top / program)
        release.documents(top, target, [targets.WHOLE])
        # The same for all systems.
        here = targets.build(targets.here()) / targets.WHOLE
        run(here, "man", "--dir", top / "man")
        (top / "completions").mkdir()
        for shell, file in SHELLS.items():
            (top / "completions" / file).write_text(run(here, "completions", shell))
        pack(path(release, target), {f"{name(release, target)}/{file}": entry for file, entry in files_of(top, [program]).items()})
    release.bill(path(release, target).name, [targets.WHOLE], target)


def test(release, target, place):
    file = path(release, target)
    top = unpack(file, place)
    need(all((top / name).exists() for name in ["README.md", release.OTHERS, *release.LICENCES]), "README or a licence is missing")
    said = [documents(top)]
    runner = Runner(target)
    if runner.why_not:
        said.append(f"NOT RUN: {runner.why_not}")
    else:
        command = runner.path(place, f"{top.name}/retrograde")
        said.append(programs(release, runner, place, command) + f" {runner.how}")
    return f"{release.sized(file)}: {'; '.join(said)}"


def programs(release, runner, place, *command, **variables):
    """Reverses a file and a Zarr store in a folder with a command, and asks its programs for their help."""
    call = lambda *words: runner.run(place, *command, *words, **variables)
    printed = call("--version")
    need(printed == f"retrograde {release.version}\n", f"--version prints {printed!r}")
    header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + "\n"
    npy = lambda *numbers: b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + struct.pack("<6H", *numbers)
    (place / "x.npy").write_bytes(npy(1, 2, 3, 4, 5, 6))
    call("reverse", "x.npy", "--axes", "1", "-o", "y.npy")
    need((place / "y.npy").read_bytes() == npy(3, 2, 1, 6, 5, 4), "the command wrote a wrong file")
    store(place)
    call("reverse", "x.zarr", "--axes", "1", "-o", "y.zarr")
    got = (place / "y.zarr" / "0.0").read_bytes()
    need(got == bytes([3, 2, 1, 6, 5, 4]), f"the store has {got}")
    for name in targets.PROGRAMS:
        said = call(name, "--help")
        need("Usage: retrograde" in said, f"{name} --help prints {said!r}")
    if runner.native:
        # It starts itself again, which what is emulated cannot.
        call("conformance", "run", "--runtime", "retrograde", "--case", "bits.nan-payload", "--strict")
    return f"reversed a file and a store, and {len(targets.PROGRAMS)} programs printed their help"


def store(place):
    (place / "x.zarr").mkdir()
    array = {"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "|u1", "order": "C"}
    array |= {"compressor": None, "filters": None, "fill_value": 0}
    (place / "x.zarr" / ".zarray").write_text(json.dumps(array))
    (place / "x.zarr" / "0.0").write_bytes(bytes([1, 2, 3, 4, 5, 6]))


def documents(top):
    """Manual pages that man shows, and completions that shells read."""
    pages = sorted((top / "man").glob("*.1"))
    for name in ["retrograde", "retrograde-conformance-run", "retrograde-zarr-reverse"]:
        need((top / "man" / f"{name}.1") in pages, f"there is no manual page {name}.1")
    for page in pages:
        need(re.search(r"^\.TH ", page.read_text(encoding="utf-8"), re.M), f"{page.name} is not a manual page")
        if shutil.which("man"):
            need("SYNOPSIS" in run("man", "-l", page, env=bare(MANPAGER="cat", LC_ALL="C")), f"man shows no synopsis of {page.name}")
    shells = []
    for shell, file in SHELLS.items():
        file = top / "completions" / file
        need(file.stat().st_size > 0, f"{file.name} is empty")
        if shutil.which(shell):
            run(shell, "-n", file)
            shells.append(shell)
    if "bash" in shells:
        said = run("bash", "-c", '. "$0" && complete -p retrograde', top / "completions" / SHELLS["bash"])
        need("retrograde" in said, "bash has no completion for retrograde")
    shown = "man showed" if shutil.which("man") else "man is not installed to show"
    return f"{shown} {len(pages)} pages, completions read by {' and '.join(shells) or 'no installed shell'}"
