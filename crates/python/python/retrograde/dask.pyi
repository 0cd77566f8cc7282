from typing import SupportsIndex

from dask.array import Array
from numpy.typing import ArrayLike

from ._typing import Align, Axes, Duplicates, Lengths, Mask, Policy, Tail

__all__ = ["flip", "reverse", "reverse_segments", "reverse_sequence", "reverse_subsequences"]

def flip(m: Array | ArrayLike, axis: Axes | None = None) -> Array: ...
def reverse(
    x: Array | ArrayLike, axes: Axes | None = None, *, mask: Mask | None = None, duplicates: Duplicates = "set"
) -> Array: ...
def reverse_sequence(
    x: Array | ArrayLike,
    lengths: Array | Lengths,
    *,
    time_axis: SupportsIndex = 0,
    batch_axis: SupportsIndex = 1,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
) -> Array: ...
def reverse_subsequences(
    x: Array | ArrayLike,
    lengths: Array | Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
) -> Array: ...
def reverse_segments(x: Array | ArrayLike, offsets: Array | Lengths, *, axis: SupportsIndex = 0) -> Array: ...
