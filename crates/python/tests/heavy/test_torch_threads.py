"""Large calls beside PyTorch's OpenMP threads: right, also in threads, in forked children and inside its settings."""

import os
import threading

import deadline
import numpy as np
import pytest

import retrograde

torch = pytest.importorskip("torch")

SHAPE = (4096, 513)


def reversed_right(rounds=20):
    """Calls that follow each other, in turns with PyTorch's: the second and later ones run on its threads."""
    x = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)
    tensor, expected, out = torch.from_numpy(x), x[:, ::-1], np.empty_like(x)
    for index in range(rounds):
        if index % 3 == 0:
            assert torch.equal(tensor.flip(1), torch.from_numpy(expected.copy()))
        assert np.array_equal(retrograde.reverse(x, 1), expected)
        out[:] = 0
        assert np.array_equal(retrograde.reverse(x, 1, out=out), expected)
        lengths = np.full(SHAPE[0], SHAPE[1] - index)
        got = retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)
        assert np.array_equal(got[:, : SHAPE[1] - index], x[:, : SHAPE[1] - index][:, ::-1])
    return True


def test_in_turns_with_pytorch():
    assert reversed_right()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_with_other_numbers_of_threads(threads):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        assert reversed_right()
    finally:
        torch.set_num_threads(before)


def test_with_a_number_of_our_own():
    try:
        retrograde.set_num_threads(3)
        assert retrograde.get_num_threads() == 3
        assert reversed_right(5)
    finally:
        retrograde.set_num_threads(None)


def test_on_other_threads_at_once():
    right = []
    threads = [threading.Thread(target=lambda: right.append(reversed_right(6))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert reversed_right(6)
    for thread in threads:
        thread.join()
    assert right == [True] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_in_a_forked_child():
    """OpenMP's threads do not exist there; a region would wait for them for ever."""
    assert reversed_right(3)
    child = os.fork()
    if child == 0:
        x = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
        right = all(np.array_equal(retrograde.reverse(x, 1), x[:, ::-1]) for _ in range(10))
        os._exit(0 if right else 1)
    assert deadline.wait(child) == 0
