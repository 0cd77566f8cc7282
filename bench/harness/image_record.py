"""What a record of `bench/images.py` says: how many comparisons are won, a table over the sizes, and a chart."""

from statistics import median

from . import chart, sweep, table, words
from .image_cases import SIZES

#: The movements and kinds of the chart.
PANELS = ["mirror, RGB u8", "mirror, RGB f32", "rot90, u8", "rot90, RGB u8", "rot90, RGBA u8", "rot90, RGB f32"]


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
    lost = sorted((ratio, case["name"], table.threads(case), style, name) for case, style, name, ratio in versus(results))
    return "\n".join(
        f"{ratio:.2f}  {', '.join(filter(None, [case, threads, style]))}: {name}"
        for ratio, case, threads, style, name in lost
        if round(ratio, 2) < 1
    )


def picture(record, style="fresh"):
    """A panel for each of some kinds: speed relative to the fastest copy, over the size of a single picture."""
    facts, cases = record["facts"], record["cases"]
    most = max((case.get("threads", 0) for case in cases), default=0)
    parts, names, top = [], set(), 120
    width = (chart.WIDTH - 3 * sweep.GAP) / 2
    for at, kind in enumerate(PANELS):
        points = {}
        for case in cases:
            panel, size = case["name"].rsplit(", ", 1)
            if panel == kind and case.get("threads", 0) == most and size.count("x") < 2:
                for row in filter(lambda row: row["name"] not in table.YARDSTICKS, table.rows_of(case, style)):
                    points.setdefault(row["name"], []).append((case["bytes"], row["ratio"]))
        if points:
            names |= set(points)
            left = sweep.GAP + at % 2 * (width + sweep.GAP)
            parts += sweep.panel(kind, points, left, top + at // 2 * (sweep.HEIGHT + 70), width)
    height = top + (len(PANELS) + 1) // 2 * (sweep.HEIGHT + 70)
    where = f"{facts['cpu']}, {most} threads" if most else facts["gpu"]
    what = {"fresh": "new arrays", "reused": "given outputs"}[style]
    note = f"{where}, {facts['date']}; all libraries in one process, called from Python; more is faster"
    return chart.framed(f"Pictures: speed relative to the fastest copy, {what}", note, names, parts, height)
