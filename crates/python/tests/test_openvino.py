"""The extensions for OpenVINO: results are those of Retrograde in models that are not changed for it,
and OpenVINO's own where those are right. Tests say where they are not."""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import deadline
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ov = pytest.importorskip("openvino")

import openvino.opset13 as ops  # noqa: E402
import retrograde  # noqa: E402
import retrograde.openvino as extension  # noqa: E402
from naive import equal  # noqa: E402
from onnx import helper  # noqa: E402
from onnx_models import bidirectional, made, sequence_node, value  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402
from together import together  # noqa: E402

NATIVE = extension.library_path() is not None
not_built = pytest.mark.skipif(not NATIVE, reason="the native library was not built (scripts/build openvino)")
#: Both sets of operators: C++ and Python.
both = pytest.mark.parametrize(
    "native", [pytest.param(True, marks=not_built, id="native"), pytest.param(False, id="python")], indirect=True
)


@pytest.fixture
def native(request, monkeypatch):
    """Whether the operators are those of the native library; otherwise it is as if there were none."""
    if not request.param:
        monkeypatch.setattr(extension, "library_path", lambda: None)
    return request.param



#: Bits of every type that the CPU plugin takes as an input.
TYPES = {
    "boolean": 8, "u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64, "f16": 16,
    "bf16": 16, "f32": 32, "f64": 64, "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8, "u4": 4, "i4": 4, "f4e2m1": 4, "nf4": 4,
    "u2": 2,
}  # fmt: skip
#: The plugin narrows these before any operator sees them.
NARROWED = {"i64": np.int64, "u64": np.uint64, "f64": np.float64}


@functools.cache
def make_core(native, **others):
    """Plugins are loaded by each core, which takes a while. ``native`` is what the fixture has set."""
    core = ov.Core()
    extension.register(core, **others)
    return core


STOCK = ov.Core()


def save(model, folder, name="model"):
    path = folder / f"{name}.xml"
    ov.serialize(model, str(path), str(path.with_suffix(".bin")))
    return path


def reverse(data, axes, mode="index"):
    return NodeFactory("opset1").create("Reverse", [data, axes], {"mode": mode})


def reverse_model(dtype, shape, axes, mode="index"):
    data = ops.parameter(shape, dtype, name="x")
    return ov.Model([reverse(data.output(0), ops.constant(axes).output(0), mode)], [data], "m")


def sequence_model(dtype, shape, lengths=np.int64, batch_axis=0, seq_axis=1):
    data = ops.parameter(shape, dtype, name="x")
    counts = ops.parameter([-1], lengths, name="n")
    return ov.Model([ops.reverse_sequence(data, counts, batch_axis, seq_axis)], [data, counts], "m")


def types(model):
    return {node.get_type_name() for node in model.get_ops()}


def layers(compiled):
    """The kinds of nodes that the CPU plugin made."""
    nodes = compiled.get_runtime_model().get_ordered_ops()
    return [node.get_rt_info()["layerType"].astype(str) for node in nodes]


def compiled_from(core, model, folder, device="CPU"):
    """The model as a file, read by the core."""
    return core.compile_model(core.read_model(save(model, folder)), device)


def sequence(x, n, time_axis=1, batch_axis=0):
    return retrograde.reverse_sequence(x, n, time_axis=time_axis, batch_axis=batch_axis)


