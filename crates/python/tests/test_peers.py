"""Random calls compared with NumPy, ONNX Runtime, OpenVINO and JAX; and known errors of those."""

import random

import naive
import numpy as np
import onnxruntime as ort
import openvino as ov
import pytest
import retrograde
from onnx import TensorProto
from onnx_models import RUNTIME_TYPES, reverse_sequence
from openvino.utils.node_factory import NodeFactory

ort.set_default_logger_severity(4)  # refusals are expected below
CORE = ov.Core()


def picked(seed):
    """A random array with a random type and layout, and the random generator."""
    rng = random.Random(seed)
    shape = [rng.choice([0, 1, 2, 3, 5, 8, 17, 40, 129]) for _ in range(rng.randint(2, 4))]
    while np.prod(shape) > 40_000:
        shape[rng.randrange(len(shape))] = 2
    x = naive.filled(tuple(shape), rng.choice(naive.DTYPES), seed)
    order = rng.sample(range(x.ndim), x.ndim)
    return naive.laid_out(x, rng.choice(naive.LAYOUTS)).transpose(order), rng


def lanes_of(x, lengths, axis):
    """The usual substitute for such an operator: an index, then a gather."""
    steps = np.arange(x.shape[axis]).reshape([-1 if at == axis else 1 for at in range(x.ndim)])
    lengths = np.minimum(lengths, x.shape[axis])
    return np.take_along_axis(x, np.broadcast_to(np.where(steps < lengths, lengths - 1 - steps, steps), x.shape), axis)


@pytest.mark.parametrize("seed", range(150))
def test_numpy(seed):
    x, rng = picked(seed)
    axes = rng.sample(range(-x.ndim, x.ndim), rng.randint(0, x.ndim))
    y = retrograde.reverse(x, axes)
    assert naive.bits(y) == naive.bits(np.flip(x, tuple({a % x.ndim for a in axes})))

    time, batch = rng.sample(range(x.ndim), 2)
    lengths = np.array([rng.randint(0, x.shape[time]) for _ in range(x.shape[batch])], rng.choice("bhiqBHIQ"))
    shape = [-1 if at == batch else 1 for at in range(x.ndim)]
    y = retrograde.reverse_sequence(x, lengths, time_axis=time - rng.choice([0, x.ndim]), batch_axis=batch)
    assert naive.bits(y) == naive.bits(lanes_of(x, lengths.astype("i8").reshape(shape), time))

    axis = rng.randrange(x.ndim)
    shape = [1 if at == axis else size for at, size in enumerate(x.shape)]
    lengths = np.random.default_rng(seed).integers(0, x.shape[axis] + 3, shape)
    y = retrograde.reverse_subsequences(x, lengths, axis=axis)
    assert naive.bits(y) == naive.bits(lanes_of(x, lengths, axis))


@pytest.mark.parametrize("dtype", RUNTIME_TYPES)
def test_onnxruntime(dtype):
    rng = np.random.default_rng(len(dtype))
    for time in (0, 1):
        session = ort.InferenceSession(reverse_sequence(dtype, [None] * 3, time, opset=10), providers=["CPUExecutionProvider"])
        for shape in [(1, 1, 1), (7, 3, 2), (20, 33, 1), (4, 9, 17)]:
            x = naive.filled(shape, dtype)
            if dtype == "object":
                x = np.array([str(value) for value in x.ravel()], object).reshape(shape)
            # Random bits of a float may be NaN, which NumPy compares as unequal, so bits are
            # compared.
            lengths = rng.integers(1, shape[time] + 1, shape[1 - time])
            expected = session.run(None, {"x": x, "n": lengths})[0]
            y = retrograde.reverse_sequence(x, lengths, time_axis=time, batch_axis=1 - time)
            assert naive.bits(y) == naive.bits(np.asarray(expected, x.dtype))


def openvino_reverse(dtype, rank, axes):
    """A compiled model of one Reverse."""
    data = ov.opset10.parameter([-1] * rank, np.dtype(dtype).type)
    axes = ov.op.Constant(np.array(axes, np.int64))
    node = NodeFactory("opset1").create("Reverse", [data, axes], {"mode": "index"})
    return CORE.compile_model(ov.Model([node], [data], "m"), "CPU")


