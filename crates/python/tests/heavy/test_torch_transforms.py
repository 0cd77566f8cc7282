"""Gradients, ``torch.func`` and ``vmap`` of ``retrograde.torch``."""

import itertools

import naive
import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp
from torch_cases import each_call, own_kernels

import retrograde.torch as rt


@own_kernels
@each_call
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_gradients(call, dtype):
    x = torch.randn(4, 3, 2, dtype=dtype, requires_grad=True)
    more = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(call, (x,), **more)
    assert gradgradcheck(lambda x: call(x) ** 2, (x,))
    # The gradient is the same reversal.
    weights = torch.randn_like(x)
    call(x).backward(weights)
    assert torch.equal(x.grad, call(weights))
    assert call(x).requires_grad and not call(x.detach()).requires_grad
    with torch.no_grad():
        assert not call(x).requires_grad
    with torch.inference_mode():
        assert call(x).is_inference()
    assert torch.equal(call(torch.nn.Parameter(x.detach())), call(x))


@each_call
def test_direct_calls_record_gradients(call):
    x = torch.randn(4, 3, 2, requires_grad=True)
    weights = torch.randn_like(x)
    assert torch.equal(torch.autograd.grad(call(x), x, weights)[0], call(weights))
    with torch.no_grad():
        assert not call(x).requires_grad


@own_kernels
@each_call
def test_functional_transforms(call):
    x = torch.randn(4, 3, 2, dtype=torch.float64)
    weights = torch.randn_like(x)
    want = call(weights)
    assert torch.equal(jvp(call, (x,), (weights,))[1], want)
    assert torch.equal(grad(lambda x: (call(x) * weights).sum())(x), want)
    assert torch.equal(vjp(call, x)[1](weights)[0], want)
    assert torch.equal(jacfwd(call)(x), jacrev(call)(x))
    # Second derivatives, in every combination of modes.
    cube = lambda x: (call(x) ** 3).sum()
    used = call(torch.ones_like(x))
    diagonal = torch.diag((6 * x * used).flatten()).reshape(4, 3, 2, 4, 3, 2)
    for outer, inner in itertools.product((jacfwd, jacrev), repeat=2):
        assert torch.allclose(outer(inner(cube))(x), diagonal)
    assert torch.allclose(hessian(cube)(x), diagonal)
    double = jvp(lambda x: jvp(lambda x: call(x) ** 2, (x,), (weights,))[1], (x,), (weights,))[1]
    assert torch.allclose(double, 2 * call(weights) ** 2)
    many = torch.randn(5, 4, 3, 2, dtype=torch.float64)
    assert torch.allclose(torch.vmap(grad(cube))(many), 3 * many**2 * used)
    assert torch.equal(torch.vmap(call)(many), torch.stack([call(x) for x in many]))
    weighted = torch.vmap(grad(lambda x: (call(x) * weights).sum()))(many)
    assert torch.equal(weighted, want.expand(5, 4, 3, 2))
    with torch.autograd.forward_ad.dual_level():
        out = call(torch.autograd.forward_ad.make_dual(x, weights))
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(out).tangent, want)


def compiled(f):
    torch._dynamo.reset()
    return torch.compile(f, backend="aot_eager", fullgraph=True)


@own_kernels
@each_call
@pytest.mark.parametrize("recorded", [False, True])
def test_tensors_that_a_transform_does_not_transform(call, recorded):
    """Captured ones: new tensors are wrapped inside a transform, and gradients have several levels."""
    double = torch.float64  # sums may cancel
    captured, x = torch.randn(4, 3, 2, dtype=double, requires_grad=recorded), torch.randn(4, 3, 2, dtype=double)
    want = call(captured).detach()

    def function(x):
        return (call(captured) * x.sum()).sum()

    for _ in range(2):  # the second call may find cached arguments
        assert torch.allclose(grad(function)(x), want.sum().expand_as(x))
        assert torch.allclose(torch.func.vmap(function)(x), x.sum((1, 2)) * want.sum())
        assert torch.allclose(jvp(function, (x,), (x,))[1], x.sum() * want.sum())
        assert torch.allclose(torch.func.functionalize(function)(x), x.sum() * want.sum())


@pytest.mark.parametrize("outer", [lambda f: f, compiled], ids=["eager", "compiled"])
def test_vmap_of_every_operand_at_every_place(outer):
    rng = np.random.default_rng(3)
    size = 3
    places = (1,) if outer is compiled else range(4)
    for at in places:
        x = torch.randn(4, 5, 2)
        many = torch.randn(*np.insert(x.shape, at, size).tolist())
        each = [many.select(at, i) for i in range(size)]
        run = outer(torch.vmap(lambda x: rt.reverse(x, (-1, 0)), in_dims=at))
        assert torch.equal(run(many), torch.stack([e.flip(0, 2) for e in each]))
        for time, batch in itertools.permutations(range(-3, 0) if at % 2 else range(3), 2):

            def call(x, n):
                return rt.reverse_sequence(x, n, time_axis=time, batch_axis=batch)

            def loop(x, n):
                return torch.from_numpy(naive.reverse_sequence(x.numpy(), n, time % 3, batch % 3))

            n = torch.from_numpy(rng.integers(0, x.shape[time] + 1, (size, x.shape[batch])))
            want = torch.stack([loop(e, n[0]) for e in each])
            assert torch.equal(outer(torch.vmap(call, (at, None)))(many, n[0]), want)
            want = torch.stack([loop(e, i) for e, i in zip(each, n)])
            assert torch.equal(outer(torch.vmap(call, (at, 0)))(many, n), want)
            assert torch.equal(outer(torch.vmap(call, (at, 1), 1))(many, n.T), want.movedim(0, 1))
            want = torch.stack([loop(x, i) for i in n])
            assert torch.equal(outer(torch.vmap(call, (None, 0)))(x, n), want)
        for axis in range(-3, 3, 2):

            def call(x, n):
                return rt.reverse_subsequences(x, n, axis=axis)

            def loop(x, n):
                return torch.from_numpy(naive.reverse_subsequences(x.numpy(), n.numpy(), axis % 3))

            shape = [1 if a == axis % 3 else s for a, s in enumerate(x.shape)]
            n = torch.from_numpy(rng.integers(0, x.shape[axis] + 2, (size, *shape)))
            want = torch.stack([loop(e, n[0]) for e in each])
            assert torch.equal(outer(torch.vmap(call, (at, None)))(many, n[0]), want)
            want = torch.stack([loop(e, i) for e, i in zip(each, n)])
            assert torch.equal(outer(torch.vmap(call, (at, 0)))(many, n), want)
            assert torch.equal(outer(torch.vmap(call, (at, 0)))(many, n.squeeze(1 + axis % 3)), want)
            want = torch.stack([loop(x, i) for i in n])
            assert torch.equal(outer(torch.vmap(call, (None, 0)))(x, n), want)
    empty = torch.vmap(rt.reverse_sequence)(torch.ones(3, 4, 0), torch.ones(3, 0, dtype=torch.int64))
    assert empty.shape == (3, 4, 0)
