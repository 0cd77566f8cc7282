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
from pathlib import Path
from time import perf_counter

import numpy as np

from . import machine, peers, record, size_record
from .cases import BITS, Case
from .contestants import Unsupported, from_python, into, making, right
from .job import Job
from .measure import quantile
from .size_record import PAUSES, SUMMED

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


def distinct(kind):
    """The sizes of a kind; those of less than a row are one."""
    return {case_of(kind.removesuffix(", then summed"), size).bytes: size for size in sizes()}.values()


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


def timed(work, pause):
    if pause:
        until = perf_counter() + pause
        while perf_counter() < until:
            pass
    start = perf_counter()
    work(1)
    return perf_counter() - start


def measure(kind, size, others, budget, samples):
    """The times of every contestant for one size: median and 90th percentile in microseconds."""
    job = Job(case_of(kind.removesuffix(", then summed"), size))
    everyone = list((summed if kind == SUMMED else contestants)(job, others))
    checked = [one for one in everyone if kind != SUMMED]
    wrong = [one.label for one in checked if not right(job, one)]
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
        measured = list(zip(everyone, seconds, strict=True))
        record.keep(samples, f"{kind}, {job.case.bytes} bytes, {how}", {one.label: times for one, times in measured})
        for style in ("reused", "fresh"):
            found = [(one, times) for one, times in measured if one.style == style]
            if found:
                about = {"kind": kind, "how": how, "style": style, "bytes": job.case.bytes}
                yield about | {one.name: [quantile(times, part) * 1e6 for part in (0.5, 0.9)] for one, times in found}


def run(names, kinds, budget, samples):
    """Measures in this process; prints one line of JSON per result."""
    others = [peer for peer in peers.load("all")[0] if peer.name in names]
    samples = samples and Path(samples)
    gc.disable()
    for kind in kinds:
        for size in distinct(kind):
            for row in measure(kind, size, others, budget, samples):
                print(json.dumps(row), flush=True)
            gc.collect()


def started(names, kinds, asked):
    """The results of another process, in which only these libraries are loaded."""
    budget, samples = BUDGET / 4 if asked.quick else BUDGET, asked.samples and str(asked.samples)
    command = [sys.executable, "-m", __name__, json.dumps([names, kinds, budget, samples])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return [{"process": process(names)} | json.loads(line) for line in done.stdout.splitlines()]


def process(names):
    return names[0] if len(names) == 1 else "together"


def main(asked):
    """Measures, and writes the results and a page."""
    light = ["numpy", "torch", "onnxruntime"]
    names = {"none": [], "light": light, "all": [*light, "jax"]}[asked.peers]
    kinds = [kind for kind in [*KINDS, SUMMED] if asked.filter.lower() in kind.lower()]
    if not kinds:
        return f"bench/run: no kind contains {asked.filter!r}"
    rows = started(names, kinds, asked)
    separate = [kind for kind in kinds if any(text in kind.lower() for text in asked.alone.lower().split(","))]
    for name in names if len(names) > 1 and not asked.together else []:
        rows += started([name], separate, asked)
    date, about = datetime.date.today().isoformat(), machine.describe()
    facts = {"date": date, "command": shlex.join(["bench/run", *sys.argv[1:]]), **about}
    where = record.folder(asked, about, f"{date}-sizes")
    size_record.write(where, facts, rows)
    print((where / "README.md").read_text())
    print(f"written: {where}/README.md, {size_record.FILE}")
    return 0


if __name__ == "__main__":
    run(*json.loads(sys.argv[1]))
