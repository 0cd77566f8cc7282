"""ONNX models for the tests of all runtimes that run them."""

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

INT64_MIN = -(2**63)
#: The types for which ONNX Runtime has a ReverseSequence.
RUNTIME_TYPES = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 object".split()


def kind(dtype):
    """ONNX's number of a type."""
    return TensorProto.STRING if dtype == "object" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def value(name, dtype="float32", shape=None):
    """A declaration; ``dtype`` is the name of a type, or ONNX's number."""
    return helper.make_tensor_value_info(name, dtype if isinstance(dtype, int) else kind(dtype), shape)


def constant(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def model(nodes, inputs=("lengths",), outputs=("y",), constants=(), opset=28, **more):
    """Inputs and outputs are declarations, or names alone."""

    def declared(value):
        return ValueInfoProto(name=value) if isinstance(value, str) else value

    graph = helper.make_graph(nodes, "graph", [*map(declared, inputs)], [*map(declared, outputs)], [*constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def made(nodes, inputs, outputs, constants=(), opset=17):
    """The bytes of a model that all versions of runtimes read."""
    return model(nodes, inputs, outputs, constants, opset, ir_version=8).SerializeToString()


def sequence_node(x, lengths, y, time_axis=0, name="reverse"):
    """A ReverseSequence of the two axes that it may have."""
    return helper.make_node("ReverseSequence", [x, lengths], [y], name=name, time_axis=time_axis, batch_axis=1 - time_axis)


def reverse_sequence(dtype="float32", shape=(None, None), time_axis=1, opset=17):
    inputs = [value("x", dtype, shape), value("n", "int64", [None])]
    return made([sequence_node("x", "n", "y", time_axis)], inputs, [value("y", dtype, shape)], opset=opset)


def bidirectional(cell, inputs, hidden, random):
    """A network of two cells (LSTM or GRU), the backward one between two ReverseSequence nodes: as converters write it.

    It has inputs ``x`` of the shape [steps, batch, inputs] and ``n``, the lengths.
    """
    gates = {"LSTM": 4, "GRU": 3}[cell]
    shapes = {"W": (1, gates * hidden, inputs), "R": (1, gates * hidden, hidden), "B": (1, 2 * gates * hidden)}
    nodes, constants = [helper.make_node("Cast", ["n"], ["n32"], to=TensorProto.INT32)], [constant("one", [1])]

    def add(name, source, target):
        nodes.append(helper.make_node(cell, [source, *(name + key for key in shapes), "n32"], [f"{name}Y"], hidden_size=hidden))
        nodes.append(helper.make_node("Squeeze", [f"{name}Y", "one"], [target]))
        constants.extend(constant(name + key, random.random(shape) - 0.5, np.float32) for key, shape in shapes.items())

    add("f", "x", "ahead")
    nodes.append(sequence_node("x", "n", "reversed", name="first"))
    add("b", "reversed", "behind")
    nodes.append(sequence_node("behind", "n", "restored", name="second"))
    nodes.append(helper.make_node("Concat", ["ahead", "restored"], ["y"], axis=2))
    declared = [value("x", "float32", [None, None, inputs]), value("n", "int64", [None])]
    return made(nodes, declared, [value("y")], constants)
