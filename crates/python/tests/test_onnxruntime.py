"""The execution provider for ONNX Runtime: its results are those of the CPU provider, in models that
are not changed for it. Also runs without pytest-xdist against older versions of ONNX Runtime
(``scripts/test onnxruntime``)."""

import json
import re
import sys
import warnings
from pathlib import Path

import deadline
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import retrograde.onnxruntime as provider  # noqa: E402
from naive import equal  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx_models import (  # noqa: E402
    INT64_MIN,
    RUNTIME_TYPES,
    bidirectional,
    constant,
    made,
    reverse_sequence,
    sequence_node,
    value,
)
from together import together  # noqa: E402

CPU = "CPUExecutionProvider"
VERSION = tuple(map(int, ort.__version__.split(".")[:2]))
#: 1.23 and 1.24 return zeros for sequences of length 0, 1.31 does not; which version in between
#: stopped is not known, so these are tested from length 1 on up to 1.27.
LEAST_LENGTH = 0 if VERSION >= (1, 28) else 1
def random_array(dtype, shape, seed=0):
    random = np.random.default_rng(seed)
    if dtype == "object":
        words = [f"word {n} " * (n % 4) for n in range(int(np.prod(shape)))]
        return np.array(words, dtype=object).reshape(shape)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape))
    # All bit patterns: NaNs with payloads, -0.0.
    return random.integers(0, 256, count * np.dtype(dtype).itemsize, np.uint8).view(dtype).reshape(shape)


def unclaimed():
    """A model in which there is nothing for the provider."""
    return made([helper.make_node("Relu", ["x"], ["y"])], [value("x", "float32", [3])], [value("y", "float32", [3])])


def options(**others):
    made = ort.SessionOptions()
    made.log_severity_level = 4
    for name, setting in others.items():
        setattr(made, name, setting)
    return made


def stock(model, feeds, **others):
    return ort.InferenceSession(model, options(**others), providers=[CPU]).run(None, feeds)


def ours(model, feeds, **others):
    return provider.session(model, options(), **others).run(None, feeds)


def claimed(model, **others):
    return [claim.node or claim.output for claim in provider.explain(model, **others) if claim.claimed]


@pytest.mark.parametrize("time_axis", [0, 1])
@pytest.mark.parametrize("dtype", RUNTIME_TYPES)
def test_every_type(dtype, time_axis):
    for shape in [(5, 7), (33, 20), (4, 3, 2), (6, 5, 1, 4), (3, 0), (0, 3), (130, 70, 3)]:
        x = random_array(dtype, shape)
        random = np.random.default_rng(1)
        n = random.integers(LEAST_LENGTH, max(shape[time_axis], LEAST_LENGTH) + 1, shape[1 - time_axis])
        n = np.minimum(n, shape[time_axis])
        model = reverse_sequence(dtype, [None] * len(shape), time_axis)
        feeds = {"x": x, "n": n}
        assert claimed(model, strings=True) == ["reverse"]
        (got,), (wanted,) = ours(model, feeds, strings=True), stock(model, feeds)
        assert equal(got, wanted), (shape, n)


def test_lengths_of_zero_keep_their_sequence():
    """Also where the CPU provider of older versions returns zeros."""
    x = random_array("float32", (3, 4))
    (y,) = ours(reverse_sequence(), {"x": x, "n": np.array([0, 4, 0])})
    wanted = x.copy()
    wanted[1] = x[1, ::-1]
    assert equal(y, wanted)


