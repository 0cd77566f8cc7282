"""Artificial DLPack producers: of the protocol before 1.0, and broken ones."""

import numpy as np
import pytest
import retrograde
from foreign import Foreign


class Old(Foreign):
    """An array whose ``__dlpack__`` takes only ``stream``, as before DLPack 1.0."""

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__(stream=stream)


class Bare(Old):
    """Without any keyword."""

    def __dlpack__(self):
        return self.array.__dlpack__()


class Wrapper(Old):
    """Its method takes every keyword; the function that it calls does not."""

    def __dlpack__(self, **keywords):
        return Old(self.array).__dlpack__(**keywords)


X = np.arange(12.0).reshape(3, 4)
LENGTHS = np.array([3, 0, 2, 1])


@pytest.mark.parametrize("kind", [Old, Bare, Wrapper])
def test_producers_without_max_version(kind):
    assert np.array_equal(np.from_dlpack(kind(X)), X)
    assert np.array_equal(retrograde.reverse(kind(X), 1), X[:, ::-1])
    expected = retrograde.reverse_sequence(X, LENGTHS)
    assert np.array_equal(retrograde.reverse_sequence(X, kind(LENGTHS)), expected)
    assert np.array_equal(retrograde.reverse_sequence(kind(X), kind(LENGTHS)), expected)
    lanes = retrograde.reverse_subsequences(kind(X), kind(LENGTHS), axis=0)
    assert np.array_equal(lanes, expected)

    out = kind(np.zeros_like(X))
    assert retrograde.reverse_sequence(kind(X), kind(LENGTHS), out=out) is out
    assert np.array_equal(out.array, expected)
    x = kind(X.copy())
    assert retrograde.reverse(x, 0, out=x) is x
    assert np.array_equal(x.array, X[::-1])


def test_an_old_producer_refuses_what_it_cannot_say():
    """Before DLPack 1.0 there was no read-only flag, so NumPy refuses to export such memory."""
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(BufferError, match="readonly"):
        retrograde.reverse(Old(X), out=Old(x))


class Broken(Old):
    """Takes every keyword, and fails inside."""

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        raise TypeError("no lending on Sundays")


class OldAndBroken(Old):
    def __dlpack__(self, *, stream=None):
        raise TypeError("no lending on Sundays")


class BrokenAlike(Old):
    error = TypeError("no lending on Sundays")

    def __dlpack__(self, **keywords):
        raise self.error


class BrokenOtherwise(Old):
    def __dlpack__(self, *, stream=None):
        raise BufferError("no lending on Sundays")


@pytest.mark.parametrize(
    "kind, error",
    [(Broken, TypeError), (OldAndBroken, TypeError), (BrokenAlike, TypeError), (BrokenOtherwise, BufferError)],
)
def test_what_is_wrong_inside_a_producer_is_told(kind, error):
    out = np.zeros_like(X)
    for call in (
        lambda: retrograde.reverse(kind(X)),
        lambda: retrograde.reverse_sequence(X, kind(LENGTHS), out=out),
        lambda: retrograde.reverse(Old(X), out=kind(out)),
    ):
        with pytest.raises(error, match="^no lending on Sundays$") as raised:
            call()
        context = raised.value.__context__
        assert context is None if kind is BrokenAlike else isinstance(context, TypeError)
    assert not out.any()


def test_other_errors_are_raised_at_once():
    calls = []

    class Refusing(Old):
        def __dlpack__(self, **keywords):
            calls.append(keywords)
            raise BufferError("not now")

    with pytest.raises(BufferError, match="^not now$"):
        retrograde.reverse(Refusing(X))
    assert len(calls) == 1


def test_an_old_producer_on_another_device_than_it_says():
    class Elsewhere(Old):
        def __dlpack_device__(self):
            return (1, 5)

    with pytest.raises(ValueError, match="__dlpack_device__ says 1:5, but __dlpack__ gave a tensor on 1:0"):
        retrograde.reverse(Elsewhere(X))
