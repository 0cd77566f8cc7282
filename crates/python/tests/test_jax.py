"""``retrograde.jax`` against loops in plain NumPy: types, shapes, programs, hostile lengths."""

import itertools

import jax
import jax.numpy as jnp
import naive
import numpy as np
import pytest
from jax import enable_x64, export
from jax_types import DTYPES, NAMES, sample
from naive import same

import retrograde
import retrograde.jax as rj


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_moves_bit_by_bit(dtype):
    """All functions in one program, and some called directly."""
    rng = np.random.default_rng(1)
    with enable_x64(True):
        arrays = [sample(rng, shape, dtype) for shape in [(7,), (3, 5), (2, 3, 9)]]
        x, lengths = arrays[-1], rng.integers(0, 4, (2, 1, 9))
        lanes = naive.reverse_subsequences(x, lengths, 1)

        @jax.jit
        def program(arrays):
            x = arrays[-1]
            others = retrograde.reverse(x, axes=-1), rj.reverse_subsequences(x, lengths, axis=1)
            return [*map(rj.reverse, arrays), *others, *(call(retrograde, x) for call in NAMES.values())]

        expected = [*map(np.flip, arrays), np.flip(x, -1), lanes, *(call(np, x) for call in NAMES.values())]
        for got, want in zip(program([*map(jnp.asarray, arrays)]), expected, strict=True):
            same(got, want)
        array = jnp.asarray(x)
        assert array.dtype == x.dtype
        same(retrograde.reverse(array, axes=-1), np.flip(x, -1))
        same(rj.reverse_subsequences(array, lengths, axis=1), lanes)


def check_random_calls(count, every):
    """In a program, and of every so many of them also one by one."""
    rng = np.random.default_rng(2)
    for turn in range(count):
        rank = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(0, 6, rank))
        x = sample(rng, shape, rng.choice(["int8", "float16", "float32", "complex64"]))
        axes = [int(a) for a in rng.integers(-rank, rank, rng.integers(0, rank + 1))]
        mask = rng.random(rank) < 0.5
        time, batch = (int(a) for a in rng.permutation(rank)[:2])
        kind = rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
        lengths = rng.integers(0, shape[time] + 1, shape[batch]).astype(kind)
        lanes = rng.integers(0, shape[time] + 3, shape[:time] + (1,) + shape[time + 1 :]).astype(kind)

        def calls(x, lengths, lanes):
            yield rj.reverse(x, axes)
            yield rj.reverse(x, mask=mask)
            yield rj.reverse_sequence(x, lengths, time_axis=time - rank, batch_axis=batch)
            yield rj.reverse_subsequences(x, lanes, axis=time - rank)

        expected = [
            np.flip(x, tuple({a % rank for a in axes})),
            np.flip(x, tuple(np.flatnonzero(mask))),
            naive.reverse_sequence(x, lengths, time, batch),
            naive.reverse_subsequences(x, lanes, time),
        ]
        results = [jax.jit(lambda *given: list(calls(*given)))(x, lengths, lanes.squeeze(time))]
        if turn % every == 0:
            results += [calls(x, given, lanes) for given in (lengths, lengths.tolist(), jnp.asarray(lengths))]
        for found in results:
            for got, want in zip(found, expected, strict=True):
                same(got, want)


def test_random_calls():
    check_random_calls(60, every=4)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint32", "int64"])
def test_segments(kind):
    rng = np.random.default_rng(7)
    x, axis = rng.standard_normal((9, 4, 6)).astype("f4"), {"uint8": 1, "int64": 2}.get(kind, 0)
    offsets = naive.cuts(rng, x.shape[axis], 4).astype(kind)
    want = naive.reverse_segments(x, offsets, axis)
    run = lambda x, offsets: rj.reverse_segments(x, offsets, axis=axis - 3)
    for given in (offsets, offsets.tolist(), jnp.asarray(offsets)):
        same(run(x, given), want)
        same(retrograde.reverse_segments(jnp.asarray(x), given, axis=axis), want)
    same(jax.jit(run)(x, offsets), want)
    same(jax.jit(lambda x: run(x, offsets))(x), want)
    same(rj._segments_elsewhere(jnp.asarray(x), jnp.asarray(offsets), axis=axis, policy="clamp"), want)


