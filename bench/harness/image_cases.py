"""Cases of `bench/images.py`: the eight orientations of pictures and of batches, in memory."""

import re
import zlib
from dataclasses import dataclass

import numpy as np

from .job import SEED, aligned

#: Whether rows and columns are exchanged, and which of the two are reversed after that.
MOVEMENTS = {
    "mirror": (False, (1,)),
    "upside down": (False, (0,)),
    "both": (False, (0, 1)),
    "rot90": (True, (0,)),
    "rot180": (False, (0, 1)),
    "rot270": (True, (1,)),
    "transpose": (True, ()),
    "transverse": (True, (0, 1)),
}
#: The element type, and the channels of a pixel (0: there is no such axis).
KINDS = {
    "u8": ("uint8", 0),
    "RGB u8": ("uint8", 3),
    "RGBA u8": ("uint8", 4),
    "u16": ("uint16", 0),
    "f16": ("float16", 0),
    "f32": ("float32", 0),
    "RGB f32": ("float32", 3),
}
#: Rows and columns; the pictures of a batch (0: a single one); whether channels come first.
SIZES = {
    "32": (32, 32, 0, False),
    "128": (128, 128, 0, False),
    "224": (224, 224, 0, False),
    "480 x 640": (480, 640, 0, False),
    "1080p": (1080, 1920, 0, False),
    "4K": (2160, 3840, 0, False),
    "32 x 224 x 224 x 3": (224, 224, 32, False),
    "256 x 3 x 448 x 448": (448, 448, 256, True),
}
QUICK = {"mirror", "rot90", "transpose"}, {"u8", "RGB u8", "RGB f32"}, {"32", "224", "480 x 640", "1080p"}


@dataclass(frozen=True)
class Case:
    movement: str
    kind: str
    size: str
    peers = None  # all of them

    @property
    def group(self):
        return self.movement

    @property
    def name(self):
        return f"{self.movement}, {self.kind}, {self.size}"

    @property
    def shape(self):
        rows, columns, pictures, first = SIZES[self.size]
        channels = KINDS[self.kind][1]
        shape = (channels, rows, columns) if first else (rows, columns, *(channels,) * bool(channels))
        return (*(pictures,) * bool(pictures), *shape)

    @property
    def dtype(self):
        return np.dtype(KINDS[self.kind][0])

    @property
    def bytes(self):
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def batch(self):
        return SIZES[self.size][2] > 0

    @property
    def plane(self):
        """The axes of rows and columns."""
        _, _, pictures, first = SIZES[self.size]
        return (2, 3) if first else (1, 2) if pictures else (0, 1)

    @property
    def turned(self):
        return MOVEMENTS[self.movement][0]

    @property
    def axes(self):
        return tuple(self.plane[axis] for axis in MOVEMENTS[self.movement][1])

    @property
    def quarters(self):
        """How often `rot90` makes this movement, or None."""
        turns = {"rot90": 1, "both": 2, "rot180": 2, "rot270": 3}
        return turns.get(self.movement)

    def seen(self, x):
        """The result as a view of NumPy."""
        return np.flip(x.swapaxes(*self.plane) if self.turned else x, self.axes)


class Job:
    """A case in memory: the picture, an output, and the expected result."""

    def __init__(self, case):
        self.case = case
        random = np.random.default_rng([SEED, zlib.crc32(case.name.encode())])
        self.x = aligned(case.bytes).view(case.dtype).reshape(case.shape)
        self.x[...] = random.integers(0, 256, case.shape, np.uint8)
        self.expected = np.ascontiguousarray(case.seen(self.x))
        self.dst = aligned(case.bytes)
        self.out = self.dst.view(case.dtype).reshape(self.expected.shape)

    def new(self):
        """A new array for the result."""
        return np.empty(self.out.shape, self.out.dtype)

    def is_right(self, result):
        """Whether it is the expected result, as a dense array."""
        result = np.asarray(result)
        if result.dtype.itemsize == self.case.dtype.itemsize:
            result = result.view(self.case.dtype)  # PyTorch has i16 for u16
        return result.shape == self.out.shape and result.flags.c_contiguous and np.array_equal(result, self.expected)


def chosen(quick, pattern):
    movements, kinds, sizes = QUICK if quick else (MOVEMENTS, KINDS, SIZES)
    for size in filter(sizes.__contains__, SIZES):
        for kind in filter(kinds.__contains__, KINDS):
            for movement in filter(movements.__contains__, MOVEMENTS):
                case = Case(movement, kind, size)
                # Batches are of colour pictures.
                if re.search(pattern, case.name) and (KINDS[kind][1] == 3 or not case.batch):
                    yield case
