"""Runs the operators that exporters put around a reversal, bit for bit against their runtimes.

usage: model_operators.py RETROGRADE_BINARY

The official node tests of ONNX for these operators run as they are, if their types are supported.
Random slices and chains run on ONNX Runtime and on OpenVINO too; expected results come from NumPy,
one element at a time. Where a runtime differs from NumPy, the run prints it.
"""

import itertools
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import openvino as ov
import openvino.opset13 as ops
from onnx import TensorProto, helper, numpy_helper
from openvino.utils.node_factory import NodeFactory

from modelling import Folder, RNG, check, info, model_of, official, result_is, reverse_sequence, same, summary, write

OPERATORS = """Concat ConstantOfShape Expand Gather GatherElements GatherND Identity Reshape Shape Slice Squeeze
    Transpose Unsqueeze Cast Range Where Add Sub Mul Less LessOrEqual Greater GreaterOrEqual Equal""".split()
COMPUTE = set("Cast Range Add Sub Mul Less LessOrEqual Greater GreaterOrEqual Equal".split())
INTEGERS = {TensorProto.DataType.Value(f"{sign}INT{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)}
PACKED = {TensorProto.DataType.Value(f"{sign}INT{bits}") for sign in ("", "U") for bits in (2, 4)}
ort.set_default_logger_severity(4)
# Cases in which a runtime differs from NumPy, by what they have in common.
OTHERS = {}


# --- ONNX --------------------------------------------------------------------------------


def supported(case):
    """Whether the command is meant to run a case: no sequences, integers where it computes."""
    (node,) = case.model.graph.node if len(case.model.graph.node) == 1 else (None,)
    if node is None or node.op_type not in OPERATORS:
        return False
    ports = [*case.model.graph.input, *case.model.graph.output]
    if any(port.type.WhichOneof("value") != "tensor_type" for port in ports):
        return False
    kinds = {port.type.tensor_type.elem_type for port in ports}
    if node.op_type in COMPUTE:
        integers = INTEGERS | PACKED if node.op_type == "Cast" else INTEGERS
        return kinds <= integers | {TensorProto.BOOL} and not (node.op_type in ("Equal", "And") and kinds == {TensorProto.BOOL})
    if node.op_type == "GatherND":
        return all(attribute.name != "batch_dims" or not attribute.i for attribute in node.attribute)
    return True


def official_cases(binary):
    ran = Counter(case.model.graph.node[0].op_type for case in official(binary, supported))
    check("onnx: official cases", len(ran) > 15 and ran["Slice"] >= 8, ran)
    print("official cases: " + ", ".join(f"{kind} {count}" for kind, count in sorted(ran.items())))


def containers(binary):
    """Sequences and optional values, as the official tests of Identity write them, in and out."""
    x = [np.array([1, 2], np.float32), np.zeros((0, 3), np.float32)]
    sequence = numpy_helper.from_list(x, "x")
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    kind = helper.make_sequence_type_proto(tensor)
    cases = [
        ("sequence", sequence, kind, 16),
        ("optional sequence", numpy_helper.from_optional(x, "x"), helper.make_optional_type_proto(kind), 16),
        ("optional tensor", numpy_helper.from_optional(x[0], "x"), helper.make_optional_type_proto(tensor), 28),
    ]
    for what, proto, kind, opset in cases:
        ports = [helper.make_value_info(name, kind) for name in ("x", "y")]
        model = model_of([helper.make_node("Identity", ["x"], ["y"])], ports[:1], ports[1:], opset)
        onnx.checker.check_model(model)
        with Folder(binary) as folder:
            write(folder / "m.onnx", model)
            write(folder / "x.pb", proto)
            if folder.expect("onnx: sequences", what, "m.onnx", "-i", "x.pb", "--output", "y.pb"):
                found = type(proto)()
                found.ParseFromString((folder / "y.pb").read_bytes())
                check("onnx: sequences", found == proto, what)


def positions(start, end, step, size):
    """Which positions a slice picks, as the specification describes it."""
    start, end = (at + size if at < 0 else at for at in (start, end))
    if step > 0:
        at, stop = min(max(start, 0), size), min(max(end, 0), size)
    else:
        at, stop = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    picked = []
    while size and (at < stop if step > 0 else at > stop):
        picked.append(at)
        at += step
    return picked


def picked(x, axis, at):
    return np.stack([x.take(n, axis) for n in at], axis) if at else x.take(np.zeros(0, np.int64), axis)


def runtime(model, feeds):
    # Without optimizations: with them, 1.31.1 loses the elements of a Range with a negative step.
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def slices(binary):
    """Random slices of two axes, then a Transpose, at several opsets and types."""
    low, high = -(1 << 63), (1 << 63) - 1
    for turn in range(120):
        shape = tuple(RNG.integers(0 if turn % 9 == 0 else 1, 6, 3))
        x = RNG.integers(-128, 128, shape).astype([np.int8, np.float32, np.int64, np.bool_][turn % 4])
        axes = RNG.permutation(3)[:2]
        lists = {"starts": [], "ends": [], "axes": [], "steps": []}
        expected = x
        for axis in map(int, axes):
            start, end = (int(RNG.choice([*range(-7, 8), low, high])) for _ in range(2))
            step = int(RNG.choice([-5, -2, -1, 1, 2, 3, low + 1, high] if turn % 3 else [-1, 1]))
            expected = picked(expected, axis, positions(start, end, step, shape[axis]))
            for name, value in zip(lists, (start, end, axis - 3 * (turn % 2), step)):
                lists[name].append(value)
        order = RNG.permutation(3).tolist()
        expected = expected.transpose(order)
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        dtype = np.int64
        opset = (10, 11, 13, 20, 28)[turn % 5]
        initial = [numpy_helper.from_array(np.array(values, dtype), name) for name, values in lists.items()]
        nodes = [helper.make_node("Slice", ["x", *lists], ["s"]), helper.make_node("Transpose", ["s"], ["y"], perm=order)]
        model = model_of(nodes, [info("x", kind, ["A", "B", "C"])], [info("y", kind, None)], opset, initializer=initial)
        what = f"{shape} {lists} opset {opset}"
        if opset <= 20:
            agrees = same(runtime(model, {"x": x})[0], np.array(expected, order="C"))
            if any(end == high and step < 0 for end, step in zip(lists["ends"], lists["steps"])):
                # ONNX Runtime reads the largest end as "none", even backwards. The specification limits it
                # to the last element, as NumPy does.
                OTHERS.setdefault("ONNX Runtime differs: backwards to the largest end", []).extend([what] * (not agrees))
            else:
                check("onnxruntime: slices", agrees, what)
        with Folder(binary) as folder:
            write(folder / "m.onnx", model)
            np.save(folder / "x.npy", x)
            if folder.expect("onnx: slices", what, "m.onnx", "-i", "x.npy", "--output", "y.npy"):
                result_is("onnx: slices", what, folder / "y.npy", expected)


def older_forms(binary):
    """Operators whose lists were attributes, at the oldest opsets."""
    x = RNG.standard_normal((1, 4, 3), np.float32)
    node = helper.make_node
    cases = {
        "Slice": (node("Slice", ["x"], ["y"], starts=[1, -2], ends=[9, -1], axes=[1, 2]), x[:, 1:, -2:-1]),
        "Slice without axes": (node("Slice", ["x"], ["y"], starts=[0, 1], ends=[1, 3]), x[:1, 1:3]),
        "Squeeze": (node("Squeeze", ["x"], ["y"], axes=[0]), x[0]),
        "Squeeze all": (node("Squeeze", ["x"], ["y"]), x[0]),
        "Unsqueeze": (node("Unsqueeze", ["x"], ["y"], axes=[0, 4]), x[None, ..., None]),
    }
    for what, (made, expected) in cases.items():
        for opset in (7, 9):
            model = model_of([made], [info("x", TensorProto.FLOAT, x.shape)], [info("y", TensorProto.FLOAT, None)], opset)
            check("onnxruntime: older forms", same(runtime(model, {"x": x})[0], expected), what)
            with Folder(binary) as folder:
                write(folder / "m.onnx", model)
                np.save(folder / "x.npy", x)
                if folder.expect("onnx: older forms", what, "m.onnx", "-i", "x.npy", "--output", "y.npy"):
                    result_is("onnx: older forms", what, folder / "y.npy", expected)


# --- OpenVINO ----------------------------------------------------------------------------


def compare(binary, what, result, feeds, expected, group="openvino"):
    """The command on a saved model; OpenVINO's own result is compared too."""
    parameters, arrays = feeds["parameters"], feeds["arrays"]
    model = ov.Model([ops.result(result)], parameters, "m")
    found = ov.Core().compile_model(model, "CPU")(arrays)[0]
    expected = np.array(expected, order="C")
    if not same(np.array(found, order="C"), expected):
        OTHERS.setdefault(f"OpenVINO differs: {group}", []).append(what)
    with Folder(binary) as folder:
        ov.save_model(model, str(folder / "m.xml"), compress_to_fp16=False)
        arguments = []
        for at, (parameter, array) in enumerate(zip(parameters, arrays)):
            np.save(folder / f"{at}.npy", array)
            arguments += ["-i", f"{parameter.get_friendly_name()}={at}.npy"]
        if folder.expect(group, what, "m.xml", *arguments, "--output", "y.npy"):
            result_is(group, what, folder / "y.npy", expected)


def ir_slices(binary):
    for turn in range(60):
        shape = tuple(map(int, RNG.integers(1, 6, 3)))
        x = RNG.integers(-999, 999, shape).astype(np.float32)
        data = ops.parameter([-1, -1, -1] if turn % 2 else list(shape), np.float32, name="x")
        feeds = {"parameters": [data], "arrays": [x]}
        axes = [int(axis) for axis in RNG.permutation(3)[:2]]
        starts, ends = ([int(n) for n in RNG.integers(-4, 5, 2)] for _ in range(2))
        steps = [int(RNG.choice([-2, -1, 1, 2])) for _ in range(2)]
        expected = x
        for axis, start, end, step in zip(axes, starts, ends, steps):
            # Inside the axis: what a start before it means is where runtimes differ.
            start = max(start, -shape[axis])
            starts[axes.index(axis)] = start
            expected = picked(expected, axis, positions(start, end, step, shape[axis]))
        lists = [np.array(values, np.int32 if turn % 3 else np.int64) for values in (starts, ends, steps, axes)]
        node = ops.slice(data, *[ov.op.Constant(values) for values in lists])
        compare(binary, f"Slice {shape} {starts} {ends} {steps} {axes}", node, feeds, expected, "openvino: slices")
    everything = [slice(None, None, -1), slice(1, None, 2), slice(None, -1), slice(-1, None, -2), 0, -1, None, ...]
    x = RNG.integers(-999, 999, (4, 3, 5)).astype(np.float32)
    for key in itertools.product(everything, repeat=3):
        if key.count(...) > 1 or sum(part is not None and part is not ... for part in key) == 0:
            continue
        if RNG.integers(4):
            continue
        data = ops.parameter([4, 3, 5], np.float32, name="x")
        feeds = {"parameters": [data], "arrays": [x]}
        part = [own if isinstance(own, slice) else slice(own if isinstance(own, int) else 0, 0) for own in key]
        begin = [own.start or 0 for own in part]
        end = [own.stop or 0 for own in part]
        step = [own.step or 1 for own in part]
        masks = {
            "begin_mask": [int(own.start is None) for own in part],
            "end_mask": [int(own.stop is None) for own in part],
            "new_axis_mask": [int(own is None) for own in key],
            "shrink_axis_mask": [int(isinstance(own, int)) for own in key],
            "ellipsis_mask": [int(own is ...) for own in key],
        }
        node = ops.strided_slice(data, np.array(begin), np.array(end), np.array(step), **masks)
        compare(binary, f"StridedSlice {key}", node, feeds, x[key], "openvino: strided slices")


def ir_operators(binary):
    x = RNG.integers(-999, 999, (2, 1, 3)).astype(np.float32)
    lens = np.array([1, 2])

    def one(make, expected, what, arrays=(x,)):
        parameters = [ops.parameter(list(array.shape), array.dtype, name=f"p{at}") for at, array in enumerate(arrays)]
        feeds = {"parameters": parameters, "arrays": list(arrays)}
        compare(binary, what, make(*parameters), feeds, expected, "openvino: operators")

    def const(*values, dtype=np.int64):
        return ov.op.Constant(np.array(values, dtype))

    one(lambda p: ops.transpose(p, const(2, 0, 1)), x.transpose(2, 0, 1), "Transpose")
    one(lambda p: ops.transpose(p, ov.op.Constant(ov.Type.i64, ov.Shape([0]), np.zeros(0, np.int64))), x.T, "Transpose, empty order")
    one(lambda p: ops.squeeze(p, const(1)), x[:, 0], "Squeeze")
    one(lambda p: NodeFactory("opset1").create("Squeeze", [p], {}), x[:, 0], "Squeeze all")
    one(lambda p: ops.unsqueeze(p, const(0, -1)), x[None, ..., None], "Unsqueeze")
    one(lambda p: ops.shape_of(p, "i32"), np.array([2, 1, 3], np.int32), "ShapeOf")
    one(lambda p: ops.gather(p, const(2, 0, -1), const(2)), x[:, :, [2, 0, -1]], "Gather")
    one(lambda p: ops.gather(p, ov.op.Constant(np.array([[0, 1], [1, 1]])), const(0)), x[[[0, 1], [1, 1]]], "Gather, two axes")
    one(lambda p: ops.concat([p, ops.reverse_sequence(p, lens, 0, 2)], 1), np.concatenate([x, reverse_sequence(x, lens, 2, 0)], 1), "Concat")
    one(lambda p: ops.broadcast(p, const(2, 4, 3)), np.broadcast_to(x, (2, 4, 3)), "Broadcast")
    one(lambda p: ops.reshape(p, const(0, -1), True), x.reshape(2, 3), "Reshape")
    one(lambda p: ops.convert(p, "i32"), np.array([3, -4], np.int32), "Convert", (np.array([3, -4]),))
    indices = np.array([[[2, 1, 0]], [[0, 0, 2]]])
    one(lambda p: ops.gather_elements(p, indices, 2), np.take_along_axis(x, indices, 2), "GatherElements")
    one(lambda p: ops.gather_nd(p, np.array([[1], [0]])), x[[1, 0]], "GatherND")
    # Lengths of floats, and axes that are empty or packed.
    floats = [np.float32, np.float64, np.float16]
    for dtype in floats:
        one(lambda p, d=dtype: ops.reverse_sequence(p, ov.op.Constant(np.array([2, 3], d)), 0, 2), reverse_sequence(x, [2, 3], 2, 0), f"lengths {dtype.__name__}")
    reverse = lambda p, axes: NodeFactory("opset1").create("Reverse", [p, axes], {"mode": "index"})  # noqa: E731
    one(lambda p: reverse(p, ov.op.Constant(ov.Type.i64, ov.Shape([0]), np.zeros(0, np.int64))), x, "Reverse, no axes")
    # OpenVINO itself reads packed axes as bytes, which agrees for one axis that is not negative.
    for kind, values, axes in [(ov.Type.i4, [0x02], (2,)), (ov.Type.u4, [0x02], (2,))]:
        count = len(axes)
        constant = ov.op.Constant(ov.Tensor(np.array(values, np.uint8), ov.Shape([count]), kind))
        one(lambda p, c=constant: reverse(p, c), np.flip(x, axes), f"Reverse, axes of {kind}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = str(Path(sys.argv[1]).resolve())
    official_cases(binary)
    containers(binary)
    slices(binary)
    older_forms(binary)
    ir_slices(binary)
    ir_operators(binary)
    for what, cases in sorted(OTHERS.items()):
        print(f"{what}: {len(cases)} cases, such as {cases[:2]}" if cases else f"{what}: none")
    return summary("operators of models")


if __name__ == "__main__":
    sys.exit(main())
