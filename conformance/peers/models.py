"""Runs `retrograde run` on models and tensors that the official packages write, bit for bit.

usage: models.py RETROGRADE_BINARY [quick]

Expected results come from NumPy. Models come from `onnx` (including its own node tests of
ReverseSequence) and `openvino`. If OpenVINO's result differs from NumPy's, the run prints it.
Models with false contents are generated here too; each must give a one-line error, in bounded
memory, and no output.

With `quick` each type has two opsets instead of all, one of them in turn, and official cases come
from the operator's own file.
"""

import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper
from openvino.utils.node_factory import NodeFactory
from safetensors.numpy import load_file, save_file

PASSED, FAILED = Counter(), Counter()
OPSETS = range(10, 29)
RNG = np.random.default_rng(7)
# The most memory that a run may reserve; a hostile file must not exceed it.
MOST_MEMORY = 1 << 30

# The types of ReverseSequence; bfloat16 was added in opset 28.
SEQUENCE_TYPES = """UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FLOAT16 FLOAT DOUBLE STRING
    BOOL COMPLEX64 COMPLEX128 BFLOAT16""".split()
# Those and every other type that both TensorProto and the engine support.
ALL_TYPES = SEQUENCE_TYPES + """FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ FLOAT8E8M0
    UINT4 INT4 FLOAT4E2M1 UINT2 INT2""".split()


# Types that ml_dtypes stores one per byte.
PACKED = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


def check(group, ok, what):
    (PASSED if ok else FAILED)[group] += 1
    if not ok and FAILED[group] <= 5:
        print(f"FAILED {group}: {str(what)[:800]}")


class Folder:
    """A temporary folder, and the command run in it."""

    def __init__(self, binary):
        self.binary = binary

    def __enter__(self):
        self.held = tempfile.TemporaryDirectory()
        self.path = Path(self.held.name)
        return self

    def __exit__(self, *_):
        self.held.cleanup()

    def __truediv__(self, name):
        return self.path / name

    def run(self, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

        command = [self.binary, "run", *map(str, arguments)]
        env = {**os.environ, "NO_COLOR": "1", "RAYON_NUM_THREADS": "2"}
        return subprocess.run(
            command, cwd=self.path, capture_output=True, text=True, preexec_fn=limit, env=env
        )

    def expect(self, group, what, *arguments):
        """A run that must succeed."""
        done = self.run(*arguments)
        check(group, done.returncode == 0, (what, done.stderr.strip()))
        return done.returncode == 0

    def refused(self, what, text, *arguments):
        """A run that must fail with one line that contains this text, and write nothing."""
        before = sorted(self.path.rglob("*"))
        done = self.run(*arguments)
        lines = done.stderr.splitlines()
        ok = done.returncode == 1 and len(lines) == 1 and text in lines[0]
        ok &= lines[:1] != [] and lines[0].startswith("error: ") and len(lines[0]) < 20_000
        check("models: refused", ok, (what, done.returncode, done.stderr[:500]))
        check("models: nothing left behind", sorted(self.path.rglob("*")) == before, what)


# --- Expected ----------------------------------------------------------------------------


def reverse_sequence(x, lens, time, batch):
    y = x.copy()
    for entry, length in enumerate(lens):
        at = [slice(None)] * x.ndim
        at[batch], at[time] = entry, slice(0, length)
        to = tuple(at)
        axis = (time if time < batch else time - 1) % (x.ndim - 1)
        y[to] = np.flip(x[to], axis)
    return y


def same(a, b):
    if a.dtype == b.dtype and a.dtype.name in PACKED:
        # Only the low bits of a byte are the element; the others are not always a sign extension.
        mask = (1 << PACKED[a.dtype.name]) - 1
        return a.shape == b.shape and np.array_equal(a.view(np.uint8) & mask, b.view(np.uint8) & mask)
    if a.dtype.kind in "OUT" or b.dtype.kind in "OUT":
        return a.shape == b.shape and list(map(text, a.flat)) == list(map(text, b.flat))
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def text(cell):
    return cell.decode() if isinstance(cell, bytes) else str(cell)


def draw(name, shape, quiet=False):
    """A random array of an ONNX type, with every bit pattern that is valid.

    Typed fields go through Python's floats, which make signalling NaNs quiet: `quiet` does that in
    advance.
    """
    count = int(np.prod(shape))
    if name == "STRING":
        words = ["", "a", "größe", "\U0001f980", "two words", "x" * 40]
        return np.array([words[at] for at in RNG.integers(0, len(words), count)], object).reshape(shape)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name)))
    raw = RNG.integers(0, 256, count * dtype.itemsize, np.uint8)
    if name == "BOOL":
        raw &= 1
    if quiet and name in ("FLOAT", "COMPLEX64"):
        raw.view(np.uint32)[np.isnan(raw.view(np.float32))] |= 1 << 22
    if bits(name) < 8:
        raw &= (1 << bits(name)) - 1
        if name.startswith("INT"):
            sign = 1 << (bits(name) - 1)
            raw = ((raw.astype(np.int16) ^ sign) - sign).astype(np.int8).view(np.uint8)
    return raw.view(dtype).reshape(shape)


