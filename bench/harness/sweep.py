"""The part of the chart for the size sweep: speed relative to memcpy over the size of the tensor."""

from math import log2

from . import table, words
from .drawing import COLOURS, dot, ratio_part, stroke, text

HEIGHT, GAP = 190, 80
TICKS = [0.02, 0.1, 0.5, 1, 2]


def draw(results, top, left, width):
    """One panel per element type, side by side; returns the shapes and their height."""
    panels = {}
    for result in results:
        panels.setdefault(result["dtype"], []).append(result)
    each = (width - GAP * (len(panels) - 1)) / max(len(panels), 1)
    parts = []
    for at, (dtype, cases) in enumerate(panels.items()):
        parts += panel(dtype, cases, left + at * (each + GAP), top, each)
    return parts, HEIGHT + 70 if panels else 0


def panel(dtype, results, left, top, width):
    low, high = (log2(f(one["bytes"] for one in results)) for f in (min, max))

    def x_of(size):
        return left + width * (log2(size) - low) / max(high - low, 1)

    def y_of(ratio):
        return top + HEIGHT * (1 - ratio_part(ratio))

    parts = [text(left, top - 12, f"size: flip {dtype}, last axis", "quiet")]
    for tick in TICKS:
        y = y_of(tick)
        parts.append(stroke(left, y, left + width, y, "copy" if tick == 1 else "grid"))
        parts.append(text(left - 6, y + 4, f"{tick:g}", "quiet", "end"))
    for one in results[:: max(1, len(results) // 5)]:
        parts.append(text(x_of(one["bytes"]), top + HEIGHT + 18, words.size(one["bytes"]), "quiet", "middle"))
    lines = {}
    for one in results:
        for row in [*table.peers_of(one), table.own(one)]:
            lines.setdefault(row["name"], []).append((x_of(one["bytes"]), y_of(row["ratio"]), row["ratio"]))
    for name in sorted(lines, key=lambda name: name == "retrograde"):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in lines[name])
        colour, weight = COLOURS.get(name, "#888"), 2.5 if name == "retrograde" else 1.5
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{weight}"/>')
        parts += [dot(x, y, name, f"{name}: {words.ratio(ratio)}", 3) for x, y, ratio in lines[name]]
    return parts
