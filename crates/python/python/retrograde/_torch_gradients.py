"""Gradients of the operators for PyTorch's dispatcher: a reversal is linear and its own transpose.

The kernels are ours, rather than those of ``torch.library.register_autograd``, which support neither forward mode
nor ``torch.func``; these are registered where a release lacks what ours need.
"""

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

from . import _torch_private

_layers = _torch_private.layers()


def is_frozen(out):
    """Whether a tensor was made in inference mode and this is outside of it: nothing may write to it."""
    return out.is_inference() and not torch.is_inference_mode_enabled()


def _check_writable(out):
    """Refuses it in PyTorch's own words, before anything is written."""
    if is_frozen(out):
        # Of no elements: it changes nothing even if it is allowed.
        out.as_strided((0,), (1,)).zero_()


def _check_output(name, x, out):
    if (x.requires_grad or out.requires_grad) and torch.is_grad_enabled():
        raise RuntimeError(
            f"{name}: out=... does not support automatic differentiation, but one of the arguments requires grad"
        )


def _save(ctx, arguments):
    # Lengths are saved, so that PyTorch notices if they are written to meanwhile.
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    ctx.save_for_backward(*tensors)
    ctx.arguments = [None if isinstance(a, Tensor) else a for a in arguments]
    return tensors


def _saved(ctx):
    tensors = iter(ctx.saved_tensors)
    return [next(tensors) if a is None else a for a in ctx.arguments]


def recorder(again, name):
    """Records a reversal that is done already; ``again`` is the function that does it to a gradient."""

    def forward(ctx, x, done):
        new, arguments = done
        if type(arguments[1]) is Tensor:
            ctx.save_for_backward(arguments[1])
            ctx.others = arguments[2:]
        else:
            ctx.others = arguments[1:]
        return new

    def backward(ctx, gradient):
        return again((gradient, *ctx.saved_tensors, *ctx.others), None), None

    base = _torch_private.function_base()
    parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(base)(title(name), (base,), parts).apply


def title(name):
    return "".join(part.title() for part in name.split("_"))


def register(operator, again):
    """Registers the gradients of an operator; ``again`` does it to a gradient, as :func:`recorder` wants it."""
    (_register_public if _layers is None else _register_own)(operator, again)


def _register_own(operator, again):
    name, new = operator.name, operator.new
    below_autograd, after_autograd = _layers.below_autograd, _layers.after_autograd

    class Function(_layers.Function):
        """Of one level: the dispatcher comes here again for every further one of ``torch.func``'s."""

        @staticmethod
        def forward(ctx, modes, keyset, x, *arguments):
            ctx.save_for_forward(*_save(ctx, arguments))
            # Here both are off; the levels below have them as the caller does.
            backward, forward = modes
            modes = torch.set_grad_enabled(backward), _layers.set_forward(forward)
            with modes[0], modes[1], below_autograd():
                return new.redispatch(keyset & after_autograd, x, *arguments)

        @staticmethod
        def backward(ctx, gradient):
            gradient = again((gradient, *operator.complete(_saved(ctx))), None)
            return None, None, gradient, *(None for _ in ctx.arguments)

        @staticmethod
        def jvp(ctx, modes, keyset, tangent, *others):
            return new(tangent, *_saved(ctx))

    Function.__name__ = Function.__qualname__ = title(name)

    def new_autograd(keyset, x, *arguments):
        if (x.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
            modes = torch.is_grad_enabled(), _layers.is_forward()
            with _layers.single_level():
                return Function.apply(modes, keyset, x, *arguments)
        with below_autograd():
            return new.redispatch(keyset & after_autograd, x, *arguments)

    def in_place_autograd(keyset, x, *arguments):
        if (x.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
            # PyTorch's own assignment refuses leaves and keeps the graph.
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
        gradient = again((gradient, *operator.complete(_saved(ctx))), None)
        return gradient, *(None for _ in ctx.arguments)

    name, library = f"retrograde::{operator.name}", operator.library
    torch.library.register_autograd(name, backward, setup_context=setup_context, lib=library)


#: Whether the kernels that write have no others above them, and do what those would.
writes_alone = _layers is None


def before_write(name, x, out):
    """What kernels that write alone check first."""
    check_forward_mode(name, x, out)
    if out is not x:
        _check_output(name, x, out)
    elif x.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(f"{name}_: x requires grad: retrograde.torch.{name}(x, ..., out=x) records the write")
    _check_writable(out)


def assigns(x):
    """Whether writing to ``x`` in place is an assignment that PyTorch has to see, and no kernel above will say so."""
    return writes_alone and x.requires_grad and torch.is_grad_enabled()


def check_forward_mode(name, *tensors):
    """Refuses tensors with tangents where nothing would pass them on."""
    if writes_alone and any(forward_ad.unpack_dual(x).tangent is not None for x in tensors):
        raise NotImplementedError(f"{name}: no forward-mode differentiation with PyTorch {torch.__version__}")
