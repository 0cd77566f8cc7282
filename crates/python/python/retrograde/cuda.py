"""Tensors on CUDA devices.

The operators take them as they take any other (PyTorch, CuPy, JAX): on the library's current stream, without
waiting for the device, so that a CUDA graph can capture them. Lengths may be on the device too. There they are
looked at by the call itself: with ``policy="strict"`` a wrong one leaves the output of its call as it was, and
nobody is told until :func:`check` asks. Lengths on the CPU are checked before anything runs, and raise at once;
they cannot be part of a graph.

Results of JAX are new memory, in which nothing could be left as it was: there a wrong length counts as 0 or as
the whole axis, whichever is nearer, and :func:`check` tells of it (see :mod:`retrograde.jax`).

Nothing but NVIDIA's driver is needed. Without one, :func:`device_count` is 0.
"""

from . import _engine

__all__ = ["check", "device_count", "is_available"]


def device_count():
    """How many CUDA devices there are; 0 without a driver."""
    return _engine.cuda_device_count()


def is_available():
    """Whether there is any."""
    return device_count() > 0


def check(x):
    """Waits for the calls on the current stream of ``x``'s device and library; for JAX, for ``x`` itself.

    Raises a ``ValueError`` that names the first wrong length since the last look, if there was one. For a
    tensor on the CPU there is nothing to wait for.
    """
    from . import _kinds

    _kinds.check(x)
