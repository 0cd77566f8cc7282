"""Tensors of TensorFlow against loops in plain NumPy, ``tf.reverse`` and ``tf.reverse_sequence``."""

import itertools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import naive
import numpy as np
import pytest
import tensorflow as tf

import retrograde

DTYPES = [
    getattr(place, name)
    for place in (tf.dtypes, tf.dtypes.experimental)
    for name in """bool int4 uint4 int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32
    float64 complex64 complex128 float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz
    float8_e5m2fnuz""".split()
    if hasattr(place, name)
]


def sample(rng, shape, dtype):
    """Random bits that are valid for the type."""
    kind = np.dtype(dtype.as_numpy_dtype)
    if kind == bool:
        return rng.random(shape) < 0.5
    if "int4" in kind.name:
        return rng.integers(0, 7, shape).astype(kind)
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * kind.itemsize), kind).reshape(shape)


def same(got, expected):
    assert isinstance(got, tf.Tensor)
    naive.same(got.numpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_type_moves_bit_by_bit(dtype):
    rng = np.random.default_rng(1)
    for shape in [(7,), (3, 5), (2, 3, 9)]:
        data = sample(rng, shape, dtype)
        x = tf.constant(data)
        assert x.dtype == dtype
        same(retrograde.reverse(x, axes=-1), np.flip(data, -1))
    lengths = rng.integers(0, 5, (2, 1, 9))
    same(retrograde.reverse_subsequences(x, tf.constant(lengths), axis=1), naive.reverse_subsequences(data, lengths, 1))


def test_random_calls_agree_with_tensorflow():
    rng = np.random.default_rng(2)
    for _ in range(100):
        rank = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(0, 6, rank))
        x = tf.constant(rng.standard_normal(shape).astype(np.float32))
        axes = sorted({int(a) for a in rng.integers(0, rank, 3)})
        same(retrograde.reverse(x, tf.constant(axes)), tf.reverse(x, axes).numpy())
        time, batch = (int(a) for a in rng.permutation(rank)[:2])
        lengths = tf.constant(rng.integers(0, shape[time] + 1, shape[batch]))
        want = tf.reverse_sequence(x, lengths, seq_axis=time, batch_axis=batch).numpy()
        for given in (lengths, lengths.numpy(), lengths.numpy().tolist()):
            same(retrograde.reverse_sequence(x, given, time_axis=time, batch_axis=batch), want)


def test_strings():
    x = tf.constant([["a", "bc", "é"], ["", "x\0y", "z"]])
    assert retrograde.reverse(x).numpy().tolist() == [[b"z", b"x\0y", b""], ["é".encode(), b"bc", b"a"]]
    y = retrograde.reverse_sequence(x, tf.constant([2, 3]), time_axis=1, batch_axis=0)
    assert y.dtype == tf.string and y.numpy().tolist()[0] == [b"bc", b"a", "é".encode()]
    assert retrograde.reverse(tf.constant("alone")).numpy() == b"alone"
    assert retrograde.reverse(tf.zeros((0, 2), tf.string)).shape == (0, 2)


#: The integers that a quantised type stores.
QUANTISED = {
    tf.quint8: tf.uint8,
    tf.qint8: tf.int8,
    tf.quint16: tf.uint16,
    tf.qint16: tf.int16,
    tf.qint32: tf.int32,
}


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("dtype", QUANTISED, ids=lambda dtype: dtype.name)
def test_quantised_types(dtype, wrap):
    stored = QUANTISED[dtype]
    data = np.arange(24).reshape(2, 3, 4).astype(stored.as_numpy_dtype)
    x = tf.bitcast(tf.constant(data), dtype)
    lengths = np.array([2, 0, 1, 2])
    lanes = np.broadcast_to(lengths, (1, 3, 4))
    for call, expected in [
        (lambda x: retrograde.reverse(x, (0, -1)), np.flip(data, (0, 2))),
        (lambda x: retrograde.flip(x, 1), np.flip(data, 1)),
        (lambda x: retrograde.rot90(x, 3), np.rot90(data, 3)),
        (lambda x: retrograde.reverse_sequence(x, lengths, time_axis=0, batch_axis=2), naive.reverse_subsequences(data, lanes, 0)),
        (lambda x: retrograde.reverse_subsequences(x, lanes, axis=0), naive.reverse_subsequences(data, lanes, 0)),
    ]:
        got = wrap(call)(x)
        assert got.dtype == dtype and got.shape == expected.shape
        same(tf.bitcast(got, stored), expected)


