"""Models for models.py that must be refused: invalid graphs, and hostile files."""

import os
import tempfile

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper

from modelling import Folder, check, info, model_of, sequence, tensor_of, text, varint, write
from models_openvino import reverse_node, serialize


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
        both = ["--input", "x=x.npy", "--input", "lens=lens.npy", "-d", "out"]

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
            ("length", "lengths[0] is 5, outside [0, 4]", "-i", "x=x.npy", "-i", "lens=long.npy", "-d", "out"),
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
        for opset in (6, 29, -1):
            model = model_of([sequence()], [x_info, lens_info], [y_info], opset)
            refused(f"opset {opset}", f"its opset is {opset}, expected 7 to 28", model)
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
        for value, kind in [(1.0, "FLOAT"), ("1", "STRING"), ([1], "INTS")]:
            odd = helper.make_node("ReverseSequence", ["x", "lens"], ["y"], "n", time_axis=value, batch_axis=1)
            refused(f"attribute of {kind}", f'attribute "time_axis" is {kind}, expected INT', model_of([odd], [x_info, lens_info], [y_info]), [])
        odd = sequence()
        odd.attribute[0].ref_attr_name = "outer"
        refused("reference", 'is a reference to "outer"', model_of([odd], [x_info, lens_info], [y_info]), [])
        sparse = helper.make_sparse_tensor(helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0]), helper.make_tensor("i", TensorProto.INT64, [1], [0]), [4])
        odd = node("Constant", [], ["lens"], "c", sparse_value=sparse)
        odd.attribute[0].name = "value"
        refused("sparse value", 'attribute "value" is SPARSE_TENSOR, expected TENSOR', model_of([odd, sequence()], [x_info], [y_info]), [])
        wrong_lens = info("lens", TensorProto.INT32, ["B"])
        refused("lengths of int32", "lengths have type i32, expected i64", model_of([sequence()], [x_info, wrong_lens], [y_info]), [])
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
            folder.refused(what, text, "models/m.onnx", "-d", "out")
        # An empty axis makes the tensor empty, so it does not matter if the other sizes overflow.
        write(path, overflow)
        check("models: refused", folder.run("models/m.onnx").returncode in (0, 1), "overflow with an empty axis")
        write(path, external("w"))
        folder.expect("onnx: external data", "next to the model", "models/m.onnx", "-d", "out")

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
        path.write_bytes(b"\x08\x08\x42\x02\x10\x0a\x3a" + varint(len(graph)) + graph)
        folder.refused("empty nodes", "it has 2097152 nodes, more than the 1048576", "models/m.onnx")
        # A length that claims four gigabytes.
        path.write_bytes(b"\x08\x08\x3a\xff\xff\xff\xff\x0f\x0a\x00")
        folder.refused("long graph", "not an ONNX model", "models/m.onnx")
        # Nested messages: parsed only as deep as needed.
        deep = b""
        for _ in range(200):
            body = b"\x32" + varint(len(deep)) + deep
            deep = b"\x0a" + varint(len(body) + 2) + b"\x2a" + varint(len(body)) + body
        path.write_bytes(b"\x08\x08\x42\x02\x10\x0a\x3a" + varint(len(deep)) + deep)
        folder.refused("deep", "", "models/m.onnx")
    outside.close()


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
            folder.refused(what, text, "m.xml", "-i", "x.npy", "-d", "out")
        (folder / "m.xml").write_text(good)
        (folder / "m.bin").unlink()
        folder.refused("no weights", "cannot read it: No such file", "m.xml", "-i", "x.npy")
