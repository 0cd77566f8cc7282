#!/usr/bin/env python3
"""Measures the lines of docs/migrate.md against ours: what a library makes against what we make of the same array.

    .venv/bin/python bench/migrate.py [ROUNDS]

Both lines run in turns, in one process, with the threads that each library takes by itself. The factor is the median of
the times of theirs divided by that of ours. What is not installed is left out (polars). `bench/images.py` measures the
lines for images.
"""

import importlib.util
import statistics
import sys
import time

import numpy as np
import retrograde

ROWS = np.random.default_rng(0).random((4096, 4096), np.float32)
IMAGE = np.random.default_rng(1).integers(0, 255, (2160, 3840, 3), np.uint8)
BATCH = np.random.default_rng(2).random((256, 512, 64), np.float32)
LENGTHS = np.random.default_rng(3).integers(1, 513, 256)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
PACKED = np.random.default_rng(4).random((int(OFFSETS[-1]), 64), np.float32)


def gather():
    steps = np.arange(512)
    indices = np.where(steps < LENGTHS[:, None], LENGTHS[:, None] - 1 - steps, steps)
    return np.take_along_axis(BATCH, indices[:, :, None], axis=1)


def loop():
    out = BATCH.copy()
    for row, length in zip(out, LENGTHS):
        row[:length] = row[:length][::-1].copy()
    return out


def segments():
    out = PACKED.copy()
    for start, end in zip(OFFSETS[:-1], OFFSETS[1:]):
        out[start:end] = PACKED[start:end][::-1]
    return out


def turned_in_place():
    ROWS[:] = ROWS[:, ::-1].copy()


LINES = [
    ("FLIP", lambda: np.flip(ROWS, 1).copy(), lambda: retrograde.flip(ROWS, 1)),
    ("ROT", lambda: np.rot90(ROWS).copy(), lambda: retrograde.rot90(ROWS)),
    ("INPLACE", turned_in_place, lambda: retrograde.reverse(ROWS, 1, out=ROWS)),
    ("RGB", lambda: IMAGE[:, :, ::-1].copy(), lambda: retrograde.flip(IMAGE, 2)),
    ("GATHER", gather, lambda: retrograde.reverse_sequence(BATCH, LENGTHS, batch_first=True)),
    ("LOOP", loop, lambda: retrograde.reverse_sequence(BATCH, LENGTHS, batch_first=True)),
    ("SEGMENTS", segments, lambda: retrograde.reverse_segments(PACKED, OFFSETS)),
]
if importlib.util.find_spec("polars"):
    import polars as pl

    SERIES = pl.Series([row[: length % 64] for row, length in zip(ROWS.tolist(), LENGTHS.tolist() * 16)] * 32)
    LINES += [("POLARS", SERIES.list.reverse, lambda: retrograde.reverse_segments(SERIES))]


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    rounds = int(sys.argv[1]) if sys.argv[1:] else 15
    for name, theirs, ours in LINES:
        a, b = theirs(), ours()
        assert name in ("INPLACE", "POLARS") or np.array_equal(a, b), name
        times = [(seconds(theirs), seconds(ours)) for _ in range(rounds)]
        their, our = (statistics.median(one) for one in zip(*times))
        print(f"{name:10}{their * 1e3:9.2f} ms {our * 1e3:9.2f} ms {their / our:8.2f} x", flush=True)


if __name__ == "__main__":
    main()
