"""``where`` on every kind of call, and the reverse complement: compared with a loop over the entries."""

import importlib

import naive
import numpy as np
import pytest
import retrograde

RNG = np.random.default_rng(5)
X = np.arange(5 * 7 * 3, dtype=np.int16).reshape(5, 7, 3)
MASK = np.array([True, False, True, True, False])
LENGTHS = np.array([7, 3, 0, 5, 6])


def each(x, moved, mask, axis=0):
    """Those entries of ``moved`` for which the mask is true, and the others of ``x``."""
    shape = [1] * x.ndim
    shape[axis] = -1
    return np.where(np.reshape(mask, shape), moved, x)


@pytest.fixture(params=["numpy", "list", "jax", "torch", "dask"])
def tensor(request):
    """How to make a tensor of a library."""
    if request.param in ("numpy", "list"):
        return {"numpy": np.asarray, "list": lambda x: x.tolist() if x.dtype == bool else x}[request.param]
    library = pytest.importorskip(request.param)
    if request.param == "jax":
        return library.numpy.asarray
    if request.param == "torch":
        return lambda x: library.from_numpy(x.copy())
    array = importlib.import_module("dask.array")
    return lambda x: array.from_array(x, chunks=-1) if x.ndim > 1 else x


def test_sequences_and_lanes(tensor):
    wanted = each(X, naive.reverse_sequence(X, LENGTHS, 1, 0), MASK)
    got = retrograde.reverse_sequence(tensor(X), tensor(LENGTHS), batch_first=True, where=tensor(MASK))
    np.testing.assert_array_equal(np.asarray(got), wanted)
    lengths = RNG.integers(0, 8, (5, 1, 3))
    mask = RNG.integers(0, 2, (5, 3)) == 1
    wanted = np.where(mask[:, None], naive.reverse_subsequences(X, lengths, 1), X)
    for given in (mask, mask[:, None]):
        got = retrograde.reverse_subsequences(tensor(X), tensor(lengths), axis=1, where=tensor(given))
        np.testing.assert_array_equal(np.asarray(got), wanted)
    # A mask of kept steps has a row for each sequence.
    kept = np.arange(7) < LENGTHS[:, None]
    if not hasattr(tensor(X), "dask"):
        got = retrograde.reverse_sequence(tensor(X), tensor(kept), batch_first=True, where=tensor(MASK))
        np.testing.assert_array_equal(np.asarray(got), each(X, naive.reverse_sequence(X, LENGTHS, 1, 0), MASK))


@pytest.mark.parametrize("axes", [1, (1, 2), 2, ()])
def test_flips_of_a_batch(tensor, axes):
    several = (axes,) if isinstance(axes, int) else axes
    wanted = each(X, naive.reverse(X, several), MASK)
    np.testing.assert_array_equal(np.asarray(retrograde.reverse(tensor(X), axes, where=tensor(MASK))), wanted)
    np.testing.assert_array_equal(np.asarray(retrograde.flip(tensor(X), axes, where=tensor(MASK))), wanted)
    last = np.moveaxis(X, 0, -1).copy()
    wanted = np.moveaxis(wanted, 0, -1)
    moved = [axis - 1 for axis in several]
    got = retrograde.reverse(tensor(last), moved, where=tensor(MASK), batch_axis=-1)
    np.testing.assert_array_equal(np.asarray(got), wanted)


def test_axes_that_are_no_neighbours_and_in_place():
    x = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    wanted = each(x, x[:, ::-1, :, ::-1], [False, True])
    for order in "CF":
        y = x.copy(order=order)
        np.testing.assert_array_equal(retrograde.reverse(y, (1, 3), where=[False, True]), wanted)
        assert retrograde.reverse(y, (1, 3), where=[False, True], out=y) is y
        np.testing.assert_array_equal(y, wanted)
    both = each(x, x[:, ::-1, ::-1], [False, True])
    out = np.empty_like(x, order="F")
    np.testing.assert_array_equal(retrograde.reverse(x, (1, 2), where=[False, True], out=out), both)
    np.testing.assert_array_equal(retrograde.flip(x[:, :, ::-1], (1, 2), where=[False, True]), each(x[:, :, ::-1], x[:, ::-1], [False, True]))


