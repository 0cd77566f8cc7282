"""Transformations of JAX: gradients, ``vmap``, loops, in programs that are compiled, and where ``jit`` is off."""

import itertools
import os
import sys
from functools import partial

import deadline
import naive
import numpy as np
import pytest
from naive import same

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax import shard_map  # noqa: E402
from jax_types import NAMES  # noqa: E402

import retrograde.jax as rj  # noqa: E402

RULES = [dict(zip(("align", "tail"), rule)) for rule in itertools.product(("start", "end"), ("keep", "zero"))]
SHAPE = (4, 3, 2)
LENGTHS, LANES = jnp.array([4, 0, 3]), jnp.arange(8).reshape(4, 2)
CUTS = [[0, 1, 4], jnp.array([0, 0, 2], "uint8"), np.array([0, 2])]
#: On arrays of that shape.
CALLS = {
    "reverse": lambda x: rj.reverse(x, (0, 2)),
    "lengths": lambda x: rj.reverse_sequence(x, LENGTHS),
    "known lengths": lambda x: rj.reverse_sequence(x, [4, 1, 2]),
    "lanes": lambda x: rj.reverse_subsequences(x, LANES, axis=1),
    **{f"lengths {r}": lambda x, r=r: rj.reverse_sequence(x, LENGTHS, **r) for r in RULES[1:]},
    **{f"lanes {r}": lambda x, r=r: rj.reverse_subsequences(x, LANES, axis=1, **r) for r in RULES[1:]},
    **{f"segments {a}": lambda x, a=a: rj.reverse_segments(x, CUTS[a], axis=a - 3) for a in range(3)},
    **{name: partial(call, rj) for name, call in NAMES.items()},
}


def derivatives(call, x, dx, weights):
    """The result of a call, its first derivatives, and its second ones in every combination of modes."""

    def cubes(x):
        return (call(x) ** 3).sum()

    return {
        "result": call(x),
        "tangent": jax.jvp(call, (x,), (dx,))[1],
        "gradient": jax.grad(lambda x: (call(x) * weights).sum())(x),
        "checkpoint": jax.grad(lambda x: (jax.checkpoint(call)(x) * weights).sum())(x),
        "vjp": jax.vjp(call, x)[1](weights)[0],
        "transpose": jax.linear_transpose(call, x)(weights)[0],
        "forward over reverse": jax.jvp(jax.grad(cubes), (x,), (dx,))[1],
        "reverse over forward": jax.grad(lambda x: jax.jvp(cubes, (x,), (dx,))[1])(x),
        "reverse over reverse": jax.grad(lambda x: (jax.grad(cubes)(x) * dx).sum())(x),
        "hessian": jax.hessian(cubes)(x).reshape(24, 24),
    }


def check_derivatives(call, *runs):
    """Each element of a result is one of the input, or zero: all derivatives follow from which one it is."""
    order = np.asarray(call(jnp.arange(1, 25).reshape(SHAPE))) - 1
    kept = order >= 0
    x, dx = (np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32) for seed in range(2))
    weights = np.random.default_rng(2).standard_normal(order.shape).astype(np.float32)
    transposed, used = np.zeros(24, np.float32), np.zeros(24, np.float32)
    transposed[order[kept]], used[order[kept]] = weights[kept], 1
    transposed, used = transposed.reshape(SHAPE), used.reshape(SHAPE)
    moved, tangent = (np.where(kept, v.ravel()[order], np.float32(0)) for v in (x, dx))
    for run in runs:
        found = run(call, x, dx, weights)
        same(found["result"], moved)
        same(found["tangent"], tangent)
        for name in ("gradient", "checkpoint", "vjp", "transpose"):
            same(found[name], transposed)
        for name in ("forward over reverse", "reverse over forward", "reverse over reverse"):
            np.testing.assert_allclose(found[name], 6 * x * used * dx, rtol=1e-5)
        np.testing.assert_allclose(found["hessian"], np.diag((6 * x * used).ravel()), rtol=1e-5)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_derivatives(call):
    compiled = jax.jit(derivatives, static_argnums=0)
    check_derivatives(call, compiled, derivatives, lambda call, *others: derivatives(jax.jit(call), *others))


def test_lengths_and_integers_have_no_gradient():
    x = jnp.ones((3, 2))
    both = jax.grad(lambda x, n: rj.reverse_sequence(x, n).sum(), argnums=(0, 1), allow_int=True)
    dx, dn = both(x, jnp.array([1, 3]))
    assert dn.dtype == jax.dtypes.float0 and dx.shape == x.shape
    out, tangent = jax.jvp(rj.reverse, (jnp.arange(3),), (np.zeros(3, jax.dtypes.float0),))
    assert out.tolist() == [2, 1, 0] and tangent.dtype == jax.dtypes.float0


