"""Sequences at the end of an axis, zero padding and segments with PyTorch: loops, gradients, compilers, nested tensors."""

import itertools

import naive
import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch_cases import CUTS, DTYPES, LANES, OPS, N, bits, own_kernels, quiet, sample, strided

import retrograde
import retrograde.torch as rt

RULES = list(itertools.product(("start", "end"), ("keep", "zero")))


def same(got, expected):
    assert torch.is_tensor(got) and np.array_equal(bits(got), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type(dtype):
    rng = np.random.default_rng(1)
    for make in (sample, strided):
        x = make(rng, (4, 3, 2), dtype)
        plain = bits(x)
        lanes = rng.integers(0, 5, (4, 1, 2))
        for align, tail in RULES:
            rules = {"align": align, "tail": tail}
            want = naive.reverse_sequence(plain, N.numpy(), 0, 1, align, tail)
            same(retrograde.reverse_sequence(x, N, **rules), want)
            out = torch.empty_like(x)
            assert rt.reverse_sequence(x, N, **rules, out=out) is out
            same(out, want)
            mine = rt.reverse(x, ())  # PyTorch cannot copy all types
            assert rt.reverse_sequence(mine, N.tolist(), **rules, out=mine) is mine
            same(mine, want)
            want = naive.reverse_subsequences(plain, lanes, 1, align, tail)
            same(retrograde.reverse_subsequences(x, torch.from_numpy(lanes), axis=1, **rules), want)
        for kind in (torch.int8, torch.uint8, torch.int32, torch.int64):
            want = naive.reverse_segments(plain, CUTS, 0)
            same(retrograde.reverse_segments(x, CUTS.to(kind)), want)
        same(retrograde.reverse_segments(x, CUTS.numpy(), axis=-3), want)
        out = torch.empty_like(x)
        assert rt.reverse_segments(x, CUTS, out=out) is out
        same(out, want)
        mine = rt.reverse(x, ())
        assert rt.reverse_segments(mine, (0, 1, 1, 3), out=mine) is mine
        same(mine, want)


def test_random_segments():
    rng = np.random.default_rng(2)
    for _ in range(100):
        rank = int(rng.integers(1, 5))
        shape = tuple(int(n) for n in rng.integers(0, 8, rank))
        x, axis = strided(rng, shape, torch.float32), int(rng.integers(0, rank))
        offsets = naive.cuts(rng, shape[axis], int(rng.integers(0, 5)))
        want = naive.reverse_segments(bits(x), offsets, axis)
        same(rt.reverse_segments(x, torch.from_numpy(offsets), axis=axis - rank), want)
        same(OPS.reverse_segments(x, torch.from_numpy(offsets), axis), want)


@own_kernels
def test_written_tensors_have_gradients():
    x = torch.randn(4, 3, 2, dtype=torch.float64, requires_grad=True)

    def in_place(x):
        y = x * 2
        rt.reverse_segments(y, CUTS, out=y)
        rt.reverse_sequence(y, N, align="end", tail="zero", out=y)
        return y

    assert gradcheck(in_place, (x,), check_forward_ad=True)


def test_vmap_of_lengths_and_offsets():
    rng = np.random.default_rng(3)
    many = torch.randn(3, 5, 6, 2)
    lengths = torch.tensor(rng.integers(0, 6, (3, 6)))
    for align, tail in RULES:
        run = lambda x, n: rt.reverse_sequence(x, n, align=align, tail=tail)
        for dims in ((0, 0), (None, 0), (0, None)):
            xs, ns = many if dims[0] == 0 else many[0], lengths if dims[1] == 0 else lengths[0]
            want = [run(many[at if dims[0] == 0 else 0], lengths[at if dims[1] == 0 else 0]) for at in range(3)]
            assert torch.equal(torch.vmap(run, dims)(xs, ns), torch.stack(want))
    offsets = torch.tensor(np.stack([naive.cuts(rng, 5, 3) for _ in range(3)]))
    run = rt.reverse_segments
    for dims in ((0, 0), (None, 0), (0, None)):
        xs, cuts = many if dims[0] == 0 else many[0], offsets if dims[1] == 0 else offsets[0]
        want = [run(many[at if dims[0] == 0 else 0], offsets[at if dims[1] == 0 else 0]) for at in range(3)]
        assert torch.equal(torch.vmap(run, dims)(xs, cuts), torch.stack(want))
    got = torch.vmap(lambda x: rt.reverse_segments(x, [0, 1, 6], axis=-2), 1, 1)(many)
    assert torch.equal(got, rt.reverse_segments(many, [0, 1, 6], axis=2))
    assert torch.vmap(run)(many[:0], offsets[:0]).shape == (0, 5, 6, 2)


def test_opcheck_and_export():
    x = torch.randn(4, 3, 2)
    arguments = {
        "reverse_sequence": (N, 0, 1, "strict", "end", "zero"),
        "reverse_subsequences": (torch.ones(4, 1, 2, dtype=torch.int64), 1, "clamp", "start", "zero"),
        "reverse_segments": (CUTS, 0),
    }
    for name, others in arguments.items():
        for given in (x, x.clone().requires_grad_()):
            torch.library.opcheck(getattr(OPS, name).default, (given, *others))
        torch.library.opcheck(getattr(OPS, f"{name}_").default, (x.clone(), *others))
        torch.library.opcheck(getattr(OPS, f"{name}_out").default, (x, *others, torch.empty_like(x)))

    class Model(torch.nn.Module):
        def forward(self, x, cuts):
            return rt.reverse_segments(rt.reverse_sequence(x, N, align="end", tail="zero"), cuts)

    program = torch.export.export(Model(), (x, CUTS))
    assert torch.equal(program.module()(x, CUTS), Model()(x, CUTS))
    traced = torch.fx.symbolic_trace(Model())
    assert torch.equal(traced(x, CUTS), Model()(x, CUTS))


def test_defaults_of_the_operators():
    x = torch.randn(4, 3, 2)
    want = rt.reverse_sequence(x, N)
    assert torch.equal(OPS.reverse_sequence(x, N, 0, 1, "strict"), want)
    assert torch.equal(OPS.reverse_sequence(x, N, 0, 1, "strict", tail="keep"), want)
    want = rt.reverse_sequence(x, N, tail="zero")
    assert torch.equal(OPS.reverse_sequence(x, N, 0, 1, "strict", tail="zero"), want)
    y = x.clone()
    OPS.reverse_sequence_(y, N, 0, 1, "strict", tail="zero")
    assert torch.equal(y, want)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: retrograde.reverse_segments(x, [0, 2, 1]), ValueError, "ReverseSegments: offsets[2] is 1, outside [2, 4]"),
        (lambda x: retrograde.reverse_segments(x, torch.tensor([0, 9])), ValueError, "ReverseSegments: offsets[1] is 9, outside [0, 4]"),
        (lambda x: rt.reverse_segments(x, torch.tensor([0.0])), TypeError, "ReverseSegments: offsets have type float32, expected an integer type"),
        (lambda x: rt.reverse_segments(x, torch.zeros(2, 2, dtype=int)), ValueError, "ReverseSegments: offsets have shape [2, 2], expected [n + 1] for n segments"),
        (lambda x: rt.reverse_segments(x), TypeError, "reverse_segments() missing 1 required positional argument: 'offsets'"),
        (lambda x: retrograde.reverse_segments(x, dim=0), TypeError, "reverse_segments() takes axis=, not dim=: retrograde.reverse_segments(x, offsets, axis=0)"),
        (lambda x: rt.reverse_segments(x, [0], axis=3), ValueError, "ReverseSegments: axis is 3, outside [-3, 2] for a tensor of rank 3"),
        (lambda x: rt.reverse_sequence(x, N, align="left"), ValueError, 'ReverseSequence: align "left" does not exist, expected "start" or "end"'),
        (lambda x: rt.reverse_subsequences(x, LANES, axis=1, tail="0"), ValueError, 'ReverseSubsequences: tail "0" does not exist, expected "keep" or "zero"'),
        (lambda x: OPS.reverse_sequence(x, N, 0, 1, "strict", "left"), ValueError, 'ReverseSequence: align "left" does not exist, expected "start" or "end"'),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    for requires in (False, True):
        with pytest.raises(error) as raised:
            call(torch.randn(4, 3, 2, requires_grad=requires))
        assert str(raised.value) == text