def test_segments():
    for count in (0, 1, 3, 60, 3000):
        x = RNG.integers(0, 1000, 40_000).astype(np.int32)
        offsets = np.sort(RNG.integers(0, len(x) + 1, count + 1))
        offsets[0] = 0
        mask = RNG.integers(0, 2, count) == 1
        wanted = x.copy()
        for start, end in zip(offsets[:-1][mask], offsets[1:][mask], strict=True):
            wanted[start:end] = wanted[start:end][::-1]
        for given in (offsets, offsets.astype(np.int32), offsets.astype(np.uint64)):
            np.testing.assert_array_equal(retrograde.reverse_segments(x, given, where=mask), wanted)
        y = x.copy()
        assert retrograde.reverse_segments(y, offsets.tolist(), where=mask.tolist(), out=y) is y
        np.testing.assert_array_equal(y, wanted)
        columns = np.stack([x, -x], 1)
        np.testing.assert_array_equal(retrograde.reverse_segments(columns, offsets, where=mask), np.stack([wanted, -wanted], 1))
        masked = np.ma.masked_array(x, x % 3 == 0)
        np.testing.assert_array_equal(retrograde.reverse_segments(masked, offsets, where=mask).mask, wanted % 3 == 0)


def test_segments_of_torch_have_a_gradient():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).requires_grad_()
    y = retrograde.reverse_segments(x, torch.tensor([0, 2, 4, 6]), where=torch.tensor([True, False, True]))
    assert y.tolist() == [1, 0, 2, 3, 5, 4]
    (y * torch.arange(6)).sum().backward()
    assert x.grad.tolist() == [1, 0, 2, 3, 5, 4]
    rows = torch.arange(6.0).reshape(2, 3).requires_grad_()
    retrograde.flip(rows, 1, where=[True, False]).mul(torch.arange(3)).sum().backward()
    assert rows.grad.tolist() == [[2, 1, 0], [0, 1, 2]]


def test_lists_of_arrow():
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[1, 2, 3], None, [], [4, 5]])
    mask = [True, True, False, False]
    assert retrograde.reverse_segments(lists, where=mask).to_pylist() == [[3, 2, 1], None, [], [4, 5]]
    chunks = pa.chunked_array([lists, lists[2:]])
    got = retrograde.reverse_segments(chunks, where=[*mask, True, True]).to_pylist()
    assert got == [[3, 2, 1], None, [], [4, 5], [], [5, 4]]


def test_prepared_and_explained():
    prepared = retrograde.prepare(retrograde.reverse_sequence, X, LENGTHS, batch_first=True, where=MASK)
    np.testing.assert_array_equal(prepared(X), retrograde.reverse_sequence(X, LENGTHS, batch_first=True, where=MASK))
    other = ~MASK
    wanted = retrograde.reverse_sequence(X, LENGTHS, batch_first=True, where=other)
    np.testing.assert_array_equal(prepared(X, LENGTHS, where=other), wanted)
    flips = retrograde.prepare("reverse", X, axes=1, where=MASK)
    np.testing.assert_array_equal(flips(X), retrograde.flip(X, 1, where=MASK))
    np.testing.assert_array_equal(flips(X, where=other), retrograde.flip(X, 1, where=other))
    flat, offsets = X.reshape(-1), [0, 3, 9, 105]
    cut = retrograde.prepare("reverse_segments", flat, offsets, where=[True, False, True])
    np.testing.assert_array_equal(cut(flat), retrograde.reverse_segments(flat, offsets, where=[True, False, True]))
    assert "marked" in str(retrograde.explain("reverse_segments", flat, offsets, where=[True, False, True]))
    assert [dim["flow"] for dim in retrograde.explain("reverse", X, axes=(1, 2), where=MASK).dims] == ["keep", "flip prefix"]


