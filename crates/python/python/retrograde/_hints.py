"""The words of arguments, for the functions of every module: ``batch_first=`` and the names of PyTorch's ``flip`` mean
arguments of ours, and other names that libraries use are refused, with the name that is meant.

The public functions accept any arguments, so that the error can name the right ones. Their displayed signature lists
only the supported ones.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

#: The default of a required argument, so that our error is raised instead of Python's own.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<missing>"})()

_LENGTHS = dict.fromkeys(
    ("seq_lengths", "seq_lens", "seq_len", "sequence_lens", "sequence_lengths", "length", "lens", "mask")
    + ("attention_mask",),
    "lengths",
)
#: Names of lengths, for the functions that have none.
_COUNTS = ("lengths", *(name for name in _LENGTHS if name != "mask"))
#: Our names by those of other libraries, for every operator.
_RIGHT = {
    "reverse": dict.fromkeys(("axis", "dim", "dims", "batch_first"), "axes"),
    "reverse_sequence": {
        **_LENGTHS,
        **dict.fromkeys(("seq_axis", "seq_dim", "time_dim", "axis", "axes", "dim", "dims"), "time_axis"),
        "batch_dim": "batch_axis",
    },
    "reverse_subsequences": {
        **_LENGTHS,
        **dict.fromkeys(("axes", "dim", "dims", "seq_axis", "seq_dim", "time_axis", "batch_first"), "axis"),
    },
    "reverse_segments": {
        **dict.fromkeys(("cu_seqlens", "cu_seq_lens", "row_splits", "splits", "indptr", "offset"), "offsets"),
        **dict.fromkeys(("axes", "dim", "dims", "seq_axis", "seq_dim", "time_axis", "jagged_dim", "batch_first"), "axis"),
    },
    # Of the doors to ONNX Runtime and OpenVINO.
    **dict.fromkeys(("session", "explain", "register", "extensions", "replace"), {"lengths": "policy"}),
    "flip": dict.fromkeys(("axes", "batch_first"), "axis"),
    "rot90": dict.fromkeys(("axis", "dim", "dims"), "axes"),
    "orient": {**dict.fromkeys(("axis", "dim", "dims"), "axes"), "exif": "orientation", "batch_dim": "batch_axis"},
}
#: Functions that take no lengths.
_WHOLE = ("reverse", "flip", "fliplr", "flipud", "rot90", "orient")
#: The required arguments of a call, as a hint shows them.
_CALLS = {
    "reverse": ["x"],
    "orient": ["x"],
    "reverse_segments": ["x", "offsets"],
    **dict.fromkeys(("flip", "fliplr", "flipud", "rot90"), ["m"]),
    **dict.fromkeys(("session", "explain", "replace"), ["model"]),
    "register": ["core"],
    "extensions": [],
}


FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def hinted(function: FunctionT) -> FunctionT:
    """Sets the signature of a function to its supported arguments; required ones but the first become ``MISSING``."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    required = [p for p in parameters[1:] if p.default is p.empty]
    positional = [MISSING for p in required if p.kind is p.POSITIONAL_OR_KEYWORD]
    function.__defaults__ = (*positional, *(function.__defaults__ or ()))  # type: ignore[attr-defined]
    named = {p.name: MISSING for p in required if p.kind is p.KEYWORD_ONLY}
    function.__kwdefaults__ = (function.__kwdefaults__ or {}) | named  # type: ignore[attr-defined]
    return function


def wrong(function, others, missing=None, more=()):
    """The error for a call with these unknown keywords and ``more`` positional arguments, or with a missing one."""
    hint = hint_for(function, others, more)
    if hint:
        return TypeError(hint)
    name = function.__name__
    for other in others:
        return TypeError(f"{name}() got an unexpected keyword argument {other!r}")
    kind = function.__signature__.parameters[missing].kind
    kind = "keyword-only" if kind is inspect.Parameter.KEYWORD_ONLY else "positional"
    return TypeError(f"{name}() missing 1 required {kind} argument: {missing!r}")


def sequence_axes(time_axis, batch_axis, batch_first):
    """The axes of ``reverse_sequence``: those that are given, otherwise 0 and 1, or 1 and 0 if the batch comes first."""
    if batch_first is None:
        return 0 if time_axis is None else time_axis, 1 if batch_axis is None else batch_axis
    for name, axis in (("time_axis", time_axis), ("batch_axis", batch_axis)):
        if axis is not None:
            time, batch = (1, 0) if batch_first else (0, 1)
            raise TypeError(
                f"reverse_sequence: batch_first={batch_first!r} means time_axis={time}, batch_axis={batch}, and"
                f" {name}={_short(axis)} is given too: omit one of them"
            )
    return (1, 0) if batch_first else (0, 1)


