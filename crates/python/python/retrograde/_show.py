"""A picture of a call: the tensor before and after, side by side."""

import os

from ._explain import bound
from ._picture import html, plain, svg
from ._picture.blocks import scene
from ._picture.call import Call


class Picture:
    """What a call does to a tensor, drawn as text, as an SVG image and as HTML.

    It prints as text; a notebook shows the HTML. Large tensors are abbreviated to their ends, and
    tensors of more than two axes to a few of their planes. It keeps the elements that it shows, not
    the tensor.
    """

    def __init__(self, call):
        self._scene = scene(call)
        self._description = (
            f"{self._scene.operator} of {self._scene.subject}:"
            " the tensor before, at the left, and after, at the right."
        )

    def text(self, columns=100):
        """The picture as text, within this many columns if possible."""
        return plain.draw(self._scene, columns)

    def svg(self):
        """The picture as an SVG image, in light or dark colours according to the reader's settings."""
        return svg.draw(self._scene, self._description)

    def html(self):
        """The picture as an HTML fragment."""
        return html.draw(self._scene, self._description)

    def save(self, path):
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
            content = html.document(self._scene, self._description)
        elif ending == ".txt":
            content = self.text() + "\n"
        else:
            raise ValueError(f"path ends in {ending!r}, expected .svg, .html or .txt")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)

    def __str__(self):
        return self.text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.html()

    def _repr_svg_(self):
        return self.svg()

    def _ipython_display_(self):
        # IPython would store both the HTML and the image in the notebook. We choose the HTML: it
        # uses the notebook's background, can be selected, and screen readers read it row by row.
        from IPython.display import display

        display({"text/plain": self.text(), "text/html": self.html()}, raw=True)


def show(operator, x, *args, **kwargs):
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
    name, arguments = bound(operator, x, args, kwargs)
    return Picture(Call(name, x, arguments))
