"""The native library for PyTorch (``crates/torch``): the operators in C++, with the same names and results.

``scripts/build torch`` compiles it for the PyTorch that is installed. Without one that fits, the operators in Python
serve (:mod:`._torch_operators`). ``RETROGRADE_TORCH=python`` in the environment chooses these.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import torch

from . import _engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

FOLDER = Path(__file__).parent


class Native(NamedTuple):
    """Whether the native library is used, and why or why not."""

    used: bool
    why: str

    def __bool__(self) -> bool:
        return self.used


class _Library:
    """The library, loaded: its operators are registered with PyTorch."""

    def __init__(self, path: str) -> None:
        self._functions = functions = ctypes.CDLL(path)
        use = functions.retrograde_torch_use
        use.argtypes = ctypes.c_char_p, ctypes.c_void_p
        for name, address in _engine.native_functions():
            if not use(name.encode(), address):
                raise OSError(f"{path} has no place for {name}")
        # Fake kernels in Python also know symbolic sizes.
        functions.retrograde_torch_leave_meta()

    def on_subclass(self, function: Callable[[], None]) -> None:
        """Sets a function that is called before an operator runs on a tensor of a class of Python's."""
        there = self._functions.retrograde_torch_on_subclass
        if calls is None:
            # Takes milliseconds.
            self._called = ctypes.CFUNCTYPE(None)(function)
            there(self._called)
        else:
            calls.on_subclass(ctypes.cast(there, ctypes.c_void_p).value, function)

    def install(self, is_installed: bool) -> None:
        self._functions.retrograde_torch_install(int(is_installed))


def _find() -> tuple[_Library | None, Any, Native]:
    """The library, its functions for Python, and why."""
    chosen = os.environ.get("RETROGRADE_TORCH", "")
    if chosen not in ("", "python", "native"):
        raise ImportError(f'RETROGRADE_TORCH is "{chosen}", expected "python" or "native"')
    if chosen == "python":
        return None, None, Native(False, "RETROGRADE_TORCH=python")
    end = f"{_engine.__version__}-{torch.__version__}"
    path = FOLDER / f"libretrograde_torch-{end}.so"
    if not path.exists():
        others = sorted(other.name for other in FOLDER.glob("libretrograde_torch-*.so"))
        more = f"; there are {', '.join(others)}" if others else ""
        why = f"{FOLDER} has no {path.name}{more} (scripts/build torch compiles it)"
        if chosen == "native":
            raise ImportError(f"RETROGRADE_TORCH=native, but {why}")
        return None, None, Native(False, why)
    library = _Library(str(path))
    calls = FOLDER / f"_torch_calls-{end}-{sys.implementation.cache_tag}.so"
    if not calls.exists():
        return library, None, Native(True, f"{path}, without {calls.name}: small calls go through torch.ops")
    loader = ExtensionFileLoader("retrograde._torch_calls", str(calls))
    functions = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(functions)
    return library, functions, Native(True, str(path))


library, calls, state = _find()


def native() -> Native:
    """Says whether the operators are those of the native library, and why or why not.

    >>> bool(retrograde.torch.native()) == retrograde.torch.native().used
    True
    """
    return state


class _Installed:
    """Whether ``torch.flip`` is ours: until :func:`uninstall`, or while a ``with`` block runs."""

    lock = Lock()
    chosen = False
    blocks = 0

    @classmethod
    def change(cls, chosen: bool | None = None, blocks: int = 0) -> None:
        if library is None:
            if chosen is False:
                return
            raise RuntimeError(f"retrograde.torch.install() needs the native library: {state.why}")
        with cls.lock:
            cls.chosen = cls.chosen if chosen is None else chosen
            cls.blocks += blocks
            library.install(cls.chosen or cls.blocks > 0)


def install() -> None:
    """Runs every ``torch.flip`` of this process on the engine: also ``Tensor.flip``, ``fliplr``, ``flipud``, ``rot90``, and
    flips in modules, in other libraries and in gradients.

    Results, gradients and errors are PyTorch's. Tensors that the engine does not take (sparse, quantised, nested, on
    other devices) go to PyTorch's kernel. :func:`uninstall` takes it back. Needs the native library (:func:`native`).
    """
    _Installed.change(chosen=True)


def uninstall() -> None:
    """Takes :func:`install` back: ``torch.flip`` is PyTorch's own again."""
    _Installed.change(chosen=False)


@contextmanager
def installed() -> Iterator[None]:
    """:func:`install` for a ``with`` block, after which things are as they were. All threads see it."""
    _Installed.change(blocks=1)
    try:
        yield
    finally:
        _Installed.change(blocks=-1)
