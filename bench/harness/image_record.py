"""What a record of `bench/images.py` says: how many comparisons are won, tables over the sizes, and a chart."""

from statistics import median

from . import chart, table, words
from .image_cases import MOVEMENTS, SIZES

TITLE = "Images"
#: The movements and kinds of the chart.
PANELS = ["mirror, RGB u8", "mirror, RGB f32", "rot90, u8", "rot90, RGB u8", "rot90, RGBA u8", "rot90, RGB f32"]
ABOUT = """\
A comparison is the time of the fastest other library divided by ours, of a case and a kind of
output. The `memcpy` is the fastest copy of as many bytes that NumPy or Retrograde makes. In the
tables, the figures are of one thread and of all."""


def is_here(cases):
    return cases[0]["group"] in MOVEMENTS


def figures(cases):
    yield ABOUT
    yield counted(cases)
    for style in ("fresh", "reused"):
        yield f"## {style.capitalize()} outputs"
        yield grid(cases, style)
    yield "## Where another library is faster"
    yield f"```text\n{behind(cases)}\n```"


def versus(results):
    """Each comparison of a case and a style: the fastest other library, and its time divided by ours."""
    for case in results:
        for mine in table.rows_of(case, name="retrograde"):
            others = [row for row in table.rows_of(case, mine["style"]) if table.is_peer(row)]
            if others:
                first = min(others, key=lambda row: row["seconds"])
                yield case, mine["style"], first["name"], first["seconds"] / mine["seconds"]


def counted(results):
    """A line for each number of threads and style, and for the copy."""
    groups = {}
    for case, style, _, ratio in versus(results):
        groups.setdefault(", ".join(filter(None, [table.threads(case), style])), []).append(ratio)
    everything = [ratio for ratios in groups.values() for ratio in ratios]
    rows = []
    for name, ratios in [*groups.items(), ("all", everything)]:
        ends = [words.ratio(value) for value in (median(ratios), min(ratios))]
        rows.append([name, str(len(ratios)), str(sum(round(ratio, 2) < 1 for ratio in ratios)), *ends])
    return table.markdown(["", "comparisons", "below 1.0", "median", "least"], rows)


def grid(results, style):
    """Movements and kinds by sizes: the time of the fastest other library divided by ours, by number of threads."""
    rows = {}
    for case, of, _, ratio in versus(results):
        if of == style:
            kind, size = case["name"].rsplit(", ", 1)
            rows.setdefault(kind, {}).setdefault(size, []).append(words.ratio(ratio))
    sizes = [size for size in SIZES if any(size in row for row in rows.values())]
    cells = [[kind, *(", ".join(row.get(size, [])) for size in sizes)] for kind, row in rows.items()]
    return table.markdown(["", *sizes], cells)


def behind(results):
    """A line for each comparison that is lost, the worst first."""
    lost = sorted((one for one in versus(results) if round(one[-1], 2) < 1), key=lambda one: one[-1])
    rows = [(ratio, [case["name"], table.threads(case), style], name) for case, style, name, ratio in lost]
    return "\n".join(f"{ratio:.2f}  {', '.join(filter(None, what))}: {name}" for ratio, what, name in rows)


def picture(record, style):
    """A panel for each of some kinds: speed relative to the fastest copy, over the size of a single image."""
    facts, cases = record["facts"], record["cases"]
    most = max(case.get("threads", 0) for case in cases)
    panels = {}
    for case in cases:
        kind, size = case["name"].rsplit(", ", 1)
        if kind in PANELS and case.get("threads", 0) == most and not SIZES[size][2]:
            points = panels.setdefault(kind, {})
            for row in table.rows_of(case, style):
                if row["name"] not in table.YARDSTICKS:
                    points.setdefault(row["name"], []).append((case["bytes"], row["ratio"]))
    where = f"{facts['cpu']}, {most} threads" if most else facts["gpu"]
    title = f"Images: speed relative to a copy, {chart.OUTPUTS[style]}"
    return chart.panels(title, f"{where}, {facts['date']}", panels)
