"""Tensors on CUDA devices.

The operators take them as they take any other tensor (PyTorch, CuPy, JAX): on the library's current
stream, asynchronously, so that a CUDA graph can capture them. Lengths may be on the device too, and
are then checked on the device, after the call has returned:

- With ``policy="strict"``, a call with an invalid length leaves a given ``out`` unchanged. A new
  output cannot be left as it is: the length is clamped to 0 or to the size of the axis. Invalid
  offsets give a new output that is made of bytes of the input, in no useful order.
- The error is raised by the next call on the device that finds it reported, which does not run, and
  says that it is an earlier call's. Nothing waits for that. :func:`check` waits and raises it;
  :func:`set_blocking` makes calls raise their own errors.
- While a graph is being captured, calls do not look for errors. Replays report them as calls do.

Lengths on the CPU are checked before anything runs, and raise immediately; they cannot be part of a
graph. Results of JAX are clamped in the same way, and only :func:`check` reports their errors (see
:mod:`retrograde.jax`).

Calls run on the current stream of PyTorch, CuPy or a library that tells it through DLPack's C
interface, and are ordered with the streams of the other tensors' libraries. Others are asked to
order their work before the legacy default stream, and calls on their tensors wait until they are
complete.

Only NVIDIA's driver is needed. Without one, :func:`device_count` is 0.
"""

from . import _engine, _kinds

__all__ = ["check", "device_count", "is_available", "set_blocking"]


def device_count() -> int:
    """The number of CUDA devices; 0 without a driver."""
    return _engine.cuda_device_count()


def is_available() -> bool:
    """Whether there is a CUDA device."""
    return device_count() > 0


def check(x: object) -> None:
    """Waits for the calls on the current stream of ``x``'s device and library; for JAX, for ``x`` itself.

    Raises a ``ValueError`` that names the first invalid length since the last check, if there was
    one. For a tensor on the CPU there is nothing to wait for.
    """
    _kinds.check(x)


def set_blocking(blocking: bool) -> None:
    """Sets whether calls with lengths or offsets on a device wait for it, and so raise their own errors.

    For debugging: the errors name the operator and the index, and the traceback is that of the wrong
    call. It is on at first if the environment has ``CUDA_LAUNCH_BLOCKING=1``. Calls do not wait while a
    CUDA graph is being captured.
    """
    _engine.cuda_set_blocking(blocking)
