"""NumPy arrays: every type and many layouts, into new outputs, given ones, and in place."""

import threading

import naive
import numpy as np
import pytest
import retrograde
from foreign import Tagged
from naive import bits


def check(run, x, expected):
    """The call in its three forms: a new output, a given one, in place."""
    before = bits(x)
    y = run(x, None)
    assert type(y) is type(x) and y.dtype == x.dtype and y.shape == x.shape
    assert bits(y) == bits(expected)
    assert not np.shares_memory(x, y)
    assert bits(x) == before

    for how in ("dense", "fortran", "padded"):
        out = naive.laid_out(x[..., ::-1] if x.ndim else x, how)
        assert run(x, out) is out
        assert bits(out) == bits(expected), how
        assert bits(x) == before

    itself = naive.laid_out(x, "padded")
    assert run(itself, itself) is itself
    assert bits(itself) == bits(expected)


@pytest.mark.parametrize("dtype", naive.DTYPES, ids=str)
def test_every_type(dtype):
    x = naive.filled((3, 4, 5), dtype)
    check(lambda x, out: retrograde.reverse(x, (0, -1), out=out), x, naive.reverse(x, {0, 2}))
    lengths = [0, 4, 1, 3, 2]
    check(
        lambda x, out: retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=2, out=out),
        x,
        naive.reverse_sequence(x, lengths, 1, 2),
    )
    lanes = np.arange(15).reshape(3, 1, 5) % 6
    check(
        lambda x, out: retrograde.reverse_subsequences(x, lanes, axis=1, out=out),
        x,
        naive.reverse_subsequences(x, lanes, 1),
    )


@pytest.mark.parametrize("how", naive.LAYOUTS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 0, 3), (3, 4), (2, 3, 4), (2, 1, 3, 2)], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "<u2", ">f4", "c16", "S3", object, *naive.STRINGS], ids=str)
def test_every_set_of_axes(dtype, shape, how):
    x = naive.laid_out(naive.filled(shape, dtype), how)
    for axes in naive.subsets(len(shape)):
        expected = naive.reverse(x, set(axes))
        check(lambda x, out: retrograde.reverse(x, axes, out=out), x, expected)
        assert bits(retrograde.reverse(x, list(axes) * 2)) == bits(expected)
        assert bits(retrograde.reverse(x, [a - len(shape) for a in axes])) == bits(expected)
        mask = [a in axes for a in range(len(shape))]
        assert bits(retrograde.reverse(x, mask=mask)) == bits(expected)
        assert bits(retrograde.reverse(x, mask=np.array(mask, bool))) == bits(expected)
        assert bits(retrograde.reverse(x, mask=[int(flip) for flip in mask])) == bits(expected)
        assert bits(retrograde.reverse(x, mask=np.array(mask, np.uint8))) == bits(expected)


def test_all_axes_by_default():
    x = naive.filled((3, 4), "i8")
    assert bits(retrograde.reverse(x)) == bits(x[::-1, ::-1])


@pytest.mark.parametrize("axes", [1, np.int8(-1), np.array(1), np.array([1, -1]), range(1, 2)], ids=repr)
def test_what_axes_may_be(axes):
    x = naive.filled((3, 4), "i8")
    assert bits(retrograde.reverse(x, axes)) == bits(x[:, ::-1])


@pytest.mark.parametrize("kind", ["b", "B", "h", "H", "i", "I", "q", "Q", ">i4", ">u8"])
def test_every_type_of_lengths(kind):
    x = naive.filled((5, 4), "f4")
    expected = naive.reverse_sequence(x, [5, 0, 3, 2], 0, 1)
    lengths = np.array([5, 0, 3, 2], kind)
    assert bits(retrograde.reverse_sequence(x, lengths)) == bits(expected)
    strided = np.empty(8, kind)
    strided[::2] = lengths
    assert bits(retrograde.reverse_sequence(x, strided[::2])) == bits(expected)
    assert bits(retrograde.reverse_sequence(x, lengths[::-1][::-1])) == bits(expected)


