"""``retrograde.torch`` against loops in plain NumPy: types, strides, gradients, transforms, compilers."""

import itertools
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp

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


def naive(x, axis, lengths):
    """Lane by lane along ``axis``; ``lengths`` has the shape of ``x`` with 1 there."""
    out = x.copy()
    sizes = x.shape[: lengths.ndim]
    for lane in itertools.product(*(range(1 if a == axis else n) for a, n in enumerate(sizes))):
        at = lane[:axis] + (slice(None),) + lane[axis + 1 :]
        length = min(int(lengths[lane]), x.shape[axis])
        out[at][:length] = x[at][:length][::-1]
    return out


def naive_sequence(x, lengths, time, batch, rank):
    shape = [1] * rank
    shape[batch] = -1
    full = [1 if a == time else n for a, n in enumerate(x.shape[:rank])]
    return naive(x, time, np.broadcast_to(np.reshape(lengths, shape), full))


def same(got, expected):
    assert np.array_equal(bits(got), expected)


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


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
    same(rt.reverse_subsequences(x, lengths, axis=1), naive(bits(x), 1, lengths))
    got = OPS.reverse_sequence(x, torch.tensor([3, 1]), 1, 0, "strict")
    same(got, naive_sequence(bits(x), [3, 1], 1, 0, 3))
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
        want = naive_sequence(data, lengths, time, batch, rank)
        for given in (lengths, lengths.tolist(), torch.from_numpy(lengths)):
            same(rt.reverse_sequence(x, given, time_axis=time - rank, batch_axis=batch), want)
        same(OPS.reverse_sequence(x, torch.from_numpy(lengths), time, batch, "strict"), want)
        out = strided(rng, shape, x.dtype)
        assert rt.reverse_sequence(x, lengths, time_axis=time, batch_axis=batch, out=out) is out
        same(out, want)
        lanes = rng.integers(0, shape[time] + 3, shape[:time] + (1,) + shape[time + 1 :]).astype(kind)
        want = naive(data, time, lanes)
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


# Gradients

N = torch.tensor([4, 0, 2])
LANES = torch.tensor([[0, 1], [2, 3], [9, 2], [3, 1]], dtype=torch.int32)
CALLS = {
    "reverse": lambda x: rt.reverse(x, (0, -1)),
    "sequence": lambda x: rt.reverse_sequence(x, N),
    "list": lambda x: retrograde.reverse_sequence(x, [4, 3, 0]),
    "subsequences": lambda x: rt.reverse_subsequences(x, LANES, axis=1),
    "operator": lambda x: OPS.reverse_sequence(x, N, 0, 1, "strict"),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@own_kernels
@each_call
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_gradients(call, dtype):
    x = torch.randn(4, 3, 2, dtype=dtype, requires_grad=True)
    more = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(call, (x,), **more)
    assert gradgradcheck(lambda x: call(x) ** 2, (x,))
    # A permutation that is its own inverse: the gradient is the same reversal.
    weights = torch.randn_like(x)
    call(x).backward(weights)
    assert torch.equal(x.grad, call(weights))
    assert call(x).requires_grad and not call(x.detach()).requires_grad
    with torch.no_grad():
        assert not call(x).requires_grad
    with torch.inference_mode():
        assert call(x).is_inference()
    assert torch.equal(call(torch.nn.Parameter(x.detach())), call(x))


@own_kernels
@each_call
def test_functional_transforms(call):
    x = torch.randn(4, 3, 2, dtype=torch.float64)
    weights = torch.randn_like(x)
    want = call(weights)
    assert torch.equal(grad(lambda x: (call(x) * weights).sum())(x), want)
    assert torch.equal(jvp(call, (x,), (weights,))[1], want)
    assert torch.equal(vjp(call, x)[1](weights)[0], want)
    assert torch.equal(jacfwd(call)(x), jacrev(call)(x))
    # Second derivatives, in every combination of modes.
    cube = lambda x: (call(x) ** 3).sum()
    diagonal = torch.diag(6 * x.flatten()).reshape(4, 3, 2, 4, 3, 2)
    for outer, inner in itertools.product((jacfwd, jacrev), repeat=2):
        assert torch.allclose(outer(inner(cube))(x), diagonal)
    assert torch.allclose(hessian(cube)(x), diagonal)
    double = jvp(lambda x: jvp(lambda x: call(x) ** 2, (x,), (weights,))[1], (x,), (weights,))[1]
    assert torch.allclose(double, 2 * call(weights) ** 2)
    many = torch.randn(5, 4, 3, 2, dtype=torch.float64)
    assert torch.allclose(torch.vmap(grad(cube))(many), 3 * many**2)
    with torch.autograd.forward_ad.dual_level():
        out = call(torch.autograd.forward_ad.make_dual(x, weights))
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(out).tangent, want)


