"""The ONNX backend: the official test runner, every element type, invalid models."""

import doctest
import itertools
import sys
import threading
import unittest
from pathlib import Path

import ml_dtypes
import naive
import numpy as np
import onnx
import onnx.backend.test
import pytest
import retrograde
from naive import equal
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx_models import model, value
from retrograde import onnx_backend

RNG = np.random.default_rng(5)
X3 = np.arange(24).reshape(2, 3, 4)


class Official(unittest.TestResult):
    """The official cases whose model was run."""

    def __init__(self):
        super().__init__()
        self.ran = set()
        self.current = None

    def startTest(self, test):
        super().startTest(test)
        self.current = test._testMethodName


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the cases themselves
def test_the_official_runner_passes_and_runs_what_we_say_we_run(monkeypatch, tmp_path, capsys):
    # The runner writes files for some of its models, and counts skipped models as passed.
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))
    result = Official()
    run = onnx_backend.Prepared.run

    def recorded(self, inputs, **kwargs):
        result.ran.add(result.current)
        return run(self, inputs, **kwargs)

    monkeypatch.setattr(onnx_backend.Prepared, "run", recorded)
    onnx.backend.test.BackendTest(onnx_backend, __name__).test_suite.run(result)
    assert result.failures == [] and result.errors == []

    # Older releases of ONNX have the models in files.
    models = {
        f"{case.name}_cpu": case.model or onnx.load(f"{case.model_dir}/model.onnx")
        for kind in ("node", "simple", "pytorch-converted", "pytorch-operator")
        for case in load_model_tests(kind=kind)
    }
    assert result.ran == {name for name, model in models.items() if onnx_backend.is_compatible(model)}
    reversals = {
        name
        for name, model in models.items()
        if any(node.op_type == "ReverseSequence" for node in model.graph.node)
    }
    assert {"test_reversesequence_time_cpu", "test_reversesequence_batch_cpu"} <= reversals <= result.ran
    skipped = {test._testMethodName for test, _ in result.skipped}
    assert not skipped & result.ran
    passed_over = result.testsRun - len(result.ran) - len(skipped)
    with capsys.disabled():
        print(
            f"\n  official ONNX backend tests: {len(result.ran)} ran ({len(reversals)} of ReverseSequence),"
            f" {passed_over} skipped for other operators or opsets,"
            f" {len(skipped)} skipped by the runner (CUDA, models of files)"
        )


def naive_slice(x, axis, start, end, step):
    """Positions one by one, as the specification of Slice describes them."""
    size = x.shape[axis]
    start, end = (at + size if at < 0 else at for at in (start, end))
    low, high = (0, size) if step > 0 else (0, size - 1)
    at, stop = min(max(start, low), high), min(max(end, low if step > 0 else -1), high)
    picked = []
    while size and (at < stop if step > 0 else at > stop):
        picked.append(at)
        at += step
    return np.stack([x.take(n, axis) for n in picked], axis) if picked else x.take([], axis)


def test_slices_take_any_step_and_older_forms():
    x = np.arange(24).reshape(2, 3, 4)
    for axis, start, end, step in itertools.product((0, 1, -1), (-9, -2, 0, 1, 9), (-9, -1, 0, 2, 9), (-3, -1, 1, 2)):
        lists = [np.array([n]) for n in (start, end, axis, step)]
        proto = model([helper.make_node("Slice", ["x", "a", "b", "c", "d"], ["y"])], ["x", "a", "b", "c", "d"])
        assert equal(onnx_backend.run_model(proto, [x, *lists])[0], naive_slice(x, axis, start, end, step))
        if step == 1:
            old = helper.make_node("Slice", ["x"], ["y"], starts=[start], ends=[end], axes=[axis % 3])
            found = onnx_backend.run_model(model([old], ["x"], opset=9), [x])[0]
            assert equal(found, naive_slice(x, axis, start, end, step))
    # An omitted input in the middle; the result is not a view of the input.
    proto = model([helper.make_node("Slice", ["x", "a", "b", "", "d"], ["y"])], ["x", "a", "b", "d"])
    found = onnx_backend.run_model(proto, [x, np.array([-1]), np.array([-9]), np.array([-1])])[0]
    assert equal(found, x[::-1]) and not np.shares_memory(found, x) and found.flags.c_contiguous


