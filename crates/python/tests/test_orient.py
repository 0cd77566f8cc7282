"""``orient``: the eight orientations against their definitions, and against NumPy, Pillow and nibabel."""

import itertools

import numpy as np
import pytest
import retrograde

NAMES = ("identity", "fliplr", "rot180", "flipud", "transpose", "rot270", "transverse", "rot90")
TYPES = ("u1", "<u2", ">i4", "f8", "c16", "S3", "O", "f4,u1")


def upright(x, number, axes=(0, 1)):
    """What EXIF says, element by element."""
    x = np.moveaxis(x, axes, (0, 1))
    (height, width), turns = x.shape[:2], number >= 5
    out = np.empty((width, height) + x.shape[2:] if turns else x.shape, x.dtype)
    for row, column in itertools.product(range(out.shape[0]), range(out.shape[1])):
        source = {
            1: (row, column),
            2: (row, width - 1 - column),
            3: (height - 1 - row, width - 1 - column),
            4: (height - 1 - row, column),
            5: (column, row),
            6: (height - 1 - column, row),
            7: (height - 1 - column, width - 1 - row),
            8: (column, width - 1 - row),
        }[number]
        out[row, column] = x[source]
    return np.moveaxis(out, (0, 1), axes)


def numbered(shape, dtype="u1"):
    count = int(np.prod(shape))
    return np.arange(count).astype("u4").view("V4").reshape(shape) if dtype == "V4" else np.arange(count).reshape(shape).astype(dtype)


def same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape and got.tolist() == wanted.tolist()


@pytest.mark.parametrize("number", range(1, 9))
def test_every_orientation(number):
    for shape, dtype in [((2, 3), "u1"), *(((4, 5, 3), dtype) for dtype in TYPES), ((3, 1), "u1"), ((0, 4), "f4"), ((1, 1, 2), "i8")]:
        x = numbered(shape, dtype)
        wanted = upright(x, number)
        for orientation in (number, NAMES[number - 1], np.int8(number)):
            got = retrograde.orient(x, orientation)
            same(got, wanted)
            assert got.flags.c_contiguous and not np.may_share_memory(got, x)
        view = np.repeat(x, 2, 1)[:, ::-2]
        same(retrograde.orient(view, number), upright(view, number))
    x = numbered((2, 3, 4, 5))
    for axes in itertools.permutations(range(-4, 4), 2):
        if (axes[0] - axes[1]) % 4:
            same(retrograde.orient(x, number, axes=axes), upright(x, number, axes))
    same(retrograde.orient([[1, 2], [3, 4]], number), upright(np.array([[1, 2], [3, 4]]), number))


def test_rotations_are_those_of_numpy():
    x = numbered((3, 4, 2))
    for turns, number in enumerate((1, 8, 3, 6)):
        same(retrograde.orient(x, number), np.rot90(x, turns))
        same(retrograde.rot90(x, turns, (2, 0)), upright(x, number, (2, 0)))
    for name, number in (("mirror", 2), ("hflip", 2), ("vflip", 4)):
        same(retrograde.orient(x, name), upright(x, number))


@pytest.mark.parametrize("number", range(1, 9))
def test_outputs(number):
    x = numbered((4, 6, 3))
    wanted = upright(x, number)
    planes = np.zeros((3, *wanted.shape[:2]), x.dtype)
    out = planes.transpose(1, 2, 0)
    assert retrograde.orient(x, number, out=out) is out
    same(planes, np.ascontiguousarray(np.moveaxis(wanted, 2, 0)))
    if number < 5:
        y = x.copy()
        assert retrograde.orient(y, number, out=y) is y
        same(y, wanted)
    else:
        square = x[:, :4].copy()
        with pytest.raises(ValueError, match="exchanges rows and columns and does not run in place"):
            retrograde.orient(square, number, out=square)
        same(square, x[:, :4])
    with pytest.raises(ValueError, match="shape"):
        retrograde.orient(x, number, out=np.zeros(wanted.shape[::-1], x.dtype))


