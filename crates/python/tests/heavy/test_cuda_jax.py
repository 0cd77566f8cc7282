"""JAX on a CUDA device: our kernels as XLA custom calls, on its stream and in its command buffers.

Skipped if JAX has no such device, as in CI. The last test prints timings. """

import itertools
import os
import time

# Before JAX is imported. Also allows graphs of a single call, so that small programs are recorded.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_graph_min_graph_size=1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

jax = pytest.importorskip("jax")
try:
    GPU = jax.devices("cuda")[0]
except RuntimeError as error:
    pytest.skip(f"JAX has no CUDA device: {str(error)[:80]}", allow_module_level=True)

import jax.numpy as jnp  # noqa: E402
import naive  # noqa: E402
import retrograde  # noqa: E402
import retrograde.cuda  # noqa: E402
import retrograde.jax as rj  # noqa: E402
from jax import enable_x64, lax, shard_map  # noqa: E402
from jax_types import DTYPES, PACKED, sample  # noqa: E402
from together import together  # noqa: E402


def same(got, expected):
    assert got.devices() == {GPU}
    got = np.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if got.dtype.name in PACKED:
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(expected).tobytes()


def lanes(x, axis, lengths):
    """Lane by lane along ``axis``; ``lengths`` has the shape of ``x`` with 1 there."""
    x = np.asarray(x)
    return naive.reverse_subsequences(x, np.maximum(np.asarray(lengths).astype(object), 0), axis % x.ndim)


def rows(x, lengths, time, batch):
    x = np.asarray(x)
    lengths = np.clip(np.asarray(lengths).astype(object), 0, x.shape[time])
    return naive.reverse_sequence(x, lengths, time % x.ndim, batch % x.ndim)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_moves_bit_by_bit(dtype):
    rng = np.random.default_rng(1)
    with enable_x64(True):
        try:
            jax.jit(rj.reverse)(jnp.asarray(sample(rng, (4,), dtype))).block_until_ready()
        except Exception as error:
            try:
                array = jnp.asarray(sample(rng, (4,), dtype))
                jax.jit(lambda x: lax.rev(x, (0,)))(array).block_until_ready()
            except Exception:
                pytest.skip(f"XLA itself has no {dtype} on this device: {str(error)[:80]}")
            raise
        for shape in [(7,), (2, 5, 18)]:
            x = sample(rng, shape, dtype)
            array = jnp.asarray(x)
            assert array.dtype == x.dtype and array.devices() == {GPU}
            same(jax.jit(rj.reverse)(array), naive.reverse(x, range(x.ndim)))
            same(retrograde.reverse(array, axes=0), naive.reverse(x, [0]))
        lengths = rng.integers(0, 6, (2, 1, 18))
        same(rj.reverse_subsequences(array, lengths, axis=1), lanes(x, 1, lengths))
        run = jax.jit(lambda x, n: rj.reverse_sequence(x, n, time_axis=2, batch_axis=0))
        same(run(array, jnp.array([18, 5])), rows(x, [18, 5], 2, 0))


def test_random_calls():
    rng = np.random.default_rng(2)
    for _ in range(12):
        rank = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(0, 7, rank))
        x = sample(rng, shape, rng.choice(["int8", "float16", "float32", "complex64"]))
        array = jnp.asarray(x)
        axes = sorted({int(a) for a in rng.integers(0, rank, rng.integers(0, rank + 1))})
        same(rj.reverse(array, axes), naive.reverse(x, axes))
        time_axis, batch_axis = (int(a) for a in rng.permutation(rank)[:2])
        kind = rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32"])
        lengths = rng.integers(0, shape[time_axis] + 1, shape[batch_axis]).astype(kind)
        want = rows(x, lengths, time_axis, batch_axis)

        def sequence(x, n):
            return rj.reverse_sequence(x, n, time_axis=time_axis, batch_axis=batch_axis)

        for given in (lengths, lengths.tolist(), jnp.asarray(lengths)):
            same(sequence(array, given), want)
        same(jax.jit(sequence)(array, jnp.asarray(lengths)), want)
        each = shape[:time_axis] + (1,) + shape[time_axis + 1 :]
        each = rng.integers(0, shape[time_axis] + 3, each).astype(kind)
        want = lanes(x, time_axis, each)
        same(rj.reverse_subsequences(array, each, axis=time_axis), want)
        run = jax.jit(lambda x, n: rj.reverse_subsequences(x, n, axis=time_axis - rank))
        same(run(array, jnp.asarray(each.squeeze(time_axis))), want)
    retrograde.cuda.check(array)


