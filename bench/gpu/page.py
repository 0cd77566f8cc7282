"""The results on a page: one table for large tensors, one for small ones, and how they were measured."""

import statistics

from harness import table, words

from .measure import COPY, OWN

NATIVE = "retrograde native"

HOW = """\
Time of a device-to-device copy of the same bytes (`cuMemcpyDtoDAsync`) divided by the time of the call: 1.00 is the
speed of a copy. Medians of {rounds} rounds, in which everyone has a turn on the same tensors in one process, in an
order drawn anew each time; the spread is from the first to the third quartile. Who takes more than 20 ms for a call
gets 3 rounds.

- Device time, by events. The device is kept busy while the host prepares a call, so that launching is not part of it.
  JAX has a stream of its own and is timed by the clock: up to 5 calls in flight, then it is waited for.
- Before every call that events time, 256 MiB of other memory are written, so that nothing of the tensors is in the
  cache, and nothing that somebody asked it to keep.
- *Retrograde* is called from Python, into a tensor that is kept (`out=`) and into a new one, which lies elsewhere in
  memory; the better one counts, as with the idioms of the others. *Native* is `bench-gpu`: into a kept one, in Rust,
  with plans made before, in a process of its own ({native}) and beside its own copies.
- Lengths are random 64-bit integers on the device. Ours are strict, so that their check is part of the time. The
  others have the usual idioms, with an index that is made in the call: `gather` and the like, and rows by index where
  rows move as a whole; the better one counts. JAX's index has 32 bits.
- CuPy's flips go into a kept array; PyTorch and JAX make their output anew, from memory that they keep. Tensors of
  `u16` are of `int16` for PyTorch. In place, the others make a reversed copy and copy it back.
- Every result in Python is compared with a naive one, made from where each element comes from: ours too, so that equal
  to one is equal to both. **WRONG** stands beside a figure whose result is another.
- A dash: no such call, or an index of 4 GiB and more. *not run*: time was up. *failed*: see the end.
"""

SMALL = """\
Microseconds a call by the clock, {calls} calls in a row and then one wait, launch and all; medians of as many rounds.
*New* is a call that makes its output, as the others do; *out=* writes to a kept one.
"""


def named(result, name, style=None):
    return table.first([row for row in table.rows_of(result, style) if row["name"] == name])


def best(result, name):
    rows = [row for row in result["contestants"] if row["name"] == name]
    return max(rows, key=lambda row: row["ratio"], default=None)


def own_row(result):
    """The better of our calls; of small tensors the one that makes its output, as the others do."""
    return named(result, OWN, "fresh") if result["name"].startswith("small: ") else best(result, OWN)


def for_chart(result):
    """The same with one call of ours."""
    own = own_row(result)
    rows = [row for row in result["contestants"] if row["name"] != OWN or row is own]
    return {**result, "contestants": rows}


def cell(result, name, row, figure):
    if row is None:
        # A reason, in the words before its colon.
        return result["absent"].get(name, "-").split(":")[0]
    return figure(row) + (" **WRONG**" if row.get("wrong") else "")


def ratio(row):
    return words.ratio(row["ratio"])


def spread(row):
    return f"{row['ratio_p25']:.3f}-{row['ratio_p75']:.3f}" if row else ""


def micro(row):
    return f"{row['seconds'] * 1e6:.1f}"


def bold(figure):
    return lambda row: f"**{figure(row)}**"


def how(record):
    native = {"this run": "just before this one", None: "not run this time"}.get(record["native"], record["native"])
    return HOW.format(rounds=record["rounds"], native=native).strip()


def headings(record):
    return ["case (copy = 1.00)", "kernel", "Retrograde", "spread", "native", *record["peers"]]


def small_headings(record):
    return ["case (microseconds)", "kernel", "Retrograde, new", "out=", "native", COPY, *record["peers"]]


def large_cells(result, record):
    own, native = own_row(result), named(result, NATIVE)
    return [
        result["name"],
        result.get("kernel", ""),
        cell(result, OWN, own, bold(ratio)),
        spread(own),
        cell(result, NATIVE, native, ratio),
        *(cell(result, name, best(result, name), ratio) for name in record["peers"]),
    ]


def small_cells(result, record):
    return [
        result["name"].removeprefix("small: "),
        result.get("kernel", ""),
        cell(result, OWN, named(result, OWN, "fresh"), bold(micro)),
        cell(result, OWN, named(result, OWN, "reused"), bold(micro)),
        cell(result, NATIVE, named(result, NATIVE), micro),
        cell(result, COPY, named(result, COPY), micro),
        *(cell(result, name, best(result, name), micro) for name in record["peers"]),
    ]


def copy_speed(results):
    rates = [row["gb_per_s"] for one in results for row in one["contestants"] if row["name"] == COPY]
    return f"{statistics.median(rates) / 1000:.2f} TB/s read plus written" if rates else "not measured"


def markdown(record):
    """The page of a record."""
    machine = record["machine"]
    large = [one for one in record["cases"] if one["group"] != "small"]
    small = [one for one in record["cases"] if one["group"] == "small"]
    facts = [*machine.items(), *record["versions"].items(), ("device copy", copy_speed(large))]
    facts += [("took", f"{record['took_seconds']:.0f} s")]
    parts = [f"# CUDA, {record['date']}, {machine['gpu']}", f"```sh\n{record['command']}\n```"]
    if record["dry"]:
        parts.append("**A dry run on the CPU with small tensors: the figures mean nothing.**")
    parts += ["![chart](chart.svg)", table.markdown(["", ""], [[key, str(value)] for key, value in facts])]
    parts += ["## How it is measured", how(record)]
    for group, results in table.groups(large).items():
        rows = [large_cells(one, record) for one in results]
        parts += [f"## {group.capitalize()}", table.markdown(headings(record), rows)]
    if small:
        rows = [small_cells(one, record) for one in small]
        text = SMALL.format(calls=record["calls"]).strip()
        parts += ["## Small tensors", text, table.markdown(small_headings(record), rows)]
    parts += ahead(record) + notes(record)
    return "\n\n".join(parts) + "\n"


def ahead(record):
    """Where somebody else is faster than we are: said, not left to be found."""
    lines = []
    for one in record["cases"]:
        own = own_row(one)
        for row in table.peers_of(one) if own else []:
            if row["ratio"] > own["ratio"]:
                wrong = " (WRONG)" * row["wrong"]
                figures = f"{row['name']} {words.ratio(row['ratio'])}{wrong}, Retrograde {words.ratio(own['ratio'])}"
                lines.append(f"- {one['name']}: {figures}")
    return ["## Where another one is ahead", "\n".join(lines) or "Nowhere, among all that were measured."]


def notes(record):
    """What was not measured, and why."""
    lines = [f"- {name}: {reason}" for name, reason in record["missing"].items()]
    late = {}
    for one in record["cases"]:
        for name, reason in one["absent"].items():
            if reason.startswith("failed"):
                lines.append(f"- {one['name']}: {name}: {reason}")
            if reason.startswith("not run"):
                late.setdefault(f"{name}: {reason}", []).append(one)
    lines += [f"- {what}, in {len(which)} cases" for what, which in late.items()]
    return ["## Not measured", "\n".join(lines)] if lines else []