IR = """<?xml version="1.0"?>
<net name="written" version="{version}">
    <layers>
        <layer id="0" name="x" type="Parameter" version="opset1">
            <data shape="2,3" element_type="f32"/>
            <output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
        </layer>
        <layer id="1" name="n" type="Parameter" version="opset1">
            <data shape="2" element_type="i32"/>
            <output><port id="0" precision="I32"><dim>2</dim></port></output>
        </layer>
        <layer id="2" name="sequence" type="ReverseSequence" version="opset1">
            <data batch_axis="0" seq_axis="1"/>
            <input>
                <port id="0"><dim>2</dim><dim>3</dim></port>
                <port id="1"><dim>2</dim></port>
            </input>
            <output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
        </layer>
        <layer id="3" name="axes" type="Parameter" version="opset1">
            <data shape="?" element_type="i32"/>
            <output><port id="0" precision="I32"><dim>-1</dim></port></output>
        </layer>
        <layer id="4" name="reverse" type="Reverse" version="opset1">
            <data mode="index"/>
            <input>
                <port id="0"><dim>2</dim><dim>3</dim></port>
                <port id="1"><dim>-1</dim></port>
            </input>
            <output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
        </layer>
        <layer id="5" name="relu" type="ReLU" version="opset1">
            <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
            <output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
        </layer>
        <layer id="6" name="y" type="Result" version="opset1">
            <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
        </layer>
    </layers>
    <edges>
        <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
        <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
        <edge from-layer="2" from-port="2" to-layer="4" to-port="0"/>
        <edge from-layer="3" from-port="0" to-layer="4" to-port="1"/>
        <edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>
        <edge from-layer="5" from-port="1" to-layer="6" to-port="0"/>
    </edges>
</net>
"""


@both
@pytest.mark.parametrize("version", [10, 11])
def test_a_model_written_by_hand(native, version, tmp_path):
    """Both operators between others, with axes that are an input."""
    path = tmp_path / "written.xml"
    path.write_text(IR.format(version=version))
    core = make_core(native)
    model = core.read_model(path)
    assert {"RetrogradeReverse", "RetrogradeReverseSequence"} < types(model)
    assert not {"Reverse", "ReverseSequence"} & types(model)
    stock = STOCK.compile_model(path, "CPU")
    x = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
    for compiled in (core.compile_model(model, "CPU"), core.compile_model(path, "CPU")):
        for axes in ([0], [1], [0, -1], [-2, 0], []):
            feeds = [x, np.array([3, 2], np.int32), np.array(axes, np.int32)]
            wanted = np.maximum(retrograde.reverse(sequence(x, feeds[1]), axes), 0)
            assert equal(compiled(feeds)[0], wanted), axes
            assert equal(stock(feeds)[0], wanted), axes
        with pytest.raises(RuntimeError, match=r"Reverse: axes\[1\] is 2, outside \[-2, 1\]"):
            compiled([x, np.array([3, 2], np.int32), np.array([0, 2], np.int32)])
        with pytest.raises(RuntimeError, match=r"ReverseSequence: lengths\[0\] is -1, outside \[0, 3\]"):
            compiled([x, np.array([-1, 2], np.int32), np.array([0], np.int32)])


