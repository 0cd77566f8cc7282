"""Looks up the private PyTorch functions that the package uses. No other module accesses private names.

A PyTorch release may remove any of them. Each use has a fallback that is slower or supports less, but is never
wrong. Tests remove the names to check this (``tests/heavy/test_torch_private.py``). All of them exist in PyTorch
2.11, the oldest supported release, and in 2.15. This module does not import PyTorch, which may not be loaded yet.
"""

import sys
from types import SimpleNamespace

#: Used to check whether a mode, transform or tracer is active. If one of them is missing, every call goes through
#: the dispatcher.
WATCHERS = {
    "tracing_state": "_C._get_tracing_state",  # `torch.jit.trace`
    "dispatch_modes": "_C._len_torch_dispatch_stack",  # `TorchDispatchMode`
    "transform": "_C._functorch.peek_interpreter_stack",  # `torch.func`
    "function_modes": "_C._len_torch_function_stack",  # `TorchFunctionMode`
    "forward_level": "autograd.forward_ad._current_level",  # forward-mode differentiation; not a constant
}
#: Used by our own autograd kernels, which support ``torch.func`` and forward mode. If one of them is missing, we use
#: ``torch.library.register_autograd``, which supports gradients only: ``torch.func`` and forward mode then raise
#: errors. The exception is ``torch.func.jvp`` of ``torch.ops.retrograde`` (not of our functions), which loses tangents.
LAYERS = {
    "after_autograd": "_C._after_autograd_keyset",  # the remaining dispatch keys
    "below_autograd": "_C._AutoDispatchBelowAutograd",
    "after_writes": "_C._after_ADInplaceOrView_keyset",
    "below_writes": "_C._AutoDispatchBelowADInplaceOrView",
    "Function": "autograd.function._SingleLevelFunction",  # handles one level of `torch.func`
    "single_level": "_functorch.utils.enable_single_level_autograd_function",
    "set_forward": "autograd.forward_ad._set_fwd_grad_enabled",
    "is_forward": "_C._is_fwd_grad_enabled",
    "forward_level": "autograd.forward_ad._current_level",
}
#: ``torch.autograd.graph.increment_version``, the fallback, without its checks.
WRITTEN = "_C._increment_version"
#: With these the engine checks, when it is loaded, that it can read the dispatch keys and count the function modes of a
#: thread by itself. It then asks the watchers only if there are any. The fallback is to ask them in every call.
SET_KEY = "_C._dispatch_tls_set_dispatch_key_included"
PUSH_MODE = "_C._push_on_torch_function_stack"
POP_MODE = "_C._pop_torch_function_stack"
#: The allocation functions of PyTorch's compiler, which take half the time of ``torch.empty_like``, the fallback.
EMPTY_HERE = "_C._dynamo.guards._empty_strided_cpu"
EMPTY_THERE = "_C._dynamo.guards._empty_strided_cuda"
CURRENT_DEVICE = "_C._cuda_getDevice"
#: The ragged axis of a nested tensor. The fallback is the first axis whose size is symbolic.
RAGGED = "_ragged_idx"
#: Allocates a quantised tensor with scales of channels. The fallback quantises zeros.
EMPTY_CHANNELS = "_empty_per_channel_affine_quantized"
#: ``torch.autograd.Function`` without the overhead for ``torch.func``, for use if no transform is active. The fallback
#: is ``torch.autograd.Function``.
FUNCTION = "autograd.function._SingleLevelFunction"
#: What the cache of sharding rules compares, by operator. Without it, ``reverse`` and ``flip`` of a ``DTensor`` gather it.
SHARDING_SCHEMAS = "distributed.tensor.DTensor._op_dispatcher.sharding_propagator.op_to_schema_info"


def find(path):
    """The object at a dotted path in ``torch``, or None if this release does not have it."""
    found = sys.modules["torch"]
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def find_all(paths):
    """All objects under our names, or None if one is missing, because they are only useful together."""
    found = {name: find(path) for name, path in paths.items()}
    return None if any(value is None for value in found.values()) else SimpleNamespace(**found)


def state():
    """What tells the engine whether a mode, transform or tracer is active on this thread, or None."""
    torch, names = sys.modules["torch"], find_all(WATCHERS)
    if names is None:
        return None
    return SimpleNamespace(
        function_modes=names.function_modes,
        dispatch_modes=names.dispatch_modes,
        tracer=names.tracing_state,
        transform=names.transform,
        forward=vars(torch.autograd.forward_ad),
        is_recording=torch.is_grad_enabled,
        is_inference=torch.is_inference_mode_enabled,
        written=find(WRITTEN) or torch.autograd.graph.increment_version,
        set_key=find(SET_KEY),
        push_mode=find(PUSH_MODE),
        pop_mode=find(POP_MODE),
    )


def layers():
    """The functions that our own autograd kernels need, or None."""
    return find_all(LAYERS)


def function_base():
    """The base class of a differentiable function for use if no transform is active."""
    return find(FUNCTION) or sys.modules["torch"].autograd.Function


def allocators():
    """Functions that allocate a tensor from a shape, strides and a dtype: one for the CPU, and for CUDA a pair of the
    one for the current device and a function that returns this device. None replaces each that is missing."""
    there = find(EMPTY_THERE), find(CURRENT_DEVICE)
    return find(EMPTY_HERE), None if None in there else there


def ragged_axis(x):
    """The ragged axis of a nested tensor of layout ``torch.jagged``."""
    axis = getattr(x, RAGGED, None)
    if isinstance(axis, int):
        return axis
    return next(axis for axis, size in enumerate(x.shape) if type(size) is not int)


def constant(function):
    """Marks a function whose result compiled programs may treat as a constant.

    ``torch.compiler.assume_constant_result`` does the same, but is not available before PyTorch is loaded. A release
    that does not know the mark traces the function: programs are correct, but may be compiled twice.
    """
    function._dynamo_marked_constant = True
    return function