def openvino_reverse_sequence(dtype, rank, time, batch):
    """A compiled model of one ReverseSequence."""
    data = ov.opset10.parameter([-1] * rank, np.dtype(dtype).type)
    lengths = ov.opset10.parameter([-1], np.int32)
    node = ov.opset10.reverse_sequence(data, lengths, batch, time)
    return CORE.compile_model(ov.Model([node], [data, lengths], "m"), "CPU")


#: Types that OpenVINO's CPU plugin moves unchanged; the others are in the table below.
OPENVINO_TYPES = ["uint8", "int8", "float32"]


@pytest.mark.parametrize("dtype", OPENVINO_TYPES)
def test_openvino(dtype):
    rng = np.random.default_rng(len(dtype))
    for shape in [(5,), (4, 7), (3, 4, 5), (2, 3, 1, 6)]:
        # Whole numbers, because it may change NaN payloads.
        x = rng.integers(0, 100, shape).astype(dtype)
        for axes in [(0,), (-1,), tuple(range(len(shape)))]:
            expected = openvino_reverse(dtype, len(shape), axes)(x)[0]
            assert np.array_equal(retrograde.reverse(x, axes), expected)
        for time, batch in [(0, 1), (1, 0), (len(shape) - 1, 0)] if len(shape) > 1 else []:
            lengths = rng.integers(1, shape[time] + 1, shape[batch]).astype(np.int32)
            expected = openvino_reverse_sequence(dtype, len(shape), time, batch)([x, lengths])[0]
            y = retrograde.reverse_sequence(x, lengths, time_axis=time, batch_axis=batch)
            assert np.array_equal(y, expected)


def test_jax():
    jax = pytest.importorskip("jax")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 2**31, rng.integers(0, 9, 3), np.int32)
        axes = tuple(rng.permutation(3)[: rng.integers(0, 4)].tolist())
        assert np.array_equal(retrograde.reverse(x, axes), np.asarray(jax.numpy.flip(x, axes)))


def refuses(kind):
    """Whether ONNX Runtime has no kernel for a type that ONNX lists."""
    try:
        ort.InferenceSession(reverse_sequence(kind, [None] * 2, 0, opset=10), providers=["CPUExecutionProvider"])
    except Exception as error:  # its own exceptions have no common base
        return "ReverseSequence" in str(error) or "complex" in str(error)
    return False


def reversed_by_openvino(value, dtype):
    return openvino_reverse(dtype, 1, [0])(np.array([value, 1], dtype))[0][1]


#: Runtime, call, what it returns, the correct value; for the versions that CI pins.
KNOWN_WRONG = [
    ("openvino", "Reverse of int64", lambda: reversed_by_openvino(2**53 + 1, np.int64), 1, 2**53 + 1),
    ("openvino", "Reverse of uint64", lambda: reversed_by_openvino(2**63, np.uint64), 0, 2**63),
    ("openvino", "Reverse of float64", lambda: reversed_by_openvino(0.1, np.float64), float(np.float32(0.1)), 0.1),
    (
        "openvino",
        "ReverseSequence of int32",
        lambda: openvino_reverse_sequence(np.int32, 2, 0, 1)([np.array([[2**24 + 1], [1]], np.int32), np.array([2], np.int32)])[0][1, 0],
        2**24,
        2**24 + 1,
    ),
    ("onnxruntime", "ReverseSequence of complex64: refuses", lambda: refuses(TensorProto.COMPLEX64), True, False),
    ("onnxruntime", "ReverseSequence of complex128: refuses", lambda: refuses(TensorProto.COMPLEX128), True, False),
]  # fmt: skip


@pytest.mark.parametrize("runtime, call, run, returns, right", KNOWN_WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_known_wrong_answers(runtime, call, run, returns, right):
    found = run()
    assert found == returns != right, f"{runtime}: {call}: is {found!r} now: update the table"


def test_ours_are_right():
    for value, dtype in [(2**53 + 1, "i8"), (2**63, "u8"), (0.1, "f8")]:
        assert retrograde.reverse(np.array([value, 1], dtype))[1] == np.dtype(dtype).type(value)
    x = np.array([[2**24 + 1], [1]], np.int32)
    assert retrograde.reverse_sequence(x, [2])[1, 0] == 2**24 + 1
    for dtype in ("c8", "c16"):
        x = naive.filled((5, 3), dtype)
        assert naive.bits(retrograde.reverse_sequence(x, [5, 0, 2])) == naive.bits(naive.reverse_sequence(x, [5, 0, 2], 0, 1))
