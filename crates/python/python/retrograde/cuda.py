"""Tensors on CUDA devices.

The operators take them as they take any other tensor (PyTorch, CuPy, JAX): on the library's current
stream, asynchronously, so that a CUDA graph can capture them. Lengths may be on the device too, and
are then checked on the device: with ``policy="strict"`` an invalid one leaves the output of its
call unchanged, and :func:`check` reports it. Lengths on the CPU are checked before anything runs,
and raise immediately; they cannot be part of a graph.

Results of JAX are newly allocated, so they cannot be left unchanged: an invalid length is clamped
to 0 or to the size of the axis, and :func:`check` reports it (see :mod:`retrograde.jax`).

Only NVIDIA's driver is needed. Without one, :func:`device_count` is 0.
"""

from . import _engine

__all__ = ["check", "device_count", "is_available"]


def device_count():
    """The number of CUDA devices; 0 without a driver."""
    return _engine.cuda_device_count()


def is_available():
    """Whether there is a CUDA device."""
    return device_count() > 0


def check(x):
    """Waits for the calls on the current stream of ``x``'s device and library; for JAX, for ``x`` itself.

    Raises a ``ValueError`` that names the first invalid length since the last check, if there was
    one. For a tensor on the CPU there is nothing to wait for.
    """
    from . import _kinds

    _kinds.check(x)
