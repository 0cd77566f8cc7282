"""Prints what a program or a library is, as JSON: its processor, the oldest system that it runs on, the libraries that
it needs, what it exports, and of Mach-O which names it takes from any library and whether the signature of each page is
right (null without a signature, with which macOS on arm64 does not run it).

    PYTHON scripts/parts/release/binary.py FILE     an interpreter that has lief
"""

import hashlib
import json
import re
import struct
import sys

import lief


def machine(binary):
    name = str(getattr(binary.header, "machine_type", None) or getattr(binary.header, "machine", None) or binary.header.cpu_type)
    return {"X86_64": "x86_64", "AMD64": "x86_64", "AARCH64": "aarch64", "ARM64": "aarch64"}[name.split(".")[-1].upper()]


def signed(data):
    """Whether the code directory of a Mach-O file has the hashes of its pages; None without one."""
    count, at = struct.unpack_from("<I", data, 16)[0], 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x1D:  # LC_CODE_SIGNATURE
            start = struct.unpack_from("<I", data, at + 8)[0]
            break
        at += size
    else:
        return None
    for index in range(struct.unpack_from(">I", data, start + 8)[0]):
        kind, offset = struct.unpack_from(">II", data, start + 12 + 8 * index)
        if kind == 0:  # the code directory
            place = start + offset
            hashes, slots, limit = (struct.unpack_from(">I", data, place + where)[0] for where in (16, 28, 32))
            length, algorithm, page = data[place + 36], data[place + 37], 1 << data[place + 39]
            if (length, algorithm) != (32, 2) or limit != start or slots != -(-limit // page):
                return False
            found = [hashlib.sha256(data[page * i : min(page * (i + 1), limit)]).digest() for i in range(slots)]
            return found == [data[place + hashes + 32 * i : place + hashes + 32 * (i + 1)] for i in range(slots)]
    return False


def describe(path):
    binary = lief.parse(path)
    with open(path, "rb") as file:
        data = file.read()
    oldest, loose, fine = None, [], True
    if isinstance(binary, lief.ELF.Binary):
        needs = list(binary.libraries)
        versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", data)
        oldest = max(((int(a), int(b)) for a, b in versions), default=None)
    elif isinstance(binary, lief.MachO.Binary):
        needs = [library.name for library in binary.libraries if library.name != getattr(binary, "id", None)]
        oldest = list(binary.build_version.minos[:2] if binary.has_build_version else binary.version_min.version[:2])
        bound = [(symbol.name, symbol.binding_info.library_ordinal) for symbol in binary.imported_symbols if symbol.has_binding_info]
        loose, fine = [name for name, ordinal in bound if ordinal == -2], signed(data)
    else:
        needs = list(binary.libraries)
    exports = [function.name.removeprefix("_") if isinstance(binary, lief.MachO.Binary) else function.name for function in binary.exported_functions]
    return {"machine": machine(binary), "oldest": oldest, "needs": needs, "exports": exports, "loose": loose, "signed": fine}


if __name__ == "__main__":
    print(json.dumps(describe(sys.argv[1])))