def compiled(f):
    torch._dynamo.reset()
    return torch.compile(f, backend="aot_eager", fullgraph=True)


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
                return torch.from_numpy(naive_sequence(x.numpy(), n, time % 3, batch % 3, 3))

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
                return torch.from_numpy(naive(x.numpy(), axis % 3, n.numpy()))

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


# Registration and compilers


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64], ids=str)
def test_opcheck(dtype):
    x = torch.randn(4, 3, 2).to(dtype)
    lanes = torch.ones(4, 1, 2, dtype=torch.int64)
    arguments = {
        "reverse": ([0, -1],),
        "reverse_sequence": (N, 0, 1, "strict"),
        "reverse_subsequences": (lanes, 1, "clamp"),
    }
    for name, others in arguments.items():
        turned = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        for input in (x, turned, x.clone().requires_grad_(dtype != torch.int64)):
            torch.library.opcheck(getattr(OPS, name).default, (input, *others))
        torch.library.opcheck(getattr(OPS, f"{name}_").default, (x.clone(), *others))
        torch.library.opcheck(getattr(OPS, f"{name}_out").default, (x, *others, torch.empty_like(x)))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@each_call
def test_compile(call, backend):
    torch._dynamo.reset()

    def model(x):
        return (call(x.sin()) * 2).cos()

    run = torch.compile(model, fullgraph=True, backend=backend)
    x = torch.randn(4, 3, 2, requires_grad=True)
    (want,) = torch.autograd.grad(model(x).sum(), x)
    (got,) = torch.autograd.grad(run(x).sum(), x)
    assert torch.allclose(run(x), model(x), atol=1e-6) and torch.allclose(got, want, atol=1e-6)
    with torch.no_grad():
        assert torch.allclose(run(x), model(x), atol=1e-6)
    turned = torch.randn(2, 3, 4).permute(2, 1, 0)
    assert torch.allclose(run(turned), model(turned), atol=1e-6)


def test_compile_with_writes_masks_and_changing_shapes():
    torch._dynamo.reset()

    def model(x, n, out):
        y = x * 2
        retrograde.reverse_sequence(y, n, out=y)
        retrograde.reverse(y, mask=[True, False], out=out)
        return y + out

    run = torch.compile(model, fullgraph=True, dynamic=True)
    for size in (3, 5, 8):
        x, n = torch.randn(size, 4), torch.arange(4).clamp(max=size)
        out, other = torch.empty(size, 4), torch.empty(size, 4)
        assert torch.allclose(run(x, n, out), model(x, n, other)) and torch.allclose(out, other)
    with pytest.raises(ValueError, match=r"lengths\[0\] is 9"):
        run(torch.ones(3, 4), torch.tensor([9, 0, 0, 0]), torch.empty(3, 4))


