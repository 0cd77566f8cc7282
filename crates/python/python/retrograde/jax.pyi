from typing import SupportsIndex

from jax import Array
from jax.typing import ArrayLike

from ._typing import Axes, Lengths, Mask, Policy

__all__ = ["reverse", "reverse_sequence", "reverse_subsequences"]

def reverse(x: ArrayLike, axes: Axes | None = None, *, mask: Mask | None = None) -> Array: ...
def reverse_sequence(
    x: ArrayLike,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex = 0,
    batch_axis: SupportsIndex = 1,
    policy: Policy = "strict",
) -> Array: ...
def reverse_subsequences(
    x: ArrayLike, lengths: Lengths, *, axis: SupportsIndex, policy: Policy = "clamp"
) -> Array: ...