def bits(name):
    return {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2}.get(name, 8)


# --- ONNX --------------------------------------------------------------------------------


def model_of(nodes, inputs, outputs, opset=10, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def info(name, kind, dims):
    return helper.make_tensor_value_info(name, kind, dims)


def sequence(time=0, inputs=("x", "lens"), outputs=("y",), name="reverse"):
    return helper.make_node(
        "ReverseSequence", list(inputs), list(outputs), name, time_axis=time, batch_axis=1 - time
    )


def sequence_model(kind, opset=10, dims=("A", "B", "C"), time=0):
    lens = info("lens", TensorProto.INT64, [dims[1 - time]])
    return model_of([sequence(time)], [info("x", kind, dims), lens], [info("y", kind, dims)], opset)


def tensor_of(name, x):
    if x.dtype == object:
        return helper.make_tensor(name, TensorProto.STRING, x.shape, [text(v).encode() for v in x.flat])
    return numpy_helper.from_array(x, name)


def typed(name, kind, x):
    """A TensorProto whose elements are in a typed field."""
    if kind == "STRING":
        return tensor_of(name, x)
    proto = TensorProto(name=name, data_type=getattr(TensorProto, kind), dims=x.shape)
    if kind in ("FLOAT", "COMPLEX64"):
        proto.float_data.extend(np.ascontiguousarray(x).view(np.float32).ravel())
    elif kind in ("DOUBLE", "COMPLEX128"):
        proto.double_data.extend(np.ascontiguousarray(x).view(np.float64).ravel())
    elif kind == "INT64":
        proto.int64_data.extend(x.ravel().tolist())
    elif kind in ("UINT32", "UINT64"):
        proto.uint64_data.extend(x.ravel().tolist())
    elif bits(kind) < 8:
        proto.int32_data.extend(numpy_helper.from_array(x).raw_data)
    elif kind in ("INT8", "INT16", "INT32", "BOOL"):
        proto.int32_data.extend(x.ravel().astype(np.int64).tolist())
    else:
        proto.int32_data.extend(x.view(f"u{x.dtype.itemsize}").ravel().tolist())
    return proto


def write(path, proto):
    path.write_bytes(proto.SerializeToString())
    return path


def load(path):
    """The command's output, read by the official library of its format."""
    if path.suffix == ".pb":
        return numpy_helper.to_array(onnx.load_tensor(str(path)))
    return np.load(path, allow_pickle=False)


def result_is(group, what, path, expected):
    if not path.exists():
        check(group, False, (what, "no output"))
        return
    found = load(path)
    if path.suffix == ".npy" and found.dtype.kind == "V":
        found = found.view(expected.dtype)  # NumPy reads an extension type as raw bytes
    check(group, same(found, expected), (what, found, expected))


def official_cases(binary, quick):
    from onnx.backend.test.case import node

    if quick:  # one file of cases instead of all operators', which take seconds
        node.import_recursive = lambda package: importlib.import_module(f"{package.__name__}.reversesequence")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in node.collect_testcases("ReverseSequence") if case.model]
    names = sorted(case.name for case in cases)
    check("onnx: official cases", {"test_reversesequence_time", "test_reversesequence_batch"} <= set(names), names)
    for case in cases:
        for number, (inputs, outputs) in enumerate(case.data_sets):
            with Folder(binary) as folder:
                write(folder / "model.onnx", case.model)
                arguments = []
                for proto, x in zip(case.model.graph.input, inputs):
                    path = write(folder / f"{proto.name}.pb", tensor_of(proto.name, np.asarray(x)))
                    arguments += ["--input", f"{proto.name}={path}"]
                folder.expect("onnx: official cases", case.name, "model.onnx", *arguments, "-o", "out")
                for proto, y in zip(case.model.graph.output, outputs):
                    what = f"{case.name} {number}"
                    result_is("onnx: official cases", what, folder / f"out/{proto.name}.npy", np.asarray(y))
    print(f"official cases: {', '.join(names)}")


