"""Invalid calls raise a ValueError or a TypeError with the engine's text, and write nothing."""

from functools import partial

import naive
import numpy as np
import pytest
import retrograde
from numpy.lib.stride_tricks import as_strided

X = naive.filled((3, 4), "f8")


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: retrograde.reverse(X, 2), ValueError, "Reverse: axes[0] is 2, outside [-2, 1] for a tensor of rank 2"),
        (lambda: retrograde.reverse(X, [0, -3]), ValueError, "Reverse: axes[1] is -3, outside [-2, 1]"),
        (lambda: retrograde.reverse(X, 2**70), ValueError, "Reverse: axes[0] is 1180591620717411303424"),
        (lambda: retrograde.reverse(X, True), TypeError, "axes is True (bool), expected an integer"),
        (lambda: retrograde.reverse(X, [True, False]), TypeError, "axes[0] is True (bool), expected an integer"),
        (lambda: retrograde.reverse(X, np.array([True, False])), TypeError, "axes[0] is"),
        (lambda: retrograde.reverse(X, 1.0), TypeError, "axes is 1.0 (float), expected an integer"),
        (lambda: retrograde.reverse(X, "0"), TypeError, "axes[0] is '0' (str)"),
        (lambda: retrograde.reverse(X, np.array([0.0])), TypeError, "axes[0] is"),
        (lambda: retrograde.reverse(X, mask=[True]), ValueError, "the mask has 1 entry, expected 2"),
        (lambda: retrograde.reverse(X, mask=[1, 2]), ValueError, "Reverse: mask[1] is 2, expected a boolean, 0 or 1 (axes by number: axes=...)"),
        (lambda: retrograde.reverse(X, mask=np.array([-1, 0])), ValueError, "mask[0] is -1, expected a boolean, 0 or 1"),
        (lambda: retrograde.reverse(X, mask=[0, 2**70]), ValueError, "mask[1] is 1180591620717411303424, expected"),
        (lambda: retrograde.reverse(X, mask=[1.0, 0]), TypeError, "mask[0] is 1.0 (float), expected a boolean, 0 or 1"),
        (lambda: retrograde.reverse(X, mask=3), TypeError, "mask is 3 (int)"),
        (lambda: retrograde.reverse(X, mask=np.array([[True], [False]])), ValueError, "(ndarray), of rank 2, expected one boolean (or 0 or 1) per axis: rank 1"),
        (lambda: retrograde.reverse(X, mask=np.array([[True, False]])), ValueError, "Reverse: mask is array([[ True, False]]) (ndarray), of rank 2"),
        (lambda: retrograde.reverse(X, mask=np.array(True)), ValueError, "Reverse: mask is array(True) (ndarray), of rank 0"),
        (lambda: retrograde.reverse(X, mask=[[True, False]]), TypeError, "Reverse: mask[0] is [True, False] (list), expected a boolean, 0 or 1"),
        (lambda: retrograde.reverse(X, mask=[[True], [False]]), TypeError, "Reverse: mask[0] is [True] (list), expected a boolean"),
        (lambda: retrograde.reverse(X, mask=[np.array([True]), False]), TypeError, "Reverse: mask[0] is array([ True]) (ndarray), expected a boolean"),
        (lambda: retrograde.reverse(X, [0, 0], duplicates="error"), ValueError, "Reverse: axes[1] is 0, the same axis as axes[0], expected distinct axes"),
        (lambda: retrograde.reverse(X, (1, 0, -1), duplicates="error"), ValueError, "Reverse: axes[2] is -1, the same axis as axes[0]"),
        (lambda: retrograde.reverse(X, np.array([1, 0, 1]), duplicates="error"), ValueError, "axes[2] is 1, the same axis as axes[0]"),
        (lambda: retrograde.reverse(X, [0, 5], duplicates="error"), ValueError, "axes[1] is 5, outside [-2, 1]"),
        (lambda: retrograde.reverse(np.float64(1), [0, 0], duplicates="error"), ValueError, "a scalar (rank 0) has no axes"),
        (lambda: retrograde.reverse(X, 0, duplicates="once"), ValueError, 'Reverse: duplicates "once" does not exist, expected "set" or "error"'),
        (lambda: retrograde.reverse(X, 0, mask=[True, False]), ValueError, "axes and mask are both given"),
        (lambda: retrograde.reverse(np.float64(1), 0), ValueError, "a scalar (rank 0) has no axes"),
        (lambda: retrograde.reverse(None), TypeError, "x is of type NoneType"),
        (lambda: retrograde.reverse(object()), TypeError, "x is of type object"),
        (lambda: retrograde.reverse_sequence(X, [1, 2, 3]), ValueError, "lengths have shape [3], expected [4]"),
        (lambda: retrograde.reverse_sequence(X, [[1], [2], [3], [0]]), ValueError, "lengths have shape [4, 1], expected [4]"),
        (lambda: retrograde.reverse_sequence(X, [1, 2, 3, 4]), ValueError, "ReverseSequence: lengths[3] is 4, outside [0, 3]"),
        (lambda: retrograde.reverse_sequence(X, [1, -2, 3, 0]), ValueError, "lengths[1] is -2, outside [0, 3]"),
        (lambda: retrograde.reverse_sequence(X, [1, -2, 3, 0], policy="clamp"), ValueError, "lengths[1] is -2"),
        (lambda: retrograde.reverse_sequence(X, np.array([2**64 - 1] * 4, "u8")), ValueError, "is 18446744073709551615, outside"),
        (lambda: retrograde.reverse_sequence(X, np.array([-(2**63)] * 4)), ValueError, "is -9223372036854775808, outside"),
        (lambda: retrograde.reverse_sequence(X, [1.0, 2.0, 3.0, 0.0]), TypeError, "lengths have type float64, expected an integer type"),
        (lambda: retrograde.reverse_sequence(X, [True] * 4), ValueError, "lengths is a mask of shape [4] without steps"),
        (lambda: retrograde.reverse_sequence(X, ["1"] * 4), TypeError, "lengths have type <U1"),
        (lambda: retrograde.reverse_sequence(X, None), TypeError, "lengths have type object"),
        (lambda: retrograde.reverse_sequence(X, 3), ValueError, "lengths have shape []"),
        (lambda: retrograde.reverse_sequence(X, [0] * 4, time_axis=1), ValueError, "both 1, they must differ"),
        (lambda: retrograde.reverse_sequence(X, [0] * 4, time_axis=2), ValueError, "time_axis is 2, outside [-2, 1]"),
        (lambda: retrograde.reverse_sequence(X, [0] * 4, batch_axis=0.5), TypeError, "batch_axis is 0.5 (float), expected an integer"),
        (lambda: retrograde.reverse_sequence(X, [0] * 4, batch_axis=True), TypeError, "batch_axis is True (bool)"),
        (lambda: retrograde.reverse_sequence(X[0], [0] * 4), ValueError, "rank 1, expected at least 2"),
        (lambda: retrograde.reverse_sequence(X, [0] * 4, policy="loose"), ValueError, 'policy "loose" does not exist, expected "strict" or "clamp"'),
        (lambda: retrograde.reverse_subsequences(X, [[0] * 4], axis=2), ValueError, "axis is 2, outside [-2, 1]"),
        (lambda: retrograde.reverse_subsequences(X, [0] * 3, axis=0), ValueError, "lengths have shape [3], expected [1, 4] or [4]"),
        (lambda: retrograde.reverse_subsequences(np.zeros((2, 3, 4, 5)), np.zeros(40, int), axis=1), ValueError, "lengths have shape [40], expected [2, 1, 4, 5] or [2, 4, 5]"),
        (lambda: retrograde.reverse_subsequences(np.zeros((2, 3)), [[1, 2]], axis=1), ValueError, "lengths have shape [1, 2], expected [2, 1] or [2]"),
        (lambda: retrograde.reverse_subsequences(X, 1, axis=0), ValueError, "lengths have shape [], expected [1, 4] or [4]"),
        (lambda: retrograde.reverse_subsequences(X, [-1] * 4, axis=0), ValueError, "lengths[0, 0] is -1"),
    ],
)  # fmt: skip
def test_arguments(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert text in str(raised.value)


def refused(out, error, text, x=X, **arguments):
    """Asserts that the call is refused and the output unchanged."""
    before = naive.bits(out)
    with pytest.raises(error) as raised:
        retrograde.reverse(x, out=out, **arguments)
    assert text in str(raised.value)
    assert naive.bits(out) == before


@pytest.mark.parametrize(
    "out, error, text",
    [
        (np.zeros((3, 5)), ValueError, "output has shape [3, 5], expected the input's shape [3, 4]"),
        (np.zeros((3, 4), "f4"), TypeError, "out has dtype float32, expected the input's dtype float64"),
        (np.zeros((3, 4), ">f8"), TypeError, "out has dtype >f8, expected the input's dtype float64"),
        (np.broadcast_to(np.zeros(4), (3, 4)), ValueError, "out is read-only"),
        (as_strided(np.zeros(4), (3, 4), (0, 8)), ValueError, "two elements on the same memory"),
    ],
)
def test_outputs(out, error, text):
    refused(out, error, text)


@pytest.mark.parametrize("out", [[[0.0] * 4] * 3, "out", 3])
def test_outputs_that_are_no_arrays(out):
    with pytest.raises(TypeError, match="expected an array or a tensor"):
        retrograde.reverse(X, out=out)


def test_read_only():
    x = X.copy()
    x.flags.writeable = False
    assert naive.bits(retrograde.reverse(x, 0)) == naive.bits(X[::-1])
    refused(x, ValueError, "out is read-only", x=x)
    objects = np.array([1, 2, 3], object)
    objects.flags.writeable = False
    refused(objects, ValueError, "out is read-only", x=objects)


def test_overlaps():
    memory = np.arange(20.0)
    refused(memory[1:11], ValueError, "overlap", x=memory[:10])
    # Backwards over the same memory: every element is already in its place.
    assert retrograde.reverse(memory[:10], out=memory[9::-1]).tolist() == memory[9::-1].tolist()
    assert memory.tolist() == list(range(20))
    objects = np.arange(20).astype(object)
    refused(objects[1:11], ValueError, "overlap", x=objects[:10])
    # Lengths are copied first, so an output may overlap them.
    x = np.array([[1, 2], [3, 4], [2, 1]])
    retrograde.reverse_sequence(x, x[2], out=x)
    assert x.tolist() == [[3, 2], [1, 4], [2, 1]]


def test_nothing_is_written_when_lengths_are_wrong():
    for dtype in ("f4", object, *naive.STRINGS):
        x, out = naive.filled((3, 2), dtype), naive.filled((3, 2), dtype, seed=1)
        before = naive.bits(out), naive.bits(x)
        for target in (out, x):
            with pytest.raises(ValueError, match=r"lengths\[1\] is 4"):
                retrograde.reverse_sequence(x, [3, 4], out=target)
        assert (naive.bits(out), naive.bits(x)) == before


def test_huge_strides():
    one = np.zeros(1)
    with pytest.raises((ValueError, MemoryError)):
        retrograde.reverse(as_strided(one, (1 << 60,), (0,)))
    with pytest.raises((ValueError, MemoryError)):
        retrograde.reverse(as_strided(one, (1 << 31, 1 << 31), (0, 0)))
    # Strides that are never used may have any value.
    wide = as_strided(one, (1, 1), (2**63 - 1, -(2**63)))
    assert retrograde.reverse(wide).tolist() == [[0.0]]
    empty = as_strided(one, (0, 5), (2**62, 2**62))
    assert retrograde.reverse(empty).shape == (0, 5)
    with pytest.raises(ValueError, match="stride"):
        retrograde.reverse(as_strided(one, (3, 3), (2**62, 8)), out=np.zeros((3, 3)))


def test_zero_width_elements():
    x = np.zeros(5, "V0")
    assert retrograde.reverse(x).shape == (5,)
    text = np.zeros((2, 3), "U0")
    assert retrograde.reverse(text, 0).shape == (2, 3)


def test_settings():
    config = retrograde.config
    known = '"read-soon", "read-later" or None'
    for error, text, arguments in [
        (ValueError, f'config.hint is "soon", expected {known}', {"hint": "soon"}),
        (ValueError, "config.kept_memory is -1, expected 0 or more", {"kept_memory": -1}),
        (TypeError, "config.kept_memory is 1.5, expected a number of bytes or None", {"kept_memory": 1.5}),
    ]:
        with pytest.raises(error) as raised:
            config(**arguments)
        assert str(raised.value) == text
        ((name, value),) = arguments.items()
        with pytest.raises(error) as raised:
            setattr(config, name, value)
        assert str(raised.value) == text
        assert (config.hint, config.kept_memory) == (None, None)
    with pytest.raises(TypeError, match="kept"):
        config(kept=1)
    with pytest.raises(AttributeError):
        config.hints = "read-soon"
    with pytest.raises(AttributeError):
        config.kept_now = 0


SIX_BY_FOUR = np.zeros((4, 6))


def test_lengths_of_another_size_name_the_axes():
    lengths = [1, 2, 3, 4]
    for arguments, axes, meant in [
        ({}, "[6]: axis 1 (batch_axis) has size 6, axis 0 (time_axis) has size 4", "batch_first=True (time_axis=1, batch_axis=0)"),
        ({"batch_first": False}, "[6]: axis 1 (batch_axis) has size 6, axis 0 (time_axis) has size 4", "batch_first=True (time_axis=1, batch_axis=0)"),
        ({"time_axis": -2, "batch_axis": -1}, "[6]: axis 1 (batch_axis) has size 6, axis 0 (time_axis) has size 4", "batch_first=True (time_axis=1, batch_axis=0)"),
    ]:  # fmt: skip
        for call in (
            retrograde.reverse_sequence,
            partial(retrograde.show, retrograde.reverse_sequence),
            partial(retrograde.prepare, retrograde.reverse_sequence),
        ):
            with pytest.raises(ValueError) as raised:
                call(SIX_BY_FOUR, lengths, **arguments)
            text = f"ReverseSequence: lengths have shape [4], expected {axes}: did you mean {meant}?"
            assert str(raised.value) == text
    for x, lengths, arguments, text in [
        (SIX_BY_FOUR, [1] * 6, {"batch_first": True}, "axis 1 (time_axis) has size 6: did you mean batch_first=False (time_axis=0, batch_axis=1)?"),
        (np.zeros((2, 4, 6)), [1] * 6, {"time_axis": 2, "batch_axis": 1}, "axis 2 (time_axis) has size 6: did you mean time_axis=1, batch_axis=2?"),
        # The size of neither: nothing was swapped.
        (SIX_BY_FOUR, [1] * 5, {}, "axis 0 (time_axis) has size 4"),
    ]:  # fmt: skip
        with pytest.raises(ValueError) as raised:
            retrograde.reverse_sequence(x, lengths, **arguments)
        assert str(raised.value).endswith(text)
