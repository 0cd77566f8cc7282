"""NumPy arrays through any GPU: Vulkan, Metal or DirectX 12.

>>> import numpy as np, retrograde.wgpu  # doctest: +SKIP
>>> gpu = retrograde.wgpu.Gpu()  # doctest: +SKIP
>>> gpu.reverse(np.arange(6).reshape(2, 3), [1])  # doctest: +SKIP
array([[2, 1, 0],
       [5, 4, 3]])

An array crosses the bus to the device twice, which usually takes longer than reversing it on the
CPU (``retrograde.reverse``). The library behind this is not part of the package:
``scripts/build wgpu`` compiles it and puts it here.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from . import _complement, _engine, _names, _where
from ._hints import sequence_axes
from ._lengths import array_of, counted
from ._typing import Align, Lengths, Orientation, Policy, Tail, Where

__all__ = ["Gpu", "is_available", "library_path"]

_VERSION = 3
_INVALID, _NO_DEVICE = 1, 2
_REVERSE, _SEQUENCE, _SUBSEQUENCES, _SEGMENTS, _ORIENT = range(5)
#: What errors call an operator, and the argument that counts.
_COUNTS = {
    _SEQUENCE: ("ReverseSequence", "lengths"),
    _SUBSEQUENCES: ("ReverseSubsequences", "lengths"),
    _SEGMENTS: ("ReverseSegments", "offsets"),
}
_POLICIES = {"strict": 0, "clamp": 1}
_ALIGNS = {"start": 0, "end": 2}
_TAILS = {"keep": 0, "zero": 4}
#: Offsets say in their lowest bit which segments are reversed.
_MARKED = 8
_NAMES = {"darwin": "libretrograde_wgpu.dylib", "win32": "retrograde_wgpu.dll"}
_loaded = None


class _Call(ctypes.Structure):
    _fields_ = [
        ("operator", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("bytes", ctypes.c_size_t),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_size_t)),
        ("axis_count", ctypes.c_size_t),
        ("axes", ctypes.POINTER(ctypes.c_int64)),
        ("lengths_rank", ctypes.c_size_t),
        ("lengths_shape", ctypes.POINTER(ctypes.c_size_t)),
        ("lengths", ctypes.POINTER(ctypes.c_int64)),
        ("flags", ctypes.c_uint32),
        ("table_count", ctypes.c_size_t),
        ("table", ctypes.c_char_p),
    ]


def library_path() -> str | None:
    """The path of the library; ``None`` if it was not built."""
    path = Path(__file__).parent / _NAMES.get(sys.platform, "libretrograde_wgpu.so")
    return str(path) if path.exists() else None


def is_available() -> bool:
    """Whether the library was built and there is an adapter that it can use."""
    try:
        Gpu().close()
    except (ImportError, RuntimeError):
        return False
    return True


def _library():
    global _loaded
    if _loaded is not None:
        return _loaded
    path = library_path()
    if path is None:
        raise ImportError(
            "retrograde.wgpu needs a library that is not part of the package: run scripts/build wgpu PYTHON "
            "in a clone of Retrograde's repository"
        )
    library = ctypes.CDLL(path)
    library.retrograde_wgpu_version.restype = ctypes.c_uint32
    if (version := library.retrograde_wgpu_version()) != _VERSION:
        raise ImportError(
            f"{path} has version {version} of its interface, expected {_VERSION}: run scripts/build wgpu again"
        )
    library.retrograde_wgpu_message.restype = ctypes.c_char_p
    library.retrograde_wgpu_open.argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p)]
    library.retrograde_wgpu_close.argtypes = [ctypes.c_void_p]
    library.retrograde_wgpu_close.restype = None
    library.retrograde_wgpu_name.argtypes = [ctypes.c_void_p]
    library.retrograde_wgpu_name.restype = ctypes.c_char_p
    library.retrograde_wgpu_run.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Call),
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    _loaded = library
    return library


def _check(status):
    if status:
        message = _library().retrograde_wgpu_message().decode()
        raise (ValueError if status == _INVALID else RuntimeError)(message)


class Gpu:
    """An adapter, opened: the fastest one, or by its number."""

    def __init__(self, number: int | None = None) -> None:
        self._handle = ctypes.c_void_p()
        if number is not None and number < 0:
            raise ValueError(f"number is {number}, expected 0 or more")
        _check(_library().retrograde_wgpu_open(-1 if number is None else number, ctypes.byref(self._handle)))

    @property
    def name(self) -> str:
        """The adapter's name and interface."""
        return _library().retrograde_wgpu_name(self._open()).decode()

    def close(self) -> None:
        """Closes it; it cannot be used any more."""
        if self._handle:
            handle, self._handle = self._handle, ctypes.c_void_p()
            _library().retrograde_wgpu_close(handle)

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and _loaded is not None:
            self.close()

    def reverse(
        self,
        x: ArrayLike,
        axes: int | Sequence[int] | None = None,
        *,
        where: Where | None = None,
        batch_axis: int = 0,
    ) -> np.ndarray[Any, Any]:
        """``x`` reversed along ``axes``; along all of them by default.

        ``where`` says which entries of ``batch_axis`` are reversed; the others stay.
        """
        if where is not None:
            return _where.reverse(self._whole, x, axes, None, "set", where, batch_axis)
        axes = range(np.ndim(x)) if axes is None else axes
        return self._run(_REVERSE, x, [axes] if isinstance(axes, int) else axes, None, 0)

    def reverse_sequence(
        self,
        x: ArrayLike,
        lengths: ArrayLike,
        *,
        time_axis: int | None = None,
        batch_axis: int | None = None,
        batch_first: bool | None = None,
        policy: Policy = "strict",
        align: Align = "start",
        tail: Tail = "keep",
        where: Where | None = None,
    ) -> np.ndarray[Any, Any]:
        """A padded batch of sequences, each reversed up to its length.

        The axes are 0 and 1 by default, and 1 and 0 with ``batch_first=True``. Sequences for which ``where`` is false
        stay.
        """
        time_axis, batch_axis = sequence_axes(time_axis, batch_axis, batch_first)
        flags, rules = _flags(policy, align, tail), (policy, align, tail)
        if where is not None:
            lengths = _where.lengths("ReverseSequence", lengths, where, tail)
        lengths = counted("reverse_sequence", np.shape(x), array_of(lengths), time_axis, batch_axis, *rules)
        return self._run(_SEQUENCE, x, [time_axis, batch_axis], lengths, flags)

    def reverse_subsequences(
        self,
        x: ArrayLike,
        lengths: ArrayLike,
        *,
        axis: int,
        policy: Policy = "clamp",
        align: Align = "start",
        tail: Tail = "keep",
        where: Where | None = None,
    ) -> np.ndarray[Any, Any]:
        """Every lane along ``axis`` reversed up to its own length; those for which ``where`` is false stay."""
        if where is not None:
            lengths = _where.lengths("ReverseSubsequences", lengths, where, tail, axis)
        return self._subsequences(x, b"", lengths, axis, policy, align, tail)

    def reverse_segments(
        self, x: ArrayLike, offsets: ArrayLike, *, axis: int = 0, where: Where | None = None
    ) -> np.ndarray[Any, Any]:
        """What lies between two offsets along ``axis``, reversed; segments for which ``where`` is false stay."""
        return self._segments(x, b"", offsets if where is None else _where.offsets(offsets, where), axis)

    def reverse_complement(
        self,
        x: ArrayLike,
        axis: SupportsIndex = -1,
        *,
        lengths: Lengths | None = None,
        offsets: Lengths | None = None,
        where: Where | None = None,
        strict: bool = False,
        rna: bool = False,
    ) -> np.ndarray[Any, Any]:
        """Letters of nucleic acids reversed and complemented: as ``retrograde.reverse_complement``."""
        given = (index(axis), lengths, offsets, where, strict)
        name, x, *arguments = _complement.described(np.asarray(x), *given)
        table = _engine.complements(rna)
        if name == "reverse":
            return self._run(_REVERSE, x, [arguments[0]], None, 0, table=table)
        call = self._segments if name == "reverse_segments" else self._subsequences
        return call(x, table, *arguments)

    def orient(
        self, x: ArrayLike, orientation: Orientation, *, axes: tuple[int, int] = (0, 1)
    ) -> np.ndarray[Any, Any]:
        """An image upright: as ``retrograde.orient``."""
        number, plane = _names.upright(np.ndim(x), orientation, axes)
        _, swapped = _names.orient(np.ndim(x), number, plane)
        return self._run(_ORIENT, x, plane, None, number, swapped)

    def _whole(self, x, lengths, *, time_axis, batch_axis, out):
        """Whole axes of some entries of a batch, which are as many sequences."""
        return self.reverse_sequence(x, lengths, time_axis=time_axis, batch_axis=batch_axis)

    def _subsequences(self, x, table, lengths, axis, policy, align, tail):
        flags = _flags(policy, align, tail)
        lengths = counted("reverse_subsequences", np.shape(x), array_of(lengths), axis, policy, align, tail)
        rank = np.ndim(x)
        if lengths.ndim == rank - 1 and -rank <= axis < rank:
            lengths = np.expand_dims(lengths, axis)
        return self._run(_SUBSEQUENCES, x, [axis], lengths, flags, table=table)

    def _segments(self, x, table, offsets, axis):
        flags = 0
        if isinstance(offsets, _engine.Marked):
            offsets, flags = offsets.offsets, _MARKED
        return self._run(_SEGMENTS, x, [axis], offsets, flags, table=table)

    def _open(self):
        if not self._handle:
            raise ValueError("the adapter is closed")
        return self._handle

    def _run(self, operator, x, axes, lengths, flags, swapped=None, table=b""):
        # Everything is converted before anything is described: any of it may run Python code, which may resize ``x``.
        axes = [int(axis) for axis in axes]
        if lengths is not None:
            lengths = _integers(operator, lengths)
        handle, x = self._open(), np.asarray(x)
        if x.dtype.hasobject:
            raise TypeError(f"x has dtype {x.dtype}: objects cannot be on a device")
        dense = x if x.flags.c_contiguous else np.ascontiguousarray(x)
        result = np.empty((x if swapped is None else x.swapaxes(*swapped)).shape, x.dtype)
        sizes = () if lengths is None else lengths.shape
        call = _Call(
            operator=operator,
            width=x.dtype.itemsize,
            bytes=dense.nbytes,
            rank=x.ndim,
            shape=(ctypes.c_size_t * x.ndim)(*x.shape),
            axis_count=len(axes),
            axes=(ctypes.c_int64 * len(axes))(*axes),
            lengths_rank=len(sizes),
            lengths_shape=(ctypes.c_size_t * len(sizes))(*sizes),
            lengths=None if lengths is None else lengths.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
            flags=flags,
            table_count=len(table),
            table=table,
        )
        _check(_library().retrograde_wgpu_run(handle, ctypes.byref(call), dense.ctypes.data, result.ctypes.data))
        return result


def _integers(operator, lengths):
    """Lengths as dense 64-bit integers."""
    lengths = array_of(lengths)
    _engine.refuse_masked(*_COUNTS[operator], lengths)
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"lengths have dtype {lengths.dtype}, expected integers")
    if lengths.dtype == np.uint64:
        # What is beyond 63 bits is beyond every axis.
        lengths = np.minimum(lengths, np.uint64(2**63 - 1))
    return np.ascontiguousarray(lengths, dtype=np.int64)


def _flags(policy, align, tail):
    flags = 0
    for name, value, known in (
        ("policy", policy, _POLICIES),
        ("align", align, _ALIGNS),
        ("tail", tail, _TAILS),
    ):
        if value not in known:
            raise ValueError(f"{name} is {value!r}, expected {' or '.join(map(repr, known))}")
        flags |= known[value]
    return flags
