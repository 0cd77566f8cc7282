"""Cases of `bench/images.py`: the eight orientations of images and of batches."""

import re
from dataclasses import dataclass
from math import prod

from .cases import BITS

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
    "u8": ("u8", 0),
    "RGB u8": ("u8", 3),
    "RGBA u8": ("u8", 4),
    "u16": ("u16", 0),
    "f16": ("f16", 0),
    "f32": ("f32", 0),
    "RGB f32": ("f32", 3),
}
#: Rows and columns; the images of a batch (0: a single one); whether channels come first.
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
        rows, columns, images, first = SIZES[self.size]
        channels = KINDS[self.kind][1]
        shape = (channels, rows, columns) if first else (rows, columns, *(channels,) * bool(channels))
        return (*(images,) * bool(images), *shape)

    @property
    def dtype(self):
        return KINDS[self.kind][0]

    @property
    def bytes(self):
        return prod(self.shape) * BITS[self.dtype] // 8

    @property
    def batch(self):
        return SIZES[self.size][2] > 0

    @property
    def plane(self):
        """The axes of rows and columns."""
        _, _, images, first = SIZES[self.size]
        return (2, 3) if first else (1, 2) if images else (0, 1)

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


def chosen(quick, pattern):
    movements, kinds, sizes = QUICK if quick else (MOVEMENTS, KINDS, SIZES)
    for size in filter(sizes.__contains__, SIZES):
        for kind in filter(kinds.__contains__, KINDS):
            for movement in filter(movements.__contains__, MOVEMENTS):
                case = Case(movement, kind, size)
                # Batches are of colour images.
                if re.search(pattern, case.name) and (KINDS[kind][1] == 3 or not case.batch):
                    yield case