@pytest.mark.parametrize(
    ("kind", "operands", "attributes", "text"),
    [
        ("Slice", [X3, [0], [1], [3]], {}, "axes[0] is 3, outside [-3, 2]"),
        ("Slice", [X3, [0], [1], [0], [0]], {}, "steps[0] is 0, expected a positive or a negative step"),
        ("Transpose", [X3], {"perm": [0, 0, 1]}, "perm[1] is 0, the same axis as perm[0]"),
        ("Cast", [X3], {}, 'attribute "to" is missing, expected a value'),
        ("Concat", [X3], {"axis": 0.5}, 'attribute "axis" is FLOAT, expected INT'),
        ("Add", [X3, np.float32([1])], {}, "input 1 has type f32, expected integers (arithmetic is for indices only)"),
    ],
)
def test_operators_around_a_reversal_name_what_is_wrong(kind, operands, attributes, text):
    names = [f"i{n}" for n in range(len(operands))]
    proto = model([helper.make_node(kind, names, ["y"], name="n", **attributes)], names)
    with pytest.raises((TypeError, ValueError)) as raised:
        onnx_backend.run_model(proto, list(map(np.asarray, operands)))
    assert str(raised.value).removeprefix("model: ") == f"n ({kind}): {text}"


#: The types of ReverseSequence, and the opset that each came with.
TYPES = dict.fromkeys(
    map(
        TensorProto.DataType.Value,
        "BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FLOAT16 FLOAT DOUBLE COMPLEX64 COMPLEX128 STRING".split(),
    ),
    10,
) | {TensorProto.BFLOAT16: 28}


def elements(kind, shape):
    """Random bits; strings of every kind."""
    count = int(np.prod(shape))
    if kind == TensorProto.STRING:
        words = ["", "a", "漢字", "nul\0", "<b>", "a" * 50]
        array = np.empty(count, object)
        array[:] = [words[i] for i in RNG.integers(len(words), size=count)]
        return array.reshape(shape)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind))
    if dtype.kind == "b":
        return RNG.integers(2, size=shape).astype(bool)
    return np.frombuffer(RNG.bytes(count * dtype.itemsize), dtype).reshape(shape)


def node(time_axis=0, batch_axis=1, name="flip", inputs=("x", "lengths"), output="y"):
    return helper.make_node(
        "ReverseSequence", inputs, [output], name=name, time_axis=time_axis, batch_axis=batch_axis
    )


@pytest.mark.parametrize("kind", TYPES, ids=TensorProto.DataType.Name)
@pytest.mark.parametrize("shape", [(4, 3), (3, 5, 2), (2, 3, 2, 2)])
@pytest.mark.parametrize("time_axis", [0, 1])
def test_every_type(kind, shape, time_axis):
    x = elements(kind, shape)
    batch_axis = 1 - time_axis
    lengths = RNG.integers(shape[time_axis] + 1, size=shape[batch_axis])
    lengths[0] = shape[time_axis]
    expected = naive.reverse_sequence(x, lengths, time_axis, batch_axis)
    assert not equal(x, expected) or kind in (TensorProto.BOOL, TensorProto.STRING)
    for opset in (10, 15, 27, 28):
        if opset >= TYPES[kind]:
            (y,) = onnx_backend.run_node(node(time_axis, batch_axis), [x, lengths], opset_version=opset)
            assert equal(y, expected)
        else:
            with pytest.raises(TypeError, match=f"input of type bf16 is not allowed at opset {opset}"):
                onnx_backend.run_node(node(time_axis, batch_axis), [x, lengths], opset_version=opset)
    # The same through a model that contains the tensor.
    constant = helper.make_node("Constant", [], ["x"], value=numpy_helper.from_array(x))
    got = onnx_backend.run_model(model([constant, node(time_axis, batch_axis)]), [lengths])
    assert equal(got["y"], expected) and equal(got[0], expected)


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4, "M8[s]"]
)
def test_types_that_onnx_does_not_reverse(dtype):
    x = np.zeros((2, 2), dtype)
    text = "input 'x': has type datetime64.s., which ONNX does not have" if dtype == "M8[s]" else "is not allowed at opset 28"
    with pytest.raises(TypeError, match=text):
        onnx_backend.run_node(node(), [x, np.array([1, 1])])


X = np.arange(12, dtype=np.float32).reshape(4, 3)
LENGTHS = np.array([4, 2, 0])
Y = naive.reverse_sequence(X, LENGTHS, 0, 1)


