"""A release: what it is made from, where its artifacts are, and what they have in common."""

import hashlib
import json
import shutil
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from . import targets
from .dependencies import Dependencies
from .shell import ROOT, TOOLBOX, alike, committed, need, run, say


class Release:
    LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
    # Those of other crates, in artifacts that contain them. The licence files of pyproject.toml include it.
    OTHERS = "THIRD-PARTY-LICENSES"

    def __init__(self, allow_dirty):
        self.allow_dirty, self.toolbox = allow_dirty, TOOLBOX
        metadata = json.loads(run("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"))
        self.target = Path(metadata["target_directory"])
        self.out = self.target / "release-artifacts"
        self.packages = metadata["packages"]
        # For `publish = false`, cargo reports an empty list of registries.
        self.crates = {p["name"]: p for p in self.packages if p["publish"] != []}
        self.version = self.crates["retrograde"]["version"]

    @cache
    def parts(self, target):
        """What packages are made from for a target, by default for this machine."""
        need(shutil.which("cargo-cyclonedx", path=alike()["PATH"]), "there is no cargo-cyclonedx (scripts/setup release)")
        return Dependencies(ROOT, getattr(target, "triple", target), alike(), committed())

    @contextmanager
    def temporary(self):
        with tempfile.TemporaryDirectory(prefix="retrograde-release-") as folder:
            yield Path(folder)

    def documents(self, folder, target, packages, readme="README.md"):
        """Puts licences, those of other crates, and a README into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for file in [*self.LICENCES, *(["CHANGELOG.md"] if readme else [])]:
            shutil.copy(ROOT / file, folder)
        if readme:
            shutil.copy(ROOT / readme, folder / "README.md")
        (folder / self.OTHERS).write_text(self.parts(target).licences(packages), encoding="utf-8")

    def bill(self, artifact, packages, target=None):
        """Writes the bill of materials of an artifact."""
        digest = hashlib.sha256((self.out / artifact).read_bytes()).hexdigest()
        bill = self.parts(target or targets.here()).bill(artifact, self.version, packages, digest)
        (self.out / f"{artifact}.cdx.json").write_text(bill, encoding="utf-8")

    def sized(self, path):
        return f"{path.name} ({path.stat().st_size >> 10} KiB)"

    def finish(self):
        files = sorted(path for path in self.out.iterdir() if path.name != "SHA256SUMS")
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
        (self.out / "SHA256SUMS").write_text("".join(sums))
        say("files", f"{len(files)} and SHA256SUMS in {self.out}")