def test_outputs_in_the_memory_of_the_input():
    whole = numbered((5, 4))
    x = whole[:4]
    for number, out in ((6, x[:]), (5, x[::-1]), (2, whole[1:]), (8, whole[1:])):
        before = whole.copy()
        with pytest.raises(ValueError, match="input and output overlap without being the same view"):
            retrograde.orient(x, number, out=out)
        same(whole, before)
    # The same view after the exchange.
    wanted = upright(x, 7)
    same(retrograde.orient(x, 7, out=x.T), wanted)
    same(x.T, wanted)


def refuse(*arguments):
    raise AssertionError("handled in Python")


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_plain_arguments_are_not_handled_in_python(monkeypatch):
    """That takes longer than to turn a small image."""
    x = numbered((3, 4, 2))
    monkeypatch.setattr(retrograde, "_named", refuse)
    monkeypatch.setattr(retrograde._kinds, "orient", refuse)
    for axes in ((0, 1), (1, 0), (-1, 0), [2, 1]):
        for k in range(-5, 6):
            same(retrograde.rot90(x, k, axes), np.rot90(x, k, axes))
        for number, name in enumerate(NAMES, 1):
            wanted = upright(x, number, axes)
            for orientation in (number, name):
                same(retrograde.orient(x, orientation, axes=axes), wanted)
                out = np.empty_like(wanted)
                assert retrograde.orient(x, orientation, axes=axes, out=out) is out
                same(out, wanted)


def test_arguments_of_any_type():
    x = numbered((3, 4, 2))
    planes = ((2, 0), [2, 0], (-1, -3), (np.int8(2), Index(0)), (2, False), np.array([2, 0]), range(2, -1, -2), bytes([2, 0]))
    for axes in (*planes, *map(iter, planes)):
        same(retrograde.rot90(x, 1, axes), np.rot90(x, 1, (2, 0)))
    for axes in (*planes, *map(iter, planes)):
        same(retrograde.orient(x, 6, axes=axes), upright(x, 6, (2, 0)))
    for k in (1, True, np.int64(1), np.array(1), Index(5), -3, 2**70 + 1, 1 - 2**70):
        same(retrograde.rot90(x, k), np.rot90(x))
    for orientation in (1, True, np.uint8(1), Index(1), "identity", np.str_("identity")):
        same(retrograde.orient(x, orientation), x)


def test_a_batch_has_an_orientation_for_each_image():
    random = np.random.default_rng(1)
    for dtype in TYPES:
        for orientations in ([1, 2, "rot180", 4], [5, 6, 7, "rot90"], np.array([6, 6, 8, 5])):
            x = numbered((4, 3, 5, 2), dtype)
            each = [NAMES.index(one) + 1 if isinstance(one, str) else int(one) for one in orientations]
            # NumPy stacks in native byte order.
            wanted = np.stack([upright(image, one) for image, one in zip(x, each)]).astype(dtype)
            same(retrograde.orient(x, orientations=orientations), wanted)
            same(retrograde.orient(x, orientations=iter(orientations), axes=(1, -2)), wanted)
            last = np.moveaxis(x, 0, 2)
            got = retrograde.orient(last, orientations=orientations, batch_axis=2)
            same(got, np.moveaxis(wanted, 0, 2))
            out = np.empty_like(wanted)
            assert retrograde.orient(x, orientations=orientations, out=out) is out
            same(out, wanted)
    # Any mixture of square images; in place, those that do not transpose. Large enough for threads.
    x = random.integers(0, 256, (40, 96, 96, 3), np.uint8)
    each = random.integers(1, 9, 40).tolist()
    wanted = np.stack([retrograde.orient(image, one) for image, one in zip(x, each)])
    for threads in (1, 4):
        before = retrograde.get_num_threads()
        try:
            retrograde.set_num_threads(threads)
            same(retrograde.orient(x, orientations=each), wanted)
            mirrors = [1 + one % 4 for one in each]
            y = x.copy()
            retrograde.orient(y, orientations=mirrors, out=y)
            same(y, np.stack([retrograde.orient(image, one) for image, one in zip(x, mirrors)]))
        finally:
            retrograde.set_num_threads(before)
    with pytest.raises(ValueError, match="does not run in place"):
        retrograde.orient(y, orientations=each, out=y)
    masked = np.ma.array(x[:2], mask=x[:2] > 128)
    got = retrograde.orient(masked, orientations=[6, 2])
    same(got.mask, np.stack([upright(masked.mask[0], 6), upright(masked.mask[1], 2)]))
    assert retrograde.orient(x[:0], orientations=[]).shape == (0, 96, 96, 3)


