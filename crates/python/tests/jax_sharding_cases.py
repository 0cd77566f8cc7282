"""Runs calls of ``retrograde.jax`` on eight host devices, and prints what the compiled programs communicate, as JSON.

A process of its own (``test_jax_sharding.py`` starts it): the number of devices cannot change once JAX is in use.
"""

import json
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

if "without" in sys.argv:
    # As if this release did not have what is not documented.
    from jax._src.lib import xla_client

    del xla_client.register_custom_call_partitioner

import retrograde  # noqa: E402
import retrograde.jax as rj  # noqa: E402

COLLECTIVES = re.compile(r"\b(all-gather|all-to-all|collective-permute|all-reduce|reduce-scatter)(?:-start)?\(")

MESH = Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))
RNG = np.random.default_rng(1)
X = RNG.standard_normal((8, 16, 4)).astype(np.float32)
LENGTHS = RNG.integers(0, 17, 8)
LANES = RNG.integers(0, 17, (8, 1, 4))
OFFSETS = np.array([0, 3, 9, 16])
SEQUENCES = retrograde.reverse_sequence(X, LENGTHS, time_axis=1, batch_axis=0)


def sequence(x, lengths):
    return rj.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)


#: Name, call, operands after ``x`` with the axes of ``x`` that theirs belong to, and the expected result.
OPERATORS = [
    ("reverse", lambda x: rj.reverse(x, 1), [], np.flip(X, 1)),
    ("flip", lambda x: rj.flip(x, -2), [], np.flip(X, 1)),
    ("rot90", rj.rot90, [], np.rot90(X)),
    ("sequence", sequence, [(LENGTHS, (0,))], SEQUENCES),
    ("sequence, known", lambda x: sequence(x, LENGTHS), [], SEQUENCES),
    (
        "subsequences",
        lambda x, lengths: rj.reverse_subsequences(x, lengths, axis=1),
        [(LANES, (0, None, 2))],
        retrograde.reverse_subsequences(X, LANES, axis=1),
    ),
    (
        "segments",
        lambda x, offsets: rj.reverse_segments(x, offsets, axis=1),
        [(OFFSETS, (None,))],
        retrograde.reverse_segments(X, OFFSETS, axis=1),
    ),
    ("gradient", jax.grad(lambda x, n: (sequence(x, n) * x).sum()), [(LENGTHS, (0,))], 2 * SEQUENCES),
    ("vmap", jax.vmap(lambda x: rj.reverse(x, 0)), [], np.flip(X, 1)),
]
SPECS = {
    "batch": ("a", None, None),
    "batch and features": ("a", None, "b"),
    "two mesh axes": (("a", "b"), None, None),
    "time": (None, "a", None),
    "time, two mesh axes": (None, ("a", "b"), None),
    "batch and time": ("b", "a", None),
    "nothing": (None, None, None),
}

results = {}


def put(x, *spec):
    return jax.device_put(x, NamedSharding(MESH, P(*spec)))


def record(name, call, operands, expected):
    """What a program communicates, how its result is sharded, and whether that is right to the last bit."""
    program = jax.jit(call).lower(*operands).compile()
    # JAX refuses to call a compiled program with elements of four bits: it expects another layout than arrays have.
    run = jax.jit(call) if getattr(operands[0], "dtype", None) == jnp.int4 else program
    got = run(*operands)
    results[name] = {
        "moves": sorted(COLLECTIVES.findall(program.as_text())),
        "spec": str(getattr(got.sharding, "spec", None)),
        "right": np.asarray(got).tobytes() == np.ascontiguousarray(expected).tobytes(),
    }


def every_operator():
    for where, spec in SPECS.items():
        for name, call, others, expected in OPERATORS:
            more = [put(value, *(None if a is None else spec[a] for a in axes)) for value, axes in others]
            record(f"{name}: {where}", call, [put(X, *spec), *more], expected)


def placed(*spec):
    return lambda x: lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