@pytest.mark.parametrize(("align", "tail"), list(itertools.product(("start", "end"), ("keep", "zero"))))
def test_padding(align, tail):
    rng = np.random.default_rng(6)
    rules = {"align": align, "tail": tail}
    x = rng.standard_normal((4, 3, 5)).astype("f4")
    lengths, lanes = np.array([5, 0, 2, 3]), rng.integers(0, 7, (4, 3, 1))
    want = naive.reverse_sequence(x, lengths, 2, 0, **rules)
    run = lambda x, n: rj.reverse_sequence(x, n, time_axis=2, batch_axis=0, **rules)
    for given in (lengths, lengths.tolist(), jnp.asarray(lengths, "uint8")):
        same(run(x, given), want)
        same(retrograde.reverse_sequence(jnp.asarray(x), given, time_axis=2, batch_axis=0, **rules), want)
    same(jax.jit(run)(x, lengths), want)
    want = naive.reverse_subsequences(x, lanes, 2, **rules)
    by_lane = lambda x, n: rj.reverse_subsequences(x, n, axis=-1, **rules)
    same(by_lane(x, lanes), want)
    same(jax.jit(by_lane)(x, lanes[..., 0]), want)
    # Programs for other devices.
    same(rj._gathered(jnp.asarray(x), jnp.asarray(lanes), 2, "clamp", **rules), want)


def test_large_arrays_and_many_threads():
    x = np.arange(3 << 20, dtype=np.float32).reshape(3, 1024, 1024)
    same(jax.jit(lambda x: rj.reverse(x, (0, 2)))(x), np.flip(x, (0, 2)))
    lengths = np.array([1000, 0, 1024])
    want = x.copy()
    for at, length in enumerate(lengths):
        want[at, :length] = x[at, :length][::-1]
    run = jax.jit(lambda x, n: rj.reverse_sequence(x, n, time_axis=1, batch_axis=0))
    same(run(x, lengths), want)


def test_the_compiled_program_is_one_call_into_the_engine():
    text = jax.jit(lambda x: rj.reverse(x, 0)).lower(jnp.ones((2, 3))).compile().as_text()
    assert 'custom_call_target="retrograde_reverse"' in text and "callback" not in text


