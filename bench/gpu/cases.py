"""The cases by name; a name describes its case completely. `bench-gpu` has the same names."""

import re
from dataclasses import dataclass, replace
from math import prod

# Element types that PyTorch tensors can have, in bytes; only `bench-gpu` measures the others.
WIDTHS = {"u8": 1, "u16": 2, "f16": 2, "f32": 4, "f64": 8, "c128": 16}
NATIVE_BITS = {"bytes5": 40, "u4": 4, "u1": 1}

NAMES = {
    "flip": """
flip u8 1 GiB
flip f16 [16384,32768] axis 1
flip f32 [16384,16384] axis 1
flip f32 [16384,16384] axis 0
flip f32 [16384,16384] both
flip f64 [16384,8192] axis 1
flip c128 [8192,8192] axis 1
flip u8 [512,704,704,3] axis 2
flip u16 [512,704,704,3] axis 2
flip f32 [256,704,704,3] axis 2
flip u8 [4194304,256] axis 1
flip f32 [16777216,16] axis 1
flip u4 [2147483648]
flip u1 [8589934592]
""",
    "flip, rows that are not whole vectors": """
flip u8 1 GiB, base + 1
flip u8 [512,704,705,3] axis 2
flip u16 [512,704,705,3] axis 2
flip f32 [256,704,705,3] axis 2
flip bytes5 [200000000]
flip f32 [16384,16383] axis 1
flip f16 [16384,32767] axis 1
flip u8 [32768,32767] axis 1
flip f64 [16384,8191] axis 1
flip f32 [16384,16383] axis 0
flip u8 [16777216,63] axis 1
flip f32 [4194304,61] axis 1
""",
    "flip, input in another order": """
flip f32 [16384,16384] axis 1, transposed in
flip f32 [256,1024,1024] axis 2, transposed in
flip u8 [32768,32768] axis 1, transposed in
flip f16 [16384,32768] axis 1, transposed in
flip f64 [8192,16384] axis 1, transposed in
flip c128 [8192,8192] axis 1, transposed in
flip f32 [16383,16381] axis 1, transposed in
""",
    "sequence": """
sequence f32 [512,512,1024] time 0
sequence f32 [512,512,1024] time 1
sequence f32 [16384,16384] time 1
sequence f32 [65536,4096] time 1
sequence f16 [16384,32768] time 1
sequence f16 [524288,1024] time 1
sequence f64 [16384,8192] time 1
sequence c128 [16384,4096] time 1
sequence u8 [32768,32768] time 1
sequence u8 [512,704,704,3] time 1 batch 0
sequence u8 [512,704,704,3] time 2 batch 0
sequence u16 [512,704,704,3] time 2 batch 0
sequence f32 [256,704,704,3] time 2 batch 0
sequence f32 [1024,704,256] time 1 batch 0
sequence f32 [16384,16384] time 0
sequence u8 [32768,32768] time 0
sequence f32 [100000,2684] time 0
sequence f16 [2048,262144] time 0
sequence u8 [2048,524288] time 0
sequence f32 [128,2097152] time 0
sequence f32 [512,524288] time 0
""",
    "sequence, short rows": """
sequence f32 [2097152,128] time 1
sequence f32 [4194304,64] time 1
sequence f64 [2097152,64] time 1
sequence f16 [8388608,64] time 1
sequence u8 [2097152,512] time 1
sequence u8 [8388608,128] time 1
""",
    "sequence, rows that are not whole vectors": """
sequence f32 [16384,16383] time 1
sequence f16 [16384,32767] time 1
sequence u8 [32768,32767] time 1
sequence u8 [1048576,1023] time 1
sequence f32 [4194304,61] time 1
sequence u8 [16777216,63] time 1
sequence u8 [512,704,705,3] time 2 batch 0
sequence u16 [512,704,705,3] time 2 batch 0
sequence f32 [256,704,705,3] time 2 batch 0
sequence u8 [512,704,2115] time 1 batch 0
""",
    "lanes": """
lanes f32 [64,2048,2048] axis 2
lanes f32 [64,2048,2048] axis 1
lanes f32 [2048,64,2048] axis 0
lanes f32 [128,1024,2048] axis 1
lanes f16 [64,2048,4096] axis 1
lanes c128 [64,2048,512] axis 1
lanes u8 [64,2048,8192] axis 1
lanes u8 [64,2048,8192] axis 2
""",
    "in place": """
in place: flip u8 1 GiB
in place: flip f32 [16384,16384] axis 1
in place: flip f32 [16384,16384] axis 0
in place: flip u8 [32768,32767] axis 1
in place: flip u8 [512,704,704,3] axis 2
in place: sequence f32 [16384,16384] time 1
in place: sequence u8 [32768,32768] time 1
in place: sequence f32 [16384,16384] time 0
in place: lanes f32 [64,2048,2048] axis 2
in place: lanes f32 [64,2048,2048] axis 1
""",
    "small": """
small: flip f32 [64,64] axis 1
small: flip u8 [3,3] axis 0
small: sequence f32 [32,64] time 1
small: lanes f32 [4,64,64] axis 1
""",
}

