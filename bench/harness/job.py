"""One case in memory: input, output, lengths, and the expected result."""

import zlib

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
        self.x, self.out = self._view(self.src, case.fortran), self._view(self.dst, False)
        if self.x.dtype.kind in "fc":
            make_finite(self.src, case.dtype)
        self._index = None
        self.expected = np.ascontiguousarray(self._expected()).view(np.uint8).reshape(-1)

    def _view(self, buffer, fortran):
        if self.case.dtype == "u4":
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
        case = self.case
        if case.dtype == "u4":
            return swap_nibbles(self.x)[::-1]
        if case.operator == "reverse":
            return np.flip(self.x, case.axes)
        if case.operator == "sequence":
            return self.x[self.picks()]
        return np.take_along_axis(self.x, self.index(), case.reversed_axis)

    def is_right(self, result):
        result = np.ascontiguousarray(result).view(np.uint8).reshape(-1)
        return np.array_equal(result, self.expected)


def swap_nibbles(packed):
    return packed << 4 | packed >> 4


def make_finite(buffer, dtype):
    """Clears the highest exponent bit: runtimes may treat NaN differently, and this is about speed."""
    bits = min(BITS[dtype], 64)
    words = buffer.view(f"uint{bits}")
    words &= words.dtype.type(~(1 << (bits - 2)) & ((1 << bits) - 1))
