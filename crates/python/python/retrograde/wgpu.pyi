from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

def library_path() -> str | None: ...
def is_available() -> bool: ...

class Gpu:
    def __init__(self, number: int | None = None) -> None: ...
    @property
    def name(self) -> str: ...
    def close(self) -> None: ...
    def __enter__(self) -> Gpu: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __del__(self) -> None: ...
    def reverse(self, x: ArrayLike, axes: int | Sequence[int] | None = None) -> np.ndarray[Any, Any]: ...
    def reverse_sequence(
        self,
        x: ArrayLike,
        lengths: ArrayLike,
        *,
        time_axis: int = 0,
        batch_axis: int = 1,
        policy: Literal["strict", "clamp"] = "strict",
        align: Literal["start", "end"] = "start",
        tail: Literal["keep", "zero"] = "keep",
    ) -> np.ndarray[Any, Any]: ...
    def reverse_subsequences(
        self,
        x: ArrayLike,
        lengths: ArrayLike,
        *,
        axis: int,
        policy: Literal["strict", "clamp"] = "clamp",
        align: Literal["start", "end"] = "start",
        tail: Literal["keep", "zero"] = "keep",
    ) -> np.ndarray[Any, Any]: ...
    def reverse_segments(self, x: ArrayLike, offsets: ArrayLike, *, axis: int = 0) -> np.ndarray[Any, Any]: ...

__all__ = ["Gpu", "is_available", "library_path"]
