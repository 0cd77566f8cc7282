"""Looks up what the package uses of JAX that is not documented. No other module does.

A release of JAX may lack any of it. ``partitioner`` is None then: programs over several devices gather tensors before
a call, which is slower and never wrong. A test removes the names (``test_jax_sharding.py``).
"""

from types import SimpleNamespace

import jax
import jax.experimental

#: Methods of shardings that callbacks call.
_METHODS = ("is_tiled", "is_replicated", "tile_assignment_dimensions", "tile_assignment_devices", "tile")


def _partitioner():
    """Functions of XLA's partitioner: one registers callbacks for a custom call, two make shardings."""
    try:
        from jax._src.lib import xla_client
        from jax._src.xla_bridge import register_plugin_callbacks

        add, sharding = xla_client.register_custom_call_partitioner, xla_client.HloSharding
        tiled, replicated = sharding.subgroup_with_device_ordering, sharding.replicate
        equal = xla_client.OpSharding.Type.REPLICATED
    except (ImportError, AttributeError):
        return None
    if not all(hasattr(sharding, name) for name in _METHODS):
        return None

    def register(target, asked, partitioned, inferred):
        add(target, asked, partitioned, inferred)

        # CUDA devices are in plug-ins, which are loaded later.
        def add_to(c_api):
            add(target, asked, partitioned, inferred, c_api=c_api)

        register_plugin_callbacks(add_to)

    return SimpleNamespace(register=register, tiled=lambda tiles: tiled(tiles, [equal]), replicated=replicated)


partitioner = _partitioner()
# Older releases have it in another module.
enable_x64 = getattr(jax if hasattr(jax, "enable_x64") else jax.experimental, "enable_x64")  # noqa: B009
