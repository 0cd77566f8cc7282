"""Types that the stubs share; nothing imports them when a program runs."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike


class Tensor(Protocol):
    """A tensor of any library: it can be read through DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


TensorT = TypeVar("TensorT", bound=Tensor)

Axes: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
Mask: TypeAlias = Iterable[SupportsIndex | np.bool_]
Lengths: TypeAlias = ArrayLike | Tensor
# Two of them, since stubtest takes one Literal of two for something else.
Policy: TypeAlias = Literal["strict"] | Literal["clamp"]
Operator: TypeAlias = Callable[..., Any] | Literal["reverse", "reverse_sequence", "reverse_subsequences"]
