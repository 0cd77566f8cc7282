"""The publishable crates, as cargo packages them, and a program that is built from the packages."""

import shutil
import tarfile
from pathlib import Path

from .shell import ROOT, bare, need, run

PROGRAM = """\
use retrograde::{Reversal, Reverse, ReverseSequence};

fn main() -> Result<(), retrograde::Error> {
    let x = [1, 2, 3, 4, 5, 6];
    assert_eq!(Reverse::axes([-1]).to_vec(&x, &[2, 3])?, [3, 2, 1, 6, 5, 4]);
    let batch = ReverseSequence::new().time_axis(1).batch_axis(0);
    assert_eq!(batch.lengths(&[2, 3]).to_vec(&x, &[2, 3])?, [2, 1, 3, 6, 5, 4]);
    println!("both right");
    Ok(())
}
"""


def build(release):
    wanted = [word for name in release.crates for word in ("-p", name)]
    # In one command, because the crates depend on each other and are not in a registry yet. Without
    # verification, because cargo would compile the engine again for each crate; the test compiles all of
    # them together.
    run("cargo", "package", "--locked", "--no-verify", *wanted, *(["--allow-dirty"] if release.allow_dirty else []))
    for name in release.crates:
        file = f"{name}-{release.version}.crate"
        shutil.copy(release.target / "package" / file, release.out)
        release.bill(file, [name])


def test(release, place):
    for name in release.crates:
        with tarfile.open(release.out / f"{name}-{release.version}.crate") as crate:
            crate.extractall(place, filter="data")
            held = {Path(entry).name for entry in crate.getnames()}
        need(held >= set(release.LICENCES), f"{name}: the package lacks a licence")
    program = place / "program"
    (program / "src").mkdir(parents=True)
    (program / "src" / "main.rs").write_text(PROGRAM)
    # Depend on the crates by version, as users do, and patch in the packages, which are not published yet.
    lines = ['[package]\nname = "program"\nedition = "2024"\n[workspace]\n[profile.dev]\ndebug = false\n[dependencies]']
    lines += [f'{name} = "={release.version}"' for name in release.crates]
    lines += ["[patch.crates-io]"]
    lines += [f'{name} = {{ path = "../{name}-{release.version}" }}' for name in release.crates]
    (program / "Cargo.toml").write_text("\n".join([*lines, ""]))
    shutil.copy(ROOT / "Cargo.lock", program)
    printed = run("cargo", "run", "--quiet", cwd=program, env=bare(CARGO_TARGET_DIR=str(place / "target")))
    need(printed == "both right\n", f"the program printed {printed!r}")
    return f"{', '.join(release.crates)}: built from their packages; a program that uses them ran"