def test_other_devices_compute_the_same():
    """The lowering for other devices, run on the CPU."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 6, 3)).astype(np.float32)
    lengths = jnp.asarray(rng.integers(0, 9, 3))
    same(rj._reverse_elsewhere(x, axes=(0, 2)), np.flip(x, (0, 2)))
    rules = {"policy": "clamp", "align": "start", "tail": "keep"}
    got = rj._sequence_elsewhere(x, lengths, time_axis=1, batch_axis=2, **rules)
    same(got, naive.reverse_sequence(x, lengths, 1, 2))
    for kind in (np.uint32, np.uint8, np.int8):
        lanes = rng.integers(0, np.iinfo(kind).max, (4, 1, 3), dtype=kind, endpoint=True) // 20 * 20
        same(rj._subsequences_elsewhere(x, jnp.asarray(lanes), axis=1, **rules), naive.reverse_subsequences(x, lanes, 1))
    # Compiled for a platform that is not available: no call into the engine.
    program = jax.jit(lambda x, n: rj.reverse(rj.reverse_sequence(x, n, policy="clamp")))
    traced = program.trace(x, jnp.arange(6))
    assert "custom_call" not in traced.lower(lowering_platforms=("tpu",)).as_text()
    assert "@retrograde_reverse_sequence" in traced.lower(lowering_platforms=("cpu",)).as_text()
    with pytest.raises(NotImplementedError, match="cannot stop"):
        jax.jit(rj.reverse_sequence).trace(x, jnp.arange(6)).lower(lowering_platforms=("tpu",))
    known = jax.jit(lambda x: rj.reverse_segments(x, [0, 1, 4])).trace(x)
    assert "custom_call" not in known.lower(lowering_platforms=("tpu",)).as_text()
    with pytest.raises(NotImplementedError, match="^offsets are known only when the program runs"):
        jax.jit(rj.reverse_segments).trace(x, jnp.arange(2)).lower(lowering_platforms=("tpu",))


@pytest.mark.parametrize("call", NAMES.values(), ids=NAMES)
def test_names_on_other_devices(call):
    traced = jax.jit(lambda x: call(rj, x)).trace(jnp.ones((2, 3, 4)))
    assert "custom_call" not in traced.lower(lowering_platforms=("tpu",)).as_text()
    x = np.arange(24).reshape(2, 3, 4)
    same(rj._rot90_elsewhere(jnp.asarray(x), axes=(2,), first=2, second=0), np.asarray(jnp.rot90(x, 1, (2, 0))))


def test_rot90_is_one_call_into_the_engine():
    text = jax.jit(rj.rot90).lower(jnp.ones((2, 3))).compile().as_text()
    assert 'custom_call_target="retrograde_rot90"' in text and "transpose(" not in text
    x = jnp.arange(3 << 20).reshape(1024, 3072)
    same(rj.rot90(x, 3), np.rot90(np.asarray(x), 3))
    assert rj.rot90(jnp.zeros((0, 3))).shape == (3, 0)


def test_export():
    """The caller allows our calls by a list that we give it, and a loaded program runs them."""
    x, n = jnp.arange(6.0).reshape(2, 3), jnp.array([3, 2])
    for call, arguments in [
        (lambda x: rj.flip(x, 1), (x,)),
        (rj.rot90, (x,)),
        (lambda x, n: rj.reverse_sequence(x, n, time_axis=1, batch_axis=0), (x, n)),
        (lambda x, n: rj.reverse_subsequences(x, n, axis=1), (x, n)),
    ]:
        exported = export.export(jax.jit(call), disabled_checks=rj.export_checks())(*arguments)
        loaded = export.deserialize(exported.serialize())
        same(loaded.call(*arguments), np.asarray(call(*arguments)))
        with pytest.raises(ValueError, match="custom calls"):
            export.export(jax.jit(call))(*arguments)


def test_duplicates():
    x = jnp.ones((2, 3))
    assert rj.reverse(x, (1, -1)).shape == rj.reverse(x, (1, 0), duplicates="error").shape
    for axes in ((1, -1), [0, 0], np.array([1, 1]), (0, 1, -2)):
        for call in (rj.reverse, retrograde.reverse, jax.jit(rj.reverse, static_argnames=("axes", "duplicates"))):
            if isinstance(axes, tuple) or call is not None and not hasattr(call, "lower"):
                with pytest.raises(ValueError, match="the same axis as axes"):
                    call(x, axes=axes, duplicates="error")


# Hostile input


def test_lengths_that_are_known_are_checked_at_once():
    x = jnp.ones((8, 3))
    for lengths in ([8, 4, 9], np.array([8, 4, 9], np.uint8), jnp.array([8, 4, 9])):
        with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[2\] is 9, outside \[0, 8\]"):
            rj.reverse_sequence(x, lengths)
    with pytest.raises(ValueError, match=r"lengths\[0\] is -1"):
        rj.reverse_sequence(x, [-1, 0, 0], policy="clamp")
    # The lengths are known although the data is not.
    with pytest.raises(ValueError, match=r"lengths\[1\] is 9"):
        jax.jit(lambda x: rj.reverse_sequence(x, [1, 9, 1]))(x)


def test_wide_lengths_are_not_cut_off():
    """Without ``jax_enable_x64`` JAX would read 2**32 + 1 as 1."""
    x = jnp.arange(4.0)[:, None]
    back = np.flip(np.asarray(x), 0)
    with pytest.raises(ValueError, match="4294967297"):
        rj.reverse_sequence(x, np.array([2**32 + 1]))
    same(rj.reverse_sequence(x, np.array([2**32 + 1]), policy="clamp"), back)
    same(rj.reverse_subsequences(x, np.array([2**64 - 1], np.uint64), axis=0), back)


def test_lengths_of_a_compiled_program_are_checked_when_it_runs():
    x = jnp.ones((8, 3))
    run = jax.jit(lambda x, n: rj.reverse_sequence(x, n))
    wrong = [([8, 4, 9], r"lengths\[2\] is 9, outside \[0, 8\]"), ([0, -1, 0], r"lengths\[1\] is -1")]
    for lengths, text in wrong:
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"INVALID_ARGUMENT: ReverseSequence: {text}"):
            run(x, jnp.array(lengths)).block_until_ready()
    # And the next call succeeds.
    same(run(x, jnp.array([8, 4, 8])), np.asarray(x))


@pytest.mark.parametrize(
    "kind, text, call",
    [
        (ValueError, r"axes\[0\] is 2, outside \[-2, 1\]", lambda x: rj.reverse(x, 2)),
        (ValueError, "both given", lambda x: rj.reverse(x, 0, mask=[True, False])),
        (TypeError, r"axes\[0\] is True", lambda x: rj.reverse(x, [True, False])),
        (TypeError, "axes is 1.5", lambda x: rj.reverse(x, 1.5)),
        (ValueError, "mask", lambda x: rj.reverse(x, mask=[True])),
        (ValueError, "lengths", lambda x: rj.reverse_sequence(x, [1, 1])),
        (TypeError, "float32, expected an integer", lambda x: rj.reverse_sequence(x, jnp.ones(3))),
        (ValueError, "without steps, expected them along axis 1", lambda x: rj.reverse_sequence(x, jnp.ones(3, bool))),
        (TypeError, "float32, expected an integer", lambda x: jax.jit(rj.reverse_sequence)(x, jnp.ones(3))),
        (ValueError, 'policy "lax"', lambda x: rj.reverse_sequence(x, [1, 1, 1], policy="lax")),
        (ValueError, "axis", lambda x: rj.reverse_sequence(x, [1, 1], time_axis=1, batch_axis=1)),
        (ValueError, "axis", lambda x: rj.reverse_subsequences(x, [1, 1], axis=5)),
        (ValueError, "lengths", lambda x: rj.reverse_subsequences(x, jnp.ones((3, 2), int), axis=1)),
        (ValueError, r"expected \[2, 1\] or \[2\]", lambda x: rj.reverse_subsequences(x, [1, 1, 1], axis=1)),
        (np.exceptions.AxisError, r"axis\[0\]: axis 2 is out", lambda x: rj.flip(x, 2)),
        (ValueError, "repeated axis", lambda x: retrograde.flip(x, (1, -1))),
        (ValueError, "must be different", lambda x: retrograde.rot90(x, 1, (1, -1))),
        (ValueError, "of rank 2, expected one boolean", lambda x: rj.reverse(x, mask=np.array([[True], [False]]))),
        (TypeError, "immutable", lambda x: retrograde.reverse(x, out=x)),
    ],
)
def test_arguments_that_are_wrong(kind, text, call):
    with pytest.raises(kind, match=text):
        call(jnp.ones((2, 3)))


def test_through_the_package():
    x = jnp.arange(6.0).reshape(2, 3)
    assert isinstance(retrograde.reverse(x), jax.Array)
    run = jax.jit(lambda x, n: retrograde.reverse_sequence(x, n, time_axis=1, batch_axis=0))
    assert run(x, jnp.array([3, 2])).tolist() == [[2, 1, 0], [4, 3, 5]]
    run = jax.vmap(lambda x, n: retrograde.reverse_subsequences(x, n, axis=0))
    assert run(x, jnp.array([3, 2])).tolist() == [[2, 1, 0], [4, 3, 5]]


def test_errors_of_segments_and_padding():
    x = jnp.arange(12.0).reshape(3, 4)
    for call, error, text in [
        (lambda: rj.reverse_segments(x, [0, 5]), ValueError, "ReverseSegments: offsets[1] is 5, outside [0, 3]"),
        (lambda: rj.reverse_segments(x, jnp.array([0, 2, 1])), ValueError, "ReverseSegments: offsets[2] is 1, outside [2, 3]"),
        (lambda: rj.reverse_segments(x, jnp.array([0.0])), TypeError, "ReverseSegments: offsets have type float32, expected an integer type"),
        (lambda: jax.jit(rj.reverse_segments)(x, jnp.zeros((2, 2), int)), ValueError, "ReverseSegments: offsets have shape [2, 2], expected [n + 1] for n segments"),
        (lambda: rj.reverse_segments(x, [0], axis=2), ValueError, "ReverseSegments: axis is 2, outside [-2, 1] for a tensor of rank 2"),
        (lambda: rj.reverse_segments(x), TypeError, "reverse_segments() missing 1 required positional argument: 'offsets'"),
        (lambda: retrograde.reverse_segments(x), TypeError, "reverse_segments() missing 1 required positional argument: 'offsets'"),
        (lambda: rj.reverse_segments(x, row_splits=[0]), TypeError, "reverse_segments() takes offsets=, not row_splits=: retrograde.jax.reverse_segments(x, offsets)"),
        (lambda: retrograde.reverse_segments(x, [0], out=x), TypeError, "out is not supported: JAX arrays are immutable"),
        (lambda: rj.reverse_sequence(x, [0] * 4, align="left"), ValueError, 'ReverseSequence: align "left" does not exist, expected "start" or "end"'),
        (lambda: jax.jit(lambda x, n: rj.reverse_subsequences(x, n, axis=0, tail=""))(x, jnp.zeros(4, int)), ValueError, 'ReverseSubsequences: tail "" does not exist, expected "keep" or "zero"'),
    ]:  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert str(raised.value) == text
    # Known only when the program runs.
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"ReverseSegments: offsets\[2\] is 1, outside \[2, 3\]"):
        jax.block_until_ready(jax.jit(rj.reverse_segments)(x, jnp.array([0, 2, 1])))


def test_offsets_of_other_libraries():
    x, offsets = np.arange(6), [0, 2, 5]
    assert retrograde.reverse_segments(x, jnp.array(offsets)).tolist() == [1, 0, 4, 3, 2, 5]
    prepared = retrograde.prepare("reverse_segments", jnp.asarray(x), offsets)
    assert prepared(jnp.asarray(x), jnp.array([0, 6])).tolist() == x[::-1].tolist()
