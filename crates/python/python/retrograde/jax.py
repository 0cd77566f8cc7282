"""The operators for JAX: under ``jit``, ``vmap``, ``grad``, ``jvp``, ``checkpoint``, ``shard_map``.

>>> import jax, jax.numpy as jnp, retrograde.jax
>>> x = jnp.arange(6.0).reshape(2, 3)
>>> jax.jit(lambda x: retrograde.jax.reverse(x, axes=1))(x)
Array([[2., 1., 0.],
       [5., 4., 3.]], dtype=float32)
>>> retrograde.jax.reverse_sequence(x, [3, 2], time_axis=1, batch_axis=0)
Array([[2., 1., 0.],
       [4., 3., 5.]], dtype=float32)

On CPUs and CUDA devices a call is one XLA custom call into the engine, without Python in between;
on a device it is launched asynchronously on XLA's stream. On other devices it is lowered to XLA
operations (``rev``, a gather).

``jax.export`` serialises only custom calls in a list that is built into JAX, which other libraries
cannot extend. The caller has to allow all others: pass ``disabled_checks=export_checks()``.

Lengths that are known when the call is made or traced are checked then, and an error is a
``ValueError``: lists, NumPy arrays, and JAX arrays, unless they are on a CUDA device, where reading
them would block. Other lengths are checked when the program runs:

- On CPUs JAX raises the same text as a ``JaxRuntimeError``.
- On CUDA devices a program cannot stop. With ``"strict"`` an invalid length is clamped to 0 or to
  the size of the axis, and :func:`retrograde.cuda.check` of a result raises a ``ValueError``. With
  ``"clamp"`` a negative length is clamped to 0 and not reported. Strict calls whose lengths are on
  the device are not recorded into XLA's command buffers (CUDA graphs); all others may be.
- On other devices ``"strict"`` refuses such lengths when the program is compiled, and ``"clamp"``
  clamps a negative one to 0.

Offsets are checked as strict lengths are.
"""

from __future__ import annotations

import operator
from functools import lru_cache, partial
from typing import NoReturn, SupportsIndex

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec
from jax.typing import ArrayLike

from . import _axes, _engine, _jax_partition, _names
from ._check import check
from ._hints import MISSING, check_oriented, flipped_axes, hinted, sequence_axes, wrong
from ._lengths import array_of, counted
from ._typing import Align, Axes, Duplicates, Lengths, Mask, Orientation, Orientations, Plane, Policy, Tail

__all__ = [
    "export_checks",
    "flip",
    "fliplr",
    "flipud",
    "orient",
    "reverse",
    "reverse_segments",
    "reverse_sequence",
    "reverse_subsequences",
    "rot90",
]


@hinted
def reverse(
    x: ArrayLike,
    axes: Axes | None = None,
    *more: NoReturn,
    mask: Mask | None = None,
    duplicates: Duplicates = "set",
    **others: NoReturn,
) -> Array:
    """Reverses whole axes; see :func:`retrograde.reverse`.

    >>> reverse(jnp.array([[1, 2], [3, 4]]), mask=[True, False]).tolist()
    [[3, 4], [1, 2]]
    """
    if more or others:
        raise wrong(reverse, others, more=more)
    return _apply("reverse", x, (axes, mask, duplicates))