def every_type_and_opset(binary, quick):
    for opset in OPSETS:
        for turn, name in enumerate(SEQUENCE_TYPES):
            if name == "BFLOAT16" and opset < 28:
                continue
            # The last opset, which has one type more, is always there.
            if quick and opset not in (OPSETS[turn % len(OPSETS)], OPSETS[-1]):
                continue
            kind, time = getattr(TensorProto, name), opset % 2
            x = draw(name, (4, 3, 5), quiet=opset % 3 == 1)
            lens = RNG.integers(0, x.shape[time] + 1, x.shape[1 - time])
            expected = reverse_sequence(x, lens, time, 1 - time)
            what = f"{name} opset {opset}"
            with Folder(binary) as folder:
                write(folder / "m.onnx", sequence_model(kind, opset, time=time))
                np.save(folder / "lens.npy", lens)
                if opset % 3 == 0 and name != "STRING":
                    np.save(folder / "x.npy", np.asfortranarray(x) if opset % 2 else x)
                    given = "x.npy"
                elif opset % 3 == 1:
                    given = write(folder / "x.pb", typed("x", name, x))
                else:
                    given = write(folder / "x.pb", tensor_of("x", x))
                target = "y.pb" if opset % 2 else "y.npy"
                if folder.expect(
                    "onnx: every type and opset", what, "m.onnx", "--input", f"x={given}",
                    "--input", "lens=lens.npy", "--output", target,
                ):  # fmt: skip
                    result_is("onnx: every type and opset", what, folder / target, expected)


def tensor_protos(binary):
    """Every type through an Identity: reads what onnx writes, and writes the same as onnx."""
    for name in ALL_TYPES:
        kind = getattr(TensorProto, name)
        for shape in [(3, 5), (), (0, 4), (7,)]:
            x = draw(name, shape, quiet=True)
            model = model_of(
                [helper.make_node("Identity", ["x"], ["y"])], [info("x", kind, None)], [info("y", kind, shape)]
            )
            for how, proto in [("raw", tensor_of("y", x)), ("typed", typed("y", name, x))]:
                what = f"{name} {shape} {how}"
                with Folder(binary) as folder:
                    write(folder / "m.onnx", model)
                    write(folder / "x.pb", proto)
                    if not folder.expect("onnx: tensors", what, "m.onnx", "-i", "x.pb", "--output", "y.pb"):
                        continue
                    result_is("onnx: tensors", what, folder / "y.pb", x)
                    official = tensor_of("y", x).SerializeToString(deterministic=True)
                    wrote = (folder / "y.pb").read_bytes()
                    check("onnx: tensors as onnx writes them", wrote == official, (what, wrote, official))


