"""How programs of JAX over several devices are partitioned: rules for Shardy, and callbacks of XLA's partitioner.

Axes that are not reversed stay sharded, lengths are sharded like the axes they belong to, and nothing is
communicated. If a sharded axis is reversed as a whole, devices exchange their blocks. If it is reversed by lengths or
offsets, its sharding moves to another axis and back.
"""

import io
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import sdy

from ._jax_private import enable_x64, partitioner


class Layout(NamedTuple):
    """How an operator's operands and result correspond, for one rank and set of parameters.

    Axes are those of ``x``. ``result`` lists them in the order of the result's axes, ``lengths`` in that of the
    lengths' axes; None is an axis of the lengths that every device needs as a whole. Without lengths, the reversed
    axes are reversed from end to end.
    """

    reversed: tuple[int, ...]
    result: tuple[int, ...]
    lengths: tuple[int | None, ...] | None = None


def reverse(rank, *, axes):
    return Layout(tuple(axes), tuple(range(rank)))


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


def register(targets, layout):
    """Registers the callbacks for custom calls of these targets; ``layout`` is one of the functions above."""
    if partitioner is None:
        return
    for target in targets:
        partitioner.register(target, _asked, partial(_partitioned, target, layout), partial(_inferred, layout))


def annotate(results, layout, avals):
    """Adds the rule for Shardy to the custom call that has these results: which axes are sharded alike."""
    shapes = [aval.shape for aval in avals]
    if partitioner is None or not jax.config.jax_use_shardy_partitioner:
        return
    if not all(type(size) is int and size > 0 for shape in shapes for size in shape):
        # Unknown until the program is compiled, or empty. The compiler gathers these.
        return
    factors = list(range(len(shapes[0])))
    sizes = list(shapes[0])
    operands, alone = [factors], []
    if layout.lengths is not None:
        alone = [len(sizes) + at for at in range(layout.lengths.count(None))]
        sizes += [size for size, axis in zip(shapes[1], layout.lengths, strict=True) if axis is None]
        fresh = iter(alone)
        operands.append([next(fresh) if axis is None else axis for axis in layout.lengths])
    rule = sdy.OpShardingRuleAttr.get(
        factor_sizes=sizes,
        operand_mappings=[_mapping(axes) for axes in operands],
        result_mappings=[_mapping(layout.result)],
        need_replication_factors=alone,
        # Sharded too: XLA exchanges them as the callback asks for.
        permutation_factors=sorted(layout.reversed),
        is_custom=True,
    )
    results[0].owner.attributes["sdy.sharding_rule"] = rule


def _mapping(factors):
    return sdy.TensorMappingAttr.get(dim_mappings=[sdy.DimMappingAttr.get(factor_indices=[f]) for f in factors])


# Callbacks, which are called while a program is compiled. A tile is the block of an array that one device has. Tiles
# are an array of devices, with an axis for each axis of the tensor and one more for devices with equal blocks.


def _asked(sharding, shape, text):
    """For the partitioner before Shardy: the sharding of a call whose result is used with this one."""
    return sharding


def _inferred(layout, shapes, shardings, result, text):
    """For the partitioner before Shardy: the sharding of the result."""
    tiles = _tiles(shardings[0], shapes[0])
    return shardings[0] if tiles is None else _sharding(_ordered(tiles, _layout(layout, shapes, text).result))


