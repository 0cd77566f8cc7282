"""Every type of element that JAX has, random arrays of each, and calls of NumPy's functions."""

import jax.numpy as jnp
import numpy as np

DTYPES = [
    name
    for name in """bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 bfloat16
    float16 float32 float64 complex64 complex128 float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3fn
    float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu""".split()
    if hasattr(jnp, name)
]
PACKED = ("int2", "uint2", "int4", "uint4", "float4_e2m1fn")


def sample(rng, shape, dtype):
    """Random bits that are valid for the type."""
    dtype = jnp.dtype(dtype)
    if dtype == bool:
        return rng.random(shape) < 0.5
    if dtype.name in PACKED:
        values = {"int2": (-2, 2), "uint2": (0, 4), "int4": (-8, 8), "uint4": (0, 16)}.get(dtype.name, (-4, 5))
        return rng.integers(*values, shape).astype(np.float32).astype(dtype)
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)


#: On arrays of three axes; the first argument is a module that has the functions.
NAMES = {
    "flip": lambda f, x: f.flip(x, (0, -1)),
    "all": lambda f, x: f.flip(x),
    "fliplr": lambda f, x: f.fliplr(x),
    "flipud": lambda f, x: f.flipud(x),
    **{f"rot90 {k}": lambda f, x, k=k: f.rot90(x, k, (2, 0)) for k in range(4)},
}