def formats(binary):
    """Inputs and outputs in every format, and the output of `info`."""
    x, lens = RNG.standard_normal((4, 3, 5), np.float32), np.array([4, 0, 2])
    expected = reverse_sequence(x, lens, 0, 1)
    dims = ["T", 3, 5]
    model = model_of(
        [sequence()], [info("x", TensorProto.FLOAT, dims), info("lens", TensorProto.INT64, [3])],
        [info("y", TensorProto.FLOAT, dims)],
    )  # fmt: skip
    with Folder(binary) as folder:
        write(folder / "m.onnx", model)
        np.save(folder / "x.npy", x)
        np.savez_compressed(folder / "x.npz", other=lens, x=x)
        save_file({"x": x, "other": lens}, str(folder / "x.safetensors"))
        write(folder / "x.pb", tensor_of("x", x))
        (folder / "x.raw").write_bytes(x.tobytes())
        (folder / "lens.raw").write_bytes(lens.tobytes())
        for given in ["x.npy", "x.npz:x", "x.safetensors:x", "x.pb", "x.raw"]:
            for target in ["y.npy", "y.npz", "y.safetensors", "y.pb", "y.raw"]:
                (folder / target).unlink(missing_ok=True)
                arguments = ["-i", f"x={given}", "-i", "lens=lens.raw", "--output", target]
                if not folder.expect("onnx: formats", (given, target), "m.onnx", *arguments):
                    continue
                if target == "y.npz":
                    found = np.load(folder / target)["y"]
                elif target == "y.safetensors":
                    found = load_file(str(folder / target))["y"]
                elif target == "y.raw":
                    found = np.fromfile(folder / target, np.float32).reshape(x.shape)
                else:
                    found = load(folder / target)
                check("onnx: formats", same(found, expected), (given, target))
        done = subprocess.run([binary, "info", folder / "m.onnx", "--json"], capture_output=True, text=True)
        record = json.loads(done.stdout)
        first = record["inputs"][0]
        ok = [port["names"] for port in record["inputs"]] == [["x"], ["lens"]]
        ok &= (first["dtype"], first["shape"]) == ("f32", dims) and record["outputs"][0]["names"] == ["y"]
        ok &= record["nodes"] == [{"name": "reverse", "kind": "ReverseSequence", "runs": True}]
        ok &= (record["ir_version"], record["opsets"]) == (8, [{"domain": "", "version": 10}]) and record["cannot_run"] is None
        check("onnx: info", ok, record)
        # `info` lists models that cannot be run: official operators of two domains, a sequence
        # among the outputs.
        nodes = [
            helper.make_node("Relu", ["x"], ["r"], "rectify"),
            helper.make_node("Scaler", ["r"], ["s"], "scale", domain="ai.onnx.ml"),
            helper.make_node("SequenceConstruct", ["s"], ["y"], "list"),
        ]
        outputs = [info("r", TensorProto.FLOAT, ["T"]), helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)]
        graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, ["T"])], outputs)
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 3)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), folder / "foreign.onnx")
        done = subprocess.run([binary, "info", folder / "foreign.onnx", "--json"], capture_output=True, text=True)
        record = json.loads(done.stdout) if done.returncode == 0 else {}
        names = [(node["name"], node["kind"], node["runs"]) for node in record.get("nodes", [])]
        expected = [("rectify", "Relu", False), ("scale", "ai.onnx.ml.Scaler", False), ("list", "SequenceConstruct", False)]
        ok = names == expected and [port["names"] for port in record["outputs"]] == [["r"], ["y"]]
        ok = ok and (record["ir_version"], [own["version"] for own in record["opsets"]]) == (7, [13, 3])
        check("onnx: info", ok and "rectify (Relu)" in record["cannot_run"], (done.stdout, done.stderr))


def data_carriers(binary):
    """Constants, identities, initializers, defaults, external data."""
    x = RNG.standard_normal((4, 3), np.float32)
    lens = np.array([4, 0, 2])
    expected = reverse_sequence(x, lens, 0, 1)
    x_info, y_info = info("x", TensorProto.FLOAT, ["T", "B"]), info("y", TensorProto.FLOAT, ["T", "B"])
    constant = helper.make_node("Constant", [], ["lens"], value=numpy_helper.from_array(lens))
    ints = helper.make_node("Constant", [], ["lens"], value_ints=[4, 0, 2])
    chain = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Identity", ["a"], ["b"])]
    initial = numpy_helper.from_array(lens, "lens")
    lens_info = info("lens", TensorProto.INT64, ["B"])
    models = {
        "constant": model_of([constant, sequence()], [x_info], [y_info]),
        "value_ints": model_of([ints, sequence()], [x_info], [y_info], 13),
        "identities": model_of([constant, *chain, sequence(inputs=("b", "lens"))], [x_info], [y_info]),
        "out of order": model_of([sequence(inputs=("b", "lens")), *chain[::-1], constant], [x_info], [y_info]),
        "initializer": model_of([sequence()], [x_info], [y_info], initializer=[initial]),
        "default": model_of([sequence()], [x_info, lens_info], [y_info], initializer=[initial]),
        "declared": model_of(
            [constant, *chain, sequence(inputs=("b", "lens"))], [x_info], [y_info],
            value_info=[info("a", TensorProto.FLOAT, ["T", 3]), info("b", TensorProto.FLOAT, None)],
        ),
    }  # fmt: skip
    for what, model in models.items():
        onnx.checker.check_model(model) if what != "out of order" else None
        with Folder(binary) as folder:
            write(folder / "m.onnx", model)
            np.save(folder / "x.npy", x)
            if folder.expect("onnx: carriers", what, "m.onnx", "--input", "x=x.npy", "-o", "."):
                result_is("onnx: carriers", what, folder / "y.npy", expected)
    with Folder(binary) as folder:
        write(folder / "m.onnx", models["default"])
        np.save(folder / "x.npy", x)
        np.save(folder / "lens.npy", np.array([1, 2, 3]))
        folder.expect("onnx: carriers", "override", "m.onnx", "-i", "x=x.npy", "-i", "lens=lens.npy", "-o", ".")
        result_is("onnx: carriers", "override", folder / "y.npy", reverse_sequence(x, [1, 2, 3], 0, 1))
    external_data(binary, x, lens, expected, y_info)


