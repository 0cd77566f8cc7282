"""``retrograde.torch`` as registered operators: compilers, export, ``torch.fx``, modes that observe calls."""

import pickle
import sys

import deadline
import pytest
import torch
from torch_cases import OPS, N, each_call, quiet

import retrograde
import retrograde.torch as rt


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
        # Nothing before ``out`` has a default.
        others = (*others, *(() if name == "reverse" else ("start", "keep")))
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
    done = deadline.run(command)
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
    assert rt.reverse(x, 1) == (rt.reverse, (), {"axes": 1, "duplicates": "set"})
    given = {"axis": 0, "policy": "clamp", "align": "start", "tail": "keep"}
    assert rt.reverse_subsequences(x, [1], axis=0) == (rt.reverse_subsequences, ([1],), given)


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
