"""The picture as an SVG image: every element a box, what moved in colour."""

from html import escape

from . import elements
from .blocks import LEFT_OUT, PLAIN

CHARACTER, HEIGHT, GAP, MARGIN, BETWEEN = 9, 26, 4, 16, 48

#: Under one class, so that nothing else on a page changes that this is put into.
STYLE = """\
.retrograde text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}
.retrograde .background{fill:#ffffff}
.retrograde .title{font-weight:600}.retrograde .quiet{fill:#59636e}
.retrograde .length{fill:#7d4e00;text-anchor:end}.retrograde .middle{text-anchor:middle}
.retrograde rect{fill:#e6eaef}
.retrograde .moved rect{fill:#a5d6ff}.retrograde .moved text{font-weight:600}
.retrograde .padding rect{fill:#f6f8fa}.retrograde .padding text{fill:#818b98}
@media(prefers-color-scheme:dark){
.retrograde text{fill:#e6edf3}.retrograde .background{fill:#0d1117}
.retrograde .quiet{fill:#9198a1}.retrograde .length{fill:#e3b341}
.retrograde rect{fill:#2a313c}
.retrograde .moved rect{fill:#0b4a8f}
.retrograde .padding rect{fill:#161b22}.retrograde .padding text{fill:#767e89}
}"""


def draw(scene, description):
    title = f"{scene.operator}  {scene.subject}"
    image = _Image()
    image.text(MARGIN, "title", title)
    image.width = MARGIN + elements.width(title) * CHARACTER
    image.y += HEIGHT + GAP
    if not scene.blocks:
        image.text(MARGIN, "quiet", "(no elements)")
        image.y += HEIGHT
    else:
        image.blocks(scene)
    width, height = image.width + MARGIN, image.y + MARGIN
    body = "\n".join(image.body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="retrograde" role="img" width="{width}"'
        f' height="{height}" viewBox="0 0 {width} {height}">\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n<style>{STYLE}</style>\n"
        f'<rect class="background" width="{width}" height="{height}"/>\n{body}\n</svg>\n'
    )


class _Image:
    """What is drawn, and where the next thing goes."""

    def __init__(self):
        self.body, self.width, self.y = [], 0, MARGIN

    def blocks(self, scene):
        drawn = scene.blocks
        rows = [row for block in drawn if block for row in block.rows]
        cells = [cell for row in rows for cell in row.before + row.after]
        cells += [cell for block in drawn if block for cell in block.lengths]
        cell = max(HEIGHT, max(elements.width(cell.text) for cell in cells) * CHARACTER + 10)
        digits = max(len(row.length) for row in rows)
        has_gutter = digits > 0 or any(block and block.lengths for block in drawn)
        gutter = max(digits, len("len")) * CHARACTER + 10 if has_gutter else 0
        grid = len(scene.columns) * (cell + GAP) - GAP
        before = MARGIN + gutter
        after = before + grid + BETWEEN
        self.width = max(self.width, after + max(grid, len("after") * CHARACTER))
        if digits > 0:
            self.text(before - 10, "length", "len")
        self.text(before, "quiet", "before")
        self.text(after, "quiet", "after")
        self.y += HEIGHT
        for block in drawn:
            if block is None:
                self.text(MARGIN, "quiet", "⋮")
                self.y += HEIGHT
            else:
                self.block(block, before, after, cell, grid)

    def block(self, block, before, after, cell, grid):
        if block.caption:
            self.text(MARGIN, "quiet", block.caption)
            self.y += HEIGHT
        if block.lengths:
            self.text(before - 10, "length", "len")
            for number, length in enumerate(block.lengths):
                self.text(before + number * (cell + GAP) + cell // 2, "length middle", length.text)
            self.y += HEIGHT
        top = self.y
        for row in block.rows:
            if row.length:
                self.text(before - 10, "length", row.length)
            for start, cells in ((before, row.before), (after, row.after)):
                for number, one in enumerate(cells):
                    self.cell(start + number * (cell + GAP), cell, one)
            self.y += HEIGHT + GAP
        bottom, self.y = self.y, (top + self.y - GAP - HEIGHT) // 2
        self.text(before + grid + BETWEEN // 2, "middle", "→")
        self.y = bottom + GAP

    def cell(self, x, width, cell):
        if cell.kind == LEFT_OUT:
            self.text(x + width // 2, "quiet middle", cell.text)
            return
        name = "" if cell.kind == PLAIN else f' class="{cell.kind}"'
        origin = "" if cell.origin is None else f"<title>from {list(cell.origin)}</title>"
        self.body.append(
            f'<g{name}>{origin}<rect x="{x}" y="{self.y}" width="{width}" height="{HEIGHT}" rx="4"/>'
        )
        self.text(x + width // 2, "middle", cell.text)
        self.body[-1] += "</g>"

    def text(self, x, name, text):
        y = self.y + HEIGHT * 2 // 3
        self.body.append(f'<text class="{name}" x="{x}" y="{y}">{escape(text)}</text>')