def external_data(binary, x, lens, expected, y_info):
    for one_file in (True, False):
        for size in (1, 3000):
            big = np.tile(x, (1, 1)) if size == 1 else RNG.standard_normal((4, size), np.float32)
            counts = lens if size == 1 else RNG.integers(0, 5, size)
            model = model_of(
                [sequence()], [], [y_info],
                initializer=[numpy_helper.from_array(big, "x"), numpy_helper.from_array(counts, "lens")],
            )  # fmt: skip
            with Folder(binary) as folder:
                (folder / "deep").mkdir()
                onnx.save_model(
                    model, str(folder / "deep/m.onnx"), save_as_external_data=True,
                    all_tensors_to_one_file=one_file, location="weights.data" if one_file else None,
                    size_threshold=0, convert_attribute=True,
                )  # fmt: skip
                what = f"external data, one file: {one_file}, {size}"
                if folder.expect("onnx: external data", what, "deep/m.onnx", "--output", "y.npy"):
                    wanted = expected if size == 1 else reverse_sequence(big, counts, 0, 1)
                    result_is("onnx: external data", what, folder / "y.npy", wanted)


# --- OpenVINO ----------------------------------------------------------------------------


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
        if folder.expect("openvino: strings", "Reverse string", "m.xml", "-o", "out"):
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
                        "openvino: models", what, "m.xml", "-i", "data=x.npy", "-i", "lens=lens.npy", "-o", "out"
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


# --- What must be refused ----------------------------------------------------------------