@pytest.mark.parametrize("opset", [10, 11, 13, 17])
def test_slices(opset):
    """Random slices with a negative step, of every kind of operand."""
    random = np.random.default_rng(opset)
    extremes = [INT64_MIN, INT64_MIN + 1, 2**63 - 1, 2**31 - 1, -(2**31), 10**9]
    for case in range(60):
        rank = int(random.integers(1, 5))
        shape = tuple(int(size) for size in random.integers(0 if case % 10 == 0 else 1, 9, rank))
        dtype = RUNTIME_TYPES[case % len(RUNTIME_TYPES)]
        axes = random.permutation(rank)[: random.integers(1, rank + 1)]
        steps = random.choice([-3, -2, -1, -1, -1, 1, 2, -(10**12)], len(axes))
        steps[0] = -abs(steps[0])
        index_type = np.int64 if case % 3 else np.int32
        ends = random.integers(-10, 10, len(axes))
        starts = random.integers(-10, 10, len(axes))
        if index_type is np.int64:
            for list_ in (starts, ends):
                for at in range(len(list_)):
                    if random.integers(0, 3) == 0:
                        list_[at] = random.choice(extremes)
        else:
            steps = np.clip(steps, -(10**6), None)
        axes = np.where(random.integers(0, 2, len(axes)), axes, axes - rank)
        lists = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
        lists = {name: np.asarray(list_, index_type) for name, list_ in lists.items()}
        # Only the steps have to be constant.
        dynamic = {"starts", "ends"} if case % 2 else set()
        inputs = [value("x", dtype, [None] * rank)]
        inputs += [value(name, "int64" if index_type is np.int64 else "int32", [None]) for name in sorted(dynamic)]
        constants = [constant(name, list_, index_type) for name, list_ in lists.items() if name not in dynamic]
        node = helper.make_node("Slice", ["x", *lists], ["y"], name="slice")
        model = made([node], inputs, [value("y", dtype, None)], constants, opset)
        feeds = {"x": random_array(dtype, shape, case), **{name: lists[name] for name in dynamic}}
        assert claimed(model, strings=True) == ["slice"]
        session = provider.session(model, options(), strings=True)
        for _ in range(2):
            (got,), (wanted,) = session.run(None, feeds), stock(model, feeds)
            assert equal(got, wanted), (shape, lists)


def test_bfloat16_and_an_absent_operand():
    """Slice without axes; elements that NumPy does not have."""
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=TensorProto.BFLOAT16),
        helper.make_node("Slice", ["a", "starts", "ends", "", "steps"], ["b"], name="slice"),
        helper.make_node("Cast", ["b"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = [constant("starts", [-1, 0]), constant("ends", [INT64_MIN, 9]), constant("steps", [-1, 1])]
    model = made(nodes, [value("x", "float32", [None, None])], [value("y", "float32", None)], constants)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert claimed(model) == ["slice"]
    assert equal(ours(model, {"x": x})[0], x[::-1])


def test_nothing_else_is_claimed():
    nodes = [
        helper.make_node("Slice", ["x", "starts", "ends", "axes", "ones"], ["a"], name="forward"),
        helper.make_node("Slice", ["a", "starts", "ends", "axes"], ["b"], name="without steps"),
        helper.make_node("Slice", ["b", "starts", "ends", "axes", "given"], ["c"], name="computed"),
        helper.make_node("Slice", ["c", "last", "first", "axes", "back"], ["d"], name="backward"),
        helper.make_node("Transpose", ["d"], ["y"], name="transpose", perm=[1, 0]),
    ]
    constants = [constant("starts", [0]), constant("ends", [9]), constant("axes", [0]), constant("ones", [1])]
    constants += [constant("last", [-1]), constant("first", [INT64_MIN]), constant("back", [-1])]
    inputs = [value("x", "float32", [None, None]), value("given", "int64", [1])]
    model = made(nodes, inputs, [value("y", "float32", None)], constants)
    claims = {claim.node: claim for claim in provider.explain(model)}
    assert {name for name, claim in claims.items() if claim.claimed} == {"backward"}
    assert "not constant" in claims["computed"].reason
    assert "claimed" in str(provider.explain(model))
    feeds = {"x": random_array("float32", (4, 5)), "given": np.array([-1])}
    assert equal(ours(model, feeds)[0], stock(model, feeds)[0])


def test_small_nodes_are_left_alone_if_their_size_is_known():
    small = reverse_sequence(shape=(4, 4))
    (claim,) = provider.explain(small, min_bytes=65)
    assert not claim.claimed and "64 bytes" in claim.reason
    assert claimed(small, min_bytes=64) == ["reverse"]
    assert claimed(reverse_sequence(shape=(None, 4)), min_bytes=65) == ["reverse"]
    # By default, where others are as fast: small tensors, and wide rows up to 1 MiB.
    for shape, wanted in [((4, 4), 0), ((32, 32), 1), ((32, 32, 16), 0), ((128, 128, 16), 1), ((32, None, 16), 1)]:
        assert len(claimed(reverse_sequence(shape=shape))) == wanted, shape


def test_strings_are_left_alone_unless_requested():
    model = reverse_sequence("object")
    (claim,) = provider.explain(model)
    assert not claim.claimed and "strings" in claim.reason
    assert claimed(model, strings=True) == ["reverse"]
    x = np.array([["a\0b", "", "é" * 40], ["\0", "d", "e"]], dtype=object)
    assert ours(model, {"x": x, "n": np.array([3, 2])}, strings=True)[0].tolist() == [
        ["é" * 40, "", "a\0b"],
        ["d", "\0", "e"],
    ]


def test_shapes_may_change_from_run_to_run():
    session = provider.session(reverse_sequence(), options())
    flip = made(
        [helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])],
        [value("x", "float32", [None, None])],
        [value("y", "float32", None)],
        [constant("s", [-1]), constant("e", [INT64_MIN]), constant("a", [1]), constant("t", [-1])],
    )
    flips = provider.session(flip, options())
    for shape in [(3, 4), (4, 3), (3, 4), (700, 900), (1, 1), (0, 5), (3, 4)]:
        x = random_array("float32", shape)
        n = np.full(shape[0], shape[1])
        assert equal(session.run(None, {"x": x, "n": n})[0], x[:, ::-1])
        assert equal(flips.run(None, {"x": x})[0], x[:, ::-1])