def test_wide_lengths_on_the_device():
    with enable_x64(True):
        x = sample(np.random.default_rng(3), (5, 3), "float64")
        for kind, big in (("int64", 2**62), ("uint64", 2**64 - 1)):
            lengths = np.array([[big], [2], [0], [1], [3]], kind)
            same(rj.reverse_subsequences(jnp.asarray(x), jnp.asarray(lengths), axis=1), lanes(x, 1, lengths))


def test_the_program_is_our_call_and_nothing_waits():
    x, n = jnp.ones((64, 33)), jnp.full(33, 9)
    for name, run, operands in [
        ("retrograde_reverse", lambda x: rj.reverse(x, 0), (x,)),
        ("retrograde_reverse_sequence_strict", rj.reverse_sequence, (x, n)),
        ("retrograde_reverse_sequence", lambda x, n: rj.reverse_sequence(x, n, policy="clamp"), (x, n)),
        ("retrograde_reverse_subsequences", lambda x, n: rj.reverse_subsequences(x, n, axis=0), (x, n)),
    ]:
        text = jax.jit(run).lower(*operands).compile().as_text()
        assert f'custom_call_target="{name}"' in text
        assert " reverse(" not in text and " gather(" not in text and "callback" not in text
        # No value is fetched in eager mode either.
        with jax.transfer_guard_device_to_host("disallow"):
            run(*operands)


def test_through_the_package():
    x = jnp.arange(6.0).reshape(2, 3)
    y = retrograde.reverse(x)
    assert isinstance(y, jax.Array)
    same(y, np.flip(np.asarray(x)))
    same(retrograde.reverse_sequence(x, jnp.array([2, 0, 1])), rows(x, [2, 0, 1], 0, 1))
    same(retrograde.reverse_subsequences(x, [3, 2], axis=1), lanes(x, 1, np.array([[3], [2]])))
    with pytest.raises(TypeError, match="out is not supported: JAX arrays are immutable"):
        retrograde.reverse(x, out=x)
    # The device of the data decides; both platforms work in one process.
    cpu = jax.device_put(x, jax.devices("cpu")[0])
    assert np.array_equal(retrograde.reverse(cpu), y) and retrograde.reverse(cpu).devices() == cpu.devices()


# Transformations


def test_letters_are_complemented_there():
    rng = np.random.default_rng(2)
    reads = rng.choice(np.frombuffer(b"ACGTNacgu-", np.uint8), (40, 150))
    lengths, where = rng.integers(0, 151, 40).astype(np.int32), rng.integers(0, 2, 40) == 1
    flat, offsets = reads.reshape(-1), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    batch = [{}, {"lengths": lengths}, {"where": where}, {"lengths": lengths, "where": where}]
    packed = [{"offsets": offsets}, {"offsets": offsets, "where": where}]
    for x, given in [(reads, given) for given in batch] + [(flat, given) for given in packed]:
        expected = retrograde.reverse_complement(x, **given)
        for arguments in (given, {name: jnp.asarray(value) for name, value in given.items()}):
            same(retrograde.reverse_complement(jnp.asarray(x), **arguments), expected)
    with pytest.raises(ValueError, match=r"x\[0, \d+\] is '-'"):
        retrograde.reverse_complement(jnp.asarray(reads), strict=True)
    with pytest.raises(TypeError, match="out is not supported: JAX arrays are immutable"):
        retrograde.reverse_complement(jnp.asarray(reads), out=jnp.asarray(reads))


