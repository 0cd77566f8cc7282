"""Boolean masks of kept steps in place of lengths: every face counts them alike, and errors name the row."""

import importlib

import numpy as np
import pytest
import retrograde

X = np.arange(24).reshape(4, 6)
LENGTHS = np.array([6, 0, 3, 1])
MASK = np.arange(6) < LENGTHS[:, None]


def module_of(name):
    pytest.importorskip(name.partition(".")[2] or "numpy")
    return importlib.import_module(name)


@pytest.fixture(params=["retrograde", "retrograde.jax", "retrograde.dask", "retrograde.torch"])
def face(request):
    """A module, and how to make one of its tensors."""
    module = module_of(request.param)
    if request.param == "retrograde.torch":
        import torch

        return module, torch.from_numpy
    if request.param == "retrograde.dask":
        import dask.array as da

        return module, lambda x: da.from_array(x, chunks=(2, 4))
    return module, lambda x: x


@pytest.mark.parametrize("mask", [MASK, MASK.tolist(), np.asfortranarray(MASK), MASK[:, ::-1][:, ::-1]], ids=["array", "list", "columns", "view"])
def test_a_mask_is_its_lengths(face, mask):
    module, tensor = face
    x = tensor(X)
    for arguments in ({}, {"tail": "zero"}, {"policy": "clamp"}):
        wanted = retrograde.reverse_sequence(X, LENGTHS, batch_first=True, **arguments)
        got = module.reverse_sequence(x, mask, batch_first=True, **arguments)
        np.testing.assert_array_equal(np.asarray(got), wanted)
    ends = np.asarray(mask)[:, ::-1]
    wanted = retrograde.reverse_sequence(X, LENGTHS, batch_first=True, align="end")
    np.testing.assert_array_equal(np.asarray(module.reverse_sequence(x, ends, batch_first=True, align="end")), wanted)
    # A row for each sequence, also if time comes first.
    wanted = retrograde.reverse_sequence(X.T.copy(), LENGTHS)
    np.testing.assert_array_equal(np.asarray(module.reverse_sequence(tensor(X.T.copy()), mask)), wanted)


def test_a_mask_of_lanes_has_the_shape_of_the_tensor(face):
    module, tensor = face
    for axis in (0, 1, -1):
        mask = MASK if axis else np.arange(4)[:, None] < np.arange(6) % 5
        lengths = mask.sum(axis)
        wanted = retrograde.reverse_subsequences(X, lengths, axis=axis)
        np.testing.assert_array_equal(np.asarray(module.reverse_subsequences(tensor(X), mask, axis=axis)), wanted)


@pytest.mark.parametrize("as_tensor", [False, True])
def test_errors_name_the_row(face, as_tensor):
    module, tensor = face
    given = tensor if as_tensor and not module.__name__.endswith("dask") else np.asarray
    hole = MASK.copy()
    hole[2, 4] = True
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[2, :\] keeps step 4 and not step 3, expected a row of the mask to keep its first steps only \(with align=\"end\""):
        module.reverse_sequence(tensor(X), given(hole), batch_first=True)
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[2, :\] keeps step 2 and not step 5, expected a row of the mask to keep its last steps only"):
        module.reverse_sequence(tensor(X), given(MASK), batch_first=True, align="end")
    with pytest.raises(ValueError, match=r"^ReverseSubsequences: lengths\[:, 0\] keeps step 2 and not step 1"):
        module.reverse_subsequences(tensor(X), given(hole), axis=0)
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths is a mask of shape \[6, 4\], expected \[4, 6\] \(batch axis 0, time axis 1\): did you mean the mask's transpose\?$"):
        module.reverse_sequence(tensor(X), given(np.ones((6, 4), bool)), batch_first=True)
    with pytest.raises(ValueError, match=r"^ReverseSubsequences: lengths is a mask of shape \[4, 5\], expected \[4, 6\] \(the shape of x\)$"):
        module.reverse_subsequences(tensor(X), given(np.ones((4, 5), bool)), axis=1)
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths is a mask of shape \[4\] without steps, expected them along axis 1$"):
        module.reverse_sequence(tensor(X), given(np.ones(4, bool)), batch_first=True)
    # Masks of tokenizers are integers.
    with pytest.raises(ValueError, match=r"a mask of kept steps is boolean, as mask != 0 is$"):
        module.reverse_sequence(tensor(X), given(MASK.astype(np.int64)), batch_first=True)
    with pytest.raises(TypeError, match="offsets have type bool, expected an integer type"):
        module.reverse_segments(tensor(X), given(np.array([False, True])))