def _partitioned(target, layout, shapes, shardings, result, result_sharding, text):
    """The program of each device, and the shardings of its operands and result. XLA converts to and from these."""
    if any(not (s.is_tiled() or s.is_replicated()) for s in (*shardings, result_sharding)):
        # Inside ``shard_map``: every device has its own array of this shape.
        blocks = [_aval(shape) for shape in shapes]
        return _program(target, blocks, _aval(result), _parameters(text)), shardings, result_sharding
    plan, size = _layout(layout, shapes, text), shapes[0].dimensions()
    tiles = _tiles(shardings[0], shapes[0])
    if tiles is None:
        # Every device has all of ``x``: it runs only the part of the result that is asked for.
        tiles = _tiles(result_sharding, result)
        if tiles is None:
            tiles = np.zeros((1,) * (len(size) + 1), np.int64)
        tiles = _ordered(tiles, np.argsort(plan.result))
    for axis, extent in enumerate(size):
        if extent % tiles.shape[axis]:
            # Blocks of different sizes are padded, and the padding would be reversed.
            tiles = _merged(tiles, axis, len(size))
    taken = tiles
    if plan.lengths is None:
        # A device takes the block at the other end, and flips it.
        taken = np.flip(tiles, plan.reversed)
    else:
        for axis in plan.reversed:
            taken = tiles = _merged(tiles, axis, _free(tiles, axis, size))
    needed = [_sharding(taken)]
    if plan.lengths is not None:
        needed.append(_sharding(_ordered(tiles, plan.lengths)))
    made = _sharding(_ordered(tiles, plan.result))
    blocks = [_aval(sharding.tile(shape)) for sharding, shape in zip(needed, shapes, strict=True)]
    return _program(target, blocks, _aval(made.tile(result)), _parameters(text)), needed, made


def _layout(layout, shapes, text):
    return layout(len(shapes[0].dimensions()), **_parameters(text))


def _tiles(sharding, shape):
    """The devices of every tile, or None if every device has the whole array."""
    if not sharding.is_tiled():
        return None
    rank, counts = len(shape.dimensions()), sharding.tile_assignment_dimensions()
    devices = np.array(sharding.tile_assignment_devices(), np.int64)
    return devices.reshape(*counts[:rank], -1)


def _sharding(tiles):
    if tiles.size == tiles.shape[-1]:
        return partitioner.replicated()
    return partitioner.tiled(tiles)


def _ordered(tiles, axes):
    """The tiles of an array with these axes. None is an axis of one tile, and devices of other axes have equal blocks."""
    kept = [axis for axis in axes if axis is not None]
    others = [axis for axis in range(tiles.ndim) if axis not in kept]
    counts = [1 if axis is None else tiles.shape[axis] for axis in axes]
    return tiles.transpose(*kept, *others).reshape(*counts, -1)


def _merged(tiles, axis, other):
    """With the tiles of an axis as minor parts of those of another axis, or of equal blocks."""
    counts = list(tiles.shape)
    counts[other], counts[axis] = counts[other] * counts[axis], 1
    # Moving the axis behind the other one shifts the other one if it comes later.
    moved = np.moveaxis(tiles, axis, other if axis < other else other + 1)
    return moved.reshape(counts)


def _free(tiles, axis, size):
    """The first other axis that the tiles of this one can move to, so that all blocks have equal sizes."""
    for other, extent in enumerate(size):
        if other != axis and extent % (tiles.shape[other] * tiles.shape[axis]) == 0:
            return other
    return len(size)


def _aval(shape):
    return jax.ShapeDtypeStruct(shape.dimensions(), shape.numpy_dtype())


def _program(target, operands, result, parameters):
    """The call of the engine for one block, as bytes of MLIR."""
    attributes = {name: np.array(v, np.int64) if type(v) is list else _wide(v) for name, v in parameters.items()}

    def call(*blocks):
        return jax.ffi.ffi_call(target, result)(*blocks, **attributes)

    # The program that is being compiled may use 64 bits, whatever the settings are here.
    with enable_x64(True), jax.disable_jit(False):
        module = jax.jit(call).lower(*operands).compiler_ir("stablehlo")
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


def _wide(value):
    return np.int64(value) if type(value) is int else value


def _parameters(text):
    """The attributes of a custom call, from their text."""
    with ir.Context():
        return {item.name: _value(item.attr) for item in ir.DictAttr(ir.Attribute.parse(text.decode()))}


def _value(attribute):
    if isinstance(attribute, (ir.StringAttr, ir.IntegerAttr)):
        return attribute.value
    return [int(value) for value in attribute]
