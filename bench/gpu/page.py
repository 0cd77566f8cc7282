"""The results on a page: one table for large tensors, one for small ones, and how they were measured."""

import statistics

from harness import table, words

from .measure import COPY, OWN

NATIVE = "retrograde native"

HOW = """\
Time of a device-to-device copy of the same bytes (`cuMemcpyDtoDAsync`) divided by the time of the
call: 1.00 is the speed of a copy. Medians of {rounds} rounds, in which all contestants run on the
same tensors in one process, in a random order. The spread is from the first to the third quartile.
A contestant that takes more than 20 ms per call runs only 3 rounds.

- Device time, measured with events. The device is kept busy while the host prepares a call, so that
  launching is not included. JAX uses its own stream and is timed by the wall clock: up to 5 calls
  in flight, then a wait.
- Before every call that is timed with events, 256 MiB of other memory are written, so that no part
  of the tensors is in the cache, even if an earlier call asked to keep it.
- *Retrograde* is called from Python, into a reused tensor (`out=`) and into a new one, which is at
  another address; the faster one counts, as for the idioms of the other libraries. *Native* is
  `bench-gpu`: into a reused output, in Rust, with reused plans, in a separate process ({native})
  and against its own copies.
- Lengths are random 64-bit integers on the device. Ours are strict, so that their check is included
  in the time. The other libraries use the usual idioms, with an index that is computed in the call:
  `gather` or similar, and indexing by rows if rows move as a whole; the faster one counts. JAX's
  index has 32 bits.
- CuPy's flips write to a reused array; PyTorch and JAX allocate their output from their memory
  pools. `u16` tensors are `int16` in PyTorch. In place, the other libraries make a reversed copy
  and copy it back.
- Every result in Python is compared with a naive one, computed from the source of each element.
  **WRONG** marks a figure whose result differs.
- A dash: no such call, or an index of 4 GiB and more. *not run*: time limit reached. *failed*: see
  the end.
"""

SMALL = """\
Microseconds per call of wall time, including launches: {calls} calls in a row, then one wait;
medians of as many rounds. *New* is a call that allocates its output, as the others do; *out=*
writes to a reused one.
"""


def named(result, name, style=None):
    return table.first([row for row in table.rows_of(result, style) if row["name"] == name])


def best(result, name):
    rows = [row for row in result["contestants"] if row["name"] == name]
    return max(rows, key=lambda row: row["ratio"], default=None)


def own_row(result):
    """The faster of our calls; for small tensors the one that allocates its output, as the others do."""
    return named(result, OWN, "fresh") if result["name"].startswith("small: ") else best(result, OWN)


def for_chart(result):
    """The result with only one of our calls."""
    own = own_row(result)
    rows = [row for row in result["contestants"] if row["name"] != OWN or row is own]
    return {**result, "contestants": rows}


def cell(result, name, row, figure):
    if row is None:
        # A reason, up to its colon.
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
    """Cases in which another library is faster."""
    lines = []
    for one in record["cases"]:
        own = own_row(one)
        for row in table.peers_of(one) if own else []:
            if row["ratio"] > own["ratio"]:
                wrong = " (WRONG)" * row["wrong"]
                figures = f"{row['name']} {words.ratio(row['ratio'])}{wrong}, Retrograde {words.ratio(own['ratio'])}"
                lines.append(f"- {one['name']}: {figures}")
    return ["## Where another library is faster", "\n".join(lines) or "None of the measured cases."]


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
