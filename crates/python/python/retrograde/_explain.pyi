from collections.abc import Mapping
from typing import Any, Literal, TypedDict, type_check_only

from numpy.typing import ArrayLike

from ._typing import Operator, Tensor

@type_check_only
class Dim(TypedDict):
    len: int
    flow: Literal["keep", "flip", "flip prefix", "flip segments"]
    src: int
    dst: int
    strides_in: Literal["bytes", "elements"]

@type_check_only
class Record(TypedDict):
    operator: str
    plan: str
    dims: list[Dim]
    unit_bits: int
    kernel: str
    kernel_about: str
    instructions: str
    threads: int
    bytes_read: int
    bytes_written: int

OPERATORS: dict[str, tuple[str, ...]]

class Explanation:
    operator: str
    plan: str
    dims: list[Dim]
    unit_bits: int
    kernel: str
    kernel_about: str
    instructions: str
    threads: int
    bytes_read: int
    bytes_written: int
    def __init__(self, record: Record) -> None: ...

def explain(operator: Operator, x: ArrayLike | Tensor, *args: Any, **kwargs: Any) -> Explanation: ...
def bound(
    operator: Operator, x: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str, Any, tuple[Any, ...]]: ...
