"""An ONNX backend: runs models made of reversals, as exporters write them.

It implements ``onnx.backend.base.Backend``, so the official test runner
(``onnx.backend.test.BackendTest(retrograde.onnx_backend, __name__)``) and anything else that takes
a backend can use it.

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
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import retrograde
from retrograde import _onnx_operators
from retrograde._onnx_bounds import Bounds

__all__ = [
    "Prepared",
    "RetrogradeBackend",
    "Unsupported",
    "is_compatible",
    "is_opset_supported",
    "prepare",
    "run",
    "run_model",
    "run_node",
    "supports_device",
]

#: Opsets whose operators are supported. ReverseSequence exists from opset 10 on.
OPSETS = range(7, 29)
#: Element types of ReverseSequence, by the opset that introduced them.
_TYPES = {
    10: frozenset(
        ["BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
        + ["FLOAT16", "FLOAT", "DOUBLE", "COMPLEX64", "COMPLEX128", "STRING"]
    ),
    28: frozenset(["BFLOAT16"]),
}
#: More nodes than this are listed by type only.
_MOST_LISTED = 100


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
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether operators, opset and device are supported."""
        if not cls.supports_device(device):
            return False
        try:
            _opset(model)
            _check_operators(model)
        except Unsupported:
            return False
        return True

    @classmethod
    def is_opset_supported(cls, model: ModelProto) -> tuple[bool, str]:
        """Whether the model's opset is supported, and if not, why."""
        try:
            _opset(model)
        except Unsupported as error:
            return False, str(error)
        return True, ""

    @classmethod
    def prepare(
        cls,
        model: ModelProto | bytes | str | os.PathLike[str],
        device: str = "CPU",
        *,
        base_dir: str | os.PathLike[str] = "",
        **kwargs: Any,
    ) -> Prepared:
        """Checks a model and reads its constants; the result can be run many times.

        A model is a ``ModelProto``, its bytes, or the path of a file. External data is looked up
        next to that file, or in ``base_dir``.
        """
        _check_device(cls, device)
        if isinstance(model, bytes):
            model = _decoded(model)
        elif not isinstance(model, ModelProto):
            base_dir = base_dir or os.path.dirname(os.fspath(model))
            with open(model, "rb") as file:
                model = _decoded(file.read())
        return Prepared(_read(model, os.fspath(base_dir)))

    @classmethod
    def run_model(
        cls,
        model: ModelProto | bytes | str | os.PathLike[str],
        inputs: Any,
        device: str = "CPU",
        **kwargs: Any,
    ) -> tuple[Any, ...]:
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
        version = kwargs.get("opset_version", OPSETS[-1])
        # A value that is read twice may be given twice, although once is enough.
        names = list(dict.fromkeys(name for name in node.input if name))
        if not isinstance(inputs, Mapping):
            given = _listed(inputs)
            if len(given) != len(node.input):
                raise ValueError(f"{_name(node)}: {len(given)} inputs are given, expected {len(node.input)}")
            inputs = {name: value for name, value in zip(node.input, given, strict=True) if name}
        graph = helper.make_graph(
            [node],
            "node",
            [ValueInfoProto(name=name) for name in names],
            [ValueInfoProto(name=name) for name in node.output],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device is the CPU."""
        try:
            return Device(device).type == DeviceType.CPU
        except (AttributeError, ValueError):
            return False


class Prepared(BackendRep):
    """A model that is ready to run."""

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph
        self._outputs = namedtupledict("Outputs", list(graph.outputs))

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs it on a list of inputs in the model's order, or on a mapping by name.

        Inputs with default values can be omitted. The outputs are a tuple that can also be indexed by name.
        """
        return self._outputs(*self._graph.run(inputs))


@dataclass
class _Node:
    name: str
    inputs: list[str]
    output: str
    #: The axes of ReverseSequence; other operators have none.
    axes: tuple[int, int] | None
    #: What another operator computes; an Identity has neither.
    compute: _onnx_operators.Operator | None


@dataclass
class _Graph:
    opset: int
    #: What is declared about each input and output, in their order.
    inputs: dict[str, ValueInfoProto] = field(default_factory=dict)
    outputs: dict[str, ValueInfoProto] = field(default_factory=dict)
    declared: dict[str, ValueInfoProto] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    #: Topologically sorted: each value is produced before it is read.
    nodes: list[_Node] = field(default_factory=list)

    def run(self, inputs: Any) -> list[Any]:
        sizes: dict[str, tuple[int, str]] = {}
        values = dict(self.constants)
        for name, value in self._bind(inputs).items():
            values[name] = _check(f"input {name!r}", value, self.inputs[name], sizes)
        bounds = Bounds(values.values())
        # Values that belong to the model or to the caller are copied before they are returned.
        kept = {id(value) for value in values.values()}
        reads = Counter(name for node in self.nodes for name in node.inputs if name)
        reads.update(list(self.outputs))
        for node in self.nodes:
            operands = [_take(values, reads, name) if name else None for name in node.inputs]
            if node.axes is not None:
                result = self._reversed(node, bounds, *operands)
            else:
                result = operands[0] if node.compute is None else _computed(node, bounds, operands)
            if node.output in self.declared:
                result = _check(f"value {node.output!r}", result, self.declared[node.output], sizes)
            if reads[node.output]:
                values[node.output] = result
        results = []
        for name, declared in self.outputs.items():
            value = _check(f"output {name!r}", values[name], declared, sizes)
            if isinstance(value, np.ndarray) and (id(value) in kept or value.base is not None):
                value = _copied(name, value, bounds)
            kept.add(id(value))
            results.append(value)
        return results

    def _bind(self, inputs: Any) -> dict[str, Any]:
        """Maps each value to its input."""
        if isinstance(inputs, Mapping):
            for name in inputs:
                if name not in self.inputs:
                    known = " or ".join(map(repr, self.inputs)) or "none: it has no inputs"
                    raise ValueError(f"there is no input {name!r}, expected {known}")
            given = dict(inputs)
        else:
            values = _listed(inputs)
            needed = [name for name in self.inputs if name not in self.constants]
            names = needed if len(values) == len(needed) else list(self.inputs)
            if len(values) > len(names):
                raise ValueError(f"{len(values)} inputs are given, expected {len(names)}")
            given = dict(zip(names, values, strict=False))
        for name, declared in self.inputs.items():
            if name not in given and name not in self.constants:
                raise ValueError(f"input {name!r} is missing ({_described(declared)})")
        return {name: _value(f"input {name!r}", value) for name, value in given.items()}

    def _reversed(self, node: _Node, bounds: Bounds, data: Any, lengths: Any) -> Any:
        assert node.axes is not None
        time_axis, batch_axis = node.axes
        for what, operand in (("input", data), ("lengths", lengths)):
            if not isinstance(operand, np.ndarray):
                raise TypeError(f"{node.name}: {what} is a {type(operand).__name__}, expected a tensor")
        allowed = {name for since, names in _TYPES.items() if self.opset >= since for name in names}
        if _type_name(data.dtype) not in allowed:
            raise TypeError(
                f"{node.name}: ReverseSequence: input of type {data.dtype} is not allowed"
                f" at opset {self.opset}"
            )
        if _type_name(lengths.dtype) != "INT64":
            raise TypeError(
                f"{node.name}: ReverseSequence: lengths have type {lengths.dtype}, expected int64"
            )
        try:
            bounds.check(data.shape, data.dtype)
            return retrograde.reverse_sequence(data, lengths, time_axis=time_axis, batch_axis=batch_axis)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{node.name}: {error}") from None


def _computed(node: _Node, bounds: Bounds, operands: list[Any]) -> Any:
    assert node.compute is not None
    for at, operand in enumerate(operands):
        if not isinstance(operand, np.ndarray) and operand is not None:
            raise TypeError(f"{node.name}: input {at} is a {type(operand).__name__}, expected a tensor")
    while operands and operands[-1] is None:
        operands.pop()
    try:
        return np.asarray(node.compute(bounds, *operands))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{node.name}: {error}") from None


def _copied(name: str, view: np.ndarray[Any, Any], bounds: Bounds) -> np.ndarray[Any, Any]:
    """The elements of a view in new memory, moved by the engine."""
    try:
        bounds.check(view.shape, view.dtype)
    except ValueError as error:
        raise ValueError(f"output {name!r}: {error}") from None
    if any(step == 0 for step, size in zip(view.strides, view.shape, strict=True) if size > 1):
        return view.copy()
    return retrograde.reverse(view, (), out=np.empty(view.shape, view.dtype))


def _decoded(content: bytes) -> ModelProto:
    try:
        return onnx.load_model_from_string(content)
    except DecodeError as error:
        raise ValueError(f"not an ONNX model: {error}") from None


def _read(model: ModelProto, base_dir: str) -> _Graph:
    graph, opset = model.graph, _opset(model)
    # Nodes first, so that the error for unsupported operators lists all of them, whatever else is
    # wrong.
    _check_operators(model)
    read = _Graph(opset)

    def constant(name: str, value: np.ndarray[Any, Any]) -> None:
        if name in read.constants:
            raise ValueError(f"value {name!r} is produced twice")
        value.flags.writeable = False
        read.constants[name] = value

    for tensor in graph.initializer:
        constant(tensor.name, _array(f"initializer {tensor.name!r}", tensor, base_dir))
    made = Counter(list(read.constants))
    for info in graph.input:
        if info.name in read.inputs:
            raise ValueError(f"value {info.name!r} is produced twice")
        read.inputs[info.name] = info
    made.update(name for name in read.inputs if name not in read.constants)
    nodes = []
    for proto in graph.node:
        name, output = _name(proto), _output(proto)
        if made[output]:
            raise ValueError(f"value {output!r} is produced twice")
        made[output] += 1
        if proto.op_type == "Constant":
            _check_inputs(proto, 0)
            constant(output, _constant(proto, base_dir))
            continue
        nodes.append(_node(proto, name, output, opset))
    for info in graph.output:
        if info.name in read.outputs:
            raise ValueError(f"value {info.name!r} is produced twice")
        if not made[info.name]:
            raise ValueError(f"the list of outputs reads {info.name!r}, which nothing produces")
        read.outputs[info.name] = info
    if not read.outputs:
        raise ValueError("the model has no outputs")
    read.declared = {info.name: info for info in graph.value_info}
    read.nodes = _sorted(nodes, made)
    return read


def _node(proto: NodeProto, name: str, output: str, opset: int) -> _Node:
    axes = compute = None
    if proto.op_type in _onnx_operators.OPERATORS:
        compute = _onnx_operators.prepare(name, proto, opset)
    elif proto.op_type == "ReverseSequence":
        axes = _axes(proto)
        _check_inputs(proto, 2)
    else:
        _check_inputs(proto, 1)
    return _Node(name, list(proto.input), output, axes, compute)


def _opset(model: ModelProto) -> int:
    """The version of the default operator set."""
    versions = [opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
    if not versions or versions[-1] not in OPSETS:
        version = versions[-1] if versions else "missing"
        raise Unsupported(f"the model's opset is {version}, expected {OPSETS[0]} to {OPSETS[-1]}")
    return versions[-1]


def _check_operators(model: ModelProto) -> None:
    functions = {_full_name(function.domain, function.name) for function in model.functions}
    opset, types = _opset(model), _element_types(model)
    foreign = [node for node in model.graph.node if not _is_known(node, functions, opset, types)]
    if foreign:
        shown = ", ".join(map(_name, foreign[:_MOST_LISTED]))
        rest = Counter(_full_name(node.domain, node.op_type) for node in foreign[_MOST_LISTED:])
        if rest:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(rest.items()))
            shown += f" and {rest.total()} more: {kinds}"
        raise Unsupported(f"the model has nodes that retrograde cannot run: {shown}")
    if model.graph.sparse_initializer:
        raise Unsupported("the model has sparse initializers, which retrograde cannot read")


def _element_types(model: ModelProto) -> dict[str, int]:
    """The element types of values, as far as they are declared."""
    graph = model.graph
    declared = [*graph.input, *graph.value_info, *graph.output]
    types = {info.name: info.type.tensor_type.elem_type for info in declared}
    return types | {tensor.name: tensor.data_type for tensor in graph.initializer}


def _is_known(node: NodeProto, functions: set[str], opset: int, types: dict[str, int]) -> bool:
    kind = _full_name(node.domain, node.op_type)
    if kind in functions:
        # Functions that the model defines take precedence over operators of the same name.
        return False
    if kind == "Constant":
        return all(attribute.name != "sparse_value" for attribute in node.attribute)
    if kind in ("ReverseSequence", "Identity"):
        return kind == "Identity" or opset >= 10
    if kind not in _onnx_operators.OPERATORS or opset < _onnx_operators.OPERATORS[kind]:
        return False
    if kind == "GatherND":
        return all(attribute.name != "batch_dims" or not attribute.i for attribute in node.attribute)
    # Arithmetic is for integers. What is not declared is checked when the model runs.
    read = [types.get(name, 0) for name in (*node.input, *node.output)] if kind in _onnx_operators.INTEGER_ONLY else []
    return all(not code or _onnx_operators.is_integer(kind, code) or _is_condition(kind, code) for code in read)


def _is_condition(kind: str, code: int) -> bool:
    """Whether a comparison may have or be this: its result is a boolean."""
    return code == TensorProto.BOOL and kind not in ("Add", "Sub", "Mul", "Range")


def _full_name(domain: str, name: str) -> str:
    return name if domain in ("", "ai.onnx") else f"{domain}.{name}"


def _name(node: NodeProto) -> str:
    kind = _full_name(node.domain, node.op_type)
    return f"{node.name} ({kind})" if node.name else f"a node without a name ({kind})"


def _check_inputs(node: NodeProto, expected: int) -> None:
    if len(node.input) != expected:
        raise ValueError(f"{_name(node)}: has {len(node.input)} inputs, expected {expected}")


def _output(node: NodeProto) -> str:
    if len(node.output) != 1 or not node.output[0]:
        raise ValueError(f"{_name(node)}: has {len(node.output)} outputs, expected one with a name")
    return node.output[0]


def _axes(node: NodeProto) -> tuple[int, int]:
    axes = {"time_axis": 0, "batch_axis": 1}
    for attribute in node.attribute:
        if attribute.name not in axes:
            raise ValueError(f"{_name(node)}: attribute {attribute.name!r} is unknown")
        if attribute.type != AttributeProto.INT:
            kind = AttributeProto.AttributeType.Name(attribute.type)
            raise ValueError(f"{_name(node)}: attribute {attribute.name!r} is {kind}, expected INT")
        axes[attribute.name] = attribute.i
    for axis, value in axes.items():
        if value not in (0, 1):
            raise ValueError(f"{_name(node)}: ReverseSequence: {axis} is {value}, expected 0 or 1")
    time_axis, batch_axis = axes["time_axis"], axes["batch_axis"]
    if time_axis == batch_axis:
        raise ValueError(
            f"{_name(node)}: ReverseSequence: time_axis and batch_axis are both {time_axis}, they must differ"
        )
    return time_axis, batch_axis


def _constant(node: NodeProto, base_dir: str) -> np.ndarray[Any, Any]:
    if len(node.attribute) != 1:
        raise ValueError(f"{_name(node)}: has {len(node.attribute)} attributes, expected exactly one value")
    attribute = node.attribute[0]
    if attribute.name == "value":
        return _array(_name(node), attribute.t, base_dir)
    if attribute.name == "value_float":
        return np.array(attribute.f, np.float32)
    if attribute.name == "value_floats":
        return np.array(attribute.floats, np.float32)
    if attribute.name == "value_int":
        return np.array(attribute.i, np.int64)
    if attribute.name == "value_ints":
        return np.array(attribute.ints, np.int64)
    if attribute.name == "value_string":
        return _strings(_name(node), [attribute.s], ())
    if attribute.name == "value_strings":
        return _strings(_name(node), attribute.strings, (len(attribute.strings),))
    raise ValueError(f"{_name(node)}: attribute {attribute.name!r} is unknown")


def _array(what: str, tensor: TensorProto, base_dir: str) -> np.ndarray[Any, Any]:
    """The tensor as an array, from whichever field or file holds its elements."""
    if any(size < 0 for size in tensor.dims):
        raise ValueError(f"{what}: has shape {list(tensor.dims)}, in which a size is negative")
    try:
        if tensor.data_type == TensorProto.STRING:
            return _strings(what, tensor.string_data, tuple(tensor.dims))
        if tensor.data_location == TensorProto.EXTERNAL:
            # Older releases of ONNX store what they read in the message, which belongs to the
            # caller.
            copy = TensorProto()
            copy.CopyFrom(tensor)
            tensor = copy
        # A copy: the array would share memory with the message, which the caller may change.
        return np.array(numpy_helper.to_array(tensor, base_dir))
    except Exception as error:
        # Any exception that ONNX raises for an invalid tensor.
        reason = str(error)
        raise ValueError(reason if reason.startswith(what) else f"{what}: {reason}") from error


def _strings(what: str, strings: Iterable[bytes], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    texts = []
    for at, string in enumerate(strings):
        try:
            texts.append(string.decode("utf-8"))
        except UnicodeDecodeError:
            raise ValueError(f"{what}: string {at} is not UTF-8: {string[:40]!r}") from None
    array = np.empty(len(texts), object)
    array[:] = texts
    return array.reshape(shape)


def _sorted(nodes: list[_Node], made: Counter[str]) -> list[_Node]:
    """Topological sort: every value is produced before it is read. Not recursive."""
    maker = {node.output: at for at, node in enumerate(nodes)}
    readers: list[list[int]] = [[] for _ in nodes]
    waits_for = [0] * len(nodes)
    for at, node in enumerate(nodes):
        for value in node.inputs:
            if not value and node.compute is not None:
                continue  # an optional input that is omitted
            if value in maker:
                readers[maker[value]].append(at)
                waits_for[at] += 1
            elif not made[value]:
                raise ValueError(f"{node.name} reads {value!r}, which nothing produces")
    ready = deque(at for at, waits in enumerate(waits_for) if not waits)
    order = []
    while ready:
        at = ready.popleft()
        order.append(nodes[at])
        for reader in readers[at]:
            waits_for[reader] -= 1
            if not waits_for[reader]:
                ready.append(reader)
    if len(order) < len(nodes):
        stuck = next(at for at, waits in enumerate(waits_for) if waits)
        raise ValueError(f"the model's nodes form a cycle: {_cycle(nodes, maker, waits_for, stuck)}")
    return order


def _cycle(nodes: list[_Node], maker: dict[str, int], waits_for: list[int], stuck: int) -> str:
    """Finds a cycle: every blocked node reads from another one, so walking back must repeat."""
    path: list[int] = []
    while stuck not in path:
        path.append(stuck)
        makers = (maker[value] for value in nodes[stuck].inputs if value in maker)
        stuck = next(at for at in makers if waits_for[at])
    names = [nodes[at].name for at in reversed(path[path.index(stuck) :])]
    more = " -> ..." if len(names) > 8 else ""
    return f"{' -> '.join(names[:8])}{more} -> {names[0]}"


def _take(values: dict[str, Any], reads: Counter[str], name: str) -> Any:
    """The value for one of its readers; removed after the last."""
    reads[name] -= 1
    return values[name] if reads[name] else values.pop(name)


def _value(what: str, value: Any) -> Any:
    """An input as an array, with strings as objects; sequences and optionals are kept unchanged."""
    if value is None or isinstance(value, (list, tuple)):
        return value
    if isinstance(value, TensorProto):
        return _array(what, value, "")
    array = np.asarray(value)
    if array.dtype.kind in "UT":
        return array.astype(object)
    if array.dtype.kind == "S":
        return np.vectorize(lambda text: text.decode("utf-8"), otypes=[object])(array)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check(what: str, value: Any, declared: ValueInfoProto, sizes: dict[str, tuple[int, str]]) -> Any:
    """The value, if it matches its declaration; named sizes must agree everywhere."""
    if declared.type.WhichOneof("value") != "tensor_type":
        return value
    tensor = declared.type.tensor_type
    if not isinstance(value, np.ndarray):
        value = _value(what, np.asarray(value))
    if tensor.elem_type and _type_name(value.dtype) != TensorProto.DataType.Name(tensor.elem_type):
        raise TypeError(f"{what}: has type {value.dtype}, expected {_described(declared)}")
    if not tensor.HasField("shape"):
        return value
    dims = tensor.shape.dim
    fits = len(dims) == value.ndim and all(
        # Some exporters write -1 for an unknown size.
        not dim.HasField("dim_value") or dim.dim_value in (size, -1)
        for dim, size in zip(dims, value.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{what}: has shape {list(value.shape)}, expected {_described(declared)}")
    for axis, (dim, size) in enumerate(zip(dims, value.shape, strict=True)):
        if not dim.dim_param:
            continue
        bound, by = sizes.setdefault(dim.dim_param, (size, what))
        if bound != size:
            raise ValueError(
                f"{what}: axis {axis} has size {size}, but {dim.dim_param} is already {bound} ({by})"
            )
    return value


def _type_name(dtype: np.dtype[Any]) -> str:
    """ONNX's name for the type, or an empty string."""
    try:
        return TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(dtype))
    except (KeyError, ValueError, TypeError):
        return ""


def _described(declared: ValueInfoProto) -> str:
    """As `float32 [2, T, ?]`."""
    tensor = declared.type.tensor_type
    dtype = "?"
    if tensor.elem_type == TensorProto.STRING:
        dtype = "string"
    elif tensor.elem_type:
        dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if not tensor.HasField("shape"):
        return f"{dtype} of any shape"
    dims = [str(d.dim_value) if d.HasField("dim_value") else d.dim_param or "?" for d in tensor.shape.dim]
    return f"{dtype} [{', '.join(dims)}]"


def _listed(inputs: Any) -> list[Any]:
    """Inputs in order; an array is one input."""
    if isinstance(inputs, (np.ndarray, np.generic, TensorProto)):
        return [inputs]
    return list(inputs)


def _check_device(backend: type[Backend], device: str) -> None:
    if not backend.supports_device(device):
        raise Unsupported(f"device is {device!r}, expected 'CPU'")


is_compatible = RetrogradeBackend.is_compatible
is_opset_supported = RetrogradeBackend.is_opset_supported
prepare = RetrogradeBackend.prepare
run = run_model = RetrogradeBackend.run_model
run_node = RetrogradeBackend.run_node
supports_device = RetrogradeBackend.supports_device
