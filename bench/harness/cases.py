"""The benchmark cases, those for the CPU, and how they are shrunk for a quick run."""

import json
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

# Widths in bits of the element types in the cases, under the engine's names.
BITS = {"u1": 1, "u2": 2, "u4": 4, "u8": 8, "u16": 16, "f16": 16, "f32": 32, "bytes5": 40, "f64": 64, "c128": 128}
NUMPY = {"u8": "uint8", "u16": "uint16", "f16": "float16", "f32": "float32", "f64": "float64", "c128": "complex128"}

MIB = 1 << 20
#: The cases of all benchmarks.
LIST = Path(__file__).resolve().parents[1] / "cases.jsonl"


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
    offset: int = 0  # of input and output from an aligned address, in elements
    transposed: bool = False  # the last two axes of the input are transposed in memory
    title: str | None = None  # its name, for a GPU

    @property
    def count(self):
        return prod(self.shape)

    @property
    def bytes(self):
        return -(-self.count * BITS[self.dtype] // 8)

    @property
    def packed(self):
        return BITS[self.dtype] < 8

    @property
    def reversed_axis(self):
        return self.axes[0]

    @property
    def small(self):
        return self.group == "small"

    @property
    def in_python(self):
        """Whether NumPy and PyTorch have the type. Only `bench-gpu` measures the others on a GPU."""
        return self.dtype in NUMPY

    @property
    def has_rows(self):
        """Whether the case moves whole rows: a sequence whose time and batch axes are the first two of several."""
        return self.operator == "sequence" and set(self.axes) == {0, 1} and len(self.shape) > 2

    @property
    def name(self):
        if self.title:
            return self.title
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


def listed(harness):
    """The names and the fields of the cases of `bench/cases.jsonl` that a harness measures, in file order."""
    for one in map(json.loads, LIST.read_text(encoding="utf-8").splitlines()):
        if harness in one.pop("in"):
            fields = {field: tuple(value) if isinstance(value, list) else value for field, value in one.items()}
            yield fields.pop("name"), fields


def all_cases():
    """The CPU cases."""
    for name, fields in listed("cpu"):
        case = Case(**fields)
        if case.name != name:
            raise ValueError(f"{LIST.name}: {name!r} is called {case.name!r} in records")
        yield case


def shrunk(case, most):
    """The case with its largest axis halved repeatedly, until it has at most this many bytes."""
    shape = list(case.shape)
    while prod(shape) * BITS[case.dtype] // 8 > most and max(shape) > 1:
        largest = shape.index(max(shape))
        shape[largest] = max(shape[largest] // 2, 1)
    return replace(case, shape=tuple(shape))


def chosen(options):
    """The cases that the command line selects, without duplicates."""
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