X = numbered((2, 3, 4))


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ValueError, "orient: orientation is 0, expected 1 to 8 or one of identity, fliplr, ", lambda f: f.orient(X, 0)),
        (ValueError, "orient: orientation is 'Rot90', expected 1 to 8 or ", lambda f: f.orient(X, "Rot90")),
        (ValueError, "orient: orientation is '6', expected 1 to 8 or ", lambda f: f.orient(X, "6")),
        (ValueError, "orient: orientation is '\\ud800', expected 1 to 8 or ", lambda f: f.orient(X, "\ud800")),
        (TypeError, "orient: orientation is b'rot90' (bytes), expected an integer", lambda f: f.orient(X, b"rot90")),
        (TypeError, "orient: orientation is 6.0 (float), expected an integer", lambda f: f.orient(X, 6.0)),
        (ValueError, "orient: axes[1] is 3, out of range for a tensor of rank 3", lambda f: f.orient(X, 6, axes=(0, 3))),
        (ValueError, "orient: axes are both axis 1: they must be different", lambda f: f.orient(X, 6, axes=(1, -2))),
        (TypeError, "orient: axes is 1 (int), expected a pair of integers", lambda f: f.orient(X, 6, axes=1)),
        (ValueError, "Reverse: output has shape [2, 3, 4], expected the input's shape [3, 2, 4]", lambda f: f.orient(X, 6, out=X.copy())),
        (TypeError, "Reverse: out has dtype int8, expected the input's dtype uint8", lambda f: f.orient(X, 6, out=np.empty((3, 2, 4), "i1"))),
        (TypeError, "Reverse: out is of type list", lambda f: f.orient(X, 6, out=[])),
        (ValueError, "orient: axes[1] is 1, out of range for a tensor of rank 1", lambda f: f.orient(X[0, 0], 6)),
        (TypeError, "orient() takes one of orientation= and orientations=, and neither is given", lambda f: f.orient(X)),
        (TypeError, "orient() takes one of orientation= and orientations=, and both are given", lambda f: f.orient(X, 6, orientations=[1, 2])),
        (TypeError, "orient() takes batch_axis= with orientations= only", lambda f: f.orient(X, 6, batch_axis=0)),
        (TypeError, "orient() takes orientation=, not exif=", lambda f: f.orient(X, exif=6)),
        (ValueError, "orient: orientations[1] is 9, expected 1 to 8", lambda f: f.orient(X, orientations=[1, 9])),
        (TypeError, "orient: orientations is 'rot90', expected one for each image", lambda f: f.orient(X, orientations="rot90")),
        (ValueError, "Orient: 1 orientation given, expected 2, one for each entry of axis 0 (batch_axis)", lambda f: f.orient(X, orientations=[1])),
        (
            ValueError,
            "Orient: orientations[1] is 8 (rot90), whose result has 4 rows and 3 columns, expected 3 and 4 as for"
            " orientations[0], 2 (fliplr)",
            lambda f: f.orient(X, orientations=[2, 8]),
        ),
        (ValueError, "Orient: batch_axis and axes[0] are both axis 0", lambda f: f.orient(X, orientations=[2, 2], axes=(0, 1))),
        (ValueError, "Orient: batch_axis is 3, outside [-3, 2]", lambda f: f.orient(X, orientations=[2], batch_axis=3)),
    ],
)  # fmt: skip
def test_errors(error, text, call):
    with pytest.raises(error) as raised:
        call(retrograde)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "I;16", "F", "CMYK"])
