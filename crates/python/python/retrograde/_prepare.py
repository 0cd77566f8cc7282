"""Prepared calls: checked and planned once, then run on tensors of the same kind and layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic

import numpy as np
from numpy import ndarray

from . import _axes, _engine, _kinds, _where
from ._check import check
from ._explain import bound
from ._typing import Lengths, Operator, TensorT, Where


class Prepared(Generic[TensorT]):
    """A call that was prepared for a tensor: call it with others of the same kind and layout."""

    __slots__ = ("_entries", "_first", "_function", "_like", "_run", "_table", "operator")

    operator: Final[str]

    def __init__(self, operator: Operator, x: TensorT, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        import retrograde

        #: The operator's name.
        self.operator, plain, arguments, table = bound(operator, x, args, kwargs)
        self._table = {} if table is None else {"table": table}
        # Of a batch with a mask: its entries, and the size of the axis that is reversed.
        self._entries = None
        if "reverse" in (operator, getattr(operator, "__name__", None)) and kwargs.get("where") is not None:
            self._entries = x.shape[arguments["batch_axis"]], x.shape[arguments["time_axis"]]
        if plain is not x and self._entries is not None:
            raise ValueError("reverse: a call with where is prepared for one axis: prepare one for each")
        if plain is not x:
            raise TypeError(
                f"reverse_segments: x is of type {type(x).__name__}, which has offsets of its own: prepare a call"
                " on its values, with its offsets"
            )
        self._function = getattr(retrograde, self.operator)
        # The arguments by name, and the description that later tensors must match.
        self._first = _kept(arguments)
        self._like = _described(x)
        self._run = None
        if type(x) is ndarray and table is None:
            prepared = _engine.prepare(self.operator, x, *self._first.values())
            self._run = prepared and prepared.run
        else:
            _check(self.operator, x, self._first)

    def __call__(
        self, x: TensorT, lengths: Lengths | None = None, *, where: Where | None = None, out: TensorT | None = None
    ) -> TensorT:
        """Runs the call on ``x``, with other ``lengths`` (or offsets) if they are given, and with a mask for them."""
        if where is not None:
            lengths = self._under(where, lengths)
        elif lengths is not None and (self.operator == "reverse" or self._entries is not None):
            raise TypeError("reverse has no lengths")
        if self._run is not None and type(x) is ndarray:
            return self._run(x, lengths, out)
        found = _described(x)
        if found != self._like:
            raise ValueError(f"x is {found}; the call was prepared for {self._like}")
        arguments = self._first if lengths is None else {**self._first, _counts(self._first): lengths}
        return self._function(x, **arguments, **self._table, out=out)

    def _under(self, where, lengths):
        """The lengths for a mask."""
        if self._entries is not None:
            return _where.whole(where, *self._entries)
        if lengths is None:
            raise TypeError(f"{self.operator}: where is given without lengths (or offsets), which it is for")
        _, _, arguments = _where.bound(self.operator, None, {**self._first, _counts(self._first): lengths}, where, None)
        return arguments[_counts(arguments)]

    def __repr__(self) -> str:
        return f"<prepared {self.operator} of {self._like}>"


def prepare(operator: Operator, x: TensorT, *args: Any, **kwargs: Any) -> Prepared[TensorT]:
    """Checks and plans ``operator(x, *args, **kwargs)`` once, to run it often.

    The operator is one of this module's functions, or its name. The result is called with tensors
    of the same library, type, shape and memory order as ``x``; ``x`` itself is not kept. Axes, and
    lengths or offsets, are copied: what happens to the caller's later has no effect. Only those on a
    device are kept as they are, and are read in each call. NumPy arrays skip planning and most
    checks; tensors of other libraries run as in a direct call, whose plans the package keeps.

    >>> x = np.arange(6).reshape(2, 3)
    >>> flip = retrograde.prepare(retrograde.reverse, x, axes=1)
    >>> flip(x)
    array([[2, 1, 0],
           [5, 4, 3]])
    >>> flip(x + 10, out=x)
    array([[12, 11, 10],
           [15, 14, 13]])

    Later calls can pass other lengths:

    >>> rows = retrograde.prepare(retrograde.reverse_sequence, x, [3, 2], time_axis=1, batch_axis=0)
    >>> rows(x, [1, 3])
    array([[12, 11, 10],
           [13, 14, 15]])
    >>> rows(x[:, :2])
    Traceback (most recent call last):
    ValueError: x has type int64, shape [2, 2] and strides [24, 8]; the call was prepared for type \
int64, shape [2, 3] and strides [24, 8]
    """
    return Prepared(operator, x, args, kwargs)


def _kept(arguments):
    """Arguments that can be read in every call, and that nobody else can change."""
    counts = _counts(arguments)
    keep = {counts: _kinds.kept_lengths, "axes": _axes.several, "mask": _axes.several}
    return {name: keep[name](value) if name in keep else value for name, value in arguments.items()}


def _check(name, x, arguments):
    """Raises an error if the call is invalid. Lengths that are not on the CPU are checked when it runs."""
    counts = _counts(arguments)
    lengths = arguments.get(counts)
    if lengths is not None and not _kinds.is_readable(lengths):
        arguments = {**arguments, counts: np.zeros(tuple(lengths.shape), np.int64)}
    shape = tuple(x.shape) if hasattr(x, "shape") else np.shape(x)
    check(name, shape, *arguments.values())


def _counts(arguments):
    """The name of the argument that later calls may replace."""
    return "offsets" if "offsets" in arguments else "lengths"


def _described(x):
    """The type, shape and device of a tensor, as text."""
    kind = type(x)
    name = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
    shape = tuple(getattr(x, "shape", ()))
    where = getattr(x, "device", None)
    return f"{name} of {getattr(x, 'dtype', kind.__name__)}, shape {shape}" + (f", on {where}" if where else "")
