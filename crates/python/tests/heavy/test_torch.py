"""``retrograde.torch`` against loops in plain NumPy: types, strides, in place, cached plans."""

import naive
import numpy as np
import pytest
import torch
from torch.func import functional_call
from torch_cases import DTYPES, OPS, bits, own_kernels, quiet, same, sample, strided

import retrograde
import retrograde.torch as rt


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_moves_bit_by_bit(dtype):
    rng = np.random.default_rng(1)
    for call in (rt.reverse, lambda x, a: OPS.reverse(x, a), retrograde.reverse):
        for shape in [(7,), (3, 5), (2, 3, 9)]:
            x = quiet(lambda: sample(rng, shape, dtype))
            got = call(x, [0])
            assert got.dtype == dtype and got.shape == x.shape
            same(got, np.flip(bits(x), 0))
    lengths = rng.integers(0, 5, (2, 1, 9))
    same(rt.reverse_subsequences(x, lengths, axis=1), naive.reverse_subsequences(bits(x), lengths, 1))
    got = OPS.reverse_sequence(x, torch.tensor([3, 1]), 1, 0, "strict")
    same(got, naive.reverse_sequence(bits(x), [3, 1], 1, 0))
    want = np.flip(bits(x), 2).copy()
    assert rt.reverse(x, -1, out=x) is x
    same(x, want)


def test_random_calls_of_any_strides():
    rng = np.random.default_rng(2)
    dtypes = [torch.uint8, torch.bfloat16, torch.float32, torch.complex64, torch.complex128]
    for _ in range(400):
        rank = int(rng.integers(2, 6))
        shape = tuple(int(n) for n in rng.integers(0, 6, rank))
        x = strided(rng, shape, dtypes[rng.integers(len(dtypes))])
        if rng.random() < 0.3:
            x = x.to(memory_format=torch.channels_last) if rank == 4 else x[..., :1].expand(shape)
        data = bits(x)
        axes = [int(a) for a in rng.integers(-rank, rank, rng.integers(0, rank + 1))]
        want = np.flip(data, tuple({a % rank for a in axes}))
        same(rt.reverse(x, axes), want)
        # Through the dispatcher, with the same layout as results of PyTorch's own operators.
        new = OPS.reverse(x, axes)
        same(new, want)
        assert new.stride() == torch.empty_like(x).stride() == rt.reverse(x, axes).stride()
        mask = (rng.random(rank) < 0.5).tolist()
        same(rt.reverse(x, mask=mask), np.flip(data, tuple(np.flatnonzero(mask))))
        time, batch = (int(a) for a in rng.permutation(rank)[:2])
        kind = rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
        lengths = rng.integers(0, shape[time] + 1, shape[batch]).astype(kind)
        want = naive.reverse_sequence(data, lengths, time, batch)
        for given in (lengths, lengths.tolist(), torch.from_numpy(lengths)):
            same(rt.reverse_sequence(x, given, time_axis=time - rank, batch_axis=batch), want)
        same(OPS.reverse_sequence(x, torch.from_numpy(lengths), time, batch, "strict"), want)
        out = strided(rng, shape, x.dtype)
        assert rt.reverse_sequence(x, lengths, time_axis=time, batch_axis=batch, out=out) is out
        same(out, want)
        lanes = rng.integers(0, shape[time] + 3, shape[:time] + (1,) + shape[time + 1 :]).astype(kind)
        want = naive.reverse_subsequences(data, lanes, time)
        same(rt.reverse_subsequences(x, lanes, axis=time), want)
        own = strided(rng, shape, x.dtype).copy_(x)
        rt.reverse_subsequences(own, torch.from_numpy(lanes.squeeze(time)), axis=time - rank, out=own)
        same(own, want)