def test_nodes_in_any_order_and_what_carries_data():
    nodes = [
        helper.make_node("Identity", ["b"], ["y"]),
        node(output="a"),
        node(inputs=["a", "lengths"], output="b"),
        helper.make_node("Constant", [], ["lengths"], value_ints=LENGTHS.tolist()),
        helper.make_node("Identity", ["a"], ["once"]),
    ]
    got = onnx_backend.run_model(model(nodes, ["x"], ["y", "once", "x"]), [X])
    assert equal(got["y"], X) and equal(got["once"], Y) and equal(got["x"], X)
    # The result belongs to the caller.
    assert got["x"] is not X and not np.shares_memory(got["x"], X)
    assert not np.shares_memory(got["y"], got["once"])


def test_constants_of_every_kind():
    for attribute, expected in [
        ({"value_float": 1.5}, np.float32(1.5)),
        ({"value_floats": [1.5, 2.5]}, np.array([1.5, 2.5], np.float32)),
        ({"value_int": 7}, np.int64(7)),
        ({"value_ints": [7, -8]}, np.array([7, -8])),
        ({"value_string": "é"}, np.array("é", object)),
        ({"value_strings": ["a", "b\0"]}, np.array(["a", "b\0"], object)),
        ({"value": numpy_helper.from_array(X)}, X),
    ]:
        constant = helper.make_node("Constant", [], ["y"], **attribute)
        prepared = onnx_backend.prepare(model([constant], []))
        (y,) = prepared.run([])
        assert equal(y, np.asarray(expected))
        # Writing into a result does not change the model.
        y.fill(0 if y.dtype != object else "changed")
        assert equal(prepared.run([])[0], np.asarray(expected))


def test_inputs_by_place_by_name_and_by_default():
    lengths = numpy_helper.from_array(LENGTHS, "lengths")
    prepared = onnx_backend.prepare(model([node()], ["lengths", "x"], constants=[lengths]))
    assert equal(prepared.run([X])[0], Y)
    assert equal(prepared.run({"x": X})[0], Y)
    assert equal(prepared.run([np.array([0, 0, 0]), X])[0], X)
    assert equal(prepared.run({"x": X, "lengths": np.array([0, 0, 0])})[0], X)
    # An array is one input, even if it has as many rows as there are inputs.
    with pytest.raises(ValueError, match=r'input "lengths" is missing'):
        onnx_backend.run_model(model([node()], ["x", "lengths"]), X[:2])


def test_strings_as_numpy_has_them_become_objects():
    words = np.array([list("abc"), list("def")])
    lengths = np.array([2, 0, 2])
    expected = naive.reverse_sequence(words.astype(object), lengths, 0, 1)
    for given in (words, words.astype("S"), words.astype(object)):
        (y,) = onnx_backend.run_node(node(), [given, lengths])
        assert equal(y, expected)


def test_other_orders_of_bytes_and_strides():
    x = np.arange(24, dtype=">i4").reshape(4, 6)[:, ::-2]
    (y,) = onnx_backend.run_node(node(), [x, LENGTHS.astype(">i8")])
    assert equal(y, naive.reverse_sequence(np.ascontiguousarray(x.astype("<i4")), LENGTHS, 0, 1))


def test_data_in_files(tmp_path):
    data = numpy_helper.from_array(X, "x")
    proto = model([node()], constants=[data])
    path = tmp_path / "model.onnx"
    onnx.save_model(proto, path, save_as_external_data=True, size_threshold=0, location="data.bin")
    assert (tmp_path / "data.bin").stat().st_size >= X.nbytes
    for given in (path, str(path)):
        assert equal(onnx_backend.run_model(given, [LENGTHS])[0], Y)
    unresolved = onnx.load(path, load_external_data=False)
    before = unresolved.SerializeToString()
    for given in (unresolved, before):
        assert equal(onnx_backend.run_model(given, [LENGTHS], base_dir=tmp_path)[0], Y)
    assert unresolved.SerializeToString() == before
    # Resolved by ONNX beforehand.
    assert equal(onnx_backend.run_model(onnx.load(path), [LENGTHS])[0], Y)
    with pytest.raises(ValueError, match='initializer "x": external data in "data.bin": cannot read it'):
        onnx_backend.run_model(unresolved, [LENGTHS], base_dir=tmp_path / "elsewhere")
    for entry in unresolved.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = "../data.bin"
    (tmp_path / "inner").mkdir()
    with pytest.raises(ValueError, match='initializer "x": external data in "../data.bin": it contains `..`'):
        onnx_backend.run_model(unresolved, [LENGTHS], base_dir=tmp_path / "inner")