def test_quantised_tensors():
    x = quiet(lambda: torch.quantize_per_tensor(torch.arange(6.0), 0.5, 3, torch.quint8))
    y = rt.reverse_segments(x, [0, 2, 5])
    assert y.q_scale() == 0.5 and y.q_zero_point() == 3
    assert y.dequantize().tolist() == [1, 0, 4, 3, 2, 5]
    x = quiet(lambda: torch.quantize_per_tensor(torch.arange(6.0).reshape(3, 2), 0.5, 3, torch.quint8))
    assert rt.reverse_sequence(x, [2, 3], align="end").dequantize().tolist() == [[0, 5], [4, 3], [2, 1]]
    with pytest.raises(TypeError) as raised:
        rt.reverse_sequence(x, [2, 3], tail="zero")
    assert str(raised.value) == (
        'reverse_sequence: x is quantised: zero bytes are the value 0 only for some zero points, expected tail "keep"'
    )


def test_plans_and_pictures():
    x = torch.arange(6)
    how = retrograde.explain("reverse_segments", x, torch.tensor([0, 2, 5]))
    assert [dim["flow"] for dim in how.dims] == ["flip segments"]
    assert "1 0 4 3 2 5" in str(retrograde.show("reverse_segments", x, torch.tensor([0, 2, 5])))
    prepared = retrograde.prepare("reverse_segments", x, torch.tensor([0, 2, 5]))
    assert prepared(x).tolist() == [1, 0, 4, 3, 2, 5] and prepared(x, [0, 6]).tolist() == [5, 4, 3, 2, 1, 0]
    assert retrograde.reverse_segments(np.arange(6), torch.tensor([0, 2, 5])).tolist() == [1, 0, 4, 3, 2, 5]


