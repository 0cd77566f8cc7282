from collections.abc import Callable, Sequence
from typing import Any, Final, SupportsIndex, final

import numpy as np

from ._config import Hint
from ._explain import Record
from ._typing import Align, Axes, Duplicates, Lengths, Mask, Orientation, Plane, Policy, Tail

__all__ = [
    "reverse",
    "reverse_sequence",
    "reverse_subsequences",
    "reverse_segments",
    "flip",
    "rot90",
    "Buffer",
    "Maker",
    "OnnxModel",
    "Prepared",
    "Scene",
    "command",
    "cuda_check",
    "cuda_device_count",
    "cuda_set_blocking",
    "empty_like",
    "explain",
    "after_fork_in_child",
    "hint",
    "kept_memory",
    "kept_memory_limit",
    "kept_steps",
    "orient",
    "orient_each",
    "orientations",
    "oriented_shape",
    "native_functions",
    "number_text",
    "prepare",
    "printable",
    "refuse_masked",
    "set_hint",
    "set_kept_memory",
    "get_num_threads",
    "set_num_threads",
    "xla_check",
    "xla_handlers",
    "__version__",
    "Marked",
    "check_letters",
    "complements",
    "look_up",
]

__version__: Final[str]

@final
class Buffer:
    def __dlpack__(
        self,
        *,
        stream: object | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

def check_letters(operator: str, x: np.ndarray[Any, np.dtype[np.uint8]], /, *arguments: Any) -> None: ...
def complements(rna: bool, /) -> bytes: ...
def look_up(operator: str, x: Any, table: bytes, out: Any | None, fresh: bool, /, *arguments: Any) -> Any: ...
@final
class Marked:
    def __new__(cls, offsets: Any) -> Marked: ...
    @property
    def offsets(self) -> Any: ...

@final
class Maker:
    def __new__(
        cls,
        in_rows: bool,
        type: type,
        state: Any | None,
        like: Callable[[Any], Any],
        large: Callable[[Any], Any],
        least: SupportsIndex,
        here: Callable[..., Any] | None,
        there: tuple[Callable[..., Any], Callable[[], int]] | None,
        /,
    ) -> Maker: ...
    def reverse(
        self,
        x: Any,
        axes: Axes | None,
        mask: Mask | None,
        duplicates: Duplicates,
        out: Any | None,
        recorded: bool = False,
        /,
    ) -> Any | None: ...
    def reverse_sequence(
        self,
        x: Any,
        lengths: Lengths,
        time_axis: SupportsIndex,
        batch_axis: SupportsIndex,
        policy: Policy,
        align: Align,
        tail: Tail,
        out: Any | None,
        recorded: bool = False,
        /,
    ) -> Any | None: ...
    def reverse_subsequences(
        self,
        x: Any,
        lengths: Lengths,
        axis: SupportsIndex,
        policy: Policy,
        align: Align,
        tail: Tail,
        out: Any | None,
        recorded: bool = False,
        /,
    ) -> Any | None: ...
    def reverse_segments(
        self, x: Any, offsets: Lengths, axis: SupportsIndex, out: Any | None, recorded: bool = False, /
    ) -> Any | None: ...
def number_text(value: float, is_same: Callable[[float], bool], /) -> str: ...
def printable(text: str, /) -> str: ...
@final
class OnnxModel:
    NO_TENSOR: Final[int]
    def __new__(cls, content: bytes, folder: str, name: str, /) -> OnnxModel: ...
    @staticmethod
    def check_opset(content: bytes, name: str, /) -> None: ...
    @property
    def inputs(self) -> list[tuple[str, bool, bool]]: ...
    @property
    def outputs(self) -> list[str]: ...
    def run(self, inputs: Sequence[tuple[str, int, Any]], /) -> list[tuple[int, Any, list[int]]]: ...

@final
class Scene:
    def __new__(
        cls,
        operator: str,
        axes: list[int],
        shape: list[int],
        what: str,
        kind: str,
        text: Callable[[tuple[int, ...]], str],
        length: Callable[[tuple[int, ...]], int] | None,
        /,
        padding: tuple[bool, bool] = ...,
        offsets: list[int] | None = None,
    ) -> Scene: ...
    def text(self, columns: int, /) -> str: ...
    def svg(self) -> str: ...
    def html(self) -> str: ...
    def page(self) -> str: ...

def reverse(
    x: Any,
    axes: Axes | None = None,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    out: Any | None = None,
    fresh: bool = False,
    /,
) -> Any: ...
def flip(x: Any, axes: Sequence[int], swapped: tuple[int, int] | None = None, /) -> Any: ...
def rot90(m: np.ndarray[Any, Any], k: SupportsIndex, axes: Plane, /) -> Any | None: ...
def orient(
    x: np.ndarray[Any, Any], orientation: Orientation | None, axes: Plane | None, out: Any | None, /
) -> Any | None: ...
def reverse_sequence(
    x: Any,
    lengths: Lengths,
    time_axis: SupportsIndex,
    batch_axis: SupportsIndex,
    policy: Policy,
    align: Align,
    tail: Tail,
    out: Any | None = None,
    fresh: bool = False,
    /,
) -> Any: ...
def reverse_subsequences(
    x: Any,
    lengths: Lengths,
    axis: SupportsIndex,
    policy: Policy,
    align: Align,
    tail: Tail,
    out: Any | None = None,
    fresh: bool = False,
    /,
) -> Any: ...
def reverse_segments(
    x: Any, offsets: Lengths, axis: SupportsIndex, out: Any | None = None, fresh: bool = False, /
) -> Any: ...
def explain(operator: str, x: Any, table: bytes | None, /, *arguments: Any) -> Record: ...
def after_fork_in_child() -> None: ...
def native_functions() -> list[tuple[str, int]]: ...
def refuse_masked(operator: str, argument: str, lengths: Any, /) -> None: ...
def hint() -> Hint | None: ...
def set_hint(outputs: str | None, /) -> Hint | None: ...
def kept_memory() -> int: ...
def kept_memory_limit() -> int | None: ...
def orient_each(
    x: Any, numbers: Sequence[int], axes: tuple[int, int] | None, batch_axis: int, out: Any, /
) -> None: ...
def orientations() -> dict[int | str, tuple[int, bool, bool, bool]]: ...
def oriented_shape(
    shape: Sequence[int], numbers: Sequence[int], axes: tuple[int, int] | None, batch_axis: int, /
) -> list[int]: ...
def kept_steps(operator: str, shape: Sequence[int], /, *arguments: Any) -> np.ndarray[Any, np.dtype[np.int64]]: ...
def set_kept_memory(bytes: SupportsIndex | None, /) -> None: ...
def get_num_threads() -> int: ...
def set_num_threads(threads: SupportsIndex | None, /) -> None: ...
def xla_check(device: int, /) -> None: ...
def xla_handlers() -> dict[str, dict[str, Any]]: ...
def empty_like(x: Any, in_rows: bool = False, /) -> Any: ...
def command(arguments: list[str], again: list[str]) -> int: ...
def cuda_check(x: Any, /) -> None: ...
def cuda_device_count() -> int: ...
def cuda_set_blocking(blocking: bool, /) -> None: ...

@final
class Prepared:
    plan: Final[str]
    def run(self, x: Any, lengths: Lengths | None = None, out: Any | None = None, /) -> Any: ...

def prepare(operator: str, x: Any, /, *arguments: Any) -> Prepared | None: ...
