from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import onnxruntime as _ort

NAME: str

@dataclass(frozen=True)
class Claim:
    graph: str
    node: str
    operator: str
    output: str
    claimed: bool
    reason: str | None

class Claims(tuple[Claim, ...]):
    def __str__(self) -> str: ...

def library_path() -> str: ...
def register() -> None: ...
def unregister() -> None: ...
def devices() -> list[Any]: ...
def session(
    model: str | bytes | PathLike[str],
    sess_options: _ort.SessionOptions | None = None,
    *,
    lengths: Literal["strict", "clamp"] = "strict",
    min_bytes: int | None = None,
    strings: bool = False,
    **others: Any,
) -> _ort.InferenceSession: ...
def explain(
    model: str | bytes | PathLike[str],
    *,
    lengths: Literal["strict", "clamp"] = "strict",
    min_bytes: int | None = None,
    strings: bool = False,
) -> Claims: ...

__all__ = ["NAME", "Claim", "Claims", "devices", "explain", "library_path", "register", "session", "unregister"]