NAME = re.compile(
    r"(?:(?P<where>in place|small): )?(?P<operator>flip|sequence|lanes) (?P<dtype>\w+) (?P<shape>\[[\d,]+\]|1 GiB)"
    r"(?: axis (?P<axis>\d)| (?P<both>both)| time (?P<time>\d)(?: batch (?P<batch>\d))?)?"
    r"(?:, (?:base \+ (?P<offset>\d+)|(?P<transposed>transposed in)))?"
)


@dataclass(frozen=True)
class Case:
    name: str
    group: str
    operator: str  # flip, sequence or lanes
    dtype: str
    shape: tuple
    axes: tuple  # the reversed axes; (time, batch); or (axis,)
    in_place: bool = False
    small: bool = False
    offset: int = 0  # offset of input and output from an aligned address, in elements
    transposed: bool = False  # the last two axes of the input are transposed in memory

    @property
    def count(self):
        return prod(self.shape)

    @property
    def bytes(self):
        return self.count * WIDTHS[self.dtype] if self.in_python else self.count * NATIVE_BITS[self.dtype] // 8

    @property
    def in_python(self):
        return self.dtype in WIDTHS

    @property
    def has_rows(self):
        """Whether whole rows move: a sequence whose two axes come first, followed by others."""
        return self.operator == "sequence" and set(self.axes) == {0, 1} and len(self.shape) > 2


def parsed(name, group):
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"no case: {name!r}")
    shape = (1 << 30,) if found["shape"] == "1 GiB" else tuple(int(n) for n in found["shape"][1:-1].split(","))
    if found["time"]:
        time = int(found["time"])
        axes = time, int(found["batch"]) if found["batch"] else 1 - time
    else:
        axes = tuple(range(len(shape))) if found["both"] else (int(found["axis"] or 0),)
    where, offset = found["where"], int(found["offset"] or 0)
    flags = where == "in place", where == "small", offset, bool(found["transposed"])
    return Case(name, group, found["operator"], found["dtype"], shape, axes, *flags)


def texts(words):
    """The texts of a list; commas in brackets belong to a shape."""
    parts, depth = [""], 0
    for letter in words:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def chosen(only, max_bytes):
    """Cases whose names contain any of these texts, shrunk to at most so many bytes."""
    wanted = texts(only)
    for group, names in NAMES.items():
        for name in names.strip().splitlines():
            if any(text in name for text in wanted):
                case = parsed(name, group)
                yield shrunk(case, max_bytes) if max_bytes and case.in_python else case


def shrunk(case, most):
    """The case with its largest axes halved; odd sizes mostly stay odd."""
    shape = list(case.shape)
    while prod(shape) * WIDTHS[case.dtype] > most and max(shape) > 1:
        largest = shape.index(max(shape))
        shape[largest] //= 2
    return replace(case, shape=tuple(shape))