def test_large_tensors_and_variables():
    data = np.arange(2 << 20, dtype=np.float32).reshape(1024, -1)
    for _ in range(3):
        same(retrograde.reverse(tf.constant(data), 1), np.flip(data, 1))
    same(retrograde.reverse(tf.Variable(data)), np.flip(data))
    lengths = tf.Variable([1024] * 2048)
    same(retrograde.reverse_sequence(tf.constant(data), lengths), np.flip(data, 0))


NAMES = {
    "flip": (lambda f, x: f.flip(x, (0, -1)), lambda x: tf.reverse(x, [0, 2])),
    "all": (lambda f, x: f.flip(x), lambda x: tf.reverse(x, [0, 1, 2])),
    "fliplr": (lambda f, x: f.fliplr(x), lambda x: tf.reverse(x, [1])),
    "flipud": (lambda f, x: f.flipud(x), lambda x: tf.reverse(x, [0])),
    **{
        f"rot90 {k}": (
            lambda f, x, k=k: f.rot90(x, k, (1, 2)),
            lambda x, k=k: tf.image.rot90(x[..., None], k)[..., 0],
        )
        for k in range(4)
    },
}


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("call, theirs", NAMES.values(), ids=NAMES)
def test_the_functions_of_numpy(call, theirs, wrap):
    for dtype in (tf.float32, tf.bfloat16, tf.int64, tf.string, tf.complex64):
        numbers = tf.reshape(tf.range(24), (2, 3, 4))
        x = tf.strings.as_string(numbers) if dtype == tf.string else tf.cast(numbers, dtype)
        got = wrap(lambda x: call(retrograde, x))(x)
        expected = call(np, x.numpy())
        assert got.dtype == dtype and got.shape == expected.shape
        assert got.numpy().tolist() == expected.tolist()
    if dtype != tf.string:
        assert np.array_equal(got, theirs(x))
    x = tf.Variable(tf.random.normal((2, 3, 4)))
    weights = tf.random.normal(call(np, x.numpy()).shape)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            y = tf.reduce_sum(wrap(lambda x: call(retrograde, x))(x) ** 3 * weights)
            z = tf.reduce_sum(theirs(x) ** 3 * weights)
        first, expected = inner.gradient(y, x), inner.gradient(z, x)
        total, wanted = tf.reduce_sum(first), tf.reduce_sum(expected)
    assert np.allclose(first, expected, rtol=1e-5)
    assert np.allclose(outer.gradient(total, x), outer.gradient(wanted, x), rtol=1e-5)


def test_shapes_that_are_known_in_part():
    x = tf.reshape(tf.range(24), (2, 3, 4))

    @tf.function(input_signature=[tf.TensorSpec((None, 3, None), tf.int32)])
    def turn(x):
        y = retrograde.rot90(x)
        assert y.shape.as_list() == [3, None, None]
        return y

    assert np.array_equal(turn(x), np.rot90(x))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def unknown(x):
        return retrograde.flip(x)

    with pytest.raises(TypeError, match="unknown rank"):
        unknown(x)


