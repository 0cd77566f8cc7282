"""The machine that the measurements ran on."""

import os
import platform
import re
import subprocess
from pathlib import Path


def describe():
    cpu = cpu_info()
    return {
        "cpu": cpu.get("model name", platform.processor() or platform.machine()),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "caches": caches(),
        "vectors": vectors(cpu.get("flags", "")),
        "memory": memory(),
        "system": f"{platform.system()} {platform.release()}",
        "huge pages": huge_pages(),
        "virtual machine": "yes" if "hypervisor" in cpu.get("flags", "").split() else "not reported",
    }


def host():
    """The host of a GPU, in one line."""
    facts = describe()
    return {"host": f"{facts['cpu']}, {facts['cores']} cores, {facts['memory']}, {facts['system']}"}


def versions(peers):
    found = {
        "retrograde": retrograde_version(),
        "rustc": output("rustc", "--version"),
        "python": platform.python_version(),
    }
    libc = platform.libc_ver()
    found["C library (memcpy)"] = " ".join(libc).strip() or "unknown"
    return found | {peer.name: peer.version for peer in peers}


def slug(machine):
    """The machine as part of a folder's name."""
    words = re.sub(r"\(.*?\)|@.*|\b(CPU|Processor|Intel|AMD)\b", " ", machine["cpu"])
    words = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or platform.machine()
    return f"{words}-{machine['cores']}-core{'s' if machine['cores'] != 1 else ''}"


def cpu_info():
    try:
        block = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return {"model name": output("sysctl", "-n", "machdep.cpu.brand_string")}
    pairs = (line.split(":", 1) for line in block.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def vectors(flags):
    names = [name for name in ["ssse3", "avx2", "avx512bw", "avx512vbmi", "asimd", "sve"] if name in flags.split()]
    return " ".join(names) or "unknown"


def caches():
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found) or "unknown"


def memory():
    try:
        kib = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1])
        return f"{kib / (1 << 20):.1f} GiB"
    except (OSError, TypeError):
        return "unknown"


def huge_pages():
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
        return re.search(r"\[(\w+)\]", text)[1]
    except (OSError, TypeError):
        return "unknown"


def retrograde_version():
    root = Path(__file__).resolve().parents[2]
    commit = output("git", "-C", str(root), "describe", "--always", "--dirty")
    version = re.search(r'version = "([^"]+)"', (root / "Cargo.toml").read_text())
    return f"{version[1] if version else '?'} ({commit})"


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