def refusals(binary):
    x_info, lens_info = info("x", TensorProto.FLOAT, ["T", "B"]), info("lens", TensorProto.INT64, ["B"])
    y_info = info("y", TensorProto.FLOAT, ["T", "B"])
    x, lens = np.zeros((4, 3), np.float32), np.array([4, 0, 2])
    with Folder(binary) as folder:
        np.save(folder / "x.npy", x)
        np.save(folder / "lens.npy", lens)
        np.save(folder / "long.npy", np.array([5, 0, 2]))
        np.save(folder / "four.npy", np.array([1, 0, 2, 3]))
        np.save(folder / "ints.npy", x.astype(np.int32))
        write(folder / "x.pb", tensor_of("x", x))
        both = ["--input", "x=x.npy", "--input", "lens=lens.npy", "-o", "out"]

        def refused(what, text, model, arguments=both):
            write(folder / "m.onnx", model) if not isinstance(model, bytes) else (folder / "m.onnx").write_bytes(model)
            folder.refused(what, text, "m.onnx", *arguments)

        good = model_of([sequence()], [x_info, lens_info], [y_info])
        write(folder / "good.onnx", good)
        assert folder.run("good.onnx", *both[:-2]).returncode == 0
        for what, text, *arguments in [
            ("no lens", 'm.onnx: input "lens" is missing (i64 [B]): give it with --input lens=FILE', "-i", "x=x.npy"),
            ("unknown", 'there is no input "z", expected "x" or "lens"', *both, "-i", "z=x.npy"),
            ("twice", 'input "x" is given twice', *both, "-i", "x=x.npy"),
            ("no name", "--input x.npy: the model has 2 inputs", "-i", "x.npy"),
            ("type", 'input "x": has type i32, expected f32 [T, B]', "-i", "x=ints.npy", "-i", "lens=lens.npy"),
            ("named size", "but B is already 3", "-i", "x=x.npy", "-i", "lens=four.npy"),
            ("length", "lengths[0] is 5, outside [0, 4]", "-i", "x=x.npy", "-i", "lens=long.npy", "-o", "out"),
            ("output", 'there is no output "q", expected "y"', *both[:-2], "--output", "q=q.npy"),
            ("format", "expected a name that ends in", *both[:-2], "--output", "y.txt"),
            ("both", "exclude each other", *both, "--output", "y.npy"),
            ("no file", "cannot read none.npy: No such file", "-i", "x=none.npy"),
        ]:
            refused(what, text, good, arguments)
        folder.refused("no model", "cannot read none.onnx: No such file", "none.onnx")
        folder.refused("a folder", "cannot read .: ", ".")
        folder.refused("no model", "not an ONNX model", "x.npy")
        folder.refused("a tensor", "not an ONNX model", "x.pb")

        node = helper.make_node
        foreign = [sequence(outputs=("a",)), node("Sin", ["a"], ["b"], "wave"), node("Odd", ["b"], ["y"], "", domain="my.own")]
        text = "it has nodes that retrograde cannot run: wave (Sin), a node without a name (my.own.Odd)"
        refused("foreign", text, model_of(foreign, [x_info, lens_info], [y_info]))
        shadow = model_of([sequence()], [x_info, lens_info], [y_info])
        shadow.functions.append(onnx.FunctionProto(name="ReverseSequence", domain=""))
        refused("a function of that name", "cannot run: reverse (ReverseSequence)", shadow)
        for opset in (9, 29, -1):
            model = model_of([sequence()], [x_info, lens_info], [y_info], opset)
            refused(f"opset {opset}", f"its opset is {opset}, expected 10 to 28", model)
        no_opset = model_of([sequence()], [x_info, lens_info], [y_info])
        del no_opset.opset_import[:]
        refused("no opset", "its opset is missing", no_opset)
        for kind, opset in [("BFLOAT16", 27), ("FLOAT8E5M2", 28)]:
            z = info("x", getattr(TensorProto, kind), None)
            model = model_of([sequence()], [z, lens_info], [info("y", getattr(TensorProto, kind), None)], opset)
            np.save(folder / "v.npy", np.zeros((4, 3), helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind))))
            refused(kind, f"opset {opset}", model, ["-i", "x=v.npy", "-i", "lens=lens.npy"])
        odd = sequence()
        odd.attribute.append(helper.make_attribute("color", 3))
        refused("attribute", 'attribute "color"', model_of([odd], [x_info, lens_info], [y_info]))
        refused("axes", "time_axis and batch_axis are both 0", model_of(
            [node("ReverseSequence", ["x", "lens"], ["y"], "n", time_axis=0, batch_axis=0)], [x_info, lens_info], [y_info]))  # fmt: skip
        refused("axis 2", "time_axis is 2, expected 0 or 1", model_of(
            [node("ReverseSequence", ["x", "lens"], ["y"], "n", time_axis=2)], [x_info, lens_info], [y_info]))  # fmt: skip
        refused("declared", 'value "a": has shape [4, 3]', model_of(
            [sequence(outputs=("a",)), node("Identity", ["a"], ["y"])], [x_info, lens_info], [y_info],
            value_info=[info("a", TensorProto.FLOAT, [4, 9])]))  # fmt: skip
        refused("declared type", 'output "y": has type f32, expected f64', model_of(
            [sequence()], [x_info, lens_info], [info("y", TensorProto.DOUBLE, None)]))  # fmt: skip
        cycle = [node("Identity", ["b"], ["a"], "one"), node("Identity", ["a"], ["b"], "two"), sequence()]
        refused("cycle", "its nodes form a cycle", model_of(cycle, [x_info, lens_info], [y_info]))
        refused("self", "its nodes form a cycle", model_of([node("Identity", ["y"], ["y"], "s")], [], [y_info]))
        refused("missing", 'reads "nowhere", which nothing produces', model_of([sequence(inputs=("x", "nowhere"))], [x_info], [y_info]))
        refused("twice", 'value "y" is produced twice', model_of([sequence(), sequence()], [x_info, lens_info], [y_info]))
        refused("no output", 'the list of outputs reads "q"', model_of([sequence()], [x_info, lens_info], [y_info, info("q", 1, None)]))

    hostile_onnx(binary)
    hostile_ir(binary)