def test_gradients():
    x = jnp.arange(24.0).reshape(4, 3, 2)
    weights = jnp.sin(x)
    lengths = jnp.array([4, 0, 3])
    each = np.arange(8).reshape(4, 1, 2)
    w = np.asarray(weights)
    calls = [
        (lambda x: rj.reverse(x, (0, 2)), naive.reverse(w, (0, 2))),
        (lambda x: rj.reverse_sequence(x, lengths), rows(w, lengths, 0, 1)),
        (lambda x: rj.reverse_sequence(x, [4, 1, 2]), rows(w, [4, 1, 2], 0, 1)),
        (lambda x: rj.reverse_subsequences(x, jnp.asarray(each), axis=1), lanes(w, 1, each)),
    ]
    for call, want in calls:
        same(call(call(x)), np.asarray(x))
        for f in (call, jax.jit(call), jax.checkpoint(call)):
            same(jax.grad(lambda x: (f(x) * weights).sum())(x), want)
        out, tangent = jax.jvp(call, (x,), (weights,))
        same(tangent, want)
        same(jax.vjp(jax.jit(call), x)[1](weights)[0], want)
    retrograde.cuda.check(out)


def test_vmap():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((4, 5, 2)).astype(np.float32)
    for at in (0, 2):
        many = rng.standard_normal(tuple(np.insert(x.shape, at, 3))).astype(np.float32)
        each = [np.take(many, i, at) for i in range(3)]
        run = jax.jit(jax.vmap(lambda x: rj.reverse(x, (-1, 0)), in_axes=at))
        same(run(many), np.stack([naive.reverse(e, (0, 2)) for e in each]))
        for t, b in itertools.permutations(range(3), 2):
            lengths = rng.integers(0, x.shape[t] + 1, (3, x.shape[b]))
            run = jax.vmap(lambda x, n: rj.reverse_sequence(x, n, time_axis=t, batch_axis=b), (at, 0))
            same(jax.jit(run)(many, lengths), np.stack([rows(e, n, t, b) for e, n in zip(each, lengths)]))
        lengths = rng.integers(0, 7, (3, 4, 1, 2))
        run = jax.jit(jax.vmap(lambda x, n: rj.reverse_subsequences(x, n, axis=1), (None, 0)))
        same(run(x, lengths), np.stack([lanes(x, 1, n) for n in lengths]))


def test_loops_and_branches():
    x = jnp.arange(60.0).reshape(4, 3, 5)
    host = np.asarray(x)
    same(lax.scan(lambda c, row: (c, rj.reverse(row, 1)), 0, x)[1], naive.reverse(host, [2]))
    lengths = jnp.array([[5, 2, 0], [1, 5, 5], [3, 3, 4], [0, 0, 1]])

    def step(carry, operands):
        row, n = operands
        return carry + 1, rj.reverse_subsequences(row, n, axis=1)

    want = lanes(host, 2, np.asarray(lengths)[..., None])
    for _ in range(3):
        same(jax.jit(lambda x, n: lax.scan(step, 0, (x, n))[1])(x, lengths), want)

    # An odd number of reversals equals one; the number is known only on the device.
    def often(x, times):
        return lax.while_loop(
            lambda state: state[0] > 0,
            lambda state: (state[0] - 1, rj.reverse(rj.reverse_sequence(state[1], [4, 2, 3], policy="clamp"), 2)),
            (times, x),
        )[1]

    once = naive.reverse(rows(host, [4, 2, 3], 0, 1), [2])
    run = jax.jit(often)
    same(run(x, 7), once)
    same(run(x, 8), host)
    same(run(x, 0), host)
    run = jax.jit(lambda x, p: lax.cond(p, lambda x: rj.reverse(x, 0), lambda x: rj.reverse(x, 1), x))
    same(run(x, True), naive.reverse(host, [0]))
    same(run(x, False), naive.reverse(host, [1]))


