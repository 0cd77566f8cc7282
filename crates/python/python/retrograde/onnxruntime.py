"""Runs reversals in models of ONNX Runtime (1.23.2 and later), without changing the models.

>>> import retrograde.onnxruntime
>>> session = retrograde.onnxruntime.session("model.onnx")  # doctest: +SKIP

The session runs ``ReverseSequence`` nodes, and ``Slice`` nodes whose constant steps are negative, on
Retrograde's execution provider, and everything else as before. :func:`explain` lists them. From
ONNX Runtime 1.25 on the provider can also be chosen by its name:

>>> import onnxruntime as ort  # doctest: +SKIP
>>> retrograde.onnxruntime.register()  # doctest: +SKIP
>>> session = ort.InferenceSession(  # doctest: +SKIP
...     "model.onnx", providers=["RetrogradeExecutionProvider", "CPUExecutionProvider"])
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import tempfile
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import onnxruntime as _ort

from . import _engine
from ._hints import check_policy, hinted, wrong
from ._typing import Policy

__all__ = ["NAME", "Claim", "Claims", "devices", "explain", "library_path", "register", "session", "unregister"]

#: The name of the execution provider.
NAME = "RetrogradeExecutionProvider"
#: The name that the library is registered under.
_LIBRARY = "retrograde"
#: The oldest version that loads execution providers from libraries and copies tensors for them (1.23.0 does not).
_OLDEST = (1, 23, 2)
#: The oldest version that finds them by name. Older ones use the CPU provider without a warning.
_BY_NAME = (1, 25)
#: A model without nodes: IR version 8, an empty graph "g", opset 13.
_EMPTY_MODEL = bytes.fromhex("0808 3a03120167 4202100d")

_lock = threading.Lock()


@dataclass(frozen=True)
class Claim:
    """What the provider decided about a node."""

    #: The name of its graph; for a graph inside a node (If, Loop, Scan), after the name of the node.
    graph: str
    #: The name of the node, which may be empty.
    node: str
    #: ``"ReverseSequence"`` or ``"Slice"``.
    operator: str
    #: The name of its output.
    output: str
    #: Whether the provider runs it.
    claimed: bool
    #: Why not; ``None`` if it does.
    reason: str | None


class Claims(tuple[Claim, ...]):
    """The candidates of a model, a :class:`Claim` each. Prints as a list."""

    __slots__ = ()

    def __str__(self) -> str:
        if not self:
            return "no ReverseSequence and no Slice"
        lines = []
        for claim in self:
            name = f"{claim.operator} {claim.node or claim.output} in {claim.graph or 'the model'}"
            lines.append(f"{name}: " + ("claimed" if claim.claimed else f"not claimed, {claim.reason}"))
        return "\n".join(lines)


def library_path() -> str:
    """The path of the library, for ``RegisterExecutionProviderLibrary`` of other languages.

    A package that was built without a separate library answers with its extension module, which
    loads in Python processes only. ``cargo build --release -p retrograde-onnxruntime`` builds the
    separate library.
    """
    folder = Path(__file__).parent
    for name in ("libretrograde_onnxruntime.so", "libretrograde_onnxruntime.dylib", "retrograde_onnxruntime.dll"):
        if (folder / name).exists():
            return str(folder / name)
    return _engine.__file__


def register() -> None:
    """Makes the provider known to ONNX Runtime; needed once per process.

    Warns if this version of ONNX Runtime cannot find it by name: use :func:`session` then.
    """
    _register()
    if _version() < _BY_NAME:
        warnings.warn(
            f"onnxruntime {_ort.__version__} ignores {NAME} in a list of providers and runs everything on the "
            "CPU provider: use retrograde.onnxruntime.session, or onnxruntime 1.25 or later",
            RuntimeWarning,
            stacklevel=2,
        )


def unregister() -> None:
    """Unloads the library.

    Raises ``RuntimeError`` if a session still uses it: delete those first. ONNX Runtime itself does
    not check this.
    """
    with _lock:
        if not _devices():
            return
        if live := _live_sessions():
            raise RuntimeError(
                f"unregister() needs that no session uses {NAME}, and there are {live}: delete them first"
            )
        _ort.unregister_execution_provider_library(_LIBRARY)


def devices() -> list[Any]:
    """The devices of the provider, for ``SessionOptions.add_provider_for_devices``: the CPU."""
    _register()
    return _devices()


def session(
    model: str | bytes | os.PathLike[str],
    sess_options: _ort.SessionOptions | None = None,
    *,
    policy: Policy = "strict",
    min_bytes: int | None = None,
    strings: bool = False,
    **others: Any,
) -> _ort.InferenceSession:
    """An ``onnxruntime.InferenceSession`` that runs reversals on Retrograde.

    Parameters
    ----------
    model : str, path or bytes
        The model.
    sess_options : onnxruntime.SessionOptions, optional
        Options for the session, without providers. They stay as they are, so that they may be used for
        other sessions.
    policy : {"strict", "clamp"}
        Whether a sequence length beyond the time axis is an error, as ONNX Runtime has it, or
        stands for the whole axis.
    min_bytes : int, optional
        Nodes whose input is known to be smaller are left to the CPU provider. By default 1 KiB, or
        1 MiB if whole rows of 64 bytes or more move: from there on, Retrograde is faster.
    strings : bool
        Whether to run nodes whose elements are strings, too. ONNX Runtime gives other libraries no
        direct access to strings, so that its own provider is faster.
    others
        Passed on to ``InferenceSession``. ``providers`` are those that run what is left; Retrograde comes
        before them, or where the list names it.
    """
    if "lengths" in others:
        raise wrong(session, others)
    return _session(model, sess_options, _provider_options(policy, min_bytes, strings), others)


@hinted
def explain(
    model: str | bytes | os.PathLike[str],
    *,
    policy: Policy = "strict",
    min_bytes: int | None = None,
    strings: bool = False,
    **others: NoReturn,
) -> Claims:
    """What the provider would run in a model: a :class:`Claim` for each candidate.

    ONNX Runtime decides this when it loads a model, so this creates a session, without running it.
    """
    if others:
        raise wrong(explain, others)
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "claims")
        options = {**_provider_options(policy, min_bytes, strings), "report": report}
        _session(model, None, options, {})
        with open(report, encoding="utf-8") as lines:
            return Claims(Claim(**json.loads(line)) for line in lines)


def _session(model, sess_options, options, others):
    _register()
    if sess_options is not None and sess_options.has_providers():
        raise ValueError(
            f"sess_options have providers already, and {NAME} would replace them: pass options without providers, and the"
            " others as providers=[...]"
        )
    others["providers"] = _with_ours(others.get("providers"), others.pop("provider_options", None), options)
    if _version() < _BY_NAME:
        sess_options = _copied(sess_options)
        sess_options.add_provider_for_devices(_devices(), options)
        del others["providers"]
    if isinstance(model, os.PathLike):
        model = os.fspath(model)
    # Otherwise it prints an error of the provider, and tries again without it.
    others.setdefault("enable_fallback", 0)
    made = _ort.InferenceSession(model, sess_options, **others)
    if NAME not in made.get_providers():
        raise RuntimeError(f"onnxruntime {_ort.__version__} created a session without {NAME}: {made.get_providers()}")
    return made


def _with_ours(providers, their_options, options):
    """The list of providers with ours, which comes first unless the caller named its place."""
    named = [one if isinstance(one, str) else one[0] for one in providers or ()]
    if providers and their_options:
        # InferenceSession takes them in one way or the other.
        if len(their_options) != len(named) or any(not isinstance(one, str) for one in providers):
            raise ValueError(
                f"provider_options has {len(their_options)} entries, expected one for each of the {len(named)} names in"
                " providers"
            )
        providers = list(zip(named, their_options))
    if NAME in named and not isinstance(providers[named.index(NAME)], str):
        raise TypeError(f"session() takes the options of {NAME} as arguments: policy=, min_bytes=, strings=")
    if _version() < _BY_NAME and (other := [one for one in named if one not in (NAME, "CPUExecutionProvider")]):
        raise RuntimeError(
            f"onnxruntime {_ort.__version__} takes {NAME} without others, and providers has {other[0]}: 1.25 or later"
            " takes both"
        )
    ours = (NAME, options)
    if NAME in named:
        return [ours if name == NAME else one for name, one in zip(named, providers)]
    return [ours, *(providers or ["CPUExecutionProvider"])]


def _copied(sess_options):
    """Options like these, without the libraries of custom operators: a session that loads nothing has copied them."""
    if sess_options is None:
        return _ort.SessionOptions()
    return _ort.capi._pybind_state.InferenceSession(sess_options, _EMPTY_MODEL, False, False).session_options


def _provider_options(policy, min_bytes, strings):
    check_policy(policy)
    options = {"policy": policy, "strings": "1" if strings else "0"}
    if min_bytes is not None:
        if min_bytes.__index__() < 0:
            raise ValueError(f"min_bytes is {min_bytes}, expected a number of bytes")
        options["min_bytes"] = str(min_bytes.__index__())
    return options


def _register():
    if _version() < _OLDEST:
        raise RuntimeError(f"onnxruntime {_ort.__version__} is too old, 1.23.2 or later is needed")
    with _lock:
        if not _devices():
            _ort.register_execution_provider_library(_LIBRARY, library_path())


def _live_sessions():
    """How many sessions of this process use the library, which is loaded already."""
    count = ctypes.CDLL(library_path()).RetrogradeLiveSessions
    count.argtypes, count.restype = [], ctypes.c_size_t
    return count()


def _devices():
    return [device for device in _ort.get_ep_devices() if device.ep_name == NAME]


def _version():
    return tuple(int(re.match(r"\d+", number)[0]) for number in _ort.__version__.split(".")[:3])