def batched(at):
    """Calls on a batch of three: the call, where its operands have one more axis (``x`` at ``at``), the operands, and
    what they must give.
    """
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 5, 2)).astype(np.float32)
    many = rng.standard_normal(tuple(np.insert(x.shape, at, 3))).astype(np.float32)
    each = [np.take(many, i, at) for i in range(3)]

    def with_counts(name, loop, counts, **arguments):
        call, last = partial(getattr(rj, name), **arguments), counts.ndim - 1
        both = [loop(e, n) for e, n in zip(each, counts)]
        yield call, (at, None), (many, counts[0]), [loop(e, counts[0]) for e in each]
        yield call, (at, 0), (many, counts), both
        yield call, (at, last), (many, np.moveaxis(counts, 0, last)), both
        yield call, (None, 0), (x, counts), [loop(x, n) for n in counts]

    yield lambda x: rj.reverse(x, (-1, 0)), (at,), (many,), [np.flip(e, (0, 2)) for e in each]
    for call in NAMES.values():
        yield partial(call, rj), (at,), (many,), [call(np, e) for e in each]
    pairs = list(itertools.permutations(range(3), 2))
    for (time, batch), rules in [*itertools.product(pairs, RULES[:1]), *itertools.product([(1, 0)], RULES[1:])]:
        lengths = rng.integers(0, x.shape[time] + 1, (3, x.shape[batch]))
        loop = lambda x, n: naive.reverse_sequence(x, n, time, batch, **rules)
        yield from with_counts("reverse_sequence", loop, lengths, time_axis=time, batch_axis=batch, **rules)
    for axis, rules in [*itertools.product(range(3), RULES[:1]), *itertools.product([1], RULES[1:])]:
        lanes = rng.integers(0, x.shape[axis] + 2, [3, *(1 if a == axis else n for a, n in enumerate(x.shape))])
        loop = lambda x, n: naive.reverse_subsequences(x, n, axis, **rules)
        yield from with_counts("reverse_subsequences", loop, lanes, axis=axis, **rules)
    for axis in range(3):
        offsets = np.stack([naive.cuts(rng, x.shape[axis], 3) for _ in range(3)])
        loop = lambda x, n: naive.reverse_segments(x, n, axis)
        yield from with_counts("reverse_segments", loop, offsets, axis=axis - 3)


def check_vmap(at, wrap):
    cases = list(batched(at))

    def program(operands):
        runs = (jax.vmap(call, axes, at)(*given) for (call, axes, *_), given in zip(cases, operands))
        return list(runs)

    results = wrap(program)([operands for _, _, operands, _ in cases])
    for result, (*_, expected) in zip(results, cases, strict=True):
        same(result, np.stack(expected, at))


@pytest.mark.parametrize("at", range(4))
def test_vmap_of_every_operand_at_every_place(at):
    check_vmap(at, jax.jit)


def test_vmap_of_calls_that_are_not_in_a_program():
    """At one place; heavy/test_jax_long.py has them all."""
    check_vmap(2, lambda program: program)


def test_vmap_of_vmap_and_of_gradients():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    lengths = rng.integers(0, 5, (2, 3, 5))
    want = np.stack([[naive.reverse_sequence(x[i, j], lengths[i, j], 0, 1) for j in range(3)] for i in range(2)])
    same(jax.vmap(jax.vmap(rj.reverse_sequence))(x, lengths), want)
    grads = jax.vmap(jax.vmap(jax.grad(lambda x, n: (rj.reverse_sequence(x, n) ** 2).sum())))(x, lengths)
    assert np.array_equal(grads, 2 * x)
    offsets = np.stack([naive.cuts(rng, 3, 2) for _ in range(2)])
    weights = rng.standard_normal(x.shape).astype(np.float32)
    loss = lambda x: (jax.vmap(rj.reverse_segments)(x, offsets) * weights).sum()
    same(jax.grad(loss)(x), np.stack([naive.reverse_segments(w, o, 0) for w, o in zip(weights, offsets)]))


def test_inside_scan_and_shard_map():
    x = jnp.arange(12.0).reshape(4, 3)
    out = jax.lax.scan(lambda c, row: (c, rj.reverse(row)), 0, x)[1]
    same(out, np.flip(np.asarray(x), 1))
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    run = shard_map(lambda x: rj.reverse(x, 1), mesh=mesh, in_specs=spec, out_specs=spec)
    same(jax.jit(run)(x), np.flip(np.asarray(x), 1))


# Without ``jit``, which then returns the plain function.


@pytest.mark.parametrize(
    "test",
    [
        *(partial(check_derivatives, call, derivatives) for call in CALLS.values()),
        test_lengths_and_integers_have_no_gradient,
        partial(check_vmap, 1, jax.jit),
        test_vmap_of_vmap_and_of_gradients,
        test_inside_scan_and_shard_map,
    ],
    ids=[*CALLS, "integers", "vmap", "vmap of vmap", "scan and shard_map"],
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
