"""``retrograde.jax`` against loops in plain NumPy: types, shapes, transformations, hostile lengths."""

import itertools
import os
import sys

import deadline
import jax
import jax.numpy as jnp
import naive
import numpy as np
import pytest
from jax import enable_x64, export, shard_map
from jax.test_util import check_grads
from jax_types import DTYPES, sample
from naive import same

import retrograde
import retrograde.jax as rj


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_moves_bit_by_bit(dtype):
    rng = np.random.default_rng(1)
    with enable_x64(True):
        for shape in [(7,), (3, 5), (2, 3, 9)]:
            x = sample(rng, shape, dtype)
            array = jnp.asarray(x)
            assert array.dtype == x.dtype
            same(jax.jit(rj.reverse)(array), np.flip(x))
            same(retrograde.reverse(array, axes=-1), np.flip(x, -1))
        lengths = rng.integers(0, 4, (2, 1, 9))
        same(rj.reverse_subsequences(array, lengths, axis=1), naive.reverse_subsequences(x, lengths, 1))


def test_random_calls():
    rng = np.random.default_rng(2)
    for _ in range(60):
        rank = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(0, 6, rank))
        x = sample(rng, shape, rng.choice(["int8", "float16", "float32", "complex64"]))
        axes = [int(a) for a in rng.integers(-rank, rank, rng.integers(0, rank + 1))]
        same(rj.reverse(x, axes), np.flip(x, tuple({a % rank for a in axes})))
        mask = rng.random(rank) < 0.5
        same(rj.reverse(x, mask=mask), np.flip(x, tuple(np.flatnonzero(mask))))
        time, batch = (int(a) for a in rng.permutation(rank)[:2])
        kind = rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
        lengths = rng.integers(0, shape[time] + 1, shape[batch]).astype(kind)
        want = naive.reverse_sequence(x, lengths, time, batch)
        for given in (lengths, lengths.tolist(), jnp.asarray(lengths)):
            same(rj.reverse_sequence(x, given, time_axis=time - rank, batch_axis=batch), want)
        run = jax.jit(lambda x, n: rj.reverse_sequence(x, n, time_axis=time, batch_axis=batch))
        same(run(x, jnp.asarray(lengths)), want)
        lanes = rng.integers(0, shape[time] + 3, shape[:time] + (1,) + shape[time + 1 :]).astype(kind)
        want = naive.reverse_subsequences(x, lanes, time)
        same(rj.reverse_subsequences(x, lanes, axis=time), want)
        run = jax.jit(lambda x, n: rj.reverse_subsequences(x, n, axis=time - rank))
        same(run(x, jnp.asarray(lanes.squeeze(time))), want)


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


# Transformations


def test_gradients():
    x = jnp.arange(24.0).reshape(4, 3, 2)
    weights = jnp.sin(x)
    lengths = jnp.array([4, 0, 3])
    calls = [
        lambda x: rj.reverse(x, (0, 2)),
        lambda x: rj.reverse_sequence(x, lengths),
        lambda x: rj.reverse_sequence(x, [4, 1, 2]),
        lambda x: rj.reverse_subsequences(x, jnp.arange(8).reshape(4, 2), axis=1),
    ]
    for call in calls:
        # Each is its own inverse and its own transpose.
        same(call(call(x)), np.asarray(x))
        want = np.asarray(call(weights))
        for f in (call, jax.jit(call), jax.checkpoint(call)):
            same(jax.grad(lambda x: (f(x) * weights).sum())(x), want)
            out, tangent = jax.jvp(f, (x,), (weights,))
            same(out, np.asarray(call(x)))
            same(tangent, want)
            same(jax.vjp(f, x)[1](weights)[0], want)
            same(jax.linear_transpose(f, x)(weights)[0], want)
        check_grads(call, (jnp.sin(x),), order=2, modes=("fwd", "rev"))
        second = jax.hessian(lambda x: (call(x) ** 3).sum())(x)
        assert np.allclose(second.reshape(24, 24), np.diag(6 * np.ravel(x)), rtol=1e-6)


