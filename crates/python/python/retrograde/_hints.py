"""Hints for arguments that are passed under the names that other libraries use.

The public functions accept any keyword, so that the error can name the right one. Their displayed
signature lists only the supported keywords. """

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

#: The default of a required argument, so that our error is raised instead of Python's own.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<missing>"})()

_LENGTHS = dict.fromkeys(
    ("seq_lengths", "seq_lens", "seq_len", "sequence_lens", "sequence_lengths", "length", "lens"), "lengths"
)
#: Our names by those of other libraries, for every operator.
_RIGHT = {
    "reverse": dict.fromkeys(("axis", "dim", "dims"), "axes"),
    "reverse_sequence": {
        **_LENGTHS,
        **dict.fromkeys(("seq_axis", "seq_dim", "time_dim", "axis", "axes", "dim", "dims"), "time_axis"),
        "batch_dim": "batch_axis",
    },
    "reverse_subsequences": {
        **_LENGTHS,
        **dict.fromkeys(("axes", "dim", "dims", "seq_axis", "seq_dim", "time_axis"), "axis"),
    },
    "reverse_segments": {
        **dict.fromkeys(("cu_seqlens", "cu_seq_lens", "row_splits", "splits", "indptr", "offset"), "offsets"),
        **dict.fromkeys(("axes", "dim", "dims", "seq_axis", "seq_dim", "time_axis", "jagged_dim"), "axis"),
    },
}


FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def hinted(function: FunctionT) -> FunctionT:
    """Sets the signature of a function to its supported arguments; required ones but the first become ``MISSING``."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    required = [p for p in parameters[1:] if p.default is p.empty]
    positional = [MISSING for p in required if p.kind is p.POSITIONAL_OR_KEYWORD]
    function.__defaults__ = (*positional, *(function.__defaults__ or ()))  # type: ignore[attr-defined]
    named = {p.name: MISSING for p in required if p.kind is p.KEYWORD_ONLY}
    function.__kwdefaults__ = (function.__kwdefaults__ or {}) | named  # type: ignore[attr-defined]
    return function


def wrong(function, others, missing=None):
    """The error for a call with these unknown keywords, or with a missing argument."""
    hint = hint_for(function, others)
    if hint:
        return TypeError(hint)
    name = function.__name__
    for other in others:
        return TypeError(f"{name}() got an unexpected keyword argument {other!r}")
    kind = function.__signature__.parameters[missing].kind
    kind = "keyword-only" if kind is inspect.Parameter.KEYWORD_ONLY else "positional"
    return TypeError(f"{name}() missing 1 required {kind} argument: {missing!r}")


def missing_offsets():
    """The error for a tensor that has no offsets of its own, without any."""
    return TypeError("reverse_segments() missing 1 required positional argument: 'offsets'")


def hint_for(function, others):
    """The intended arguments and the corrected call; None if there is no suggestion."""
    right = _RIGHT[function.__name__]
    meant = {right[other]: (other, value) for other, value in others.items() if other in right}
    if not meant:
        return None
    names = "; ".join(f"{ours}=, not {other}=" for ours, (other, _) in meant.items())
    call = {"reverse": ["x"], "reverse_segments": ["x", "offsets"]}.get(function.__name__, ["x", "lengths"])
    call += [f"{ours}={_short(value)}" for ours, (_, value) in meant.items() if ours not in ("lengths", "offsets")]
    if function.__name__ == "reverse_subsequences" and "axis" not in meant:
        call.append("axis=...")
    return f"{function.__name__}() takes {names}: {function.__module__}.{function.__name__}({', '.join(call)})"


def _short(value):
    """The text of a number or a short list; ``...`` for anything else, which may be large."""
    plain = isinstance(value, int) or isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value)
    return repr(value) if plain and len(repr(value)) <= 40 else "..."
