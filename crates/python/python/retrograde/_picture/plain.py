"""The picture as lines of text: the common width of the cells, then row by row."""

from . import elements, window

INDENT = "  "
#: Between before and after: an arrow in the middle row, space in the others.
ARROW, SPACE = "  →  ", "     "


def draw(scene, columns):
    """Within this many columns, beside each other if possible."""
    lines = [f"{scene.operator}  {scene.subject}", ""]
    if not scene.blocks:
        return "\n".join([*lines, f"{INDENT}(no elements)"])
    sheet = None
    for shown in window.columns(scene.size):
        sheet = _Sheet(scene.narrowed(shown))
        if sheet.width_beside <= columns:
            return "\n".join([*lines, *sheet.beside()])
        if sheet.width_below <= columns:
            break
    # Nothing fits, not even two columns: better wrapped than not shown.
    return "\n".join([*lines, *sheet.below()])


class _Sheet:
    """The grids, ready to be lined up."""

    def __init__(self, scene):
        self.blocks = scene.blocks
        at = scene.lengths_at
        drawn = [block for block in self.blocks if block is not None]
        rows = [row for block in drawn for row in block.rows]
        cells = [cell for row in rows for cell in row.before + row.after]
        cells += [cell for block in drawn for cell in block.lengths]
        widest = max(1, *(elements.width(cell.text) for cell in cells))
        self.widths = [1 if column is None else widest for column in scene.columns]
        self.gap = " " * (1 if widest == 1 else 2)
        has_gutter = at in ("rows", "columns")
        self.gutter = max(3, *(len(row.length) for row in rows)) if has_gutter else 0
        self.label = "len" if at == "rows" else ""
        self.is_text = scene.is_text
        self.grid_width = sum(self.widths) + len(self.gap) * (len(self.widths) - 1)
        #: The grid's width, or its title's if that is wider.
        self.column = max(self.grid_width, len("before"))
        self.width_below = len(self._margin("")) + self.column
        self.width_beside = self.width_below + len(SPACE) + max(self.grid_width, len("after"))

    def beside(self):
        yield f"{self._margin(self.label)}{'before':{self.column}}{SPACE}after"
        for block in self.blocks:
            if block is None:
                yield from ("", f"{INDENT}⋮")
                continue
            if block.caption:
                yield from ("", f"{INDENT}{block.caption}")
            yield from self._lengths(block)
            middle = (len(block.rows) - 1) // 2
            for number, row in enumerate(block.rows):
                before = self._cells(row.before)
                before += " " * (self.column - self.grid_width)
                between = ARROW if number == middle else SPACE
                line = f"{self._margin(row.length)}{before}{between}{self._cells(row.after)}"
                yield line.rstrip(" ")

    def below(self):
        for number, block in enumerate(self.blocks):
            if block is None:
                yield from ("", f"{INDENT}⋮")
                continue
            if block.caption:
                yield from ["", f"{INDENT}{block.caption}"][number == 0 :]
            yield f"{self._margin(self.label)}before"
            yield from self._lengths(block)
            for row in block.rows:
                yield (self._margin(row.length) + self._cells(row.before)).rstrip(" ")
            yield f"{self._margin('')}after"
            for row in block.rows:
                yield (self._margin("") + self._cells(row.after)).rstrip(" ")

    def _lengths(self, block):
        if block.lengths:
            yield (self._margin("len") + self._cells(block.lengths)).rstrip(" ")

    def _margin(self, text):
        """What stands left of a grid."""
        return f"{INDENT}{text:>{self.gutter}}  " if self.gutter else INDENT

    def _cells(self, cells):
        parts = []
        for cell, width in zip(cells, self.widths, strict=True):
            spaces = " " * (width - elements.width(cell.text))
            parts.append(cell.text + spaces if self.is_text else spaces + cell.text)
        return self.gap.join(parts)