def test_lengths_and_integers_have_no_gradient():
    x = jnp.ones((3, 2))
    both = jax.grad(lambda x, n: rj.reverse_sequence(x, n).sum(), argnums=(0, 1), allow_int=True)
    dx, dn = both(x, jnp.array([1, 3]))
    assert dn.dtype == jax.dtypes.float0 and dx.shape == x.shape
    out, tangent = jax.jvp(rj.reverse, (jnp.arange(3),), (np.zeros(3, jax.dtypes.float0),))
    assert out.tolist() == [2, 1, 0] and tangent.dtype == jax.dtypes.float0


@pytest.mark.parametrize("jit", [False, True])
def test_vmap_of_every_operand_at_every_place(jit):
    rng = np.random.default_rng(3)
    wrap = jax.jit if jit else lambda f: f
    size = 3
    for at in range(4):
        x = rng.standard_normal((4, 5, 2)).astype(np.float32)
        many = rng.standard_normal(tuple(np.insert(x.shape, at, size))).astype(np.float32)
        each = [np.take(many, i, at) for i in range(size)]
        run = wrap(jax.vmap(lambda x: rj.reverse(x, (-1, 0)), in_axes=at))
        same(run(many), np.stack([np.flip(e, (0, 2)) for e in each]))
        for time, batch in itertools.permutations(range(3), 2):

            def call(x, n):
                return rj.reverse_sequence(x, n, time_axis=time, batch_axis=batch)

            lengths = rng.integers(0, x.shape[time] + 1, (size, x.shape[batch]))
            want = [naive.reverse_sequence(e, lengths[0], time, batch) for e in each]
            same(wrap(jax.vmap(call, (at, None)))(many, lengths[0]), np.stack(want))
            want = [naive.reverse_sequence(e, n, time, batch) for e, n in zip(each, lengths)]
            same(wrap(jax.vmap(call, (at, 0)))(many, lengths), np.stack(want))
            same(wrap(jax.vmap(call, (at, 1), 1))(many, lengths.T), np.stack(want, 1))
            want = [naive.reverse_sequence(x, n, time, batch) for n in lengths]
            same(wrap(jax.vmap(call, (None, 0)))(x, lengths), np.stack(want))
        for axis in range(3):

            def call(x, n):
                return rj.reverse_subsequences(x, n, axis=axis)

            shape = tuple(1 if a == axis else s for a, s in enumerate(x.shape))
            lengths = rng.integers(0, x.shape[axis] + 2, (size, *shape))
            want = [naive.reverse_subsequences(e, lengths[0], axis) for e in each]
            same(wrap(jax.vmap(call, (at, None)))(many, lengths[0]), np.stack(want))
            want = [naive.reverse_subsequences(e, n, axis) for e, n in zip(each, lengths)]
            same(wrap(jax.vmap(call, (at, 0)))(many, lengths), np.stack(want))
            want = [naive.reverse_subsequences(x, n, axis) for n in lengths]
            same(wrap(jax.vmap(call, (None, 0)))(x, lengths), np.stack(want))


def test_vmap_of_vmap_and_of_gradients():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    lengths = rng.integers(0, 5, (2, 3, 5))
    want = np.stack([[naive.reverse_sequence(x[i, j], lengths[i, j], 0, 1) for j in range(3)] for i in range(2)])
    same(jax.vmap(jax.vmap(rj.reverse_sequence))(x, lengths), want)
    grads = jax.vmap(jax.vmap(jax.grad(lambda x, n: (rj.reverse_sequence(x, n) ** 2).sum())))(x, lengths)
    assert np.array_equal(grads, 2 * x)


def test_inside_scan_and_shard_map():
    x = jnp.arange(12.0).reshape(4, 3)
    out = jax.lax.scan(lambda c, row: (c, rj.reverse(row)), 0, x)[1]
    same(out, np.flip(np.asarray(x), 1))
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    run = shard_map(lambda x: rj.reverse(x, 1), mesh=mesh, in_specs=spec, out_specs=spec)
    same(jax.jit(run)(x), np.flip(np.asarray(x), 1))


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