def branch(name, node, output="z"):
    return helper.make_graph([node], name, [], [value(output, "float32", None)])


def test_subgraphs():
    """In both branches of an If, with constants of the outer graph, and in a Loop and a Scan."""
    reverse = sequence_node("x", "n", "z", 1, "in then")
    flip = helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["z"], name="in else")
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["still"]),
            helper.make_node("Slice", ["state", "s", "e", "a", "t"], ["next"], name="in loop"),
        ],
        "body",
        [value("i", "int64", []), value("go", "bool", []), value("state", "float32", None)],
        [value("still", "bool", []), value("next", "float32", None)],
    )
    scan = helper.make_graph(
        [helper.make_node("Slice", ["row", "s", "e", "zero", "t"], ["out"], name="in scan")],
        "scan",
        [value("row", "float32", [None])],
        [value("out", "float32", [None])],
    )
    nodes = [
        helper.make_node(
            "If", ["which"], ["b"], name="if", then_branch=branch("then", reverse), else_branch=branch("else", flip)
        ),
        helper.make_node("Loop", ["times", "", "b"], ["c"], name="loop", body=body),
        helper.make_node("Scan", ["c"], ["y"], name="scan", body=scan, num_scan_inputs=1),
    ]
    constants = [constant("s", [-1]), constant("e", [INT64_MIN]), constant("a", [1]), constant("t", [-1])]
    constants += [constant("zero", [0]), constant("times", 3)]
    inputs = [value("x", "float32", [None, None]), value("n", "int64", [None]), value("which", "bool", [])]
    model = made(nodes, inputs, [value("y", "float32", [None, None])], constants)
    if VERSION < (1, 24):
        reasons = {claim.reason for claim in provider.explain(model) if not claim.claimed}
        assert len(claimed(model)) == 1 and len(reasons) == 1 and "one graph only" in reasons.pop()
    else:
        assert sorted(claimed(model)) == ["in else", "in loop", "in scan", "in then"]
    graphs = {claim.node: claim.graph for claim in provider.explain(model)}
    # 1.23 does not say which node a graph is in.
    assert graphs["in then"] == ("then" if VERSION < (1, 24) else "if/then")
    for which in (True, False):
        feeds = {"x": random_array("float32", (6, 8)), "n": np.arange(1, 7), "which": np.array(which)}
        assert equal(ours(model, feeds)[0], stock(model, feeds)[0])