def hostile_onnx(binary):
    y_info = info("y", TensorProto.FLOAT, None)

    def with_tensor(tensor):
        tensor.name = "x"
        return model_of([helper.make_node("Identity", ["x"], ["y"])], [], [y_info], initializer=[tensor])

    def external(location, offset=None, length=None, dims=(2,)):
        tensor = TensorProto(data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        for key, value in [("location", location), ("offset", offset), ("length", length)]:
            if value is not None:
                tensor.external_data.add(key=key, value=str(value))
        return with_tensor(tensor)

    outside = tempfile.NamedTemporaryFile(suffix=".data")
    outside.write(b"secretly")
    outside.flush()
    with Folder(binary) as folder:
        (folder / "models").mkdir()
        (folder / "secret").write_bytes(b"secretly")
        (folder / "models/w").write_bytes(b"01234567")
        (folder / "models/link").symlink_to(folder / "secret")
        (folder / "models/up").symlink_to(folder.path)
        os.mkfifo(folder / "models/pipe")
        path = folder / "models/m.onnx"
        big = with_tensor(TensorProto(data_type=TensorProto.FLOAT, dims=[1 << 40], raw_data=b"1234"))
        overflow = with_tensor(TensorProto(data_type=TensorProto.FLOAT, dims=[1 << 62, 1 << 62, 0, 1 << 62]))
        lying = with_tensor(TensorProto(data_type=TensorProto.FLOAT, dims=[4], float_data=[1.0]))
        negative = with_tensor(TensorProto(data_type=TensorProto.FLOAT, dims=[-4], float_data=[1.0]))
        strings = with_tensor(TensorProto(data_type=TensorProto.STRING, dims=[1 << 50]))
        cases = [
            ("up", "it contains `..`", external("../secret")),
            ("absolute", "it is an absolute path", external(outside.name)),
            ("device", "it is an absolute path", external("/dev/zero")),
            ("link", "a symbolic link leads out", external("link")),
            ("linked folder", "a symbolic link leads out", external("up/secret")),
            ("no name", "no file is named", external("")),
            ("no location", "location is \"\"", external(None)),
            ("none", "cannot read it: No such file", external("none")),
            ("folder", "cannot read it", external(".")),
            ("pipe", "it is not a regular file", external("pipe")),
            ("offset", "bytes 4 to 4 + 8 are needed but the file has 8 bytes", external("w", 4)),
            ("huge offset", "are needed but the file has 8 bytes", external("w", (1 << 64) - 1)),
            ("length", "length is 9 but shape [2] of f32 takes 8 bytes", external("w", 0, 9)),
            ("negative", "offset is \"-1\", expected a number of bytes", external("w", -1)),
            ("claims", "are needed but the file has 8 bytes", external("w", 0, 1 << 42, (1 << 40,))),
            ("claims raw", "takes 4398046511104 bytes but the buffer has 4", big),
            ("claims typed", "takes 4 entries of float_data but there are 1", lying),
            ("negative size", "axis 0 has the negative size -4", negative),
            ("claims strings", "takes 1125899906842624 entries", strings),
        ]
        for what, text, model in cases:
            write(path, model)
            folder.refused(what, text, "models/m.onnx", "-o", "out")
        # An empty axis makes the tensor empty, so it does not matter if the other sizes overflow.
        write(path, overflow)
        check("models: refused", folder.run("models/m.onnx").returncode in (0, 1), "overflow with an empty axis")
        write(path, external("w"))
        folder.expect("onnx: external data", "next to the model", "models/m.onnx", "-o", "out")

        good = external("w").SerializeToString()
        for cut in range(0, len(good), 7):
            path.write_bytes(good[:cut])
            done = folder.run("models/m.onnx")
            ok = done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
            check("models: cut short", ok, (cut, done.returncode, done.stderr))
        for seed in range(60):
            noise = np.random.default_rng(seed)
            data = bytearray(good)
            for _ in range(1 + seed % 5):
                data[noise.integers(len(data))] = noise.integers(256)
            path.write_bytes(data)
            done = folder.run("models/m.onnx")
            ok = done.returncode in (0, 1) and done.stderr.count("\n") <= 1
            check("models: noise", ok, (seed, done.returncode, done.stderr))
        # Two million empty nodes in four megabytes.
        graph = b"\x0a\x00" * (2 << 20)
        length = len(graph)
        varint = bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14 & 127 | 128, length >> 21])
        path.write_bytes(b"\x08\x08\x42\x02\x10\x0a\x3a" + varint + graph)
        folder.refused("empty nodes", "it has 2097152 nodes, more than the 1048576", "models/m.onnx")
        # A length that claims four gigabytes.
        path.write_bytes(b"\x08\x08\x3a\xff\xff\xff\xff\x0f\x0a\x00")
        folder.refused("long graph", "not an ONNX model", "models/m.onnx")
        # Nested messages: parsed only as deep as needed.
        deep = b""
        for _ in range(200):
            body = b"\x32" + encoded(len(deep)) + deep
            deep = b"\x0a" + encoded(len(body) + 2) + b"\x2a" + encoded(len(body)) + body
        path.write_bytes(b"\x08\x08\x42\x02\x10\x0a\x3a" + encoded(len(deep)) + deep)
        folder.refused("deep", "", "models/m.onnx")
    outside.close()


