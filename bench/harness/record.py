"""The record of a run: results.json, the chart, and a page that says how it was measured."""

from pathlib import Path

from . import chart, lines, machine, table

BENCH = Path(__file__).resolve().parents[1]

HOW = """\
Figures are *time of a plain copy of the same bytes / time of the contestant*, on the same number of
threads: 1.00 is the speed of `memcpy`. They are medians over rounds in which all contestants
alternate in one process, in a random order; the 10th and 90th percentiles are in brackets. GB/s
counts bytes read plus bytes written.

- *Fresh* outputs are newly allocated in every call, and are compared with a copy into newly
  allocated memory. All others go into memory that was used before, and are compared with a copy
  into such memory.
- `memcpy` copies a part per thread. It uses one thread for less than 256 KiB per thread.
- Up to 1 MiB, Retrograde's figure is a complete operator call including planning; beyond that, the
  plan is reused.
- `memcpy` and Retrograde are called in a loop in Rust, peers from Python, as their users do: for
  small tensors the figures of peers are mostly the cost of that call.
- *From Python* is Retrograde called from Python, alternating with the others: into the benchmark's
  memory, and into new arrays. Memory of freed arrays is reused, as in other runtimes.
- Peers without the operator use the usual idiom for it. Indices for `gather` and similar are
  precomputed, outside the timed region. Peers bound to the benchmark's memory are not charged for
  allocating an output.
- NumPy always uses one thread; TensorFlow and JAX always use all cores and are measured only at
  that count.
- Idle threads of a contestant are configured not to spin (ONNX Runtime, OpenMP), because others run
  next.
- Every result is compared with NumPy's. Peers with a star returned a different result.
"""

RUST = """\
In a separate process, with `memcpy` and Retrograde measured again, all alternating; every result is
compared with Retrograde's. ndarray's figures are an inverted view assigned to an array or copied to
the standard layout, and a loop over slices for sequences. burn's is `flip` and `into_data`: its
`flip` alone keeps the memory and negates the strides.
"""


def folder(options, facts, date):
    if options.full or options.record:
        return BENCH / "record" / f"{date}-{machine.slug(facts)}"
    return BENCH / "out"


def write(where, record):
    where.mkdir(parents=True, exist_ok=True)
    (where / "results.json").write_text(lines.dumps(record))
    (where / "chart.svg").write_text(chart.draw(record))
    (where / "README.md").write_text(page(record))


def page(record):
    parts = [f"# Benchmark of {record['date']}", f"```sh\n{record['command']}\n```", "![chart](chart.svg)"]
    facts = [[key, str(value)] for key, value in record["machine"].items()]
    facts += [[key, str(value)] for key, value in record["versions"].items()]
    parts += ["## Machine and versions", table.markdown(["", ""], facts), "## How it is measured", HOW.strip()]
    for group, results in table.groups(record["cases"]).items():
        parts += [f"## {group.capitalize()}", table.markdown(table.HEADINGS, [table.cells(one) for one in results])]
    if record["overhead"]:
        parts += [
            "## Overhead before the first byte moves",
            table.markdown(["step", "time"], table.overhead_rows(record["overhead"])),
        ]
    if record["rust"]:
        headings = ["case", "threads", "relative to memcpy (newly allocated if fresh)"]
        parts += ["## Rust crates", RUST.strip()]
        parts.append(table.markdown(headings, table.rust_rows(record["rust"])))
    notes = sorted({f"- {one['peer']}: {one['reason']}" for one in record["skipped"]})
    if notes:
        parts += ["## Not measured", "\n".join(notes)]
    return "\n\n".join(parts) + "\n"
