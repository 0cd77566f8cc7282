"""The versions of other libraries that are supported (versions.toml), and what must agree with them."""

import re
import tomllib

import verbs

TABLE = tomllib.loads((verbs.PARTS / "versions.toml").read_text(encoding="utf-8"))


def declared():
    """The least versions that the Python package asks for, by library."""
    project = tomllib.loads((verbs.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = project["dependencies"] + sum(project["optional-dependencies"].values(), [])
    return dict(re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", need).groups() for need in needs)


def pinned():
    """What the other tests install, by library: a set of versions."""
    found = {}
    for file in verbs.git("ls-files", "*requirements.txt").splitlines():
        for name, version in re.findall(r"^([\w-]+)(?:\[.*\])?==(\S+)", (verbs.ROOT / file).read_text(encoding="utf-8"), re.M):
            found.setdefault(name, set()).add(version)
    return found


def rows():
    """For each library, the row of docs/versions.md that has its name."""
    page = (verbs.ROOT / "docs/versions.md").read_text(encoding="utf-8").lower().replace(" ", "")
    lines = [line for line in page.splitlines() if line.startswith("|")]
    names = {"torch": "pytorch"}
    return {name: next((line for line in lines if names.get(name, name) in line.split("|")[1].split(",")), "") for name in TABLE}


def problems():
    """Each library, with what does not agree with the table, or None."""
    least, pins, said = declared(), pinned(), rows()
    for name, row in TABLE.items():
        oldest, newest = row["oldest"], row["newest"]
        wrong = []
        if name in least and f"{oldest}.".removeprefix(f"{least[name]}.") == f"{oldest}.":
            wrong.append(f"pyproject.toml asks for {least[name]}, versions.toml tests {oldest}")
        if newest not in pins.get(name, ()):
            wrong.append(f"no requirements.txt has {newest}")
        wrong += [f"docs/versions.md does not name {version}" for version in (oldest, newest) if not re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.]*\d)", said[name])]
        yield f"versions.toml: {name}", "; ".join(wrong) or None
