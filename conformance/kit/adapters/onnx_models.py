"""The ONNX model of a call, for the adapters that run ONNX."""

import os

from protocol import Unsupported

OPSET = int(os.environ.get("RETROGRADE_KIT_OPSET", "22"))
CODES = {
    "f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "string": 8, "bool": 9,
    "f16": 10, "f64": 11, "u32": 12, "u64": 13, "c64": 14, "c128": 15, "bf16": 16,
}  # fmt: skip


def sequence_model(call):
    """A model of one ReverseSequence with symbolic sizes."""
    from onnx import helper

    if call.input.dtype == "bf16" and OPSET < 28:
        raise Unsupported("ReverseSequence has bfloat16 from opset 28 on")
    if call.input.dtype not in CODES:
        raise Unsupported(f"ReverseSequence does not list {call.input.dtype}")
    code, rank = CODES[call.input.dtype], len(call.input.shape)
    sizes = [f"d{axis}" for axis in range(rank)]
    lengths = [f"n{axis}" for axis in range(len(call.argument.shape))]
    node = helper.make_node("ReverseSequence", ["x", "lens"], ["y"], **call.attributes)
    graph = helper.make_graph(
        [node],
        "call",
        [
            helper.make_tensor_value_info("x", code, sizes),
            helper.make_tensor_value_info("lens", CODES[call.argument.dtype], lengths),
        ],
        [helper.make_tensor_value_info("y", code, sizes)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def kept(load):
    """What a runtime makes of a call's model: loaded once for the calls that differ in values and sizes only."""
    loaded = {}

    def of(call):
        axes = call.attributes
        kinds = call.input.dtype, call.argument.dtype
        key = *kinds, len(call.input.shape), len(call.argument.shape), axes["time_axis"], axes["batch_axis"]
        if key not in loaded:
            loaded[key] = load(sequence_model(call))
        return loaded[key]

    return of
