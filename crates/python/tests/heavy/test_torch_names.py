"""NumPy's functions for PyTorch tensors, ``duplicates``, and prepared calls, against PyTorch and NumPy."""

import itertools

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import jacfwd, jacrev, jvp, vjp
from torch_cases import DTYPES, OPS, bits, own_kernels, quiet, same, sample, strided

import retrograde
import retrograde.torch as rt


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_moves_bit_by_bit(dtype):
    rng = np.random.default_rng(1)
    x = quiet(lambda: sample(rng, (3, 4, 5), dtype))
    for package in (rt, retrograde):
        for got, want in [
            (package.flip(x), np.flip(bits(x), (0, 1, 2))),
            (package.flip(x, (0, -1)), np.flip(bits(x), (0, 2))),
            (package.fliplr(x), np.flip(bits(x), 1)),
            (package.flipud(x), np.flip(bits(x), 0)),
            *((package.rot90(x, k, (2, 0)), np.rot90(bits(x), k, (2, 0))) for k in range(-2, 5)),
        ]:
            assert got.dtype == dtype and got.is_contiguous()
            same(got, want)


def test_random_calls_agree_with_pytorch():
    rng = np.random.default_rng(2)
    for _ in range(300):
        rank = int(rng.integers(2, 6))
        x = strided(rng, tuple(int(n) for n in rng.integers(0, 6, rank)), torch.int32)
        if rng.random() < 0.2 and rank == 4:
            x = x.to(memory_format=torch.channels_last)
        axes = tuple(int(a) for a in rng.permutation(rank)[: rng.integers(0, rank + 1)])
        for got, want in [
            (rt.flip(x, axes), torch.flip(x, axes)),
            (rt.flip(x, list(axes)), torch.flip(x, axes)),
            (rt.reverse(x, axes, duplicates="error"), torch.flip(x, axes)),
            (OPS.flip(x, axes), torch.flip(x, axes)),
        ]:
            assert torch.equal(got, want)
        assert rt.flip(x, axes).is_contiguous() and OPS.flip(x, axes).is_contiguous()
        k, plane = int(rng.integers(-6, 7)), tuple(int(a) for a in rng.permutation(rank)[:2])
        got = rt.rot90(x, k, plane)
        assert got.is_contiguous() and torch.equal(got, torch.rot90(x, k, plane))


def test_cached_plans_keep_the_two_memory_orders_apart():
    for x in (torch.randn(3, 4).T, torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)):
        for _ in range(3):
            assert rt.reverse(x, 0).stride() == torch.empty_like(x).stride()
            assert rt.flip(x, 0).is_contiguous()
            assert torch.equal(rt.reverse(x, 0), rt.flip(x, 0))
    large = torch.arange(12 << 20, dtype=torch.int32).reshape(3, -1).T
    assert rt.flip(large, 0).is_contiguous() and torch.equal(rt.flip(large, 0), large.flip(0))
    assert torch.equal(rt.rot90(large, 3), torch.rot90(large, 3))


def upright(f, x, number, axes):
    if f is not torch:
        return f.orient(x, number, axes=axes)
    turns = {1: 0, 8: 1, 3: 2, 6: 3}
    if number in turns:
        return torch.rot90(x, turns[number], axes)
    # The others are these after a transpose.
    return torch.rot90(x, {5: 0, 2: 1, 7: 2, 4: 3}[number], axes).transpose(*axes)


def each_upright(f, x):
    if f is not torch:
        return f.orient(x, orientations=[6, "transverse", 5], batch_axis=1)
    return torch.stack([upright(f, image, number, (0, 1)) for image, number in zip(x.unbind(1), (6, 7, 5))], 1)


CALLS = {
    "flip": lambda f, x: f.flip(x, (0, 2)),
    "fliplr": lambda f, x: f.fliplr(x),
    "flipud": lambda f, x: f.flipud(x),
    **{f"rot90 {k}": lambda f, x, k=k: f.rot90(x, k, (0, 2)) for k in range(4)},
    **{f"orient {n}": lambda f, x, n=n: upright(f, x, n, (0, 2)) for n in (2, 5, 6, 7)},
    "orient each": each_upright,
}
each = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@own_kernels
@each
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_gradients(call, dtype):
    x = torch.randn(4, 3, 2, dtype=dtype, requires_grad=True)
    ours = lambda x: call(retrograde, x)
    more = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(ours, (x,), **more)
    assert gradgradcheck(lambda x: ours(x) ** 2, (x,))
    weights = torch.randn_like(call(torch, x))
    (got,) = torch.autograd.grad(ours(x), x, weights)
    (want,) = torch.autograd.grad(call(torch, x), x, weights)
    assert torch.equal(got, want)
    plain = x.detach()
    assert torch.equal(jvp(ours, (plain,), (plain,))[1], call(torch, plain))
    assert torch.equal(vjp(ours, plain)[1](weights)[0], want)
    if not dtype.is_complex:
        assert torch.equal(jacfwd(ours)(plain), jacrev(ours)(plain))


