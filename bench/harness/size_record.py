"""Records of `bench/run --sweep`: `sizes.tsv` with a line for each size, a page, tables and pictures."""

from textwrap import fill

from . import chart, lines, table, words

#: What happens between calls, and for how many seconds.
PAUSES = {"back to back": 0.0, "after 1 ms": 1e-3}
#: Flips whose result is read at once: what they leave in the caches counts too.
SUMMED = "f32 rows of 2 KiB, then summed"
FILE = "sizes.tsv"
KEYS = ["process", "kind", "how", "style", "bytes"]


def write(where, facts, rows):
    where.mkdir(parents=True, exist_ok=True)
    cells = [{key: value if key in KEYS else cell(*value) for key, value in row.items()} for row in rows]
    (where / FILE).write_text(lines.dumps(facts, cells))
    (where / "README.md").write_text(page(facts, rows))


def cell(median, high):
    return f"{lines.number(median)} {lines.number(high, 3)}"


def read(where):
    """The facts, and a row for each process, kind, time of call, style and size."""
    facts, rows = lines.loads((where / FILE).read_text())
    for row in rows:
        row |= {key: [float(word) for word in text.split()] for key, text in row.items() if key not in KEYS}
        row["bytes"] = int(row["bytes"])
    return facts, rows


def times(row):
    """Medians in microseconds by contestant."""
    return {name: value[0] for name, value in row.items() if name not in KEYS}


def fastest_copy(row):
    return min(time for name, time in times(row).items() if name.startswith("copy"))


def others(row):
    """The other libraries: no copies and nothing of ours."""
    return {name: time for name, time in times(row).items() if not name.startswith(("copy", "retrograde"))}


def picture(facts, rows, how, style):
    """A panel for each kind: the fastest copy's time divided by each contestant's, all in one process."""
    panels = {}
    for row in rows:
        if (row["process"], row["how"], row["style"]) == ("together", how, style):
            points = panels.setdefault(row["kind"], {})
            for name, time in times(row).items():
                if not name.startswith("copy"):
                    points.setdefault(name, []).append((row["bytes"], fastest_copy(row) / time))
    title = f"Speed relative to the fastest copy, {chart.OUTPUTS[style]}, {how}"
    return chart.panels(title, f"{facts['cpu']}, {facts['cores']} processors", panels)


ABOUT = """\
`sizes.tsv` has one line per size: microseconds of single calls from Python, the median and the 90th
percentile of each contestant. Process *together*: all libraries in one process, in turns; otherwise
only this library and Retrograde. `bench/show FOLDER` prints it as tables, and `--chart FILE` draws it."""

RATIOS = """\
New arrays, all in one process: the time of the fastest copy that anyone made divided by ours, and
in brackets the time of the fastest other library divided by ours."""

WINS = """\
How often a new output is at least as fast as that of the fastest other library, and the least ratio
of the times, in two decimals; tensors of PyTorch are compared with PyTorch."""


def page(facts, rows):
    facts = dict(facts)
    command = facts.pop("command")
    about = fill("; ".join(f"{key}: {value}" for key, value in facts.items()), 100)
    parts = [f"# Time against size, {facts['date']}", f"```sh\n{command}\n```", ABOUT, about, "## Ratios", RATIOS]
    parts += [f"{how.capitalize()}:\n\n{ratios(rows, how)}" for how in PAUSES]
    return "\n\n".join([*parts, "## At least as fast", WINS, wins(rows)]) + "\n"


#: Classes of sizes: the greatest size of each, in bytes.
CLASSES = {
    "4 to 64 KiB": 96 << 10,
    "128 to 384 KiB": 448 << 10,
    "512 KiB to 2 MiB": 5 << 19,
    "3 to 16 MiB": 20 << 20,
    "24 to 64 MiB": 1 << 27,
}


def ends(values, digits):
    return "-".join(dict.fromkeys(f"{end(values):.{digits}f}" for end in (min, max)))


def ratios(rows, how):
    """A table: kinds by classes of sizes."""
    table_rows = []
    wanted = [row for row in rows if (row["process"], row["how"], row["style"]) == ("together", how, "fresh")]
    for kind in dict.fromkeys(row["kind"] for row in wanted if row["kind"] != SUMMED):
        cells, least = [kind], 0
        for greatest in CLASSES.values():
            found = [row for row in wanted if row["kind"] == kind and least < row["bytes"] <= greatest]
            own = [fastest_copy(row) / times(row)["retrograde"] for row in found]
            rest = [min(others(row).values()) / times(row)["retrograde"] for row in found if others(row)]
            cells.append((ends(own, 2) if own else "") + (f" ({ends(rest, 1)})" if rest else ""))
            least = greatest
        table_rows.append(cells)
    return table.markdown(["", *CLASSES], table_rows)


def wins(rows):
    """A table: arrays and tensors, with all libraries in the process and with each alone."""
    found = {}
    for row in rows:
        if row["style"] == "fresh" and row["kind"] != SUMMED and others(row):
            where = "together" if row["process"] == "together" else "alone"
            own, rest = times(row), others(row)
            ratios = {f"arrays, {where}": min(rest.values()) / own["retrograde"]}
            if "retrograde on torch" in own and "torch" in own:
                ratios[f"tensors of PyTorch, {where}"] = own["torch"] / own["retrograde on torch"]
            for what, ratio in ratios.items():
                found.setdefault(what, {}).setdefault(row["how"], []).append(ratio)
    return table.markdown(["", *PAUSES], [[what, *map(counted, by_how.values())] for what, by_how in found.items()])


def counted(ratios):
    return f"{sum(round(one, 2) >= 1 for one in ratios)} of {len(ratios)}, least {min(ratios):.2f}"


def full(rows):
    """All figures: a table for each process, kind, time of call and style."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEYS[:-1]), []).append(row)
    parts = []
    for about, group in groups.items():
        names = list(dict.fromkeys(name for row in group for name in times(row)))
        cells = [[words.size(row["bytes"]), *(spread(row.get(name)) for name in names)] for row in group]
        parts += [f"## {', '.join(about)}", table.markdown(["size", *names], cells)]
    return "\n\n".join(parts) + "\n"


def spread(cell):
    return f"{cell[0]:.1f} ({cell[1]:.1f})" if cell else ""
