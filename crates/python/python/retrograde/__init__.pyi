from typing import Any, SupportsIndex, overload

from numpy.typing import ArrayLike, NDArray

from ._engine import __version__ as __version__
from ._engine import get_num_threads, kept_memory, set_kept_memory, set_num_threads
from ._explain import Explanation, explain
from ._hint import hint
from ._prepare import Prepared, prepare
from ._show import Picture, show
from ._typing import Align, Axes, Duplicates, Lengths, Mask, Plane, Policy, Tail, TensorT

__all__ = [
    "Explanation",
    "Picture",
    "Prepared",
    "explain",
    "flip",
    "fliplr",
    "flipud",
    "get_num_threads",
    "hint",
    "kept_memory",
    "prepare",
    "reverse",
    "reverse_segments",
    "reverse_sequence",
    "reverse_subsequences",
    "rot90",
    "set_kept_memory",
    "set_num_threads",
    "show",
]

# A tensor returns a tensor of the same type; anything else that NumPy can read returns an array.

@overload
def flip(m: TensorT, axis: Axes | None = None) -> TensorT: ...
@overload
def flip(m: ArrayLike, axis: Axes | None = None) -> NDArray[Any]: ...
@overload
def fliplr(m: TensorT) -> TensorT: ...
@overload
def fliplr(m: ArrayLike) -> NDArray[Any]: ...
@overload
def flipud(m: TensorT) -> TensorT: ...
@overload
def flipud(m: ArrayLike) -> NDArray[Any]: ...
@overload
def rot90(m: TensorT, k: SupportsIndex = 1, axes: Plane = (0, 1)) -> TensorT: ...
@overload
def rot90(m: ArrayLike, k: SupportsIndex = 1, axes: Plane = (0, 1)) -> NDArray[Any]: ...
@overload
def reverse(
    x: TensorT,
    axes: Axes | None = None,
    *,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    out: TensorT | None = None,
) -> TensorT: ...
@overload
def reverse(
    x: ArrayLike,
    axes: Axes | None = None,
    *,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
@overload
def reverse_sequence(
    x: TensorT,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex = 0,
    batch_axis: SupportsIndex = 1,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    out: TensorT | None = None,
) -> TensorT: ...
@overload
def reverse_sequence(
    x: ArrayLike,
    lengths: Lengths,
    *,
    time_axis: SupportsIndex = 0,
    batch_axis: SupportsIndex = 1,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
@overload
def reverse_subsequences(
    x: TensorT,
    lengths: Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    out: TensorT | None = None,
) -> TensorT: ...
@overload
def reverse_subsequences(
    x: ArrayLike,
    lengths: Lengths,
    *,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
@overload
def reverse_segments(
    x: TensorT,
    offsets: Lengths | None = None,
    *,
    axis: SupportsIndex = 0,
    out: TensorT | None = None,
) -> TensorT: ...
@overload
def reverse_segments(
    x: ArrayLike,
    offsets: Lengths | None = None,
    *,
    axis: SupportsIndex = 0,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
