"""The operators, element by element, and test arrays. Shares no code with the engine."""

import itertools
import random

import ml_dtypes
import numpy as np


def blank(x):
    """An array for the result, and both as opaque elements, including padding."""
    y = np.empty(x.shape, x.dtype)
    if holds_references(x.dtype) or x.dtype.itemsize == 0:
        return y, y, x
    whole = f"V{x.dtype.itemsize}"
    return y, y.view(whole), np.asarray(x).view(whole)


def holds_references(dtype):
    """Whether elements are more than their bytes."""
    return dtype.hasobject or isinstance(dtype, np.dtypes.StringDType)


def reverse(x, axes):
    """Reverses whole axes; ``axes`` are not negative."""
    result, y, x = blank(x)
    for index in np.ndindex(x.shape):
        source = tuple(x.shape[a] - 1 - i if a in axes else i for a, i in enumerate(index))
        y[index] = x[source]
    return result


def reverse_sequence(x, lengths, time, batch):
    """Reverses the first steps of every sequence; lengths must be within the axis."""
    result, y, x = blank(x)
    for index in np.ndindex(x.shape):
        source = list(index)
        length = int(lengths[index[batch]])
        if index[time] < length:
            source[time] = length - 1 - index[time]
        y[index] = x[tuple(source)]
    return result


def reverse_subsequences(x, lengths, axis):
    """Reverses the first elements of every lane; lengths have ``x``'s shape with 1 at the axis."""
    result, y, x = blank(x)
    for index in np.ndindex(x.shape):
        source, lane = list(index), list(index)
        lane[axis] = 0
        length = min(int(lengths[tuple(lane)]), x.shape[axis])
        if index[axis] < length:
            source[axis] = length - 1 - index[axis]
        y[index] = x[tuple(source)]
    return result


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
    np.dtypes.StringDType(),
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
    elif isinstance(dtype, np.dtypes.StringDType):
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
