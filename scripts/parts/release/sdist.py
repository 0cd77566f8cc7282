"""The source distribution, and the recipe for conda-forge, which takes it from PyPI."""

import hashlib

from . import wheel
from .checks import RECIPE
from .shell import ROOT, alike, need, run, tools


def build(release):
    run(tools().with_name("maturin"), "sdist", "--out", release.out, env=alike())
    name = f"retrograde-{release.version}.tar.gz"
    release.bill(name, ["retrograde-python"])
    digest = hashlib.sha256((release.out / name).read_bytes()).hexdigest()
    recipe = (ROOT / RECIPE).read_text(encoding="utf-8").replace('sha256: ""', f"sha256: {digest}")
    need(digest in recipe, f"{RECIPE} has no empty sha256")
    (release.out / "recipe.yaml").write_text(recipe, encoding="utf-8")


def test(release, place):
    path = release.out / f"retrograde-{release.version}.tar.gz"
    # This tests only that it compiles and runs, so skip the optimisations.
    wheel.installed(release, place, path, CARGO_PROFILE_DIST_LTO="off", CARGO_PROFILE_DIST_OPT_LEVEL="0")
    return f"{release.sized(path)}: pip compiled it (unoptimised); called, and its command ran"
