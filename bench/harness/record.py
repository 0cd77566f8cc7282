"""Records: `cases.tsv` with a line for each case, and a page of one screen. Written and read here.

A record in memory has `facts` and `cases`; a case has `contestants`, each with its median and its ratio to the copy.
"""

import json
from pathlib import Path
from textwrap import fill

from . import lines, machine, table

BENCH = Path(__file__).resolve().parents[1]
FILE = "cases.tsv"
#: The columns before those of the contestants.
KEYS = ["group", "name", "bytes", "threads", "kernel"]
#: The group of what `rust-peers` measures, in a process of its own.
RUST = "Rust crates"

ABOUT = """\
`cases.tsv` has one line per case and one column per contestant: the median in microseconds, and
unless it is the copy its ratio to the copy and the spread of the ratio. `bench/show FOLDER` prints
it as tables, and `bench/show FOLDER --chart FILE` draws it. bench/README.md says how it is measured."""


def folder(options, facts, date):
    if options.full or options.record:
        return BENCH / "record" / f"{date}-{machine.slug(facts)}"
    return BENCH / "out"


def without(skipped):
    """Why contestants have no figures, as facts; with the number of cases."""
    reasons = {}
    for one in skipped:
        found = reasons.setdefault(f"without {one['peer']}", {}).setdefault(one["reason"], set())
        found.add(one.get("case", "all"))
    return {key: "; ".join(f"{why} ({len(of)})" for why, of in found.items()) for key, found in reasons.items()}


def figures(cases):
    """The ranges of the groups, and where another library is faster."""
    yield "## Least and greatest ratios"
    yield table.markdown(*table.ranges(cases))
    yield "## Where another library is faster"
    yield "\n".join(table.behind(cases)) or "Nowhere."


def write(where, record, title, figures=figures):
    """Writes the record; returns the names of the files."""
    where.mkdir(parents=True, exist_ok=True)
    (where / FILE).write_text(lines.dumps(record["facts"], [packed(case) for case in record["cases"]]))
    (where / "README.md").write_text(page(record, title, figures))
    return f"{where}/README.md, {FILE}"


def read(where):
    facts, rows = lines.loads((where / FILE).read_text())
    return {"facts": facts, "cases": [unpacked(row) for row in rows]}


def packed(case):
    """A case as a row of text."""
    row = {key: case[key] for key in KEYS if key in case}
    return row | {table.label(one): cell(one) for one in case["contestants"]}


def cell(one):
    figures = [lines.number(one["seconds"] * 1e6)]
    if one["ratio"] is not None and one["name"] not in table.YARDSTICKS:
        figures += [lines.number(one["ratio"]), *(lines.number(one[end], 4) for end in ("low", "high"))]
    return " ".join(figures) + " WRONG" * one.get("wrong", False)


def unpacked(row):
    case = {key: int(row[key]) if key in ("bytes", "threads") else row[key] for key in KEYS if key in row}
    return case | {"contestants": [contestant(key, text) for key, text in row.items() if key not in KEYS]}


def contestant(label, text):
    name, _, style = label.rpartition(", ")
    microseconds, *ratios = (float(word) for word in text.split() if word != "WRONG")
    if len(ratios) < 3:  # without a spread, or the copy
        ratios = (ratios or [1.0 if name in table.YARDSTICKS else None]) * 3
    ratio, low, high = ratios
    figures = {"seconds": microseconds / 1e6, "ratio": ratio, "low": low, "high": high}
    return {"name": name, "style": style, **figures, "wrong": text.endswith("WRONG")}


def page(record, title, figures=figures):
    """The page of a record: facts, and what `figures` says of its cases."""
    facts = dict(record["facts"])
    command = facts.pop("command")
    about = fill("; ".join(f"{key}: {value}" for key, value in facts.items()), 100)
    parts = [f"# {title}, {facts['date']}", f"```sh\n{command}\n```", ABOUT, about, *figures(record["cases"])]
    return "\n\n".join(parts) + "\n"


def keep(where, case, samples):
    """Appends the raw samples of a case to a file in this folder, if there is one: seconds by contestant."""
    if where:
        where.mkdir(parents=True, exist_ok=True)
        with (where / "samples.jsonl").open("a") as file:
            print(json.dumps({"case": case, "seconds": samples}), file=file)
