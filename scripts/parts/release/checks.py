"""What must be true before anything is built: versions, changelog, tag, addresses, and no uncommitted changes."""

import json
import re
import tomllib

from .shell import ROOT, need, run, say

# Manifests for other registries.
BROWSER = "crates/web/package/package.json"
RECIPE = "packaging/conda/recipe.yaml"


def check(release, dry, allow_dirty):
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = {"Cargo.toml": manifest["workspace"]["package"]["version"]}
    said |= {f"crate {p['name']}": p["version"] for p in release.packages}
    own = {name: value for name, value in manifest["workspace"]["dependencies"].items() if "path" in value}
    said |= {f"dependency {name}": value["version"] for name, value in own.items() if "version" in value}
    if "version" not in project.get("dynamic", []):
        said["pyproject.toml"] = project["version"]
    for file in (BROWSER, "CITATION.cff", RECIPE):
        text = (ROOT / file).read_text(encoding="utf-8")
        said[file] = re.search(r"""^ *"?version"?: "?([^\s",]+)""", text, re.M)[1]
    wrong = [f"{where} has {version}" for where, version in said.items() if version != release.version]
    need(not wrong, f"the version is {release.version}, but " + ", ".join(wrong))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[?([^\s\]]+)", changes, re.M)
    accepted = {release.version, "Unreleased"} if dry else {release.version}
    need(accepted & set(sections), f"CHANGELOG.md has no section {' or '.join(sorted(accepted))}")
    dirty = run("git", "status", "--porcelain").strip()
    need(allow_dirty or not dirty, f"there are uncommitted changes:\n{dirty}")
    tag = f"v{release.version}"
    addresses(release, dry, manifest["workspace"]["package"], project)
    need(dry or tag in run("git", "tag", "--points-at", "HEAD").split(), f"this commit does not have the tag {tag}")
    commit = run("git", "rev-parse", "--short", "HEAD").strip() + (" and changes" if dirty else "")
    say("checks", f"version {release.version} in {len(said)} places, changelog, commit {commit}")


def addresses(release, dry, package, project):
    """Manifests have the addresses of release.toml, and no others. Names those that are empty."""
    known = tomllib.loads((ROOT / "release.toml").read_text(encoding="utf-8"))
    browser = json.loads((ROOT / BROWSER).read_text(encoding="utf-8"))
    urls = {name.lower(): url for name, url in project.get("urls", {}).items()}
    for name in ("repository", "homepage", "documentation"):
        wanted = known[name] or None
        said = {"Cargo.toml, workspace.package": package.get(name), "pyproject.toml, project.urls": urls.get(name)}
        # docs.rs is the documentation of a crate.
        if name != "documentation":
            said[BROWSER] = browser.get(name)
            said |= {f"the manifest of {crate['name']}": crate[name] for crate in release.crates.values()}
        for where, value in said.items():
            need(value == wanted, f"release.toml has the {name} {wanted!r}, {where} has {value!r}")
    empty = [name for name, value in known.items() if not value]
    need(dry or not empty, f"release.toml has no {', '.join(empty)}")
    if empty:
        say("empty", f"in release.toml: {', '.join(empty)}")