@hinted
def reverse_sequence(
    x: ArrayLike,
    lengths: Lengths,
    *more: NoReturn,
    time_axis: SupportsIndex | None = None,
    batch_axis: SupportsIndex | None = None,
    batch_first: bool | None = None,
    policy: Policy = "strict",
    align: Align = "start",
    tail: Tail = "keep",
    **others: NoReturn,
) -> Array:
    """Reverses the first ``lengths[b]`` steps of every sequence; see :func:`retrograde.reverse_sequence`.

    The gradient of a reversal is the same reversal; lengths have none.

    >>> x = jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> def last(x, lengths):
    ...     return reverse_sequence(x, lengths, time_axis=1, batch_axis=0)[:, 0].sum()
    >>> jax.grad(last)(x, jnp.array([3, 2])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    if more or others or lengths is MISSING:
        raise wrong(reverse_sequence, others, "lengths", more)
    time_axis, batch_axis = sequence_axes(time_axis, batch_axis, batch_first)
    return _apply("reverse_sequence", x, (lengths, time_axis, batch_axis, policy, align, tail))


@hinted
def reverse_subsequences(
    x: ArrayLike,
    lengths: Lengths,
    *more: NoReturn,
    axis: SupportsIndex,
    policy: Policy = "clamp",
    align: Align = "start",
    tail: Tail = "keep",
    **others: NoReturn,
) -> Array:
    """Reverses the first elements of every lane along an axis; see :func:`retrograde.reverse_subsequences`.

    >>> reverse_subsequences(jnp.arange(6).reshape(2, 3), [3, 2], axis=1).tolist()
    [[2, 1, 0], [4, 3, 5]]
    """
    if more or others or lengths is MISSING or axis is MISSING:
        raise wrong(reverse_subsequences, others, "lengths" if lengths is MISSING else "axis", more)
    return _apply("reverse_subsequences", x, (lengths, axis, policy, align, tail))


@hinted
def reverse_segments(
    x: ArrayLike, offsets: Lengths, *more: NoReturn, axis: SupportsIndex = 0, **others: NoReturn
) -> Array:
    """Reverses every segment of an axis that is cut by offsets; see :func:`retrograde.reverse_segments`.

    >>> reverse_segments(jnp.arange(6), [0, 2, 5]).tolist()
    [1, 0, 4, 3, 2, 5]
    """
    if more or others or offsets is MISSING:
        raise wrong(reverse_segments, others, "offsets", more)
    return _apply("reverse_segments", x, (offsets, axis))


@hinted
def flip(
    m: ArrayLike,
    axis: Axes | None = None,
    *more: NoReturn,
    dim: Axes | None = None,
    dims: Axes | None = None,
    **others: NoReturn,
) -> Array:
    """Reverses axes; see :func:`retrograde.flip`.

    >>> flip(jnp.array([[1, 2], [3, 4]]), 1).tolist()
    [[2, 1], [4, 3]]
    """
    if more or others:
        raise wrong(flip, others, more=more)
    return _named("flip", m, flipped_axes(axis, dim, dims))


@hinted
def fliplr(m: ArrayLike, *more: NoReturn, **others: NoReturn) -> Array:
    """Reverses axis 1; see :func:`retrograde.fliplr`."""
    if more or others:
        raise wrong(fliplr, others, more=more)
    return _named("fliplr", m)


@hinted
def flipud(m: ArrayLike, *more: NoReturn, **others: NoReturn) -> Array:
    """Reverses axis 0; see :func:`retrograde.flipud`."""
    if more or others:
        raise wrong(flipud, others, more=more)
    return _named("flipud", m)


@hinted
def rot90(
    m: ArrayLike, k: SupportsIndex = 1, axes: Plane = (0, 1), *more: NoReturn, **others: NoReturn
) -> Array:
    """Rotates by 90 degrees in one pass; see :func:`retrograde.rot90`.

    >>> rot90(jnp.array([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    if more or others:
        raise wrong(rot90, others, more=more)
    return _named("rot90", m, k, axes)


@hinted
def orient(
    x: ArrayLike,
    orientation: Orientation | None = None,
    *more: NoReturn,
    axes: Plane | None = None,
    orientations: Orientations | None = None,
    batch_axis: SupportsIndex | None = None,
    **others: NoReturn,
) -> Array:
    """Makes images upright in one pass; see :func:`retrograde.orient`.

    >>> orient(jnp.array([[1, 2], [3, 4]]), "transverse").tolist()
    [[4, 2], [3, 1]]
    """
    if more or others:
        raise wrong(orient, others, more=more)
    check_oriented(orientation, orientations, batch_axis)
    if orientations is None:
        return _named("orient", x, orientation, axes)
    x = x if isinstance(x, jax.Array) else jnp.asarray(x)
    _, batch, _, each = _names.orient_each(x.shape, orientations, axes, batch_axis)
    images = [_flip(lax.index_in_dim(x, at, batch, False), *one) for at, one in enumerate(each)]
    return jnp.stack(images, batch) if images else x


def export_checks() -> list[jax.export.DisabledSafetyCheck]:
    """The safety checks that ``jax.export`` has to disable to serialise programs with these functions.

    A program that was exported this way needs ``import retrograde.jax`` where it is loaded.

    >>> from jax import export
    >>> exported = export.export(jax.jit(flip), disabled_checks=export_checks())(jnp.arange(3))
    >>> export.deserialize(exported.serialize()).call(jnp.arange(3)).tolist()
    [2, 1, 0]
    """
    from jax import export

    names = {name for handlers in _engine.xla_handlers().values() for name in handlers}
    return [export.DisabledSafetyCheck.custom_call(name) for name in sorted(names)]


def _named(name, m, *arguments):
    if not isinstance(m, jax.Array):
        m = jnp.asarray(m)
    return _flip(m, *getattr(_names, name)(m.ndim, *arguments))


def _flip(x, axes, swapped):
    """Swaps two axes if they are given, then reverses axes of the result."""
    if swapped is None:
        return _compiled(_reverse_p, axes=tuple(sorted(axes)))(x)
    first, second = swapped
    return _compiled(_rot90_p, axes=axes, first=first, second=second)(x)


def _apply(name, x, arguments):
    """Runs the operator of this name, with its arguments in the engine's order."""
    if not isinstance(x, jax.Array):
        x = jnp.asarray(x)
    if name == "reverse":
        return _compiled(_reverse_p, axes=_axes.resolved(*arguments, x.ndim))(x)
    lengths, *others = arguments
    if name == "reverse_segments":
        axes, rules = others, {"policy": "strict"}
        lengths, known = _lengths(name, x.shape, lengths, axes)
    else:
        *axes, policy, align, tail = others
        lengths, known = _lengths(name, x.shape, lengths, axes, policy, align, tail)
        rules = {"policy": policy, "align": align, "tail": tail}
    if known:
        # They were checked, and need no check on a device.
        rules["policy"] = "clamp"
    axes = [operator.index(axis) % x.ndim for axis in axes]
    if name == "reverse_sequence":
        time_axis, batch_axis = axes
        return _compiled(_sequence_p, time_axis=time_axis, batch_axis=batch_axis, **rules)(x, lengths)
    (axis,) = axes
    if name == "reverse_segments":
        return _compiled(_segments_p, axis=axis, **rules)(x, lengths)
    lengths = lengths.reshape(x.shape[:axis] + (1,) + x.shape[axis + 1 :])
    return _compiled(_subsequences_p, axis=axis, **rules)(x, lengths)


@lru_cache(maxsize=4096)
def _compiled(primitive, **params):
    """A jitted call, which JAX runs faster than a primitive; other programs inline it."""
    return jax.jit(partial(primitive.bind, **params), inline=True)


def _run(primitive, *operands, **params):
    """Runs a primitive on arrays. It is compiled even if ``jit`` is off, as JAX's own primitives
    are: ``jit`` then returns the plain function, which would recurse to here.
    """
    run = _compiled(primitive, **params)
    if not jax.config.jax_disable_jit:
        return run(*operands)
    with jax.disable_jit(False):
        return run(*operands)


def _lengths(name, shape, lengths, axes, *rules):
    """Lengths (or offsets) as an operand of the program, and whether they are known and valid.

    The other arguments, shapes and types are always checked now.
    """
    if not isinstance(lengths, jax.Array):
        lengths = array_of(lengths)
    if jnp.issubdtype(lengths.dtype, jnp.integer) and jnp.iinfo(lengths.dtype).bits < 8:
        lengths = lengths.astype(np.int8)
    if isinstance(lengths, jax.Array) and not _is_at_hand(lengths):
        if lengths.dtype == bool and name != "reverse_segments":
            raise TypeError(
                f"{name}: lengths is a mask whose values are not known yet, expected one that is, or the numbers of its"
                " kept steps: mask.sum(...)"
            )
        check(name, shape, np.zeros(lengths.shape, lengths.dtype), *axes, *rules)
        return lengths, False
    lengths = counted(name, shape, lengths, *axes, *rules)
    check(name, shape, array_of(lengths), *axes, *rules)
    if isinstance(lengths, np.ndarray):
        # Clamped to the axis they fit into 32 bits: JAX would truncate wider ones silently.
        lengths = np.minimum(lengths.astype(np.uint64), np.uint64(shape[axes[0]])).astype(np.uint32)
    return lengths, True


def _is_at_hand(array):
    """Whether its values are known and can be read without waiting for a CUDA device."""
    if isinstance(array, jax.core.Tracer) or not array.is_fully_addressable:
        return False
    return not any(map(_is_cuda, array.devices()))


def _is_cuda(device):
    return device.platform == "gpu" and "cuda" in device.client.platform_version


def _check(x):
    """Waits for ``x``, and raises an error for invalid lengths on its devices."""
    if isinstance(x, jax.core.Tracer):
        raise TypeError("x is traced, expected an array with values: check what the program returns")
    x.block_until_ready()
    for device in x.sharding.addressable_devices:
        if _is_cuda(device):
            _engine.xla_check(device.local_hardware_id)


def _primitive(name, fallback, batch, layout, like=lambda x, **params: x, inverse=dict):
    """An operator that JAX can transform: linear in ``x``.

    ``layout`` says which axes correspond (:class:`_jax_partition.Layout`). ``like`` returns the type of the result. The
    transpose is the operator itself, with the parameters that ``inverse`` returns.
    """
    primitive = Primitive(name)
    primitive.def_abstract_eval(lambda x, *lengths, **params: like(x, **params))
    primitive.def_impl(partial(_run, primitive))

    def jvp(operands, tangents, **params):
        x, *lengths = operands
        dx = tangents[0]
        out = primitive.bind(x, *lengths, **params)
        if isinstance(dx, ad.Zero):
            return out, dx
        return out, primitive.bind(dx, *lengths, **params)

    def transpose(cotangent, x, *lengths, **params):
        if not isinstance(cotangent, ad.Zero):
            cotangent = primitive.bind(cotangent, *lengths, **inverse(**params))
        return [cotangent] + [None for _ in lengths]

    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batch
    mlir.register_lowering(primitive, mlir.lower_fun(fallback, multiple_results=False))
    for platform, target in (("cpu", lambda policy: name), ("cuda", partial(_cuda_target, name))):
        mlir.register_lowering(primitive, partial(_lowered, target, layout), platform)
    _jax_partition.register([name, f"{name}_strict"], layout)
    return primitive


def _lowered(target, layout, ctx, *operands, **params):
    """A call of the handler that ``target`` returns for a policy."""
    call = jax.ffi.ffi_lowering(target(params.get("policy")))
    results = call(ctx, *operands, **_attributes(params))
    _jax_partition.annotate(results, layout(ctx.avals_in[0].ndim, **params), ctx.avals_in)
    return results


def _cuda_target(name, policy):
    """Handlers that report invalid lengths are separate: XLA must not record them."""
    return f"{name}_strict" if policy == "strict" else name


def _attributes(params):
    """In the form that the handlers read: 64-bit integers, one or several, and text."""
    kinds = {int: np.int64, tuple: partial(np.array, dtype=np.int64), str: str}
    return {name: kinds[type(value)](value) for name, value in params.items()}


# On other devices: XLA operations.


def _reverse_elsewhere(x, *, axes):
    return lax.rev(x, axes)


def _rot90_elsewhere(x, *, axes, first, second):
    return lax.rev(jnp.swapaxes(x, first, second), axes)


def _sequence_elsewhere(x, lengths, *, time_axis, batch_axis, **rules):
    return _gathered(x, jnp.expand_dims(lengths, _others(x.ndim, batch_axis)), time_axis, **rules)


def _subsequences_elsewhere(x, lengths, *, axis, **rules):
    return _gathered(x, lengths, axis, **rules)


def _segments_elsewhere(x, offsets, *, axis, policy):
    if policy == "strict":
        raise NotImplementedError(
            "offsets are known only when the program runs, and on this device it cannot stop to refuse invalid ones:"
            " pass offsets that are known when the program is traced"
        )
    offsets = offsets.astype(jnp.int32)
    step = jnp.arange(x.shape[axis], dtype=jnp.int32)
    # The first offset beyond a step ends its segment; there is none behind the last offset.
    end = jnp.searchsorted(offsets, step, side="right")
    inside = end < offsets.shape[0]
    last = jnp.minimum(end, offsets.shape[0] - 1)
    mirrored = offsets[last - 1] + offsets[last] - 1 - step
    return jnp.take(x, jnp.where(inside, mirrored, step), axis)


def _gathered(x, lengths, axis, policy, align, tail):
    if policy == "strict":
        raise NotImplementedError(
            'policy is "strict", but lengths are known only when the program runs, and on this device it'
            ' cannot stop: check them before, and use policy="clamp"'
        )
    size = x.shape[axis]
    # Unsigned: a length may be the largest value of its type, and one above the size is clamped.
    wide = jnp.maximum(lengths, 0).astype(jnp.uint64 if jax.config.jax_enable_x64 else jnp.uint32)
    lengths = jnp.minimum(wide, size).astype(jnp.int32)
    step = lax.broadcasted_iota(jnp.int32, (1,) * axis + (size,) + (1,) * (x.ndim - axis - 1), axis)
    # Which steps move, and the sum of the two steps that are exchanged.
    if align == "end":
        inside, total = step >= size - lengths, 2 * size - 1 - lengths
    else:
        inside, total = step < lengths, lengths - 1
    moved = jnp.take_along_axis(x, jnp.where(inside, total - step, step), axis)
    return jnp.where(inside, moved, jnp.zeros((), x.dtype)) if tail == "zero" else moved


# Under ``vmap``: one more axis.


def _reverse_batched(operands, dims, *, axes):
    (x,), (at,) = operands, dims
    return _reverse_p.bind(x, axes=tuple(_shifted(axis, at) for axis in axes)), at


def _rot90_batched(operands, dims, *, axes, first, second):
    (x,), (at,) = operands, dims
    axes = tuple(_shifted(axis, at) for axis in axes)
    return _rot90_p.bind(x, axes=axes, first=_shifted(first, at), second=_shifted(second, at)), at


def _sequence_batched(operands, dims, *, time_axis, batch_axis, **rules):
    (x, lengths), (at, lengths_at) = operands, dims
    if lengths_at is None:
        time_axis, batch_axis = _shifted(time_axis, at), _shifted(batch_axis, at)
        return _sequence_p.bind(x, lengths, time_axis=time_axis, batch_axis=batch_axis, **rules), at
    # Every sequence of every batch has its own length: the two batch axes are merged.
    lengths = jnp.moveaxis(lengths, lengths_at, 0)
    if at is None:
        shape = _inserted(x.shape, batch_axis, lengths.shape[0])
        x = jnp.broadcast_to(jnp.expand_dims(x, batch_axis), shape)
    else:
        x = jnp.moveaxis(x, at, batch_axis)
    shape = x.shape
    x = x.reshape(shape[:batch_axis] + (lengths.size,) + shape[batch_axis + 2 :])
    x = _sequence_p.bind(x, lengths.reshape(-1), time_axis=time_axis, batch_axis=batch_axis, **rules)
    return x.reshape(shape), batch_axis


def _subsequences_batched(operands, dims, *, axis, **rules):
    (x, lengths), (at, lengths_at) = operands, dims
    if at is None:
        lengths = jnp.moveaxis(lengths, lengths_at, 0)
        x, at = jnp.broadcast_to(x, lengths.shape[:1] + x.shape), 0
    elif lengths_at is None:
        shape = _inserted(lengths.shape, at, x.shape[at])
        lengths = jnp.broadcast_to(jnp.expand_dims(lengths, at), shape)
    else:
        lengths = jnp.moveaxis(lengths, lengths_at, at)
    return _subsequences_p.bind(x, lengths, axis=_shifted(axis, at), **rules), at


def _segments_batched(operands, dims, *, axis, policy):
    (x, offsets), (at, offsets_at) = operands, dims
    run = partial(_segments_p.bind, policy=policy)
    if offsets_at is None:
        return run(x, offsets, axis=_shifted(axis, at)), at
    # Every tensor is cut in its own way, and elements behind the last offset stay: one call each.
    offsets = jnp.moveaxis(offsets, offsets_at, 0)
    if at is None:
        return lax.map(lambda offsets: run(x, offsets, axis=axis), offsets), 0
    return lax.map(lambda pair: run(*pair, axis=axis), (jnp.moveaxis(x, at, 0), offsets)), 0


def _shifted(axis, at):
    """The index of an axis after another one is inserted at ``at``."""
    return axis + (axis >= at)


def _inserted(shape, at, size):
    return shape[:at] + (size,) + shape[at:]


def _others(rank, axis):
    return tuple(other for other in range(rank) if other != axis)


def _rot90_like(x, *, axes, first, second):
    shape = _names.shape_of(x.shape, (first, second))
    mesh = x.sharding.mesh
    if mesh.empty:
        return x.update(shape=shape)
    # The type includes the sharding if mesh axes are explicit.
    spec = PartitionSpec(*_names.shape_of(x.sharding.spec, (first, second)))
    return x.update(shape=shape, sharding=NamedSharding(mesh, spec))


def _rot90_inverse(*, axes, first, second):
    axes, _ = _names.inverse(axes, (first, second))
    return {"axes": axes, "first": first, "second": second}


for _platform, _handlers in _engine.xla_handlers().items():
    for _name, _handler in _handlers.items():
        jax.ffi.register_ffi_target(_name, _handler, platform=_platform)

_reverse_p = _primitive("retrograde_reverse", _reverse_elsewhere, _reverse_batched, _jax_partition.reverse)
_rot90_p = _primitive(
    "retrograde_rot90", _rot90_elsewhere, _rot90_batched, _jax_partition.rot90, _rot90_like, _rot90_inverse
)
_sequence_p = _primitive(
    "retrograde_reverse_sequence", _sequence_elsewhere, _sequence_batched, _jax_partition.sequence
)
_subsequences_p = _primitive(
    "retrograde_reverse_subsequences", _subsequences_elsewhere, _subsequences_batched, _jax_partition.subsequences
)
_segments_p = _primitive(
    "retrograde_reverse_segments", _segments_elsewhere, _segments_batched, _jax_partition.segments
)
