"""What the artifacts of a release are made from: bills of materials in CycloneDX, by cargo-cyclonedx, and the licences
of other projects' crates.
"""

import datetime
import json
import re
import subprocess
from functools import cached_property
from pathlib import Path

LICENCE = re.compile(r"(?i)^(un)?licen[cs]e|^copying|^notice")
OWN = "path+file:"


class Dependencies:
    def __init__(self, root, target, env, seconds):
        self.root, self.target, self.env, self.seconds = root, target, env, int(seconds)

    def cargo(self, *words):
        command = ["cargo", *words]
        done = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} exited with status {done.returncode}:\n{done.stderr}")
        return done.stdout

    @cached_property
    def packages(self):
        """Every package that is compiled for a target, by name and version."""
        found = json.loads(self.cargo("metadata", "--format-version", "1", "--locked", "--filter-platform", self.target))
        return {(package["name"], package["version"]): package for package in found["packages"]}

    @cached_property
    def bills(self):
        """The bill of each package of the workspace, without the name of the folder."""
        own = [package for package in self.packages.values() if not package["source"]]
        files = {package["name"]: Path(package["manifest_path"]).with_name(f"{package['name']}.cdx.json") for package in own}
        try:
            self.cargo("cyclonedx", "--format", "json", "--spec-version", "1.5", "--target", self.target)
            texts = {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.exists()}
        finally:
            for file in files.values():
                file.unlink(missing_ok=True)
        return {name: json.loads(text.replace(self.root.as_uri(), "file:///retrograde")) for name, text in texts.items()}

    def components(self, names):
        """What packages of the workspace are made from, themselves included, by reference."""
        found = {}
        for name in names:
            bill = self.bills[name]
            for component in [bill["metadata"]["component"], *bill.get("components", [])]:
                found[component["bom-ref"]] = {key: value for key, value in component.items() if key != "components"}
        return found

    def bill(self, name, version, packages, digest=None):
        """The bill of an artifact that these packages are in, as text."""
        links = {name: {self.bills[package]["metadata"]["component"]["bom-ref"] for package in packages}}
        for package in packages:
            for row in self.bills[package].get("dependencies", []):
                links.setdefault(row["ref"], set()).update(row.get("dependsOn", []))
        about = {"type": "file", "bom-ref": name, "name": name, "version": version}
        if digest:
            about["hashes"] = [{"alg": "SHA-256", "content": digest}]
        when = datetime.datetime.fromtimestamp(self.seconds, datetime.timezone.utc).isoformat()
        bill = {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {"timestamp": when, "component": about},
            "components": [component for _, component in sorted(self.components(packages).items())],
            "dependencies": [{"ref": ref, "dependsOn": sorted(on)} for ref, on in sorted(links.items())],
        }
        return json.dumps(bill, indent=1) + "\n"

    def licences(self, names):
        """The licences of the other crates in these packages, each text once."""
        texts, silent = {}, []
        for reference, component in sorted(self.components(names).items()):
            if reference.startswith(OWN):
                continue
            package = self.packages[component["name"], component["version"]]
            who = f"{package['name']} {package['version']} ({package['license']})"
            # In folders too, where crates keep the sources of libraries in C.
            files = [file for file in sorted(Path(package["manifest_path"]).parent.rglob("*")) if LICENCE.match(file.name) and file.is_file()]
            for file in files:
                text = "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines()).strip("\n")
                texts.setdefault(text, {})[who] = None
            if not files:
                silent.append(f"{who}, by {', '.join(package['authors']) or 'its contributors'}")
        pages = [f"{chr(10).join(sorted(crates))}\n\n{text}\n" for text, crates in texts.items()]
        if silent:
            pages.insert(0, "Crates whose packages hold no text of their licence:\n\n" + "\n".join(silent) + "\n")
        return f"\n{'-' * 80}\n\n".join(["Retrograde contains code of these projects.\n", *pages])
