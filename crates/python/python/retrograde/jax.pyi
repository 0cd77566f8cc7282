from typing import SupportsIndex

from jax import Array
from jax.export import DisabledSafetyCheck
from jax.typing import ArrayLike

from ._typing import Align, Axes, Duplicates, Lengths, Mask, Plane, Policy, Tail

__all__ = [
    "export_checks",
    "flip",
    "fliplr",
    "flipud",
    "reverse",
    "reverse_segments",
    "reverse_sequence",
    "reverse_subsequences",
    "rot90",
]

def export_checks() -> list[DisabledSafetyCheck]: ...
def flip(m: ArrayLike, axis: Axes | None = None) -> Array: ...
def fliplr(m: ArrayLike) -> Array: ...
def flipud(m: ArrayLike) -> Array: ...
def rot90(m: ArrayLike, k: SupportsIndex = 1, axes: Plane = (0, 1)) -> Array: ...
def reverse(
    x: ArrayLike, axes: Axes | None = None, *, mask: Mask | None = None, duplicates: Duplicates = "set"
) -> Array: ...
def reverse_sequence(
    x: ArrayLike,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex = 0,
    batch_axis: SupportsIndex = 1,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
) -> Array: ...
def reverse_subsequences(
    x: ArrayLike,
    lengths: Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
) -> Array: ...
def reverse_segments(x: ArrayLike, offsets: Lengths, *, axis: SupportsIndex = 0) -> Array: ...
