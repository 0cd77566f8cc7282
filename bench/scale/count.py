#!/usr/bin/env python3
"""Counts what reversals of 10 TB on 100 workers would cost: builds the real graphs, and runs none.

    bench/scale/count.py [--chunks N] [--json FILE] [--plot FILE]

The array has sequences of 100,000 steps of 1000 float32 features, in chunks of 25 sequences and 1000
steps (100 MB). `--chunks` is the number of chunks, 100,000 by default: 25,000 sequences, 10 TB. Needs
the Python package and Dask; at full size, 10 GB of memory and eight minutes.

Beside each call is what one would write without Retrograde: `dask.array.flip` and a copy of each chunk,
or all steps of a sequence in one chunk, a call of NumPy for it, and the original chunks again.
"""

import argparse
import gc
import json
import pickle
import sys
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from dask._task_spec import Task

import retrograde.dask as rd

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 100
STEPS, FEATURES, SEQUENCES, LONG = 100_000, 1000, 25, 1000
#: The most entries of a graph that is optimised too.
OPTIMISED = 400_000
CHUNK = SEQUENCES * LONG * FEATURES * 4


def array(chunks, long=LONG, steps=STEPS):
    """An array of this many chunks; its tasks stand for those that read a store."""
    blocks = max(1, chunks * long // steps)
    return da.zeros((blocks * SEQUENCES, steps, FEATURES), dtype=np.float32, chunks=(SEQUENCES, long, FEATURES))


def naive_call(block, lengths):
    """What NumPy has for this: a loop."""
    out = block.copy()
    for row, n in enumerate(lengths[:, 0, 0]):
        out[row, :n] = block[row, :n][::-1]
    return out


def rechunked(x, lengths):
    """A sequence in one chunk each: what one would write today."""
    lengths = da.from_array(lengths[:, None, None], chunks=(1, 1, 1))
    whole = x.rechunk((1, -1, -1))
    return da.map_blocks(naive_call, whole, lengths, dtype=x.dtype, meta=x._meta).rechunk(x.chunks)


def cases(x):
    """Names, and functions that make the arrays: one of ours, and what is compared with it."""
    rng = np.random.default_rng(1)
    count, steps = x.shape[:2]
    mixed = rng.integers(1, steps + 1, count)
    sorted_ = np.repeat(rng.integers(1, steps + 1, x.numblocks[0]), SEQUENCES)
    axes = {"time_axis": 1, "batch_axis": 0}
    return {
        "flip": lambda: rd.flip(x, 1),
        "dask.array.flip, map_blocks": lambda: da.flip(x, 1).map_blocks(np.ascontiguousarray),
        "lengths, equal in a chunk": lambda: rd.reverse_sequence(x, sorted_, **axes),
        "lengths, all different": lambda: rd.reverse_sequence(x, mixed, **axes),
        "lengths, computed": lambda: rd.reverse_sequence(x, da.from_array(mixed, chunks=SEQUENCES), **axes),
        "rechunk, map_blocks, rechunk": lambda: rechunked(x, mixed),
    }


def counted(x, make, chunk=CHUNK):
    """What the graph of an array costs; nothing is run."""
    start = time.perf_counter()
    y = make()
    built = time.perf_counter() - start
    sent = len(pickle.dumps(y.__dask_graph__()))
    start = time.perf_counter()
    graph = dict(y.__dask_graph__())
    tasks = {key: task for key, task in graph.items() if isinstance(task, Task)}
    made = time.perf_counter() - start
    own = [task for key, task in tasks.items() if key[0] != x.name]
    held, moved = memory(x, own, chunk)
    total = x.nbytes
    optimised = None
    if len(graph) <= OPTIMISED:
        start = time.perf_counter()
        (fused,) = dask.optimize(y)
        optimised = sum(isinstance(task, Task) for task in dict(fused.__dask_graph__()).values())
    return {
        # With the tasks that read; None where it would take minutes.
        "optimised_tasks": optimised,
        "optimise_s": None if optimised is None else time.perf_counter() - start,
        "tasks": len(own),
        "entries": len(graph),
        "build_s": built,
        "tasks_s": made,
        "sent_bytes": sent,
        "read_bytes_per_worker": total / WORKERS,
        "written_bytes_per_worker": total / WORKERS,
        "moved_bytes_per_worker": moved / WORKERS,
        "peak_bytes_per_task": held,
    }


def memory(x, tasks, chunk):
    """The most bytes that a task holds, and the bytes that tasks get from other tasks than the one they follow.

    A task that cuts a piece out of a chunk runs where the chunk is. One that reads several runs where one
    of them is, and gets the others. Pieces of an output chunk are as large as it is, all together.
    """
    held = moved = 0
    for task in tasks:
        words = _words(task)
        inputs = sum(1 for key in task.dependencies if key[0] == x.name)
        if words in ("cut", "piece"):
            held = max(held, 2 * chunk)
        elif words in ("stitched", "assembled"):
            held, moved = max(held, 2 * chunk), moved + chunk
        else:
            held, moved = max(held, (inputs + 1) * chunk), moved + max(0, inputs - 1) * chunk
    return held, moved


def _words(task):
    return getattr(task.func, "__name__", "")


def rechunk_costs(x, chunk=CHUNK):
    """For the other route: a sequence in one chunk, twice the bytes of all of it, and both times everything moves."""
    whole = x.shape[1] * x.shape[2] * x.dtype.itemsize
    return {"peak_bytes_per_task": max(2 * whole, 2 * chunk), "moved_bytes_per_worker": 2 * x.nbytes / WORKERS}


def table(chunks):
    rows = []
    for name in cases(array(SEQUENCES)):
        # A new array each time: Dask keeps the tasks that it made for one, and pickles them.
        x = array(chunks)
        make = cases(x)[name]
        row = {"call": name, "chunks": x.npartitions, "bytes": x.nbytes} | counted(x, make)
        if name.startswith("rechunk"):
            row |= rechunk_costs(x)
        rows.append(row)
        print(line(row), flush=True)
        gc.collect()
    return rows


def line(row):
    return (
        f"{row['call']:30} tasks {row['tasks']:9,} (optimised, with reads: {row['optimised_tasks'] or 0:,})"
        f"  build {row['build_s']:6.3f} s  make tasks {row['tasks_s']:6.1f} s"
        f"  sent {row['sent_bytes'] / 1e3:9,.0f} kB  moved/worker {row['moved_bytes_per_worker'] / 1e9:6.1f} GB"
        f"  peak/task {row['peak_bytes_per_task'] / 1e6:7,.0f} MB"
    )


def growth(numbers=(2, 5, 10, 20, 50, 100, 200)):
    """Tasks for each output chunk, by the number of chunks along the axis: four blocks of sequences."""
    rows = []
    for number in numbers:
        x = array(4 * number, LONG, LONG * number)
        for name, make in cases(x).items():
            rows.append({"call": name, "along": number, "tasks": counted(x, make)["tasks"] / x.npartitions})
    return rows


def plot(rows):
    """The chart of :func:`growth`, on logarithmic scales."""
    sys.path.insert(0, str(ROOT / "bench"))
    from math import log10

    from harness.drawing import STYLE, stroke, text

    colours = ["#e8590c", "#4c8dd6", "#f2a65a", "#2f9e77", "#9b6dd0", "#888"]
    left, top, width, height = 70, 50, 420, 300
    low, high = (f(row["along"] for row in rows) for f in (min, max))
    most = max(row["tasks"] for row in rows)
    decades = 10 ** int(log10(most) + 1)

    def x_of(along):
        return left + width * log10(along / low) / log10(high / low)

    def y_of(tasks):
        return top + height * (1 - log10(max(tasks, 1)) / log10(decades))

    parts = [text(left, 24, "Tasks for each output chunk, by the number of chunks along the axis", "title")]
    tick = 1
    while tick <= decades:
        parts += [stroke(left, y_of(tick), left + width, y_of(tick), "grid")]
        parts += [text(left - 8, y_of(tick) + 4, f"{tick:g}", "quiet", "end")]
        tick *= 10
    names = list(dict.fromkeys(row["call"] for row in rows))
    for along in sorted({row["along"] for row in rows}):
        parts.append(text(x_of(along), top + height + 20, str(along), "quiet", "middle"))
    ends = []
    for name, colour in zip(names, colours, strict=True):
        points = [(x_of(row["along"]), y_of(row["tasks"])) for row in rows if row["call"] == name]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = "" if "_blocks" not in name else ' stroke-dasharray="5 4"'
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2.2"{dashes}/>')
        ends.append((points[-1][1], name, colour))
    below = 0
    for y, name, colour in sorted(ends):
        below = max(below + 18, y + 4)
        parts.append(f'<rect x="{left + width + 10}" y="{below - 10:.1f}" width="10" height="10" fill="{colour}"/>')
        parts.append(text(left + width + 26, below, name))
    size = f'width="740" height="{top + height + 40}" viewBox="0 0 740 {top + height + 40}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{"".join(parts)}</svg>\n'


def main():
    # Millions of objects are made and kept; looking for cycles among them takes longer than making them.
    gc.disable()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--json", type=Path, help="writes the numbers")
    parser.add_argument("--plot", type=Path, help="writes a chart of how tasks grow with chunks, instead")
    options = parser.parse_args()
    if options.plot:
        options.plot.write_text(plot(growth()), encoding="utf-8")
        return
    print(f"dask {dask.__version__}, NumPy {np.__version__}")
    rows = table(options.chunks)
    if options.json:
        options.json.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
