#!/usr/bin/env python3
"""Ragged data: segments, list columns and reverse complements, against a copy and what others have.

    bench/ragged.py [--threads N] [--quick] [--seconds S] [--filter TEXT] [--out FOLDER]

Needs `cargo build --profile dist -p retrograde-bench`, for the copies, and retrograde, numpy, numba, polars, pyarrow
and awkward; with genvarloader, its kernel for reads. It is measured as bench/README.md says: all contestants of a case
in turns in one process, every result compared before anything is timed.
"""
# ruff: noqa: E402 (polars and the harness read the environment when they are imported)

import argparse
import datetime
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--threads", type=int, default=1, help="of retrograde and polars; others use one")
parser.add_argument("--quick", action="store_true", help="a sixteenth of the bytes, fewer rounds")
parser.add_argument("--seconds", type=float, default=20, help="for each case, about")
parser.add_argument("--filter", default="", help="only cases with this in their names")
parser.add_argument("--out", type=Path, default=BENCH / "out", help="the folder of the record")
options = parser.parse_args()
# Both are read at import.
os.environ["POLARS_MAX_THREADS"] = str(options.threads)
os.environ.setdefault("RETROGRADE_BENCH_LIBRARY", str(BENCH.parent / "target/dist/libretrograde_bench.so"))

import awkward as ak
import numba
import numpy as np
import polars as pl
import pyarrow as pa
import retrograde
from harness import machine, measure, native, record, table
from harness.contestants import Contestant, repeated

# Segments of a case, and its bytes at most.
MOST, BYTES = 1_000_000, 32 << 20
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
TABLE = np.frombuffer(COMPLEMENT, np.uint8)


@numba.njit
def reversed_by_numba(x, offsets, out):
    for i in range(len(offsets) - 1):
        start, end = offsets[i], offsets[i + 1]
        for j in range(end - start):
            out[start + j] = x[end - 1 - j]


@numba.njit
def complemented_by_numba(x, offsets, where, table):
    """In place, as loaders of variants do it."""
    for i in range(len(offsets) - 1):
        if where[i]:
            row = x[offsets[i] : offsets[i + 1]]
            row[:] = row[::-1]
            for j in range(len(row)):
                row[j] = table[row[j]]


def genvarloader():
    """The compiled kernel alone: the package around it wants to have its data ready."""
    found = importlib.util.find_spec("genvarloader")
    if found is None:
        return None
    path = str(next(Path(found.submodule_search_locations[0]).glob("genvarloader.*so")))
    loader = importlib.machinery.ExtensionFileLoader("genvarloader", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("genvarloader", loader))
    loader.exec_module(module)
    return module


def sources(offsets):
    """Which element comes to each place: the index that `take` needs."""
    starts, ends = np.repeat(offsets[:-1], np.diff(offsets)), np.repeat(offsets[1:], np.diff(offsets))
    return starts + ends - 1 - np.arange(offsets[-1])


def reused(name, dst, call):
    def result():
        dst.fill(0)
        call()
        return dst

    return Contestant(name, "reused", repeated(call), result)


def fresh(name, call, values=np.asarray):
    return Contestant(name, "fresh", repeated(call), lambda: values(call()))


def in_place(name, src, call):
    memory = src.copy()

    def result():
        memory[:] = src
        call(memory)
        return memory

    return Contestant(name, "in place", repeated(lambda: call(memory)), result)


def copies(src, dst):
    return [
        Contestant("memcpy", "reused", lambda times: native.copy(options.threads, src, dst, times), None),
        Contestant("memcpy", "fresh", lambda times: native.copy_fresh(options.threads, src, times), None),
    ]


def segments(src, offsets):
    dst, index = np.empty_like(src), sources(offsets)
    lists = pa.LargeListArray.from_arrays(offsets, pa.array(src))
    series, jagged, values = pl.from_arrow(lists), ak.from_arrow(lists), pa.array(src)
    narrow = offsets.astype(np.int32)

    def flat(arrow):
        return np.asarray(arrow.flatten())

    return src[index], [
        *copies(src, dst),
        reused("retrograde", dst, lambda: retrograde.reverse_segments(src, offsets, out=dst)),
        fresh("retrograde", lambda: retrograde.reverse_segments(src, offsets)),
        reused("retrograde, offsets of 32 bits", dst, lambda: retrograde.reverse_segments(src, narrow, out=dst)),
        fresh("retrograde, list column", lambda: retrograde.reverse_segments(lists), flat),
        fresh("polars list.reverse", lambda: series.list.reverse(), lambda got: flat(got.to_arrow())),
        reused("numba loop", dst, lambda: reversed_by_numba(src, offsets, dst)),
        fresh("awkward [:, ::-1]", lambda: jagged[:, ::-1], lambda got: np.asarray(ak.flatten(got))),
        fresh("pyarrow take, index ready", lambda: values.take(pa.array(index))),
        reused("numpy take, index ready", dst, lambda: np.take(src, index, out=dst, mode="clip")),
    ]


