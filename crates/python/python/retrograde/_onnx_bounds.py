"""How large the values of a model may become: the bounds that the command has too.

A model is not trusted. Without bounds, a few bytes of it (a Range to a billion, an Expand) could ask
for any amount of memory. Values are checked before they are computed; a view takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["Bounds", "check_axes", "check_entries"]

#: The most bytes of a result, whatever the model reads.
MOST_BYTES = 64 << 20
#: How many times as large as all inputs and constants together a result may be.
TIMES = 8
#: The most entries of a list of axes, indices or sizes, and of a result of arithmetic.
MOST_ENTRIES = 1 << 20
#: The most axes of a result.
MOST_AXES = 64


def check_entries(what: str, count: int) -> None:
    """Refuses more integers than operators accept."""
    if count > MOST_ENTRIES:
        raise ValueError(f"{what} has {count} entries, more than the {MOST_ENTRIES} that are accepted")


def check_axes(count: int) -> None:
    """Refuses results with too many axes."""
    if count > MOST_AXES:
        raise ValueError(f"the shape of the result has {count} entries, more than the {MOST_AXES} that are accepted")


class Bounds:
    """The most bytes of a result, for a run on these values: all inputs and constants."""

    def __init__(self, values: Iterable[Any]) -> None:
        read = sum(value.nbytes for value in values if isinstance(value, np.ndarray))
        self._most = max(TIMES * read, MOST_BYTES)

    def check_bytes(self, count: int) -> None:
        """Refuses a result of this many bytes if that is too many."""
        if count > self._most:
            raise ValueError(f"the result has {count} bytes, more than the {self._most} that are accepted")

    def check(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        """Refuses a result of this shape and type if it is too large."""
        check_axes(len(shape))
        self.check_bytes(math.prod(shape) * dtype.itemsize)