def test_programs_that_are_recorded_and_replayed():
    """Several calls mixed with others, branches that may run concurrently, new addresses every time."""
    rng = np.random.default_rng(6)

    @jax.jit
    def program(x, n):
        a = rj.reverse(x, 1) + 1
        b = rj.reverse_subsequences(x, n, axis=1) * 2
        c = rj.reverse_sequence(x, n, time_axis=1, batch_axis=0, policy="clamp")
        return rj.reverse(a, 0), rj.reverse(b + c, (0, 1)), rj.reverse_subsequences(c - a, n, axis=1)

    kept = []
    for _ in range(6):
        x = rng.standard_normal((17, 129)).astype(np.float32)
        n = rng.integers(-3, 140, 17).astype(np.int32)
        got = program(jnp.asarray(x), jnp.asarray(n))
        each = np.clip(n, 0, 129)[:, None]
        a, c = naive.reverse(x, [1]) + 1, lanes(x, 1, each)
        b = c * 2
        want = naive.reverse(a, [0]), naive.reverse(b + c, [0, 1]), lanes(c - a, 1, each)
        for g, w in zip(got, want):
            same(g, w)
        kept.append(got)  # so that the next one gets different memory


def test_shard_map_and_donated_memory():
    x = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    mesh = jax.sharding.Mesh(np.array([GPU]), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    run = shard_map(lambda x: rj.reverse(x, 1), mesh=mesh, in_specs=spec, out_specs=spec)
    same(jax.jit(run)(jnp.asarray(x)), naive.reverse(x, [1]))
    run = jax.jit(lambda x: rj.reverse(x, 1), donate_argnums=0)
    same(run(jnp.asarray(x)), naive.reverse(x, [1]))


def test_many_threads():
    x = np.arange(4096.0, dtype=np.float32).reshape(64, 64)
    array = jnp.asarray(x)
    want = {axis: naive.reverse(x, [axis]) for axis in (0, 1)}
    lengths = np.arange(64, dtype=np.int32)
    sequence = rows(x, lengths, 0, 1)

    def work(at):
        for _ in range(20):
            same(rj.reverse(array, at % 2), want[at % 2])
            same(rj.reverse_sequence(array, jnp.asarray(lengths)), sequence)

    together(work, 6)
    retrograde.cuda.check(array)


# Hostile lengths


@pytest.mark.parametrize("jit", [False, True])
def test_strict_lengths_on_the_device_are_told_later(jit):
    x = jnp.arange(12.0).reshape(4, 3)
    run = jax.jit(rj.reverse_sequence) if jit else rj.reverse_sequence
    for lengths, text in [
        ([1, 5, 2], r"is 5, outside \[0, 4\]"),
        ([1, 2, -7], r"is -7, outside \[0, 4\]"),
        ([2**31 - 1, -(2**31), 0], r"is 2147483647, outside"),
    ]:
        y = run(x, jnp.array(lengths))
        # The whole output is written: invalid lengths are clamped.
        same(y, rows(x, lengths, 0, 1))
        with pytest.raises(ValueError, match=text):
            retrograde.cuda.check(y)
        # Reported once, and the next call succeeds.
        retrograde.cuda.check(y)
        y = run(x, jnp.array([4, 0, 3]))
        same(y, rows(x, [4, 0, 3], 0, 1))
        retrograde.cuda.check(y)
    # The first of several.
    run(x, jnp.array([1, 6, 2]))
    run(x, jnp.array([4, 4, 4]))
    y = run(x, jnp.array([9, 0, 0]))
    with pytest.raises(ValueError, match="is 6, outside"):
        retrograde.cuda.check(y)
    many = np.full(100_000, 2, np.int32)
    many[77_777] = 4
    y = run(jnp.ones((3, many.size), jnp.int8), jnp.asarray(many))
    with pytest.raises(ValueError, match=r"77777.* is 4, outside \[0, 3\]"):
        retrograde.cuda.check(y)


def test_clamped_lengths_have_nothing_to_tell():
    x = jnp.arange(12.0).reshape(4, 3)
    for lengths in ([1, 5, 2], [1, 2, -7], [2**31 - 1, -(2**31), 0]):
        run = jax.jit(lambda x, n: rj.reverse_sequence(x, n, policy="clamp"))
        y = run(x, jnp.array(lengths))
        same(y, rows(x, lengths, 0, 1))
        y = rj.reverse_subsequences(x, jnp.array(lengths), axis=0)
        same(y, lanes(x, 0, np.array(lengths)[None]))
        retrograde.cuda.check(y)


def test_lengths_on_the_host_are_checked_at_once():
    x = jnp.ones((8, 3))
    for lengths in ([8, 4, 9], np.array([8, 4, 9], np.uint8)):
        with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[2\] is 9, outside \[0, 8\]"):
            rj.reverse_sequence(x, lengths)
    with pytest.raises(ValueError, match=r"lengths\[1\] is 9"):
        jax.jit(lambda x: rj.reverse_sequence(x, [1, 9, 1]))(x)
    with pytest.raises(ValueError, match=r"lengths"):
        rj.reverse_sequence(x, jnp.array([1, 1]))
    with pytest.raises(TypeError, match="expected an integer"):
        rj.reverse_sequence(x, jnp.ones(3))


# Size and speed


def test_more_than_two_to_the_31_bytes():
    shape = (5, 600_000_011)

    def value(i, j):
        return (i * 37 + j * 11 + (j >> 9) + (j >> 20)).astype(jnp.uint8)

    def grid():
        return (lax.broadcasted_iota(jnp.uint32, shape, axis) for axis in (0, 1))

    @jax.jit
    def wrong(y, lengths):
        i, j = grid()
        n = lengths[:, None].astype(jnp.uint32)
        return (y != value(i, jnp.where(j < n, n - 1 - j, j))).any(axis=1)

    x = jax.jit(lambda: value(*grid()))()
    full = jnp.full(5, shape[1], jnp.int32)
    assert not wrong(rj.reverse(x, 1), full).any()
    lengths = jnp.array([shape[1], 0, 1, 599_999_999, 123_456_789], jnp.int32)
    y = rj.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)
    assert not wrong(y, lengths).any() and wrong(y, full).any()
    retrograde.cuda.check(y)