@each
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compile(call, backend):
    torch._dynamo.reset()
    model = lambda f, x: (call(f, x.sin()) * 2).cos()
    run = torch.compile(lambda x: model(retrograde, x), fullgraph=True, backend=backend)
    for x in (torch.randn(4, 3, 2, requires_grad=True), torch.randn(2, 3, 4).permute(2, 1, 0).requires_grad_()):
        assert torch.allclose(run(x), model(torch, x), atol=1e-6)
        (want,) = torch.autograd.grad(model(torch, x).sum(), x)
        (got,) = torch.autograd.grad(run(x).sum(), x)
        assert torch.allclose(got, want, atol=1e-6)


@each
def test_vmap(call):
    many = torch.randn(4, 3, 2, 5)
    for at in range(4):
        x = many.movedim(3, at)
        got = torch.vmap(lambda x: call(rt, x), in_dims=at)(x)
        assert torch.equal(got, torch.stack([call(torch, one) for one in many.unbind(3)]))


@each
def test_export_and_symbolic_trace(call):
    class Model(torch.nn.Module):
        def forward(self, x):
            return call(retrograde, x) + 1

    x, y = torch.randn(4, 3, 2), torch.randn(4, 3, 2)
    program = torch.export.export(Model(), (x,))
    assert torch.equal(program.module()(y), call(torch, y) + 1)
    traced = torch.fx.symbolic_trace(Model())
    assert torch.equal(traced(y), call(torch, y) + 1)
    (target,) = [node.target for node in traced.graph.nodes if "retrograde" in getattr(node.target, "__module__", "")]
    assert target.__module__ == "retrograde.torch"


def test_opcheck():
    x = torch.randn(4, 3, 2)
    for input in (x, x.permute(2, 0, 1), x.clone().requires_grad_()):
        torch.library.opcheck(OPS.flip.default, (input, [0, -1]))


def test_lazy_conjugates():
    x = torch.randn(4, 3, dtype=torch.complex64)
    for lazy in (x.conj(), x.conj().imag, x.conj().T):
        assert torch.equal(rt.flip(lazy, 0), lazy.flip(0)) and torch.equal(rt.rot90(lazy), torch.rot90(lazy))


def test_orient_into_outputs():
    for dtype in (torch.float32, torch.bfloat16, torch.bool):
        x = torch.randn(3, 4, 5).to(dtype)
        for number in range(1, 9):
            want = upright(torch, x, number, (0, 1))
            out = torch.empty_like(want, memory_format=torch.contiguous_format)
            assert retrograde.orient(x, number, out=out) is out and torch.equal(out, want)
            if number < 5:
                y = x.clone()
                assert rt.orient(y, number, out=y) is y and torch.equal(y, want)
        want = torch.stack([upright(torch, image, 3, (0, 1)) for image in x])
        out = torch.empty_like(x)
        assert retrograde.orient(x, orientations=[3] * 3, out=out) is out and torch.equal(out, want)
        with pytest.raises(ValueError, match="out has shape"):
            rt.orient(x, orientations=[6] * 3, out=out)
        square = x[:, :3, :3].clone()
        with pytest.raises(ValueError, match="does not run in place"):
            rt.orient(square, 6, axes=(1, 2), out=square)
        with pytest.raises(ValueError, match="does not run in place"):
            rt.orient(square, orientations=[1, 2, 6], out=square)
        assert torch.equal(square, x[:, :3, :3])


def test_errors():
    x = torch.ones(2, 3)
    for kind, call in [
        (np.exceptions.AxisError, lambda f: f.flip(x, 2)),
        (ValueError, lambda f: f.flip(x, (0, -2))),
        (TypeError, lambda f: f.flip(x, 1.5)),
        (ValueError, lambda f: f.fliplr(x[0])),
        (ValueError, lambda f: f.rot90(x, 1, (0, 0))),
        (ValueError, lambda f: f.rot90(x, 1, (0, 2))),
        (TypeError, lambda f: f.flip(x.to_sparse(), 0)),
    ]:
        for package in (rt, retrograde):
            with pytest.raises(kind) as raised:
                call(package)
            assert type(raised.value) is kind
    with pytest.raises(TypeError, match="expected a torch.Tensor"):
        rt.flip([1, 2])