def test_pillow(mode):
    image = pytest.importorskip("PIL.Image")
    from PIL import ImageOps

    random = np.random.default_rng(len(mode))
    for number, size in itertools.product(range(1, 9), [(5, 7), (16, 16), (640, 480), (1, 9)]):
        channels = {"RGB": (3,), "RGBA": (4,), "CMYK": (4,)}.get(mode, ())
        dtype = {"I;16": np.uint16, "F": np.float32}.get(mode, np.uint8)
        x = random.integers(0, 256, (size[1], size[0], *channels)).astype(dtype)
        # Not `fromarray`, whose mode of 16 bits depends on the release.
        picture = image.frombytes(mode, size, x.tobytes())
        picture.getexif()[0x0112] = number
        wanted = np.frombuffer(ImageOps.exif_transpose(picture).tobytes(), dtype)
        got = retrograde.orient(x, number)
        assert got.ravel().tolist() == wanted.tolist()


def test_medical_images():
    """Flips and a permutation of three axes in one pass, as in docs/images.md."""
    orientations = pytest.importorskip("nibabel.orientations")
    random = np.random.default_rng(7)
    codes = [tuple(one) for pairs in itertools.permutations(("LR", "PA", "IS")) for one in itertools.product(*pairs)]
    assert len(set(codes)) == 48
    x = random.integers(-9000, 9000, (5, 6, 7), np.int16)
    for start, end in zip(codes, random.permutation(codes)):
        change = orientations.ornt_transform(orientations.axcodes2ornt(start), orientations.axcodes2ornt(end))
        order = change[:, 0].astype(int)
        out = np.empty([x.shape[axis] for axis in np.argsort(order)], x.dtype)
        retrograde.reverse(x, np.flatnonzero(change[:, 1] < 0), out=out.transpose(order))
        wanted = orientations.apply_orientation(x, change)
        assert out.flags.c_contiguous
        same(out, wanted)


def test_jax_arrays():
    jax = pytest.importorskip("jax")
    import retrograde.jax as rj

    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for number in range(1, 9):
        same(np.asarray(retrograde.orient(jax.numpy.asarray(x), number)), upright(x, number))
        turn = jax.jit(lambda x, number=number: rj.orient(x, number, axes=(1, 2)))
        same(np.asarray(turn(x)), upright(x, number, (1, 2)))
        weights = jax.numpy.asarray(upright(x, number))
        got = jax.grad(lambda x, number=number, weights=weights: (rj.orient(x, number) * weights).sum())(jax.numpy.asarray(x))
        same(np.asarray(got), x)
    each = jax.jit(lambda x: rj.orient(x, orientations=[6, 7]))
    wanted = np.stack([upright(x[0], 6), upright(x[1], 7)])
    same(np.asarray(each(x)), wanted)
    same(np.asarray(retrograde.orient(jax.numpy.asarray(x), orientations=[6, 7])), wanted)
    with pytest.raises(TypeError, match="out is not supported"):
        retrograde.orient(jax.numpy.asarray(x), 2, out=x)


def test_dask_arrays():
    array = pytest.importorskip("dask.array")
    x = np.arange(24).reshape(2, 3, 4)
    lazy = array.from_array(x, chunks=2)
    for number in range(1, 9):
        same(retrograde.orient(lazy, number).compute(), upright(x, number))
    got = retrograde.orient(lazy, orientations=[8, 5]).compute()
    same(got, np.stack([upright(x[0], 8), upright(x[1], 5)]))


def test_xarray_moves_coordinates():
    xarray = pytest.importorskip("xarray")
    x = xarray.DataArray(np.arange(6).reshape(2, 3), {"y": [10, 20], "x": [1, 2, 3]}, ("y", "x"))
    turned = retrograde.orient(x, 6)
    assert turned.dims == ("x", "y") and turned.y.values.tolist() == [20, 10]
    same(turned.values, upright(x.values, 6))
    with pytest.raises(TypeError, match="expected an array or a tensor for orientations"):
        retrograde.orient(x, orientations=[1, 2])