def flipped_axes(axis, dim, dims):
    """The axes of ``flip``, under the name of NumPy or one of PyTorch's."""
    given = {name: value for name, value in (("axis", axis), ("dim", dim), ("dims", dims)) if value is not None}
    if len(given) > 1:
        raise TypeError(f"flip() takes one of axis=, dim= and dims=, and {' and '.join(f'{n}=' for n in given)} are given")
    return next(iter(given.values()), None)


def check_oriented(orientation, orientations, batch_axis):
    """Raises an error unless there is one orientation, or one for each image of a batch."""
    if (orientation is None) == (orientations is None):
        given = "neither is" if orientation is None else "both are"
        raise TypeError(f"orient() takes one of orientation= and orientations=, and {given} given")
    if orientations is None and batch_axis is not None:
        raise TypeError("orient() takes batch_axis= with orientations= only: axes=(1, 2) orients all images of a batch alike")


def check_policy(policy):
    """Raises an error unless it is a policy for lengths."""
    if policy not in ("strict", "clamp"):
        raise ValueError(f'policy is {policy!r}, expected "strict" or "clamp"')


def missing_offsets():
    """The error for a tensor that has no offsets of its own, without any."""
    return TypeError("reverse_segments() missing 1 required positional argument: 'offsets'")


def hint_for(function, others, more=()):
    """The intended arguments and the corrected call; None if there is no suggestion."""
    name, right = function.__name__, _RIGHT.get(function.__name__, {})
    if more:
        return _by_keyword(function, others, more)
    counts = next((other for other in others if other in _COUNTS), None)
    if name in _WHOLE and counts:
        return f"{name}() takes no lengths: {function.__module__}.reverse_sequence(x, lengths, ...) does"
    if name == "reverse_segments" and counts:
        return f"reverse_segments() takes offsets=, not {counts}=: numpy.cumsum([0, *lengths]) are offsets"
    if name in ("fliplr", "flipud") and any(other in (*_AXES, "batch_first") for other in others):
        return f"{name}() takes no axes: {function.__module__}.flip(m, axis=...) does"
    if name == "rot90" and "batch_first" in others:
        return f"rot90() takes axes=, not batch_first=: {function.__module__}.rot90(m, axes=(1, 2)) turns images of a batch"
    meant = {right[other]: (other, _value(other, value)) for other, value in others.items() if other in right}
    if not meant:
        return None
    names = "; ".join(f"{ours}=, not {other}=" for ours, (other, _) in meant.items())
    named = {ours: value for ours, (_, value) in meant.items() if ours not in ("lengths", "offsets")}
    if name == "reverse_subsequences":
        named = {"axis": ..., **named}
    return f"{name}() takes {names}: {_call(function, named)}"


def _by_keyword(function, others, more):
    """The hint for too many positional arguments: what they would be as keywords."""
    parameters = function.__signature__.parameters.values()
    name = function.__name__
    other_words = (*_OTHER_WORDS, "batch_axis") if name in _WHOLE else _OTHER_WORDS
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in other_words]
    most = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
    if len(more) > len(keywords):
        return f"{name}() takes at most {most} positional argument{'s' * (most > 1)}, and {most + len(more)} are given"
    named = dict(zip(keywords, more))
    words = " and ".join(f"{keyword}=" for keyword in named)
    known = {key: value for key, value in others.items() if key in keywords and key not in named}
    return f"{name}() takes {words} by keyword: {_call(function, named | known)}"


def _call(function, named):
    name = function.__name__
    call = [*_CALLS.get(name, ["x", "lengths"]), *(f"{key}={_short(value)}" for key, value in named.items())]
    return f"{function.__module__}.{name}({', '.join(call)})"


#: Keywords that say again what others say, and a mask and a table, which are never meant by their places.
_OTHER_WORDS = ("batch_first", "dim", "dims", "where", "table")
_AXES = ("axis", "axes", "dim", "dims")


def _value(other, value):
    """The value of an argument of another name in terms of ours."""
    # The axis of time.
    return (1 if value else 0) if other == "batch_first" else value


def _short(value):
    """The text of a number, a word or a short list; ``...`` for anything else, which may be large."""
    plain = isinstance(value, (int, str)) or isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value)
    return repr(value) if plain and len(repr(value)) <= 40 else "..."
