"""``retrograde.torch`` where PyTorch lacks the names that it does not document: slower, less, never wrong."""

import os
import sys
from pathlib import Path
from threading import Thread

import deadline
import pytest
import torch
from test_torch_compilers import ONE_PROGRAM
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from retrograde import _engine
from retrograde import _torch_private as private

HERE = Path(__file__).parent


def lacking(monkeypatch, *paths):
    """As if this release did not have these."""
    find = private.find
    monkeypatch.setattr(private, "find", lambda path: None if path in paths else find(path))


def without(program, *arguments):
    """Runs a program, or pytest on a file, where all of them are missing."""
    environment = {**os.environ, "RETROGRADE_TESTS_WITHOUT_PRIVATE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, *program, *arguments]
    done = deadline.run(command, limit=3600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_this_release_has_all_of_them():
    others = [private.FUNCTION, private.EMPTY_HERE, private.SET_KEY, private.PUSH_MODE, private.POP_MODE]
    for path in [*private.WATCHERS.values(), *private.LAYERS.values(), *others]:
        assert private.find(path) is not None, path
    assert private.state().written is private.find(private.WRITTEN)
    assert private.function_base() is not torch.autograd.Function


@pytest.mark.parametrize("path", private.WATCHERS.values())
def test_without_one_watcher_calls_take_the_dispatcher(monkeypatch, path):
    lacking(monkeypatch, path)
    assert private.state() is None


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("missing", [None, private.SET_KEY, private.PUSH_MODE, private.POP_MODE])
def test_the_engine_sees_every_mode_transform_and_tracer(monkeypatch, missing):
    lacking(monkeypatch, missing)
    maker = _engine.Maker(False, torch.Tensor, private.state(), torch.empty_like, None, 1 << 40, None, None)
    x = torch.arange(6.0).reshape(2, 3)

    def runs():
        made = maker.reverse(x, 0, None, "set", None)
        assert made is None or made.tolist() == [[3, 4, 5], [0, 1, 2]]
        return made is not None

    def seen(y):
        answers.append(runs())
        return y.sin()

    for _ in range(2):
        answers = []
        assert runs()
        for mode in (FunctionMode(), DispatchMode(), forward_ad.dual_level()):
            with mode:
                assert not runs(), mode
            assert runs(), mode
        torch.func.vmap(seen)(x)
        torch.func.grad(lambda y: seen(y).sum())(x)
        torch.func.jvp(seen, (x,), (x,))
        torch.func.functionalize(seen)(x)
        torch.jit.trace(seen, (x,), check_trace=False)
        assert answers == [False] * 5
        # Other keys change too, but nothing has to see the call.
        for harmless in (torch.inference_mode(), torch.no_grad(), torch.autocast("cpu")):
            with harmless:
                assert runs(), harmless

    # Another thread has a state of its own.
    def elsewhere():
        answers.append(runs())
        with DispatchMode():
            answers.append(runs())

    answers = []
    with FunctionMode():
        thread = Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert answers == [True, False]


@pytest.mark.parametrize("path", private.LAYERS.values())
def test_without_one_layer_the_kernels_are_the_public_ones(monkeypatch, path):
    lacking(monkeypatch, path)
    assert private.layers() is None


def test_without_one_allocator_outputs_are_like_inputs(monkeypatch):
    here, there = private.allocators()
    lacking(monkeypatch, private.EMPTY_HERE)
    assert private.allocators() == (None, there)
    for path in (private.EMPTY_THERE, private.CURRENT_DEVICE):
        lacking(monkeypatch, path)
        assert private.allocators()[1] is None
    lacking(monkeypatch, private.FUNCTION)
    assert private.function_base() is torch.autograd.Function


@pytest.mark.parametrize("subject", ["", "_transforms", "_compilers", "_errors", "_movements", "_names", "_quantized"])
def test_everything_else_works_without(subject):
    """The tests of ``retrograde.torch``, but for what fallbacks do not have; compilers with one back end."""
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not inductor"]
    assert " passed" in without(tests, str(HERE / f"test_torch{subject}.py"))


GRADIENTS = """
import conftest
import pytest, torch, retrograde.torch as rt
from torch.autograd import forward_ad, gradcheck, gradgradcheck

assert rt._torch_gradients.writes_alone and rt._state is None
ops, n = torch.ops.retrograde, torch.tensor([4, 0, 2])
x = torch.randn(4, 3, 2, dtype=torch.float64, requires_grad=True)
functions = [
    lambda x: rt.reverse(x, (0, -1)),
    lambda x: rt.reverse_sequence(x, n),
    lambda x: rt.reverse_subsequences(x, [[0, 1], [2, 3], [9, 2], [3, 1]], axis=1),
]
for call in (*functions, lambda x: ops.reverse_sequence(x, n, 0, 1, "strict")):
    assert gradcheck(call, (x,)) and gradgradcheck(lambda x: call(x) ** 2, (x,))
    seed = torch.randn_like(x)
    assert torch.equal(torch.autograd.grad(call(x), x, seed)[0], call(seed))
    # What is not there says so, and drops nothing.
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward"):
        call(forward_ad.make_dual(x.detach(), seed))
    if call in functions:
        with pytest.raises(NotImplementedError, match="forward"):
            torch.func.jvp(call, (x.detach(),), (seed,))
    with pytest.raises(RuntimeError, match="functorch"):
        torch.func.grad(lambda x: call(x).sum())(x.detach())
leaf, y = x.detach().clone().requires_grad_(), x.detach().clone()
with pytest.raises(RuntimeError, match="leaf Variable"):
    rt.reverse(leaf, out=leaf)
with pytest.raises(RuntimeError, match="requires grad"):
    ops.reverse_(leaf * 1, [0])
version = y._version
rt.reverse(y, 0, out=y)
assert y._version > version and torch.equal(y, x.detach().flip(0))
"""


def test_gradients_without():
    without(["-c", GRADIENTS])


@pytest.mark.parametrize("when", ["before", "after"])
def test_programs_without_the_mark_of_constants(when):
    """They are right; the first call may make them compile again."""
    program = ONE_PROGRAM.replace("torch._dynamo.config.error_on_recompile = True\n", "")
    assert program != ONE_PROGRAM
    assert int(without(["-c", f"import conftest{program}"], when)) >= 1
