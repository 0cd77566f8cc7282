"""The operators, element by element, and test arrays. Shares no code with the engine."""

import itertools
import random

import ml_dtypes
import numpy as np

#: The type of strings of any length, which NumPy 1 does not have.
STRINGS = [np.dtypes.StringDType()] if hasattr(np.dtypes, "StringDType") else []


def blank(x):
    """An array for the result, and both as opaque elements, including padding."""
    y = np.empty(x.shape, x.dtype)
    if holds_references(x.dtype) or x.dtype.itemsize == 0:
        return y, y, x
    whole = f"V{x.dtype.itemsize}"
    return y, y.view(whole), np.asarray(x).view(whole)


def holds_references(dtype):
    """Whether elements are more than their bytes."""
    return dtype.hasobject or dtype.kind == "T"


def reverse(x, axes):
    """Reverses whole axes; ``axes`` are not negative."""
    result, y, x = blank(x)
    for index in np.ndindex(x.shape):
        source = tuple(x.shape[a] - 1 - i if a in axes else i for a, i in enumerate(index))
        y[index] = x[source]
    return result


def reverse_sequence(x, lengths, time, batch, align="start", tail="keep"):
    """Reverses the steps of every sequence; longer lengths stand for the whole axis."""
    return _padded(x, lambda index: lengths[index[batch]], time, align, tail)


def reverse_subsequences(x, lengths, axis, align="start", tail="keep"):
    """Reverses the elements of every lane; lengths have ``x``'s shape with 1 at the axis, and may lack its last axes."""
    rank = lengths.ndim
    return _padded(x, lambda index: lengths[(index[:axis] + (0,) + index[axis + 1 :])[:rank]], axis, align, tail)


def _padded(x, length_of, axis, align, tail):
    result, y, x = blank(x)
    for index in np.ndindex(x.shape):
        source, length = list(index), min(int(length_of(index)), x.shape[axis])
        first = x.shape[axis] - length if align == "end" else 0
        if first <= index[axis] < first + length:
            source[axis] = first + first + length - 1 - index[axis]
            y[index] = x[tuple(source)]
        else:
            y[index] = x[index] if tail == "keep" else np.zeros((), y.dtype)
    return result


def reverse_segments(x, offsets, axis):
    """Reverses the segments between offsets."""
    result, y, x = blank(x)
    order = list(range(x.shape[axis]))
    for first, last in itertools.pairwise(int(offset) for offset in offsets):
        order[first:last] = order[first:last][::-1]
    for index in np.ndindex(x.shape):
        y[index] = x[index[:axis] + (order[index[axis]],) + index[axis + 1 :]]
    return result


def cuts(rng, size, segments):
    """Ascending offsets of this many segments within an axis."""
    return np.concatenate([[0], np.sort(rng.integers(0, size + 1, segments))])


#: Every element type of NumPy and ml_dtypes.
DTYPES = [
    *(np.dtype(name) for name in "? b B h H i I l L q Q e f d g F D G".split()),
    np.dtype(">i2"),
    np.dtype(">f8"),
    np.dtype(">c16"),
    np.dtype("S5"),
    np.dtype("U3"),
    np.dtype(">U2"),
    np.dtype("V7"),
    np.dtype("M8[ns]"),
    np.dtype("m8[D]"),
    np.dtype([("a", "i2"), ("b", "f8"), ("c", "S3")]),
    np.dtype([("a", "i1"), ("b", "f8")], align=True),
    np.dtype([("o", object), ("n", "i4")]),
    np.dtype(object),
    *STRINGS,
    *(
        np.dtype(getattr(ml_dtypes, name))
        for name in (
            "bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz"
            " float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn"
            " int2 int4 uint2 uint4"
        ).split()
    ),
]


def filled(shape, dtype, seed=0):
    """An array whose elements differ, as far as their type allows."""
    rng = random.Random(repr((shape, str(dtype), seed)))
    count = int(np.prod(shape, dtype=np.int64))
    dtype = np.dtype(dtype)
    if dtype == object:
        flat = np.empty(count, object)
        for i in range(count):
            flat[i] = [i, str(i), None, (i, i)][i % 4]
    elif dtype.kind == "T":
        # Short strings are stored in the element, longer ones elsewhere.
        flat = np.array([str(i) * (1 + i % 40) for i in range(count)], dtype=dtype)
    elif dtype.names and dtype.hasobject:
        flat = np.empty(count, dtype)
        for i in range(count):
            flat[i] = (f"object {i}", i)
    elif dtype.kind in "UM":
        # Not every bit pattern is a character, or prints as a date.
        flat = np.array(range(count), "i8").astype("M8[D]" if dtype.kind == "M" else "U").astype(dtype)
    elif dtype == bool:
        flat = np.array([rng.random() < 0.5 for _ in range(count)], bool)
    else:
        # Arbitrary bits: NaNs with payloads, padding, values beyond 53 bits.
        flat = np.frombuffer(rng.randbytes(count * dtype.itemsize), dtype, count).copy()
    return flat.reshape(shape)


def equal(a, b):
    """Whether two arrays have equal types, shapes and bits."""
    return a.dtype == b.dtype and a.shape == b.shape and bits(a) == bits(b)


def same(got, expected):
    """Asserts that an array, or a tensor that NumPy can read, has the expected type, shape and bits."""
    got = np.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert bits(got) == bits(expected)


def bits(x):
    """What must be equal: every bit or, for references, the identical objects."""
    if x.dtype.names:
        return [bits(x[name]) for name in x.dtype.names]  # padding between fields is ignored
    if holds_references(x.dtype):
        return x.tolist()
    return x.tobytes()  # in row-major order, whatever the strides


def laid_out(x, how):
    """The same elements with other strides."""
    if how == "dense":
        return x.copy()
    if how == "fortran":
        return x.copy("F")
    if how == "reversed":
        turned = np.empty(x.shape, x.dtype)[tuple(slice(None, None, -1) for _ in x.shape)]
    elif how == "padded":
        turned = np.empty([2 * n + 1 for n in x.shape], x.dtype)[tuple(slice(1, None, 2) for _ in x.shape)]
    elif how == "unaligned":
        if holds_references(x.dtype):
            return x.copy()
        raw = np.empty(x.nbytes + 1, np.uint8)
        turned = np.ndarray(x.shape, x.dtype, raw, 1)
    else:
        raise ValueError(how)
    turned = np.asarray(turned, x.dtype)  # a 0-d array stays 0-d
    turned[...] = x
    return turned


LAYOUTS = ["dense", "fortran", "reversed", "padded", "unaligned"]


def subsets(rank):
    """Every set of axes."""
    return itertools.chain.from_iterable(itertools.combinations(range(rank), n) for n in range(rank + 1))