def test_external_data_stays_as_it_was_read(tmp_path):
    path = tmp_path / "model.onnx"
    proto = model([node()], constants=[numpy_helper.from_array(X, "x")])
    onnx.save_model(proto, path, save_as_external_data=True, size_threshold=0, location="data.bin")
    prepared = onnx_backend.prepare(path)
    (tmp_path / "data.bin").write_bytes(b"")
    assert equal(prepared.run([LENGTHS])[0], Y)
    with pytest.raises(ValueError, match="are needed but the file has 0 bytes"):
        onnx_backend.prepare(path)
    (tmp_path / "data.bin").unlink()
    (tmp_path / "secret").write_bytes(X.tobytes())
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "data.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match="a symbolic link leads out of the model's folder"):
        onnx_backend.prepare(path.read_bytes(), base_dir=tmp_path / "inner")


def test_elements_of_every_type_are_picked_and_joined():
    condition = np.array([[True], [False]])
    for kind in (*TYPES, TensorProto.FLOAT8E5M2, TensorProto.INT4, TensorProto.UINT4, TensorProto.UINT2):
        # Of packed types, all bytes of NumPy's arrays are values.
        one, other = (elements(kind, (3, 5)) for _ in range(2))
        if one.dtype.name in ("int4", "uint4", "uint2"):
            one, other = (RNG.integers(4, size=(3, 5)).astype(one.dtype) for _ in range(2))
        for name, operands, attributes, expected in [
            ("Where", [condition[:, None], one, other], {}, np.stack([one, other])),
            ("Concat", [one, other, one], {"axis": 1}, np.concatenate([one, other, one], 1)),
            ("GatherND", [one, np.array([[2, 1], [-1, 0], [0, -5]])], {}, one[[2, -1, 0], [1, 0, -5]]),
            ("GatherND", [one, np.array([[[0], [1]], [[2], [0]]])], {}, one[[[0, 1], [2, 0]]]),
            ("Expand", [one[:, :1], np.array([2, 1, 4])], {}, np.broadcast_to(one[:, :1], (2, 3, 4))),
            ("Identity", [one], {}, one),
        ]:
            proto = helper.make_node(name, [f"i{n}" for n in range(len(operands))], ["y"], **attributes)
            assert equal(onnx_backend.run_node(proto, operands)[0], expected), (name, one.dtype)
        constant = numpy_helper.from_array(one[:1, :1].ravel())
        proto = helper.make_node("ConstantOfShape", ["shape"], ["y"], value=constant)
        found = onnx_backend.run_node(proto, [np.array([2, 3])])[0]
        assert equal(found, np.broadcast_to(one[:1, :1], (2, 3)))


def test_integers_are_converted_to_smaller_ones():
    x = np.array([0, 1, 7, 8, 15, -1, -8, 100, 2**40])
    for to in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2, np.int8, np.uint16, bool):
        code = helper.np_dtype_to_tensor_dtype(np.dtype(to))
        found = onnx_backend.run_node(helper.make_node("Cast", ["x"], ["y"], to=code), [x])[0]
        assert equal(found, x.astype(to))
        back = onnx_backend.run_node(helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64), [found])[0]
        assert equal(back, found.astype(np.int64))


def test_arithmetic_on_other_numbers_is_not_supported():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="r"),
        helper.make_node("Add", ["x", "x"], ["b"], name="s"),
        helper.make_node("Cast", ["n"], ["c"], name="c", to=TensorProto.FLOAT),
        helper.make_node("GatherND", ["n", "n"], ["e"], name="g", batch_dims=1),
        helper.make_node("Add", ["n", "n"], ["y"], name="i"),
    ]
    inputs = [value("x"), value("n", "int64")]
    listed = r"s \(Add of f32\), c \(Cast of f32\)$"
    for some, text in [(nodes, r"r \(Relu\), g \(GatherND with batch_dims\), "), (nodes[1:3] + nodes[4:], "")]:
        proto = model(some, inputs)
        assert not onnx_backend.is_compatible(proto)
        with pytest.raises(onnx_backend.Unsupported, match=f"cannot run: {text}{listed}"):
            onnx_backend.prepare(proto)


