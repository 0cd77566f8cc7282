"""OpenVINO models for models.py: every type, strings, and graphs that `openvino` writes."""

from collections import Counter

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto
from openvino.utils.node_factory import NodeFactory

from modelling import Folder, RNG, check, result_is, reverse_sequence

# Name, bits, and whether ONNX has it (otherwise the output is raw).
OPENVINO_TYPES = {
    "boolean": (8, "BOOL"), "u8": (8, "UINT8"), "i8": (8, "INT8"), "u16": (16, "UINT16"),
    "i16": (16, "INT16"), "u32": (32, "UINT32"), "i32": (32, "INT32"), "u64": (64, "UINT64"),
    "i64": (64, "INT64"), "f16": (16, "FLOAT16"), "bf16": (16, "BFLOAT16"), "f32": (32, "FLOAT"),
    "f64": (64, "DOUBLE"), "f8e4m3": (8, "FLOAT8E4M3FN"), "f8e5m2": (8, "FLOAT8E5M2"),
    "f8e8m0": (8, "FLOAT8E8M0"), "u4": (4, "UINT4"), "i4": (4, "INT4"), "f4e2m1": (4, "FLOAT4E2M1"),
    "nf4": (4, None), "u2": (2, "UINT2"), "u1": (1, None),
}  # fmt: skip


def packed(values, width):
    """Packs elements of `width` bits: single bits from the high end, others from the low end."""
    per = 8 // width
    values = np.concatenate([values, np.zeros(-len(values) % per, np.uint8)]).reshape(-1, per)
    shifts = np.arange(per) * width if width > 1 else 7 - np.arange(8)
    return (values.astype(np.uint32) << shifts).sum(1).astype(np.uint8)


def reverse_node(data, axes, mode):
    return NodeFactory("opset1").create("Reverse", [data, axes], {"mode": mode})


def serialize(model, folder, version="IR_V11"):
    ov.serialize(model, str(folder / "m.xml"), str(folder / "m.bin"), version)


def openvino_types(binary):
    shape = (3, 5, 2)
    for name, (width, onnx_name) in OPENVINO_TYPES.items():
        kind = getattr(ov.Type, name)
        for version in ("IR_V10", "IR_V11"):
            for mode, axes in [("index", [0, -1]), ("mask", [True, False, True])]:
                count = int(np.prod(shape))
                if width < 8:
                    elements = RNG.integers(0, 1 << width, count).astype(np.uint8)
                    data = packed(elements, width)
                    flipped = packed(np.flip(elements.reshape(shape), (0, 2)).ravel(), width)
                else:
                    raw = RNG.integers(0, 2 if name == "boolean" else 256, count * width // 8).astype(np.uint8)
                    elements = raw.view(f"V{width // 8}").reshape(shape)
                    data, flipped = raw, np.frombuffer(np.flip(elements, (0, 2)).tobytes(), np.uint8)
                tensor = ov.Tensor(data, ov.Shape(shape), kind) if width < 8 else constant_bytes(data, shape, kind)
                node = reverse_node(ov.op.Constant(tensor), ov.op.Constant(np.array(axes)), mode)
                what = f"Reverse {name} {mode} {version}"
                with Folder(binary) as folder:
                    serialize(ov.Model([ov.opset10.result(node)], [], "m"), folder, version)
                    target = "y.raw"
                    if folder.expect("openvino: every type", what, "m.xml", "--output", target):
                        found = np.fromfile(folder / target, np.uint8)
                        check("openvino: every type", found.tobytes() == flipped.tobytes(), (what, found, flipped))
                    if onnx_name and folder.expect("openvino: every type", what, "m.xml", "--output", "y.pb"):
                        proto = onnx.load_tensor(str(folder / "y.pb"))
                        ok = proto.raw_data == flipped.tobytes() and tuple(proto.dims) == shape
                        ok &= TensorProto.DataType.Name(proto.data_type) == onnx_name
                        check("openvino: every type", ok, (what, proto))


def constant_bytes(data, shape, kind):
    tensor = ov.Tensor(kind, ov.Shape(shape))
    tensor.data.view(np.uint8).reshape(-1)[:] = data
    return tensor


def openvino_strings(binary):
    words = np.array([["stressed", "", "größe"], ["a", "live", "evil"]])
    node = reverse_node(ov.op.Constant(ov.Tensor(words)), ov.op.Constant(np.array([1])), "index")
    with Folder(binary) as folder:
        serialize(ov.Model([ov.opset10.result(node)], [], "m"), folder)
        if folder.expect("openvino: strings", "Reverse string", "m.xml", "-d", "out"):
            name = next((folder / "out").iterdir())
            result_is("openvino: strings", "Reverse string", name, np.flip(words, 1))


def openvino_models(binary):
    """Parameters, dynamic sizes, every pair of axes, both versions; compared with OpenVINO too."""
    core = ov.Core()
    differ = Counter()
    for dtype in (np.float32, np.int32, np.int64, np.uint8, np.float64):
        for time in range(-3, 3):
            for batch in range(-3, 3):
                if time % 3 == batch % 3:
                    continue
                shape = (3, 4, 5)
                dims = [-1 if at % 2 else size for at, size in enumerate(shape)]
                data = ov.opset10.parameter(dims, dtype, name="data")
                lengths = ov.opset10.parameter([-1], np.int32 if time < 0 else np.int64, name="lens")
                node = ov.opset10.reverse_sequence(data, lengths, batch, time)
                flipped = reverse_node(node.output(0), ov.op.Constant(np.array([time])).output(0), "index")
                model = ov.Model([ov.opset10.result(node), ov.opset10.result(flipped)], [data, lengths], "m")
                model.outputs[0].tensor.set_names({"sequence"})
                model.outputs[1].tensor.set_names({"both"})
                raw = RNG.integers(0, 256, 60 * np.dtype(dtype).itemsize, np.uint8)
                x = raw.view(dtype).reshape(shape)
                lens = RNG.integers(0, shape[time] + 1, shape[batch])
                lens = lens.astype(np.int32 if time < 0 else np.int64)
                first = reverse_sequence(x, lens, time % 3, batch % 3)
                second = np.flip(first, time)
                what = f"{np.dtype(dtype)} time {time} batch {batch}"
                with Folder(binary) as folder:
                    serialize(model, folder, "IR_V10" if batch < 0 else "IR_V11")
                    np.save(folder / "x.npy", x)
                    np.save(folder / "lens.npy", lens)
                    if folder.expect(
                        "openvino: models", what, "m.xml", "-i", "data=x.npy", "-i", "lens=lens.npy", "-d", "out"
                    ):
                        result_is("openvino: models", what, folder / "out/sequence.npy", first)
                        result_is("openvino: models", what, folder / "out/both.npy", second)
                    theirs = core.compile_model(model, "CPU")([x, lens])
                    pairs = [("ReverseSequence", 0, first), ("Reverse behind ReverseSequence", 1, second)]
                    for op, at, expected in pairs:
                        name = f"{op} {np.dtype(dtype)}"
                        differ[name, theirs[at].tobytes() == expected.tobytes()] += 1
    for name in sorted({name for name, _ in differ}):
        agree, wrong = differ[name, True], differ[name, False]
        if wrong:
            print(f"known wrong: openvino: {name}: its CPU result differs in {wrong} of {agree + wrong}")
