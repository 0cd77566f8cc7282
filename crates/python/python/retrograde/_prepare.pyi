from collections.abc import Mapping
from typing import Any, Final, Generic

from ._typing import Lengths, Operator, TensorT

class Prepared(Generic[TensorT]):
    operator: Final[str]
    def __init__(
        self, operator: Operator, x: TensorT, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None: ...
    def __call__(self, x: TensorT, lengths: Lengths | None = None, *, out: TensorT | None = None) -> TensorT: ...

def prepare(operator: Operator, x: TensorT, *args: Any, **kwargs: Any) -> Prepared[TensorT]: ...
