"""How the operators are partitioned in programs of JAX over several devices: rules for Shardy, and what each device runs.

Axes that are not reversed stay sharded, lengths are sharded like the axes they belong to, and nothing is
communicated. Along a reversed axis, devices exchange blocks: as a whole if it is reversed as a whole, otherwise the
sharding moves to another axis and back.
"""

import math
from typing import NamedTuple

from jax import lax
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

try:
    # Experimental, and the set of primitives is not documented. A release may lack them.
    from jax._src.dispatch import prim_requires_devices_during_lowering as _needing_devices
    from jax.experimental.custom_partitioning import ArrayMapping, SdyShardingRule, custom_partitioning
except ImportError:
    _needing_devices = None


class Layout(NamedTuple):
    """How an operator's operands and result correspond, for one rank and set of parameters.

    Axes are those of ``x``. ``result`` lists them in the order of the result's axes, ``lengths`` in that of the
    lengths' axes; None is an axis of the lengths that is on every device as a whole. ``is_whole`` says that the
    reversed axes are reversed from end to end, which devices do by exchanging blocks.
    """

    reversed: tuple[int, ...]
    result: tuple[int, ...]
    lengths: tuple[int | None, ...] | None = None

    @property
    def is_whole(self):
        return self.lengths is None


def reverse(rank, *, axes):
    return Layout(axes, tuple(range(rank)))


def rot90(rank, *, axes, first, second):
    order = list(range(rank))
    order[first], order[second] = second, first
    return Layout(tuple(order[axis] for axis in axes), tuple(order))


def sequence(rank, *, time_axis, batch_axis, **rules):
    return Layout((time_axis,), tuple(range(rank)), (batch_axis,))


def subsequences(rank, *, axis, **rules):
    every = tuple(range(rank))
    return Layout((axis,), every, every[:axis] + (None,) + every[axis + 1 :])


def segments(rank, *, axis, **rules):
    return Layout((axis,), tuple(range(rank)), (None,))


def announce(primitive):
    """Tells JAX that the lowering of a primitive needs to know the devices. Returns whether it can be partitioned.

    Without it, programs are still right, but every device gathers all of ``x``.
    """
    if _needing_devices is None:
        return False
    _needing_devices.add(primitive)
    return True


def is_partitioned(ctx):
    """Whether a program is for a mesh of several devices, and is compiled in this process.

    A serialised program cannot call back. Where ``shard_map`` handles some mesh axes and the compiler the others, JAX
    does not pass the mesh to the callbacks.
    """
    module = ctx.module_context
    parameters, context = getattr(module, "lowering_parameters", None), getattr(module, "axis_context", None)
    mesh = getattr(context, "abstract_mesh", None)
    return mesh is not None and mesh.size > 1 and not getattr(parameters, "for_export", True)


def lowered(layout, call, ctx, *operands):
    """Lowers ``call`` of the operands so that the compiler partitions it."""
    run = custom_partitioning(call)
    mapping = _Partition(layout, call)
    run.def_partition(
        mapping.partition, infer_sharding_from_operands=mapping.inferred, sharding_rule=_rule(layout, ctx.avals_in)
    )
    return mlir.lower_fun(run, multiple_results=False)(ctx, *operands)


def _rule(layout, avals):
    """For Shardy: which axes are sharded alike. The reversed ones are too, as :class:`_Partition` handles them."""
    factors = [f"x{axis}" for axis in range(avals[0].ndim)]
    operands = [ArrayMapping(*factors)]
    alone = ()
    if layout.lengths is not None:
        names = [f"l{at}" if axis is None else factors[axis] for at, axis in enumerate(layout.lengths)]
        alone = tuple(name for name, axis in zip(names, layout.lengths, strict=True) if axis is None)
        operands.append(ArrayMapping(*names))
    result = ArrayMapping(*(factors[axis] for axis in layout.result))
    moved = tuple(factors[axis] for axis in sorted(layout.reversed))
    return SdyShardingRule(tuple(operands), (result,), need_replication_factors=alone, permutation_factors=moved)


class _Partition:
    """The callbacks for a call: how operands and result are sharded, and what each device runs."""

    def __init__(self, layout, call):
        self.layout, self.call = layout, call

    def inferred(self, mesh, operands, result):
        """For the partitioner before Shardy: the result is sharded as ``x`` is."""
        x = operands[0].sharding
        names = _names(x, operands[0].ndim)
        return NamedSharding(x.mesh, self._spec(names))

    def partition(self, mesh, operands, result):
        x, layout = operands[0], self.layout
        names = _names(x.sharding, x.ndim)
        if not any(names):
            # Every device has all of ``x``: it runs only the part of the result that it is asked for.
            wanted = _names(result.sharding, x.ndim)
            for at, axis in enumerate(layout.result):
                names[axis] = wanted[at]
        names = _even(names, x.shape, mesh)
        exchanged = ()
        if layout.is_whole:
            exchanged = tuple(name for axis in layout.reversed for name in names[axis])
        else:
            names = _moved(names, layout.reversed, x.shape, mesh)
        specs = [PartitionSpec(*names)]
        if layout.lengths is not None:
            specs.append(PartitionSpec(*(() if axis is None else names[axis] for axis in layout.lengths)))
        run = self._exchanging(exchanged, mesh) if exchanged else self.call
        return mesh, run, NamedSharding(mesh, self._spec(names)), tuple(NamedSharding(mesh, spec) for spec in specs)

    def _spec(self, names):
        return PartitionSpec(*(names[axis] for axis in self.layout.result))

    def _exchanging(self, names, mesh):
        last = math.prod(mesh.shape[name] for name in names) - 1
        pairs = [(at, last - at) for at in range(last + 1)]
        # The index over several mesh axes is reversed if each of them is.
        return lambda x: self.call(lax.ppermute(x, names, pairs))


def _names(sharding, rank):
    """The mesh axes of every axis, outermost first."""
    names = [()] * rank
    for axis, name in enumerate(sharding.spec):
        names[axis] = () if name is None else name if isinstance(name, tuple) else (name,)
    return names


def _even(names, shape, mesh):
    """Without the mesh axes that would leave blocks of different sizes: the compiler pads those with anything."""
    kept = []
    for size, axes in zip(shape, names, strict=True):
        kept.append(axes if size % math.prod(mesh.shape[name] for name in axes) == 0 else ())
    return kept


def _moved(names, reversed_axes, shape, mesh):
    """With the mesh axes of reversed axes moved to axes that they divide into even blocks, or dropped."""
    names = list(names)
    for axis in reversed_axes:
        homeless, names[axis] = names[axis], ()
        for name in homeless:
            for other, size in enumerate(shape):
                blocks = math.prod(mesh.shape[n] for n in (*names[other], name))
                if other not in reversed_axes and size % blocks == 0:
                    names[other] = (*names[other], name)
                    break
    return names