def test_values_that_others_use_are_not_overwritten():
    """The output may take the memory of the input only if nothing else needs that."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        sequence_node("a", "n", "b", 1, ""),
        sequence_node("b", "n", "c", 1, ""),
        helper.make_node("Slice", ["c", "s", "e", "zero", "t"], ["d"]),
        helper.make_node("Relu", ["d"], ["y"]),
        helper.make_node("Add", ["a", "b"], ["z"]),
    ]
    constants = [constant("s", [-1]), constant("e", [INT64_MIN]), constant("zero", [0]), constant("t", [-1])]
    inputs = [value("x", "float32", [40, 50]), value("n", "int64", [40])]
    outputs = [value("y", "float32", [40, 50]), value("z", "float32", [40, 50])]
    model = made(nodes, inputs, outputs, constants)
    assert len(claimed(model, min_bytes=0)) == 3
    feeds = {"x": np.random.default_rng(0).random((40, 50), np.float32), "n": np.arange(1, 41)}
    kept = feeds["x"].copy()
    for got, wanted in zip(ours(model, feeds, min_bytes=0), stock(model, feeds), strict=True):
        assert equal(got, wanted)
    assert equal(feeds["x"], kept)


def test_wrong_operands_are_invalid_arguments_and_sessions_go_on():
    session = provider.session(reverse_sequence(), options())
    x = random_array("float32", (3, 4))
    good = {"x": x, "n": np.array([4, 4, 4])}
    cases = [
        (np.array([4, 5, 0]), r"ReverseSequence: lengths\[1\] is 5, outside \[0, 4\]"),
        (np.array([4, 0, -1]), r"ReverseSequence: lengths\[2\] is -1, outside \[0, 4\]"),
        (np.array([4, 4]), r"lengths"),
    ]
    for lengths, text in cases:
        for _ in range(3):
            with pytest.raises(ort.capi.onnxruntime_pybind11_state.InvalidArgument, match=text):
                session.run(None, {"x": x, "n": lengths})
        assert equal(session.run(None, good)[0], x[:, ::-1])
    clamping = provider.session(reverse_sequence(), options(), policy="clamp")
    assert equal(clamping.run(None, {"x": x, "n": np.array([9, 99, 2**62])})[0], x[:, ::-1])
    with pytest.raises(ort.capi.onnxruntime_pybind11_state.InvalidArgument, match=r"\[0, 4\]"):
        clamping.run(None, {"x": x, "n": np.array([9, -1, 1])})


def test_wrong_options():
    model = reverse_sequence()
    with pytest.raises(ValueError, match="policy is 'loose'"):
        provider.session(model, policy="loose")
    for name in ("session", "explain"):
        text = rf"^{name}\(\) takes policy=, not lengths=: retrograde.onnxruntime.{name}\(model, policy='clamp'\)$"
        with pytest.raises(TypeError, match=text):
            getattr(provider, name)(model, lengths="clamp")
    with pytest.raises(ValueError, match="min_bytes is -1"):
        provider.session(model, min_bytes=-1)
    with pytest.raises(TypeError, match=r"takes the options of RetrogradeExecutionProvider as arguments: policy="):
        provider.session(model, providers=[(provider.NAME, {"policy": "clamp"}), CPU])
    with pytest.raises(ValueError, match=r"provider_options has 2 entries, expected one for each of the 1 names"):
        provider.session(model, providers=[CPU], provider_options=[{}, {}])
    for option, text in [("length", "unknown"), ("policy", "strict"), ("lengths", 'is called "policy"')]:
        wrong = options()
        wrong.add_provider_for_devices(provider.devices(), {option: "loose"})
        with pytest.raises(Exception, match=f'provider option "{option}".*{text}'):
            ort.InferenceSession(model, wrong, enable_fallback=0)
    theirs = options()
    theirs.add_provider_for_devices(provider.devices(), {})
    with pytest.raises(ValueError, match=r"sess_options have providers already, .*providers=\["):
        provider.session(model, theirs)


def test_the_options_of_the_caller_stay_as_they_are(tmp_path):
    """A later session without the provider does not have it, and what they say holds for ours."""
    model, x = reverse_sequence(), random_array("float32", (3, 4))
    shared = options(enable_profiling=True, profile_file_prefix=str(tmp_path / "profile"), intra_op_num_threads=1)
    shared.add_session_config_entry("session.intra_op.allow_spinning", "0")
    for policy in ("strict", "clamp"):
        session = provider.session(model, shared, policy=policy)
        assert session.get_providers() == [provider.NAME, CPU]
        used = session.get_session_options()
        assert (used.enable_profiling, used.intra_op_num_threads) == (True, 1)
        assert used.get_session_config_entry("session.intra_op.allow_spinning") == "0"
        assert Path(session.end_profiling()).parent == tmp_path
        assert not shared.has_providers()
        with pytest.raises(RuntimeError):
            shared.get_session_config_entry(f"ep.{provider.NAME.lower()}.policy")
    assert equal(session.run(None, {"x": x, "n": np.array([9, 9, 9])})[0], x[:, ::-1])
    assert ort.InferenceSession(model, shared).get_providers() == [CPU]
    assert not shared.has_providers()


def test_other_providers():
    model, x = reverse_sequence(), random_array("float32", (3, 4))
    for others in ([CPU], [provider.NAME, CPU], (CPU,), [], None):
        session = provider.session(model, options(), providers=others)
        assert session.get_providers() == [provider.NAME, CPU]
        assert equal(session.run(None, {"x": x, "n": np.array([4, 4, 4])})[0], x[:, ::-1])
    assert provider.session(model, options(), providers=[CPU], provider_options=[{}]).get_providers()[0] == provider.NAME
    if VERSION < (1, 25):
        with pytest.raises(RuntimeError, match="without others, and providers has CUDAExecutionProvider"):
            provider.session(model, options(), providers=["CUDAExecutionProvider", CPU])
        return
    # Behind another one, which takes the node first.
    session = provider.session(model, options(), providers=[CPU, provider.NAME])
    assert session.get_providers() == [CPU, provider.NAME]


@pytest.mark.parametrize("model", [reverse_sequence(), unclaimed()], ids=["claimed", "unclaimed"])
@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("what", "1", 'provider option "what" is unknown, expected policy, min_bytes, strings, report'),
        ("min_bytes", "-1", 'provider option "min_bytes" is "-1", expected a number of bytes'),
        ("policy", "loose", 'provider option "policy" is "loose", expected "strict" or "clamp"'),
        ("report", "/nonexistent/x", 'provider option "report" is "/nonexistent/x", expected a file that can be written'),
    ],
)
def test_a_wrong_option_is_no_session_on_the_cpu(option, value, text, model):
    """Also with ONNX Runtime's fallback, which makes a session without the provider if it can."""
    made = options()
    made.add_provider_for_devices(provider.devices(), {option: value})
    with pytest.raises(Exception, match=re.escape(text)):
        ort.InferenceSession(model, made)
    if VERSION >= (1, 25):
        with pytest.raises(Exception, match=re.escape(text)):
            ort.InferenceSession(model, options(), providers=[(provider.NAME, {option: value}), CPU])
    # The failed sessions are gone, and others can be made.
    assert provider.NAME in provider.session(model, options()).get_providers()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_report_that_cannot_be_written_later_is_an_error_too():
    """The runtime only logs errors that a provider has while it claims nodes."""
    made = options()
    made.add_provider_for_devices(provider.devices(), {"report": "/dev/full"})
    with pytest.raises(Exception, match=r'provider option "report" is "/dev/full".*No space left'):
        ort.InferenceSession(reverse_sequence(), made)