def test_what_is_not_a_tensor_passes_through():
    proto = helper.make_node("Identity", ["x"], ["y"])
    for other in (None, [X, X], (X,), []):
        assert onnx_backend.run_node(proto, [other])[0] is other
    slice_of = model([helper.make_node("Transpose", ["x"], ["y"])], ["x"])
    with pytest.raises(TypeError, match="input 0 is a sequence or an optional value, expected a tensor"):
        onnx_backend.run_model(slice_of, [[X, X]])
    # What is declared as a tensor may be given as a list, or as a message.
    prepared = onnx_backend.prepare(model([node()], [value("x"), value("lengths", "int64")]))
    assert equal(prepared.run([X, LENGTHS.tolist()])[0], Y)
    assert equal(prepared.run([numpy_helper.from_array(X), numpy_helper.from_array(LENGTHS)])[0], Y)
    with pytest.raises(TypeError, match='input "x": is a sequence'):
        sequence = onnx_backend.prepare(model([proto], [value("x")]))
        sequence._model.run([("x", -1, [X])])
    for words, error in [([1, "a"], TypeError), ([b"\xff"], ValueError)]:
        with pytest.raises(error, match='input "x": (element 0 is of type int|string 0 is not valid UTF-8)'):
            onnx_backend.run_node(proto, [np.array(words, object)])


def test_large_results_belong_to_the_caller():
    x = RNG.integers(255, size=(8, 1 << 20)).astype(np.uint8)
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("Transpose", ["t"], ["same"]),
        helper.make_node("Slice", ["x", "a", "b", "c", "d"], ["y"]),
        helper.make_node("Identity", ["y"], ["again"]),
        *(helper.make_node("Constant", [], [name], value_ints=[n]) for name, n in zip("abcd", (-1, -99, 0, -1), strict=True)),
    ]
    prepared = onnx_backend.prepare(model(nodes, ["x"], ["y", "again", "x", "same", "t"]))
    for given in (x, np.asfortranarray(x), x[::-1][::-1]):
        got = prepared.run([given])
        for name, expected in {"y": x[::-1], "again": x[::-1], "x": x, "same": x, "t": x.T}.items():
            assert equal(got[name], np.ascontiguousarray(expected)) and got[name].flags.writeable
        arrays = [given, *got]
        assert not any(np.shares_memory(*two) for two in itertools.combinations(arrays, 2))


def test_arrays_are_read_after_all_inputs_are_converted():
    x = np.ones((1 << 16, 4), np.float32)

    class Resizes:
        def __array__(self, dtype=None, copy=None):
            x.resize((2, 4), refcheck=False)
            return np.array([2, 1, 0, 2])

    prepared = onnx_backend.prepare(model([node()], ["x", "lengths"]))
    assert equal(prepared.run([x, Resizes()])[0], np.ones((2, 4), np.float32))
    with pytest.raises(ValueError, match=r"lengths\[0\] is 9, outside \[0, 2\]"):
        prepared.run([x, np.array([9, 1, 0, 2])])


def test_other_threads_run_meanwhile():
    x, lengths = np.zeros((1 << 14, 1 << 12), np.uint8), np.full(1 << 12, 1 << 14)
    prepared = onnx_backend.prepare(model([node()], ["x", "lengths"]))
    interval, seen = sys.getswitchinterval(), []
    sys.setswitchinterval(1000)
    try:
        for _ in range(50):
            start = threading.Event()
            other = threading.Thread(target=lambda start=start: (start.wait(), seen.append(True)))
            other.start()
            start.set()
            # Without a release of the lock, nothing is seen before the call returns.
            before = len(seen)
            prepared.run([x, lengths])
            meanwhile = len(seen) > before
            other.join()
            if meanwhile:
                break
    finally:
        sys.setswitchinterval(interval)
    assert meanwhile


def test_a_model_with_other_operators_is_told_all_of_them():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        node(inputs=["a", "lengths"], output="b"),
        helper.make_node("Add", ["a", "b"], ["y"], domain="com.example"),
    ]
    proto = model(nodes, ["x", "lengths"])
    text = r"cannot run: first \(Relu\), a node without a name \(com.example.Add\)$"
    with pytest.raises(onnx_backend.Unsupported, match=text) as raised:
        onnx_backend.prepare(proto)
    assert isinstance(raised.value, NotImplementedError)
    assert not onnx_backend.is_compatible(proto)
    function = helper.make_function("", "Identity", ["a"], ["b"], [], [helper.make_opsetid("", 28)])
    own = model([helper.make_node("Identity", ["x"], ["y"])], ["x"], functions=[function])
    with pytest.raises(onnx_backend.Unsupported, match=r"a node without a name \(Identity\)"):
        onnx_backend.prepare(own)