ONE_PROGRAM = """
import sys
import numpy as np
import torch
import retrograde

class Other(np.ndarray):
    pass

def model(x, n):
    y = retrograde.reverse(x, mask=[1, 0])
    y = retrograde.reverse_sequence(y, n, time_axis=1, batch_axis=0)
    return retrograde.reverse_subsequences(y, n, axis=1)

torch._dynamo.config.error_on_recompile = True
run = torch.compile(model, fullgraph=True, backend="eager")
x, n = torch.arange(6.0).reshape(2, 3), torch.tensor([3, 2])
want = None
if sys.argv[1] == "after":
    want = model(x, n)
for _ in range(3):
    got = run(x, n)
    # Calls of other kinds in between: what they leave behind is not the program's.
    if want is None:
        want = model(x, n)
    assert torch.equal(got, want)
    retrograde.reverse(torch.nn.Parameter(x))
    for other in ([1, 2], np.ma.zeros(2), np.zeros(2).view(Other)):
        retrograde.reverse(other)
        retrograde.reverse_subsequences(other, 1, axis=0)
print(torch._dynamo.utils.counters["stats"]["unique_graphs"])
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_program_is_compiled_once(when):
    """In a separate process, ``before`` and ``after`` the first call there that is not compiled."""
    command = [sys.executable, "-c", ONE_PROGRAM, when]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1"


# Traced by ``torch.fx``


def test_symbolic_trace():
    def model(x, n):
        y = retrograde.reverse(x, 1)
        y = retrograde.reverse_sequence(y, n, time_axis=1, batch_axis=0)
        y = retrograde.reverse_subsequences(y * 2, [2, 1], axis=-1, policy="strict")
        y = rt.reverse(y, mask=[True, False])
        return retrograde.reverse(y, axes=(0, -1), out=x.clone())

    program = torch.fx.symbolic_trace(model)
    targets = [node.target for node in program.graph.nodes if node.op == "call_function"]
    assert [target for target in targets if target.__module__ == "retrograde.torch"] == [
        rt.reverse,
        rt.reverse_sequence,
        rt.reverse_subsequences,
        rt.reverse,
        rt.reverse,
    ]
    copied = pickle.loads(pickle.dumps(program))
    for size in (3, 5):
        x, n = torch.randn(2, size), torch.tensor([size, 2])
        for run in (program, copied, torch.compile(program, fullgraph=True, backend="eager")):
            assert torch.equal(run(x, n), model(x, n))
    x.requires_grad_()
    (want,) = torch.autograd.grad(retrograde.reverse(x, 1)[:, 0].sum(), x)
    traced = torch.fx.symbolic_trace(lambda x: retrograde.reverse(x, x.dim() - 1)[:, 0].sum())
    assert torch.equal(torch.autograd.grad(traced(x), x)[0], want)
    # Errors are raised when the program runs.
    with pytest.raises(ValueError, match=r"lengths\[1\] is 9, outside \[0, 5\]"):
        program(x.detach(), torch.tensor([1, 9]))


def test_symbolic_trace_of_one_argument_alone():
    x, n = torch.arange(6.0).reshape(2, 3), torch.tensor([3, 2])
    lengths = torch.fx.symbolic_trace(lambda n: retrograde.reverse_sequence(x, n, time_axis=1, batch_axis=0))
    assert torch.equal(lengths(n), retrograde.reverse_sequence(x, n, time_axis=1, batch_axis=0))
    lanes = torch.fx.symbolic_trace(lambda n: rt.reverse_subsequences(x, n, axis=1))
    assert torch.equal(lanes(n), rt.reverse_subsequences(x, n, axis=1))
    output = torch.fx.symbolic_trace(lambda out: retrograde.reverse(x, 0, out=out))
    out = torch.zeros(2, 3)
    assert output(out) is out and torch.equal(out, x.flip(0))


def test_symbolic_trace_of_a_module():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(2, 3))

        def forward(self, x):
            return retrograde.reverse(self.weight, 1) + retrograde.reverse(x, 1).relu()

    model = Model()
    program = torch.fx.symbolic_trace(model)
    x = torch.randn(2, 3)
    assert torch.equal(program(x), model(x))


def test_what_stands_in_for_a_tensor_sees_the_call():
    class Standing:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return function, args[1:], kwargs

    x = Standing()
    assert rt.reverse(x, 1) == (rt.reverse, (), {"axes": 1})
    given = {"axis": 0, "policy": "clamp"}
    assert rt.reverse_subsequences(x, [1], axis=0) == (rt.reverse_subsequences, ([1],), given)


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


@each_call
def test_export(call):
    class Model(torch.nn.Module):
        def forward(self, x):
            return call(x) + 1

    x = torch.randn(4, 3, 2)
    program = torch.export.export(Model(), (x,))
    assert any("retrograde" in str(node.target) for node in program.graph.nodes)
    y = torch.randn(4, 3, 2)
    assert torch.equal(program.module()(y), call(y) + 1)


def test_export_with_dynamic_shapes():
    class Model(torch.nn.Module):
        def forward(self, x, n):
            return rt.reverse_sequence(x, n, policy="clamp")

    batch, time = torch.export.Dim("batch", min=2), torch.export.Dim("time", min=2)
    shapes = {"x": {0: time, 1: batch}, "n": {0: batch}}
    program = torch.export.export(Model(), (torch.randn(4, 3), N), dynamic_shapes=shapes)
    x, n = torch.randn(7, 5), torch.tensor([0, 1, 2, 9, 7])
    assert torch.equal(program.module()(x, n), rt.reverse_sequence(x, n, policy="clamp"))


def test_observers_see_the_call():
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.arange(6.0).reshape(2, 3)
    with Watch():
        rt.reverse(x, 0)
    assert "retrograde.reverse.default" in seen
    y = x + 10
    assert torch.equal(make_fx(lambda x: rt.reverse(x, 0))(x)(y), y.flip(0))
    assert torch.equal(quiet(lambda: torch.jit.trace(lambda x: rt.reverse(x, 0), (x,)))(y), y.flip(0))
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode() as mode:
        fake = rt.reverse_sequence(mode.from_tensor(x), [1, 2, 0])
    assert tuple(fake.shape) == (2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert rt.reverse(x).dtype == torch.float32

    class Sub(torch.Tensor):
        pass

    assert type(rt.reverse(x.as_subclass(Sub), 0)) is Sub
    assert torch.equal(rt.reverse(x.as_subclass(Sub), 0).as_subclass(torch.Tensor), x.flip(0))
    assert rt.reverse(torch.empty(2, 3, device="meta"), 0).device.type == "meta"
    assert torch.equal(rt.reverse(torch._efficientzerotensor((2, 3))), torch.zeros(2, 3))


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


# Hostile input


def nested(x):
    return torch.nested.nested_tensor([x.detach()[0], x.detach()[1, :1]])


def quantised(x):
    return torch.quantize_per_tensor(x.detach(), 0.1, 0, torch.qint8)


WRONG = [
    (ValueError, r"axes\[0\] is 2, outside \[-2, 1\]", lambda x: rt.reverse(x, 2)),
    (ValueError, "both given", lambda x: rt.reverse(x, 0, mask=[True, False])),
    (TypeError, r"axes\[0\] is True", lambda x: rt.reverse(x, [True, False])),
    (TypeError, "axes is 1.5", lambda x: rt.reverse(x, 1.5)),
    (ValueError, "mask", lambda x: rt.reverse(x, mask=[True])),
    (ValueError, "lengths", lambda x: rt.reverse_sequence(x, [1, 1])),
    (ValueError, r"lengths\[1\] is 3, outside \[0, 2\]", lambda x: rt.reverse_sequence(x, [1, 3, 1])),
    (ValueError, r"lengths\[1\] is -1", lambda x: rt.reverse_sequence(x, [1, -1, 1], policy="clamp")),
    (ValueError, "4294967297", lambda x: rt.reverse_sequence(x, torch.tensor([1, 2**32 + 1, 1]))),
    (TypeError, "float32, expected an integer", lambda x: rt.reverse_sequence(x, torch.ones(3))),
    (TypeError, "bool, expected an integer", lambda x: rt.reverse_sequence(x, torch.ones(3) > 0)),
    (TypeError, "float64, expected an integer", lambda x: rt.reverse_sequence(x, np.ones(3))),
    (ValueError, 'policy "lax"', lambda x: rt.reverse_sequence(x, [1, 1, 1], policy="lax")),
    (ValueError, "axis", lambda x: rt.reverse_sequence(x, [1, 1], time_axis=1, batch_axis=1)),
    (ValueError, "axis", lambda x: rt.reverse_subsequences(x, [1, 1], axis=5)),
    (ValueError, "lengths", lambda x: rt.reverse_subsequences(x, torch.ones(3, 2).int(), axis=1)),
    (TypeError, "torch.Tensor", lambda x: rt.reverse([1, 2])),
    (TypeError, "layout torch.sparse_coo", lambda x: rt.reverse(x.to_sparse())),
    (TypeError, "layout torch.sparse_csr", lambda x: quiet(lambda: rt.reverse(x.to_sparse_csr()))),
    (TypeError, "nested", lambda x: rt.reverse(quiet(lambda: nested(x)))),
    (TypeError, "qint8", lambda x: rt.reverse(quiet(lambda: quantised(x)))),
    (TypeError, "bits1x8", lambda x: rt.reverse(torch.zeros(3, dtype=torch.uint8).view(torch.bits1x8))),
]
# Autograd refuses a call with an output before it looks at it.
WRONG_OUTPUTS = [
    (ValueError, "shape", lambda x: rt.reverse(x, out=torch.empty(3, 2))),
    (TypeError, "out has dtype torch.float64", lambda x: rt.reverse(x, out=torch.empty(2, 3).double())),
    (TypeError, "out is a ndarray", lambda x: rt.reverse(x, out=np.empty((2, 3), np.float32))),
    (ValueError, "same memory", lambda x: rt.reverse(x, out=x[0].expand(2, 3))),
    (ValueError, "overlap", lambda x: rt.reverse(x.view(-1)[:4], out=x.view(-1)[1:5])),
]


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("kind, text, call", WRONG)
def test_arguments_that_are_wrong(kind, text, call, recorded):
    with pytest.raises(kind, match=text):
        call(torch.ones(2, 3, requires_grad=recorded))


@pytest.mark.parametrize("kind, text, call", WRONG_OUTPUTS)
def test_outputs_that_are_wrong(kind, text, call):
    with pytest.raises(kind, match=text):
        call(torch.ones(2, 3))


@pytest.mark.parametrize(
    "text, call",
    [
        ("reverse() takes axes=, not dim=: retrograde.torch.reverse(x, axes=1)", lambda x: rt.reverse(x, dim=1)),
        ("reverse() takes axes=, not dims=: retrograde.reverse(x, axes=[1])", lambda x: retrograde.reverse(x, dims=[1])),
        ("reverse_sequence() takes lengths=, not seq_lens=: retrograde.torch.reverse_sequence(x, lengths)",
         lambda x: rt.reverse_sequence(x, seq_lens=[1])),
        ("reverse_sequence() missing 1 required positional argument: 'lengths'", lambda x: rt.reverse_sequence(x)),
        ("reverse_subsequences() takes axis=, not dim=: retrograde.torch.reverse_subsequences(x, lengths, axis=1)",
         lambda x: rt.reverse_subsequences(x, [1, 1], dim=1)),
        ("reverse_subsequences() missing 1 required keyword-only argument: 'axis'",
         lambda x: rt.reverse_subsequences(x, [1, 1])),
    ],
)  # fmt: skip
def test_names_of_other_libraries(text, call):
    with pytest.raises(TypeError) as raised:
        call(torch.ones(2, 3))
    assert str(raised.value) == text


def test_errors_leave_the_output_alone():
    x, out = torch.ones(4, 3), torch.zeros(4, 3)
    with pytest.raises(ValueError):
        rt.reverse_sequence(x, [4, 4, 5], out=out)
    assert not out.any()


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
