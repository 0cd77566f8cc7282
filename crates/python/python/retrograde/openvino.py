"""Runs ``Reverse`` and ``ReverseSequence`` in models of OpenVINO, without changing the models.

>>> import openvino as ov, retrograde.openvino  # doctest: +SKIP
>>> core = ov.Core()  # doctest: +SKIP
>>> retrograde.openvino.register(core)  # doctest: +SKIP
>>> compiled = core.compile_model("model.xml", "CPU")  # doctest: +SKIP

Models that this core reads (IR and ONNX) run these operators on Retrograde, and everything else as
before. :func:`extensions` is for ``ov.convert_model``, and :func:`replace` for models in memory.

The operators are C++ if ``scripts/build openvino`` has compiled them for the installed version of
OpenVINO, and Python otherwise, which takes longer for each call.
"""

from __future__ import annotations

import ctypes
import weakref
from pathlib import Path
from typing import Any, NoReturn

import openvino as _ov
from openvino.utils import replace_node as _replace_node
from openvino.utils.node_factory import NodeFactory as _NodeFactory

from . import _openvino_operators as _operators
from ._hints import check_policy, hinted, wrong
from ._typing import Policy

__all__ = ["extensions", "library_path", "register", "replace"]

#: The numbers that the native library has for length policies.
_POLICIES = {"strict": 0, "clamp": 1}
#: The settings of each core that extensions were added to.
_registered: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def library_path() -> str | None:
    """The path of the native extension for this version of OpenVINO; ``None`` if it was not built.

    It can also be passed to ``add_extension`` of other languages, or of a core without this package.
    """
    version = _ov.__version__.split("-")[0]
    path = Path(__file__).parent / f"libretrograde_openvino-{version}.so"
    return str(path) if path.exists() else None


@hinted
def register(core: _ov.Core, *, policy: Policy = "strict", **others: NoReturn) -> None:
    """Makes models that a core reads from now on run reversals on Retrograde, on the CPU.

    Parameters
    ----------
    core : openvino.Core
        The core. ``read_model`` and ``compile_model`` of IR and ONNX models use its extensions.
    policy : {"strict", "clamp"}
        Whether a sequence length beyond the time axis is an error, as OpenVINO has it, or stands for
        the whole axis.
    """
    if others:
        raise wrong(register, others)
    if not isinstance(core, _ov.Core):
        raise TypeError(f"core is of type {type(core).__name__}, expected openvino.Core")
    settings = policy, _library(policy)
    if core in _registered:
        # OpenVINO keeps the first extension for a type of node.
        if _registered[core] != settings:
            raise ValueError(f"core is registered already, with policy = {_registered[core][0]!r}: use another core")
        return
    library = settings[1]
    if library is None:
        core.add_extension([*_operators.extensions(policy), _onnx(policy, None)])
    else:
        choose = ctypes.CDLL(library).retrograde_openvino_set_policy
        # For extensions that this thread creates next.
        choose(ctypes.c_uint32(_POLICIES[policy]))
        try:
            core.add_extension(library)
        finally:
            choose(ctypes.c_uint32(_POLICIES["strict"]))
    _registered[core] = settings


@hinted
def extensions(*, policy: Policy = "strict", **others: NoReturn) -> list[_ov.Extension]:
    """Extensions for ``ov.convert_model(model, extension=...)`` of ONNX models.

    The parameters are those of :func:`register`. The converted model can be compiled by any core, but
    only a registered one reads it back after it was saved.
    """
    if others:
        raise wrong(extensions, others)
    return [_onnx(policy, _library(policy))]


@hinted
def replace(model: _ov.Model, *, policy: Policy = "strict", **others: NoReturn) -> list[str]:
    """Replaces the reversals of a model in memory, wherever it came from, by ours.

    Bodies of ``If``, ``Loop`` and ``TensorIterator`` are searched too. The parameters are those of
    :func:`register`. Returns the friendly names of the nodes that were replaced.
    """
    if others:
        raise wrong(replace, others)
    if not isinstance(model, _ov.Model):
        raise TypeError(f"model is of type {type(model).__name__}, expected openvino.Model")
    library = _library(policy)
    replaced: list[str] = []
    _replace_in(model, policy, library, replaced)
    return replaced


def _replace_in(model, policy, library, replaced):
    for node in model.get_ordered_ops():
        for body in _bodies(node):
            _replace_in(body, policy, library, replaced)
        info = node.get_type_info()
        if info.version_id == "opset1" and info.name in ("Reverse", "ReverseSequence"):
            attributes = node.get_attributes()
            if info.name == "ReverseSequence":
                attributes["policy"] = policy
            made = _node(info.name, node.input_values(), attributes, library)
            made.set_friendly_name(node.get_friendly_name())
            _replace_node(node, made)
            replaced.append(node.get_friendly_name())


def _bodies(node):
    kind = node.get_type_name()
    if kind == "If":
        return [node.get_function(0), node.get_function(1)]
    if kind == "Loop":
        return [node.get_function()]
    return [node.get_body()] if kind == "TensorIterator" else []


def _library(policy):
    """The path of the native library, or ``None`` for the operators in Python."""
    check_policy(policy)
    return library_path()


def _node(name, inputs, attributes, library):
    """One of our operators."""
    if library is None:
        return _operators.node(name, inputs, attributes)
    factory = _NodeFactory("opset1")
    factory.add_extension(library)
    return factory.create(f"Retrograde{name}", inputs, attributes)


def _onnx(policy, library):
    """Converts ``ReverseSequence`` of ONNX."""
    from openvino.frontend.onnx import ConversionExtension

    def convert(node):
        axes = {}
        for ours, theirs, otherwise in (("seq_axis", "time_axis", 0), ("batch_axis", "batch_axis", 1)):
            axes[ours] = node.get_attribute(theirs, otherwise)
            if axes[ours] not in (0, 1):
                raise ValueError(f"ReverseSequence: {theirs} is {axes[ours]}, outside [0, 1]")
        if axes["seq_axis"] == axes["batch_axis"]:
            raise ValueError(f"ReverseSequence: batch_axis is {axes['batch_axis']}, the same as time_axis")
        inputs = [node.get_input(0), node.get_input(1)]
        return _node("ReverseSequence", inputs, {**axes, "policy": policy}, library).outputs()

    return ConversionExtension("ReverseSequence", "", convert)
