"""TensorFlow: `tf.reverse` and `tf.reverse_sequence`, eagerly. Its thread count is set once."""

import tensorflow as tf

from ..contestants import making, supported

NAME = "tensorflow"


class Peer:
    name = NAME
    version = tf.__version__
    threads = "all"

    def contestants(self, job, threads):
        case = job.case
        supported(case, lanes=False)
        x = tf.constant(job.x)
        if case.operator == "reverse":
            axes = tf.constant(case.axes)
            yield making(NAME, lambda: tf.reverse(x, axes), lambda result: result.numpy())
            return
        time, batch = case.axes
        lengths = tf.constant(job.lengths)
        yield making(NAME, lambda: tf.reverse_sequence(x, lengths, time, batch), lambda result: result.numpy())