def test_large_tensors():
    """In memory of the engine, which lives as long as the tensors that use it."""
    x = torch.arange(9 << 20, dtype=torch.float32).reshape(3, 3072, 1024)
    want = [np.flip(bits(x), 0), np.flip(bits(x), (1, 2))]
    for _ in range(5):
        a, b = rt.reverse(x, 0), rt.reverse(x, (1, 2))
        same(a, want[0])
        same(b, want[1])
        part = b[1:, 5:]
        del a, b
        same(part, want[1][1:, 5:])
    part.add_(1)
    lengths = [1000, 0, 1024]
    want = bits(x).copy()
    for at, length in enumerate(lengths):
        want[at, :length] = bits(x)[at, :length][::-1]
    same(rt.reverse_sequence(x, lengths, time_axis=1, batch_axis=0), want)
    same(rt.reverse_sequence(x.requires_grad_(), lengths, time_axis=1, batch_axis=0), want)
    turned = x.detach().permute(2, 0, 1)
    got = rt.reverse(turned, 0)
    assert got.stride() == turned.stride()
    same(got, np.flip(bits(turned), 0))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_large_tensors_of_every_type(dtype):
    """Several types of PyTorch are one type to DLPack, with which the engine makes large outputs."""
    rng = np.random.default_rng(2)
    x = sample(rng, (3, (3 << 20) // torch.empty(0, dtype=dtype).element_size() // 3, 1), dtype)
    for given in (x, x[:, :, 0], x.transpose(0, 1)):
        for call in (rt.reverse, retrograde.reverse):
            got = call(given, 1)
            assert got.dtype == dtype and got.stride() == torch.empty_like(given).stride()
            assert got.is_leaf and not got.requires_grad and got.device == given.device
            same(got, np.flip(bits(given), 1))
    with torch.inference_mode():
        assert rt.reverse(x, 1).is_inference()
    # PyTorch cannot resize what it did not allocate.
    if dtype in (torch.uint8, torch.float32):
        assert not rt.reverse(x, 1).untyped_storage().resizable()


def test_lazy_conjugates_and_negatives():
    x = torch.randn(4, 3, dtype=torch.complex64)
    for lazy in (x.conj(), x.conj().imag, x.imag, x.conj().T):
        real = lazy.resolve_conj().resolve_neg()
        for call in (rt.reverse, lambda t: OPS.reverse(t, [0, 1])):
            assert torch.equal(call(lazy), real.flip(0, 1))
        sequence = rt.reverse_sequence(lazy, [2] * lazy.shape[1])
        assert torch.equal(sequence, torch.cat([real[:2].flip(0), real[2:]]))
    own = x.clone()
    view = own.conj()
    rt.reverse(view, out=view)
    assert torch.equal(own, x.flip(0, 1))
    with pytest.raises(ValueError, match="lazily"):
        rt.reverse(x, out=torch.empty(4, 3, dtype=torch.complex64).conj())


def test_in_place():
    leaf = torch.randn(5, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        rt.reverse(leaf, 0, out=leaf)
    weights = torch.randn(5, 4)
    x = leaf * 1
    assert rt.reverse(x, 0, out=x) is x
    (x * weights).sum().backward()
    assert torch.equal(leaf.grad, weights.flip(0))
    with pytest.raises(RuntimeError, match="does not support automatic differentiation"):
        rt.reverse(leaf, 0, out=torch.empty(5, 4))
    with torch.no_grad():
        before = leaf.detach().clone()
        rt.reverse(leaf, 0, out=leaf)
        assert torch.equal(leaf, before.flip(0))
    # PyTorch sees the write: autograd detects that a saved tensor changed.
    x = torch.randn(3)
    y = torch.randn(3, requires_grad=True) * x
    version = x._version
    rt.reverse(x, out=x)
    assert x._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    x = torch.randn(3, requires_grad=True)
    n = torch.tensor([2])
    y = rt.reverse_sequence(x[:, None], n)
    n += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_lazy_copies():
    x = torch.arange(6.0).reshape(2, 3)
    copy = torch._lazy_clone(x)
    assert torch.equal(rt.reverse(copy, 1), x.flip(1))
    assert rt.reverse(copy, 1, out=copy) is copy
    assert copy.tolist() == [[2, 1, 0], [5, 4, 3]] and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    copy = torch._lazy_clone(x)
    OPS.reverse_(copy, [0])
    assert copy.tolist() == [[3, 4, 5], [0, 1, 2]] and x.tolist() == [[0, 1, 2], [3, 4, 5]]


# Inference mode


@pytest.mark.parametrize("size", [6, 1 << 20, 1 << 23])
def test_tensors_of_inference_mode_do_not_change_outside(size):
    """As for PyTorch's own functions; in addition, nothing is written."""
    with torch.inference_mode():
        x = torch.arange(float(size)).reshape(2, -1)
    n = torch.tensor([size // 2, 1])
    with pytest.raises(RuntimeError) as theirs:
        x[:0].zero_()
    before = x.clone()
    y = torch.zeros_like(before)
    for write in (
        lambda: retrograde.reverse(x, 1, out=x),
        lambda: retrograde.reverse(y, 1, out=x),
        lambda: retrograde.reverse_sequence(x, n, time_axis=1, batch_axis=0, out=x),
        lambda: retrograde.reverse_sequence(y, n, time_axis=1, batch_axis=0, out=x),
        lambda: rt.reverse_subsequences(x, n, axis=1, out=x),
        lambda: rt.reverse_subsequences(y, n, axis=1, out=x),
        lambda: OPS.reverse_(x, [1]),
        lambda: OPS.reverse_out(y, [1], x),
    ):
        with pytest.raises(RuntimeError) as ours:
            write()
        assert str(ours.value) == str(theirs.value)
        assert torch.equal(x, before)
    # They may be read, and written in inference mode.
    assert torch.equal(retrograde.reverse(x, 1), before.flip(1))
    assert torch.equal(retrograde.reverse(x, 1, out=y), before.flip(1))
    with torch.inference_mode():
        assert torch.equal(retrograde.reverse(x, 1, out=x), before.flip(1))
        OPS.reverse_(x, [1])
        assert torch.equal(x, before)
        # Ordinary ones too, whose version is incremented.
        version = before._version
        retrograde.reverse(before, 0, out=before)
    assert before._version > version


def test_in_a_module():
    class Backward(torch.nn.Module):
        """The half of a bidirectional network that reads every sequence from its end."""

        def __init__(self):
            super().__init__()
            self.rnn = torch.nn.GRU(3, 4)

        def forward(self, x, n):
            return rt.reverse_sequence(self.rnn(rt.reverse_sequence(x, n))[0], n)

    model, x, n = Backward(), torch.randn(5, 2, 3), torch.tensor([5, 2])
    out = model(x, n)
    alone, _ = model.rnn(x[:2, 1:].flip(0))
    assert torch.allclose(out[:2, 1:], alone.flip(0), atol=1e-6)
    out.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert torch.equal(functional_call(model, dict(model.named_parameters()), (x, n)), out)


# Calls that use cached plans


def test_outputs_are_laid_out_as_pytorch_does_it_each_time():
    x = torch.randn(2, 3, 4, 5)
    views = [x, x.to(memory_format=torch.channels_last), x.transpose(1, 3), x[:, :, ::2], x[:1].expand(2, 3, 4, 5)]
    for view in views + [x.flatten()[k : k + 24].view(4, 6) for k in range(4)]:
        for _ in range(3):
            y = rt.reverse(view, 0)
            assert torch.equal(y, view.flip(0)) and y.stride() == torch.empty_like(view).stride()
    assert y._base is None and y.untyped_storage().resizable() and not y.is_inference()
    with torch.inference_mode():
        assert all(rt.reverse(x, 0).is_inference() for _ in range(2))


def test_more_calls_than_plans_are_kept():
    rng = np.random.default_rng(5)
    tensors = [torch.from_numpy(rng.standard_normal(rng.integers(1, 6, 3))) for _ in range(30)]
    for _ in range(200):
        x, y = tensors[rng.integers(30)], tensors[rng.integers(30)]
        axes = tuple(rng.permutation(3)[: rng.integers(0, 4)].tolist())
        assert torch.equal(rt.reverse(x, axes), x.flip(axes))
        out = torch.empty_like(y).transpose(0, 2)
        assert rt.reverse(y.transpose(0, 2), axes, out=out) is out
        assert torch.equal(out, y.transpose(0, 2).flip(axes))
        itself = x.clone()
        assert torch.equal(rt.reverse(itself, axes, out=itself), x.flip(axes))


def test_types_that_are_one_to_dlpack_stay_apart():
    plain = torch.arange(6, dtype=torch.uint8)
    for dtype in [torch.uint8, torch.uint3, torch.uint7, torch.uint8]:
        for _ in range(2):
            y = rt.reverse(plain.view(dtype), 0)
            assert y.dtype == dtype and torch.equal(y.view(torch.uint8), plain.flip(0))
    with pytest.raises(TypeError, match="out has dtype torch.uint3"):
        rt.reverse(plain, 0, out=torch.empty_like(plain).view(torch.uint3))


def test_an_error_is_raised_once_and_leaves_nothing_behind():
    x = torch.arange(6.0).reshape(2, 3)
    out = x.clone()
    calls = [
        lambda: rt.reverse(x, 2),
        lambda: rt.reverse(x, 2, out=out),
        lambda: rt.reverse(x.clone().requires_grad_(), 2),
        lambda: rt.reverse_sequence(x, [1, 2, 9], out=out),
        lambda: rt.reverse_sequence(x, torch.tensor([1, -2, 0])),
        lambda: rt.reverse(x[0], 0, out=x.view(-1)[1:4]),
    ]
    for call in calls * 2:
        with pytest.raises(ValueError, match="^Reverse") as caught:
            call()
        assert caught.value.__context__ is None and caught.value.__cause__ is None
    assert torch.equal(out, x) and out._version == 0
    rt.reverse(x, 0, out=out)
    assert torch.equal(out, x.flip(0)) and out._version == 1


def test_what_the_gradient_needs_is_kept_or_watched():
    x, seed = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3)
    axes = [1]
    for given in (axes, iter([1]), (1,), 1, np.int64(1)):
        y = rt.reverse(x, given)
        axes[0] = 0
        assert torch.equal(y, x.flip(1)) and torch.equal(torch.autograd.grad(y, x, seed)[0], seed.flip(1))
        axes[0] = 1
    assert torch.equal(torch.autograd.grad(rt.reverse(x), x, seed)[0], seed.flip(0, 1))
    with torch.no_grad():
        assert not rt.reverse(x, 1).requires_grad
    for call in (rt.reverse_sequence, lambda x, n: rt.reverse_subsequences(x, n, axis=0)):
        lengths = torch.tensor([1, 2, 2])
        y = call(x, lengths)
        assert torch.equal(torch.autograd.grad(y, x, seed, retain_graph=True)[0], call(seed, lengths))
        lengths.sub_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(y, x, seed)
    with pytest.raises(RuntimeError, match="does not support automatic differentiation"):
        rt.reverse(x, 1, out=torch.empty(2, 3))


@own_kernels
def test_the_gradient_is_named_after_the_operator():
    x = torch.randn(2, 3, requires_grad=True)
    assert rt.reverse(x, 1).grad_fn.name() == "ReverseBackward"
    assert rt.reverse_sequence(x, [1, 2, 0]).grad_fn.name() == "ReverseSequenceBackward"


def test_lengths_in_the_other_order_of_bytes():
    x = torch.arange(12.0).reshape(4, 3)
    want = rt.reverse_sequence(x, [1, 4, 2])
    for order in ("<i4", ">i4", ">u2"):
        for t in (x, x.clone().requires_grad_()):
            assert torch.equal(rt.reverse_sequence(t, np.array([1, 4, 2], order)), want)


def test_threads():
    from concurrent.futures import ThreadPoolExecutor

    x = torch.randn(64, 64)
    want = x.flip(0)
    leaf = x.clone().requires_grad_()

    def work(_):
        ok = all(torch.equal(rt.reverse(x, 0), want) for _ in range(200))
        (g,) = torch.autograd.grad(rt.reverse(leaf, 0).sum(), leaf)
        return ok and bool((g == 1).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))