def test_by_name():
    model = reverse_sequence()
    x = random_array("float32", (3, 4))
    if VERSION < (1, 25):
        with pytest.warns(RuntimeWarning, match="ignores RetrogradeExecutionProvider"):
            provider.register()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        provider.register()
    session = ort.InferenceSession(model, options(), providers=[provider.NAME, CPU])
    assert session.get_providers() == [provider.NAME, CPU]
    assert equal(session.run(None, {"x": x, "n": np.array([4, 4, 4])})[0], x[:, ::-1])
    session = ort.InferenceSession(model, options(), providers=[(provider.NAME, {"policy": "clamp"}), CPU])
    assert equal(session.run(None, {"x": x, "n": np.array([9, 9, 9])})[0], x[:, ::-1])


def test_the_profile_names_the_provider(tmp_path):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="before"),
        sequence_node("a", "n", "b", 1),
        helper.make_node("Relu", ["b"], ["y"], name="after"),
    ]
    inputs = [value("x", "float32", [None, None]), value("n", "int64", [None])]
    model = made(nodes, inputs, [value("y", "float32", [None, None])])
    profiled = options(enable_profiling=True, profile_file_prefix=str(tmp_path / "profile"))
    session = provider.session(model, profiled)
    session.run(None, {"x": random_array("float32", (3, 4)), "n": np.array([4, 4, 4])})
    events = json.loads(Path(session.end_profiling()).read_text())
    nodes = [event["args"]["provider"] for event in events if event["cat"] == "Node" and "kernel" in event["name"]]
    # Nothing is copied between the providers.
    assert nodes == [CPU, provider.NAME, CPU]


