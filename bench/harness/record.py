"""What is kept: results.json, the chart, and a page that says how it was measured."""

from pathlib import Path

from . import chart, lines, machine, table

BENCH = Path(__file__).resolve().parents[1]

HOW = """\
Figures are *time of a plain copy of the same bytes / time of the contestant*, on the same number of threads: 1.00 is
the speed of `memcpy`. They are medians over rounds in which everyone has a turn, in one process and in an order drawn
anew each time, with what 80 % of the rounds lie between in brackets. GB/s counts bytes read plus bytes written.

- Like is compared with like: *fresh* outputs are new memory in every call, and compared with a copy into new memory;
  all others go into memory that was used before.
- `memcpy` copies a share per thread. It uses one thread for less than 256 KiB per thread.
- Up to 1 MiB, Retrograde's figure is a whole operator call with its planning; beyond, the plan is made before.
- `memcpy` and Retrograde are called in a loop in Rust, peers from Python as their users do: for small tensors
  the figures of peers are mostly the cost of that call.
- *From Python* is Retrograde as its users in Python call it, in turns with the others: into the benchmark's memory, and
  into new arrays. Memory of arrays that are gone is used again, as other runtimes do it too.
- Peers without the operator use the idiom that people use instead. Indexes for `gather` and the like are ready-made,
  outside of the clock. Peers bound to the benchmark's own memory are not charged for an output of their own.
- NumPy uses one thread always; TensorFlow and JAX use all cores always and are measured only at that count.
- Threads of a contestant that wait are told not to spin (ONNX Runtime, OpenMP), because others run next.
- Every result is compared with NumPy's. Peers with a star gave another one.
"""

RUST = """\
In a process of their own, with `memcpy` and Retrograde measured again, all in turns; every result is compared with
Retrograde's. ndarray's figures are an inverted view assigned to an array or copied to the standard layout, and a loop
over slices for sequences. burn's is `flip` and `into_data`: its `flip` alone keeps the memory and turns the strides.
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
            "## Before the first byte moves",
            table.markdown(["step", "time"], table.overhead_rows(record["overhead"])),
        ]
    if record["rust"]:
        headings = ["case", "threads", "of memcpy (into new memory where it says fresh)"]
        parts += ["## Rust crates", RUST.strip()]
        parts.append(table.markdown(headings, table.rust_rows(record["rust"])))
    notes = sorted({f"- {one['peer']}: {one['reason']}" for one in record["skipped"]})
    if notes:
        parts += ["## Not measured", "\n".join(notes)]
    return "\n\n".join(parts) + "\n"
