from typing import SupportsIndex

from torch import Tensor

from ._typing import Axes, Lengths, Mask, Policy

__all__ = ["reverse", "reverse_sequence", "reverse_subsequences"]

def reverse(
    x: Tensor, axes: Axes | None = None, *, mask: Mask | None = None, out: Tensor | None = None
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