# ``duplicates``


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("package", [retrograde, rt])
def test_duplicates(package, recorded):
    x = torch.randn(2, 3, requires_grad=recorded)
    for _ in range(2):
        for axes in [(1, -1), [0, 0], (0, 1, -2), np.array([1, 1])]:
            assert torch.equal(package.reverse(x, axes), x.flip(tuple({int(a) % 2 for a in axes})))
            with pytest.raises(ValueError, match=r"axes\[\d\] is -?\d, the same axis as axes\[0\]"):
                package.reverse(x, axes, duplicates="error")
        for axes in [(1, 0), 1, None, (), [-1], np.array([0, 1])]:
            want = package.reverse(x, axes)
            assert torch.equal(package.reverse(x, axes, duplicates="error"), want)
    for axes in (None, 1, (0, 1)):
        with pytest.raises(ValueError, match='duplicates "no" does not exist'):
            package.reverse(x, axes, duplicates="no")
    own = x.detach().clone()
    with pytest.raises(ValueError, match="the same axis"):
        package.reverse(own, (0, 0), duplicates="error", out=own)
    assert torch.equal(own, x)


def test_duplicates_in_compiled_programs():
    torch._dynamo.reset()
    run = torch.compile(lambda x: retrograde.reverse(x, (0, 1), duplicates="error"), fullgraph=True, backend="eager")
    x = torch.randn(2, 3)
    assert torch.equal(run(x), x.flip(0, 1))
    traced = torch.fx.symbolic_trace(lambda x: retrograde.reverse(x, (0, -2), duplicates="error"))
    with pytest.raises(ValueError, match="the same axis"):
        traced(x)


# Prepared calls


def test_prepared_calls():
    x = torch.arange(24.0).reshape(2, 3, 4)
    lanes = torch.tensor([[1, 2, 3, 0], [3, 2, 1, 0]])
    for layout in (x, x.permute(2, 0, 1).contiguous().permute(1, 2, 0), x.clone().requires_grad_()):
        for name, args, kwargs in [
            ("reverse", (), {"axes": (0, -1)}),
            ("reverse", (), {"mask": [True, False, True], "duplicates": "error"}),
            ("reverse_sequence", (torch.tensor([3, 1]),), {"time_axis": 1, "batch_axis": 0}),
            ("reverse_sequence", ([3, 1],), {"time_axis": 1, "batch_axis": 0}),
            ("reverse_subsequences", (lanes,), {"axis": 1}),
        ]:
            operator = getattr(retrograde, name)
            prepared = retrograde.prepare(operator, layout, *args, **kwargs)
            want = operator(layout, *args, **kwargs)
            for _ in range(2):
                got = prepared(layout)
                assert torch.equal(got, want) and got.stride() == want.stride()
            assert torch.equal(prepared(layout.detach() + 1), want + 1)
            out = torch.empty(2, 3, 4)
            assert prepared(layout.detach(), out=out) is out and torch.equal(out, want)
    rows = retrograde.prepare("reverse_sequence", x, [3, 1], time_axis=1, batch_axis=0)
    assert torch.equal(rows(x, torch.tensor([0, 2])), rt.reverse_sequence(x, [0, 2], time_axis=1, batch_axis=0))
    with pytest.raises(ValueError, match="the call was prepared for torch.Tensor of torch.float32"):
        rows(x.double())
    with pytest.raises(ValueError, match=r"lengths\[1\] is 4, outside \[0, 3\]"):
        retrograde.prepare("reverse_sequence", x, [3, 4], time_axis=1, batch_axis=0)
    with pytest.raises(ValueError, match=r"axes\[0\] is 3"):
        retrograde.prepare("reverse", x, 3)
    q = quiet(lambda: torch.quantize_per_tensor(x, 0.5, 3, torch.quint8))
    assert torch.equal(retrograde.prepare("reverse", q, 0)(q).int_repr(), q.int_repr().flip(0))


def test_prepared_calls_on_tensors_without_memory():
    """As for tensors on a device: only shapes are checked, and lengths when the call runs."""
    x, lengths = torch.empty(4, 3, device="meta"), torch.empty(3, device="meta", dtype=torch.int64)
    prepared = retrograde.prepare("reverse", x, 0)
    assert prepared(x).device.type == "meta"
    rows = retrograde.prepare("reverse_sequence", x, lengths)
    assert rows(x).shape == (4, 3)
    with pytest.raises(ValueError, match=r"lengths have shape \[2\], expected \[3\]"):
        retrograde.prepare("reverse_sequence", x, lengths[:2])
    for axis, shape in itertools.product((0, 1), ([4, 1], [1, 3], [4], [3], [2, 2])):
        fits = shape in ([1, 3], [3]) if axis == 0 else shape in ([4, 1], [4])
        lanes = torch.empty(shape, device="meta", dtype=torch.int32)
        if fits:
            retrograde.prepare("reverse_subsequences", x, lanes, axis=axis)
        else:
            with pytest.raises(ValueError, match=r"expected \[\d, \d\] or \[\d\]"):
                retrograde.prepare("reverse_subsequences", x, lanes, axis=axis)