# NumPy's functions

NAMES = {
    "flip": lambda f, x: f.flip(x, (0, -1)),
    "all": lambda f, x: f.flip(x),
    "fliplr": lambda f, x: f.fliplr(x),
    "flipud": lambda f, x: f.flipud(x),
    **{f"rot90 {k}": lambda f, x, k=k: f.rot90(x, k, (2, 0)) for k in range(4)},
}
each_name = pytest.mark.parametrize("call", NAMES.values(), ids=NAMES)


@each_name
@pytest.mark.parametrize("dtype", DTYPES)
def test_names_of_every_type(dtype, call):
    with enable_x64(True):
        x = sample(np.random.default_rng(1), (3, 4, 5), dtype)
        same(call(rj, jnp.asarray(x)), call(np, x))
        same(jax.jit(lambda x: call(retrograde, x))(x), call(np, x))


@each_name
def test_transformations_of_names(call):
    x = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
    ours, theirs = lambda x: call(rj, x), lambda x: call(jnp, x)
    weights = jnp.cos(theirs(x))
    for f in (ours, jax.jit(ours), jax.checkpoint(ours)):
        same(jax.grad(lambda x: (f(x) * weights).sum())(x), np.asarray(jax.grad(lambda x: (theirs(x) * weights).sum())(x)))
        same(jax.jvp(f, (x,), (x,))[1], np.asarray(theirs(x)))
        same(jax.linear_transpose(f, x)(weights)[0], np.asarray(jax.linear_transpose(theirs, x)(weights)[0]))
    with enable_x64(True):
        check_grads(ours, (jnp.asarray(np.asarray(x), jnp.float64),), order=2, modes=("fwd", "rev"))
    many = np.asarray(jnp.stack([x, x + 1, x + 2]))
    for at in range(4):
        moved = np.moveaxis(many, 0, at)
        same(jax.vmap(ours, at)(moved), np.stack([call(np, one) for one in many]))
        same(jax.jit(jax.vmap(ours, at, 1))(moved), np.stack([call(np, one) for one in many], 1))
    with jax.disable_jit():
        same(ours(x), call(np, np.asarray(x)))


@each_name
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


# Without ``jit``, which then returns the plain function.


@pytest.mark.parametrize(
    "test",
    [
        test_gradients,
        test_lengths_and_integers_have_no_gradient,
        lambda: test_vmap_of_every_operand_at_every_place(True),
        test_vmap_of_vmap_and_of_gradients,
        test_inside_scan_and_shard_map,
    ],
)
def test_the_same_without_jit(test):
    with jax.disable_jit():
        test()
        assert jax.config.jax_disable_jit


def test_wrong_lengths_without_jit():
    """Lengths are then values, not part of a program: they are checked immediately."""
    x = jnp.ones((8, 3))
    with jax.disable_jit(), pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[2\] is 9, outside \[0, 8\]"):
        jax.jit(rj.reverse_sequence)(x, jnp.array([8, 4, 9]))


def test_the_environment_turns_jit_off():
    code = """
import jax, jax.numpy as jnp, retrograde
x = jnp.arange(6.0).reshape(2, 3)
call = jax.jit(lambda x: retrograde.reverse_sequence(x, jnp.array([3, 2]), time_axis=1, batch_axis=0))
for result in call(x), jax.grad(lambda x: call(x)[:, 0].sum())(x), jax.vmap(retrograde.reverse)(x):
    print(result.tolist())
"""
    environment = dict(os.environ, JAX_DISABLE_JIT="1", JAX_PLATFORMS="cpu")
    shown = deadline.run([sys.executable, "-c", code], env=environment, check=True)
    assert shown.stdout.splitlines() == [
        "[[2.0, 1.0, 0.0], [4.0, 3.0, 5.0]]",
        "[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]",
        "[[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]",
    ]


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
        (TypeError, "bool, expected an integer", lambda x: rj.reverse_sequence(x, jnp.ones(3, bool))),
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
