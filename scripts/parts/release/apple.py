"""Stubs of Apple's frameworks, which programs for macOS are linked with instead of the SDK. As in the SDK, a stub is the
list of the names in a library. The names are those that crates declare; their prefixes tell the library.
"""

import json
import re
from pathlib import Path

from .shell import ROOT, need, run

FRAMEWORKS = {
    "CoreFoundation": "CF|kCF",
    "CoreGraphics": "CG|kCG",
    "Foundation": "NS",
    "IOSurface": "IOSurface|kIOSurface",
    "Metal": "MTL",
    "QuartzCore": "CA|kCA",
    "Security": "Sec|kSec|SSL|kSSL|Authorization|CMS",
}
OBJC = "(objc|class|object|method|ivar|property|protocol|sel|imp)_|_objc"
# Some constants are declared by macros.
DECLARED = re.compile(r"\b(?:(?:fn|static(?: mut)?) |(?=kSec))(\w+)")
# Relative to the root, where the linker runs, so that builds in other folders are the same.
PLACE = "target/apple"
FLAGS = ("-Clink-arg=-F", f"-Clink-arg={PLACE}", f"-Clink-arg=-L{PLACE}")


def write(triple):
    """Writes the stubs of what the crates for a target link with."""
    found = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", triple))
    names, linked = set(), set()
    for package in found["packages"]:
        if re.match("objc2|core-foundation|security-framework", package["name"]):
            for file in Path(package["manifest_path"]).parent.rglob("*.rs"):
                text = file.read_text(encoding="utf-8", errors="replace")
                names |= set(DECLARED.findall(text))
                linked |= set(re.findall(r'name = "(\w+)", kind = "framework"', text))
    # The last is used by none of what we call.
    unknown = linked - set(FRAMEWORKS) - {"ServiceManagement"}
    need(not unknown, f"crates link with frameworks that scripts/parts/release/apple.py does not know: {', '.join(unknown)}")
    for name, prefixes in FRAMEWORKS.items():
        own = sorted(word for word in names if re.match(f"({prefixes})[A-Z]", word))
        stub(f"{name}.framework/{name}.tbd", f"/System/Library/Frameworks/{name}.framework/Versions/A/{name}", own)
    stub("libobjc.tbd", "/usr/lib/libobjc.A.dylib", sorted(word for word in names if re.match(OBJC, word)))


def stub(file, installed, names):
    path = ROOT / PLACE / file
    path.parent.mkdir(parents=True, exist_ok=True)
    targets = "[ x86_64-macos, arm64-macos ]"
    symbols = ", ".join(f"_{name}" for name in names)
    path.write_text(f"""--- !tapi-tbd
tbd-version: 4
targets: {targets}
install-name: '{installed}'
exports:
  - targets: {targets}
    symbols: [ {symbols} ]
...
""")
