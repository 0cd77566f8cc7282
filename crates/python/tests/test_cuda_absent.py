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

    def __dlpack__(self, **_):
        raise RuntimeError("never lent")


def test_the_device_is_asked_before_the_data():
    with pytest.raises(RuntimeError, match="never lent"):
        retrograde.cuda.check(Elsewhere())
