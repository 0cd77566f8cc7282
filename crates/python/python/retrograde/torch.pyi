from typing import SupportsIndex

from torch import Tensor

from ._typing import Align, Axes, Duplicates, Lengths, Mask, Plane, Policy, Tail

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "reverse",
    "reverse_segments",
    "reverse_sequence",
    "reverse_subsequences",
    "rot90",
]

def flip(m: Tensor, axis: Axes | None = None) -> Tensor: ...
def fliplr(m: Tensor) -> Tensor: ...
def flipud(m: Tensor) -> Tensor: ...
def rot90(m: Tensor, k: SupportsIndex = 1, axes: Plane = (0, 1)) -> Tensor: ...
def reverse(
    x: Tensor,
    axes: Axes | None = None,
    *,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    out: Tensor | None = None,
) -> Tensor: ...
def reverse_sequence(
    x: Tensor,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex = 0,
    batch_axis: SupportsIndex = 1,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    out: Tensor | None = None,
) -> Tensor: ...
def reverse_subsequences(
    x: Tensor,
    lengths: Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    out: Tensor | None = None,
) -> Tensor: ...
def reverse_segments(
    x: Tensor, offsets: Lengths | None = None, *, axis: SupportsIndex = 0, out: Tensor | None = None
) -> Tensor: ...