# Nested tensors


def nested(*lengths, shape=(2,), **more):
    parts = [torch.randn(length, *shape, dtype=torch.float64) for length in lengths]
    return torch.nested.nested_tensor(parts, layout=torch.jagged, **more)


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("lengths", [(3, 0, 5, 1), (4,), (0, 0), (64, 100, 1)], ids=str)
def test_nested(lengths, shape):
    x = nested(*lengths, shape=shape)
    for run in (retrograde.reverse_segments, rt.reverse_segments):
        y = run(x)
        assert y.is_nested and y.layout is torch.jagged and y.dtype is x.dtype
        assert torch.equal(y.offsets(), x.offsets())
        for got, want in zip(y.unbind(), x.unbind(), strict=True):
            assert torch.equal(got, want.flip(0))
        # They have the same sizes, as far as PyTorch knows.
        assert torch.equal((x + y).values(), x.values() + y.values())


def test_nested_gradients():
    x = nested(3, 0, 5, requires_grad=True)
    y = retrograde.reverse_segments(x)
    weights = torch.randn_like(y.values())
    (y.values() * weights).sum().backward()
    assert torch.equal(x.grad.values(), rt.reverse_segments(weights, x.offsets()))

    def call(values):
        return retrograde.reverse_segments(torch.nested.nested_tensor_from_jagged(values, x.offsets())).values()

    assert gradcheck(call, (torch.randn(8, 2, dtype=torch.float64, requires_grad=True),))


def test_nested_along_another_axis():
    x = nested(3, 1, 4).transpose(1, 2)
    y = retrograde.reverse_segments(x)
    assert y.shape[1] == 2
    for got, want in zip(y.unbind(), x.unbind(), strict=True):
        assert torch.equal(got, want.flip(1))


def test_nested_compiled():
    torch._dynamo.reset()
    x = nested(3, 1, 4)
    run = torch.compile(lambda x: retrograde.reverse_segments(x * 2), fullgraph=True, backend="aot_eager")
    assert torch.equal(run(x).values(), retrograde.reverse_segments(x * 2).values())


def test_nested_plans_and_pictures():
    x = torch.nested.nested_tensor([torch.arange(2), torch.arange(3)], layout=torch.jagged)
    assert retrograde.explain("reverse_segments", x).dims[0]["flow"] == "flip segments"
    assert "1 0 2 1 0" in str(retrograde.show("reverse_segments", x))
    with pytest.raises(TypeError, match="which has offsets of its own: prepare a call on its values, with its offsets"):
        retrograde.prepare("reverse_segments", x)


def test_nested_errors():
    x = nested(3, 1)
    holes = torch.nested.narrow(torch.randn(2, 5), 1, torch.tensor([0, 1]), torch.tensor([2, 3]), layout=torch.jagged)
    old = torch.nested.nested_tensor([torch.randn(2), torch.randn(3)])
    for call, error, text in [
        (lambda: retrograde.reverse_segments(x, [0, 1]), TypeError, "reverse_segments: offsets are given, but x has its own (it is a nested tensor)"),
        (lambda: retrograde.reverse_segments(x, axis=1), ValueError, "reverse_segments: axis is 1, expected 0: a nested tensor has one ragged axis"),
        (lambda: retrograde.reverse_segments(x, out=x), TypeError, "reverse_segments: out is not supported for nested tensors"),
        (lambda: retrograde.reverse_segments(holes), TypeError, "reverse_segments: x is a nested tensor with holes, expected a contiguous one (x.contiguous())"),
        (lambda: retrograde.reverse_segments(old), TypeError, "reverse_segments: x is a nested tensor of layout torch.strided, expected torch.jagged (torch.nested.nested_tensor(x.unbind(), layout=torch.jagged))"),
        (lambda: retrograde.reverse_sequence(x, [0]), TypeError, "x is a nested tensor: its lanes have lengths of their own; pad it first, or use reverse_segments"),
    ]:  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert str(raised.value) == text


@pytest.mark.parametrize("kind", [list, torch.tensor, np.array])
def test_prepared_calls_keep_a_copy_of_lengths(kind):
    x, lengths = torch.arange(6).reshape(2, 3), kind([3, 2])
    prepared = retrograde.prepare("reverse_sequence", x, lengths, time_axis=1, batch_axis=0)
    lengths[0] = lengths[1] = 0
    assert prepared(x).tolist() == [[2, 1, 0], [4, 3, 5]]
    if kind is torch.tensor:
        lengths.set_()
        assert prepared(x).tolist() == [[2, 1, 0], [4, 3, 5]]