def test_concurrent_runs_of_several_sessions():
    sessions = [provider.session(reverse_sequence(), options(intra_op_num_threads=n)) for n in (1, 2, 3)]
    shapes = [(5, 7), (64, 100), (600, 700)]

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(40):
            session = sessions[random.integers(len(sessions))]
            shape = shapes[random.integers(len(shapes))]
            x = random.random(shape, np.float32)
            lengths = np.full(shape[0], shape[1])
            if random.integers(4) == 0:
                lengths[-1] = shape[1] + 1
                with pytest.raises(Exception, match="outside"):
                    session.run(None, {"x": x, "n": lengths})
            else:
                assert equal(session.run(None, {"x": x, "n": lengths})[0], x[:, ::-1]), shape

    together(work)


UNLOAD = """
import gc, sys
import numpy as np, onnxruntime as ort
import retrograde.onnxruntime as provider

model = open(sys.argv[1], "rb").read()
x = np.random.default_rng(0).random((700, 800), np.float32)
for _ in range(5):
    session = provider.session(model)
    assert np.array_equal(session.run(None, {"x": x, "n": np.full(700, 800)})[0], x[:, ::-1])
    try:
        session.run(None, {"x": x, "n": np.full(700, 801)})
    except Exception as error:
        assert "outside [0, 800]" in str(error)
    del session
    gc.collect()
    provider.unregister()
    assert not [device for device in ort.get_ep_devices() if device.ep_name == provider.NAME]
# The process ends with the library loaded and a session alive.
session = provider.session(model)
print("done")
"""


def test_the_library_can_be_unloaded_and_loaded_again(tmp_path):
    """In a process of its own: other tests hold sessions."""
    (tmp_path / "model.onnx").write_bytes(reverse_sequence())
    command = [sys.executable, "-c", UNLOAD, str(tmp_path / "model.onnx")]
    result = deadline.run(command)
    assert result.returncode == 0 and result.stdout == "done\n", result.stderr


