"""The cells of a picture: what each says, and whether it moved, stayed or is padding.

The last two axes make a grid; a tensor of more has one grid for each index of the others.
"""

from dataclasses import dataclass, replace

import numpy as np

from . import elements, window

PLAIN, MOVED, PADDING, LEFT_OUT = "plain", "moved", "padding", "left out"


@dataclass
class Cell:
    """One element, or a mark for some that are left out."""

    text: str
    kind: str
    #: Where it came from, if it moved.
    origin: tuple | None = None


@dataclass
class Row:
    """One row of both grids, with its length if it has one."""

    length: str
    before: list
    after: list


@dataclass
class Block:
    """One grid before and after."""

    #: The index of the leading axes, if there are any.
    caption: str
    #: The lengths of the columns, if they differ by column.
    lengths: list
    rows: list


@dataclass
class Scene:
    """All that a picture shows."""

    operator: str
    subject: str
    #: The grids; `None` stands for those left out.
    blocks: list
    #: The columns of each grid that are shown, of so many.
    columns: list
    size: int
    #: Whether lengths are shown by "rows", by "columns", in each "caption" or not at all.
    lengths_at: str | None
    is_text: bool

    def narrowed(self, columns):
        """With these columns, which are some of those that are shown, or as many."""
        if columns == self.columns:
            return self
        place = {column: at for at, column in enumerate(self.columns)}

        def cells(cells, mark="…"):
            return [Cell(mark, LEFT_OUT) if c is None else cells[place[c]] for c in columns]

        def row(row):
            mark = "…" if row.before[0].kind != LEFT_OUT else "⋱"
            return Row(row.length, cells(row.before, mark), cells(row.after, mark))

        def block(block):
            lengths = cells(block.lengths) if block.lengths else []
            return Block(block.caption, lengths, list(map(row, block.rows)))

        blocks = [one and block(one) for one in self.blocks]
        return replace(self, blocks=blocks, columns=columns)


def scene(call):
    """What there is to show of a call, with as many columns as should be shown at most."""
    size = call.shape[-1] if call.shape else 1
    operator, subject = call.title
    columns = window.columns(size)[0]
    return Scene(
        operator,
        subject,
        [] if 0 in call.shape else _blocks(call, columns),
        columns,
        size,
        _lengths_at(call),
        elements.is_text(call.array.dtype),
    )


def _lengths_at(call):
    """By row or by column if they vary over only one of the two."""
    if call.lengths is None:
        return None
    by_row = call.rank >= 2 and call.lengths_vary_over(call.rank - 2)
    by_column = call.lengths_vary_over(call.rank - 1)
    if by_row and by_column:
        return None
    if by_row or by_column:
        return "rows" if by_row else "columns"
    # One length for the whole grid; a single row may as well carry it.
    return "rows" if call.rank < 2 else "caption"


def _blocks(call, columns):
    leading = call.shape[:-2]
    rows = window.rows(call.shape[-2]) if call.rank >= 2 else [0]
    shown = window.blocks(int(np.prod(leading, dtype=object)))
    leads = [None if number is None else _unravel(number, leading) for number in shown]
    return [None if lead is None else _block(call, lead, rows, columns) for lead in leads]


def _block(call, lead, rows, columns):
    at = _lengths_at(call)

    def index(row, column):
        # A tensor of one axis has no rows, a scalar no columns either.
        return (*lead, *(row, column)[2 - min(call.rank, 2) :])

    indices = [[i for i in axis if i is not None] for axis in (rows, columns)]
    shown = [[i] for i in lead] + indices[2 - min(call.rank, 2) :]
    origins = call.origins(shown).reshape(len(indices[0]), len(indices[1]), call.rank)

    def before(row, column, _):
        return _cell(call, index(row, column), index(row, column))

    def after(row, column, origin):
        return _cell(call, index(row, column), tuple(map(int, origin)))

    def cells(row, row_origins, cell):
        origins = iter(row_origins)
        for column in columns:
            if column is not None and row is not None:
                yield cell(row, column, next(origins))
            else:
                yield Cell("…" if row is not None else "⋮" if column is not None else "⋱", LEFT_OUT)

    def length(row):
        if at != "rows":
            return ""
        return "⋮" if row is None else str(call.length(index(row, 0)))

    grid, row_origins = [], iter(origins)
    for row in rows:
        origin = () if row is None else next(row_origins)
        grid.append(Row(length(row), list(cells(row, origin, before)), list(cells(row, origin, after))))
    caption = f"[{', '.join(map(str, lead))}, :, :]" if lead else ""
    if at == "caption" and lead:
        caption += f"  len {call.length(index(0, 0))}"
    lengths = []
    if at == "columns":
        texts = ["…" if column is None else str(call.length(index(0, column))) for column in columns]
        lengths = [Cell(text, PLAIN) for text in texts]
    return Block(caption, lengths, grid)


def _cell(call, index, origin):
    """What lies at an index, having come from another one or not."""
    text = elements.text(call.array, origin)
    if call.is_padding(index):
        return Cell(text, PADDING)
    return Cell(text, PLAIN) if origin == index else Cell(text, MOVED, origin)


def _unravel(number, shape):
    """The index of the grid of this number; Python's integers, so no product of sizes overflows."""
    index = []
    for size in reversed(shape):
        number, at = divmod(number, size)
        index.append(at)
    return tuple(reversed(index))