def test_opsets_and_devices():
    for opset in range(1, 40):
        proto = model([node()], ["x", "lengths"], opset=opset)
        # ReverseSequence was added in opset 10.
        assert onnx_backend.is_compatible(proto) == (10 <= opset <= 28)
        is_known = 7 <= opset <= 28
        assert onnx_backend.is_opset_supported(proto)[0] == is_known
        if is_known and opset < 10:
            with pytest.raises(onnx_backend.Unsupported, match=r"\(ReverseSequence\)$"):
                onnx_backend.run_model(proto, [X, LENGTHS])
        elif is_known:
            assert equal(onnx_backend.run_model(proto, [X, LENGTHS])[0], Y)
        else:
            with pytest.raises(onnx_backend.Unsupported, match=f"opset is {opset}, expected 7 to 28"):
                onnx_backend.run_model(proto, [X, LENGTHS])
    del proto.opset_import[:]
    assert onnx_backend.is_opset_supported(proto) == (False, "model: its opset is missing, expected 7 to 28")
    assert onnx_backend.supports_device("CPU") and onnx_backend.supports_device("CPU:0")
    assert not onnx_backend.supports_device("CUDA") and not onnx_backend.supports_device("?")
    proto = model([node()], ["x", "lengths"])
    assert not onnx_backend.is_compatible(proto, "CUDA")
    with pytest.raises(onnx_backend.Unsupported, match="device is 'CUDA', expected 'CPU'"):
        onnx_backend.prepare(proto, "CUDA")


@pytest.mark.parametrize(
    ("x", "lengths", "error", "text"),
    [
        (X, [5, 0, 0], ValueError, "flip (ReverseSequence): ReverseSequence: lengths[0] is 5, outside [0, 4]"),
        (X, [0, 0, -1], ValueError, "lengths[2] is -1, outside [0, 4]"),
        (X, [1, 1], ValueError, "lengths have shape [2], expected [3]"),
        (X, [[1, 1, 1]], ValueError, "lengths have shape [1, 3], expected [3]"),
        (X[0], [1], ValueError, "ReverseSequence: input has rank 1, expected at least 2"),
        (X[0, 0], [1], ValueError, "flip (ReverseSequence): ReverseSequence: input has rank 0"),
        (X, np.array([1, 1, 1], np.int32), TypeError, "lengths have type i32, expected i64"),
        (X, np.array([1.0, 1, 1]), TypeError, "lengths have type f64, expected i64"),
    ],
)
def test_what_a_node_cannot_run_on(x, lengths, error, text):
    with pytest.raises(error) as raised:
        onnx_backend.run_node(node(), [x, np.asarray(lengths)])
    assert text in str(raised.value)


HOSTILE = [
    (lambda g: g.node[0].input.__setitem__(1, ""), "flip (ReverseSequence): input 1 is omitted, expected a value"),
    (lambda g: g.node[0].input.append("x"), "flip (ReverseSequence): has 3 inputs, expected 2"),
    (lambda g: g.node[0].output.pop(), "flip (ReverseSequence): has 0 outputs, expected one with a name"),
    (lambda g: g.node[0].output.__setitem__(0, "x"), 'value "x" is produced twice'),
    (lambda g: g.input.append(g.input[0]), 'value "x" is produced twice'),
    (lambda g: g.output.append(g.output[0]), 'value "y" is produced twice'),
    (lambda g: g.node[0].input.__setitem__(0, "y"), "form a cycle: flip (ReverseSequence) -> flip"),
    (
        lambda g: g.node[0].attribute.append(helper.make_attribute("speed", 1)),
        'flip (ReverseSequence): attribute "speed" is unknown, expected one that the operator has',
    ),
    (
        lambda g: g.node.append(helper.make_node("Constant", [], ["c"], name="c")),
        'c (Constant): attribute "value" is given 0 times, expected exactly one value',
    ),
    (
        lambda g: g.node.append(helper.make_node("Constant", ["x"], ["c"], name="c", value_int=1)),
        "c (Constant): has 1 inputs, expected 0",
    ),
    (lambda g: initial(g, data_type=1, dims=[-1]), "axis 0 has the negative size -1"),
    (lambda g: initial(g, data_type=1, dims=[2], raw_data=b"12345"), "shape [2] of f32 takes 8 bytes but the buffer has 5"),
    (lambda g: initial(g, data_type=1, dims=[1 << 40, 1 << 40]), f"shape [{1 << 40}, {1 << 40}] of f32 needs more than"),
    (lambda g: initial(g, data_type=99, dims=[1]), "element type 99"),
    (lambda g: initial(g, data_type=8, dims=[1], string_data=[b"\xff"]), 'string_data[0] is "\\xff", expected UTF-8'),
    (lambda g: g.initializer.extend([numpy_helper.from_array(X, "i")] * 2), 'value "i" is produced twice'),
]


