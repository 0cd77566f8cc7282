"""Timing: contestants alternate, in a random order in every round."""

import gc
import random
from dataclasses import dataclass, field
from time import perf_counter

from .contestants import Contestant

# The minimum and maximum duration of a sample in seconds, unless one call takes longer.
SHORTEST, LONGEST = 2e-3, 10e-3
# Shorter calls are made once before timing starts, to warm the caches.
WARM = 5e-3
# A peer that would use up the time of a whole case runs only this many rounds.
FEWEST = 3
# These run in every round, because all figures depend on them.
ALWAYS = ("memcpy", "copy: numpy", "copy: retrograde", "retrograde", "before", "retrograde in Python")


@dataclass
class Sampled:
    contestant: Contestant
    seconds: dict = field(default_factory=dict)  # by round
    iterations: int = 1
    once: float = 0.0

    def median(self):
        return quantile(self.seconds.values(), 0.5)

    def ratios(self, yardstick):
        return [yardstick.seconds[at] / own for at, own in self.seconds.items() if at in yardstick.seconds]


def quantile(values, part):
    values = sorted(values)
    return values[round((len(values) - 1) * part)]


def spread(values):
    """Median, 10th and 90th percentile."""
    return quantile(values, 0.5), quantile(values, 0.1), quantile(values, 0.9)


def timed(work, iterations):
    start = perf_counter()
    work(iterations)
    return (perf_counter() - start) / iterations


def alternate(contestants, rounds, budget):
    """Measures all contestants alternately; `budget` is the approximate time limit in seconds."""
    sampled = [Sampled(contestant) for contestant in contestants]
    share = budget / len(sampled) / rounds
    sample = min(max(share / 2, SHORTEST), LONGEST)
    for one in sampled:
        one.contestant.work(1)  # caches, threads and lazy initialisation
        one.once = max(timed(one.contestant.work, 1), 1e-9)
        if one.once < 1e-4:  # too short to time a single call
            one.once = max(timed(one.contestant.work, int(1e-3 / one.once)), 1e-9)
        one.iterations = max(1, int(sample / one.once))
    order = random.Random(1)
    gc.collect()
    gc.disable()
    try:
        for at in range(rounds):
            turns = [one for one in sampled if at < FEWEST or one.once <= share * 3 or one.contestant.name in ALWAYS]
            order.shuffle(turns)
            for one in turns:
                if one.once < WARM:
                    one.contestant.work(1)
                one.seconds[at] = timed(one.contestant.work, one.iterations)
    finally:
        gc.enable()
    return sampled


def yardsticks(sampled):
    """The copy of each style; of several libraries' copies the fastest."""
    found = {}
    for one in sampled:
        if one.contestant.name.startswith(("memcpy", "copy")):
            before = found.setdefault(one.contestant.style, one)
            found[one.contestant.style] = min(before, one, key=Sampled.median)
    return found


def summary(sampled, wrong):
    """The entries of a case's contestants in the record; `wrong` has the labels of those with other results."""
    copies, rows = yardsticks(sampled), []
    for one in sampled:
        name, style = one.contestant.name, one.contestant.style
        if name.startswith("copy"):
            if copies[style] is not one:
                continue
            name = "memcpy"
        against = copies["fresh" if style == "fresh" else "reused"]
        ratio, low, high = spread(one.ratios(against))
        figures = {"seconds": one.median(), "ratio": ratio, "low": low, "high": high}
        rows.append({"name": name, "style": style, **figures, "wrong": one.contestant.label in wrong})
    return rows
