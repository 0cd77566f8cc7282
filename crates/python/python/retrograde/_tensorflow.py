"""Tensors of TensorFlow: exchanged through DLPack; inside ``tf.function``, a ``tf.py_function``.

The gradient of a reversal is the same reversal; lengths have none. A tensor on a CUDA device is exported when it is
complete, and so is the result, which is in memory of the engine: TensorFlow cannot be asked for its stream.
"""

import numpy as np
import tensorflow as tf

from . import _engine, _names


def apply(name, x, arguments):
    """The operator of this name, its arguments in the engine's order, without ``out``."""
    x = tf.convert_to_tensor(x)
    arguments = [a.numpy() if isinstance(a, tf.Variable) or _is_eager(a) else a for a in arguments]
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return _run(name, x, arguments)

    @tf.custom_gradient
    def recorded(x):
        return _run(name, x, arguments), lambda gradient: apply(name, gradient, arguments)

    return recorded(x)


def flip(x, axes, swapped):
    """Swaps two axes if they are given, then reverses axes of the result."""
    x = tf.convert_to_tensor(x)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return _run("flip", x, (axes, swapped))

    @tf.custom_gradient
    def recorded(x):
        return _run("flip", x, (axes, swapped)), lambda gradient: flip(gradient, *_names.inverse(axes, swapped))

    return recorded(x)


def reverse_ragged(x, offsets, axis, out):
    """Reverses every row of a ragged tensor; the result has the same row splits."""
    if offsets is not None:
        raise TypeError("reverse_segments: offsets are given, but x has its own (it is a RaggedTensor)")
    if out is not None:
        raise TypeError("out is not supported: TensorFlow tensors are immutable")
    values, offsets, axis = segments_of(x, axis)
    return x.with_values(apply("reverse_segments", values, (offsets, axis)))


def segments_of(x, axis):
    """The values and row splits of a ragged tensor, and the axis of the values that the splits cut."""
    if x.ragged_rank != 1:
        raise TypeError(f"reverse_segments: x has ragged rank {x.ragged_rank}, expected 1 (reverse x.values instead)")
    if type(axis) is not int or axis != 0:
        raise ValueError(f"reverse_segments: axis is {axis!r}, expected 0: rows of a RaggedTensor are ragged on one axis")
    return x.values, x.row_splits, 0


def readable(x):
    """A tensor that the engine can read."""
    x = tf.convert_to_tensor(x)
    if not _is_eager(x):
        raise TypeError("x is a symbolic tensor of TensorFlow, whose layout is not known yet")
    return tf.experimental.dlpack.to_dlpack(x)


def _run(name, x, arguments):
    """Runs a function of the engine."""
    shape = tf.TensorShape(_names.shape_of(x.shape, arguments[1])) if name == "flip" else x.shape
    if not _is_eager(x) or any(tf.is_tensor(a) for a in arguments):
        return _later(name, x, arguments, shape)
    run = getattr(_engine, name)
    if x.dtype == tf.string:
        # A scalar string is bytes, not an array.
        return tf.constant(run(np.asarray(x.numpy(), object), *arguments), tf.string, shape)
    if x.dtype.is_quantized:
        return tf.bitcast(_run(name, tf.bitcast(x, _INTEGERS[x.dtype.size]), arguments), x.dtype)
    try:
        tensor = tf.experimental.dlpack.to_dlpack(x)
    except Exception:
        # A type that DLPack does not have, or that TensorFlow does not export.
        return tf.constant(run(x.numpy(), *arguments), x.dtype, shape)
    return tf.experimental.dlpack.from_dlpack(run(tensor, *arguments).__dlpack__())


def _later(name, x, arguments, shape):
    """Adds a node that calls Python when the graph runs."""
    places = [at for at, argument in enumerate(arguments) if tf.is_tensor(argument)]

    def call(x, *tensors):
        complete = list(arguments)
        for at, tensor in zip(places, tensors):
            complete[at] = tensor.numpy()
        return _run(name, x, complete)

    out = tf.py_function(call, [x, *(arguments[at] for at in places)], x.dtype)
    out.set_shape(shape)
    return out


def _is_eager(x):
    return tf.is_tensor(x) and not tf.is_symbolic_tensor(x)


_INTEGERS = {1: tf.int8, 2: tf.int16, 4: tf.int32}
