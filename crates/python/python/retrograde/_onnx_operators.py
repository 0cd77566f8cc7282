"""Operators that exporters put around a reversal, for :mod:`retrograde.onnx_backend`.

They pick, permute and repeat elements of any type, and compute with integers: axes, indices, shapes
and lengths. Most results are views of their input. Attributes that later opsets made inputs become
operands, so that each operator is one function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from retrograde._onnx_bounds import Bounds, check_axes, check_entries

__all__ = ["INTEGER_ONLY", "OPERATORS", "attributes_of", "is_integer", "prepare"]

Array = np.ndarray[Any, Any]
Operator = Callable[..., Any]

#: Operators and the first opset in which they are supported.
OPERATORS = {
    "Add": 7, "Cast": 6, "Concat": 4, "ConstantOfShape": 9, "Equal": 7, "Expand": 8, "Gather": 1,
    "GatherElements": 11, "GatherND": 11, "Greater": 9, "GreaterOrEqual": 12, "Less": 9,
    "LessOrEqual": 12, "Mul": 7, "Range": 11, "Reshape": 5, "Shape": 1, "Slice": 1, "Squeeze": 1,
    "Sub": 7, "Transpose": 1, "Unsqueeze": 1, "Where": 9,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Less": np.less,
    "LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal,
}  # fmt: skip
#: Operators that compute: their operands are integers (or booleans, for Where and Cast).
INTEGER_ONLY = frozenset([*_FUNCTIONS, "Cast", "Range", "Where"])
_INTEGERS = frozenset(["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"])
#: Also operands of Cast and Where.
_NUMBERS = _INTEGERS | {"BOOL", "INT4", "UINT4", "INT2", "UINT2"}


def is_integer(kind: str, code: int) -> bool:
    """Whether an operator of ``INTEGER_ONLY`` accepts this ``TensorProto.DataType``."""
    name = TensorProto.DataType.Name(code) if code in TensorProto.DataType.values() else ""
    return name in (_NUMBERS if kind in ("Cast", "Where") else _INTEGERS)


def attributes_of(what: str, node: NodeProto, types: dict[str, int]) -> dict[str, Any]:
    """The attributes of a node, which have these names and types."""
    found = {}
    for attribute in node.attribute:
        if attribute.name not in types:
            raise ValueError(f"{what}: attribute {attribute.name!r} is unknown")
        if attribute.ref_attr_name:
            raise ValueError(
                f"{what}: attribute {attribute.name!r} is a reference to {attribute.ref_attr_name!r},"
                " expected a value, since this is not a function"
            )
        if attribute.type != types[attribute.name]:
            kind = AttributeProto.AttributeType.Name(attribute.type)
            expected = AttributeProto.AttributeType.Name(types[attribute.name])
            raise ValueError(f"{what}: attribute {attribute.name!r} is {kind}, expected {expected}")
        found[attribute.name] = helper.get_attribute_value(attribute)
    return found


def prepare(what: str, node: NodeProto, opset: int) -> Operator:
    """The operator of a node as a function of :class:`Bounds` and its operands; omitted ones are None."""
    kind = node.op_type
    if kind in _FUNCTIONS:
        attributes_of(what, node, {})
        return lambda bounds, one, other: _computed(_FUNCTIONS[kind], one, other)
    return _PREPARED[kind](what, node, opset)


def _without_attributes(operator: Operator) -> Callable[[str, NodeProto, int], Operator]:
    def prepared(what: str, node: NodeProto, opset: int) -> Operator:
        attributes_of(what, node, {})
        return operator

    return prepared


def _required(what: str, attributes: dict[str, Any], name: str) -> Any:
    if name not in attributes:
        raise ValueError(f"{what}: attribute {name!r} is missing")
    return attributes[name]


def _integers(argument: str, value: Any) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{argument} has type {array.dtype}, expected integers")
    return array


def _list(argument: str, value: Any) -> list[int]:
    array = _integers(argument, value)
    if array.ndim > 1:
        raise ValueError(f"{argument} has {array.ndim} axes, expected a list")
    check_entries(argument, array.size)
    return [int(entry) for entry in array.ravel()]


def _axes(argument: str, values: Iterable[int], rank: int) -> list[int]:
    """The axes that a list names, each at most once."""
    axes: list[int] = []
    for position, value in enumerate(values):
        if not -rank <= value < rank:
            raise ValueError(f"{argument}[{position}] is {value}, outside [{-rank}, {rank - 1}]")
        if value % rank in axes:
            raise ValueError(f"{argument}[{position}] is {value}, which is given twice")
        axes.append(value % rank)
    return axes


def _slice(what: str, node: NodeProto, opset: int) -> Operator:
    if opset >= 10:
        attributes_of(what, node, {})
        return _sliced
    types = dict.fromkeys(["starts", "ends", "axes"], AttributeProto.INTS)
    attributes = attributes_of(what, node, types)
    starts, ends = (_required(what, attributes, name) for name in ("starts", "ends"))
    axes = attributes.get("axes")
    return lambda bounds, data: _sliced(
        bounds, data, np.array(starts, np.int64), np.array(ends, np.int64), None if axes is None else np.array(axes)
    )


def _sliced(bounds: Bounds, data: Array, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Array:
    first, last = _list("starts", starts), _list("ends", ends)
    listed = list(range(len(first))) if axes is None else _list("axes", axes)
    strides = [1] * len(first) if steps is None else _list("steps", steps)
    for argument, entries in (("ends", last), ("axes", listed), ("steps", strides)):
        if len(entries) != len(first):
            raise ValueError(f"{argument} has {len(entries)} entries but starts has {len(first)}")
    parts = [slice(None)] * data.ndim
    for position, axis in enumerate(_axes("axes", listed, data.ndim)):
        size, step = data.shape[axis], strides[position]
        if step == 0:
            raise ValueError(f"steps[{position}] is 0, expected a positive or a negative step")
        start, end = (at + size if at < 0 else at for at in (first[position], last[position]))
        if step > 0:
            parts[axis] = slice(min(max(start, 0), size), min(max(end, 0), size), step)
        else:
            start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
            # The position before the first element has no number.
            parts[axis] = slice(start, None if end < 0 else end, step) if size else slice(0, 0)
    return data[tuple(parts)]


def _transpose(what: str, node: NodeProto, opset: int) -> Operator:
    order = attributes_of(what, node, {"perm": AttributeProto.INTS}).get("perm")

    def transposed(bounds: Bounds, data: Array) -> Array:
        if order and len(order) != data.ndim:
            raise ValueError(f"perm has {len(order)} entries but the input has {data.ndim} axes")
        return data.transpose(_axes("perm", order, data.ndim) if order else None)

    return transposed


def _squeeze(what: str, node: NodeProto, opset: int) -> Operator:
    types = {"axes": AttributeProto.INTS} if opset < 13 else {}
    listed = attributes_of(what, node, types).get("axes")

    def squeezed(bounds: Bounds, data: Array, axes: Any = None) -> Array:
        axes = listed if axes is None else _list("axes", axes)
        if axes is None:
            return data.squeeze()
        found = _axes("axes", axes, data.ndim)
        for position, axis in enumerate(found):
            if data.shape[axis] != 1:
                raise ValueError(
                    f"axes[{position}] is axis {axis}, which has size {data.shape[axis]}, expected 1"
                )
        return data.squeeze(tuple(found))

    return squeezed


def _unsqueeze(what: str, node: NodeProto, opset: int) -> Operator:
    types = {"axes": AttributeProto.INTS} if opset < 13 else {}
    attributes = attributes_of(what, node, types)
    if opset < 13:
        listed = _required(what, attributes, "axes")
        return lambda bounds, data: _unsqueezed(data, listed)
    return lambda bounds, data, axes: _unsqueezed(data, _list("axes", axes))


def _unsqueezed(data: Array, axes: list[int]) -> Array:
    check_axes(data.ndim + len(axes))
    return np.expand_dims(data, tuple(_axes("axes", axes, data.ndim + len(axes))))


def _shape(what: str, node: NodeProto, opset: int) -> Operator:
    types = {"start": AttributeProto.INT, "end": AttributeProto.INT} if opset >= 15 else {}
    attributes = attributes_of(what, node, types)
    start, end = attributes.get("start", 0), attributes.get("end")
    return lambda bounds, data: np.array(data.shape[start:end], np.int64)


def _gather(what: str, node: NodeProto, opset: int) -> Operator:
    axis = attributes_of(what, node, {"axis": AttributeProto.INT}).get("axis", 0)

    def gathered(bounds: Bounds, data: Array, indices: Any) -> Array:
        (at,) = _axes("axis", [axis], data.ndim)
        found = _inside(_integers("indices", indices), data.shape[at])
        bounds.check(data.shape[:at] + found.shape + data.shape[at + 1 :], data.dtype)
        # Unlike `take`, which first copies all of a view. The ellipsis keeps a single element an array.
        place: tuple[Any, ...] = (*[slice(None)] * at, found, ...)
        return data[place]

    return gathered


def _inside(indices: Array, size: int) -> Array:
    """Indices that count from the start."""
    check_entries("indices", indices.size)
    outside = np.flatnonzero((indices < -size) | (indices >= size))
    if outside.size:
        position = int(outside[0])
        value = indices.ravel()[position]
        raise ValueError(f"indices[{position}] is {value}, outside [{-size}, {size - 1}]")
    return np.where(indices < 0, indices + size, indices).astype(np.int64)


def _gather_elements(what: str, node: NodeProto, opset: int) -> Operator:
    axis = attributes_of(what, node, {"axis": AttributeProto.INT}).get("axis", 0)

    def gathered(bounds: Bounds, data: Array, indices: Any) -> Array:
        (at,) = _axes("axis", [axis], data.ndim)
        given = _integers("indices", indices)
        shape = given.shape
        if given.ndim != data.ndim or any(n != at and shape[n] > data.shape[n] for n in range(data.ndim)):
            raise ValueError(f"indices has shape {list(shape)}, expected that of the input except on axis {at}")
        bounds.check(shape, data.dtype)
        # Indices that an Expand repeats along another axis are read once.
        once = [n != at and not step for n, step in enumerate(given.strides)]
        found = _inside(given[tuple(slice(1 if once[n] else None) for n in range(given.ndim))], data.shape[at])
        part = tuple(slice(None) if n == at else slice(size) for n, size in enumerate(shape))
        return np.take_along_axis(data[part], found, at)

    return gathered


def _gather_nd(what: str, node: NodeProto, opset: int) -> Operator:
    types = {"batch_dims": AttributeProto.INT} if opset >= 12 else {}
    batch = attributes_of(what, node, types).get("batch_dims", 0)
    if batch != 0:
        raise ValueError(f"{what}: attribute 'batch_dims' is {batch}, expected 0")

    def gathered(bounds: Bounds, data: Array, indices: Any) -> Array:
        found = _integers("indices", indices)
        if not found.ndim or not 1 <= found.shape[-1] <= data.ndim:
            raise ValueError(
                f"indices has shape {list(found.shape)}, expected a last axis of size 1 to {data.ndim}"
            )
        check_entries("indices", found.size)
        bounds.check(found.shape[:-1] + data.shape[found.shape[-1] :], data.dtype)
        parts = [_inside(found[..., axis], data.shape[axis]) for axis in range(found.shape[-1])]
        return data[tuple(parts)]

    return gathered


def _concat(what: str, node: NodeProto, opset: int) -> Operator:
    axis = _required(what, attributes_of(what, node, {"axis": AttributeProto.INT}), "axis")

    def joined(bounds: Bounds, *tensors: Array) -> Array:
        (at,) = _axes("axis", [axis], tensors[0].ndim)
        for position, tensor in enumerate(tensors):
            if tensor.dtype != tensors[0].dtype:
                raise TypeError(f"input {position} has type {tensor.dtype}, expected {tensors[0].dtype}")
        bounds.check_bytes(sum(tensor.nbytes for tensor in tensors))
        return np.concatenate(tensors, at)

    return joined


def _cast(what: str, node: NodeProto, opset: int) -> Operator:
    names = ["to", "saturate", "round_mode"][: 1 + (opset >= 19) + (opset >= 25)]
    types = dict.fromkeys(names, AttributeProto.INT) | (
        {"round_mode": AttributeProto.STRING} if opset >= 25 else {}
    )
    code = _required(what, attributes_of(what, node, types), "to")
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(code))

    def cast(bounds: Bounds, data: Array) -> Array:
        if data.dtype == dtype:
            return data
        for where, own in (("the input", data.dtype), ("the result", dtype)):
            if own.kind not in "iub" and own.name not in ("int4", "uint4", "int2", "uint2"):
                raise TypeError(f"{where} has type {own}, expected integers or booleans")
        bounds.check(data.shape, dtype)
        return data.astype(dtype)

    return cast


def _constant_of_shape(what: str, node: NodeProto, opset: int) -> Operator:
    value = attributes_of(what, node, {"value": AttributeProto.TENSOR}).get("value")
    element = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value).ravel()
    if element.size != 1:
        raise ValueError(f"{what}: attribute 'value' has {element.size} elements, expected 1")

    def filled(bounds: Bounds, shape: Any) -> Array:
        sizes = _list("shape", shape)
        check_axes(len(sizes))
        check_entries("the result", math.prod(sizes))
        return np.broadcast_to(element, sizes)

    return filled


def _expanded(bounds: Bounds, data: Array, shape: Any) -> Array:
    sizes = _list("shape", shape)
    check_axes(len(sizes))
    return np.broadcast_to(data, np.broadcast_shapes(data.shape, tuple(sizes)))


def _reshape(what: str, node: NodeProto, opset: int) -> Operator:
    types = {"allowzero": AttributeProto.INT} if opset >= 14 else {}
    zero = attributes_of(what, node, types).get("allowzero", 0)

    def reshaped(bounds: Bounds, data: Array, shape: Any) -> Array:
        sizes = _list("shape", shape)
        check_axes(len(sizes))
        bounds.check(data.shape, data.dtype)
        if not zero:
            sizes = [data.shape[n] if not size and n < data.ndim else size for n, size in enumerate(sizes)]
        return data.reshape(sizes)

    return reshaped


def _range(bounds: Bounds, start: Any, limit: Any, delta: Any) -> Array:
    for argument, value in (("start", start), ("limit", limit), ("delta", delta)):
        if _integers(argument, value).size != 1:
            raise ValueError(f"{argument} has shape {list(np.shape(value))}, expected one number")
    first, end, step = int(start), int(limit), int(delta)
    if not step:
        raise ValueError("delta is 0, expected a positive or a negative step")
    check_entries("the result", max(0, -((first - end) // step)))
    return np.arange(first, end, step, dtype=np.asarray(start).dtype)


def _computed(function: Callable[[Any, Any], Any], one: Any, other: Any) -> Array:
    left, right = _integers("input 0", one), _integers("input 1", other)
    if left.dtype != right.dtype:
        raise TypeError(f"input 1 has type {right.dtype}, expected {left.dtype} as input 0")
    check_entries("the result", math.prod(np.broadcast_shapes(left.shape, right.shape)))
    return np.asarray(function(left, right))


def _selected(bounds: Bounds, condition: Any, yes: Any, no: Any) -> Array:
    if np.asarray(condition).dtype != bool:
        raise TypeError(f"the condition has type {np.asarray(condition).dtype}, expected bool")
    check_entries("the result", math.prod(np.broadcast_shapes(*map(np.shape, (condition, yes, no)))))
    return np.asarray(np.where(condition, yes, no))


_PREPARED: dict[str, Callable[[str, NodeProto, int], Operator]] = {
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _without_attributes(_expanded),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Range": _without_attributes(_range),
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _without_attributes(_selected),
}
