"""Adapter for TensorFlow on the CPU: ReverseV2 and ReverseSequence."""

from protocol import Unsupported, WIDTHS, from_numpy, serve


def start():
    import os

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import numpy as np
    import tensorflow as tf

    def tensor(value):
        if value.dtype == "string":
            texts = np.empty(len(value.data), object)
            texts[:] = value.data
            return tf.constant(texts.reshape(value.shape), tf.string)
        if WIDTHS[value.dtype] < 8:
            raise Unsupported(f"TensorFlow does not pack {value.dtype}")
        array = value.numpy()
        try:
            dtype = tf.dtypes.as_dtype(array.dtype)
        except TypeError as error:
            raise Unsupported(f"TensorFlow has no {value.dtype}") from error
        return tf.constant(array, dtype)

    def run(call):
        x, argument = tensor(call.input), tensor(call.argument)
        if call.operator == "Flip":
            y = tf.raw_ops.ReverseV2(tensor=x, axis=argument)
        else:
            axes = call.attributes
            y = tf.raw_ops.ReverseSequence(
                input=x, seq_lengths=argument, seq_dim=axes["time_axis"], batch_dim=axes["batch_axis"]
            )
        return from_numpy(y.numpy(), call.input.dtype)

    return tf.__version__, run


if __name__ == "__main__":
    serve("tensorflow", ["Flip", "ReverseSequenceAnyAxes"], start, "pip install tensorflow-cpu")