def test_speed(capsys):
    """Prints timings and asserts only that both results agree."""

    def seconds(run, *operands, times):
        run(*operands).block_until_ready()
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(times):
                y = run(*operands)
            y.block_until_ready()
            best = min(best, (time.perf_counter() - start) / times)
        return best

    x = jax.random.normal(jax.random.key(0), (16384, 16384))
    lengths = jnp.arange(16384) % 16385

    def idiom(x, n):
        step = jnp.arange(x.shape[1])[None]
        n = n[:, None]
        return jnp.take_along_axis(x, jnp.where(step < n, n - 1 - step, step), axis=1)

    def sequence(x, n, policy="strict"):
        return rj.reverse_sequence(x, n, time_axis=1, batch_axis=0, policy=policy)

    small = jnp.ones((64, 64))
    few = jnp.arange(64)
    lines = []
    for title, ours, theirs, operands, times in [
        ("flip f32 [16384,16384] axis 1", lambda x: rj.reverse(x, 1), lambda x: jnp.flip(x, 1), (x,), 20),
        ("sequence f32 [B16384,T16384], strict", sequence, idiom, (x, lengths), 10),
        ("sequence, clamp", lambda x, n: sequence(x, n, "clamp"), idiom, (x, lengths), 10),
        ("flip f32 [64,64] axis 1, a call", lambda x: rj.reverse(x, 1), lambda x: jnp.flip(x, 1), (small,), 2000),
        ("sequence f32 [64,64], a call", sequence, idiom, (small, few), 2000),
    ]:
        assert jnp.array_equal(jax.jit(ours)(*operands), jax.jit(theirs)(*operands))
        a, b = (seconds(jax.jit(f), *operands, times=times) for f in (ours, theirs))
        lines.append(f"{title}: ours {a * 1e6:.1f} us, XLA's {b * 1e6:.1f} us")
        if operands[0] is x:
            lines[-1] += f" ({2 * x.nbytes / a / 1e12:.2f} and {2 * x.nbytes / b / 1e12:.2f} TB/s)"
    a = seconds(lambda x: retrograde.reverse(x, 1), small, times=2000)
    b = seconds(lambda x: jnp.flip(x, 1), small, times=2000)
    lines.append(f"eagerly, [64,64]: retrograde.reverse {a * 1e6:.1f} us, jnp.flip {b * 1e6:.1f} us")
    with capsys.disabled():
        print(f"\n{GPU.device_kind}, jax {jax.__version__}", *lines, sep="\n  ")
