"""One case of `bench/images.py` in memory: the image or batch, an output, and the expected result."""

import zlib

import numpy as np

from .cases import NUMPY
from .job import SEED, aligned


def seen(case, x):
    """The result as a view of NumPy."""
    return np.flip(x.swapaxes(*case.plane) if case.turned else x, case.axes)


class Job:
    def __init__(self, case):
        self.case, self.dtype = case, np.dtype(NUMPY[case.dtype])
        random = np.random.default_rng([SEED, zlib.crc32(case.name.encode())])
        self.x = aligned(case.bytes).view(self.dtype).reshape(case.shape)
        self.x[...] = random.integers(0, 256, case.shape, np.uint8)
        self.expected = np.ascontiguousarray(seen(case, self.x))
        self.dst = aligned(case.bytes)
        self.out = self.dst.view(self.dtype).reshape(self.expected.shape)

    def is_right(self, result):
        """Whether it is the expected result, as a dense array."""
        result = np.asarray(result)
        if result.dtype.itemsize == self.dtype.itemsize:
            result = result.view(self.dtype)  # PyTorch has i16 for u16
        return result.shape == self.out.shape and result.flags.c_contiguous and np.array_equal(result, self.expected)
