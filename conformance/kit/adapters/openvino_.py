"""Adapter for OpenVINO: Reverse-1 and ReverseSequence-1 on the CPU plugin, or the one that is named.

Tensors are made from bytes with OpenVINO's own types, packed ones too. Axes are constants, because
models have them so; lengths are inputs.
"""

import sys

from protocol import Unsupported, serve

TYPES = {
    "bool": "boolean", "u8": "u8", "i8": "i8", "u16": "u16", "i16": "i16", "u32": "u32",
    "i32": "i32", "u64": "u64", "i64": "i64", "f16": "f16", "bf16": "bf16", "f32": "f32",
    "f64": "f64", "f8e4m3fn": "f8e4m3", "f8e5m2": "f8e5m2", "f8e8m0": "f8e8m0",
    "f4e2m1": "f4e2m1", "nf4": "nf4", "u4": "u4", "i4": "i4", "u2": "u2", "u1": "u1",
    "string": "string",
}  # fmt: skip
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "CPU"
OURS = {theirs: ours for ours, theirs in TYPES.items()}


def start():
    import numpy as np
    import openvino as ov
    from openvino.utils.node_factory import NodeFactory

    core = ov.Core()
    if not any(one.split(".")[0] == DEVICE for one in core.available_devices):
        raise ImportError(f"OpenVINO finds no device {DEVICE}")
    models, kept = {}, []

    def kind(name):
        theirs = TYPES.get(name)
        if theirs is None or not hasattr(ov.Type, theirs):
            raise Unsupported(f"OpenVINO has no {name}")
        return getattr(ov.Type, theirs)

    def tensor(value):
        of = kind(value.dtype)
        if value.dtype == "string":
            return ov.Tensor(value.numpy().astype(str)) if value.data else ov.Tensor(of, ov.Shape(value.shape))
        if not value.data:
            return ov.Tensor(of, ov.Shape(value.shape))
        # Such a tensor is a view and does not keep its array alive.
        array = np.frombuffer(value.data, np.uint8).copy()
        kept.append(array)
        return ov.Tensor(array, ov.Shape(value.shape), of)

    def bytes_of(out):
        name = OURS[out.get_element_type().get_type_name()]
        shape = list(out.get_shape())
        if name == "string":
            return name, shape, [text.encode() for text in out.str_data.reshape(-1).tolist()]
        raw = np.ascontiguousarray(out.data).reshape(-1).view(np.uint8).tobytes()
        return name, shape, raw[: out.get_byte_size()]

    def build(call):
        data = ov.opset10.parameter([-1] * len(call.input.shape), kind(call.input.dtype))
        if call.operator == "Reverse":
            axes = ov.op.Constant(tensor(call.argument))
            node = NodeFactory("opset1").create("Reverse", [data, axes], {"mode": call.attributes["mode"]})
            return ov.Model([node], [data], "call")
        of = kind(call.argument.dtype)
        lengths = ov.opset10.parameter([-1] * len(call.argument.shape), of)
        axes = call.attributes
        node = ov.opset10.reverse_sequence(data, lengths, axes["batch_axis"], axes["time_axis"])
        return ov.Model([node], [data, lengths], "call")

    def compiled(call):
        argument = call.argument
        one = (call.operator, call.input.dtype, len(call.input.shape), argument.dtype)
        one += (tuple(sorted(call.attributes.items())), tuple(argument.shape))
        if call.operator == "Reverse":
            one += (argument.data,)
        if one not in models:
            models[one] = core.compile_model(build(call), DEVICE)
        return models[one]

    def run(call):
        inputs = [tensor(call.input)]
        if call.operator != "Reverse":
            inputs.append(tensor(call.argument))
        request = compiled(call).create_infer_request()
        for at, value in enumerate(inputs):
            request.set_input_tensor(at, value)
        request.infer()
        return bytes_of(request.get_output_tensor(0))

    return ov.__version__.split("-")[0], run


if __name__ == "__main__":
    name = "openvino" if DEVICE == "CPU" else f"openvino-{DEVICE.lower()}"
    install = "pip install openvino" + ("" if DEVICE == "CPU" else f", and a {DEVICE} with its driver")
    serve(name, ["Reverse", "ReverseSequenceAnyAxes"], start, install)