WRONG = [
    (lambda: retrograde.flip(X, 1, where=[1, 0, 1, 1, 0]), TypeError, "Reverse: where has type int64, expected bool: where != 0 is"),
    (lambda: retrograde.flip(X, 1, where=[True]), ValueError, r"Reverse: where has shape \[1\], expected \[5\], one for each batch entry"),
    (lambda: retrograde.flip(X, 0, where=MASK), ValueError, "Reverse: batch_axis is 0, which is reversed itself, expected another axis"),
    (lambda: retrograde.flip(X, 1, where=MASK, batch_axis=3), ValueError, r"Reverse: batch_axis is 3, outside \[-3, 2\] for a tensor of rank 3"),
    (lambda: retrograde.reverse_sequence(X, LENGTHS, batch_first=True, where=MASK[:4]), ValueError, r"ReverseSequence: where has shape \[4\], expected \[5\], one for each sequence"),
    (lambda: retrograde.reverse_sequence(X, LENGTHS, batch_first=True, where=MASK, tail="zero"), ValueError, "ReverseSequence: where keeps what it does not reverse"),
    (lambda: retrograde.reverse_subsequences(X, np.ones((5, 3), int), axis=1, where=MASK), ValueError, r"ReverseSubsequences: where has shape \[5\], expected \[5, 3\], one for each lane"),
    (lambda: retrograde.reverse_segments(X, [0, 2, 5], where=[True]), ValueError, r"ReverseSegments: where has shape \[1\], expected \[2\], one for each segment"),
    (lambda: retrograde.reverse_segments(X, [0, 3, 2], where=[True, False]), ValueError, r"ReverseSegments: offsets\[2\] is 2, outside \[3, 5\]"),
    # Twice these wraps to 0, an offset.
    (lambda: retrograde.reverse_segments(X, np.uint64([0, 1 << 63, 5]), where=[True, True]), ValueError, r"offsets\[1\] is 9223372036854775808, outside \[0, 5\]"),
    (lambda: retrograde.reverse_segments(X, [0, -1 << 63, 5], where=[True, True]), ValueError, r"offsets\[1\] is -9223372036854775808, outside \[0, 5\]"),
    (lambda: retrograde.reverse_complement(np.zeros(3)), TypeError, "reverse_complement: x has type float64, expected letters of one byte"),
    (lambda: retrograde.reverse_complement(np.array([b"ACG"])), TypeError, "reverse_complement: x has type |S3, strings of up to 3 letters"),
    (lambda: retrograde.reverse_complement(b"AC", 1), ValueError, r"reverse_complement: axis is 1, outside \[-1, 0\] for a tensor of rank 1"),
    (lambda: retrograde.reverse_complement(b"AC", lengths=[3]), ValueError, "ReverseSubsequences: lengths"),
    (lambda: retrograde.reverse_complement(b"AC", offsets=[0, 3]), ValueError, r"ReverseSegments: offsets\[1\] is 3, outside \[0, 2\]"),
    (lambda: retrograde.reverse_complement(b"ACXG", strict=True), ValueError, r"reverse_complement: x\[2\] is 'X' \(88\), expected one of ACGTURYSWKMBDHVN"),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_what_is_refused(at):
    call, kind, text = WRONG[at]
    with pytest.raises(kind, match=text):
        call()


def test_masks_of_jax_do_not_cut_lengths():
    mask = pytest.importorskip("jax").numpy.asarray([True, True])
    with pytest.raises(ValueError, match=r"lengths\[0\] is 4294967299, outside \[0, 7\]"):
        retrograde.reverse_sequence(X[:2], np.array([(1 << 32) + 3, 2]), batch_first=True, where=mask)
    with pytest.raises(ValueError, match=r"offsets\[1\] is 4294967299, outside \[0, 5\]"):
        retrograde.reverse_segments(X, [0, (1 << 32) + 3, 5], where=mask)


COMPLEMENT = dict(zip(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn", b"TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn", strict=True))


def complement(letters):
    return bytes(COMPLEMENT.get(letter, letter) for letter in reversed(letters))


def test_the_reverse_complement_of_every_kind():
    letters = bytes(range(256)) * 3
    assert retrograde.reverse_complement(letters) == complement(letters)
    assert retrograde.reverse_complement(bytearray(letters)) == bytearray(complement(letters))
    assert retrograde.reverse_complement("GATTACAn-") == "-nTGTAATC"
    assert retrograde.reverse_complement("GAUUACA", rna=True) == "UGUAAUC"
    array = np.frombuffer(letters, np.uint8)
    for view in (array, array.view("S1"), array.view(np.int8)):
        got = retrograde.reverse_complement(view)
        assert got.dtype == view.dtype and got.tobytes() == complement(letters)
    rows = RNG.choice(np.frombuffer(b"ACGTNacgt", np.uint8), (300, 150))
    lengths, mask = RNG.integers(0, 151, 300), RNG.integers(0, 2, 300) == 1
    wanted = rows.copy()
    for row, length, moves in zip(wanted, lengths, mask, strict=True):
        if moves:
            row[:length] = np.frombuffer(complement(row[:length].tobytes()), np.uint8)
    np.testing.assert_array_equal(retrograde.reverse_complement(rows, lengths=lengths, where=mask), wanted)
    out = rows.T.copy()
    assert retrograde.reverse_complement(out, 0, lengths=lengths, where=mask, out=out) is out
    np.testing.assert_array_equal(out, wanted.T)
    whole = np.stack([np.frombuffer(complement(row.tobytes()), np.uint8) for row in rows])
    np.testing.assert_array_equal(retrograde.reverse_complement(rows, where=mask), each(rows, whole, mask))
    flat, offsets = rows.reshape(-1), np.concatenate([[0], np.cumsum(lengths)])
    wanted = flat.copy()
    for start, end in zip(offsets[:-1][mask], offsets[1:][mask], strict=True):
        wanted[start:end] = np.frombuffer(complement(flat[start:end].tobytes()), np.uint8)
    np.testing.assert_array_equal(retrograde.reverse_complement(flat, offsets=offsets, where=mask), wanted)


def test_strings_of_arrow():
    pa = pytest.importorskip("pyarrow")
    strings = ["GATTACA", None, "", "ACGT-"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        array = pa.array(strings, kind)
        got = retrograde.reverse_complement(array)
        assert got.type == kind and got.to_pylist() == ["TGTAATC", None, "", "-ACGT"]
        assert retrograde.reverse_complement(array[1:], where=[True, True, False]).to_pylist() == [None, "", "ACGT-"]
    with pytest.raises(ValueError, match="letters beyond ASCII"):
        retrograde.reverse_complement(pa.array(["é"]))


def test_other_libraries_get_the_complement_in_arrays_of_their_own(tensor):
    rows = np.frombuffer(b"ACGTGATTACA-", np.uint8).reshape(3, 4)
    x = tensor(rows)
    if hasattr(x, "dask"):
        with pytest.raises(TypeError, match="x is a dask.array.Array, which is not in memory"):
            retrograde.reverse_complement(x)
        return
    got = retrograde.reverse_complement(x, lengths=tensor(np.array([4, 4, 3])), strict=True)
    assert isinstance(got, type(x)) and np.asarray(got).tobytes() == b"ACGTAATCTGT-"


def test_strict_looks_only_at_what_is_complemented():
    rows = np.frombuffer(b"ACG-AC-GA---", np.uint8).reshape(3, 4)
    retrograde.reverse_complement(rows, lengths=[3, 2, 1], strict=True)
    retrograde.reverse_complement(rows, where=[False, False, False], strict=True)
    with pytest.raises(ValueError, match=r"x\[1, 2\] is '-'"):
        retrograde.reverse_complement(rows, lengths=[3, 3, 1], strict=True)
    with pytest.raises(ValueError, match=r"x\[3\] is '-'"):
        retrograde.reverse_complement(rows.reshape(-1), offsets=[0, 3, 5], strict=True, where=[True, True])
    retrograde.reverse_complement(rows.reshape(-1), offsets=[0, 3, 5], strict=True, where=[True, False])
    # Views, other types of letters, another axis, and padding as large as the letters.
    columns = np.asfortranarray(rows).view("S1")
    retrograde.reverse_complement(columns, lengths=[3, 2, 1], strict=True)
    with pytest.raises(ValueError, match=r"x\[1, 2\]"):
        retrograde.reverse_complement(columns[:, ::-1][:, ::-1], lengths=[3, 3, 1], strict=True)
    with pytest.raises(ValueError, match=r"x\[1, 0\]"):
        retrograde.reverse_complement(rows[1:, ::-1].view(np.int8), 0, lengths=[2, 0, 0, 0], strict=True)
    padded = np.zeros((2, 1_000_000), np.uint8)
    padded[:, :2] = ord("A")
    retrograde.reverse_complement(padded, lengths=[2, 2], strict=True)
    with pytest.raises(ValueError, match=r"x\[1, 2\] is '\\0' \(0\)"):
        retrograde.reverse_complement(padded, lengths=[2, 3], strict=True)
