"""NumPy: a flipped view and its copy; fancy indexing with a precomputed index for lengths."""

import numpy as np

from ..contestants import Contestant, Unsupported, into, making, repeated
from ..job import swap_nibbles

NAME = "numpy"


class Peer:
    name = NAME
    version = np.__version__
    threads = "one"

    def contestants(self, job, threads):
        case, x, out = job.case, job.x, job.out
        if case.in_place:
            yield from in_place(job)
        elif case.packed:
            if (case.dtype, case.operator, len(case.shape)) != ("u4", "reverse", 1):
                raise Unsupported("only whole flips of u4")
            yield making(NAME, lambda: np.ascontiguousarray(swap_nibbles(x)[::-1]))
        elif case.operator == "reverse":
            yield into(NAME, job, lambda: np.copyto(out, np.flip(x, case.axes)))
            yield making(NAME, lambda: np.flip(x, case.axes).copy())
        elif case.operator == "sequence":
            first, second = job.picks()
            yield making(NAME, lambda: x[first, second])
        else:
            index, axis = job.index(), case.reversed_axis
            yield making(NAME, lambda: np.take_along_axis(x, index, axis))


def in_place(job):
    case, out = job.case, job.out
    if case.operator != "reverse":
        raise Unsupported("no idiom that works in place")

    def call():
        np.copyto(out, np.flip(out, case.axes))

    def once():
        job.dst[:] = job.src
        call()
        return out

    yield Contestant(NAME, "in place", repeated(call), once)
