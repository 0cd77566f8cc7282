"""The Rust contestants: a separate program with the same measurement method."""

import json
import os
import re
import subprocess
from pathlib import Path

from . import record


def measure(options):
    """Its results, one per case and thread count, and what it skipped."""
    program = os.environ.get("RETROGRADE_BENCH_RUST_PEERS")
    if not program:
        return [], []
    command = [program, "--rounds", str(options.rounds), "--threads", ",".join(map(str, options.threads))]
    most = min(options.max_bytes or (256 << 20), (16 if options.quick else 256) << 20)
    command += ["--max-bytes", str(most), "--filter", options.filter]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        return [], [{"peer": "Rust crates", "reason": f"rust-peers ended with {run.returncode}"}]
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return [case(line) for line in lines if "contestants" in line], [line for line in lines if "reason" in line]


def case(line):
    """What it printed, as a case of a record."""
    rows = []
    for one in line["contestants"]:
        name, _, style = one["name"].partition(" ")
        figures = {"seconds": one["seconds"], "ratio": one["ratio"], "low": one["ratio_p10"], "high": one["ratio_p90"]}
        rows.append({"name": name, "style": style or "reused", **figures})
    return {"group": record.RUST, **{key: line[key] for key in ("name", "bytes", "threads")}, "contestants": rows}


def versions(results):
    """The versions of the measured crates, which are pinned in the manifest."""
    manifest = Path(__file__).resolve().parents[1] / "rust-peers" / "Cargo.toml"
    pinned = dict(re.findall(r'^([\w-]+) = .*"=([\d.]+)"', manifest.read_text(), re.MULTILINE))
    measured = {row["name"] for result in results for row in result["contestants"]}
    # candle is named candle-core in the manifest.
    return {f"{name} (crate)": version for name, version in pinned.items() if name.removesuffix("-core") in measured}
