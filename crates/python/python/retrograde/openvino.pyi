from typing import Literal

import openvino as _ov

def library_path() -> str | None: ...
def register(
    core: _ov.Core, *, lengths: Literal["strict", "clamp"] = "strict", native: bool | None = None
) -> None: ...
def extensions(
    *, lengths: Literal["strict", "clamp"] = "strict", native: bool | None = None
) -> list[_ov.Extension]: ...
def replace(
    model: _ov.Model, *, lengths: Literal["strict", "clamp"] = "strict", native: bool | None = None
) -> list[str]: ...

__all__ = ["extensions", "library_path", "register", "replace"]
