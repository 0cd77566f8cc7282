"""The package for browsers and Node, as npm packs it."""

import os
import shutil

from .shell import ROOT, TOOLBOX, alike, bare, need, run

PACKAGE = ["retrograde-web"]
TRIPLE = "wasm32-unknown-unknown"
TESTS = ROOT / "crates/web/tests"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PLAYWRIGHT = TOOLBOX / "web/node_modules/playwright-core"
NODE = """\
import { init, instructions, reverse } from "@retrograde/web";
await init();
console.log(instructions(), reverse(Int16Array.of(1, 2, 3, 4), [2, 2], { axes: [1] }).join(" "));
"""


def has_browser():
    return os.path.exists(CHROMIUM) and PLAYWRIGHT.exists()


def path(release):
    return release.out / f"retrograde-web-{release.version}.tgz"


def build(release):
    run(ROOT / "scripts/parts/build/web", "package", env=alike("-Ctarget-feature=+simd128"))
    with release.temporary() as top:
        shutil.copytree(ROOT / "crates/web/dist", top, dirs_exist_ok=True)
        release.documents(top, TRIPLE, PACKAGE, "crates/web/package/README.md")
        run("npm", "pack", "--silent", top, "--pack-destination", release.out)
    release.bill(path(release).name, PACKAGE, TRIPLE)


def test(release, place):
    run("npm", "init", "--yes", cwd=place, env=bare())
    run("npm", "install", "--silent", "--no-audit", "--no-fund", path(release), cwd=place, env=bare())
    (place / "test.mjs").write_text(NODE)
    printed = run("node", "test.mjs", cwd=place, env=bare())
    need(printed == "simd128 2 1 4 3\n", f"node printed {printed!r}")
    package = place / "node_modules/@retrograde/web"
    run("node", TESTS / "masks.mjs", package)
    said = "used in node; NOT in a browser: no chromium or playwright-core (scripts/setup web)"
    if has_browser():
        run("node", TESTS / "browser.mjs", PLAYWRIGHT, package, env=os.environ | {"CHROMIUM": CHROMIUM})
        said = "used in node and in Chromium"
    return f"{release.sized(path(release))}: npm installed it; {said}"