def test_duplicates():
    x = tf.constant([[1, 2], [3, 4]])
    assert np.array_equal(retrograde.reverse(x, (0, -2)), [[3, 4], [1, 2]])
    assert np.array_equal(retrograde.reverse(x, tf.constant([0, 1]), duplicates="error"), [[4, 3], [2, 1]])
    for axes in ((0, -2), tf.constant([1, 1])):
        with pytest.raises(ValueError, match="the same axis as axes"):
            retrograde.reverse(x, axes, duplicates="error")
    run = tf.function(lambda x, axes: retrograde.reverse(x, axes, duplicates="error"))
    assert np.array_equal(run(x, tf.constant([1, 0])), [[4, 3], [2, 1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the same axis as axes"):
        run(x, tf.constant([1, -1]))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_lengths_of_every_type(kind):
    x = tf.reshape(tf.range(24), (2, 3, 4))
    want = tf.reverse_sequence(x, [3, 1], seq_axis=1, batch_axis=0).numpy()
    lengths = tf.constant(np.array([3, 1], kind))
    same(retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0), want)
    same(tf.function(lambda x, n: retrograde.reverse_sequence(x, n, time_axis=-2, batch_axis=0))(x, lengths), want)


def test_masks_and_lengths_for_arrays_of_numpy():
    x = np.arange(24).reshape(2, 3, 4)
    y = retrograde.reverse(x, mask=tf.constant([True, False, True]))
    assert type(y) is np.ndarray and np.array_equal(y, np.flip(x, (0, 2)))
    assert np.array_equal(retrograde.reverse(x, tf.constant([0, 2])), np.flip(x, (0, 2)))
    assert np.array_equal(retrograde.reverse(x, mask=tf.constant([1, 0, 1])), np.flip(x, (0, 2)))
    with pytest.raises(ValueError, match="of rank 2, expected one boolean"):
        retrograde.reverse(x, mask=tf.constant([[True, False, True]]))
    y = retrograde.reverse_sequence(x, tf.constant([1, 2], tf.uint8), time_axis=2, batch_axis=0)
    assert np.array_equal(y, tf.reverse_sequence(x, [1, 2], seq_axis=2, batch_axis=0))


def test_gradients():
    x = tf.Variable(np.random.default_rng(3).standard_normal((4, 3)).astype(np.float32))
    weights = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    lengths = tf.constant([4, 0, 2])
    for call in (lambda x: retrograde.reverse(x, 0), lambda x: retrograde.reverse_sequence(x, lengths)):
        for wrap in (lambda f: f, tf.function):
            run = wrap(lambda x: tf.reduce_sum(call(x) ** 3 * weights))
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    loss = run(x)
                first = inner.gradient(loss, x)
                total = tf.reduce_sum(first)
            back = call(weights)
            assert np.allclose(first, 3 * x**2 * back, rtol=1e-5)
            assert np.allclose(outer.gradient(total, x), 6 * x * back, rtol=1e-5)


def test_inside_a_function():
    @tf.function
    def run(x, n):
        return retrograde.reverse_sequence(x, n, policy="clamp") + retrograde.reverse(x, mask=[True, False])

    x, n = tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant([2, 9])
    got = run(x, n)
    assert got.shape == (3, 2) and got.numpy().tolist() == [[3 + 5, 6 + 6], [1 + 3, 4 + 4], [5 + 1, 2 + 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"lengths\[0\] is -1"):
        run(x, tf.constant([-1, 0]))


def test_what_is_refused():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    table = [
        (TypeError, "immutable", lambda: retrograde.reverse(x, out=x)),
        (ValueError, r"axes\[0\] is 2", lambda: retrograde.reverse(x, 2)),
        (ValueError, r"lengths\[1\] is 3", lambda: retrograde.reverse_sequence(x, tf.constant([1, 3]))),
        (TypeError, "float32, expected", lambda: retrograde.reverse_sequence(x, tf.constant([1.0, 1.0]))),
        (np.exceptions.AxisError, r"axis\[0\]: axis 2", lambda: retrograde.flip(x, 2)),
        (ValueError, r"expected \[2, 1\] or \[2\]", lambda: retrograde.reverse_subsequences(x, [1, 1, 1], axis=1)),
        (TypeError, "RaggedTensor", lambda: retrograde.reverse(tf.ragged.constant([[1], [2, 3]]))),
    ]
    for kind, text, call in table:
        with pytest.raises(kind, match=text):
            call()


def test_prepared():
    x = tf.reshape(tf.range(6.0), (2, 3))
    rows = retrograde.prepare("reverse_sequence", x, tf.constant([3, 2]), time_axis=1, batch_axis=0)
    assert np.array_equal(rows(x), [[2, 1, 0], [4, 3, 5]])
    assert np.array_equal(rows(x, tf.constant([1, 3])), [[0, 1, 2], [5, 4, 3]])
    strings = tf.constant(["a", "b"])
    assert retrograde.prepare("reverse", strings)(strings).numpy().tolist() == [b"b", b"a"]


def test_explained():
    assert retrograde.explain("reverse", tf.zeros((128, 512)), 0).kernel == "rows"


RULES = list(itertools.product(("start", "end"), ("keep", "zero")))


@pytest.mark.parametrize(("align", "tail"), RULES)
def test_padding(align, tail):
    rng = np.random.default_rng(7)
    rules = {"align": align, "tail": tail}
    x, lengths = rng.integers(1, 99, (4, 3, 5)).astype(np.float32), np.array([5, 0, 2, 3])
    lanes = rng.integers(0, 7, (4, 3, 1))
    want = naive.reverse_sequence(x, lengths, 2, 0, **rules)
    by_lane = naive.reverse_subsequences(x, lanes, 2, **rules)
    run = lambda x, n: retrograde.reverse_sequence(x, n, time_axis=2, batch_axis=0, **rules)
    along = lambda x, n: retrograde.reverse_subsequences(x, n, axis=2, **rules)
    for given in (lengths, lengths.tolist(), tf.constant(lengths), tf.Variable(lengths)):
        same(run(tf.constant(x), given), want)
    same(along(tf.constant(x), tf.constant(lanes)), by_lane)
    same(tf.function(run)(tf.constant(x), tf.constant(lengths)), want)
    same(tf.function(along)(tf.constant(x), lanes), by_lane)
    weights = tf.constant(rng.standard_normal(x.shape).astype(np.float32))
    for wrap in (lambda f: f, tf.function):
        variable = tf.Variable(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(wrap(run)(tf.convert_to_tensor(variable), tf.constant(lengths)) * weights)
        same(tape.gradient(loss, variable), run(weights, lengths).numpy())
    strings = tf.constant([["a", "b", "c"]])
    if tail == "zero":
        with pytest.raises(TypeError, match="whose elements are references"):
            retrograde.reverse_sequence(strings, [2], time_axis=1, batch_axis=0, **rules)
    else:
        got = retrograde.reverse_sequence(strings, [2], time_axis=1, batch_axis=0, **rules)
        assert got.numpy().tolist() == [[b"b", b"a", b"c"] if align == "start" else [b"a", b"c", b"b"]]


def test_reverse_complements():
    reads = tf.constant(np.frombuffer(b"ACGTGATTACA-", np.uint8).reshape(3, 4))
    y = retrograde.reverse_complement(reads, lengths=tf.constant([4, 4, 3]), strict=True)
    assert isinstance(y, tf.Tensor) and y.numpy().tobytes() == b"ACGTAATCTGT-"


def test_segments_agree_with_ragged_tensors():
    rng = np.random.default_rng(8)
    for _ in range(20):
        size = int(rng.integers(0, 30))
        splits = np.concatenate([[0], np.sort(rng.integers(0, size + 1, 5)), [size]])
        values = tf.constant(rng.standard_normal((size, 2)).astype(np.float32))
        ragged = tf.RaggedTensor.from_row_splits(values, splits)
        want = tf.concat([tf.reverse(row, [0]) for row in ragged], 0).numpy() if size else values.numpy()
        for offsets in (splits, splits.tolist(), tf.constant(splits), ragged.row_splits, tf.constant(splits, tf.int32)):
            same(retrograde.reverse_segments(values, offsets), want)
        same(tf.function(retrograde.reverse_segments)(values, ragged.row_splits), want)
        same(retrograde.reverse_segments(tf.transpose(values), splits, axis=-1), want.T)
        for run in (retrograde.reverse_segments, tf.function(retrograde.reverse_segments)):
            got = run(ragged)
            assert isinstance(got, tf.RaggedTensor) and np.array_equal(got.row_splits, splits)
            same(got.values, want)


@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
def test_ragged_tensors(kind):
    rows = [["a", "bc"], [], ["d", "e", "f"]]
    x = tf.ragged.constant(rows, row_splits_dtype=kind)
    y = retrograde.reverse_segments(x)
    assert y.to_list() == [[b"bc", b"a"], [], [b"f", b"e", b"d"]]
    assert y.row_splits.dtype == kind and y.shape.as_list() == x.shape.as_list()
    uniform = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
    assert retrograde.reverse_segments(uniform).to_list() == [[2, 1, 0], [5, 4, 3]]
    variable = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        values = tf.RaggedTensor.from_row_splits(tf.convert_to_tensor(variable), [0, 1, 3])
        loss = tf.reduce_sum(retrograde.reverse_segments(values).values * [1.0, 10.0, 100.0])
    same(tape.gradient(loss, variable), np.array([1, 100, 10], np.float32))
    assert retrograde.explain("reverse_segments", values).dims[0]["flow"] == "flip segments"
    assert "1 3 2" in str(retrograde.show("reverse_segments", values))
    with pytest.raises(TypeError, match="x is of type RaggedTensor, which has offsets of its own"):
        retrograde.prepare("reverse_segments", values)


def test_segments_have_gradients():
    x, offsets = tf.Variable(np.arange(12.0, dtype=np.float32).reshape(6, 2)), tf.constant([0, 2, 5])
    weights = tf.constant(np.random.default_rng(9).standard_normal((6, 2)).astype(np.float32))
    want = retrograde.reverse_segments(weights, offsets).numpy()
    for run in (retrograde.reverse_segments, tf.function(retrograde.reverse_segments)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run(tf.convert_to_tensor(x), offsets) * weights)
        same(tape.gradient(loss, x), want)
    assert retrograde.reverse_segments(tf.constant(["a", "b", "c"]), [0, 2]).numpy().tolist() == [b"b", b"a", b"c"]


def test_errors_of_segments():
    x = tf.constant(np.arange(6.0))
    rows, nested = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[[1], [2, 3]], []])
    for call, error, text in [
        (lambda: retrograde.reverse_segments(x, [0, 7]), ValueError, "ReverseSegments: offsets[1] is 7, outside [0, 6]"),
        (lambda: retrograde.reverse_segments(x, tf.constant([0.0])), TypeError, "ReverseSegments: offsets have type float32, expected an integer type"),
        (lambda: retrograde.reverse_segments(x), TypeError, "reverse_segments() missing 1 required positional argument: 'offsets'"),
        (lambda: retrograde.reverse_segments(x, [0], out=x), TypeError, "out is not supported: TensorFlow tensors are immutable"),
        (lambda: retrograde.reverse_segments(rows, [0]), TypeError, "reverse_segments: offsets are given, but x has its own (it is a RaggedTensor)"),
        (lambda: retrograde.reverse_segments(rows, out=x), TypeError, "out is not supported: TensorFlow tensors are immutable"),
        (lambda: retrograde.reverse_segments(rows, axis=1), ValueError, "reverse_segments: axis is 1, expected 0: rows of a RaggedTensor are ragged on one axis"),
        (lambda: retrograde.reverse_segments(nested), TypeError, "reverse_segments: x has ragged rank 2, expected 1 (reverse x.values instead)"),
    ]:  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert str(raised.value) == text
