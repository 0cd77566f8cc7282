from typing import SupportsIndex

from torch import Tensor

from ._typing import Axes, Duplicates, Lengths, Mask, Plane, Policy

__all__ = ["flip", "fliplr", "flipud", "reverse", "reverse_sequence", "reverse_subsequences", "rot90"]

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
    out: Tensor | None = None,
) -> Tensor: ...
def reverse_subsequences(
    x: Tensor, lengths: Lengths, *, axis: SupportsIndex, policy: Policy = "clamp", out: Tensor | None = None
) -> Tensor: ...
