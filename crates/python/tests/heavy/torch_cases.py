"""Tensors, expected results and calls that the tests of ``retrograde.torch`` share."""

import os
import warnings

import numpy as np
import pytest
import torch

import retrograde
import retrograde.torch as rt

OPS = torch.ops.retrograde
#: What needs autograd kernels of our own; test_torch_private.py runs the others without.
own_kernels = pytest.mark.skipif(
    "RETROGRADE_TESTS_WITHOUT_PRIVATE" in os.environ, reason="no names of PyTorch that are not documented"
)
DTYPES = [
    getattr(torch, name)
    for name in """bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64
    complex32 complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu
    float4_e2m1fn_x2 bits8 bits16 uint1 uint3 uint4 uint7 int1 int4 bcomplex32""".split()
    if hasattr(torch, name)
]


def bits(x):
    """A tensor's elements as an array of integers, or of pairs of integers."""
    x = x.detach()
    if x.is_complex() and x.element_size() == 16:
        x = torch.view_as_real(x.resolve_conj())
    width = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return (x if x.dtype == width else x.view(width)).numpy()


def sample(rng, shape, dtype):
    """Random bits that are valid for the type."""
    if dtype == torch.bool:
        return torch.from_numpy(rng.random(shape) < 0.5)
    width = torch.empty(0, dtype=dtype).element_size()
    size = int(np.prod(shape, dtype=np.int64))
    whole = torch.from_numpy(np.frombuffer(bytearray(rng.bytes(max(size, 1) * width)), np.uint8))
    return whole[: size * width].view(dtype).reshape(shape)


def strided(rng, shape, dtype):
    """The same elements with other layouts: transposed, with gaps, broadcast."""
    order = rng.permutation(len(shape))
    gaps = rng.integers(1, 3, len(shape))
    whole = sample(rng, [shape[a] * gaps[a] for a in order], dtype)
    whole = whole.permute(*np.argsort(order).tolist()) if len(shape) else whole
    return whole[tuple(slice(None, None, int(g)) for g in gaps)]


def same(got, expected):
    assert np.array_equal(bits(got), expected)


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


N = torch.tensor([4, 0, 2])
LANES = torch.tensor([[0, 1], [2, 3], [9, 2], [3, 1]], dtype=torch.int32)
CUTS = torch.tensor([0, 1, 1, 3], dtype=torch.int32)
#: On tensors of shape [4, 3, 2]. Each is its own transpose.
CALLS = {
    "reverse": lambda x: rt.reverse(x, (0, -1)),
    "sequence": lambda x: rt.reverse_sequence(x, N),
    "list": lambda x: retrograde.reverse_sequence(x, [4, 3, 0]),
    "subsequences": lambda x: rt.reverse_subsequences(x, LANES, axis=1),
    "end": lambda x: rt.reverse_sequence(x, N, align="end"),
    "zero": lambda x: retrograde.reverse_sequence(x, N, tail="zero"),
    "both": lambda x: rt.reverse_sequence(x, [4, 3, 0], align="end", tail="zero"),
    "lanes": lambda x: rt.reverse_subsequences(x, LANES, axis=1, align="end", tail="zero"),
    "segments": lambda x: rt.reverse_segments(x, CUTS),
    "segments of a list": lambda x: retrograde.reverse_segments(x, [0, 2, 3], axis=1),
    "flip": lambda x: retrograde.flip(x, (0, -1)),
    "duplicates": lambda x: rt.reverse(x, (1, -3), duplicates="error"),
    "operator": lambda x: OPS.reverse_sequence(x, N, 0, 1, "strict"),
    "operator, end": lambda x: OPS.reverse_sequence(x, N, 0, 1, "strict", "end"),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
