"""How programs and Python of each target are run here: as they are, emulated, under wine, or not at all."""

import os
import shutil
import subprocess
from pathlib import Path

from . import targets
from .shell import LINUX, TOOLBOX, bare, need

ROOTS = TOOLBOX / "roots"


class Runner:
    """Runs programs of a target in a folder. `why_not` says why it cannot; `native`, that a program can start another;
    `loader` starts what is linked with the shared C library; `python` is how an interpreter of the target is started, if
    there is one, and `version` which it is."""

    def __init__(self, target):
        self.target, self.prefix, self.why_not, self.how = target, [], None, "here"
        self.loader, self.python, self.version = [], None, None
        self.native = target == targets.here()
        root = ROOTS / target.triple
        python = next((path for path in sorted((root / "usr/bin").glob("python3.*")) if path.suffix[1:].isdigit()), None)
        if self.native:
            return
        if target.system == "windows":
            self.how = "under wine"
            self.prefix = [Path(__file__).with_name("wine")]
            if not (TOOLBOX / "wine/usr/lib/wine/wine64").exists() or os.geteuid() != 0:
                self.why_not = "there is no wine (scripts/setup wine, and root)"
            elif (TOOLBOX / "windows-python/python.exe").exists():
                self.python, self.version = [r"Z:\mnt\python\python.exe"], "3.13"
        elif not LINUX or target.system == "darwin":
            self.why_not = f"nothing here runs {target.triple}"
        else:
            if target.machine != targets.here().machine:
                self.how, self.prefix = "emulated", [f"qemu-{target.machine}", "-L", root]
                if not shutil.which(self.prefix[0]) or not root.exists():
                    self.why_not = f"there is no {self.prefix[0]}, or no {root.name} (scripts/setup roots)"
            elif target.system == "linux-musl":
                # Our programs are static.
                self.loader = [root / f"lib/ld-musl-{target.machine}.so.1"]
            if python:
                self.python, self.version = [*self.loader, python], python.name.removeprefix("python")

    def path(self, place, program):
        """The path of a program in a folder. Wine has other names for folders."""
        name = f"{program}{self.target.exe}"
        return name.replace("/", "\\") if self.prefix and self.target.system == "windows" else place / name

    def run(self, place, *command, **variables):
        """Runs a program in a folder, which under wine is all that it sees, and returns what it printed."""
        prefix = [*self.prefix, place] if self.prefix and self.target.system == "windows" else self.prefix
        words = [str(word) for word in [*prefix, *command]]
        done = subprocess.run(words, cwd=place, env=bare(**variables), capture_output=True, timeout=1200)
        out, err = (text.decode(errors="replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
        need(done.returncode == 0, f"{' '.join(words)} exited with status {done.returncode}:\n{out}{err}")
        return out