def other_cases():
    x, lengths = put(X, "a", None, "b"), put(LENGTHS, "a")
    record("lengths on every device", sequence, [x, put(LENGTHS)], SEQUENCES)
    record("x on every device", sequence, [put(X), lengths], SEQUENCES)
    record("both axes", lambda x: rj.reverse(x, (0, 1)), [put(X, "a", "b")], np.flip(X, (0, 1)))
    record("inside the program", lambda x: rj.reverse(placed("a", None, "b")(x), 1), [jnp.asarray(X)], np.flip(X, 1))
    record("scan", lambda x: lax.map(lambda y: rj.reverse(y, 0), x), [put(X, None, None, "b")], np.flip(X, 1))
    devices = Mesh(np.array(jax.devices()[::-1]).reshape(2, 4), ("u", "v"))
    other = jax.device_put(X, NamedSharding(devices, P("v", "u")))
    record("devices in another order", lambda x: rj.reverse(x, 1), [other], np.flip(X, 1))
    # Blocks of different sizes, and axes that cannot be cut in four.
    odd = X[:7, :5, :3]
    record("uneven", lambda x: rj.reverse(placed("a", "b")(x), 1), [jnp.asarray(odd)], np.flip(odd, 1))
    # One program with two meshes.
    flat = NamedSharding(Mesh(np.array(jax.devices()), ("u",)), P("u"))
    record("two meshes", sequence, [x, jax.device_put(LENGTHS, flat)], SEQUENCES)
    known = np.array([5, 4, 0])
    call = lambda x: sequence(placed(None, "a")(x), known)  # noqa: E731
    record("uneven time", call, [odd[:3]], retrograde.reverse_sequence(odd[:3], known, time_axis=1, batch_axis=0))
    narrow = X[:3, :, :3]
    want = retrograde.reverse_sequence(narrow, known, time_axis=1, batch_axis=0)
    record("no other axis", lambda x: sequence(x, known), [put(narrow, None, "a")], want)
    flip = lambda x: rj.reverse(x, 1)  # noqa: E731
    run = jax.shard_map(flip, mesh=MESH, in_specs=P("a", "b"), out_specs=P("a", "b"))
    halves = np.concatenate([np.flip(half, 1) for half in np.split(X, 2, 1)], 1)
    record("shard_map", run, [put(X, "a", "b")], halves)
    # The compiler partitions the other mesh axis.
    run = jax.shard_map(flip, mesh=MESH, in_specs=P("a"), out_specs=P("a"), axis_names={"a"})
    record("shard_map, one axis", run, [put(X, "a", None, "b")], np.flip(X, 1))
    record("shard_map, one axis, time", run, [put(X, "a", "b")], np.flip(X, 1))


def explicit():
    """With explicit mesh axes, types have shardings."""
    with jax.set_mesh(jax.make_mesh((4, 2), ("a", "b"), axis_types=(AxisType.Explicit,) * 2)):
        for where in ("batch and features", "time"):
            for name, call, others, expected in OPERATORS:
                spec = SPECS[where]
                x = jax.device_put(X, P(*spec))
                more = [jax.device_put(v, P(*(None if a is None else spec[a] for a in axes))) for v, axes in others]
                record(f"explicit {name}: {where}", call, [x, *more], expected)


def eager():
    for name, got in {
        "eager": sequence(put(X, "a"), LENGTHS),
        "eager, JAX lengths": sequence(put(X, "a"), put(LENGTHS, "a")),
    }.items():
        right = np.array_equal(got, SEQUENCES)
        results[name] = {"moves": [], "spec": str(got.sharding.spec), "right": right}
    wrong = LENGTHS.copy()
    wrong[5] = 99
    try:
        jax.jit(sequence)(put(X, "a"), put(wrong, "a")).block_until_ready()
        results["invalid"] = {"text": "no error"}
    except Exception as error:
        results["invalid"] = {"text": str(error)}


def exported():
    call = jax.jit(lambda x: rj.reverse(x, 1))
    nowhere = NamedSharding(MESH.abstract_mesh, P("a", None, "b"))
    for name, example in {
        "exported for one": jax.ShapeDtypeStruct(X.shape, X.dtype),
        "exported for eight": put(X, "a", None, "b"),
        "exported without devices": jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=nowhere),
    }.items():
        program = export.export(call, platforms=["cpu"], disabled_checks=rj.export_checks())(example)
        program = export.deserialize(program.serialize())
        record(name, program.call, [put(X, "a", None, "b")], np.flip(X, 1))


def types():
    """Of all widths; with 64 bits too, which are a setting of the thread that compiles."""
    with jax.enable_x64(True):
        for name in "bool int4 bfloat16 float32 int64 float64 complex128 float8_e4m3fn".split():
            x = (X > 0).astype(jnp.dtype(name))
            want = retrograde.reverse_sequence(x, LENGTHS, time_axis=1, batch_axis=0)
            for where in ("batch and features", "time"):
                record(f"type {name}: {where}", sequence, [put(x, *SPECS[where]), put(LENGTHS)], want)
    for shape in [(), (8, 0, 4)]:
        x = np.zeros(shape, np.float32)
        record(f"shape {shape}", rj.reverse, [put(x, *"a"[: len(shape)])], x)


if __name__ == "__main__":
    if "gspmd" in sys.argv:
        jax.config.update("jax_use_shardy_partitioner", False)
    if "long" in sys.argv:
        every_operator()
        other_cases()
        explicit()
        exported()
        types()
    elif "basic" in sys.argv:
        SPECS = {name: SPECS[name] for name in ("batch and features", "time")}
        every_operator()
        other_cases()
        eager()
    else:
        every_operator()
    print(json.dumps(results))
