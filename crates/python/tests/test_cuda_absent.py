"""Behaviour without CUDA, as on most machines that run the tests."""

import numpy as np
import pytest
import retrograde.cuda


def test_no_device():
    count = retrograde.cuda.device_count()
    assert isinstance(count, int) and retrograde.cuda.is_available() == (count > 0)
    # For a tensor on the CPU there is nothing to wait for.
    retrograde.cuda.check(np.zeros(3))


class Elsewhere:
    """Claims to be on a CUDA device, as a library's tensor would."""

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **asked):
        self.asked = asked
        raise RuntimeError("never lent")


class ElsewhereBefore(Elsewhere):
    """The same, of a library that predates versions of DLPack."""

    def __dlpack__(self, stream=None):
        return super().__dlpack__(stream=stream)


@pytest.mark.parametrize("kind", [Elsewhere, ElsewhereBefore])
def test_the_device_is_asked_before_the_data(kind):
    x = kind()
    with pytest.raises(RuntimeError, match="never lent"):
        retrograde.cuda.check(x)
    # Its stream is not known, so its work has to come before that of the legacy default stream.
    assert x.asked["stream"] == 1
    with pytest.raises(RuntimeError, match="never lent"):
        retrograde.reverse_sequence(np.zeros((3, 3)), x)


class LettersElsewhere(Elsewhere):
    """The same of letters."""

    dtype, shape = np.dtype(np.uint8), (4,)

    def __array_namespace__(self):
        return np

    def __array__(self, *arguments, **keywords):
        raise AssertionError("copied to the CPU")


@pytest.mark.parametrize("given", [{}, {"lengths": 3}, {"offsets": [0, 4], "where": [True]}], ids=str)
def test_letters_stay_on_their_device(given):
    with pytest.raises(RuntimeError, match="never lent"):
        retrograde.reverse_complement(LettersElsewhere(), **given)


class Scattered:
    """Letters in several memories, which can only be gathered."""

    def __array_namespace__(self):
        return np

    def __dlpack_device__(self):
        raise BufferError("in several memories")

    def __array__(self, *arguments, **keywords):
        return np.frombuffer(b"GATTACA", np.uint8)


def test_letters_in_several_memories_are_gathered():
    assert retrograde.reverse_complement(Scattered()).tobytes() == b"TGTAATC"


def test_blocking_can_be_set():
    try:
        retrograde.cuda.set_blocking(True)
        assert (retrograde.reverse_sequence(np.arange(4).reshape(2, 2), [2, 1]) == [[2, 1], [0, 3]]).all()
    finally:
        retrograde.cuda.set_blocking(False)
    with pytest.raises(TypeError):
        retrograde.cuda.set_blocking("on")