def encoded(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def hostile_ir(binary):
    data = ov.opset10.parameter([2, 3], np.float32, name="x")
    axes = ov.op.Constant(np.array([1]))
    node = reverse_node(data, axes, "index")
    model = ov.Model([ov.opset10.result(node)], [data], "m")
    with Folder(binary) as folder:
        serialize(model, folder)
        np.save(folder / "x.npy", np.zeros((2, 3), np.float32))
        good = (folder / "m.xml").read_text()
        assert folder.run("m.xml", "-i", "x.npy").returncode == 0
        np.save(folder / "z.npy", np.zeros((2, 4), np.float32))
        folder.refused("shape", 'input "x": has shape [2, 4], expected f32 [2, 3]', "m.xml", "-i", "z.npy")
        sin = ov.Model([ov.opset10.result(ov.opset10.sin(node, name="wave"))], [data], "m")
        ov.serialize(sin, str(folder / "sin.xml"), str(folder / "sin.bin"))
        folder.refused("foreign", "cannot run: wave (Sin)", "sin.xml", "-i", "x.npy")
        for what, text, change in [
            ("version", 'its version is "12", expected 10 or 11', lambda s: s.replace('version="11"', 'version="12"')),
            ("offset", "are needed but the file has 8 bytes", lambda s: s.replace('offset="0"', 'offset="1"')),
            ("size", "are needed but the file has 8 bytes", lambda s: s.replace('size="8"', 'size="99999999999"')),
            ("short", "takes 8 bytes but the buffer has 7", lambda s: s.replace('size="8"', 'size="7"')),
            ("shape", "takes 8796093022208 bytes", lambda s: s.replace('element_type="i64" shape="1"', 'element_type="i64" shape="1099511627776"')),
            ("overflow", "needs more than", lambda s: s.replace('element_type="i64" shape="1"', 'element_type="i64" shape="9999999999,9999999999"')),
            ("type", 'attribute "element_type" is "u3"', lambda s: s.replace('element_type="f32"', 'element_type="u3"')),
            ("mode", 'mode "both" does not exist', lambda s: s.replace('mode="index"', 'mode="both"')),
            ("no edge", "no edge leads to its port", lambda s: s.replace('to-port="1"', 'to-port="7"')),
            ("id", "two layers have the id", lambda s: s.replace('layer id="1"', 'layer id="0"')),
            ("cycle", "its nodes form a cycle", lambda s: s.replace('from-layer="0" from-port="0" to-layer="2"', 'from-layer="2" from-port="2" to-layer="2"')),
            ("doctype", "it has a DOCTYPE", lambda s: s.replace("<net", '<!DOCTYPE net [<!ENTITY a "b">]><net', 1)),
            ("entity", "malformed", lambda s: s.replace('name="x"', 'name="&lol;"')),
            ("deep", "nested more than 100 deep", lambda s: s.replace("<layers>", "<layers>" + "<a>" * 200_000, 1)),
            ("cut", "the file is cut short", lambda s: s[: len(s) // 2].rsplit("<", 1)[0]),
            ("no xml", "not an OpenVINO IR", lambda s: "hello"),
            ("empty", "not an OpenVINO IR", lambda s: ""),
            ("edges", "more than 1048576 layers, ports and edges", lambda s: s.replace("<edges>", "<edges>" + "<edge/>" * (1 << 20) + "<edge/>", 1)),
        ]:  # fmt: skip
            changed = change(good)
            check("models: refused", changed != good, f"{what}: the case changes nothing")
            (folder / "m.xml").write_text(changed)
            folder.refused(what, text, "m.xml", "-i", "x.npy", "-o", "out")
        (folder / "m.xml").write_text(good)
        (folder / "m.bin").unlink()
        folder.refused("no weights", "cannot read it: No such file", "m.xml", "-i", "x.npy")


def main():
    quick = sys.argv[2:] == ["quick"]
    if len(sys.argv) != 2 + quick:
        sys.exit(__doc__)
    binary = str(Path(sys.argv[1]).resolve())
    official_cases(binary, quick)
    every_type_and_opset(binary, quick)
    tensor_protos(binary)
    formats(binary)
    data_carriers(binary)
    openvino_types(binary)
    openvino_strings(binary)
    openvino_models(binary)
    refusals(binary)
    for group in sorted(PASSED | FAILED):
        print(f"{group}: {PASSED[group]} agree, {FAILED[group]} differ")
    print(f"models: {PASSED.total()} passed, {FAILED.total()} failed")
    return 1 if FAILED.total() or not PASSED.total() else 0


if __name__ == "__main__":
    sys.exit(main())
