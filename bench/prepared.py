#!/usr/bin/env python3
"""Measures direct and prepared calls on a NumPy array of 1 KiB, in turns: the least of 15 rounds.

    .venv/bin/python bench/prepared.py
"""

import timeit

import numpy as np
import retrograde

X = np.arange(256, dtype=np.float32).reshape(16, 16)
CALLS = 5000


def microseconds(call):
    return timeit.timeit(call, number=CALLS) / CALLS * 1e6


def main():
    lengths = list(range(1, 17))
    for name, arguments in [("reverse", {"axes": 1}), ("reverse_sequence", {"lengths": lengths, "batch_first": True})]:
        function, prepared = getattr(retrograde, name), retrograde.prepare(name, X, **arguments)
        times = [(microseconds(lambda: function(X, **arguments)), microseconds(lambda: prepared(X))) for _ in range(15)]
        direct, kept = map(min, zip(*times))
        print(f"{name:18} direct {direct:.2f} us, prepared {kept:.2f} us")


if __name__ == "__main__":
    main()
