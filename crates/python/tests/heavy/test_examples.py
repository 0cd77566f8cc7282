"""The examples that need PyTorch or TensorFlow, and pictures of their tensors."""

import numpy as np
import retrograde
from test_scripts import printed


def test_bidirectional_rnn():
    output = printed("bidirectional_rnn.py")
    assert "outputs of 12 steps" in output and "one training step: loss" in output


def test_from_tensorflow():
    output = printed("from_tensorflow.py")
    assert output.count("as plain loops, and TensorFlow") == 4
    assert "a tensor of TensorFlow gives a tensor of TensorFlow" in output


ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)
PICTURE = retrograde.show("reverse_sequence", ARRAY, [2, 1, 0])


def test_pictures_of_torch():
    import torch

    x = torch.from_numpy(ARRAY).clone().requires_grad_()
    assert str(retrograde.show("reverse_sequence", x, torch.tensor([2, 1, 0]))) == str(PICTURE)
    for dtype in (torch.bfloat16, torch.float8_e4m3fn):
        text = str(retrograde.show("reverse_sequence", x.to(dtype), [2, 1, 0]))
        assert text == str(PICTURE).replace("float32", str(dtype).removeprefix("torch."))
    conjugate = torch.tensor([1 + 2j, 3 - 4j]).conj()
    assert "1-2j  3+4j" in str(retrograde.show("reverse", conjugate))


def test_pictures_of_tensorflow():
    import tensorflow as tf

    x = tf.constant(ARRAY)
    assert str(retrograde.show("reverse_sequence", x, tf.constant([2, 1, 0]))) == str(PICTURE)
    text = str(retrograde.show("reverse", tf.constant(["a", "b"])))
    assert "string [2]" in text and "b'a'  b'b'" in text
    bfloat = str(retrograde.show("reverse_sequence", tf.cast(x, tf.bfloat16), [2, 1, 0]))
    assert bfloat == str(PICTURE).replace("float32", "bfloat16")
