"""The benchmark cases for GPUs. `bench-gpu` reads the same list."""

import json
from dataclasses import dataclass
from math import prod

from harness.cases import LIST, shrunk

# Widths in bytes of the element types that PyTorch supports. Only `bench-gpu` measures the others.
WIDTHS = {"u8": 1, "u16": 2, "f16": 2, "f32": 4, "f64": 8, "c128": 16}
NATIVE_BITS = {"bytes5": 40, "u4": 4, "u1": 1}

WORDS = {"reverse": "flip", "sequence": "sequence", "subsequences": "lanes"}


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
        """Whether the case moves whole rows: a sequence whose time and batch axes are the first two of several."""
        return self.operator == "sequence" and set(self.axes) == {0, 1} and len(self.shape) > 2


def all_cases():
    """The GPU cases of `bench/cases.jsonl`, in file order."""
    for one in map(json.loads, LIST.read_text(encoding="utf-8").splitlines()):
        if "cuda" in one.pop("in"):
            one |= {"operator": WORDS[one["operator"]], "shape": tuple(one["shape"]), "axes": tuple(one["axes"])}
            yield Case(**one, small=one["group"] == "small")


def texts(words):
    """The items of a comma-separated list. Commas inside brackets belong to a shape."""
    parts, depth = [""], 0
    for letter in words:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def chosen(only, max_bytes):
    """The cases whose names contain any of these texts, shrunk to at most ``max_bytes``."""
    wanted = texts(only)
    for case in all_cases():
        if any(text in case.name for text in wanted):
            yield shrunk(case, max_bytes) if max_bytes and case.in_python else case
