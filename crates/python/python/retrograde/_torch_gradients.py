"""Gradients of the operators for PyTorch's dispatcher: a reversal is linear and its own transpose.

We register our own autograd kernels, because those of ``torch.library.register_autograd`` support neither forward
mode nor ``torch.func``. The latter are the fallback if a release lacks the private functions that ours need.
"""

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

from . import _torch_native, _torch_private, _torch_sharding

_is_compiling = torch.compiler.is_dynamo_compiling
_layers = _torch_private.layers()


def is_frozen(out):
    """Whether a tensor was created in inference mode and is used outside of it, where it must not be written to."""
    return out.is_inference() and not torch.is_inference_mode_enabled()


def _check_writable(out):
    """Raises PyTorch's own error for a frozen tensor, before anything is written."""
    if is_frozen(out):
        # A view without elements: the write changes nothing even if PyTorch allows it.
        out.as_strided((0,), (1,)).zero_()


def _check_output(name, x, out):
    if (x.requires_grad or out.requires_grad) and torch.is_grad_enabled():
        raise RuntimeError(
            f"{name}: out=... does not support automatic differentiation, but one of the arguments requires grad"
        )


def _save(ctx, arguments):
    # Save the lengths, so that PyTorch detects if they are modified before the backward pass.
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    ctx.save_for_backward(*tensors)
    ctx.arguments = [None if isinstance(a, Tensor) else a for a in arguments]
    return tensors


def _saved(ctx):
    tensors = iter(ctx.saved_tensors)
    return [next(tensors) if a is None else a for a in ctx.arguments]


#: The most arguments for which a function of their own is kept; see :func:`recorder`.
_MOST = 64


def recorder(again, name):
    """Returns a function that records a completed reversal, and a cache of functions that do it for known arguments.

    ``again`` applies the reversal to a gradient. Arguments that are not tensors are part of the function: to store
    them in a context takes a tenth of the time of a small call.
    """
    base, known = _torch_private.function_base(), {}

    def function(forward, backward):
        parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        return type(base)(title(name), (base,), parts).apply

    def forward(ctx, x, done):
        new, arguments = done
        if type(arguments[1]) is Tensor:
            ctx.save_for_backward(arguments[1])
            ctx.others = arguments[2:]
        else:
            ctx.others = arguments[1:]
        return new

    def backward(ctx, gradient):
        return again(gradient, *ctx.saved_tensors, *ctx.others, None), None

    def keep(others):
        known[others] = function(lambda ctx, x, done: done[0], lambda ctx, g: (again(g, *others, None), None))

    record = function(forward, backward)

    def record_and_keep(x, done):
        others = done[1][1:]
        if len(known) < _MOST and all(_is_fixed(a) for a in others):
            keep(others)
        return record(x, done)

    return record_and_keep, known


def _is_fixed(argument):
    """Whether the value of an argument never changes."""
    return argument is None or type(argument) in (int, str) or type(argument) is tuple and all(map(_is_fixed, argument))


def title(name):
    return "".join(part.title() for part in name.split("_"))


def register(operator, again):
    """Registers the gradients of an operator; ``again`` is as in :func:`recorder`."""
    (_register_public if _layers is None else _register_own)(operator, again)


