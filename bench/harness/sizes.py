"""`bench/run --sweep`: time against size, as programs call it from Python.

Every call is timed by itself: back to back, and after a millisecond of other work, in which threads
fall asleep. Everyone runs in turns in one process, with the thread settings that users have; then
each library alone, in a process of its own. The yardstick is the fastest copy that anyone makes at
that size, into the same kind of output.
"""

import datetime
import gc
import json
import os
import shlex
import subprocess
import sys
from time import perf_counter

import numpy as np

from . import chart, machine, peers, record, sweep, words
from .cases import BITS, Case
from .contestants import Unsupported, from_python, into, making
from .job import Job
from .measure import quantile

#: Operator, type, the axes after the first, and the axes of the call.
KINDS = {
    "f32 rows of 2 KiB": ("reverse", "f32", (512,), (1,)),
    "u8 rows of 128 B": ("reverse", "u8", (128,), (1,)),
    "f16 rows of 64 KiB": ("reverse", "f16", (32768,), (1,)),
    "f64 rows of 4 KiB": ("reverse", "f64", (512,), (1,)),
    "u8 RGB": ("reverse", "u8", (704, 3), (1,)),
    "f32 axis 0": ("reverse", "f32", (512,), (0,)),
    "f32 sequences": ("sequence", "f32", (512,), (1, 0)),
    "f32 per lane": ("subsequences", "f32", (512,), (1,)),
}
PAUSES = {"back to back": 0.0, "after 1 ms": 1e-3}
#: Flips whose result is read at once: what they leave in the caches counts too.
SUMMED = "f32 rows of 2 KiB, then summed"
#: Calls of a turn, of which the first only warms up; and the time for one size in seconds.
TURN, BUDGET = 5, 1.2
FEWEST, FEWEST_QUICK, MOST = 5, 2, 60
#: Who takes longer than this many seconds for a call has one turn.
SLOW = 0.05


def sizes():
    """Powers of two from 4 KiB to 64 MiB, and odd sizes between some of them."""
    for bits in range(12, 27):
        yield 1 << bits
        if bits % 3 == 0 and bits < 26:
            yield (1 << bits) * 3 // 2 + 100


