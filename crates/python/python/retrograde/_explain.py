"""What a call would do: its plan, its kernel, the bytes it moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from numpy.typing import ArrayLike

from . import _engine, _kinds, _table, _where
from ._hints import hint_for, sequence_axes
from ._typing import ChunkedArray, Operator, RaggedTensor, Tensor

#: The operators, and which of their arguments are axes.
OPERATORS: dict[str, tuple[str, ...]] = {
    "reverse": (),
    "reverse_sequence": ("time_axis", "batch_axis"),
    "reverse_subsequences": ("axis",),
    "reverse_segments": ("axis",),
}


class Dim(TypedDict):
    """A dimension of a plan."""

    len: int
    flow: Literal["keep", "flip", "flip prefix", "flip segments"]
    src: int
    dst: int
    strides_in: Literal["bytes", "elements"]


class Record(TypedDict):
    """What the engine says about a call."""

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


class Explanation:
    """How a call would run: ``str()`` is text, the attributes are data."""

    def __init__(self, record: Record) -> None:
        #: The operator's name in its specification.
        self.operator = record["operator"]
        #: The plan as text.
        self.plan = record["plan"]
        #: Its dimensions, outermost first.
        self.dims = record["dims"]
        #: The width of the unit that moves as one piece.
        self.unit_bits = record["unit_bits"]
        #: The kernel's name, and a short description.
        self.kernel = record["kernel"]
        self.kernel_about = record["kernel_about"]
        #: The instruction set in use.
        self.instructions = record["instructions"]
        #: How many threads large calls use.
        self.threads = record["threads"]
        #: The least memory traffic.
        self.bytes_read = record["bytes_read"]
        self.bytes_written = record["bytes_written"]

    def __str__(self) -> str:
        plan = self.plan.replace("\n", "\n        ")
        return (
            f"{self.operator}\n"
            f"plan    {plan}\n"
            f"kernel  {self.kernel}: {self.kernel_about}, with {self.instructions}\n"
            f"moves   {self.bytes_read:,} bytes read, {self.bytes_written:,} written,"
            f" up to {self.threads} threads"
        )

    __repr__ = __str__


def explain(operator: Operator, x: ArrayLike | Tensor | ChunkedArray | RaggedTensor, *args: Any, **kwargs: Any) -> Explanation:
    """Explains how ``operator(x, *args, **kwargs)`` would run, without running it.

    The operator is one of this module's functions, or its name. The plan is for a new output;
    ``out`` is ignored.

    >>> x = np.zeros((128, 512), np.float32)
    >>> how = retrograde.explain(retrograde.reverse, x, axes=0)
    >>> how.kernel, how.bytes_read
    ('rows', 262144)
    >>> [(dim["len"], dim["flow"]) for dim in how.dims]
    [(128, 'flip')]
    """
    name, x, arguments, table = bound(operator, x, args, kwargs)
    x = _kinds.of(x)
    table = table and _table.spread(x, table)
    return Explanation(_engine.explain(name, x, table, *arguments.values()))


def bound(
    operator: Operator, x: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str, Any, dict[str, Any], bytes | None]:
    """The operator's name, the tensor, its arguments by name in the engine's order, without ``x`` and ``out``, and a
    table, checked.

    The tensor is ``x``, or the values of a nested or ragged tensor or list array, whose offsets are then arguments.
    """
    import retrograde

    name = operator if isinstance(operator, str) else getattr(operator, "__name__", None)
    module = getattr(operator, "__module__", None) or ""
    ours = isinstance(operator, str) or module.partition(".")[0] == "retrograde"
    if not ours or name not in OPERATORS:
        raise ValueError(
            f"operator is {operator!r}, expected retrograde.reverse, reverse_sequence, reverse_subsequences or"
            " reverse_segments"
        )
    function = getattr(retrograde, name)
    parameters = function.__signature__.parameters.values()
    positional = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) - 1
    hint = hint_for(function, kwargs, args[positional:])
    if hint:
        raise TypeError(hint)
    call = function.__signature__.bind(x, *args, **kwargs)
    call.apply_defaults()
    given = dict(call.arguments)
    del given["x"], given["out"]
    if name == "reverse_sequence":
        axes = sequence_axes(given["time_axis"], given["batch_axis"], given.pop("batch_first"))
        given["time_axis"], given["batch_axis"] = axes
    if name == "reverse_segments" and given["offsets"] is None:
        x, given["offsets"], given["axis"] = _kinds.segments_of(x, given["axis"])
    where, batch = given.pop("where"), given.pop("batch_axis") if name == "reverse" else None
    table = given.pop("table")
    if table is not None:
        _, table = _table.checked(name, x, table)
    if where is not None:
        name, x, given = _where.bound(name, x, given, where, batch, table)
    return name, x, given, table
