"""Compares the oracle and the type table with widely used runtimes.

usage: check.py CALLS.jsonl TYPES.jsonl

The files come from `retrograde-suite export` and `retrograde-suite types`. If
a peer is known to be wrong, the check prints what it returns. If a later version is right, that is
printed too and is not a failure. """

import json
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import openvino as ov
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from openvino.utils.node_factory import NodeFactory
from safetensors.numpy import save as safetensors_save

from modelling import check, sequence_model, summary

ort.set_default_logger_severity(4)  # refusals are expected below, as exceptions


def refusal(run):
    """The first line of the exception that a call raises, or None."""
    try:
        run()
    except Exception as error:  # anything a foreign runtime may raise
        return str(error).strip().splitlines()[0]
    return None


# --- Peers -------------------------------------------------------------------------------


def model(rank, time_axis, elem_type=TensorProto.INT64):
    """A model of one ReverseSequence with free sizes."""
    return sequence_model(elem_type, dims=[f"d{axis}" for axis in range(rank)], time=time_axis)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self):
        self.sessions = {}

    def session(self, rank, time_axis):
        key = rank, time_axis
        if key not in self.sessions:
            made = model(rank, time_axis).SerializeToString()
            self.sessions[key] = ort.InferenceSession(made, providers=["CPUExecutionProvider"])
        return self.sessions[key]

    def reverse_sequence(self, x, lens, time_axis, _batch_axis=None):
        return self.session(x.ndim, time_axis).run(None, {"x": x, "lens": lens})[0]

    def reverse_subsequences(self, x, lens, axis):
        """Lane by lane, as a batch: no runtime outside Windows has this operator."""
        moved = np.moveaxis(x, axis, -1)
        lanes = np.ascontiguousarray(moved).reshape(lens.size, x.shape[axis])
        y = self.reverse_sequence(lanes, np.moveaxis(lens, axis, -1).reshape(-1), 1)
        return np.moveaxis(y.reshape(moved.shape), -1, axis)


class OnnxReference:
    name = "onnx reference"

    def __init__(self):
        self.evaluators = {}

    def reverse_sequence(self, x, lens, time_axis, _batch_axis=None):
        key = x.ndim, time_axis
        if key not in self.evaluators:
            self.evaluators[key] = ReferenceEvaluator(model(*key))
        return self.evaluators[key].run(None, {"x": x, "lens": lens})[0]


class Numpy:
    name = "numpy"

    def reverse(self, x, axes):
        return np.flip(x, tuple(axes))

    def orient(self, x, exif, axes):
        # Orientations 1 to 4, then the same of the transposed image with other flips.
        turns = {1: 0, 3: 2, 6: 3, 8: 1}
        if exif in turns:
            return np.rot90(x, turns[exif], axes)
        return np.flip(x, axes[exif == 2]) if exif in (2, 4) else np.rot90(np.flip(x, axes[exif == 5]), 1, axes)

    def reverse_segments(self, x, offsets, axis):
        segments = np.split(x, offsets, axis)
        kept, rest = segments[1:-1], segments[-1]
        return np.concatenate([*(np.flip(s, axis) for s in kept), rest], axis)


class OpenVino:
    """Uses 32-bit integers, which its CPU plugin moves exactly below 2**24."""

    name = "openvino"

    def __init__(self):
        self.core, self.models = ov.Core(), {}

    def compiled(self, key, build):
        if key not in self.models:
            self.models[key] = self.core.compile_model(build(), "CPU")
        return self.models[key]

    def reverse(self, x, axes):
        def build():
            data = ov.opset10.parameter([-1] * x.ndim, np.int32)
            return ov.Model([openvino_reverse(data, axes)], [data], "m")

        compiled = self.compiled(("reverse", x.ndim, tuple(axes)), build)
        return compiled(x.astype(np.int32))[0]

    any_axes = True

    def reverse_sequence(self, x, lens, time_axis, batch_axis):
        def build():
            data = ov.opset10.parameter([-1] * x.ndim, np.int32)
            lengths = ov.opset10.parameter([-1], np.int32)
            node = ov.opset10.reverse_sequence(data, lengths, batch_axis, time_axis)
            return ov.Model([node], [data, lengths], "m")

        compiled = self.compiled(("sequence", x.ndim, time_axis, batch_axis), build)
        return compiled([x.astype(np.int32), lens.astype(np.int32)])[0]


def openvino_reverse(data, axes):
    axes = ov.op.Constant(np.array(axes, np.int64))
    return NodeFactory("opset1").create("Reverse", [data, axes], {"mode": "index"})


# --- The oracle --------------------------------------------------------------------------


def check_oracle(path):
    peers = [Numpy(), OnnxRuntime(), OnnxReference(), OpenVino()]
    for line in Path(path).read_text().splitlines():
        call = json.loads(line)
        shape = call["shape"]
        x = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        expected = np.array(call["expected"], np.int64).reshape(shape)
        lens = np.array(call["lengths"], np.int64)
        for peer in peers:
            if call["op"] == "Reverse" and hasattr(peer, "reverse"):
                y = peer.reverse(x, call["axes"])
            elif call["op"] == "ReverseSequence" and hasattr(peer, "reverse_sequence"):
                time, batch = call["time_axis"], call["batch_axis"]
                if time + batch > 1 and not hasattr(peer, "any_axes"):
                    continue  # ONNX has axes 0 and 1
                y = peer.reverse_sequence(x, lens, time, batch)
            elif call["op"] == "ReverseSubsequences" and hasattr(peer, "reverse_subsequences"):
                axis = call["axis"]
                lanes = [1 if i == axis else n for i, n in enumerate(shape)]
                y = peer.reverse_subsequences(x, lens.reshape(lanes), axis)
            elif call["op"] == "Orient" and hasattr(peer, "orient"):
                y = peer.orient(x, call["exif"], call["axes"]).reshape(shape)
            elif call["op"] == "ReverseSegments" and hasattr(peer, "reverse_segments"):
                y = peer.reverse_segments(x, lens, call["axis"])
            else:
                continue
            check(f"{peer.name}: {call['op']}", np.array_equal(y, expected), line)