def test_a_plan_that_is_cached_for_lengths_does_not_hide_a_wrong_mask():
    retrograde.reverse_sequence(X, LENGTHS, batch_first=True)
    with pytest.raises(ValueError, match=r"lengths is a mask of shape \[4, 3\], expected \[4, 6\]"):
        retrograde.reverse_sequence(X, MASK[:, :3], batch_first=True)


def test_prepared_calls_plans_and_pictures():
    prepared = retrograde.prepare("reverse_sequence", X, MASK, batch_first=True)
    wanted = retrograde.reverse_sequence(X, LENGTHS, batch_first=True)
    for _ in range(3):
        np.testing.assert_array_equal(prepared(X), wanted)
        np.testing.assert_array_equal(prepared(X, MASK), wanted)
    np.testing.assert_array_equal(prepared(X, LENGTHS[::-1]), retrograde.reverse_sequence(X, LENGTHS[::-1], batch_first=True))
    with pytest.raises(ValueError, match=r"lengths is a mask of shape \[4, 3\]"):
        prepared(X, MASK[:, :3])
    for function in (retrograde.explain, retrograde.show):
        for name, more in (("reverse_sequence", {"batch_first": True}), ("reverse_subsequences", {"axis": 1})):
            assert str(function(name, X, MASK, **more)) == str(function(name, X, LENGTHS, **more))


def test_masked_lengths_and_masks():
    """What is masked in a masked array has no value, boolean or not."""
    hidden = np.ma.masked_array(MASK, mask=np.zeros_like(MASK))
    wanted = retrograde.reverse_sequence(X, LENGTHS, batch_first=True)
    np.testing.assert_array_equal(retrograde.reverse_sequence(X, hidden, batch_first=True), wanted)
    hidden[1, 2] = np.ma.masked
    with pytest.raises(ValueError, match=r"lengths\[1, 2\] is masked"):
        retrograde.reverse_sequence(X, hidden, batch_first=True)


def test_large_masks_and_objects():
    lengths = np.random.default_rng(0).integers(0, 3001, 700)
    mask = np.arange(3000) < lengths[:, None]
    x = np.arange(700 * 3000, dtype=np.int32).reshape(700, 3000)
    wanted = retrograde.reverse_sequence(x, lengths, batch_first=True)
    np.testing.assert_array_equal(retrograde.reverse_sequence(x, mask, batch_first=True), wanted)
    objects = X.astype(object)
    wanted = retrograde.reverse_sequence(objects, LENGTHS, batch_first=True)
    np.testing.assert_array_equal(retrograde.reverse_sequence(objects, MASK, batch_first=True), wanted)
    empty = np.zeros((0, 6))
    assert retrograde.reverse_sequence(empty, np.zeros((0, 6), bool), batch_first=True).shape == (0, 6)


def test_masks_that_are_not_known_yet():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"lengths is a mask whose values are not known yet, .*mask.sum"):
        jax.jit(lambda x, mask: module_of("retrograde.jax").reverse_sequence(x, mask, batch_first=True))(X, MASK)
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"lengths is a mask that is not computed yet, .*mask.sum"):
        module_of("retrograde.dask").reverse_sequence(da.from_array(X), da.from_array(MASK), batch_first=True)


def test_masks_with_labels():
    xr = pytest.importorskip("xarray")
    module_of("retrograde.xarray")
    x = xr.DataArray(X, {"who": list("abcd")}, ("who", "time"))
    mask = xr.DataArray(MASK[::-1], {"who": list("dcba")}, ("who", "time"))
    wanted = retrograde.reverse_sequence(X, LENGTHS, batch_first=True)
    for order in (("who", "time"), ("time", "who")):
        np.testing.assert_array_equal(x.retrograde.reverse_sequence("time", mask.transpose(*order)).values, wanted)
        np.testing.assert_array_equal(x.retrograde.reverse_subsequences("time", mask.transpose(*order)).values, wanted)
    with pytest.raises(ValueError, match="lengths is a mask without the dimension 'time'"):
        x.retrograde.reverse_subsequences("time", mask[:, 0].drop_vars("who"))
