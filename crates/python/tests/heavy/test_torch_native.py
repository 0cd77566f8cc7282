"""The native library for PyTorch: what is loaded, ``torch.flip`` on the engine, and the Python operators beside it."""

import os
import sys
from pathlib import Path

import deadline
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

import retrograde.torch as rt

HERE = Path(__file__).parent
needed = pytest.mark.skipif(not rt.native(), reason=rt.native().why)
FLIPS = [op for op in op_db if op.name in ("flip", "fliplr", "flipud", "rot90")]
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64]


def ran(program, **variables):
    done = deadline.run([sys.executable, *program], limit=3600, env=os.environ | variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_says_which_operators_and_why():
    state = rt.native()
    assert bool(state) == state.used and state.why
    program = "import retrograde.torch as rt; print(rt.native().used, rt.native().why)"
    assert ran(["-c", program], RETROGRADE_TORCH="python") == "False RETROGRADE_TORCH=python\n"
    if not state:
        assert "scripts/build torch" in state.why or "RETROGRADE_TORCH" in state.why
        with pytest.raises(RuntimeError, match="needs the native library"):
            rt.install()
        rt.uninstall()


@needed
def test_the_operators_are_those_of_the_library():
    for name in ("reverse", "flip", "reverse_sequence", "reverse_subsequences", "reverse_segments"):
        for end in ("", "_", "_out"):
            table = torch._C._dispatch_dump_table(f"retrograde::{name}{end}")
            rows = [line for line in table.splitlines() if line.startswith(("CPU:", "CUDA:", "AutogradCPU:"))]
            assert len(rows) == 3 and all("crates/torch" in row for row in rows), rows


@needed
@pytest.mark.parametrize(
    "subject", ["", "_transforms", "_compilers", "_errors", "_movements", "_names", "_quantized", "_dtensor"]
)
def test_the_operators_in_python_give_the_same(subject):
    """The tests that the native library has just passed."""
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / f"test_torch{subject}.py")]
    assert " passed" in ran(tests, RETROGRADE_TORCH="python")


