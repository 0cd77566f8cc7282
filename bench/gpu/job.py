"""One case in memory: input, output and lengths on the device, and the expected result."""

import zlib

import torch

DTYPES = {
    "u8": torch.uint8,
    "u16": torch.uint16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c128": torch.complex128,
}
# Types of the same width that PyTorch can index on every device.
PLAIN = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}
# Elements of the expected result that are computed at once: their indices take 512 MiB.
STEP = 1 << 26


class Job:
    def __init__(self, case, kind):
        self.case, self.kind = case, kind
        # Seeded by the name, so that a case has the same data and lengths in every run.
        torch.manual_seed(zlib.crc32(case.name.encode()))
        # Whole buffers, for the copies.
        self.src = torch.randint(0, 256, (case.bytes + 256,), dtype=torch.uint8, device=kind)
        self.dst = self.src.clone()
        if case.dtype[0] in "fc":
            make_finite(self.src)
        self.x, self.out = self._tensor(self.src), self._tensor(self.dst)
        self.base = self.x
        if case.transposed:
            shape = *case.shape[:-2], case.shape[-1], case.shape[-2]
            self.base = self.x.view(shape)
            self.x = self.base.transpose(-1, -2)
        self.lengths = self._lengths()
        self.right = self._right()

    def _tensor(self, buffer):
        width = self.case.bytes // self.case.count
        begin = self.case.offset * width
        return buffer[begin : begin + self.case.bytes].view(DTYPES[self.case.dtype]).view(self.case.shape)

    def bytes(self, buffer):
        """The bytes that a copy of the case moves, always from an aligned address."""
        return buffer[: self.case.bytes]

    def _lengths(self):
        case = self.case
        if case.operator == "reverse":
            return None
        shape = list(case.shape)
        most = shape[case.axes[0]]
        if case.operator == "sequence":
            shape = [shape[case.axes[1]]]
        else:
            shape[case.axes[0]] = 1
        return torch.randint(0, most + 1, shape, device=self.kind)

    def broadcast_lengths(self):
        """Lengths broadcast to their lanes."""
        if self.case.operator == "subsequences":
            return self.lengths
        shape = [1] * len(self.case.shape)
        shape[self.case.axes[1]] = -1
        return self.lengths.view(shape)

    def _right(self):
        """Naive: computes the source of every element from its index. Flat, as bits."""
        case = self.case
        plain = PLAIN[self.x.element_size()]
        elements = self.x.view(plain).reshape(-1)
        right = torch.empty_like(elements)
        strides = [1] * len(case.shape)
        for axis in range(len(strides) - 1, 0, -1):
            strides[axis - 1] = strides[axis] * case.shape[axis]
        for begin in range(0, case.count, STEP):
            at = torch.arange(begin, min(begin + STEP, case.count), device=self.kind)
            source = at.clone()
            for axis in case.axes if case.operator == "reverse" else case.axes[:1]:
                size, stride = case.shape[axis], strides[axis]
                place = at // stride % size
                if case.operator == "reverse":
                    source += (size - 1 - 2 * place) * stride
                    continue
                if case.operator == "sequence":
                    batch = case.axes[1]
                    length = self.lengths[at // strides[batch] % case.shape[batch]]
                else:
                    length = self.lengths.reshape(-1)[at // (stride * size) * stride + at % stride]
                source += torch.where(place < length, length - 1 - 2 * place, 0) * stride
            right[begin : begin + STEP] = elements[source]
        return right

    def is_right(self, result):
        if tuple(result.shape) != self.case.shape:
            return False
        row = result.contiguous().reshape(-1)
        return row.element_size() == self.right.element_size() and torch.equal(
            row.view(torch.uint8), self.right.view(torch.uint8)
        )


def make_finite(buffer):
    """Clears the highest exponent bit of every possible element: runtimes may treat NaN
    differently, and this is about speed. Other bits stay random."""
    buffer.view(torch.int16).bitwise_and_(~(1 << 14))