# --- Where peers are known to be wrong ---------------------------------------------------


def known_wrong():
    """(peer, what it should do, what it does, whether it still does)."""
    rt, reference, openvino = OnnxRuntime(), OnnxReference(), OpenVino()
    x = np.arange(12, dtype=np.int64).reshape(4, 3)

    def narrows(dtype, value):
        data = ov.opset10.parameter([2], dtype)
        compiled = openvino.core.compile_model(ov.Model([openvino_reverse(data, [0])], [data], "m"), "CPU")
        return compiled(np.array([value, 1], dtype))[0][1] != np.dtype(dtype).type(value)

    def through_f32():
        data = np.array([[16777217], [1]], np.int32)
        return openvino.reverse_sequence(data, np.array([2]), 0, 1)[1, 0] == 16777216

    def refuses(elem_type):
        made = model(2, 0, elem_type).SerializeToString()
        return refusal(lambda: ort.InferenceSession(made)) is not None

    over = reference.reverse_sequence(x, np.array([5, 0, 0]), 0)
    negative = reference.reverse_sequence(x, np.array([-1, 0, 0]), 0)
    # ReverseSequence's lengths must be within [0, T]; here both agree.
    text = refusal(lambda: rt.reverse_sequence(x, np.array([5, 0, 0]), 0)) or ""
    check("onnxruntime: refuses length 5 of 4", "[0,4]" in text, text)
    return [
        ("openvino", "Reverse i64 2**53+1", "keeps the low 32 bits", narrows(np.int64, 2**53 + 1)),
        ("openvino", "Reverse u64 2**63", "keeps the low 32 bits", narrows(np.uint64, 2**63)),
        ("openvino", "Reverse f64 0.1", "rounds to f32", narrows(np.float64, 0.1)),
        ("openvino", "ReverseSequence i32 16777217", "rounds to f32", through_f32()),
        ("onnxruntime", "ReverseSequence complex64", "refuses it", refuses(TensorProto.COMPLEX64)),
        ("onnx reference", "length 5 of 4", "clamps it", np.array_equal(over[:, 0], x[::-1, 0])),
        ("onnx reference", "length -1", "reads it as n-1", negative[0, 0] == x[2, 0]),
    ]


def report_known_wrong():
    for peer, call, does, still in known_wrong():
        print(f"known wrong: {peer}: {call}: {does if still else 'NOW RIGHT, update this table'}")


# --- The type table ----------------------------------------------------------------------


def check_types(path):
    for line in Path(path).read_text().splitlines():
        row = json.loads(line)
        if row["onnx"]:
            code, name = row["onnx"]
            check("types: onnx", TensorProto.DataType.Name(code) == name, row)
        if row["openvino"]:
            kind = getattr(ov.Type, row["openvino"])
            same = kind.get_type_name() == row["openvino"]
            same &= row["bits"] is None or kind.get_bitwidth() == row["bits"]
            check("types: openvino", same, row)
        if row["numpy"] and row["numpy"] != "object":
            dtype = numpy_type(row["numpy"])
            check("types: numpy", dtype.itemsize * 8 == max(row["bits"], 8), row)
            if row["safetensors"] and row["bits"] >= 8:
                check("types: safetensors", safetensors_name(dtype) == row["safetensors"], row)


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def safetensors_name(dtype):
    blob = safetensors_save({"x": np.zeros(4, dtype)})
    header = blob[8 : 8 + int.from_bytes(blob[:8], "little")]
    return json.loads(header)["x"]["dtype"]


def check_packing():
    """The order of packed elements within a byte, in ONNX and in OpenVINO."""
    low = helper.make_tensor("x", TensorProto.UINT4, [3], np.array([1, 2, 3]))
    check("packing: onnx", onnx.numpy_helper.to_array(low).tolist() == [1, 2, 3], "u4")
    cases = [
        ("u1", [0xB1, 0x40], [1, 0, 1, 1, 0, 0, 0, 1, 0, 1]),
        ("u2", [0xE4, 0x01], [0, 1, 2, 3, 1]),
        ("u4", [0x21, 0x43, 0x05], [1, 2, 3, 4, 5]),
    ]
    for name, packed, values in cases:
        kind = getattr(ov.Type, name)
        tensor = ov.Tensor(np.array(packed, np.uint8), ov.Shape([len(values)]), kind)
        constant = ov.op.Constant(tensor)
        check("packing: openvino", [int(v) for v in constant.get_value_strings()] == values, name)


def main():
    calls, types = sys.argv[1:]
    check_oracle(calls)
    check_types(types)
    check_packing()
    report_known_wrong()
    return summary("peers")


if __name__ == "__main__":
    sys.exit(main())
