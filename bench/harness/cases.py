"""The cases with their shapes, and how they are shrunk for a quick run."""

from dataclasses import dataclass, replace
from math import prod

# Bits of the element types that cases use; the names are the engine's.
BITS = {"u4": 4, "u8": 8, "u16": 16, "f16": 16, "f32": 32, "f64": 64, "c128": 128}
NUMPY = {"u8": "uint8", "u16": "uint16", "f16": "float16", "f32": "float32", "f64": "float64", "c128": "complex128"}

MIB = 1 << 20


@dataclass(frozen=True)
class Case:
    group: str
    operator: str  # reverse, sequence or subsequences
    dtype: str
    shape: tuple
    axes: tuple  # the reversed axes; (time, batch); or (axis,)
    in_place: bool = False
    fortran: bool = False
    peers: tuple | None = None  # only these, if a sweep over all of them would take too long

    @property
    def bytes(self):
        return prod(self.shape) * BITS[self.dtype] // 8

    @property
    def reversed_axis(self):
        return self.axes[0]

    @property
    def name(self):
        sizes = [str(size) for size in self.shape]
        if self.operator == "sequence":
            time, batch = self.axes
            sizes[time], sizes[batch] = f"T{sizes[time]}", f"B{sizes[batch]}"
        words = {"reverse": "flip", "sequence": "sequence", "subsequences": "per-lane"}
        name = f"{words[self.operator]} {self.dtype} [{','.join(sizes)}]"
        if self.operator != "sequence":
            name += f" axis {','.join(map(str, self.axes))}"
        if self.operator == "reverse" and self.shape[-1] == 3:
            name += f" ({3 * BITS[self.dtype] // 8}-byte pixels)"
        if self.fortran:
            name += ", column-major to row-major"
        return name + (", in place" if self.in_place else "")


def flip(dtype, shape, *axes, group="flip", **more):
    return Case(group, "reverse", dtype, tuple(shape), axes, **more)


def sequence(dtype, shape, time, group="sequence", **more):
    return Case(group, "sequence", dtype, tuple(shape), (time, 1 - time), **more)


def per_lane(dtype, shape, axis):
    return Case("per lane", "subsequences", dtype, tuple(shape), (axis,))


def all_cases():
    yield flip("u8", [256 * MIB], 0)
    yield flip("f16", [8192, 8192], 1)
    yield flip("f32", [8192, 8192], 1)
    yield flip("f32", [8192, 8192], 0)
    yield flip("u8", [64, 704, 704, 3], 2)
    yield flip("f64", [8192, 4096], 1)
    yield flip("c128", [4096, 4096], 1)
    yield flip("f32", [16, 1024, 1024, 3], 2)
    yield flip("u16", [64, 704, 704, 3], 2)
    yield flip("f32", [4096, 4096], 1, fortran=True)
    yield flip("u4", [128 * MIB], 0)
    yield flip("f32", [64, 64], 1, group="small")

    yield sequence("f32", [512, 256, 512], 0)
    yield sequence("f32", [512, 256, 512], 1)
    yield sequence("f32", [4096, 8192], 1)
    yield sequence("u8", [8192, 8192], 1)
    yield sequence("f32", [8192, 4096], 0)

    yield per_lane("f32", [64, 512, 1024], 2)
    yield per_lane("f32", [64, 512, 1024], 1)
    yield per_lane("f32", [512, 64, 1024], 0)

    for time in [2, 4, 8, 16, 32, 64]:
        yield sequence("f32", [(1 << 22) // time, time], 1, group="short lanes")

    yield flip("f32", [8192, 8192], 1, in_place=True, group="in place")
    yield flip("f32", [8192, 8192], 0, in_place=True, group="in place")
    yield flip("u8", [256 * MIB], 0, in_place=True, group="in place")
    yield sequence("f32", [4096, 8192], 1, in_place=True, group="in place")

    few = ("numpy", "torch")
    for power in range(6, 31, 2):
        # Rows of at most 1024 elements, and as many rows as needed.
        columns = min(1 << (power - 2), 1024)
        rows = (1 << (power - 2)) // columns
        yield flip("f32", [rows, columns], 1, group="size", peers=few)
    for power in range(6, 31, 2):
        yield flip("u8", [1 << power], 0, group="size", peers=few)

    # Three bytes are three u8, and so on: every contestant supports these types.
    widths = [("u8", 1), ("u16", 1), ("u8", 3), ("f32", 1), ("u16", 3), ("f64", 1), ("f32", 3), ("c128", 1), ("f64", 3)]
    for dtype, parts in widths:
        columns = 64 * MIB // 4096 // (BITS[dtype] // 8 * parts)
        yield flip(dtype, [4096, columns] + [parts] * (parts > 1), 1, group="width", peers=few)


def shrunk(case, most):
    """The case with its largest axes halved until it has no more bytes than this."""
    shape = list(case.shape)
    while prod(shape) * BITS[case.dtype] // 8 > most and max(shape) > 1:
        largest = shape.index(max(shape))
        shape[largest] = max(shape[largest] // 2, 1)
    return replace(case, shape=tuple(shape))


def chosen(options):
    """The cases that the command line selects, each once."""
    cases = {}
    for case in all_cases():
        most = options.max_bytes or case.bytes
        if options.quick and case.group not in ("size", "small"):
            most = min(most, case.bytes // 16)
        if case.group == "size":
            # A sweep is truncated instead of shrunk, since it already contains the smaller sizes.
            if case.bytes > min(most, 64 * MIB if options.quick else case.bytes):
                continue
        else:
            case = shrunk(case, most)
        if options.filter.lower() in f"{case.group}: {case.name}".lower():
            cases.setdefault((case.group, case.name), case)
    return list(cases.values())