def initial(graph, **fields):
    graph.initializer.append(TensorProto(name="i", **fields))


@pytest.mark.parametrize(("change", "text"), HOSTILE)
def test_models_that_lie(change, text):
    proto = model([node()], ["x", "lengths"])
    change(proto.graph)
    with pytest.raises(ValueError) as raised:
        onnx_backend.prepare(proto)
    prefix = 'initializer "i": ' if len(proto.graph.initializer) == 1 else ""
    assert prefix + text in str(raised.value)


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(ValueError, match="not an ONNX model"):
        onnx_backend.prepare(b"\xff\xff\xff\xff")
    with pytest.raises(FileNotFoundError):
        onnx_backend.prepare(tmp_path / "missing.onnx")


def test_what_is_declared_holds():
    declared = [value("x", shape=["T", "B"]), value("lengths", "int64", ["B"])]
    prepared = onnx_backend.prepare(model([node()], declared, [value("y", shape=[4, None])]))
    assert equal(prepared.run([X, LENGTHS])[0], Y)
    for inputs, error, text in [
        ([X], ValueError, 'input "lengths" is missing (i64 [B])'),
        ([X, LENGTHS, X], ValueError, "3 inputs are given, expected 2"),
        ({"x": X, "lengths": LENGTHS, "z": X}, ValueError, 'there is no input "z", expected "x" or "lengths"'),
        ([X.astype(np.float64), LENGTHS], TypeError, 'input "x": has type f64, expected f32 [T, B]'),
    ]:
        with pytest.raises(error) as raised:
            prepared.run(inputs)
        assert str(raised.value) == text


def bounded(body, **inputs):
    """Runs a body of ONNX's text on these inputs. Peak memory, and the result or the error."""
    names = {"int64": "int64", "float32": "float", "uint8": "uint8", "bool": "bool"}
    sizes = iter(range(100))
    declared = ", ".join(
        f"{names[x.dtype.name]}[{', '.join(f'n{next(sizes)}' for _ in x.shape)}] {name}" for name, x in inputs.items()
    )
    head = '<ir_version: 8, opset_import: ["": 18]>'
    constants = """
        zero = Constant <value_int = 0> ()
        one = Constant <value_int = 1> ()
        list = Constant <value_ints = [1]> ()
        many = Constant <value_int = 400000000> ()
        huge = Constant <value_ints = [400000000]> ()
        wide = Constant <value_ints = [4, 100000000]> ()
        """
    proto = onnx.parser.parse_model(f"{head} g ({declared}) => (y) {{ {constants} {body} }}")
    before = most_memory(start=True)
    try:
        result = onnx_backend.prepare(proto).run(inputs)[0]
    except (TypeError, ValueError) as error:
        result = str(error)
    return most_memory() - before, result


def most_memory(start=False):
    """The most memory that this process has used, or from now on uses, in bytes. Elsewhere than on Linux: 0."""
    if not sys.platform.startswith("linux"):
        return 0
    if start:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


