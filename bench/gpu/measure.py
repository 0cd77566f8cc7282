"""Timing: contestants alternate, in a random order in every round."""

import gc
import random
from time import perf_counter

# Calls in a sample of a small tensor.
CALLS = 500
# A contestant that takes longer than SLOW seconds per call runs only FEWEST rounds.
SLOW, FEWEST = 20e-3, 3
# Contestants timed by the wall clock: calls in flight at once, and about how long they take
# together.
IN_FLIGHT, LONG = 5, 5e-3


def quartiles(values):
    values = sorted(values)
    return [values[len(values) * quarter // 4] for quarter in (1, 2, 3)]


def by_clock(one, calls):
    start = perf_counter()
    for _ in range(calls):
        result = one.call()
    one.wait(result)
    return (perf_counter() - start) / calls


def alternate(device, contestants, rounds, small):
    """Seconds of all contestants by round, and the errors of those that failed."""
    seconds, errors, once = {one: {} for one in contestants}, {}, {}

    def turn(one, at):
        device.wait()
        if at is None:
            once[one] = by_clock(one, 1)
        elif small or one.clock:
            in_flight = max(1, min(IN_FLIGHT, int(LONG / once[one])))
            seconds[one][at] = by_clock(one, CALLS if small else in_flight)
        else:
            seconds[one][at] = device.time(one.call)

    def tried(one, at=None):
        try:
            turn(one, at)
        except Exception as error:  # such as out of memory; all figures depend on the copy
            if one.name == COPY:
                raise
            errors[one] = error
            del seconds[one]

    for one in contestants:
        tried(one)
    order = random.Random(1)
    gc.collect()
    gc.disable()
    try:
        for at in range(rounds):
            turns = [one for one in seconds if at < FEWEST or once[one] < SLOW or one.name in ALWAYS]
            order.shuffle(turns)
            for one in turns:
                tried(one, at)
    finally:
        gc.enable()
    return seconds, errors


# These run in every round, because all figures depend on them.
COPY, OWN = "device copy", "retrograde"
ALWAYS = (COPY, OWN)


def summary(seconds):
    """The entry of each contestant in the record; the spread of its ratio is from quartile to quartile."""
    copies = next(times for one, times in seconds.items() if one.name == COPY)
    rows = []
    for one, times in seconds.items():
        low, ratio, high = quartiles([copies[at] / own for at, own in times.items()])
        figures = {"seconds": quartiles(times.values())[1], "ratio": ratio, "low": low, "high": high}
        rows.append({"name": one.name, "style": one.style, **figures, "wrong": one.wrong})
    return rows
