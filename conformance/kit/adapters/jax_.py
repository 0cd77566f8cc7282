"""Adapter for JAX: `jnp.flip`, on the CPU, with 64-bit types on."""

from protocol import Unsupported, from_numpy, serve


def start():
    import os

    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)

    def run(call):
        if call.input.dtype == "string":
            raise Unsupported("JAX has no strings")
        x = jnp.asarray(call.input.numpy())
        flipped = jnp.flip(x, tuple(call.argument.numpy().tolist()))
        return from_numpy(np.asarray(flipped), call.input.dtype)

    return jax.__version__, run


if __name__ == "__main__":
    serve("jax", ["Flip"], start, "pip install jax")
