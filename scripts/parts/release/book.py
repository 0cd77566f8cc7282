"""The documents as a website of static files, with the charts and the playground."""

import os

from . import web
from .shell import ROOT, alike, files_of, pack, run, unpack


def name(release):
    return f"retrograde-book-{release.version}"


def path(release):
    return release.out / f"{name(release)}.tar.gz"


def build(release):
    with release.temporary() as top:
        run("mdbook", "build", "docs", "--dest-dir", top, env=alike())
        release.documents(top, web.TRIPLE, web.PACKAGE, None)
        pack(path(release), {f"{name(release)}/{file}": entry for file, entry in files_of(top).items()})
    # The playground has the package for browsers in it.
    release.bill(path(release).name, web.PACKAGE, web.TRIPLE)


def test(release, place):
    top = unpack(path(release), place)
    if not web.has_browser():
        return f"{release.sized(path(release))}: NOT OPENED: no chromium or playwright-core (scripts/setup web)"
    environment = os.environ | {"CHROMIUM": web.CHROMIUM}
    said = run("node", ROOT / "scripts/parts/release/book.mjs", web.PLAYWRIGHT, top, env=environment).strip()
    run("node", web.TESTS / "playground.mjs", web.PLAYWRIGHT, top / "playground/index.html", env=environment)
    return f"{release.sized(path(release))}: {said}; the tests of the playground passed"
