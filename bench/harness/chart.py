"""The chart, as SVG: one row per case, one dot per contestant at its speed relative to memcpy."""

from . import sweep, table, words
from .drawing import COLOURS, STYLE, dot, ratio_part, stroke, text
from .record import RUST

LEFT, RIGHT, TOP, ROW, WIDTH = 370, 30, 100, 24, 1020
#: What the styles of outputs are in Python.
OUTPUTS = {"fresh": "new arrays", "reused": "given outputs"}


def x_of(ratio):
    return LEFT + ratio_part(ratio) * (WIDTH - LEFT - RIGHT)


def draw(record):
    """The cases at the largest thread count that was measured, in groups."""
    facts, cases = record["facts"], [one for one in record["cases"] if one["group"] != RUST]
    most = max((one.get("threads", 0) for one in cases), default=0)
    groups = table.groups([one for one in cases if one.get("threads", 0) == most])
    where = f"{facts['cpu']}, {most} thread{'s' * (most > 1)}" if most else facts["gpu"]
    note = f"{where}, {facts['date']}; 1 is the copy, more is faster; peers in their better style"
    title = f"Speed relative to {'memcpy' if most else 'a device-to-device copy'} of the same bytes"
    present = [one for results in groups.values() for one in results]
    sizes = groups.pop("size", [])
    body, y = [], TOP
    for group, results in groups.items():
        body.append(text(16, y + 4, group, "quiet"))
        for result in results:
            y += ROW
            body += case_row(result, y)
        y += 1.4 * ROW
    body = scale(TOP, y) + body if groups else []
    curves, more = sweep.draw(sizes, y + 60, 50, WIDTH - RIGHT - 50)
    names = {row["name"] for one in present for row in one["contestants"]}
    return framed(title, note, names, body + curves, y + 40 + more)


def panels(title, where, found):
    """A panel over sizes for each kind, two in a row; `found` has the sizes and ratios of each contestant."""
    parts, top, width = [], 120, (WIDTH - 3 * sweep.GAP) / 2
    for at, (kind, points) in enumerate(found.items()):
        left = sweep.GAP + at % 2 * (width + sweep.GAP)
        parts += sweep.panel(kind, points, left, top + at // 2 * (sweep.HEIGHT + 70), width)
    height = top + (len(found) + 1) // 2 * (sweep.HEIGHT + 70)
    names = {name for points in found.values() for name in points}
    note = f"{where}; all libraries in one process, called from Python; more is faster"
    return framed(title, note, names, parts, height)


def framed(title, note, names, body, height):
    """A picture of this height, with a title, a line that says where it is from, and a legend."""
    box = f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>',
        f"<style>{STYLE}</style>",
        text(16, 28, title, "title"),
        text(16, 48, note, "quiet"),
        *legend(names),
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"


def scale(top, bottom):
    parts = []
    for tick in [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]:
        x = x_of(tick)
        parts.append(stroke(x, top - 10, x, bottom - 12, "copy" if tick == 1 else "grid"))
        parts.append(text(x, bottom + 6, f"{tick:g}", "quiet", "middle"))
    return parts


def case_row(result, y):
    parts = [text(28, y + 4, result["name"]), stroke(LEFT, y, WIDTH - RIGHT, y, "grid")]
    # Retrograde last, so that it is drawn on top.
    for row in [*reversed(table.peers_of(result)), *table.ours_too(result), table.own(result)]:
        if row is None:  # it was not measured
            continue
        wrong = ", WRONG" * bool(row.get("wrong"))
        label = f"{row['name']} ({row['style']}): {words.ratio(row['ratio'])}{wrong}"
        parts.append(dot(x_of(row["ratio"]), y, row["name"], label))
    return parts


def legend(names):
    parts, x = [], 22
    for name in [name for name in COLOURS if name in names]:
        parts += [dot(x, 68, name, name), text(x + 10, 72, name, "own" if name == "retrograde" else "")]
        x += 36 + 8 * len(name)
    return parts