ENTRIES = "the result has 400000000 entries, more than the 1048576 that are accepted"
BYTES = "the result has 1600000000 bytes, more than the 67108864 that are accepted"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("y = Range (zero, many, one)", f"(Range): {ENTRIES}"),
        ("y = ConstantOfShape (huge)", f"(ConstantOfShape): {ENTRIES}"),
        ("a = Expand (list, huge) y = Add (a, list)", f"(Add): {ENTRIES}"),
        ("a = Expand (list, huge) y = Less (a, list)", f"(Less): {ENTRIES}"),
        ("a = Expand (list, huge) b = Less (list, list) y = Where (b, a, list)", f"(Where): {ENTRIES}"),
        ("y = Expand (f, huge)", f'output "y": {BYTES}'),
        ("a = Expand (f, huge) y = Reshape (a, wide)", f"(Reshape): {BYTES}"),
        ("a = Expand (list, huge) y = Cast <to = 6> (a)", "(Cast): the result has 3200000000 bytes"),
        ("a = Expand (f, wide) y = Concat <axis = 1> (a, a)", "(Concat): the result has 3200000000 bytes"),
        ("a = Expand (f, wide) y = Gather <axis = 0> (a, lengths)", f'output "y": {BYTES}'),
        ("a = Expand (f, wide) y = Gather <axis = 0> (a, pairs)", "(Gather): the result has 1600000000 bytes"),
        ("a = Expand (list, huge) y = Gather (f, a)", "(Gather): indices has 400000000 entries"),
        ("a = Expand (f, wide) b = Expand (zero, wide) y = GatherElements (a, b)", f"(GatherElements): {BYTES}"),
        ("a = Expand (f, wide) b = Reshape (lengths, rows) y = GatherND (a, b)", "(GatherND): the result has 160000000"),
        ("a = Expand (list, huge) y = Reshape (f, a)", "(Reshape): shape has 400000000 entries, more than the 1048576"),
        ("a = Expand (list, axes) y = Expand (f, a)", "(Expand): the shape of the result has 65 entries, more than the 64"),
        ("a = Expand (f, wide) y = ReverseSequence <time_axis = 1, batch_axis = 0> (a, lengths)", f"(ReverseSequence): {BYTES}"),
    ],
)
def test_results_cannot_grow_without_bound(body, text):
    inputs = {"f": np.float32([1]), "lengths": np.zeros(4, np.int64), "rows": np.array([4, 1]), "axes": np.array([65])}
    inputs["pairs"] = np.array([0, 0, 1, 0])
    peak, result = bounded(body, **inputs)
    assert isinstance(result, str) and text in result
    assert peak < 64 << 20


def test_the_bounds_themselves():
    f = np.float32([1])
    largest = (64 << 20) // f.itemsize
    for size, fits in [(largest, True), (largest + 1, False)]:
        _, result = bounded("y = Expand (f, n)", f=f, n=np.array([size]))
        assert isinstance(result, np.ndarray) == fits
    # Eight times as much as all inputs (and 48 bytes of constants).
    x = np.zeros((12 << 20, 1), np.uint8)
    for count, fits in [(8, True), (9, False)]:
        _, result = bounded("y = Expand (x, n)", x=x, n=np.array([1, count]))
        assert isinstance(result, np.ndarray) == fits
    for size, fits in [(1 << 20, True), ((1 << 20) + 1, False)]:
        _, result = bounded("a = Squeeze (n) y = Range (zero, a, one)", n=np.array([size]))
        assert isinstance(result, np.ndarray) == fits
    # Far beyond what fits in a number of 64 bits.
    n = np.array([-(2**63)])
    _, result = bounded("a = Squeeze (n) b = Squeeze (m) y = Range (a, b, one)", n=n, m=np.array([2**63 - 1]))
    assert f"the result has {2**64 - 1} entries" in result
    # Few elements of a view are picked without a copy of all of it.
    peak, result = bounded("a = Expand (f, wide) y = Gather <axis = 1> (a, list)", f=f)
    assert equal(result, np.ones((4, 1), np.float32)) and peak < 1 << 20
    # Repeated indices count once.
    x = np.arange(2 << 20, dtype=np.uint8).reshape(2, 4, 1 << 18)
    n = np.array([[[3], [2], [1], [0]], [[0], [1], [2], [3]]])
    body = "a = Shape (x) b = Expand (n, a) y = GatherElements <axis = 1> (x, b)"
    _, result = bounded(body, x=x, n=n)
    assert equal(result, np.stack([x[0, ::-1], x[1]]))


def test_threads_share_a_prepared_model():
    from concurrent.futures import ThreadPoolExecutor

    prepared = onnx_backend.prepare(model([node()], ["x", "lengths"]))
    x = RNG.integers(255, size=(64, 32, 8)).astype(np.uint8)
    lengths = [RNG.integers(65, size=32) for _ in range(64)]
    expected = [retrograde.reverse_sequence(x, one) for one in lengths]
    assert equal(expected[0], naive.reverse_sequence(x, lengths[0], 0, 1))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda one: prepared.run([x, one])[0], lengths))
    assert all(map(equal, results, expected))


def test_examples():
    result = doctest.testmod(onnx_backend)
    assert result.attempted > 0 and result.failed == 0