@pytest.mark.parametrize("lengths", [[3, 1], (3, 1), range(3, 0, -2), np.array([3, 1])], ids=repr)
def test_what_lengths_may_be(lengths):
    x = naive.filled((3, 2), "f4")
    assert bits(retrograde.reverse_sequence(x, lengths)) == bits(naive.reverse_sequence(x, [3, 1], 0, 1))


def test_an_empty_batch_has_empty_lengths():
    assert retrograde.reverse_sequence(np.zeros((3, 0)), []).shape == (3, 0)
    assert retrograde.reverse_subsequences(np.zeros((0, 3)), [], axis=1).shape == (0, 3)


def test_lengths_with_or_without_the_axis():
    x = naive.filled((2, 3, 4, 5), "i4")
    for axis in range(4):
        lengths = np.arange(120).reshape(x.shape).take([0], axis) % 7
        expected = bits(naive.reverse_subsequences(x, lengths, axis))
        for given in (lengths, lengths.squeeze(axis), lengths.squeeze(axis).tolist(), lengths.copy("F").squeeze(axis)):
            assert bits(retrograde.reverse_subsequences(x, given, axis=axis)) == expected
    x = naive.filled((3, 4), "i4")
    lengths = np.array([4, 2, 3])
    expected = bits(naive.reverse_subsequences(x, lengths[:, None], 1))
    assert bits(retrograde.reverse_subsequences(x, lengths[:, None], axis=1)) == expected
    assert bits(retrograde.reverse_subsequences(x, lengths, axis=-1)) == expected


@pytest.mark.parametrize("kind", ["int2", "int4", "uint2", "uint4"])
def test_lengths_of_narrow_types(kind):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = naive.filled((3, 2), "f4")
    lengths = np.array([1, 0]).astype(getattr(ml_dtypes, kind))
    assert bits(retrograde.reverse_sequence(x, lengths)) == bits(naive.reverse_sequence(x, [1, 0], 0, 1))
    assert bits(retrograde.reverse_subsequences(x, lengths, axis=0)) == bits(naive.reverse_sequence(x, [1, 0], 0, 1))


def test_duplicates():
    x = naive.filled((3, 4), "i4")
    for axes in (1, -1, [0, 1], (1, -2), np.array([0, -1]), range(2), iter([1, 0]), [], None):
        axes = list(axes) if hasattr(axes, "__next__") else axes
        expected = bits(retrograde.reverse(x, axes))
        assert bits(retrograde.reverse(x, axes, duplicates="error")) == expected
        assert bits(retrograde.prepare("reverse", x, axes, duplicates="error")(x)) == expected
    assert bits(retrograde.reverse(x, iter([1, 0]), duplicates="error")) == bits(x[::-1, ::-1])
    assert bits(retrograde.reverse(x, mask=[0, 1], duplicates="error")) == bits(x[:, ::-1])
    # A set by default, of any number of entries.
    assert bits(retrograde.reverse(x, [1, -1, 1, 1])) == bits(x[:, ::-1])
    for call in (retrograde.reverse, *(lambda x, *a, f=f, **k: f("reverse", x, *a, **k) for f in (retrograde.explain, retrograde.show, retrograde.prepare))):
        with pytest.raises(ValueError, match=r"^Reverse: axes\[1\] is -1, the same axis as axes\[0\]"):
            call(x, (1, -1), duplicates="error")
    for x in (np.ma.array([1, 2]), [1, 2], np.array([None, 1])):
        with pytest.raises(ValueError, match="the same axis"):
            retrograde.reverse(x, (0, -1), duplicates="error")


