"""Shapes of the charts: text, lines, dots, and the scale that ratios are drawn on."""

from html import escape
from math import log10

# Values beyond these are drawn at the edge.
LOWEST, HIGHEST = 0.02, 5.0

# Readable on light and dark backgrounds.
COLOURS = {
    "retrograde": "#e8590c",
    "retrograde in Python": "#f2a65a",
    "retrograde on torch": "#f2a65a",
    "numpy": "#4c8dd6",
    "retrograde native": "#f2a65a",
    "torch": "#2f9e77",
    "torch.compile": "#86b81b",
    "cupy": "#4c8dd6",
    "onnxruntime": "#9b6dd0",
    "openvino": "#b58a1b",
    "tensorflow": "#d6568a",
    "jax": "#5f9ea0",
    "opencv": "#9b6dd0",
    "pillow": "#d6568a",
    "torchvision": "#86b81b",
    "albumentations": "#5f9ea0",
    "kornia-rs": "#b58a1b",
    "scikit-image": "#888",
}
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #444 }
.quiet { fill: #777 } .title { font-size: 16px; font-weight: 600 } .own { font-weight: 600; fill: #e8590c }
.grid { stroke: #999; stroke-opacity: .3 } .copy { stroke: #777; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .quiet { fill: #999 } }
"""


def ratio_part(ratio):
    """The position of a ratio on the scale: 0 to 1."""
    inside = min(max(ratio, LOWEST), HIGHEST)
    return (log10(inside) - log10(LOWEST)) / (log10(HIGHEST) - log10(LOWEST))


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def stroke(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def dot(x, y, name, words, radius=None):
    own = name == "retrograde"
    radius = radius or (6 if own else 4.2)
    colour = COLOURS.get(name, "#888")
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" fill-opacity="{1 if own else 0.8}">'
        f"<title>{escape(words)}</title></circle>"
    )
