"""Panels of speed over the size of the tensor: 1 is the speed of a copy."""

from math import log2

from . import table, words
from .drawing import COLOURS, dot, ratio_part, stroke, text

HEIGHT, GAP = 190, 80
TICKS = [0.02, 0.1, 0.5, 1, 2]
#: Between the names of sizes.
APART = 80


def draw(results, top, left, width):
    """One panel per element type, side by side; returns the shapes and their height."""
    panels = {}
    for result in results:
        panels.setdefault(result["name"].split()[1], []).append(result)
    each = (width - GAP * (len(panels) - 1)) / max(len(panels), 1)
    parts = []
    for at, (dtype, cases) in enumerate(panels.items()):
        lines = {}
        for one in cases:
            for row in [*table.peers_of(one), table.own(one)]:
                lines.setdefault(row["name"], []).append((one["bytes"], row["ratio"]))
        parts += panel(f"size: flip {dtype}, last axis", lines, left + at * (each + GAP), top, each)
    return parts, HEIGHT + 70 if panels else 0


def panel(title, lines, left, top, width):
    """One panel; `lines` has the sizes and ratios of each contestant."""
    sizes = sorted({size for points in lines.values() for size, _ in points})
    low, high = log2(sizes[0]), log2(sizes[-1])

    def x_of(size):
        return left + width * (log2(size) - low) / max(high - low, 1)

    def y_of(ratio):
        return top + HEIGHT * (1 - ratio_part(ratio))

    parts = [text(left, top - 12, title, "quiet")]
    for tick in TICKS:
        y = y_of(tick)
        parts.append(stroke(left, y, left + width, y, "copy" if tick == 1 else "grid"))
        parts.append(text(left - 6, y + 4, f"{tick:g}", "quiet", "end"))
    written = left - APART
    for size in sizes:
        if x_of(size) >= written + APART:
            written = x_of(size)
            parts.append(text(written, top + HEIGHT + 18, words.size(size), "quiet", "middle"))
    for name in sorted(lines, key=lambda name: name == "retrograde"):
        places = [(x_of(size), y_of(ratio), ratio) for size, ratio in sorted(lines[name])]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        colour, weight = COLOURS.get(name, "#888"), 2.5 if name == "retrograde" else 1.5
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{weight}"/>')
        parts += [dot(x, y, name, f"{name}: {words.ratio(ratio)}", 3) for x, y, ratio in places]
    return parts
