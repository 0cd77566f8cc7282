"""Types that the signatures share."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Tensor(Protocol):
    """A tensor of any library that supports DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class ChunkedArray(Protocol):
    """A ``pyarrow.ChunkedArray`` (of lists), whose offsets are its own."""

    @property
    def num_chunks(self) -> int: ...
    @property
    def chunks(self) -> Any: ...
    @property
    def type(self) -> Any: ...


class RaggedTensor(Protocol):
    """A ``tf.RaggedTensor``, whose row splits are offsets of its own."""

    @property
    def values(self) -> Any: ...
    @property
    def row_splits(self) -> Any: ...
    @property
    def ragged_rank(self) -> Any: ...
    def with_values(self, new_values: Any) -> Any: ...


TensorT = TypeVar("TensorT", bound=Tensor)
#: Tensors with offsets of their own that do not support DLPack.
SegmentedT = TypeVar("SegmentedT", bound=ChunkedArray | RaggedTensor)

#: Letters that are no tensors: text, bytes, and Arrow arrays.
LettersT = TypeVar("LettersT", bound=str | bytes | bytearray | ChunkedArray)

Axes: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
Mask: TypeAlias = Iterable[SupportsIndex | np.bool_]
#: Two axes.
Plane: TypeAlias = Iterable[SupportsIndex]
#: An EXIF number or a name.
Orientation: TypeAlias = SupportsIndex | str
Orientations: TypeAlias = Iterable[SupportsIndex | str]
Lengths: TypeAlias = ArrayLike | Tensor
#: A boolean for each sequence, lane, segment or entry of a batch.
Where: TypeAlias = ArrayLike | Tensor
#: What elements become, by their value.
Table: TypeAlias = bytes | bytearray | NDArray[np.uint8] | Tensor
# Two of them, because stubtest misreads one Literal with two values.
Duplicates: TypeAlias = Literal["set"] | Literal["error"]
Policy: TypeAlias = Literal["strict"] | Literal["clamp"]
Align: TypeAlias = Literal["start"] | Literal["end"]
Tail: TypeAlias = Literal["keep"] | Literal["zero"]
Operator: TypeAlias = (
    Callable[..., Any] | Literal["reverse", "reverse_sequence", "reverse_subsequences", "reverse_segments"]
)
