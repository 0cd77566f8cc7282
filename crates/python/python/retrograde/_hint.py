"""What a caller says about outputs: whether they are read soon."""

from __future__ import annotations

from typing import Literal

from . import _engine


class hint:
    """Says when the outputs of the calls in a ``with`` block are read. Results do not depend on it.

    ``"read-soon"``: stores leave them in the caches, whatever their size. ``"read-later"``:
    non-temporal stores bypass the caches from 64 KiB on, and what was there stays. ``None``: the
    size of the output decides, as without a hint. It applies to calls of this thread on the CPU.

    >>> x = np.arange(6).reshape(2, 3)
    >>> with retrograde.hint("read-soon"):
    ...     y = retrograde.reverse(x, axes=1)
    >>> y.sum(axis=1)
    array([ 3, 12])
    """

    __slots__ = ("_before", "_outputs")

    def __init__(self, outputs: Literal["read-soon", "read-later"] | None) -> None:
        # Checked now, not when the block is entered.
        _engine.set_hint(_engine.set_hint(outputs))
        self._outputs, self._before = outputs, []

    def __enter__(self) -> hint:
        self._before.append(_engine.set_hint(self._outputs))
        return self

    def __exit__(self, *error: object) -> None:
        _engine.set_hint(self._before.pop())
