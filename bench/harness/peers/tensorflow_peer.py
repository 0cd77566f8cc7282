"""TensorFlow: `tf.reverse` and `tf.reverse_sequence`, eagerly. Its thread count is set once."""

import tensorflow as tf

from ..contestants import Unsupported, making

NAME = "tensorflow"


class Peer:
    name = NAME
    version = tf.__version__
    threads = "all"

    def contestants(self, job, threads):
        case = job.case
        if case.in_place:
            raise Unsupported("nothing works in place")
        if case.packed:
            raise Unsupported("no packed types")
        if case.fortran:
            raise Unsupported("dense inputs only")
        if case.operator == "subsequences":
            raise Unsupported("no length per lane")
        x = tf.constant(job.x)
        if case.operator == "reverse":
            axes = tf.constant(case.axes)
            yield making(NAME, lambda: tf.reverse(x, axes), lambda result: result.numpy())
            return
        time, batch = case.axes
        lengths = tf.constant(job.lengths)
        yield making(NAME, lambda: tf.reverse_sequence(x, lengths, time, batch), lambda result: result.numpy())