def case_of(kind, size):
    operator, dtype, rest, axes = KINDS[kind]
    row = int(np.prod(rest)) * BITS[dtype] // 8
    return Case("size", operator, dtype, (max(size // row, 1), *rest), axes)


def copies(job, others):
    """Plain copies, by everyone who is there."""
    x, out, package = job.x, job.out, __import__("retrograde")
    yield into("copy: numpy", job, lambda: np.copyto(out, x))
    yield making("copy: numpy", x.copy)
    yield into("copy: retrograde", job, lambda: package.reverse(x, (), out=out))
    yield making("copy: retrograde", lambda: package.reverse(x, ()))
    if any(peer.name == "torch" for peer in others):
        import torch

        from_torch, to_torch = torch.from_numpy(x), torch.from_numpy(out)
        yield into("copy: torch", job, lambda: to_torch.copy_(from_torch))
        yield making("copy: torch", from_torch.clone)


def own(job, others):
    """Retrograde on NumPy arrays, and on tensors of PyTorch if that is there."""
    # The threads that users get, who ask for no number.
    for one in from_python(job, None):
        one.name = "retrograde"
        yield one
    if any(peer.name == "torch" for peer in others):
        import torch

        tensors = Tensors(job, torch)
        for one in from_python(tensors, None):
            one.name = "retrograde on torch"
            yield one


class Tensors:
    """The job as tensors of PyTorch."""

    def __init__(self, job, torch):
        self.case, self.src, self.dst = job.case, job.src, job.dst
        self.x, self.out = torch.from_numpy(job.x), torch.from_numpy(job.out)
        self.lengths = job.lengths


def contestants(job, others):
    yield from copies(job, others)
    yield from own(job, others)
    for peer in others:
        try:
            yield from peer.contestants(job, len(os.sched_getaffinity(0)))
        except Unsupported:
            continue


def summed(job, others):
    """New flips and copies, and the sum of each."""
    x, package = job.x, __import__("retrograde")
    yield making("copy: numpy", lambda: x.copy().sum())
    yield making("retrograde", lambda: package.reverse(x, 1).sum())
    yield making("numpy", lambda: np.flip(x, 1).copy().sum())
    if any(peer.name == "torch" for peer in others):
        import torch

        tensor = torch.from_numpy(x)
        yield making("copy: torch", lambda: tensor.clone().sum())
        yield making("retrograde on torch", lambda: package.reverse(tensor, 1).sum())
        yield making("torch", lambda: torch.flip(tensor, (1,)).sum())


def right(job, one):
    if one.name.startswith("copy"):
        return True
    if one.style == "reused":
        job.dst.fill(0xA5)
        one.work(1)
    return job.is_right(one.result())


def timed(work, pause):
    if pause:
        until = perf_counter() + pause
        while perf_counter() < until:
            pass
    start = perf_counter()
    work(1)
    return perf_counter() - start


def measure(kind, size, others, budget):
    """The times of every contestant for one size."""
    job = Job(case_of(kind.removesuffix(", then summed"), size))
    everyone = list((summed if kind == SUMMED else contestants)(job, others))
    wrong = [one.label for one in everyone if kind != SUMMED and not right(job, one)]
    if wrong:
        raise SystemExit(f"WRONG: {job.case.name}: {', '.join(wrong)}")
    for how, pause in PAUSES.items():
        seconds = [[] for _ in everyone]
        start = perf_counter()
        fewest = FEWEST if budget >= BUDGET else FEWEST_QUICK
        for turn in range(MOST):
            if turn >= fewest and perf_counter() - start > budget:
                break
            for one, times in zip(everyone, seconds, strict=True):
                if times and min(times) > SLOW:
                    continue
                times += [timed(one.work, pause) for _ in range(TURN)][1:]
        for one, times in zip(everyone, seconds, strict=True):
            yield {
                "kind": kind,
                "bytes": job.case.bytes,
                "how": how,
                "name": one.name,
                "style": one.style,
                "us": round(quantile(times, 0.5) * 1e6, 2),
                "p90": round(quantile(times, 0.9) * 1e6, 2),
            }


def run(names, kinds, budget):
    """Measures in this process; prints one line of JSON per result."""
    others = [peer for peer in peers.load("all")[0] if peer.name in names]
    gc.disable()
    for kind in kinds:
        for size in sizes():
            for row in measure(kind, size, others, budget):
                print(json.dumps(row), flush=True)
            gc.collect()


def started(names, kinds, budget):
    """The results of another process, in which only these libraries are loaded."""
    command = [sys.executable, "-m", __name__, json.dumps([names, kinds, budget])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row | {"process": "alone" if len(names) < 2 else "together"} for row in rows]


def main(asked):
    """Measures, and writes the results and a page."""
    light = ["numpy", "torch", "onnxruntime"]
    names = {"none": [], "light": light, "all": [*light, "jax"]}[asked.peers]
    kinds = [kind for kind in [*KINDS, SUMMED] if asked.filter.lower() in kind.lower()]
    if not kinds:
        return f"bench/run: no kind contains {asked.filter!r}"
    budget = BUDGET / 4 if asked.quick else BUDGET
    rows = started(names, kinds, budget)
    separate = [kind for kind in kinds if any(text in kind.lower() for text in asked.alone.lower().split(","))]
    for name in names if len(names) > 1 and not asked.together else []:
        rows += started([name], separate, budget)
    date, facts = datetime.date.today().isoformat(), machine.describe()
    where = record.folder(asked, facts, f"{date}-sizes")
    where.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) for row in rows]
    (where / "sizes.jsonl").write_text("\n".join(lines) + "\n")
    for (how, style), name in PICTURES.items():
        (where / f"{name}.svg").write_text(picture(rows, facts, how, style))
    text = page(rows, facts, date)
    (where / "README.md").write_text(text)
    print(text)
    print(f"written: {where.relative_to(record.BENCH.parent)}/README.md, sizes.jsonl")
    return 0


#: The pictures of a record, by when calls are made and where their output goes.
PICTURES = {
    ("back to back", "fresh"): "new-arrays",
    ("back to back", "reused"): "given-outputs",
    ("after 1 ms", "fresh"): "new-arrays-after-1-ms",
    ("after 1 ms", "reused"): "given-outputs-after-1-ms",
}


def picture(rows, facts, how, style):
    """A panel for each kind: the fastest copy's time divided by each contestant's, all in one process."""
    asked = {"process": "together", "how": how, "style": style}
    panels = {}
    for row in rows:
        if asked.items() <= row.items():
            panels.setdefault(row["kind"], {}).setdefault(row["bytes"], {})[row["name"]] = row["us"]
    parts, names, top = [], set(), 120
    width = (chart.WIDTH - 3 * sweep.GAP) / 2
    for at, (kind, by_size) in enumerate(panels.items()):
        lines = {}
        for size, times in by_size.items():
            copy = min(time for name, time in times.items() if name.startswith("copy"))
            for name, time in times.items():
                if not name.startswith("copy"):
                    lines.setdefault(name, []).append((size, copy / time))
        names |= set(lines)
        left = sweep.GAP + at % 2 * (width + sweep.GAP)
        parts += sweep.panel(kind, lines, left, top + at // 2 * (sweep.HEIGHT + 70), width)
    height = top + (len(panels) + 1) // 2 * (sweep.HEIGHT + 70)
    what = {"fresh": "new arrays", "reused": "given outputs"}[style]
    title = f"Speed relative to the fastest copy, {what}, {how}"
    note = f"{facts['cpu']}, {facts['cores']} processors; all libraries in one process, called from Python; more is faster"
    return chart.framed(title, note, names, parts, height)


def page(rows, facts, date):
    command = shlex.join(["bench/run", *sys.argv[1:]])
    parts = [f"# Time against size, {date}", f"```sh\n{command}\n```", HOW]
    parts += [f"![{style} outputs, {how}]({name}.svg)" for (how, style), name in PICTURES.items()]
    parts.append("\n".join(f"- {key}: {value}" for key, value in facts.items()))
    groups = {}
    for row in rows:
        groups.setdefault((row["process"], row["kind"], row["how"], row["style"]), []).append(row)
    for (process, kind, how, style), group in groups.items():
        if any(row["name"].startswith("retrograde") for row in group):
            parts += [f"## {kind}, {how}, {style} output, {process}", lines_of(group)]
    return "\n\n".join(parts) + "\n"


HOW = """\
Microseconds of single calls from Python: median, and 90th percentile in brackets. *Together*: all
libraries in one process, in turns. *Alone*: this library (and Retrograde) in a process of its own.
*Copy* is the fastest copy that anyone made there, into the same kind of output; the ratio is its
time divided by Retrograde's."""


def lines_of(group):
    names = {row["name"] for row in group if not row["name"].startswith("copy")}
    names = sorted(names, key=lambda name: (not name.startswith("retrograde"), name))
    table = ["| size | copy | " + " | ".join(names) + " | ratio |", "|---" * (len(names) + 3) + "|"]
    for size in sorted({row["bytes"] for row in group}):
        at = {row["name"]: row for row in group if row["bytes"] == size}
        copy = min(row["us"] for name, row in at.items() if name.startswith("copy"))
        cells = [f"{at[name]['us']:.1f} ({at[name]['p90']:.1f})" if name in at else "" for name in names]
        ratio = copy / at["retrograde"]["us"]
        table.append(f"| {words.size(size)} | {copy:.1f} | " + " | ".join(cells) + f" | {ratio:.2f} |")
    return "\n".join(table)


if __name__ == "__main__":
    run(*json.loads(sys.argv[1]))
