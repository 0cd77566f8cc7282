"""Names of PyTorch outside its documented interface: looked up here and nowhere else.

A release may drop any of them. Whatever uses one has another way, which is slower or does less and is never
wrong; tests take them away (``tests/heavy/test_torch_private.py``). All of them are in PyTorch 2.11, the oldest
release that is supported, and in 2.15. Nothing is imported here: PyTorch may not be loaded yet.
"""

import sys
from types import SimpleNamespace

#: How to learn whether anybody else wants to see a call. Without one of them nobody can tell, and each call goes
#: through the dispatcher, which knows.
WATCHERS = {
    "tracing_state": "_C._get_tracing_state",  # `torch.jit.trace`
    "is_included": "_C._dispatch_tls_is_dispatch_key_included",  # what the dispatcher does on this thread
    "python_mode": "_C.DispatchKey.Python",  # `TorchDispatchMode`
    "functional_mode": "_C.DispatchKey.FuncTorchDynamicLayerFrontMode",  # `torch.func`
    "function_modes": "_C._len_torch_function_stack",  # `TorchFunctionMode`
    "forward_level": "autograd.forward_ad._current_level",  # forward-mode differentiation; changes
}
#: Autograd kernels of our own, which every transform of ``torch.func`` and forward mode can see through. Without
#: one of them the kernel is that of ``torch.library.register_autograd``: gradients, but neither of these two, which
#: raise errors then (except that ``torch.func.jvp`` of ``torch.ops.retrograde``, not of our functions, loses tangents).
LAYERS = {
    "after_autograd": "_C._after_autograd_keyset",  # what the dispatcher does next
    "below_autograd": "_C._AutoDispatchBelowAutograd",
    "after_writes": "_C._after_ADInplaceOrView_keyset",
    "below_writes": "_C._AutoDispatchBelowADInplaceOrView",
    "Function": "autograd.function._SingleLevelFunction",  # of one level of `torch.func`
    "single_level": "_functorch.utils.enable_single_level_autograd_function",
    "set_forward": "autograd.forward_ad._set_fwd_grad_enabled",
    "is_forward": "_C._is_fwd_grad_enabled",
    "forward_level": "autograd.forward_ad._current_level",
}
#: New tensors, as PyTorch's own compiler allocates them: half the time of ``torch.empty_like``, which it is
#: without them.
EMPTY_HERE = "_C._dynamo.guards._empty_strided_cpu"
EMPTY_THERE = "_C._dynamo.guards._empty_strided_cuda"
CURRENT_DEVICE = "_C._cuda_getDevice"
#: ``torch.autograd.Function`` without what ``torch.func`` needs, where nothing of it is active. Without it, that.
FUNCTION = "autograd.function._SingleLevelFunction"


def find(path):
    """What a name stands for, or None if this release does not have it."""
    found = sys.modules["torch"]
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def find_all(paths):
    """All of them by our names, or None if one is missing: they are of use together."""
    found = {name: find(path) for name, path in paths.items()}
    return None if any(value is None for value in found.values()) else SimpleNamespace(**found)


def quiet_test():
    """A function that says whether nothing on this thread wants to see calls, but for gradients."""
    torch, names = sys.modules["torch"], find_all(WATCHERS)
    if names is None:
        return _never
    forward_ad, is_compiling = torch.autograd.forward_ad, torch.compiler.is_dynamo_compiling
    is_included, tracing_state, function_modes = names.is_included, names.tracing_state, names.function_modes
    python_mode, functional_mode = names.python_mode, names.functional_mode

    def is_quiet():
        return not (
            is_compiling()
            or forward_ad._current_level >= 0
            or is_included(python_mode)
            or is_included(functional_mode)
            or tracing_state() is not None
            or function_modes()
        )

    return is_quiet


def _never():
    return False


def layers():
    """What autograd kernels of our own need, or None."""
    return find_all(LAYERS)


def function_base():
    """The class of a differentiable function where no transform is active."""
    return find(FUNCTION) or sys.modules["torch"].autograd.Function


def allocators():
    """What makes a tensor of a shape, strides and a type: on the CPU, and on the current CUDA device with what
    says which that is; None for each that is missing."""
    there = find(EMPTY_THERE), find(CURRENT_DEVICE)
    return find(EMPTY_HERE), None if None in there else there


def constant(function):
    """Marks a function whose answer a compiled program takes as a constant.

    That is all ``torch.compiler.assume_constant_result`` does, which cannot be asked before PyTorch is loaded.
    A release that does not know the mark follows the function: programs are right, and may be compiled twice.
    """
    function._dynamo_marked_constant = True
    return function
