"""Replacing `tf.reverse_sequence` and `tf.reverse`: the same calls, side by side.

Runs without TensorFlow too: then the results are compared with plain loops only.
"""

import numpy as np
import retrograde

try:
    import tensorflow as tf
except ImportError:
    tf = None


def in_plain_loops(x, lengths, seq_axis, batch_axis):
    y = x.copy()
    for b, length in enumerate(lengths):
        # Views on the b-th sequence with its steps first.
        source = np.moveaxis(x, (batch_axis, seq_axis), (0, 1))[b]
        target = np.moveaxis(y, (batch_axis, seq_axis), (0, 1))[b]
        target[:length] = source[:length][::-1]
    return y


def check(name, ours, plain, theirs):
    assert np.array_equal(ours, plain), name
    beside = "tensorflow is not installed"
    if theirs is not None:
        assert np.array_equal(ours, np.asarray(theirs)), name
        beside = "and TensorFlow"
    print(f"{name:50} as plain loops, {beside}")


def main():
    rng = np.random.default_rng(1)
    lengths = np.array([7, 2, 3, 5])
    x = rng.integers(100, size=(4, 8, 3))

    # tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)
    y = retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)
    print(
        retrograde.show(retrograde.reverse_sequence, x[..., 0], lengths, time_axis=1, batch_axis=0),
        end="\n\n",
    )
    theirs = tf and tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)
    check("seq_axis=1, batch_axis=0", y, in_plain_loops(x, lengths, 1, 0), theirs)

    # Time first, as ONNX has it: tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
    first = np.ascontiguousarray(x.swapaxes(0, 1))
    y = retrograde.reverse_sequence(first, lengths)
    theirs = tf and tf.reverse_sequence(first, lengths, seq_axis=0, batch_axis=1)
    check("seq_axis=0, batch_axis=1 (the default here)", y, in_plain_loops(first, lengths, 0, 1), theirs)

    # Any two axes; here negative ones are allowed too.
    last = np.moveaxis(x, 1, 2).copy()
    y = retrograde.reverse_sequence(last, lengths, time_axis=-1, batch_axis=0)
    theirs = tf and tf.reverse_sequence(last, lengths, seq_axis=2, batch_axis=0)
    check("seq_axis=2, batch_axis=0", y, in_plain_loops(last, lengths, 2, 0), theirs)

    # tf.reverse(x, axis=[1, 2])
    y = retrograde.reverse(x, axes=[1, 2])
    check("tf.reverse(x, axis=[1, 2])", y, x[:, ::-1, ::-1], tf and tf.reverse(x, axis=[1, 2]))

    # Both refuse a length that is longer than the axis; asking to clamp it is possible here.
    try:
        retrograde.reverse_sequence(x, [9, 2, 3, 5], time_axis=1, batch_axis=0)
    except ValueError as error:
        print(f"\na length of 9 among 8 steps: {error}")
    else:
        raise AssertionError("it was accepted")
    y = retrograde.reverse_sequence(x, [9, 2, 3, 5], time_axis=1, batch_axis=0, policy="clamp")
    assert np.array_equal(y, in_plain_loops(x, [8, 2, 3, 5], 1, 0))

    # In place, which TensorFlow's tensors do not know.
    expected = in_plain_loops(x, lengths, 1, 0)
    assert retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0, out=x) is x
    assert np.array_equal(x, expected)

    if tf:
        # Tensors of TensorFlow can stay what they are.
        tensor = tf.constant(first)
        y = retrograde.reverse_sequence(tensor, tf.constant(lengths))
        assert isinstance(y, tf.Tensor)
        assert np.array_equal(y.numpy(), in_plain_loops(first, lengths, 0, 1))
        print("a tensor of TensorFlow gives a tensor of TensorFlow")


if __name__ == "__main__":
    main()
