"""Pictures of calls: the tensor before and after, side by side. This module supplies the data; the engine draws it."""

from __future__ import annotations

import operator as _operator
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from . import _axes, _elements, _engine, _kinds, _where
from ._check import check
from ._explain import OPERATORS, bound
from ._lengths import counted
from ._typing import ChunkedArray, Operator, RaggedTensor, Tensor


class Picture:
    """What a call does to a tensor, drawn as text, as an SVG image and as HTML.

    It prints as text; a notebook shows the HTML. Large tensors are abbreviated to their ends, and
    tensors of more than two axes to a few of their planes. Arrays of uint8 in the shape of an image (rows,
    columns, and perhaps 1, 3 or 4 channels) are shown as pixels. It keeps the elements that it shows, not
    the tensor.
    """

    def __init__(self, scene: _engine.Scene) -> None:
        self._scene = scene

    def text(self, columns: int = 100) -> str:
        """The picture as text, within this many columns if possible."""
        return self._scene.text(columns)

    def svg(self) -> str:
        """The picture as an SVG image, in light or dark colours according to the reader's settings."""
        return self._scene.svg()

    def html(self) -> str:
        """The picture as an HTML fragment."""
        return self._scene.html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file: an SVG image, an HTML page or text, by the file's extension.

        >>> picture = retrograde.show(retrograde.reverse, np.arange(3))
        >>> picture.save("picture.png")
        Traceback (most recent call last):
        ValueError: path ends in '.png', expected .svg, .html or .txt
        """
        ending = os.path.splitext(os.fspath(path))[1]
        ending = os.fsdecode(ending).lower()
        if ending == ".svg":
            content = self.svg()
        elif ending in (".html", ".htm"):
            content = self._scene.page()
        elif ending == ".txt":
            content = self.text() + "\n"
        else:
            raise ValueError(f"path ends in {ending!r}, expected .svg, .html or .txt")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_svg_(self) -> str:
        return self.svg()

    def _ipython_display_(self) -> None:
        # IPython would store both the HTML and the image in the notebook. We choose the HTML: it
        # uses the notebook's background, can be selected, and screen readers read it row by row.
        from IPython.display import display

        display({"text/plain": self.text(), "text/html": self.html()}, raw=True)


def show(operator: Operator, x: ArrayLike | Tensor | ChunkedArray | RaggedTensor, *args: Any, **kwargs: Any) -> Picture:
    """Draws what ``operator(x, *args, **kwargs)`` does: a picture of the tensor before and after.

    The operator is one of this module's functions, or its name. ``x`` is not changed. Elements that
    moved are bright, and those beyond their length are dim; the text version has no colours.

    >>> words = np.array([list("stressed"), list("live...."), list("drawer..")])
    >>> retrograde.show(retrograde.reverse_sequence, words, [8, 4, 6], time_axis=1, batch_axis=0)
    ReverseSequence  U1 [3, 8]  time axis 1, batch axis 0
    <BLANKLINE>
      len  before              after
        8  s t r e s s e d     d e s s e r t s
        4  l i v e . . . .  →  e v i l . . . .
        6  d r a w e r . .     r e w a r d . .

    In a notebook it is shown in colours; ``.save("picture.svg")`` writes it to a file.
    """
    name, x, arguments, table = bound(operator, x, args, kwargs)
    if table is not None:
        raise ValueError(f"{name}: a picture shows where elements go, and not what a table makes of them: omit table")
    return Picture(_scene(name, x, list(arguments.values())))


def _scene(name, x, arguments):
    """Collects what a picture of a call shows. Raises the engine's errors for an invalid call."""
    array = _elements.array_of(x)
    shape, rank, dtype = array.shape, array.ndim, array.dtype
    what = _elements.printable(f"{_elements.type_name(x, array)} {list(shape)}")
    # The memory of a tensor is not held while the arguments are converted, which may run Python code that resizes it.
    del array
    # An iterator can be read only once, and the axes are read several times.
    arguments = [list(a) if isinstance(a, Iterator) else a for a in arguments]
    if name != "reverse":
        arguments[0] = _kinds.kept_lengths(_where.unmarked(arguments[0]))
    check(name, shape, *arguments, dtype=dtype)
    length = offsets = None
    padding = False, False
    if name == "reverse":
        axes = list(_axes.resolved(*arguments, rank))
    else:
        axes = [_operator.index(axis) % rank for axis in arguments[1 : 1 + len(OPERATORS[name])]]
        lengths = counted(name, shape, _elements.array_of(arguments[0]), *arguments[1:])
        if name == "reverse_segments":
            offsets = [int(offset) for offset in lengths]
        else:
            align, tail = arguments[-2:]
            padding = align == "end", tail == "zero"
        if name == "reverse_subsequences":
            lengths = lengths.reshape([1 if axis == axes[0] else size for axis, size in enumerate(shape)])
        length = lambda at: int(lengths[at])  # noqa: E731
    array = _elements.array_of(x)
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(f"x has shape {array.shape}, but had {shape} before the other arguments were read")
    text = partial(_elements.text, array)
    kind = _elements.kind(dtype)
    return _engine.Scene(name, axes, shape, what, kind, text, length, padding=padding, offsets=offsets)