def _register_own(operator, again):
    name, new = operator.name, operator.new
    below_autograd, after_autograd = _layers.below_autograd, _layers.after_autograd

    class Function(_layers.Function):
        """Handles one level of ``torch.func``; the dispatcher calls it again for each further level."""

        @staticmethod
        def forward(ctx, modes, keyset, x, *arguments):
            ctx.save_for_forward(*_save(ctx, arguments))
            # Both modes are off here. Restore the caller's modes for the levels below.
            backward, forward = modes
            modes = torch.set_grad_enabled(backward), _layers.set_forward(forward)
            with modes[0], modes[1], below_autograd():
                return new.redispatch(keyset & after_autograd, x, *arguments)

        @staticmethod
        def backward(ctx, gradient):
            gradient = again(gradient, *operator.complete(_saved(ctx)), None)
            return None, None, gradient, *(None for _ in ctx.arguments)

        @staticmethod
        def jvp(ctx, modes, keyset, tangent, *others):
            return new(tangent, *_saved(ctx))

    Function.__name__ = Function.__qualname__ = title(name)

    def new_autograd(keyset, x, *arguments):
        # Calls of ``torch.ops`` come here first.
        if type(x) is not Tensor and not _is_compiling():
            _torch_sharding.is_sharded(x)
        if (x.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
            modes = torch.is_grad_enabled(), _layers.is_forward()
            with _layers.single_level():
                return Function.apply(modes, keyset, x, *arguments)
        with below_autograd():
            return new.redispatch(keyset & after_autograd, x, *arguments)

    def in_place_autograd(keyset, x, *arguments):
        if (x.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
            # ``copy_`` rejects leaf tensors and records the write in the graph.
            x.copy_(new(x, *arguments))
            return
        with below_autograd():
            operator.in_place.redispatch(keyset & after_autograd, x, *arguments)

    def out_autograd(keyset, x, *arguments):
        out = arguments[-1]
        _check_output(name, x, out)
        if forward_ad._current_level >= 0:
            out.copy_(new(x, *arguments[:-1]))
            return
        with below_autograd():
            operator.out.redispatch(keyset & after_autograd, x, *arguments)

    def in_place_view(keyset, x, *arguments):
        _check_writable(x)
        with _layers.below_writes():
            operator.in_place.redispatch(keyset & _layers.after_writes, x, *arguments)
        increment_version(x)

    def out_view(keyset, x, *arguments):
        _check_writable(arguments[-1])
        with _layers.below_writes():
            operator.out.redispatch(keyset & _layers.after_writes, x, *arguments)
        increment_version(arguments[-1])

    library = operator.library
    library.impl(name, new_autograd, "Autograd", with_keyset=True)
    library.impl(f"{name}_", in_place_autograd, "Autograd", with_keyset=True)
    library.impl(f"{name}_out", out_autograd, "Autograd", with_keyset=True)
    library.impl(f"{name}_", in_place_view, "ADInplaceOrView", with_keyset=True)
    library.impl(f"{name}_out", out_view, "ADInplaceOrView", with_keyset=True)


def _register_public(operator, again):
    def setup_context(ctx, inputs, output):
        _save(ctx, inputs[1:])

    def backward(ctx, gradient):
        gradient = again(gradient, *operator.complete(_saved(ctx)), None)
        return gradient, *(None for _ in ctx.arguments)

    name, library = f"retrograde::{operator.name}", operator.library
    torch.library.register_autograd(name, backward, setup_context=setup_context, lib=library)


#: Whether the writing kernels have no autograd kernels above them and must do their work.
writes_alone = _layers is None and _torch_native.library is None


def before_write(name, x, out):
    """The checks of writing kernels that have no autograd kernels above them."""
    check_forward_mode(name, x, out)
    if out is not x:
        _check_output(name, x, out)
    elif x.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(f"{name}_: x requires grad: retrograde.torch.{name}(x, ..., out=x) records the write")
    _check_writable(out)


def assigns(x):
    """Whether PyTorch must record an in-place write to ``x``, and no autograd kernel of ours does."""
    return writes_alone and x.requires_grad and torch.is_grad_enabled()


def assign(name, x, out, result):
    """Writes a result to a given tensor of a subclass, for which the writing kernels do not run."""
    if out is not x:
        _check_output(name, x, out)
    return out.copy_(result)


def check_forward_mode(name, *tensors):
    """Raises an error for tensors with tangents if no kernel propagates them."""
    if writes_alone and any(forward_ad.unpack_dual(x).tangent is not None for x in tensors):
        raise NotImplementedError(f"{name}: no forward-mode differentiation with PyTorch {torch.__version__}")