def test_policies():
    x = naive.filled((3, 2), "i4")
    y = retrograde.reverse_sequence(x, [9, 2], policy="clamp")
    assert bits(y) == bits(naive.reverse_sequence(x, [3, 2], 0, 1))
    y = retrograde.reverse_subsequences(x, [9, 2], axis=0)
    assert bits(y) == bits(naive.reverse_sequence(x, [3, 2], 0, 1))
    with pytest.raises(ValueError, match=r"lengths\[0, 0\] is 9, outside \[0, 3\]"):
        retrograde.reverse_subsequences(x, [9, 2], axis=0, policy="strict")


def test_order_of_axes_in_memory_is_kept():
    x = np.asfortranarray(naive.filled((3, 4, 5), "f4"))
    assert retrograde.reverse(x, 0).flags.f_contiguous
    y = retrograde.reverse(x.transpose(1, 0, 2), 0)
    assert np.argsort(y.strides).tolist() == np.argsort(x.transpose(1, 0, 2).copy("K").strides).tolist()
    large = np.zeros((2048, 1024), "f4", order="F")
    assert retrograde.reverse(large, 0).flags.f_contiguous


def test_large_outputs():
    """Outputs in memory that we allocate, in every memory order, with threads."""
    x = naive.filled((1 << 10, 1 << 11), "u4")
    for y, expected in [
        (retrograde.reverse(x, 0), x[::-1]),
        (retrograde.reverse(x, 1), x[:, ::-1]),
        (retrograde.reverse(x.T, 1), x.T[:, ::-1]),
        (retrograde.reverse(x[:, ::-1]), x[::-1]),
    ]:
        assert np.array_equal(y, expected) and y.flags.writeable
        # It behaves like any other array.
        y += 1
        assert np.array_equal(y, expected + 1)
    rows = np.arange(1 << 10) % 2049
    y = retrograde.reverse_sequence(x, rows, time_axis=1, batch_axis=0)
    assert all(np.array_equal(y[i, :n], x[i, :n][::-1]) and np.array_equal(y[i, n:], x[i, n:]) for i, n in enumerate(rows))
    columns = np.arange(1 << 11) % 1025
    y = retrograde.reverse_sequence(x, columns)
    assert all(np.array_equal(y[:n, i], x[:n, i][::-1]) for i, n in enumerate(columns))


def test_memory_of_large_outputs_is_used_again_but_never_shared():
    x = np.arange(8 << 20, dtype=np.uint8)
    a = retrograde.reverse(x)
    address = a.ctypes.data
    view = a[5:]
    del a
    b = retrograde.reverse(x)
    assert b.ctypes.data != address, "a view is still alive"
    assert np.array_equal(view, x[::-1][5:])
    del view, b
    before = retrograde.config.kept_now
    assert before >= 8 << 20
    c = retrograde.reverse(x)
    assert np.array_equal(c, x[::-1]) and retrograde.config.kept_now < before
    del c
    retrograde.config.kept_memory = 0
    assert retrograde.config.kept_now == 0
    del x
    retrograde.reverse(np.zeros(8 << 20, np.uint8))
    assert retrograde.config.kept_now == 0
    retrograde.config.kept_memory = None


@pytest.mark.parametrize("size", [100, 70_000, 3 << 20])
def test_hints_do_not_change_results(size):
    x = np.arange(size, dtype=np.uint32)
    config = retrograde.config
    soon, later = config(hint="read-soon"), config(hint="read-later")
    with soon, later, soon:
        assert config.hint == "read-soon"
        assert np.array_equal(retrograde.reverse(x), x[::-1])
    with later:
        assert np.array_equal(retrograde.reverse(x), x[::-1])
        with config(hint=None):
            assert config.hint is None
            assert np.array_equal(retrograde.reverse(x, out=x.copy()), x[::-1])
        assert config.hint == "read-later"
    assert config.hint is None
    config.hint = "read-soon"
    assert np.array_equal(retrograde.reverse(x), x[::-1])
    prepared = retrograde.prepare("reverse", x)
    with later:
        assert np.array_equal(prepared(x), x[::-1])
    config.hint = None


