#!/usr/bin/env python3
"""Store to store, the command against zarr + dask.array.flip + to_zarr, in one run.

    .venv-zarr/bin/python bench/zarr/compare.py PATH/retrograde-zarr [--mib 1024] [--folder DIR] [--record]

`--record` writes what was measured to `bench/record/DATE-MACHINE-zarr`, a line for each case.

Both contestants read the same store and write a new one on the same file system, as processes of
their own, one after the other in alternation; every result is compared. Times include the start of
the process; for Dask the time inside, without its imports, is given too, and it is what counts for
the ratio. Neither waits for the disk: the command is called with `--no-sync`, because `to_zarr` does
not; the time with a sync is given too. Memory is the most resident memory of the process, by the kernel's account. Input files
are in the page cache.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import lines, machine, table  # noqa: E402

HEADINGS = ["store", "retrograde", "memory", "with sync", "dask", "memory", "tasks", "faster"]

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


def words_of(program, source, target, axes, memory, sync):
    words = [program, "--quiet", "reverse", source, "--axes", ",".join(map(str, axes)), "--memory", memory, "-o", target]
    return words if sync else [*words, "--no-sync"]


def compared(name, case, arguments):
    """The result of one case: every contestant in alternation, medians of times and the most memory."""
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        source, axes = Path(folder, "in.zarr"), case["axes"]
        shape = make(source, case, arguments.mib)
        taken = {"ours": [], "synced": [], "dask": []}
        for turn in range(arguments.rounds):
            for who in list(taken)[:: 1 if turn % 2 == 0 else -1]:
                target = Path(folder, who)
                if who == "dask":
                    took, memory, text = measured([sys.executable, "-c", DASK, source, target, json.dumps(axes)])
                    inside = json.loads(text)
                    taken[who].append((inside["seconds"], memory, inside["tasks"], took))
                else:
                    words = words_of(arguments.program, source, target, axes, arguments.memory, who == "synced")
                    taken[who].append(measured(words))
                if turn == 0:
                    check(source, target, axes)
                shutil.rmtree(target)
    seconds = {who: statistics.median(one[0] for one in rounds) for who, rounds in taken.items()}
    most = {who: max(one[1] for one in rounds) for who, rounds in taken.items()}
    return {
        "case": name,
        "shape": ",".join(map(str, shape)),
        "seconds": round(seconds["ours"], 3),
        "memory": most["ours"],
        "seconds_with_sync": round(seconds["synced"], 3),
        "dask_seconds": round(seconds["dask"], 3),
        "dask_seconds_with_imports": round(statistics.median(one[3] for one in taken["dask"]), 3),
        "dask_memory": most["dask"],
        "dask_tasks": taken["dask"][0][2],
    }


def row(result):
    """A result as cells of the table."""
    mine, other = result["seconds"], result["dask_seconds"]
    sizes = [f"{result[key] / 2**20:.0f} MiB" for key in ("memory", "dask_memory")]
    synced, tasks = f"{result['seconds_with_sync']:.2f} s", str(result["dask_tasks"])
    return [result["case"], f"{mine:.2f} s", sizes[0], synced, f"{other:.2f} s", sizes[1], tasks, f"{other / mine:.1f} x"]


def write(results, arguments, facts):
    """The record: a line for each case, and a page."""
    date = time.strftime("%Y-%m-%d")
    where = Path(__file__).resolve().parents[1] / "record" / f"{date}-{machine.slug(facts)}-zarr"
    where.mkdir(parents=True, exist_ok=True)
    options = f"--mib {arguments.mib} --rounds {arguments.rounds} --memory {arguments.memory}"
    command = f".venv-zarr/bin/python bench/zarr/compare.py PATH/retrograde-zarr {options} --record"
    versions = {name: version(name) for name in ("dask", "zarr", "numpy")}
    (where / "stores.tsv").write_text(lines.dumps({"date": date, "command": command} | facts | versions, results))
    about = table.markdown(["", ""], [[key, str(value)] for key, value in (facts | versions).items()])
    cases = table.markdown(HEADINGS, [row(result) for result in results])
    title = f"# Store to store with Zarr and Dask, {date}"
    how = (
        f"Arrays of {arguments.mib} MiB, medians of {arguments.rounds} rounds in alternation, input in the page cache. "
        "*faster* compares with the\ntime of Dask without its imports; neither waits for the disk, except under "
        "*with sync*, which is what the command does\nunless it is told otherwise."
    )
    (where / "README.md").write_text("\n\n".join([title, f"```sh\n{command}\n```", how, cases, "## Machine", about]) + "\n")
    return where


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--folder")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    results = []
    print(table.markdown(HEADINGS, []))
    for name, case in CASES.items():
        if arguments.only in name:
            results.append(compared(name, case, arguments))
            print(table.markdown(HEADINGS, [row(results[-1])]).splitlines()[-1], flush=True)
    if arguments.record:
        print(write(results, arguments, machine.describe()))


if __name__ == "__main__":
    main()
