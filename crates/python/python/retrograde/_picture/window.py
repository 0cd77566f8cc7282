"""Which indices along an axis are shown, and which are left out (`None` stands for those)."""

#: Rows of a grid, or grids, beyond which only the first and last few are shown.
MOST_ROWS = 12
MOST_COLUMNS = 32
MOST_BLOCKS = 6
#: How many are shown at either end, as in NumPy.
EDGE = 3


def rows(size):
    return list(range(size)) if size <= MOST_ROWS else _edges(size, EDGE)


def blocks(count):
    return list(range(count)) if count <= MOST_BLOCKS else _edges(count, EDGE)


def columns(size):
    """From the most that should be shown to the fewest."""
    whole = [list(range(size))] if size <= MOST_COLUMNS else []
    return whole + [_edges(size, edge) for edge in range(EDGE, 0, -1) if 2 * edge + 1 < size]


def _edges(size, edge):
    return [*range(edge), None, *range(size - edge, size)]