LIVE = """
import gc, sys
import numpy as np, onnxruntime as ort
import retrograde.onnxruntime as provider

model = open(sys.argv[1], "rb").read()
x = np.random.default_rng(0).random((700, 800), np.float32)

def run(session):
    assert np.array_equal(session.run(None, {"x": x, "n": np.full(700, 800)})[0], x[:, ::-1])

# A session by name where the runtime has that, and one of ours.
provider.register()
sessions = [provider.session(model)]
if sys.argv[2] == "by name":
    sessions.append(ort.InferenceSession(model, providers=[provider.NAME, "CPUExecutionProvider"]))
for session in sessions:
    run(session)
while sessions:
    try:
        provider.unregister()
        raise SystemExit("unregistered")
    except RuntimeError as error:
        assert f"no session uses {provider.NAME}, and there are {len(sessions)}: delete" in str(error), error
    for session in sessions:
        run(session)
    del session, sessions[-1]
    gc.collect()
provider.unregister()
provider.unregister()
assert not [device for device in ort.get_ep_devices() if device.ep_name == provider.NAME]
# ONNX Runtime itself does not ask: the session goes on, and can be deleted.
session = provider.session(model)
ort.unregister_execution_provider_library("retrograde")
for _ in range(3):
    run(session)
again = provider.session(model)
run(again)
run(session)
del session
gc.collect()
run(again)
print("done")
"""


def test_the_library_is_not_unloaded_below_a_session(tmp_path):
    (tmp_path / "model.onnx").write_bytes(reverse_sequence())
    by_name = "by name" if VERSION >= (1, 25) else "not by name"
    command = [sys.executable, "-W", "ignore", "-c", LIVE, str(tmp_path / "model.onnx"), by_name]
    result = deadline.run(command)
    assert result.returncode == 0 and result.stdout == "done\n", result.stderr


@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
def test_bidirectional_networks(cell):
    random = np.random.default_rng(0)
    model = bidirectional(cell, 12, 16, random)
    assert claimed(model) == ["first", "second"]
    feeds = {"x": random.random((40, 9, 12)).astype(np.float32), "n": random.integers(1, 41, 9)}
    assert equal(ours(model, feeds)[0], stock(model, feeds)[0])


def test_a_flip_of_an_image():
    """As PyTorch exports ``torch.flip(x, [2, 3])``: one Slice per axis."""
    nodes = [
        helper.make_node("Slice", ["x", "s", "e", "two", "t"], ["a"], name="rows"),
        helper.make_node("Slice", ["a", "s", "e", "three", "t"], ["y"], name="columns"),
    ]
    constants = [constant("s", [-1]), constant("e", [-(2**63) + 1]), constant("t", [-1])]
    constants += [constant("two", [2]), constant("three", [3])]
    shape = [2, 3, 40, 50]
    for dtype in ("float32", "uint8"):
        model = made(nodes, [value("x", dtype, shape)], [value("y", dtype, None)], constants)
        assert claimed(model, min_bytes=0) == ["rows", "columns"]
        feeds = {"x": random_array(dtype, shape)}
        assert equal(ours(model, feeds, min_bytes=0)[0], stock(model, feeds)[0])


def official():
    """The node tests of the ``onnx`` package: name, model and pairs of inputs and outputs."""
    from onnx.backend.test.case.node import collect_testcases

    for operator in ("ReverseSequence", "Slice"):
        for case in collect_testcases(operator):
            # bfloat16 came with opset 28, which no version of ONNX Runtime takes yet.
            if case.model is not None and not case.name.endswith("bfloat16"):
                yield pytest.param(case, id=case.name)


@pytest.mark.parametrize("case", official())
def test_official_node_tests(case):
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    # These types of ReverseSequence are the same at every opset, and older than any runtime here.
    for opset in model.opset_import:
        opset.version = min(opset.version, 17)
    model.ir_version = 8
    names = [entry.name for entry in model.graph.input]
    for inputs, outputs in case.data_sets:
        feeds = dict(zip(names, map(np.asarray, inputs), strict=False))
        for got, wanted in zip(ours(model.SerializeToString(), feeds, min_bytes=0), outputs, strict=True):
            assert equal(got, np.asarray(wanted))


def test_the_library_has_the_entry_points():
    assert Path(provider.library_path()).exists()
    with open(provider.library_path(), "rb") as library:
        content = library.read()
    assert b"CreateEpFactories" in content and b"ReleaseEpFactory" in content
