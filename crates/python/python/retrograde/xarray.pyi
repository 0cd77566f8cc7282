from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from xarray import DataArray, Dataset

from ._typing import Align, Duplicates, Lengths, Policy, Tail

__all__ = ["Reversals"]

_LabelledT = TypeVar("_LabelledT", DataArray, Dataset)

class Reversals(Generic[_LabelledT]):
    def __init__(self, x: _LabelledT) -> None: ...
    def flip(self, dims: Hashable | Iterable[Hashable] | None = None) -> _LabelledT: ...
    def reverse(
        self, dims: Hashable | Iterable[Hashable] | None = None, *, duplicates: Duplicates = "set"
    ) -> _LabelledT: ...
    def reverse_sequence(
        self,
        dim: Hashable,
        lengths: DataArray | Lengths,
        *,
        batch_dim: Hashable | None = None,
        policy: Policy = "strict",
        align: Align = "start",
        tail: Tail = "keep",
    ) -> _LabelledT: ...
    def reverse_subsequences(
        self,
        dim: Hashable,
        lengths: DataArray | Lengths,
        *,
        policy: Policy = "clamp",
        align: Align = "start",
        tail: Tail = "keep",
    ) -> _LabelledT: ...
    def reverse_segments(self, dim: Hashable, offsets: DataArray | Lengths) -> _LabelledT: ...