@needed
def test_compiled_backward_passes():
    x, n = torch.randn(4, 3, 2, requires_grad=True), torch.tensor([4, 0, 2])
    model = lambda x, n: (rt.reverse_sequence(rt.reverse(x, (0, -1)), n, align="end") ** 2).sum()
    for lengths in (n, n // 2):
        (want,) = torch.autograd.grad(model(x, lengths), x)
        x.grad = None
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
            model(x, lengths).backward()
        assert torch.equal(x.grad, want)


@needed
def test_saved_lengths_are_released_and_watched():
    x, n = torch.randn(4, 3, requires_grad=True), torch.tensor([4, 0, 2])
    y = rt.reverse_sequence(x, n)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
    # As for torch.flip: without lengths, nothing is saved.
    y = rt.reverse(x, 0)
    y.sum().backward()
    y.sum().backward()
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        rt.reverse_sequence(x, n).sum().backward()
    assert any(one is n or torch.equal(one, n) for one in packed if one.dtype == n.dtype)


# torch.flip on the engine


@pytest.fixture
def flips():
    with rt.installed():
        yield


def is_ours():
    rows = torch._C._dispatch_dump_table("aten::flip").splitlines()
    (found,) = {"crates/torch" in row for row in rows if row.startswith(tuple(f"{one.upper()}:" for one in DEVICES))}
    return found


@needed
def test_flip_is_ours_only_while_it_is_installed():
    x = torch.arange(6.0).reshape(2, 3)
    assert not is_ours()
    rt.install()
    rt.install()
    with rt.installed():
        assert is_ours()
    assert is_ours() and x.flip(1).tolist() == [[2, 1, 0], [5, 4, 3]]
    rt.uninstall()
    assert not is_ours()
    with pytest.raises(ZeroDivisionError), rt.installed(), rt.installed():
        assert is_ours() and 1 / 0
    assert not is_ours() and x.flip(1).tolist() == [[2, 1, 0], [5, 4, 3]]


@needed
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", FLIPS, ids=lambda op: op.name)
def test_samples_of_pytorch(op, dtype, device):
    """Its own sample inputs and errors, with and without."""
    count = 0
    for sample in op.sample_inputs(device, dtype, requires_grad=dtype.is_floating_point):
        want = op(sample.input, *sample.args, **sample.kwargs)
        with rt.installed():
            got = op(sample.input, *sample.args, **sample.kwargs)
        assert torch.equal(got, want) and got.stride() == want.stride() and got.requires_grad == want.requires_grad
        if want.requires_grad:
            seed = torch.randn_like(want)
            (theirs,) = torch.autograd.grad(want, sample.input, seed)
            with rt.installed():
                (ours,) = torch.autograd.grad(got, sample.input, seed)
            assert torch.equal(ours, theirs)
        count += 1
    assert count > 0
    if op.error_inputs_func is not None and dtype == torch.float32:
        for wrong in op.error_inputs(device):
            sample = wrong.sample_input
            with rt.installed(), pytest.raises(wrong.error_type, match=wrong.error_regex):
                op(sample.input, *sample.args, **sample.kwargs)


def layouts(device):
    x = torch.randn(2, 3, 4, 5, device=device)
    yield x
    yield x.to(memory_format=torch.channels_last)
    yield x.permute(3, 1, 0, 2)
    yield x[:, ::2, 1:, ::3]
    yield x[:1].expand(4, 3, 4, 5)
    yield x[..., :1].expand(2, 3, 4, 6)
    yield torch.randn(2, 0, 3, device=device)
    yield torch.randn(1, 1, device=device)
    yield torch.randn(1 << 12, 300, device=device)
    yield torch.randn(300, 1 << 12, device=device).T


@needed
@pytest.mark.parametrize("device", DEVICES)
def test_layouts_as_pytorch_chooses_them(device):
    for x in layouts(device):
        for axes in [(0,), (-1,), (0, 1), tuple(range(x.dim())), ()]:
            want = x.flip(axes)
            with rt.installed():
                got = x.flip(axes)
            assert torch.equal(got, want) and got.stride() == want.stride()


@needed
def test_tensors_that_pytorch_keeps(flips):
    x = torch.randn(3, 4)
    back = x.numpy()[::-1, ::-1]
    z = torch.randn(3, 4, dtype=torch.complex64)
    for lazy in (z.conj(), z.conj().imag, z.imag):
        plain = lazy.resolve_conj().resolve_neg()
        assert torch.equal(lazy.flip(0), plain[torch.tensor([2, 1, 0])])
    q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    assert torch.equal(q.flip(0, 1).int_repr(), q.int_repr()[[2, 1, 0]][:, [3, 2, 1, 0]])
    assert torch.empty(2, 3, device="meta").flip(0).device.type == "meta"
    assert torch.equal(torch._efficientzerotensor((2, 3)).flip(0), torch.zeros(2, 3))
    with pytest.raises((NotImplementedError, RuntimeError)):
        x.to_sparse().flip(0)
    with pytest.raises(IndexError, match="out of range"):
        x.flip(2)
    with pytest.raises(RuntimeError, match="multiple times"):
        x.flip(0, 0)
    assert (x.flip(0, 1).numpy() == back).all()

    class Sub(torch.Tensor):
        pass

    assert type(x.as_subclass(Sub).flip(0)) is Sub


@needed
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled(flips, backend, device):
    torch._dynamo.reset()
    x = torch.randn(4, 5, device=device, requires_grad=True)
    model = lambda x: (x.sin().flip(0, 1) * 2).cos()
    got = torch.compile(model, fullgraph=True, backend=backend)(x)
    assert torch.allclose(got, model(x))
    theirs, ours = (torch.autograd.grad(y.sum(), x)[0] for y in (got, model(x)))
    assert torch.allclose(theirs, ours)


@needed
@pytest.mark.parametrize("device", DEVICES)
def test_transforms_and_gradients(flips, device):
    x = torch.randn(5, 4, 3, dtype=torch.float64, device=device, requires_grad=True)
    call = lambda x: x.flip(0, -1)
    assert torch.autograd.gradcheck(call, (x,), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: call(x) ** 2, (x,))
    many = torch.randn(6, 5, 4, 3, device=device)
    assert torch.equal(torch.vmap(call)(many), torch.stack([call(one) for one in many]))
    assert torch.equal(torch.func.jacfwd(call)(many[0]), torch.func.jacrev(call)(many[0]))
    view = x.detach().clone()[1:]
    view.copy_(view.flip(0))
    assert torch.equal(torch.func.functionalize(call)(view), call(view))


@needed
def test_forked_workers(flips):
    from torch.utils.data import DataLoader

    rows = torch.arange(64.0).reshape(16, 4)
    found = torch.cat(list(DataLoader(rows, batch_size=4, num_workers=2, collate_fn=lambda all: torch.stack(all).flip(1))))
    assert torch.equal(found, rows.flip(1))


# No leaks


@needed
@pytest.mark.parametrize("name", ["reverse", "sequence", "list", "gradient", "flip", "error"])
def test_calls_leave_nothing_behind(name):
    import resource

    x, n = torch.randn(32, 32), torch.arange(32)
    leaf = x.clone().requires_grad_()

    def error():
        with pytest.raises(ValueError):
            rt.reverse_sequence(x, n + 1000)

    call = {
        "reverse": lambda: rt.reverse(x, 1),
        "sequence": lambda: rt.reverse_sequence(x, n),
        "list": lambda: rt.reverse_sequence(x, [3] * 32),
        "gradient": lambda: rt.reverse_sequence(leaf, n).sum().backward(),
        "flip": lambda: rt.flip(x, (0, 1)),
        "error": error,
    }[name]

    def run(count):
        for _ in range(count):
            call()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(2000)
    # A tensor that is lost in each call would take 4 KiB.
    assert run(20_000 if name != "error" else 4000) - before < 8 << 10
