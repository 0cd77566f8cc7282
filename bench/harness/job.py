"""One case in memory: input, output, lengths, and the expected result."""

import zlib
from math import prod

import numpy as np

from .cases import BITS, NUMPY

SEED = 20


def aligned(count):
    """Bytes aligned to a cache line, with all pages resident."""
    buffer = np.empty(count + 64, np.uint8)
    buffer.fill(1)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + count]


class Job:
    def __init__(self, case):
        self.case = case
        # Seeded by the name, so that a case has the same data and lengths in every run.
        random = np.random.default_rng([SEED, zlib.crc32(case.name.encode())])
        self.src, self.dst = aligned(case.bytes), aligned(case.bytes)
        self.src[:] = random.integers(0, 256, case.bytes, np.uint8)
        self.lengths = self._lengths(random)
        if case.packed:
            # The unused bits of the last byte are written as zeros.
            self.src[:] = packed(unpacked(self.src, case)[: prod(case.shape)], case)
        self.x, self.out = self._view(self.src, case.fortran), self._view(self.dst, False)
        if self.x.dtype.kind in "fc":
            make_finite(self.src, case.dtype)
        self._index = None
        self.expected = np.ascontiguousarray(self._expected()).view(np.uint8).reshape(-1)

    def _view(self, buffer, fortran):
        if self.case.packed:
            return buffer
        elements = buffer.view(NUMPY[self.case.dtype])
        return elements.reshape(self.case.shape, order="F" if fortran else "C")

    def _lengths(self, random):
        case = self.case
        if case.operator == "reverse":
            return None
        most = case.shape[case.reversed_axis]
        if case.operator == "sequence":
            return random.integers(1, most + 1, case.shape[case.axes[1]], np.int64)
        shape = list(case.shape)
        shape[case.reversed_axis] = 1
        return random.integers(1, most + 1, shape, np.uint32)

    def index(self):
        """The source of each element along the reversed axis: the precomputed index of the gather
        idioms. A sequence has one entry per step and batch entry, other cases one per element."""
        if self._index is None:
            case = self.case
            if case.operator == "sequence":
                shape, axis = case.shape[:2], case.axes[0]
                lengths = np.expand_dims(self.lengths, axis)
            else:
                shape, axis = case.shape, case.reversed_axis
                lengths = self.lengths.astype(np.int64)
            steps = np.arange(shape[axis]).reshape([-1 if at == axis else 1 for at in range(len(shape))])
            self._index = np.where(steps < lengths, lengths - 1 - steps, steps)
        return self._index

    def picks(self):
        """The index of a sequence for `x[first, second]`: whole rows of the axes after time and batch."""
        time, batch = self.case.axes
        entries = np.expand_dims(np.arange(self.case.shape[batch]), time)
        return (self.index(), entries) if time == 0 else (entries, self.index())

    def _expected(self):
        case, x = self.case, self.x
        if case.packed:
            x = unpacked(x, case)[: prod(case.shape)].reshape(case.shape, order="F" if case.fortran else "C")
        if case.operator == "reverse":
            moved = np.flip(x, case.axes)
        elif case.operator == "sequence":
            moved = x[self.picks()]
        else:
            moved = np.take_along_axis(x, self.index(), case.reversed_axis)
        return packed(moved.reshape(-1), case) if case.packed else moved

    def strides(self):
        """The input's, in elements, or None if it is row-major."""
        if not self.case.fortran:
            return None
        return [prod(self.case.shape[:axis]) for axis in range(len(self.case.shape))]

    def is_right(self, result):
        result = np.ascontiguousarray(result).view(np.uint8).reshape(-1)
        return np.array_equal(result, self.expected)


def unpacked(buffer, case):
    """Every element of a packed type as a byte: the lowest bits of a byte come first, of u1 the highest."""
    bits = BITS[case.dtype]
    shifts = np.arange(0, 8, bits, np.uint8)
    shifts = shifts[::-1] if bits == 1 else shifts
    return (buffer[:, None] >> shifts & ((1 << bits) - 1)).reshape(-1)


def packed(elements, case):
    """The inverse; what is left of the last byte is zero."""
    bits = BITS[case.dtype]
    shifts = np.arange(0, 8, bits, np.uint8)
    shifts = shifts[::-1] if bits == 1 else shifts
    whole = np.zeros(case.bytes * len(shifts), np.uint8)
    whole[: len(elements)] = elements
    return np.bitwise_or.reduce(whole.reshape(-1, len(shifts)) << shifts, axis=1, dtype=np.uint8)


def swap_nibbles(packed):
    return packed << 4 | packed >> 4


def make_finite(buffer, dtype):
    """Clears the highest exponent bit: runtimes may treat NaN differently, and this is about speed."""
    bits = min(BITS[dtype], 64)
    words = buffer.view(f"uint{bits}")
    words &= words.dtype.type(~(1 << (bits - 2)) & ((1 << bits) - 1))
