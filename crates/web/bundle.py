#!/usr/bin/env python3
"""Makes the playground: one HTML file with its style, its modules and the WebAssembly module in it.

    crates/web/bundle.py PACKAGE PAGE              writes PAGE from the sources and the package folder
    crates/web/bundle.py PACKAGE PAGE --check      fails if PAGE differs from that in more than the module

Browsers refuse modules from `file:` addresses, but not one that is part of a page. So each module
becomes a function here that returns its exports. Only the forms of import and export that our
modules use are known; any other one is an error.
"""

import base64
import gzip
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = r"\{([^}]*)\}"
IMPORT = re.compile(rf'^import {NAMES} from "([^"]+)";$', re.M)
REEXPORT = re.compile(rf'^export {NAMES} from "([^"]+)";$', re.M)
LIST = re.compile(rf"^export {NAMES};?$", re.M)
DECLARED = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.M)
MODULE = re.compile(r'(const MODULE = ")[^"]*(";)')


def renamed(names):
    """`a, b as c` as pairs of names."""
    parts = [part.split(" as ") for part in re.split(r"\s*,\s*", names.strip().strip(",")) if part]
    return [(part[0].strip(), part[-1].strip()) for part in parts]


class Bundle:
    """The modules of the page, each after those that it imports."""

    def __init__(self, package):
        self.package = package
        self.done = {}

    def find(self, file, path):
        """The file that an import means. The package's own sources and what was generated are one."""
        target = (file.parent / path).resolve()
        return target if target.exists() else self.package / target.name

    def add(self, file):
        """Adds a module, and returns its name in the page."""
        file = file.resolve()
        if file in self.done:
            return self.done[file][0]
        text = file.read_text(encoding="utf-8")
        returned = []

        def imported(match):
            names = ", ".join(a if a == b else f"{a}: {b}" for a, b in renamed(match[1]))
            return f"const {{ {names} }} = {self.add(self.find(file, match[2]))};"

        def passed_on(match):
            source = self.add(self.find(file, match[2]))
            returned.extend(f"{b}: {source}.{a}" for a, b in renamed(match[1]))
            return ""

        def listed(match):
            returned.extend(a if a == b else f"{b}: {a}" for a, b in renamed(match[1]))
            return ""

        def declared(match):
            returned.append(match[2])
            return f"{match[1]} {match[2]}"

        text = IMPORT.sub(imported, text)
        text = REEXPORT.sub(passed_on, text)
        text = DECLARED.sub(declared, text)
        text = LIST.sub(listed, text)
        if left := re.search(r"^(?:import|export)\b.*", text, re.M):
            raise SystemExit(f"bundle: {file.name}: cannot bundle {left[0]!r}")
        name = f"module_{file.stem}"
        body = f"const {name} = (() => {{\n{text.strip()}\nreturn {{ {', '.join(returned)} }};\n}})();\n"
        self.done[file] = (name, body)
        return name

    def script(self):
        return "\n".join(body for _, body in self.done.values())


def page(package):
    """The text of the page."""
    bundle = Bundle(package)
    bundle.add(HERE / "playground/boot.js")
    wasm = (package / "retrograde_web_bg.wasm").read_bytes()
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    script = bundle.script()
    if "</script" in script:
        raise SystemExit("bundle: a module contains </script")
    text = (HERE / "playground/page.html").read_text(encoding="utf-8")
    style = (HERE / "playground/style.css").read_text(encoding="utf-8")
    text = text.replace("/* STYLE */", f"\n{style}").replace("/* SCRIPT */", f"\n{script}")
    return text.replace("/* MODULE */", packed)


def main():
    package, target = Path(sys.argv[1]), Path(sys.argv[2])
    made = page(package)
    if "--check" in sys.argv[3:]:
        found = target.read_text(encoding="utf-8")
        if MODULE.sub(r"\1\2", found) != MODULE.sub(r"\1\2", made):
            raise SystemExit(f"bundle: {target} is stale: run scripts/build web")
        print(f"{target} is what its sources make")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(made, encoding="utf-8")


main()
