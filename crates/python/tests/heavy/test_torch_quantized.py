"""Quantised PyTorch tensors: integers move, and scales and zero points stay with the elements they belong to."""

import itertools
import warnings

import naive
import numpy as np
import pytest
import torch

import retrograde
import retrograde.torch as rt

warnings.filterwarnings("ignore", message=".*quant.*")
pytestmark = pytest.mark.filterwarnings("ignore")
DTYPES = [torch.quint8, torch.qint8, torch.qint32]
SHAPE = (4, 3, 5)


def per_tensor(dtype, seed=0):
    values = torch.from_numpy(np.random.default_rng(seed).integers(0, 40, SHAPE)).float()
    return torch.quantize_per_tensor(values, 0.5, 3, dtype)


def per_channel(dtype, axis, seed=0):
    rng = np.random.default_rng(seed)
    values = torch.from_numpy(rng.integers(0, 40, SHAPE)).float()
    scales, zero_points = rng.random(SHAPE[axis]) + 0.4, rng.integers(0, 9, SHAPE[axis])
    return torch.quantize_per_channel(values, torch.from_numpy(scales), torch.from_numpy(zero_points), axis, dtype)


def same(got, x, expected):
    """The values of the result, its integers' type, and its scheme."""
    assert got.dtype == x.dtype and got.is_quantized and got.qscheme() == x.qscheme()
    assert torch.equal(got.dequantize(), torch.as_tensor(expected))


def of_all(dtype):
    return [per_tensor(dtype), *(per_channel(dtype, axis) for axis in range(3))]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_whole_axes(dtype):
    for x in of_all(dtype):
        values = x.dequantize()
        for axes in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in range(4)):
            for got in (rt.reverse(x, axes), retrograde.reverse(x, [a - 3 for a in axes]), rt.flip(x, axes)):
                same(got, x, values.flip(axes))
        same(rt.reverse(x, mask=[1, 0, 1]), x, values.flip(0, 2))
        same(rt.fliplr(x), x, values.flip(1))
        same(rt.flipud(x), x, values.flip(0))
        for k, axes in itertools.product(range(4), itertools.permutations(range(3), 2)):
            got = retrograde.rot90(x, k, axes)
            same(got, x, torch.rot90(values, k, axes))
            assert got.is_contiguous()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lengths(dtype):
    for time, batch in itertools.permutations(range(3), 2):
        lengths = np.arange(SHAPE[batch]) % (SHAPE[time] + 1)
        lanes = np.arange(60).reshape([1 if a == time else n for a, n in enumerate(SHAPE)][:3] + [-1])[..., 0] % 4
        for x in of_all(dtype):
            calls = [
                (
                    lambda: rt.reverse_sequence(x, lengths, time_axis=time, batch_axis=batch),
                    lambda: naive.reverse_sequence(x.dequantize().numpy(), lengths, time, batch),
                ),
                (
                    lambda: retrograde.reverse_subsequences(x, lanes, axis=time - 3),
                    lambda: naive.reverse_subsequences(x.dequantize().numpy(), lanes, time),
                ),
            ]
            for call, expected in calls:
                if x.qscheme() == torch.per_tensor_affine or x.q_per_channel_axis() != time:
                    same(call(), x, expected())
                else:
                    with pytest.raises(TypeError, match=f"for each channel of axis {time}"):
                        call()


def test_parameters():
    x = per_tensor(torch.quint8)
    y = rt.reverse(x, 0)
    assert (y.q_scale(), y.q_zero_point()) == (0.5, 3)
    x = per_channel(torch.qint8, 1)
    for axes, flipped in [((0, 2), False), ((1,), True), ((0, 1, 2), True)]:
        y = rt.reverse(x, axes)
        for ours, theirs in [
            (y.q_per_channel_scales(), x.q_per_channel_scales()),
            (y.q_per_channel_zero_points(), x.q_per_channel_zero_points()),
        ]:
            assert torch.equal(ours, theirs.flip(0) if flipped else theirs)
        assert y.q_per_channel_axis() == 1
    y = rt.rot90(x, 1, (0, 1))
    assert y.q_per_channel_axis() == 0 and torch.equal(y.q_per_channel_scales(), x.q_per_channel_scales().flip(0))
    # Channels that are all alike may be mixed.
    alike = torch.quantize_per_channel(torch.rand(2, 3), torch.full((3,), 0.1), torch.zeros(3), 1, torch.qint8)
    y = rt.reverse_sequence(alike, [3, 2], time_axis=1, batch_axis=0)
    same(y, alike, naive.reverse_sequence(alike.dequantize().numpy(), [3, 2], 1, 0))


def test_views_and_outputs():
    x = per_tensor(torch.quint8)
    for view in (x[1:, ::2], x.permute(2, 0, 1), x[:, 1]):
        same(rt.reverse(view, 0), view, view.dequantize().flip(0))
        same(rt.rot90(view), view, torch.rot90(view.dequantize()))
    out = torch.empty_like(x)
    assert rt.reverse(x, 1, out=out) is out
    same(out, x, x.dequantize().flip(1))
    values = x.dequantize()
    assert rt.reverse(x, 2, out=x) is x
    same(x, x, values.flip(2))
    channels = per_channel(torch.qint8, 1)
    values = channels.dequantize()
    rt.reverse(channels, 0, out=channels)
    same(channels, channels, values.flip(0))
    before = channels.int_repr()
    for kind, text, call in [
        (ValueError, "other scales", lambda: rt.reverse(channels, 1, out=channels)),
        (ValueError, "other scales", lambda: rt.reverse(x, out=torch.quantize_per_tensor(torch.rand(SHAPE), 0.1, 0, torch.quint8))),
        (TypeError, "out is of type torch.qint8", lambda: rt.reverse(x, out=channels)),
        (TypeError, "out is of type torch.float32", lambda: rt.reverse(x, out=torch.rand(SHAPE))),
        (ValueError, "shape", lambda: rt.reverse(x, out=torch.empty_like(x[:1]))),
        (ValueError, r"axes\[0\] is 3", lambda: rt.reverse(x, 3)),
    ]:
        with pytest.raises(kind, match=text):
            call()
    assert torch.equal(channels.int_repr(), before)


def test_empty_ones():
    x = per_tensor(torch.qint32)[:0]
    assert rt.reverse(x, 0).shape == (0, 3, 5) and rt.rot90(x).shape == (3, 0, 5)
