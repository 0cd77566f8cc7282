"""An ONNX backend: runs models made of reversals, as exporters write them.

It implements ``onnx.backend.base.Backend``, so the official test runner
(``onnx.backend.test.BackendTest(retrograde.onnx_backend, __name__)``) and anything else that takes
a backend can use it. Models are read and run as the command does (``retrograde run``).

>>> import numpy as np, onnx, retrograde.onnx_backend
>>> model = onnx.parser.parse_model('''
...     <ir_version: 8, opset_import: ["": 10]>
...     words (float[T, B] x, int64[B] lengths) => (float[T, B] y)
...     { y = ReverseSequence <time_axis = 0, batch_axis = 1> (x, lengths) }
... ''')
>>> x = np.arange(6, dtype=np.float32).reshape(3, 2)
>>> retrograde.onnx_backend.run_model(model, [x, np.array([3, 2])])["y"]
array([[4., 3.],
       [2., 1.],
       [0., 5.]], dtype=float32)

It supports opsets 7 to 28. ReverseSequence exists from opset 10 on, and follows its rules: axes 0
and 1, lengths of int64, 15 element types, and from opset 28 on also bfloat16 (of ``ml_dtypes``).
Slice with any step, Transpose, Gather, Expand and other operators that pick, permute or repeat
elements take any type; arithmetic is for integers. Strings are arrays of objects. A model with other
operators raises :class:`Unsupported`, which lists all of them. An invalid model or input raises a
``ValueError`` or a ``TypeError`` that says where. So does a model whose results would grow without
bound: a result may have 64 MiB, or eight times as many bytes as all inputs and constants, and lists
and computed integers 2**20 entries.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import retrograde
from retrograde._engine import OnnxModel

__all__ = [
    "Prepared", "RetrogradeBackend", "Unsupported", "is_compatible", "is_opset_supported", "prepare",
    "run", "run_model", "run_node", "supports_device",
]  # fmt: skip

#: A model, its bytes, or the path of its file.
Model: TypeAlias = ModelProto | bytes | str | os.PathLike[str]

if helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16).itemsize != 2:
    # Before ONNX supported ml_dtypes, it widened these elements when it read them.
    raise ImportError(f"retrograde.onnx_backend needs onnx 1.19 or later, found {onnx.__version__}")


class Unsupported(BackendIsNotSupposedToImplementIt, NotImplementedError):
    """A model that this backend does not support: it has other operators, or another opset.

    The official test runner recognises it and skips such models.
    """


class RetrogradeBackend(Backend):
    """The backend as ONNX defines it. The module has its functions too."""

    @classmethod
    def is_compatible(cls, model: Model, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether operators, opset and device are supported. Whether it is valid, ``prepare`` says."""
        try:
            cls.prepare(model, device)
        except Unsupported:
            return False
        except (TypeError, ValueError):
            pass
        return True

    @classmethod
    def is_opset_supported(cls, model: Model) -> tuple[bool, str]:
        """Whether the model's opset is supported, and if not, why."""
        content, _, name = _read(model)
        try:
            OnnxModel.check_opset(content, name)
        except NotImplementedError as error:
            return False, str(error)
        return True, ""

    @classmethod
    def prepare(
        cls, model: Model, device: str = "CPU", *, base_dir: str | os.PathLike[str] = "", **kwargs: Any
    ) -> Prepared:
        """Checks a model and reads its constants; the result can be run many times.

        A model is a ``ModelProto``, its bytes, or the path of a file. External data is looked up
        next to that file, or in ``base_dir``.
        """
        _check_device(cls, device)
        content, folder, name = _read(model)
        try:
            return Prepared(OnnxModel(content, os.fspath(base_dir) or folder, name))
        except NotImplementedError as error:
            raise Unsupported(str(error)) from None

    @classmethod
    def run_model(cls, model: Model, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Prepares a model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node, by the rules of ``opset_version`` (28 if it is not given)."""
        _check_device(cls, device)
        if not isinstance(inputs, Mapping):
            given = _listed(inputs)
            if len(given) != len(node.input):
                raise ValueError(f"{node.op_type}: {len(given)} inputs are given, expected {len(node.input)}")
            inputs = {name: value for name, value in zip(node.input, given, strict=True) if name}
        # A value that is read twice is one input. Types are those of the given values.
        names = dict.fromkeys(name for name in node.input if name)
        infos = [[ValueInfoProto(name=name) for name in some] for some in (names, node.output)]
        graph = helper.make_graph([node], "node", *infos)
        opset = helper.make_opsetid("", kwargs.get("opset_version", 28))
        return cls.prepare(helper.make_model(graph, opset_imports=[opset]), device).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device is the CPU."""
        try:
            return Device(device).type == DeviceType.CPU
        except (AttributeError, ValueError):
            return False


class Prepared(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        self._outputs = namedtupledict("Outputs", model.outputs)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs it on a list of inputs in the model's order, or on a mapping by name.

        Inputs with default values can be omitted. The outputs are a tuple that can also be indexed by name.
        """
        declared = self._model.inputs
        if not isinstance(inputs, Mapping):
            values = _listed(inputs)
            needed = [name for name, has_default, _ in declared if not has_default]
            names = needed if len(values) == len(needed) else [name for name, _, _ in declared]
            if len(values) > len(names):
                raise ValueError(f"{len(values)} inputs are given, expected {len(names)}")
            inputs = dict(zip(names, values, strict=False))
        tensors = {name for name, _, is_tensor in declared if is_tensor}
        given = [(name, *_given(name, value, name in tensors)) for name, value in inputs.items()]
        return self._outputs(*(_result(*result) for result in self._model.run(given)))


def _read(model: Model) -> tuple[bytes, str, str]:
    """The bytes of a model, its folder, and what errors call it."""
    if isinstance(model, ModelProto):
        return model.SerializeToString(), "", "model"
    if isinstance(model, bytes):
        return model, "", "model"
    with open(model, "rb") as file:
        return file.read(), os.path.dirname(os.fspath(model)), os.fspath(model)


def _given(name: str, value: Any, is_tensor: bool) -> tuple[int, Any]:
    """An input for the engine: the code of its type, and its elements in row-major order.

    A list for something that is not declared as a tensor is a sequence. It is returned as it is.
    """
    if isinstance(value, TensorProto):
        return TensorProto.UNDEFINED, value.SerializeToString()
    if not is_tensor and (value is None or isinstance(value, (list, tuple))):
        return OnnxModel.NO_TENSOR, value
    # Arrays are no copies, and no views either: the conversion of another input may resize them.
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind in "OSTU":
        return TensorProto.STRING, (array.ravel().tolist(), array.shape)
    if array.dtype != array.dtype.newbyteorder("<"):
        array = array.astype(array.dtype.newbyteorder("<"))
    try:
        code = helper.np_dtype_to_tensor_dtype(array.dtype)
    except (KeyError, ValueError):
        raise TypeError(f"input {name!r}: has type {array.dtype}, which ONNX does not have") from None
    return code, array if array.flags.c_contiguous else retrograde.flip(array, ())


def _result(code: int, elements: Any, shape: Sequence[int]) -> Any:
    """An output of the engine as an array; strings are objects."""
    if code == OnnxModel.NO_TENSOR:
        return elements
    if code == TensorProto.STRING:
        array = np.empty(len(elements), object)
        array[:] = elements
    else:
        array = elements.view(np.dtype(helper.tensor_dtype_to_np_dtype(code)).newbyteorder("<"))
    return array.reshape(shape)


def _listed(inputs: Any) -> list[Any]:
    """Inputs in order; an array is one input."""
    return [inputs] if isinstance(inputs, (np.ndarray, np.generic, TensorProto)) else list(inputs)


def _check_device(backend: type[Backend], device: str) -> None:
    if not backend.supports_device(device):
        raise Unsupported(f"device is {device!r}, expected 'CPU'")


is_compatible = RetrogradeBackend.is_compatible
is_opset_supported = RetrogradeBackend.is_opset_supported
prepare = RetrogradeBackend.prepare
run = run_model = RetrogradeBackend.run_model
run_node = RetrogradeBackend.run_node
supports_device = RetrogradeBackend.supports_device