def reads(src, offsets):
    """All of them, and every second one in place."""
    dst, reads = np.empty_like(src), [src[a:b].tobytes() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    every = np.ones(len(reads), bool)
    ones = np.arange(len(offsets))
    found = [
        *copies(src, dst),
        fresh(
            "bytes.translate, [::-1]",
            lambda: [read.translate(COMPLEMENT)[::-1] for read in reads],
            lambda got: np.frombuffer(b"".join(got), np.uint8),
        ),
        in_place("numba loop", src, lambda x: complemented_by_numba(x, offsets, every, TABLE)),
    ]
    if kernel := genvarloader():
        found.append(in_place("GenVarLoader", src, lambda x: kernel.rc_alleles(x, offsets, ones, every)))
    if ours := getattr(retrograde, "reverse_complement", None):
        found += [
            reused("retrograde", dst, lambda: ours(src, offsets=offsets, out=dst)),
            fresh("retrograde", lambda: ours(src, offsets=offsets)),
            in_place("retrograde", src, lambda x: ours(x, offsets=offsets, out=x)),
        ]
    return TABLE[src[sources(offsets)]], found


def even(mean):
    return lambda random, count: random.integers(0, 2 * mean + 1, count)


def log_normal(mean, sigma=0.8):
    return lambda random, count: random.lognormal(np.log(mean) - sigma**2 / 2, sigma, count).round()


def between(least, most):
    return lambda random, count: random.integers(least, most + 1, count)


def cases():
    """Group, name, type of elements, mean bytes of a segment, lengths, contestants."""
    for mean in (8, 16, 32, 64, 150, 1_000, 20_000):
        yield "segments", f"u8, {mean:,} bytes, even", "u1", mean, even(mean), segments
    for name, dtype, mean in [("u16", "u2", 40), ("f32", "f4", 80), ("i64", "i8", 160)]:
        yield "segments", f"{name}, 20 tokens, log-normal", dtype, mean, log_normal(20), segments
    yield "segments", "u8, 20 letters, log-normal", "u1", 20, log_normal(20), segments
    yield "segments", "u8, reads of 100 to 150", "u1", 125, between(100, 150), segments
    yield "reverse complement", "reads of 100 to 150", "S1", 125, between(100, 150), reads
    yield "reverse complement", "reads of 10,000 to 30,000", "S1", 20_000, between(10_000, 30_000), reads


def main():
    retrograde.set_num_threads(options.threads)
    random, results = np.random.default_rng(1), []
    about = machine.describe()
    versions = {module.__name__: module.__version__ for module in (np, numba, pl, pa, ak)}
    facts = {"date": str(datetime.date.today()), "command": f"bench/ragged.py {' '.join(sys.argv[1:])}".strip()}
    facts |= about | {"retrograde": machine.retrograde_version()} | versions
    for group, name, dtype, mean, lengths, make in cases():
        if options.filter not in f"{group}: {name}":
            continue
        count = max(1, min(MOST, BYTES // mean) // (16 if options.quick else 1))
        offsets = np.concatenate([[0], lengths(random, count).astype(np.int64).cumsum()])
        if dtype == "S1":
            src = np.frombuffer(b"ACGTN", np.uint8)[random.integers(0, 5, offsets[-1])]
        else:
            src = random.integers(0, 256, offsets[-1] * np.dtype(dtype).itemsize, np.uint8).view(dtype)
        want, contestants = make(src, offsets)
        # By bytes: floats may be no numbers.
        wrong = {
            one.label
            for one in contestants
            if one.result and np.ascontiguousarray(one.result()).tobytes() != want.tobytes()
        }
        rows = measure.summary(measure.alternate(contestants, 7 if options.quick else 15, options.seconds), wrong)
        case = {"group": group, "name": name, "bytes": src.nbytes, "threads": options.threads, "contestants": rows}
        results.append(case)
        print(table.line(case), flush=True)
        record.write(options.out, {"facts": facts, "cases": results}, "Ragged data")
    raise SystemExit(any(row["wrong"] for case in results for row in case["contestants"]))


if __name__ == "__main__":
    main()