def random_tensor(name, shape):
    """All bit patterns but NaNs of f16: the plugin makes signalling ones quiet on the way to f32."""
    kind, bits, count = getattr(ov.Type, name), TYPES[name], int(np.prod(shape))
    random = np.random.default_rng(1)
    if bits < 8:
        packed = random.integers(0, 256, -(-count * bits // 8)).astype(np.uint8)
        return ov.Tensor(packed, ov.Shape(shape), kind)
    tensor = ov.Tensor(kind, ov.Shape(shape))
    raw = random.integers(0, 2 if name == "boolean" else 256, count * bits // 8).astype(np.uint8)
    if name == "f16":
        raw[1::2] &= 0xBF
    tensor.data.reshape(-1).view(np.uint8)[:] = raw
    return tensor


def elements(tensor, name):
    """The elements as integers or bytes."""
    bits, shape = TYPES[name], tuple(tensor.shape)
    raw = tensor.data.reshape(-1).view(np.uint8)
    if bits >= 8:
        return raw.view(f"u{bits // 8}").reshape(shape)
    flat = (raw[:, None] >> np.arange(0, 8, bits, np.uint8)) & ((1 << bits) - 1)
    return flat.reshape(-1)[: int(np.prod(shape))].reshape(shape)


@both
@pytest.mark.parametrize("name", [name for name in TYPES if name not in NARROWED])
def test_every_type(native, name, tmp_path):
    """Bit for bit. OpenVINO's own ReverseSequence goes through f32, which is wrong for i32, u32 and f8, and fails
    for u2; its own Reverse is wrong for packed types."""
    shape = (3, 4, 5)
    tensor = random_tensor(name, shape)
    data = ov.op.Parameter(getattr(ov.Type, name), ov.PartialShape(list(shape)))
    n = np.array([4, 0, 3])
    create = NodeFactory("opset1").create
    cut = create("ReverseSequence", [data.output(0), ops.constant(n).output(0)], {"batch_axis": 0, "seq_axis": 1})
    whole = reverse(data.output(0), ops.constant([0, -1]).output(0))
    request = compiled_from(make_core(native), ov.Model([cut, whole], [data], "m"), tmp_path).create_infer_request()
    request.set_input_tensor(tensor)
    request.infer()
    x = elements(tensor, name)
    assert equal(elements(request.get_output_tensor(0), name), sequence(x, n))
    assert equal(elements(request.get_output_tensor(1), name), retrograde.reverse(x, (0, -1)))


@both
@pytest.mark.parametrize("name", NARROWED)
def test_what_the_plugin_narrows_stays_narrowed(native, name, tmp_path):
    """It converts i64 and u64 to i32, and f64 to f32, before an operator runs, with us as without."""
    dtype = NARROWED[name]
    x = np.array([[1, 2**31 + 5, 3], [2**40 + 7, 5, 16777217]]).astype(dtype)
    if name == "f64":
        x[0, 0] = 0.1
    narrow = x.astype(np.float32).astype(dtype) if name == "f64" else x.astype(np.int32).astype(dtype)
    model = reverse_model(dtype, [2, 3], [1])
    assert not equal(narrow, x)
    ours, stock = (compiled_from(core, model, tmp_path)([x])[0] for core in (make_core(native), STOCK))
    if name == "u64":
        # Which of several values a number above 2^31 becomes depends on the conversion.
        assert equal(ours, stock) and not equal(ours, retrograde.reverse(x, 1))
    else:
        assert equal(ours, narrow[:, ::-1]) and equal(stock, narrow[:, ::-1])
    # Values that fit are right.
    x = np.arange(6).reshape(2, 3).astype(dtype)
    n = np.array([3, 2])
    assert equal(compiled_from(make_core(native), sequence_model(dtype, [2, 3]), tmp_path)([x, n])[0], sequence(x, n))


@both
def test_a_narrowed_length_may_be_accepted(native, tmp_path):
    """2^32 + 1 is 1 when it arrives."""
    compiled = compiled_from(make_core(native), sequence_model(np.float32, [2, 3]), tmp_path)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert equal(compiled([x, np.array([3, 2**32 + 1])])[0], sequence(x, [3, 1]))


@both
def test_integers_that_openvino_itself_changes(native, tmp_path):
    x = np.array([[16777217, -16777219, 5]], np.int32)
    n = np.array([3])
    model = sequence_model(np.int32, [1, 3])
    assert equal(compiled_from(make_core(native), model, tmp_path)([x, n])[0], x[:, ::-1])
    stock = compiled_from(STOCK, model, tmp_path)([x, n])[0]
    assert equal(stock, np.array([[5, -16777220, 16777216]], np.int32))


STRINGS = """
import sys
import numpy as np, openvino as ov
import retrograde.openvino

core = ov.Core()
if sys.argv[2] == "python":
    retrograde.openvino.library_path = lambda: None
retrograde.openvino.register(core)
compiled = core.compile_model(sys.argv[1], "CPU")
words = np.array([["a", "", "long enough for the heap " * 3], ["größe", "d", "e"]])
for _ in range(3):
    result = compiled([words])
    assert result[0].tolist() == words[:, ::-1].tolist()
    assert result[1].tolist() == [words[0, [1, 0, 2]].tolist(), words[1, ::-1].tolist()]
del result, compiled, core
print("done")
"""


@both
def test_strings(native, tmp_path):
    """In a process of its own, because a mistake would corrupt the heap: OpenVINO's own Reverse copies strings as
    bytes, so that the process aborts or hangs when they are freed. Its ReverseSequence refuses them."""
    data = ov.op.Parameter(ov.Type.string, ov.PartialShape([2, 3]))
    whole = reverse(data.output(0), ops.constant([1]).output(0))
    inputs = [data.output(0), ops.constant([2, 3]).output(0)]
    cut = NodeFactory("opset1").create("ReverseSequence", inputs, {"batch_axis": 0, "seq_axis": 1})
    path = save(ov.Model([whole, cut], [data], "m"), tmp_path)
    command = [sys.executable, "-c", STRINGS, str(path), "native" if native else "python"]
    result = deadline.run(command)
    assert result.returncode == 0 and result.stdout == "done\n", result.stderr
    with pytest.raises(RuntimeError, match="does not support string"):
        STOCK.compile_model(path, "CPU")


@both
def test_dynamic_shapes(native, tmp_path):
    """Shapes that change from call to call; any two axes; masks, all integer types of axes and lengths."""
    core = make_core(native)
    stock = STOCK
    random = np.random.default_rng(0)
    kinds = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32]
    for at, (batch, time) in enumerate([(0, 1), (1, 0), (2, 0), (-1, 1), (0, -1), (1, -1)]):
        model = sequence_model(np.float32, [-1, -1, -1], kinds[at], batch, time)
        ours, theirs = compiled_from(core, model, tmp_path), compiled_from(stock, model, tmp_path)
        for shape in [(3, 4, 5), (4, 3, 1), (1, 1, 1), (3, 4, 5), (40, 50, 60), (0, 2, 3), (2, 0, 3)]:
            x = random.random(shape, np.float32)
            n = random.integers(0, shape[time] + 1, shape[batch]).astype(kinds[at])
            wanted = sequence(x, n.astype(np.int64), time, batch)
            assert equal(ours([x, n])[0], wanted), (batch, time, shape)
            if x.size:
                assert equal(theirs([x, n])[0], wanted), (batch, time, shape)
    for kind in kinds[:-1]:
        axes = np.array([1, 0, 1], kind) if kind is not np.int8 else np.array([-1, 0, -1], kind)
        ours = compiled_from(core, reverse_model(np.float32, [-1, -1], axes), tmp_path)
        for shape in [(3, 4), (1, 1), (7, 0), (50, 60)]:
            x = random.random(shape, np.float32)
            assert equal(ours([x])[0], retrograde.reverse(x)), kind
    ours = compiled_from(core, reverse_model(np.float32, [-1, -1, -1], [True, False, True], "mask"), tmp_path)
    for shape in [(3, 4, 5), (5, 4, 3)]:
        x = random.random(shape, np.float32)
        assert equal(ours([x])[0], retrograde.reverse(x, (0, 2)))


@both
def test_lengths_may_be_whole_floats(native, tmp_path):
    compiled = compiled_from(make_core(native), sequence_model(np.float32, [3, 4], np.float32), tmp_path)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert equal(compiled([x, np.array([4, 0, 3], np.float32)])[0], sequence(x, [4, 0, 3]))
    for wrong, text in [(2.5, "2.5"), (np.nan, "nan"), (np.inf, "inf")]:
        with pytest.raises(RuntimeError, match=rf"ReverseSequence: lengths\[1\] is {text}, expected a whole number"):
            compiled([x, np.array([4, wrong, 3], np.float32)])
    with pytest.raises(RuntimeError, match=r"ReverseSequence: lengths\[2\] is 5, outside \[0, 4\]"):
        compiled([x, np.array([4, 0, 5], np.float32)])


@both
def test_wrong_lengths_are_errors_and_models_go_on(native, tmp_path):
    for shape in ([3, 4], [-1, -1]):
        path = save(sequence_model(np.float32, shape), tmp_path)
        compiled = make_core(native).compile_model(path, "CPU")
        request = compiled.create_infer_request()
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        for lengths, text in [([4, 5, 0], r"lengths\[1\] is 5"), ([4, 0, -1], r"lengths\[2\] is -1")]:
            for _ in range(3):
                with pytest.raises(RuntimeError, match=rf"ReverseSequence: {text}, outside \[0, 4\]"):
                    request.infer([x, np.array(lengths)])
            assert equal(request.infer([x, np.array([4, 1, 3])])[0], sequence(x, [4, 1, 3]))
        with pytest.raises(RuntimeError):
            request.infer([x, np.array([4, 4])])
        assert equal(request.infer([x, np.array([2, 1, 3])])[0], sequence(x, [2, 1, 3]))
    clamping = make_core(native, policy="clamp").compile_model(path, "CPU")
    assert equal(clamping([x, np.array([9, 4, 99])])[0], x[:, ::-1])
    with pytest.raises(RuntimeError, match=r"lengths\[1\] is -1"):
        clamping([x, np.array([9, -1, 99])])
    # Another core is strict again.
    with pytest.raises(RuntimeError, match=r"lengths\[0\] is 9"):
        make_core(native).compile_model(path, "CPU")([x, np.array([9, 4, 4])])


@both
def test_wrong_models(native, tmp_path):
    written = IR.format(version=11)
    cases = [
        (written.replace('mode="index"', 'mode="mask"'), "Reverse: mask has the element type i32, expected boolean"),
        (written.replace('shape="?" element_type="i32"', 'shape="?" element_type="f32"'), "Reverse: axes have the element type f32"),
        (written.replace('shape="?" element_type="i32"', 'shape="2,2" element_type="i32"'), "Reverse: axes has rank 2, expected 1"),
        (written.replace('mode="index"', 'mode="other"'), "other"),
    ]  # fmt: skip
    core = make_core(native)
    for at, (text, message) in enumerate(cases):
        path = tmp_path / f"{at}.xml"
        path.write_text(text)
        with pytest.raises(RuntimeError, match=message):
            core.read_model(path)
    path = save(sequence_model(np.float32, [2, 3], seq_axis=1), tmp_path)
    path.write_text(path.read_text().replace('seq_axis="1"', 'seq_axis="7"'))
    with pytest.raises(RuntimeError, match="7"):
        core.compile_model(path, "CPU")([np.zeros((2, 3), np.float32), np.array([1, 1])])


def test_wrong_settings(tmp_path):
    core = ov.Core()
    with pytest.raises(ValueError, match="policy is 'loose'"):
        extension.register(core, policy="loose")
    for function, call in [
        (functools.partial(extension.register, core), r"register\(core, policy='clamp'\)"),
        (extension.extensions, r"extensions\(policy='clamp'\)"),
        (functools.partial(extension.replace, None), r"replace\(model, policy='clamp'\)"),
    ]:
        with pytest.raises(TypeError, match=rf"takes policy=, not lengths=: retrograde.openvino.{call}$"):
            function(lengths="clamp")
    with pytest.raises(TypeError, match="core is of type str"):
        extension.register("core")
    with pytest.raises(TypeError, match="model is of type str"):
        extension.replace("model.xml")
    extension.register(core)
    extension.register(core)
    with pytest.raises(ValueError, match="core is registered already, with policy = 'strict'"):
        extension.register(core, policy="clamp")


def onnx_model(time_axis=1):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        sequence_node("a", "n", "b", time_axis),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    inputs = [value("x", "float32", [None, None]), value("n", "int64", [None])]
    return made(nodes, inputs, [value("y", "float32", [None, None])])


@both
@pytest.mark.parametrize("time_axis", [0, 1])
def test_onnx(native, time_axis, tmp_path):
    """Read by a core, converted by ov.convert_model, and replaced in memory."""
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_model(time_axis))
    replaced = STOCK.read_model(path)
    assert "ReverseSequence" in types(replaced)
    assert len(extension.replace(replaced)) == 1
    assert extension.replace(replaced) == []
    models = [make_core(native).read_model(path), replaced]
    # It takes a second.
    if time_axis == 1:
        models.append(ov.convert_model(path, extension=extension.extensions()))
    stock = STOCK.compile_model(path, "CPU")
    x = np.random.default_rng(0).random((5, 7), np.float32) - 0.5
    n = np.array([3, 1, 5, 2, 0, 4, 5]) if time_axis == 0 else np.array([7, 0, 3, 6, 1])
    wanted = -sequence(np.maximum(x, 0), n, time_axis, 1 - time_axis)
    for model in models:
        assert "RetrogradeReverseSequence" in types(model) and "ReverseSequence" not in types(model)
        compiled = STOCK.compile_model(model, "CPU")
        assert "ReverseSequence" not in layers(compiled)
        assert np.array_equal(compiled({"x": x, "n": n})["y"], wanted)
        assert np.array_equal(stock({"x": x, "n": n})["y"], wanted)
        with pytest.raises(RuntimeError, match=r"ReverseSequence: lengths\[0\] is 99, outside"):
            compiled({"x": x, "n": np.where(np.arange(len(n)) == 0, 99, n)})
    clamping = ov.Core()
    clamping.add_extension(extension.extensions(policy="clamp"))
    result = clamping.compile_model(path, "CPU")({"x": x, "n": np.full(len(n), 99)})["y"]
    assert np.array_equal(result, -np.flip(np.maximum(x, 0), time_axis))


@both
def test_wrong_onnx_models(native, tmp_path):
    for change, text in [({"time_axis": 2}, "time_axis is 2, outside"), ({"batch_axis": 1}, "the same as time_axis")]:
        model = onnx.load_from_string(onnx_model())
        for attribute in model.graph.node[1].attribute:
            attribute.i = change.get(attribute.name, attribute.i)
        path = tmp_path / "model.onnx"
        onnx.save(model, path)
        with pytest.raises(Exception, match=text):
            make_core(native).read_model(path)


@both
def test_replace_in_bodies(native):
    """In both branches of an If."""
    which = ops.parameter([], bool, name="which")
    x = ops.parameter([2, 3], np.float32, name="x")
    branches = []
    for axis in (0, 1):
        inner = ops.parameter([2, 3], np.float32)
        branches.append((inner, ov.Model([reverse(inner.output(0), ops.constant([axis]).output(0))], [inner], "b")))
    chosen = ops.if_op(which.output(0))
    for (inner, body), put in zip(branches, (chosen.set_then_body, chosen.set_else_body), strict=True):
        put(body)
    chosen.set_input(x.output(0), branches[0][0], branches[1][0])
    result = chosen.set_output(branches[0][1].results[0], branches[1][1].results[0])
    model = ov.Model([result], [which, x], "m")
    assert len(extension.replace(model)) == 2
    compiled = STOCK.compile_model(model, "CPU")
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert equal(compiled([np.array(True), data])[0], data[::-1])
    assert equal(compiled([np.array(False), data])[0], data[:, ::-1])


@both
def test_models_can_be_saved_and_read_again(native, tmp_path):
    core = make_core(native, policy="clamp")
    model = core.read_model(save(sequence_model(np.float32, [2, 3]), tmp_path))
    path = save(model, tmp_path, "saved")
    assert 'type="RetrogradeReverseSequence" version="retrograde"' in path.read_text()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    # With the policy that it was saved with.
    compiled = make_core(native).compile_model(path, "CPU")
    assert equal(compiled([x, np.array([9, 2])])[0], sequence(x, [3, 2]))
    with pytest.raises(RuntimeError, match="RetrogradeReverseSequence|retrograde"):
        STOCK.read_model(path)


@both
def test_a_bidirectional_gru(native, tmp_path):
    """As frameworks without bidirectional cells write it."""
    random = np.random.default_rng(0)
    path = tmp_path / "gru.onnx"
    path.write_bytes(bidirectional("GRU", 4, 3, random))
    x = random.random((6, 5, 4)).astype(np.float32)
    n = np.array([6, 1, 3, 5, 2])
    core = make_core(native)
    assert "RetrogradeReverseSequence" in types(core.read_model(path))
    ours, stock = (c.compile_model(path, "CPU")({"x": x, "n": n})["y"] for c in (core, STOCK))
    assert equal(ours, stock)


@both
def test_concurrent_requests_of_several_models(native, tmp_path):
    """Threads with requests of their own, streams that share a node, failures in between."""
    path = save(sequence_model(np.float32, [-1, -1]), tmp_path)
    compiled = [make_core(native).compile_model(path, "CPU", {"NUM_STREAMS": str(streams)}) for streams in (1, 2)]

    def work(seed):
        random = np.random.default_rng(seed)
        requests = [model.create_infer_request() for model in compiled]
        for _ in range(40):
            shape = [(5, 7), (64, 100), (300, 400)][random.integers(3)]
            x = random.random(shape, np.float32)
            n = random.integers(0, shape[1] + 1, shape[0])
            request = requests[random.integers(2)]
            if random.integers(4) == 0:
                n[-1] = shape[1] + 1
                with pytest.raises(RuntimeError, match="outside"):
                    request.infer([x, n])
            else:
                assert equal(request.infer([x, n])[0], sequence(x, n)), shape

    together(work, 6)


@both
def test_an_asynchronous_queue(native, tmp_path):
    path = save(sequence_model(np.float32, [-1, -1]), tmp_path)
    queue = ov.AsyncInferQueue(make_core(native).compile_model(path, "CPU", {"NUM_STREAMS": "2"}), 4)
    random = np.random.default_rng(0)
    wrong, seen = [], []

    def check(request, wanted):
        seen.append(1)
        if not equal(request.get_output_tensor().data, wanted):
            wrong.append(wanted.shape)

    queue.set_callback(check)
    for _ in range(100):
        shape = (int(random.integers(1, 60)), int(random.integers(1, 60)))
        x, n = random.random(shape, np.float32), random.integers(0, shape[1] + 1, shape[0])
        queue.start_async([x, n], sequence(x, n))
    queue.wait_all()
    assert wrong == [] and len(seen) == 100


END = """
import sys
import numpy as np, openvino as ov
import retrograde.openvino

core = ov.Core()
if sys.argv[2] == "python":
    retrograde.openvino.library_path = lambda: None
retrograde.openvino.register(core)
compiled = core.compile_model(sys.argv[1], "CPU")
x = np.random.default_rng(0).random((700, 800), np.float32)
n = np.full(700, 800)
for _ in range(3):
    other = ov.Core()
    retrograde.openvino.register(other)
    assert np.array_equal(other.compile_model(sys.argv[1], "CPU")([x, n])[0], x[:, ::-1])
    del other
request = compiled.create_infer_request()
request.infer([x, n])
print("done")
"""


@both
def test_a_process_ends_with_models_alive(native, tmp_path):
    path = save(sequence_model(np.float32, [-1, -1]), tmp_path)
    command = [sys.executable, "-c", END, str(path), "native" if native else "python"]
    result = deadline.run(command)
    assert result.returncode == 0 and result.stdout == "done\n", result.stderr


@not_built
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_the_program_in_cpp(tmp_path):
    """With the line of docs/openvino.md."""
    root, installed = Path(__file__).parents[3], Path(ov.__path__[0])
    (library,) = installed.glob("libs/libopenvino.so.*")
    program = tmp_path / "infer"
    source = root / "crates/openvino/examples/infer.cpp"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-isystem", installed / "include"]
    subprocess.run(["g++", *flags, source, "-o", program, library, f"-Wl,-rpath,{library.parent}"], check=True)
    model = root / "examples/turn.xml"
    done = subprocess.run([program, extension.library_path(), model], check=True, capture_output=True, text=True)
    assert done.stdout == "Reverse_4: RetrogradeReverse\nequal to OpenVINO's own operators\n"
