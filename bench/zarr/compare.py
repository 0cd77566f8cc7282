#!/usr/bin/env python3
"""Store to store, the command against zarr + dask.array.flip + to_zarr, in one run.

    zarr/.venv/bin/python bench/zarr/compare.py PATH/retrograde-zarr [--mib 1024] [--folder DIR] [--json FILE]

Both contestants read the same store and write a new one on the same file system, as processes of
their own, one after the other in alternation; every result is compared. Times include the start of
the process; for Dask the time inside, without its imports, is given too, and it is what counts for
the ratio. Memory is the most resident memory of the process, by the kernel's account. Input files
are in the page cache.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "plain, even": {"chunks": (256, 1024), "rows": 0, "axes": (0, 1), "codec": None},
    "plain, axis 0": {"chunks": (256, 1024), "rows": 0, "axes": (0,), "codec": None},
    "plain, ragged": {"chunks": (256, 1024), "rows": 100, "axes": (0,), "codec": None},
    "plain, renamed": {"chunks": (1, 262144), "rows": 0, "axes": (0,), "codec": None},
    "zstd, even": {"chunks": (256, 1024), "rows": 0, "axes": (0, 1), "codec": "zstd"},
    "zstd, ragged": {"chunks": (256, 1024), "rows": 100, "axes": (0,), "codec": "zstd"},
    "blosc, even": {"chunks": (256, 1024), "rows": 0, "axes": (0, 1), "codec": "blosc"},
}

DASK = """
import json, sys, time
import dask, dask.array as da, numpy as np, zarr
source, target, axes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
began = time.perf_counter()
array = zarr.open_array(source, mode="r")
x = da.flip(da.from_zarr(array), axes)
if any(size != chunk for sizes, chunk in zip(x.chunks, array.chunks) for size in sizes[:-1]):
    x = x.rechunk(array.chunks)
codecs = {"compressors": array.compressors or None, "zarr_format": 3, "chunks": array.chunks}
out = zarr.create_array(target, shape=x.shape, dtype=x.dtype, **codecs)
stored = da.store(x, out, lock=False, compute=False)
(stored,) = dask.optimize(stored)
tasks = len(dict(stored.__dask_graph__()))
dask.compute(stored)
print(json.dumps({"seconds": time.perf_counter() - began, "tasks": tasks}))
"""


# The kernel counts the memory of the process that forks, so a small one starts the contestants.
LAUNCH = """
import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
"""


def make(path, case, mib):
    import numpy as np
    import zarr
    from zarr.codecs import BloscCodec, ZstdCodec

    codecs = {None: None, "zstd": ZstdCodec(level=1), "blosc": BloscCodec(cname="lz4", shuffle="shuffle")}
    columns = max(4096, case["chunks"][1])
    rows = mib * 2**20 // 4 // columns - case["rows"]
    array = zarr.create_array(path, shape=(rows, columns), chunks=case["chunks"], dtype="f4", compressors=codecs[case["codec"]])
    rng = np.random.default_rng(0)
    for row in range(0, rows, 256):
        count = min(256, rows - row)
        array[row : row + count] = rng.integers(0, 1000, (count, columns), dtype="i4").astype("f4")
    return rows, columns


def measured(words):
    """Seconds, the most resident memory in bytes, and what the process printed."""
    words = [str(word) for word in words]
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-S", "-E", "-c", LAUNCH, *words], stdout=subprocess.PIPE, text=True)
    took = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{words[:3]} failed")
    *text, memory = done.stdout.splitlines()
    return took, int(memory), "\n".join(text)


def check(source, target, axes):
    import numpy as np
    import zarr

    left, right = zarr.open_array(source, mode="r"), zarr.open_array(target, mode="r")
    rows = left.shape[0]
    for row in range(0, rows, 2048):
        expected = np.flip(left[max(rows - row - 2048, 0) : rows - row] if 0 in axes else left[row : row + 2048], axes)
        assert right[row : row + len(expected)].tobytes() == expected.tobytes(), f"row {row} differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    results = []
    print("| store | retrograde | memory | dask | memory | tasks | faster |\n|---|---|---|---|---|---|---|")
    for name, case in CASES.items():
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            source = Path(folder, "in.zarr")
            shape = make(source, case, arguments.mib)
            axes = ",".join(map(str, case["axes"]))
            ours, theirs = [], []
            for turn in range(arguments.rounds):
                for who in ("ours", "theirs") if turn % 2 == 0 else ("theirs", "ours"):
                    target = Path(folder, who)
                    if who == "ours":
                        words = [arguments.program, "--quiet", "reverse", source, "--axes", axes, "--memory", arguments.memory, "-o", target]
                        took, memory, _ = measured(words)
                        ours.append((took, memory))
                    else:
                        words = [sys.executable, "-c", DASK, source, target, json.dumps(case["axes"])]
                        took, memory, text = measured(words)
                        inside = json.loads(text)
                        theirs.append((inside["seconds"], memory, inside["tasks"], took))
                    if turn == 0:
                        check(source, target, case["axes"])
                    shutil.rmtree(target)
            mine, other = statistics.median(t[0] for t in ours), statistics.median(t[0] for t in theirs)
            own, foreign = max(t[1] for t in ours), max(t[1] for t in theirs)
            results.append({"case": name, "shape": shape, "seconds": mine, "memory": own, "dask_seconds": other, "dask_memory": foreign, "dask_tasks": theirs[0][2], "dask_with_imports": statistics.median(t[3] for t in theirs)})
            print(f"| {name} | {mine:.2f} s | {own / 2**20:.0f} MiB | {other:.2f} s | {foreign / 2**20:.0f} MiB | {theirs[0][2]} | {other / mine:.1f} x |", flush=True)
    if arguments.json:
        machine = {"machine": platform.machine(), "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d"), "mib": arguments.mib}
        Path(arguments.json).write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
