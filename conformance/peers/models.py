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
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file, save_file

from modelling import (
    Folder,
    RNG,
    check,
    deadline,
    draw,
    info,
    load,
    model_of,
    official,
    result_is,
    reverse_sequence,
    same,
    sequence,
    sequence_model,
    summary,
    tensor_of,
    typed,
    write,
)
from models_openvino import openvino_models, openvino_strings, openvino_types
from models_refused import refusals

OPSETS = range(10, 29)
# The types of ReverseSequence; bfloat16 was added in opset 28.
SEQUENCE_TYPES = """UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FLOAT16 FLOAT DOUBLE STRING
    BOOL COMPLEX64 COMPLEX128 BFLOAT16""".split()
# Those and every other type that both TensorProto and the engine support.
ALL_TYPES = SEQUENCE_TYPES + """FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ FLOAT8E8M0
    UINT4 INT4 FLOAT4E2M1 UINT2 INT2""".split()


def official_cases(binary, quick):
    from onnx.backend.test.case import node

    if quick:  # one file of cases instead of all operators', which take seconds
        node.import_recursive = lambda package: importlib.import_module(f"{package.__name__}.reversesequence")
    names = sorted({case.name for case in official(binary, lambda case: True, "ReverseSequence")})
    check("onnx: official cases", {"test_reversesequence_time", "test_reversesequence_batch"} <= set(names), names)
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
                    theirs = tensor_of("y", x).SerializeToString(deterministic=True)
                    wrote = (folder / "y.pb").read_bytes()
                    check("onnx: tensors as onnx writes them", wrote == theirs, (what, wrote, theirs))


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
        done = deadline.run([binary, "info", folder / "m.onnx", "--json"])
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
        done = deadline.run([binary, "info", folder / "foreign.onnx", "--json"])
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
            if folder.expect("onnx: carriers", what, "m.onnx", "--input", "x=x.npy", "-d", "."):
                result_is("onnx: carriers", what, folder / "y.npy", expected)
    with Folder(binary) as folder:
        write(folder / "m.onnx", models["default"])
        np.save(folder / "x.npy", x)
        np.save(folder / "lens.npy", np.array([1, 2, 3]))
        folder.expect("onnx: carriers", "override", "m.onnx", "-i", "x=x.npy", "-i", "lens=lens.npy", "-d", ".")
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
    return summary("models")


if __name__ == "__main__":
    sys.exit(main())