def test_settings_are_restored():
    config = retrograde.config
    with config(hint="read-soon", kept_memory=8 << 20) as inside:
        assert inside is config and (config.hint, config.kept_memory) == ("read-soon", 8 << 20)
        with pytest.raises(ZeroDivisionError), config(kept_memory=0):
            assert (config.hint, config.kept_memory, config.kept_now) == ("read-soon", 0, 0)
            raise ZeroDivisionError
        with config(kept_memory=None):
            assert config.kept_memory is None
        # Hints are per thread, the memory is the process's.
        seen = []
        thread = threading.Thread(target=lambda: seen.append((config.hint, config.kept_memory)))
        thread.start()
        thread.join()
        assert seen == [(None, 8 << 20)]
    assert repr(config) == "retrograde.config(hint=None, kept_memory=None)"
    config.kept_memory = 2**100
    assert config.kept_memory >= 2**31 - 1
    config.kept_memory = None


def test_cached_plans_are_used_only_for_equal_arrays():
    """The same call on arrays that differ in one respect each."""
    numbers = np.arange(120)
    for dtype in "?bBhHiIlLqQefdFD":
        x = numbers.astype(dtype).reshape(10, 12)
        kinds = [x, x.astype(x.dtype.newbyteorder()), np.asfortranarray(x), x[:, ::2], x[::-1], x[:5], x.reshape(12, 10)]
        kinds += [x.view(f"V{x.itemsize}"), x.astype(object), x.copy().view(Tagged)]
        for _ in range(2):
            for y in kinds:
                result = retrograde.reverse(y, 1)
                assert result.dtype == y.dtype and type(result) is type(y)
                assert result.tobytes() == np.ascontiguousarray(y[:, ::-1]).tobytes() or y.dtype == object
                assert np.array_equal(result, y[:, ::-1])
                out = np.empty(y.shape, y.dtype)
                assert retrograde.reverse(y, 1, out=out) is out
                assert np.array_equal(out, y[:, ::-1])
    x, out = np.zeros((4, 4)), np.zeros((4, 4))
    retrograde.reverse(x, 1, out=out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        retrograde.reverse(x, 1, out=out)
    with pytest.raises(TypeError, match="out has dtype float32"):
        retrograde.reverse(x, 1, out=np.zeros((4, 4), np.float32))
    with pytest.raises(ValueError, match="overlap"):
        retrograde.reverse(x[:3], 1, out=x[1:])


def test_cached_plans_read_the_lengths_of_every_call():
    """The same call with other lengths: values, types, counts, containers, and wrong ones in between."""
    x = np.arange(24.0).reshape(4, 6)
    for lengths in [[6, 3, 0, 1], [1, 2, 3, 4], [0, 0, 6, 6]]:
        want = naive.reverse_sequence(x, lengths, 1, 0)
        lanes = naive.reverse_subsequences(x, np.array(lengths)[:, None], 1)
        kinds = [lengths, tuple(lengths), *(np.array(lengths, dtype) for dtype in ["i1", "u2", "i4", "u8", ">i8"])]
        for given in [*kinds, np.array([[length, 99] for length in lengths])[:, 0]]:
            for _ in range(2):
                assert np.array_equal(retrograde.reverse_sequence(x, given, time_axis=1, batch_axis=0), want)
                out = np.full_like(x, -1)
                assert retrograde.reverse_sequence(x, given, time_axis=1, batch_axis=0, out=out) is out
                assert np.array_equal(out, want)
                assert np.array_equal(retrograde.reverse_subsequences(x, given, axis=1), lanes)
                with pytest.raises(ValueError, match=r"lengths\[2\] is 7, outside \[0, 6\]"):
                    retrograde.reverse_sequence(x, [1, 1, 7, 1], time_axis=1, batch_axis=0, out=out)
                with pytest.raises(ValueError, match="ReverseSequence: lengths"):
                    retrograde.reverse_sequence(x, lengths[:3], time_axis=1, batch_axis=0, out=out)
                with pytest.raises(TypeError, match="expected an integer type"):
                    retrograde.reverse_sequence(x, np.ones(4), time_axis=1, batch_axis=0, out=out)
                assert np.array_equal(out, want), "a refused call wrote to its output"
        assert np.array_equal(retrograde.reverse_sequence(x.copy(), lengths, time_axis=1, batch_axis=0, out=out), want)
    for cuts in [[0, 2, 6], [0, 1, 6], [0, 2, 3, 6], [0, 3]]:
        want = naive.reverse_segments(x, cuts, 1)
        assert np.array_equal(retrograde.reverse_segments(x, cuts, axis=1), want)
        assert np.array_equal(retrograde.reverse_segments(x, np.array(cuts), axis=1), want)
    y = x.copy()
    for _ in range(2):
        retrograde.reverse_sequence(y, [6, 3, 0, 1], time_axis=1, batch_axis=0, out=y)
    assert np.array_equal(y, x)


@pytest.mark.parametrize("count", [10, 8 << 20])
def test_subclasses(count):
    x = np.arange(count, dtype="u1").view(Tagged)
    x.tag = "kept"
    y = retrograde.reverse(x)
    assert type(y) is Tagged and y.tag == "kept" and np.array_equal(y, x[::-1])
    assert type(retrograde.reverse(np.matrix([[1, 2]]))) is np.matrix
    assert type(retrograde.reverse(np.rec.array([(1, 2.0)]))) is np.recarray


def test_masked_arrays():
    x = np.ma.array([[1, 2, 3], [4, 5, 6]], mask=[[1, 0, 0], [0, 0, 1]])
    y = retrograde.reverse(x, 1)
    assert y.tolist() == [[3, 2, None], [None, 5, 4]]
    y = retrograde.reverse_sequence(x, [2, 0, 2])
    assert y.tolist() == [[4, 2, None], [None, 5, 3]]
    plain = np.ma.array([1, 2, 3])
    assert retrograde.reverse(plain).mask is np.ma.nomask
    out = np.ma.array([0, 0, 0], mask=[1, 1, 1])
    assert retrograde.reverse(plain, out=out) is out and out.tolist() == [3, 2, 1]
    assert retrograde.reverse(x, 0, out=x) is x and x.tolist() == [[4, 5, None], [None, 2, 3]]
    with pytest.raises(TypeError, match="masked"):
        retrograde.reverse(x, out=np.zeros((2, 3), int))


HARD = {
    "reverse": lambda f, x, **out: f.reverse(x, 1, **out),
    "iterator": lambda f, x, **out: f.reverse(x, iter([1]), **out),
    "reverse_sequence": lambda f, x, **out: f.reverse_sequence(x, [3, 2], time_axis=1, batch_axis=0, **out),
    "reverse_subsequences": lambda f, x, **out: f.reverse_subsequences(x, [3, 2], axis=1, **out),
    "reverse_segments": lambda f, x, **out: f.reverse_segments(x, [0, 2, 3], axis=1, **out),
    "flip": lambda f, x: f.flip(x, 1),
    "fliplr": lambda f, x: f.fliplr(x),
    "flipud": lambda f, x: f.flipud(x),
    "rot90": lambda f, x: f.rot90(x),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_masks_move_with_their_data(name):
    data, mask = [[1, 2, 3], [4, 5, 6]], [[1, 0, 0], [0, 1, 1]]
    hard, soft = (np.ma.array(data, mask=mask, hard_mask=hard) for hard in (True, False))
    call, before = HARD[name], hard.tolist()
    wanted, got = call(retrograde, soft), call(retrograde, hard)
    moved = call(retrograde, np.array(mask))
    assert got.tolist() == wanted.tolist() and np.array_equal(got.mask, moved)
    assert got.hardmask and not wanted.hardmask and hard.tolist() == before
    if name in ("flip", "fliplr", "flipud", "rot90"):
        return
    # Into outputs, whose masks are replaced, and in place. Hard masks stay hard.
    for is_hard in (True, False):
        out = np.ma.array(np.zeros((2, 3), int), mask=True, hard_mask=is_hard)
        assert call(retrograde, hard, out=out) is out
        assert out.tolist() == wanted.tolist() and out.hardmask == is_hard
    assert call(retrograde, hard, out=hard) is hard
    assert hard.tolist() == wanted.tolist() and np.array_equal(hard.data, call(retrograde, np.array(data)))
    assert hard.hardmask and hard.mask.tolist() == moved.astype(bool).tolist()


def test_masked_lengths_are_refused():
    x, hidden = np.zeros((3, 2)), np.ma.array([1, 2], mask=[False, True])
    prepared = retrograde.prepare("reverse_sequence", x, [1, 2])
    for call in (
        lambda: retrograde.reverse_sequence(x, hidden),
        lambda: retrograde.reverse_subsequences(x, hidden, axis=0),
        lambda: retrograde.explain("reverse_sequence", x, hidden),
        lambda: retrograde.show("reverse_sequence", x, hidden),
        lambda: retrograde.prepare("reverse_sequence", x, hidden),
        lambda: prepared(x, hidden),
    ):
        with pytest.raises(ValueError, match=r"lengths\[1\] is masked, expected a value everywhere \(lengths.filled"):
            call()
    with pytest.raises(ValueError, match=r"ReverseSegments: offsets\[2\] is masked"):
        retrograde.reverse_segments(x, np.ma.array([0, 1, 3], mask=[0, 0, 1]))
    with pytest.raises(ValueError, match=r"ReverseSubsequences: lengths\[0, 1\] is masked"):
        retrograde.reverse_subsequences(x, np.ma.array([[1, 2]], mask=[[0, 1]]), axis=0)
    # Nothing is hidden here.
    for mask in (np.ma.nomask, False):
        assert retrograde.reverse_sequence(x, np.ma.array([1, 2], mask=mask)).shape == (3, 2)


@pytest.mark.parametrize("x", [[1, 2, 3], (1, 2, 3), range(1, 4), bytearray(b"\1\2\3"), memoryview(b"\1\2\3")], ids=lambda x: type(x).__name__)
def test_what_is_nearly_an_array(x):
    assert retrograde.reverse(x).tolist() == [3, 2, 1]


def test_scalars():
    assert retrograde.reverse(np.float32(2.5)) == 2.5
    assert retrograde.reverse(3, ()).tolist() == 3


def test_memory_maps(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(1 << 20))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(retrograde.reverse(x), np.arange(1 << 20)[::-1])
    y = np.load(tmp_path / "x.npy", mmap_mode="r+")
    retrograde.reverse(y, out=y)
    y.flush()
    assert np.array_equal(np.load(tmp_path / "x.npy"), np.arange(1 << 20)[::-1])


def test_broadcast_inputs():
    x = np.broadcast_to(naive.filled((1, 4), "i4"), (3, 4))
    assert bits(retrograde.reverse(x, 1)) == bits(x[:, ::-1])
    assert bits(retrograde.reverse_sequence(x, [3, 2, 1, 0])) == bits(x)


def test_two_columns_of_one_table():
    """Views that interleave without overlapping are accepted."""
    table = np.arange(12).reshape(6, 2)
    expected = table[::-1, 0].copy()
    retrograde.reverse(table[:, 0], out=table[:, 1])
    assert np.array_equal(table[:, 1], expected)


def test_references_are_counted():
    import sys

    class Thing:
        pass

    things = [Thing() for _ in range(100)]
    counts = [sys.getrefcount(thing) for thing in things]
    x = np.array(things, object).reshape(10, 10)
    for _ in range(10):
        y = retrograde.reverse(x, 0)
        retrograde.reverse(x, out=y)
        retrograde.reverse_sequence(y, [10] * 10, out=y)
    del x, y
    assert [sys.getrefcount(thing) for thing in things] == counts
